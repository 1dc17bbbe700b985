package mkl

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/pinfold-dev/pinfold/value"
)

// canonicalVersion is the first field of the canonical form. It changes when the
// form does, so that hashes of two forms never meet.
const canonicalVersion = 1

// Canonical is the form that program hashes are made of (DESIGN.md, "Canonical
// form"): one line of JSON text (LANGUAGE.md §1) that says what a run of the
// machine does and nothing else. Two documents with the same form run the same,
// step for step.
//
// The form is an object with these fields in this order; a field in brackets is
// there only when the machine says something by it:
//
//	canonical     1, the version of this form
//	machine       the name
//	entry         the id of the first state
//	budget        the step budget
//	default_tier  the default filled in
//	[result]      the key returned at END
//	context       [[key, value], …] in the document's order, which prompts show
//	states        [state, …] sorted by id in code point order
//
// A state is
//
//	id
//	kind          "generative", "call" or "tool"
//	prompt, structure, [execution]                     generative
//	call | tool, input ([[key, value], …], in order)   call, tool
//	tier          generative and call: the state's own, else the default
//	[reason]      true
//	[parse]       "list" or "json"
//	[sample], [over], [accumulate] (true), [max_visits]
//	output
//	gates         [gate, …] in order
//
// and a gate is
//
//	when, [hook]
//	policy        "ok", "repair", "escalate" or "fail"
//	[repair]      its budget
//	[to]          absent on fail
//	[ask]
//	reply_to      escalate alone, the default filled in
//
// Texts are as the document reads, not trimmed: a trace shows them. Values keep
// their order of keys and tell 1 from 1.0, because prompts show both.
//
// What is left out does not touch a run: comments, layout, quoting, anchors,
// order of keys and of states, the file's name, the language version claimed,
// the declarations tools: and hooks:, and who answers for the text. The last is
// left out on purpose: accepting a machine must not change which machine it is.
func Canonical(m *Machine) []byte {
	out := fields{}
	out.add("canonical", value.FromInt(canonicalVersion))
	out.text("machine", m.Name)
	out.text("entry", m.Entry)
	out.add("budget", value.FromInt(int64(m.Budget)))
	out.text("default_tier", string(m.DefaultTier))
	if m.HasResult {
		out.text("result", m.Result)
	}
	out.add("context", pairs(m.Context))
	order := make([]*State, len(m.States))
	for i := range m.States {
		order[i] = &m.States[i]
	}
	slices.SortFunc(order, func(a, b *State) int { return cmp.Compare(a.ID, b.ID) })
	states := make([]value.Value, len(order))
	for i, s := range order {
		states[i] = canonicalState(m, s)
	}
	out.add("states", value.FromList(states...))
	return value.FromEntries(out...).AppendJSON(nil)
}

// Hash is the lower-case hex SHA-256 of Canonical.
func Hash(m *Machine) string {
	sum := sha256.Sum256(Canonical(m))
	return hex.EncodeToString(sum[:])
}

// DefaultReplyTo is where a person's answer goes when an escalate gate does not
// say (LANGUAGE.md §2).
const DefaultReplyTo = "human.reply"

func canonicalState(m *Machine, s *State) value.Value {
	out := fields{}
	out.text("id", s.ID)
	out.text("kind", s.Kind.String())
	switch s.Kind {
	case Call:
		out.text("call", s.Callee)
		out.add("input", pairs(s.Input))
	case Tool:
		out.text("tool", s.Tool)
		out.add("input", pairs(s.Input))
	default:
		out.template("prompt", s.Prompt)
		out.text("structure", s.Structure.String())
		if s.HasExecution {
			out.text("execution", s.Execution.String())
		}
	}
	if s.Kind != Tool {
		out.text("tier", string(cmp.Or(s.Tier, m.DefaultTier)))
	}
	out.flag("reason", s.Reason)
	switch s.Parse {
	case ParseList:
		out.text("parse", "list")
	case ParseJSON:
		out.text("parse", "json")
	}
	out.count("sample", s.Sample)
	if s.Over != nil {
		out.template("over", s.Over)
	}
	out.flag("accumulate", s.Accumulate)
	out.count("max_visits", s.MaxVisits)
	out.text("output", s.Output)
	gates := make([]value.Value, len(s.Gates))
	for i := range s.Gates {
		gates[i] = canonicalGate(&s.Gates[i])
	}
	out.add("gates", value.FromList(gates...))
	return value.FromEntries(out...)
}

func canonicalGate(g *Gate) value.Value {
	out := fields{}
	out.text("when", g.When.String())
	if g.HasHook {
		out.text("hook", g.Hook)
	}
	out.text("policy", g.Policy.String())
	out.count("repair", g.Repair)
	if g.HasTo {
		out.text("to", g.To)
	}
	if g.HasAsk {
		out.text("ask", g.Ask)
	}
	if g.Policy == PolicyEscalate {
		out.text("reply_to", cmp.Or(g.ReplyTo, DefaultReplyTo))
	}
	return value.FromEntries(out...)
}

func pairs(bindings []Binding) value.Value {
	out := make([]value.Value, len(bindings))
	for i, b := range bindings {
		out[i] = value.FromList(value.FromString(b.Key), b.Value.Value())
	}
	return value.FromList(out...)
}

// fields are those of one object of the form.
type fields []value.Entry

func (f *fields) add(key string, v value.Value) { *f = append(*f, value.Entry{Key: key, Value: v}) }
func (f *fields) text(key, s string)            { f.add(key, value.FromString(s)) }

func (f *fields) template(key string, t *Template) {
	if t != nil {
		f.text(key, t.Source.String())
	}
}

func (f *fields) flag(key string, set bool) {
	if set {
		f.add(key, value.FromBool(true))
	}
}

func (f *fields) count(key string, n int) {
	if n != 0 {
		f.add(key, value.FromInt(int64(n)))
	}
}
