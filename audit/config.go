package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/pinfold-dev/pinfold/analyzers/flow"
)

// Config is what pinfold.yaml says under audit.
type Config struct {
	Sinks       []SinkRule        `yaml:"sinks"`
	Fences      []string          `yaml:"fences"`      // functions that put their arguments into a fence
	Authorship  map[string]string `yaml:"authorship"`  // table.column: who writes it
	Sensitivity map[string]string `yaml:"sensitivity"` // table.column, or the name of a slot: pii, secret, …
	Trusted     []string          `yaml:"trusted"`     // the classes of authorship that are the operator's own
	Unchecked   []string          `yaml:"unchecked"`   // packages that may vouch
}

// SinkRule names one more place where text becomes model input.
type SinkRule struct {
	Func string `yaml:"func"` // pkg.Func or pkg.Type.Method, or
	Type string `yaml:"type"` // pkg.Type.Field
	Arg  int    `yaml:"arg"`  // from 0, the receiver not counted
	Role string `yaml:"role"` // system, user, …
}

// OwnClasses are the classes of authorship that count as trusted where the
// configuration names no others.
var ownClasses = []string{"author", "operator", "owner", "policy", "own", "system", "enum"}

func (c *Config) trusts(class string) bool {
	own := c.Trusted
	if own == nil {
		own = ownClasses
	}
	return slices.Contains(own, class)
}

// ReadConfig reads the audit section of a pinfold.yaml. A file that is not there
// is an empty configuration.
func ReadConfig(name string) (Config, error) {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, nil
	}
	if err != nil {
		return Config{}, err
	}
	var doc struct {
		Audit yaml.Node `yaml:"audit"`
	}
	if err := yaml.Unmarshal(b, &doc); err != nil {
		return Config{}, fmt.Errorf("%s: %w", name, err)
	}
	var c Config
	if doc.Audit.Kind == 0 {
		return c, nil
	}
	for i := 0; i+1 < len(doc.Audit.Content); i += 2 {
		k := doc.Audit.Content[i]
		switch k.Value {
		case "sinks", "fences", "authorship", "sensitivity", "trusted", "unchecked":
		default:
			return c, fmt.Errorf("%s:%d:%d: audit: expected sinks, fences, authorship, sensitivity, trusted or unchecked, found %q", name, k.Line, k.Column, k.Value)
		}
	}
	if err := doc.Audit.Decode(&c); err != nil {
		return c, fmt.Errorf("%s: audit: %w", name, err)
	}
	for _, m := range []map[string]string{c.Authorship} {
		for k := range m {
			if t, col, ok := strings.Cut(k, "."); !ok || t == "" || col == "" {
				return c, fmt.Errorf("%s: audit.authorship: expected table.column, found %q", name, k)
			}
		}
	}
	return c, nil
}

// table is the built-in table with what the configuration adds.
func (c *Config) table() (*flow.Table, error) {
	t, err := flow.Default()
	if err != nil {
		return nil, err
	}
	for _, s := range c.Sinks {
		role := s.Role
		if role == "" {
			role = "prompt"
		}
		switch {
		case s.Func != "" && s.Type == "":
			err = t.Prepend("func", s.Func, fmt.Sprint(s.Arg), role)
		case s.Type != "" && s.Func == "":
			err = t.Prepend("field", s.Type, role)
		default:
			err = errors.New("expected func or type")
		}
		if err != nil {
			return nil, fmt.Errorf("audit.sinks: %w", err)
		}
	}
	for _, f := range c.Fences {
		if err := t.Prepend("fence", f); err != nil {
			return nil, fmt.Errorf("audit.fences: %w", err)
		}
	}
	return t, nil
}
