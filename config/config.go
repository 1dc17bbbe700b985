// Package config finds and reads the host configuration: which models, what
// their providers are, what tools may do, what the policy is (LANGUAGE.md §21).
//
// A file that the operator named, or keeps in a place of his own, is the
// configuration. A file merely found beside a machine is not: until somebody
// accepts it, only what tightens in it counts, and the rest is ignored with a
// warning (TRUST.md §5, who may open).
//
// The package reads files and the environment through System and writes
// nothing. It never guesses: an unknown key or a misspelt word is an error with
// its place and the valid ones. It never shows a secret.
//
//	c, err := config.Load(config.OS(), config.Request{Explicit: flag, Machine: machine, Dir: dir})
//	for _, w := range c.Warnings { … }
//	if err := c.MissingKey(); err != nil { … }
package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/value"
)

// Request says what a configuration is looked for.
type Request struct {
	Explicit string // --config
	Provider string // --provider; "" is the file's active one
	Machine  string // path of the machine file, "" without one; absolute, so that its directory has a name
	Dir      string // where there is no machine file: --dir, else the current directory
	// Accepted says whether the operator accepted a file of the project, by its
	// path and its bytes. nil accepts nothing.
	Accepted func(path string, content []byte) bool
}

// Layer is where a configuration came from.
type Layer string

// The layers, the first that has a configuration wins (LANGUAGE.md §21.1).
const (
	LayerExplicit Layer = "explicit"
	LayerEnv      Layer = "env"
	LayerProject  Layer = "project"
	LayerUser     Layer = "user"
	LayerSystem   Layer = "system"
	LayerBundled  Layer = "bundled"
)

// Protocol is what a provider speaks.
type Protocol string

// The protocols. There is no guessing: a provider whose name is not known must
// say openai_compat.
const (
	ProtocolOpenAI    Protocol = "openai_compat"
	ProtocolAnthropic Protocol = "anthropic"
)

// Resolved is the configuration of one run: the winning file with every default
// filled in, tightened by a file that was merely found.
type Resolved struct {
	Layer    Layer
	Path     string   // of the winning file; "" for the bundled one
	Found    string   // a project file that nobody accepted, "" when there was none
	Warnings []string // one line each, with its place

	Provider string
	Protocol Protocol
	BaseURL  string
	Key      Secret
	KeyEnv   string // the variable that holds the key; "" when none is needed
	KeyFrom  string // where it was found: environment, or the path of an .env file

	Tiers  map[mkl.Tier]string // always all three
	Judge  string              // one model for all judges; "" leaves it to the state's tier
	Params map[mkl.Tier]map[string]any

	JudgeLenient bool
	Policies     policy.Policies
	OnTruncate   engine.Truncate
	ApprovalTTL  time.Duration
	// Rules are files of Cedar policies, the host's own rules; they can only
	// tighten, so those of a file that was merely found count as well.
	Rules []string

	// Declarations are the operator's, to be put over registrations; Tightened is
	// what a found file adds to them. Apply does both.
	Declarations []Declared
	Tightened    []Declared

	Vouch   map[string]map[string]string // machine → key → reason; top runs only, never for inputs over MCP or HTTP
	Secrecy map[string][]string          // key → tags

	Backends  Backends
	Workspace string // "" leaves it to the surface
	Write     bool   // the write grant of file tools

	Servers map[string]Server
	Store   Store
	Audit   value.Value // the section as it stands, null without one
	Lanes   value.Value

	looked []string // where a key was looked for
}

// Declared is a declaration of one tool.
type Declared struct {
	Tool        string
	Declaration policy.Declaration
}

// Backends are the words of the built-in tools' backends.
type Backends struct{ Search, KB, Mail, FS string }

// Server is an MCP server. A server without Tools exposes nothing.
type Server struct {
	Command  string
	Args     []string
	Env      map[string]Secret
	URL      string
	Tools    []string
	Labelled bool
	Pins     map[string]string
}

// Store is where runs are kept. The zero Store leaves it to the surface.
type Store struct{ Kind, Path, DSNEnv string }

// Apply puts the declarations over a table: the operator's first, then what
// tightens them.
func (r *Resolved) Apply(t policy.Table) {
	for _, d := range r.Declarations {
		t.Declare(d.Tool, d.Declaration)
	}
	for _, d := range r.Tightened {
		t.Tighten(d.Tool, d.Declaration)
	}
}

