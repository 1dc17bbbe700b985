package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/mkl/yamltree"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/value"
)

// Fault is one thing that is wrong with a file, with its place; line 0 is the
// file as a whole.
type Fault struct {
	Line, Column int
	Message      string
}

// FileError is everything that is wrong with one file.
type FileError struct {
	Path   string // "" is the bundled one
	Faults []Fault
}

// Error is the first fault and the number of the others.
func (e *FileError) Error() string {
	s := e.Place(0)
	switch n := len(e.Faults) - 1; {
	case n == 1:
		s += " (and 1 more)"
	case n > 1:
		s += " (and " + strconv.Itoa(n) + " more)"
	}
	return s
}

// Place is fault i as path:line:column: message.
func (e *FileError) Place(i int) string {
	f := e.Faults[i]
	path := e.Path
	if path == "" {
		path = "bundled configuration"
	}
	if f.Line == 0 {
		return path + ": " + f.Message
	}
	return path + ":" + strconv.Itoa(f.Line) + ":" + strconv.Itoa(f.Column) + ": " + f.Message
}

type pos struct{ line, column int }

// file is a configuration as written. Pointers are nil where nothing was said.
type file struct {
	path string
	at   map[string]pos // place of each key, by its dotted path

	active       string
	providers    []provided
	backends     Backends
	workspace    string
	write        bool
	declarations []Declared
	judgeLenient *bool
	actions      [3]*policy.Action // untrusted_flow, untrusted_argument, secret_egress
	onTruncate   *engine.Truncate
	approvalTTL  *time.Duration
	rules        []string // files of the host's own rules, as written
	vouch        map[string]map[string]string
	secrecy      map[string][]string
	servers      map[string]Server
	store        Store
	audit, lanes value.Value

	// written lists the dotted paths of keys in the order of the file; opens are
	// those that bind a tool to something real.
	written []string
	opens   map[string]bool
}

func (f *file) fault(at pos, format string, args ...any) *FileError {
	return &FileError{Path: f.path, Faults: []Fault{{at.line, at.column, fmt.Sprintf(format, args...)}}}
}

// The words of the file, as its errors list them.
func searchBackends() []string { return []string{"stub", "fake", "tavily", "brave", "searxng"} }
func kbBackends() []string     { return []string{"stub", "fake", "index"} }
func mailBackends() []string   { return []string{"stub", "fake", "smtp"} }
func fsBackends() []string     { return []string{"stub", "local"} }
func rules() []string          { return []string{"untrusted_flow", "untrusted_argument", "secret_egress"} }

// read reads a configuration strictly. The error is a *FileError.
func read(path string, content []byte) (*file, error) {
	r := &reader{file: &file{path: path, at: map[string]pos{}, opens: map[string]bool{}}}
	root, errs := yamltree.Read(content)
	for _, e := range errs {
		r.faults = append(r.faults, Fault{e.Line, e.Column, e.Message})
	}
	if len(errs) == 0 {
		r.root(root)
	}
	if len(r.faults) > 0 {
		return nil, &FileError{path, r.faults}
	}
	return r.file, nil
}

type reader struct {
	*file
	faults []Fault
}

func (r *reader) wrong(n *yamltree.Node, path, format string, args ...any) {
	r.faults = append(r.faults, Fault{n.Line, n.Column, path + ": " + fmt.Sprintf(format, args...)})
}

