package mkl

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/raw"
	"github.com/pinfold-dev/pinfold/mkl/yamltree"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// The keys of each mapping, in the order of LANGUAGE.md §2.
var (
	machineKeys     = [...]string{"machine", "entry", "budget", "states", "mklang", "default_tier", "result", "context", "tools", "hooks"}
	declarationKeys = [...]string{"name", "description"}
	gateKeys        = [...]string{"when", "hook", "then", "repair", "escalate", "fail", "to", "ask", "reply_to"}
	policies        = [...]string{PolicyOK: "then", PolicyRepair: "repair", PolicyEscalate: "escalate", PolicyFail: "fail"} // the order in which the lenient reader looks
)

// kinds says which kinds of state have a key.
type kinds uint8

const (
	generative kinds = 1 << Generative
	call       kinds = 1 << Call
	tool       kinds = 1 << Tool
)

// stateKeys are the keys of a state and who has them (the table of LANGUAGE.md §2).
var stateKeys = [...]struct {
	name string
	of   kinds
}{
	{"prompt", generative},
	{"call", call},
	{"tool", tool},
	{"structure", generative},
	{"execution", generative},
	{"tier", generative | call},
	{"reason", generative},
	{"parse", generative},
	{"sample", generative | call | tool},
	{"over", generative | call | tool},
	{"accumulate", generative | call | tool},
	{"max_visits", generative | call | tool},
	{"input", call | tool},
	{"output", generative | call | tool},
	{"gates", generative | call | tool},
}

// reader turns a tree into a machine and collects all that is wrong with it.
type reader struct {
	src     Source
	strict  bool
	failed  bool
	diags   []Diagnostic
	state   string      // id of the state being read
	within  string      // what the key being read stands in, for messages: a declaration
	gate    int         // number of the gate being read, from 1; 0 outside gates
	outside trust.Label // of literals nobody answers for
}

func pos(n *yamltree.Node) Pos { return Pos{n.Line, n.Column} }

func (r *reader) report(severity Severity, code string, at Pos, message, hint string) {
	if severity == Error {
		r.failed = true
	}
	r.diags = append(r.diags, Diagnostic{
		Code: code, Severity: severity, Message: message, File: r.src.Name, Pos: at, State: r.state, Hint: hint,
	})
}

func (r *reader) error(code string, at Pos, hint, format string, args ...any) {
	r.report(Error, code, at, fmt.Sprintf(format, args...), hint)
}

func (r *reader) yaml(e *yamltree.Error) {
	r.report(Error, e.Code, Pos{e.Line, e.Column}, e.Message, "")
}

// typed reports a value that is not what its key wants.
func (r *reader) typed(key string, e *yamltree.Error) {
	r.report(Error, e.Code, Pos{e.Line, e.Column}, r.named(key)+": "+e.Message, "")
}

// named is a key with where it stands. It is built for messages alone.
func (r *reader) named(key string) string {
	if where := r.where(); where != "" {
		return where + ": " + key
	}
	return key
}

func (r *reader) where() string {
	if r.gate > 0 {
		return "gate " + strconv.Itoa(r.gate)
	}
	return r.within
}

// legacy warns where a YAML 1.1 reader takes a plain scalar for something else.
func (r *reader) legacy(n *yamltree.Node, p yamltree.Position) {
	if !r.strict {
		return
	}
	if as := n.Legacy(p); as != "" {
		r.report(Warning, "MK110", pos(n), "a YAML 1.1 reader takes ‹"+shorten(n.Text)+"› for "+as, "quote it")
	}
}

func (r *reader) key(n *yamltree.Node) string {
	r.legacy(n, yamltree.String)
	return n.Text
}

func (r *reader) string(key string, n *yamltree.Node) (string, bool) {
	s, err := n.AsString()
	if err != nil {
		r.typed(key, err)
		return "", false
	}
	r.legacy(n, yamltree.String)
	return s, true
}

