package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/pinfold-dev/pinfold/config"
	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/hook"
	hooks "github.com/pinfold-dev/pinfold/hook/builtin"
	"github.com/pinfold-dev/pinfold/llm/openai"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/mkl/check"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/run"
	"github.com/pinfold-dev/pinfold/tool"
	tools "github.com/pinfold-dev/pinfold/tool/builtin"
)

// hosted is what a run stands on: the configuration, resolved, and its bindings.
type hosted struct {
	from     *config.Resolved
	config   run.Config
	warnings []string
}

// chosen are the flags that open or tighten, as typed; nil is not typed.
type chosen struct {
	actions   [3]*policy.Action
	truncate  *engine.Truncate
	maxTokens int
}

func (c *turnFlags) chosen() (chosen, *failure) {
	var x chosen
	for i, f := range []struct{ name, word string }{
		{"--untrusted-flow", c.UntrustedFlow}, {"--untrusted-argument", c.UntrustedArgument}, {"--secret-egress", c.SecretEgress},
	} {
		if f.word == "" {
			continue
		}
		a, err := policy.ParseAction(f.word)
		if err != nil {
			return x, &failure{code: "invalid-input", message: f.name + ": " + err.Error()}
		}
		x.actions[i] = &a
	}
	if c.OnTruncate != "" {
		var t engine.Truncate
		switch c.OnTruncate {
		case "report":
			t = engine.TruncateReport
		case "halt":
			t = engine.TruncateHalt
		default:
			return x, &failure{code: "invalid-input", message: fmt.Sprintf("--on-truncate: expected report or halt; found %q", c.OnTruncate)}
		}
		x.truncate = &t
	}
	if c.MaxTokens != "" {
		n, err := strconv.Atoi(c.MaxTokens)
		if err != nil || n < 1 {
			return x, &failure{code: "invalid-input", message: fmt.Sprintf("--max-tokens: expected a whole number of at least 1; found %q", c.MaxTokens)}
		}
		x.maxTokens = n
	}
	return x, nil
}

// host reads the configuration and binds tools and hooks. It opens no connection
// and needs no key yet.
func (a *app) host(explicit, provider, path string) (*hosted, *failure) {
	r, err := config.Load(a.sys, config.Request{Explicit: explicit, Provider: provider, Machine: path, Accepted: a.accepted})
	if err != nil {
		return nil, configFailure(err)
	}
	bound, f := builtins(r.Backends)
	if f != nil {
		return nil, f
	}
	table := policy.Builtin()
	r.Apply(table)
	rules, f := hostRules(r.Rules)
	if f != nil {
		return nil, f
	}
	warnings := append(slices.Clip(r.Warnings), undeclared(r, func(name string) bool { _, ok := bound[name]; return ok })...)
	var host policy.HostRules
	if len(rules.Names()) > 0 {
		host = rules.Decide
	}
	return &hosted{from: r, warnings: warnings, config: run.Config{
		Tiers:       r.Tiers,
		JudgeModel:  r.Judge,
		TierParams:  r.Params,
		Tools:       bound,
		Hooks:       func(name string) (hook.Func, bool, bool) { return hooks.Resolve(name, nil) },
		ApprovalTTL: r.ApprovalTTL,
		Clock:       a.env.Clock,
		Logger:      a.log,
		Options: engine.Options{
			Policies:     r.Policies,
			OnTruncate:   r.OnTruncate,
			Table:        table,
			Host:         host,
			Secrecy:      r.Secrecy,
			JudgeLenient: r.JudgeLenient,
		},
	}}, nil
}

// options are the run's own: a flag beats the file (LANGUAGE.md §21.3).
func (h *hosted) options(c *runCmd, x chosen) {
	o := &h.config.Options
	for i, to := range []*policy.Action{&o.Policies.UntrustedFlow, &o.Policies.UntrustedArgument, &o.Policies.SecretEgress} {
		if a := x.actions[i]; a != nil {
			*to = *a
		}
	}
	if x.truncate != nil {
		o.OnTruncate = *x.truncate
	}
	o.CostBudget, o.HasCostBudget = x.maxTokens, x.maxTokens > 0
	o.EscalateSuspend = c.Hitl
	o.Suspendable = c.Checkpoint != "" || c.Hitl || asks(o.Policies)
}

// builtins are the built-in tools on the backends that the configuration names.
func builtins(b config.Backends) (map[string]tool.Tool, *failure) {
	var o tools.Options
	for _, x := range []struct {
		key, word string
		to        *tools.Backend
	}{{"kb", b.KB, &o.KB}, {"mail", b.Mail, &o.Mail}} {
		backend, err := tools.ParseBackend(x.word)
		if err != nil {
			return nil, &failure{code: "prepare-config", message: "tools." + x.key + ".backend: this version has no " + x.word, hint: "stub and fake are there"}
		}
		*x.to = backend
	}
	bound := map[string]tool.Tool{}
	for _, t := range tools.Tools(o) {
		bound[t.Name] = t
	}
	return bound, nil
}

// prepare is what MK320 and MK321 are checked against.
func (h *hosted) prepare() check.Host {
	var tiers []mkl.Tier
	for _, t := range []mkl.Tier{mkl.Fast, mkl.Balanced, mkl.Reasoning} {
		if h.config.Tiers[t] != "" {
			tiers = append(tiers, t)
		}
	}
	return check.Host{
		Provider: h.from.Provider,
		Tiers:    tiers,
		Tools:    func(name string) bool { _, ok := h.config.Tools[name]; return ok },
		Hooks:    func(name string) bool { _, _, ok := h.config.Hooks(name); return ok },
	}
}

// connect makes the door to the model. It opens no connection.
func (h *hosted) connect(a *app) *failure {
	r := h.from
	if err := r.MissingKey(); err != nil {
		return &failure{code: "prepare-config", message: err.Error()}
	}
	if r.Protocol != config.ProtocolOpenAI {
		return &failure{code: "prepare-config", message: fmt.Sprintf("provider %s speaks %s, which this version does not", r.Provider, r.Protocol), hint: "name another provider with --provider"}
	}
	m, err := openai.New(openai.Config{BaseURL: r.BaseURL, Key: r.Key.Reveal(), Provider: r.Provider, Where: r.Where(), Log: a.log})
	if err != nil {
		return &failure{code: "prepare-config", message: "provider " + r.Provider + ": " + err.Error(), path: r.Path}
	}
	h.config.Model = m
	return nil
}

// configFailure lists everything that a configuration file says wrongly.
func configFailure(err error) *failure {
	f := &failure{code: "prepare-config", message: err.Error()}
	var fe *config.FileError
	if errors.As(err, &fe) {
		f.message = fe.Place(0)
		for i := range fe.Faults[1:] {
			f.also = append(f.also, diagnostic{severity: "error", message: fe.Place(i + 1)})
		}
	}
	return f
}