func dotted(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// mapping walks a mapping. valid are the keys it may have; none: any. A key
// without a value, as a section with every line commented out, is an empty one.
func (r *reader) mapping(n *yamltree.Node, path string, valid []string, each func(path, key string, v *yamltree.Node)) {
	if n.Kind == yamltree.Scalar && n.Empty {
		return
	}
	if n.Kind != yamltree.Mapping {
		r.wrong(n, path, "expected a mapping, found %s", kind(n))
		return
	}
	for i, k := range n.Keys {
		here := dotted(path, k.Text)
		if valid != nil && !slices.Contains(valid, k.Text) {
			what := "unknown key"
			if path != "" {
				what = path + ": unknown key"
			}
			r.faults = append(r.faults, Fault{k.Line, k.Column, fmt.Sprintf("%s %q: expected one of %s", what, k.Text, strings.Join(valid, ", "))})
			continue
		}
		r.at[here] = pos{k.Line, k.Column}
		r.written = append(r.written, here)
		each(here, k.Text, n.Values[i])
	}
}

// text reads a string that is not blank.
func (r *reader) text(n *yamltree.Node, path string) string {
	s, err := n.AsString()
	if err != nil {
		r.wrong(n, path, "%s", err.Message)
		return ""
	}
	if strings.TrimSpace(s) == "" {
		r.wrong(n, path, "expected a text, found a blank one")
		return ""
	}
	return s
}

// word reads one of a few words, exactly as they are written.
func (r *reader) word(n *yamltree.Node, path string, valid ...string) string {
	s, err := n.AsString()
	if err != nil || !slices.Contains(valid, s) {
		found := n.What()
		if err == nil {
			found = strconv.Quote(s)
		}
		r.wrong(n, path, "expected %s, found %s", strings.Join(valid, " or "), found)
		return ""
	}
	return s
}

// variable reads the name of an environment variable. What is none is not shown:
// people put the secret itself there.
func (r *reader) variable(n *yamltree.Node, path string) string {
	s, err := n.AsString()
	ok := err == nil && s != ""
	for i := range len(s) {
		c := s[i]
		ok = ok && (c == '_' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || i > 0 && '0' <= c && c <= '9')
	}
	if !ok {
		r.wrong(n, path, "expected the name of an environment variable (not the secret itself)")
		return ""
	}
	return s
}

func (r *reader) boolean(n *yamltree.Node, path string) *bool {
	b, err := n.AsBool()
	if err != nil {
		r.wrong(n, path, "%s", err.Message)
		return nil
	}
	return &b
}

func (r *reader) texts(n *yamltree.Node, path string) []string {
	if n.Kind != yamltree.Sequence {
		r.wrong(n, path, "expected a list of texts, found %s", kind(n))
		return nil
	}
	list := make([]string, len(n.Items))
	for i, item := range n.Items {
		list[i] = r.text(item, path+"["+strconv.Itoa(i)+"]")
	}
	return list
}

// strings is texts with blank ones.
func (r *reader) strings(n *yamltree.Node, path string) []string {
	if n.Kind != yamltree.Sequence {
		r.wrong(n, path, "expected a list of texts, found %s", kind(n))
		return nil
	}
	list := make([]string, len(n.Items))
	for i, item := range n.Items {
		s, err := item.AsString()
		if err != nil {
			r.wrong(item, path+"["+strconv.Itoa(i)+"]", "%s", err.Message)
		}
		list[i] = s
	}
	return list
}

// kind names what stands at a place and not its text, which may be a secret that
// was put in the wrong one.
func kind(n *yamltree.Node) string {
	if n.Kind == yamltree.Scalar && !n.Empty {
		return "a text"
	}
	return n.What()
}

func (r *reader) free(n *yamltree.Node, path string) value.Value {
	return n.Value(func(e *yamltree.Error) {
		r.faults = append(r.faults, Fault{e.Line, e.Column, path + ": " + e.Message})
	})
}

func (r *reader) root(n *yamltree.Node) {
	r.mapping(n, "", []string{"active", "providers", "tools", "judge", "policy", "vouch", "secrecy", "mcp", "store", "audit", "lanes"},
		func(path, key string, v *yamltree.Node) {
			switch key {
			case "active":
				r.active = r.text(v, path)
			case "providers":
				r.mapping(v, path, nil, r.provider)
			case "tools":
				r.mapping(v, path, nil, r.tool)
			case "judge":
				r.mapping(v, path, []string{"lenient"}, func(path, _ string, v *yamltree.Node) {
					r.judgeLenient = r.boolean(v, path)
				})
			case "policy":
				r.policy(v, path)
			case "vouch":
				r.vouches(v, path)
			case "secrecy":
				r.secrecy = map[string][]string{}
				r.mapping(v, path, nil, func(path, key string, v *yamltree.Node) { r.secrecy[key] = r.texts(v, path) })
			case "mcp":
				r.mapping(v, path, []string{"servers"}, func(path, _ string, v *yamltree.Node) {
					r.servers = map[string]Server{}
					r.mapping(v, path, nil, r.server)
				})
			case "store":
				r.storage(v, path)
			case "audit":
				r.audit = r.free(v, path)
			case "lanes":
				r.lanes = r.free(v, path)
			}
		})
}

func (r *reader) provider(path, name string, n *yamltree.Node) {
	before := len(r.faults)
	p := provided{name: name, at: r.at[path]}
	r.mapping(n, path, []string{"tiers", "api_key_env", "base_url", "protocol", "judge", "params"}, func(path, key string, v *yamltree.Node) {
		switch key {
		case "tiers":
			p.tiers = map[mkl.Tier]string{}
			r.mapping(v, path, tierNames(), func(path, key string, v *yamltree.Node) { p.tiers[mkl.Tier(key)] = r.text(v, path) })
		case "api_key_env":
			p.keyEnv = r.variable(v, path)
		case "base_url":
			s, err := v.AsString()
			if err != nil {
				r.wrong(v, path, "%s", err.Message)
			} else if err := checkURL(s); err != nil {
				r.wrong(v, path, "%v", err)
			}
			p.baseURL = s
		case "protocol":
			p.protocol = r.word(v, path, "auto", string(ProtocolOpenAI))
		case "judge":
			p.judge = r.text(v, path)
		case "params":
			p.params = map[mkl.Tier]map[string]any{}
			r.mapping(v, path, tierNames(), func(path, key string, v *yamltree.Node) {
				params := map[string]any{}
				r.mapping(v, path, nil, func(path, key string, v *yamltree.Node) { params[key] = r.free(v, path) })
				p.params[mkl.Tier(key)] = params
			})
		}
	})
	for _, tier := range tierNames() {
		if _, ok := p.tiers[mkl.Tier(tier)]; !ok && len(r.faults) == before {
			r.faults = append(r.faults, Fault{p.at.line, p.at.column, fmt.Sprintf("%s: tiers.%s is missing: expected a model id for each of %s", path, tier, strings.Join(tierNames(), ", "))})
		}
	}
	r.providers = append(r.providers, p)
}

// tool reads an entry of tools: the backends of built-in ones, and declarations.
func (r *reader) tool(path, name string, n *yamltree.Node) {
	switch name {
	case "kb":
		r.mapping(n, path, []string{"backend"}, func(path, _ string, v *yamltree.Node) {
			r.opens[path] = true
			r.backends.KB = r.word(v, path, kbBackends()...)
		})
		return
	case "mail":
		r.mapping(n, path, []string{"backend"}, func(path, _ string, v *yamltree.Node) {
			r.opens[path] = true
			r.backends.Mail = r.word(v, path, mailBackends()...)
		})
		return
	case "fs":
		r.mapping(n, path, []string{"backend", "workspace", "write"}, func(path, key string, v *yamltree.Node) {
			r.opens[path] = true
			switch key {
			case "backend":
				r.backends.FS = r.word(v, path, fsBackends()...)
			case "workspace":
				r.workspace = r.text(v, path)
			case "write":
				if b := r.boolean(v, path); b != nil {
					r.write = *b
				}
			}
		})
		return
	}
	valid := []string{"class", "sensitive", "yields", "may_carry", "labelled", "egress"}
	if name == "search" {
		valid = append(valid, "backend")
	}
	d := Declared{Tool: name}
	r.mapping(n, path, valid, func(path, key string, v *yamltree.Node) {
		if key == "backend" {
			r.opens[path] = true
			r.backends.Search = r.word(v, path, searchBackends()...)
			return
		}
		r.declare(&d.Declaration, path, key, v)
	})
	if d.Declaration != (policy.Declaration{}) {
		r.declarations = append(r.declarations, d)
	}
}

// declare reads one key of a declaration by the policy's own reader, and puts
// its place to what is wrong.
func (r *reader) declare(d *policy.Declaration, path, key string, n *yamltree.Node) {
	var v value.Value
	switch key {
	case "labelled", "egress":
		b := r.boolean(n, path)
		if b == nil {
			return
		}
		v = value.FromBool(*b)
	case "class":
		s, err := n.AsString()
		if err != nil {
			r.wrong(n, path, "expected read or effect, found %s", n.What())
			return
		}
		v = value.FromString(s)
	default:
		before := len(r.faults)
		var items []value.Value
		for _, s := range r.texts(n, path) {
			items = append(items, value.FromString(s))
		}
		if len(r.faults) > before {
			return
		}
		v = value.FromList(items...)
	}
	one, err := policy.ParseDeclaration(value.FromEntries(value.Entry{Key: key, Value: v}))
	if err != nil {
		r.wrong(n, path, "%s", strings.TrimPrefix(err.Error(), key+": "))
		return
	}
	switch key {
	case "class":
		d.Class = one.Class
	case "sensitive":
		d.Sensitive = one.Sensitive
	case "yields":
		d.Yields = one.Yields
	case "may_carry":
		d.MayCarry = one.MayCarry
	case "labelled":
		d.Labelled = one.Labelled
	case "egress":
		d.Egress = one.Egress
	}
}

func (r *reader) policy(n *yamltree.Node, path string) {
	r.mapping(n, path, append(rules(), "on_truncate", "approval_ttl", "rules"), func(path, key string, v *yamltree.Node) {
		switch key {
		case "on_truncate":
			switch r.word(v, path, "report", "halt") {
			case "report":
				t := engine.TruncateReport
				r.onTruncate = &t
			case "halt":
				t := engine.TruncateHalt
				r.onTruncate = &t
			}
		case "rules":
			r.rules = r.texts(v, path)
		case "approval_ttl":
			s, err := v.AsString()
			d, derr := time.ParseDuration(s)
			if err != nil || derr != nil || d <= 0 {
				r.wrong(v, path, "expected a time like 24h or 30m, more than none, found %s", v.What())
				return
			}
			r.approvalTTL = &d
		default:
			s := r.word(v, path, policy.Report.String(), policy.Ask.String(), policy.Halt.String())
			if a, err := policy.ParseAction(s); err == nil {
				r.actions[slices.Index(rules(), key)] = &a
			}
		}
	})
}

func (r *reader) vouches(n *yamltree.Node, path string) {
	r.vouch = map[string]map[string]string{}
	r.mapping(n, path, nil, func(path, machine string, v *yamltree.Node) {
		reasons := map[string]string{}
		r.mapping(v, path, nil, func(path, key string, v *yamltree.Node) {
			s, err := v.AsString()
			if err != nil || strings.TrimSpace(s) == "" {
				r.wrong(v, path, "expected a written reason why nobody outside can choose this key, found %s", blankOr(s, v))
				return
			}
			reasons[key] = s
		})
		r.vouch[machine] = reasons
	})
}

func blankOr(s string, n *yamltree.Node) string {
	if strings.TrimSpace(s) == "" && n.Kind == yamltree.Scalar {
		return "nothing"
	}
	return n.What()
}

func (r *reader) server(path, name string, n *yamltree.Node) {
	before := len(r.faults)
	var s Server
	r.mapping(n, path, []string{"command", "args", "env", "url", "tools", "labelled", "pins"}, func(path, key string, v *yamltree.Node) {
		switch key {
		case "command":
			s.Command = r.text(v, path)
		case "args":
			s.Args = r.strings(v, path)
		case "env":
			s.Env = map[string]Secret{}
			r.mapping(v, path, nil, func(path, key string, v *yamltree.Node) {
				text, err := v.AsString()
				if err != nil {
					r.wrong(v, path, "expected a text") // what stands there may be a secret
					return
				}
				s.Env[key] = NewSecret(text)
			})
		case "url":
			text, err := v.AsString()
			if err != nil {
				r.wrong(v, path, "%s", err.Message)
			} else if err := checkURL(text); err != nil {
				r.wrong(v, path, "%v", err)
			}
			s.URL = text
		case "tools":
			s.Tools = r.texts(v, path)
		case "labelled":
			if b := r.boolean(v, path); b != nil {
				s.Labelled = *b
			}
		case "pins":
			s.Pins = map[string]string{}
			r.mapping(v, path, nil, func(path, key string, v *yamltree.Node) { s.Pins[key] = r.text(v, path) })
		}
	})
	if (s.Command == "") == (s.URL == "") && len(r.faults) == before {
		at := r.at[path]
		r.faults = append(r.faults, Fault{at.line, at.column, path + ": expected a command or a url, one of them"})
	}
	r.servers[name] = s
}

func (r *reader) storage(n *yamltree.Node, path string) {
	r.mapping(n, path, []string{"kind", "path", "dsn_env"}, func(path, key string, v *yamltree.Node) {
		switch key {
		case "kind":
			r.store.Kind = r.word(v, path, "sqlite", "file", "postgres")
		case "path":
			r.store.Path = r.text(v, path)
		case "dsn_env":
			r.store.DSNEnv = r.variable(v, path)
		}
	})
	if s := r.store; len(r.faults) == 0 && s != (Store{}) {
		at := r.at[path]
		say := func(m string) { r.faults = append(r.faults, Fault{at.line, at.column, path + ": " + m}) }
		switch {
		case s.Kind == "":
			say("kind is missing: expected sqlite, file or postgres")
		case s.Kind == "postgres" && (s.DSNEnv == "" || s.Path != ""):
			say("a postgres store is named by dsn_env, and by no path")
		case s.Kind != "postgres" && s.DSNEnv != "":
			say("dsn_env is for a postgres store")
		}
	}
}