func (r *reader) prose(key string, n *yamltree.Node) (trust.Text, bool) {
	s, ok := r.string(key, n)
	return trust.FromRaw(raw.Of(s)), ok
}

func (r *reader) template(key string, n *yamltree.Node) *Template {
	s, ok := r.string(key, n)
	if !ok {
		return nil
	}
	t := scanTemplate(s, r.src.Authorship)
	t.Pos = pos(n)
	return &t
}

func (r *reader) bool(key string, n *yamltree.Node) bool {
	b, err := n.AsBool()
	if err != nil {
		r.typed(key, err)
	}
	return b
}

// int reads an integer of at least least; 0 when it is none.
func (r *reader) int(key string, n *yamltree.Node, least int) int {
	i, err := n.AsInt()
	if err != nil {
		r.typed(key, err)
		return 0
	}
	r.legacy(n, yamltree.Int)
	if i < least {
		r.error("MK204", pos(n), "", "%s: %d is not allowed: at least %d", r.named(key), i, least)
		return 0
	}
	return i
}

// choice reads one of a few words.
func (r *reader) choice(key string, n *yamltree.Node, allowed ...string) string {
	s, ok := r.string(key, n)
	if !ok {
		return ""
	}
	if !slices.Contains(allowed, s) {
		r.error("MK204", pos(n), allowedHint(allowed, s), "%s: ‹%s› is not allowed: %s", r.named(key), shorten(s), orList(allowed))
		return ""
	}
	return s
}

func (r *reader) tier(key string, n *yamltree.Node) Tier {
	return Tier(r.choice(key, n, string(Fast), string(Balanced), string(Reasoning)))
}

func (r *reader) value(n *yamltree.Node) trust.Value {
	v := n.Value(func(e *yamltree.Error) { r.yaml(e) })
	r.legacyTree(n)
	return r.literal(v)
}

// literal labels what the document holds: the author's own when a person
// answers for the text, outside data when nobody does (TRUST.md §5).
func (r *reader) literal(v value.Value) trust.Value {
	if r.src.Authorship == AuthorshipOperator {
		return trust.FromRawValue(raw.Of(r.src.Name), v)
	}
	return trust.NewValue(v, r.outside)
}

func (r *reader) legacyTree(n *yamltree.Node) {
	if !r.strict {
		return
	}
	switch n.Kind {
	case yamltree.Sequence:
		for _, item := range n.Items {
			r.legacyTree(item)
		}
	case yamltree.Mapping:
		for i, k := range n.Keys {
			r.key(k)
			r.legacyTree(n.Values[i])
		}
	default:
		r.legacy(n, yamltree.Free)
	}
}

// mapping reports what is no mapping.
func (r *reader) mapping(what string, n *yamltree.Node) bool {
	if n.Kind != yamltree.Mapping {
		r.error("MK203", pos(n), "", "%s: expected a mapping, found %s", what, n.What())
		return false
	}
	return true
}

func (r *reader) list(what string, n *yamltree.Node) bool {
	if n.Kind != yamltree.Sequence {
		r.error("MK203", pos(n), "", "%s: expected a list, found %s", what, n.What())
		return false
	}
	return true
}

func (r *reader) missing(at Pos, where string, keys ...string) {
	for _, k := range keys {
		r.error("MK201", at, "", "%s: the key ‹%s› is missing", where, k)
	}
}

func (r *reader) unknown(k *yamltree.Node, where string, known []string) {
	if !r.strict {
		return
	}
	hint := ""
	if near := nearest(k.Text, known); near != "" {
		hint = "did you mean ‹" + near + "›?"
	}
	r.error("MK202", pos(k), hint, "%s: unknown key ‹%s›", where, shorten(k.Text))
}

