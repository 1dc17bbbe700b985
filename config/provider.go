package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/mkl"
)

// known is what a provider's name stands for (LANGUAGE.md §11).
func known(name string) (baseURL, keyEnv string, protocol Protocol, ok bool) {
	switch name {
	case "anthropic":
		return "https://api.anthropic.com", "ANTHROPIC_API_KEY", ProtocolAnthropic, true
	case "deepseek":
		return "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", ProtocolOpenAI, true
	case "openai":
		return "https://api.openai.com/v1", "OPENAI_API_KEY", ProtocolOpenAI, true
	case "google":
		return "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY", ProtocolOpenAI, true
	case "openrouter":
		return "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", ProtocolOpenAI, true
	case "xai":
		return "https://api.x.ai/v1", "XAI_API_KEY", ProtocolOpenAI, true
	case "mistral":
		return "https://api.mistral.ai/v1", "MISTRAL_API_KEY", ProtocolOpenAI, true
	case "local":
		return "http://127.0.0.1:11434/v1", "", ProtocolOpenAI, true
	}
	return "", "", "", false
}

// provider picks the provider and resolves it. A file that defines none stands
// on the bundled one.
func (r *Resolved) provider(f *file, name string, keys *keys) error {
	providers := f.providers
	if len(providers) == 0 {
		base, err := read("", bundled)
		if err != nil {
			return err
		}
		providers = base.providers
		if f.active == "" {
			f.active = base.active
		}
	}
	names := make([]string, len(providers))
	for i := range providers {
		names[i] = providers[i].name
	}
	where := "--provider"
	if name == "" {
		if name, where = f.active, "active"; name == "" {
			return f.fault(pos{}, "active is missing: expected one of the providers %s", strings.Join(names, ", "))
		}
	}
	i := slices.Index(names, name)
	if i < 0 {
		err := fmt.Sprintf("%s: expected one of the providers %s, found %q", where, strings.Join(names, ", "), name)
		if where == "active" {
			return f.fault(f.at["active"], "%s", err)
		}
		return fmt.Errorf("%s", err)
	}
	p := &providers[i]
	base, keyEnv, protocol, ok := known(name)
	switch {
	case p.protocol == string(ProtocolOpenAI):
		protocol = ProtocolOpenAI // an explicit protocol beats the name
	case !ok:
		return f.fault(p.at, "providers.%s: the name is not known: give it protocol: openai_compat", name)
	}
	if p.baseURL != "" {
		base = p.baseURL
	}
	if base == "" {
		return f.fault(p.at, "providers.%s: base_url is missing", name)
	}
	if p.keyEnv != "" {
		keyEnv = p.keyEnv
	}
	r.Provider, r.Protocol, r.BaseURL, r.KeyEnv = name, protocol, base, keyEnv
	r.Tiers, r.Judge, r.Params = p.tiers, p.judge, p.params
	if keyEnv != "" {
		key, from := keys.find(keyEnv)
		r.Key, r.KeyFrom = NewSecret(key), from
		r.looked = keys.looked()
	}
	return nil
}

// baseURL checks a URL without ever showing it: it may hold a password.
func checkURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("expected an address that begins with http:// or https://")
	}
	return nil
}

// provided is one entry of providers.
type provided struct {
	name     string
	at       pos
	tiers    map[mkl.Tier]string
	keyEnv   string
	baseURL  string
	protocol string
	judge    string
	params   map[mkl.Tier]map[string]any
}

func tierNames() []string {
	return []string{string(mkl.Fast), string(mkl.Balanced), string(mkl.Reasoning)}
}