// MissingKey is an error that says which variable is missing and where it was
// looked for, or nil.
func (r *Resolved) MissingKey() error {
	if r.KeyEnv == "" || r.Key.Set() || r.Provider == "local" {
		return nil
	}
	return fmt.Errorf("provider %s needs a key: set %s in %s", r.Provider, r.KeyEnv, strings.Join(r.looked, " or in "))
}

// Where says where the model ids of r are configured, for messages.
func (r *Resolved) Where() string {
	if r.Path == "" {
		return "providers." + r.Provider + " of the bundled configuration"
	}
	return "providers." + r.Provider + " of " + r.Path
}

// Load finds, reads and resolves the configuration. Its errors are *FileError,
// for what a file says, or name the layer that failed.
func Load(sys System, req Request) (*Resolved, error) {
	d, err := discover(sys, req)
	if err != nil {
		return nil, err
	}
	f, err := read(d.path, d.content)
	if err != nil {
		return nil, err
	}
	r := &Resolved{Layer: d.layer, Path: d.path}
	keys := newKeys(sys, req, r)
	if err := r.provider(f, req.Provider, keys); err != nil {
		return nil, err
	}
	r.settings(f)
	r.backends(sys, f, keys)
	if d.found != "" {
		tight, err := read(d.found, d.foundContent)
		if err != nil {
			return nil, err
		}
		r.Found = d.found
		r.tighten(tight)
	}
	return r, nil
}

// settings takes over what needs no resolving.
func (r *Resolved) settings(f *file) {
	r.JudgeLenient = f.judgeLenient != nil && *f.judgeLenient
	r.Policies = policy.Policies{UntrustedFlow: policy.Report, UntrustedArgument: policy.Report, SecretEgress: policy.Halt}
	for i, to := range []*policy.Action{&r.Policies.UntrustedFlow, &r.Policies.UntrustedArgument, &r.Policies.SecretEgress} {
		if a := f.actions[i]; a != nil {
			*to = *a
		}
	}
	r.OnTruncate = engine.TruncateReport
	if f.onTruncate != nil {
		r.OnTruncate = *f.onTruncate
	}
	r.ApprovalTTL = 24 * time.Hour
	if f.approvalTTL != nil {
		r.ApprovalTTL = *f.approvalTTL
	}
	r.Declarations = f.declarations
	for _, name := range f.rules {
		r.Rules = append(r.Rules, beside(f.path, name))
	}
	r.Vouch, r.Secrecy = f.vouch, f.secrecy
	r.Servers, r.Store = f.servers, f.store
	r.Audit, r.Lanes = f.audit, f.lanes
}

// beside is a path that a configuration names, from the configuration's directory.
func beside(file, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(file), name)
}

// backends resolves environment > file > default (LANGUAGE.md §21.3).
func (r *Resolved) backends(sys System, f *file, keys *keys) {
	pick := func(env, fromFile, standard string, valid ...string) string {
		word, ok := sys.Env(env)
		switch {
		case ok && slices.Contains(valid, word):
			return word
		case ok && word != "":
			// Never a real service or disk by accident.
			r.warn("PINFOLD_%s: expected one of %s, found %q: using stub", env, strings.Join(valid, ", "), word)
			return "stub"
		case fromFile != "":
			return fromFile
		}
		return standard
	}
	search := "stub"
	if key, _ := keys.find("TAVILY_API_KEY"); key != "" {
		search = "tavily"
	}
	r.Backends = Backends{
		Search: pick("SEARCH_BACKEND", f.backends.Search, search, searchBackends()...),
		KB:     pick("KB_BACKEND", f.backends.KB, "stub", kbBackends()...),
		Mail:   pick("MAIL_BACKEND", f.backends.Mail, "stub", mailBackends()...),
		FS:     pick("FS_BACKEND", f.backends.FS, "local", fsBackends()...),
	}
	if r.Workspace, _ = sys.Env("FS_ROOT"); r.Workspace == "" {
		r.Workspace = f.workspace
	}
	r.Write = f.write
	if word, _ := sys.Env("FS_WRITE"); word != "" {
		switch strings.ToLower(word) {
		case "1", "true", "yes", "on":
			r.Write = true
		default:
			r.Write = false
		}
	}
}

func (r *Resolved) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}