func (r *reader) machine(n *yamltree.Node) *Machine {
	if !r.mapping("machine", n) {
		return nil
	}
	m := &Machine{
		File: r.src.Name, Authorship: r.src.Authorship, Pos: pos(n),
		DefaultTier: Balanced,
	}
	// The name first: literals that nobody answers for come from it.
	if v, ok := n.Get("machine"); ok {
		m.NamePos = pos(v)
		m.Name, _ = r.string("machine", v)
	}
	if r.src.Authorship != AuthorshipOperator {
		r.outside = trust.From("machine:" + m.Name)
	}
	for i, k := range n.Keys {
		v := n.Values[i]
		switch r.key(k) {
		case "machine":
		case "entry":
			m.EntryPos = pos(v)
			m.Entry, _ = r.string("entry", v)
		case "budget":
			m.BudgetPos = pos(v)
			m.Budget = r.int("budget", v, 1)
		case "mklang":
			m.VersionPos = pos(v)
			m.Version, _ = r.string("mklang", v)
		case "default_tier":
			if t := r.tier("default_tier", v); t != "" {
				m.DefaultTier = t
			}
		case "result":
			m.ResultPos = pos(v)
			m.Result, m.HasResult = r.string("result", v)
		case "context":
			m.Context = r.bindings("context", v, false)
		case "tools":
			m.Tools = r.declarations("tools", v)
		case "hooks":
			m.Hooks = r.declarations("hooks", v)
		case "states":
			r.states(m, v)
		default:
			r.unknown(k, "machine", machineKeys[:])
		}
	}
	for _, k := range machineKeys[:4] {
		if _, ok := n.Get(k); !ok {
			r.missing(m.Pos, "machine", k)
		}
	}
	return m
}

func (r *reader) bindings(key string, n *yamltree.Node, templates bool) []Binding {
	if !r.mapping(key, n) || len(n.Keys) == 0 {
		return nil
	}
	out := make([]Binding, len(n.Keys))
	for i, k := range n.Keys {
		v := n.Values[i]
		b := &out[i]
		*b = Binding{Key: r.key(k), Value: r.value(v), Pos: pos(k), ValuePos: pos(v)}
		if s, ok := b.Value.Value().AsString(); ok && templates {
			t := scanTemplate(s, r.src.Authorship)
			t.Pos = pos(v)
			b.Template = &t
		}
	}
	return out
}

func (r *reader) declarations(key string, n *yamltree.Node) []Declaration {
	if !r.list(key, n) {
		return nil
	}
	defer func() { r.within = "" }()
	var out []Declaration
	for i, item := range n.Items {
		r.within = key + "[" + strconv.Itoa(i) + "]"
		if !r.mapping(r.within, item) {
			continue
		}
		d := Declaration{Pos: pos(item)}
		for i, k := range item.Keys {
			switch v := item.Values[i]; r.key(k) {
			case "name":
				d.Name, _ = r.string("name", v)
			case "description":
				d.Description, _ = r.string("description", v)
			default:
				r.unknown(k, r.within, declarationKeys[:])
			}
		}
		if _, ok := item.Get("name"); !ok {
			r.missing(d.Pos, r.within, "name")
		}
		out = append(out, d)
	}
	return out
}

func (r *reader) states(m *Machine, n *yamltree.Node) {
	if !r.mapping("states", n) {
		return
	}
	if len(n.Keys) == 0 {
		r.error("MK211", pos(n), "", "states is empty: expected at least one state")
		return
	}
	m.States = make([]State, len(n.Keys))
	m.index = make(map[string]int, len(n.Keys))
	for i, k := range n.Keys {
		s := &m.States[i]
		s.ID, s.Pos = k.Text, pos(k)
		m.index[s.ID] = i
		r.state = s.ID
		r.key(k)
		r.readState(s, n.Values[i])
	}
	r.state = ""
}

func (r *reader) readState(s *State, n *yamltree.Node) {
	if !r.mapping("state", n) {
		return
	}
	var found []string
	for _, k := range [...]string{"tool", "call", "prompt"} {
		if _, ok := n.Get(k); ok {
			found = append(found, k)
		}
	}
	of := generative
	if len(found) > 0 {
		switch found[0] {
		case "tool":
			s.Kind, of = Tool, tool
		case "call":
			s.Kind, of = Call, call
		}
	}
	where := [...]string{Generative: "generative state", Call: "call state", Tool: "tool state"}[s.Kind]
	if r.strict && len(found) != 1 {
		of, where = 0, "state"
		what := "found none"
		if len(found) > 0 {
			what = "found " + andList(found)
		}
		r.error("MK205", s.Pos, "", "a state has exactly one of prompt, call and tool: %s", what)
	}
	s.KeyPos = make(Places, 0, len(n.Keys))
	if gates, ok := n.Get("gates"); ok {
		s.Prose = make([]Scalar, 0, 3+len(gates.Items)) // a prompt, a structure, an execution, and a when for each gate
	}
	for i, k := range n.Keys {
		name := r.key(k)
		belongs, known := stateKey(name)
		switch {
		case !known:
			r.unknown(k, where, stateKeyNames())
			continue
		case of != 0 && belongs&of == 0:
			if r.strict {
				r.error("MK206", pos(k), "", "a %s has no key ‹%s›", where, name)
			}
			continue
		}
		s.KeyPos = append(s.KeyPos, Place{name, pos(k)})
		r.stateValue(s, name, n.Values[i])
	}
	required := [...]string{"prompt", "structure", "output", "gates"}
	need := required[:]
	if of != generative {
		need = required[2:]
	} else if r.strict {
		need = required[1:] // no prompt was MK205
	}
	for _, k := range need {
		if _, ok := n.Get(k); !ok {
			r.missing(s.Pos, where, k)
		}
	}
	if over := s.KeyPos.At("over"); r.strict && over != (Pos{}) && s.KeyPos.At("sample") != (Pos{}) {
		r.error("MK207", over, "", "sample and over exclude each other")
	}
}

func stateKey(name string) (kinds, bool) {
	for i := range stateKeys {
		if stateKeys[i].name == name {
			return stateKeys[i].of, true
		}
	}
	return 0, false
}

func stateKeyNames() []string {
	names := make([]string, len(stateKeys))
	for i, k := range stateKeys {
		names[i] = k.name
	}
	return names
}

func (r *reader) stateValue(s *State, key string, v *yamltree.Node) {
	switch key {
	case "prompt":
		s.Prompt = r.template(key, v)
		s.Prose = append(s.Prose, written(key, -1, v))
	case "call":
		s.Callee, _ = r.string(key, v)
	case "tool":
		s.Tool, _ = r.string(key, v)
	case "structure":
		s.Structure, _ = r.prose(key, v)
		s.Prose = append(s.Prose, written(key, -1, v))
	case "execution":
		s.Execution, s.HasExecution = r.prose(key, v)
		s.Prose = append(s.Prose, written(key, -1, v))
	case "tier":
		s.Tier = r.tier(key, v)
	case "reason":
		s.Reason = r.bool(key, v)
	case "parse":
		switch r.choice(key, v, "list", "json") {
		case "list":
			s.Parse = ParseList
		case "json":
			s.Parse = ParseJSON
		}
	case "sample":
		s.Sample = r.int(key, v, 2)
	case "over":
		s.Over = r.template(key, v)
	case "accumulate":
		s.Accumulate = r.bool(key, v)
	case "max_visits":
		s.MaxVisits = r.int(key, v, 1)
	case "input":
		s.Input = r.bindings(key, v, true)
	case "output":
		s.Output, _ = r.string(key, v)
	case "gates":
		if !r.list(key, v) {
			return
		}
		if len(v.Items) == 0 {
			r.error("MK211", pos(v), "", "gates is empty: expected at least one gate")
			return
		}
		s.Gates = make([]Gate, len(v.Items))
		for i, item := range v.Items {
			r.gate = i + 1
			r.readGate(s, i, item)
		}
		r.gate = 0
	}
}

func written(key string, gate int, n *yamltree.Node) Scalar {
	return Scalar{Key: key, Gate: gate, Text: n.Text, Plain: n.Plain, Pos: pos(n), Lost: n.Comment}
}

func (r *reader) readGate(s *State, i int, n *yamltree.Node) {
	if n.Kind != yamltree.Mapping {
		r.mapping(r.where(), n)
		return
	}
	g := &s.Gates[i]
	g.Pos = pos(n)
	policy := r.policy(g, n)
	g.KeyPos = make(Places, 0, len(n.Keys))
	for j, k := range n.Keys {
		v := n.Values[j]
		name := r.key(k)
		switch name {
		case "when":
			g.When, _ = r.prose("when", v)
			s.Prose = append(s.Prose, written(name, i, v))
		case "hook":
			g.Hook, g.HasHook = r.string("hook", v)
		case "then", "repair", "escalate", "fail":
			if name != policy {
				continue // reported where policies are counted; the lenient reader goes by the first
			}
			r.policyValue(g, policy, v)
		case "to":
			if policy == "fail" {
				if r.strict {
					r.error("MK209", pos(k), "", "%s: a fail gate leads nowhere: ‹to› is not allowed", r.where())
				}
				continue
			}
			g.To, g.HasTo = r.string("to", v)
		case "ask", "reply_to":
			if policy != "" && policy != "escalate" {
				if r.strict {
					r.error("MK210", pos(k), "", "%s: ‹%s› belongs to an escalate gate, this one is %s", r.where(), name, g.Policy)
				}
				continue
			}
			if name == "ask" {
				g.Ask, g.HasAsk = r.string("ask", v)
				s.Prose = append(s.Prose, written(name, i, v))
				break
			}
			path, ok := r.string("reply_to", v)
			if ok && slices.Contains(strings.Split(path, "."), "") {
				r.error("MK210", pos(v), "", "%s: reply_to is ‹%s›: expected non-empty names joined by dots", r.where(), shorten(path))
				break
			}
			g.ReplyTo = path
		default:
			r.unknown(k, r.where(), gateKeys[:])
			continue
		}
		g.KeyPos = append(g.KeyPos, Place{name, pos(k)})
	}
	if _, ok := n.Get("when"); !ok {
		r.missing(g.Pos, r.where(), "when")
	}
	if _, ok := n.Get("to"); !ok && r.strict && policy != "" && policy != "fail" {
		r.error("MK209", g.Pos, "", "%s: ‹to› is missing: a gate with ‹%s› leads to a state or to END", r.where(), policy)
	}
}

// policy finds the gate's policy: exactly one for the strict reader, the first
// for the lenient one.
func (r *reader) policy(g *Gate, n *yamltree.Node) string {
	var found [len(policies)]string
	count := 0
	for _, k := range n.Keys {
		if i := slices.Index(policies[:], k.Text); i >= 0 {
			found[i] = k.Text
			count++
		}
	}
	first := slices.IndexFunc(found[:], func(s string) bool { return s != "" })
	switch {
	case count == 0:
		r.error("MK208", g.Pos, "", "%s has no policy: expected one of %s", r.where(), orList(policies[:]))
		return ""
	case count > 1 && r.strict:
		all := slices.DeleteFunc(found[:], func(s string) bool { return s == "" })
		r.error("MK208", g.Pos, "", "%s has several policies: %s", r.where(), andList(all))
		return all[0]
	}
	g.Policy = Policy(first)
	return policies[first]
}

func (r *reader) policyValue(g *Gate, policy string, v *yamltree.Node) {
	switch policy {
	case "then":
		r.choice(policy, v, "ok")
	case "repair":
		if r.strict {
			g.Repair = r.int(policy, v, 1)
		} else if !v.Empty { // without a budget the run halts when the gate fires (§16)
			g.Repair = max(0, r.int(policy, v, math.MinInt))
		}
	default:
		b, err := v.AsBool()
		if err != nil {
			r.typed(policy, err)
		} else if !b {
			r.error("MK204", pos(v), "", "%s: false is not allowed: only true; a gate without this policy leaves the key out", r.named(policy))
		}
	}
}
