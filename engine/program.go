package engine

import (
	"errors"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// Program is a compiled machine with every machine it can reach. It is
// immutable and shared by any number of runs.
type Program struct {
	top   *unit
	units []*unit // by name
}

// unit is one compiled machine.
type unit struct {
	m       *mkl.Machine
	syms    symbols
	context []contextKey
	states  []state
	index   map[string]int
	result  int         // symbol, -1 when the last output is the result
	acts    bool        // it, or a machine it can call, has a tool: state
	foreign bool        // nobody answers for it, or for a machine it can call
	repairs int         // repair gates of all states: each has a slot in a level
	owned   bool        // a person answers for the text
	label   trust.Label // of the text when nobody does
}

type contextKey struct {
	sym int
	val trust.Value
}

// symbols numbers the keys that a machine's text names.
type symbols struct {
	names []string
	index map[string]int
}

func (s *symbols) add(name string) int {
	if i, ok := s.index[name]; ok {
		return i
	}
	i := len(s.names)
	s.names = append(s.names, name)
	s.index[name] = i
	return i
}

// state is one compiled state.
type state struct {
	src    *mkl.State
	id     string
	tier   mkl.Tier    // the state's own or the machine's
	label  trust.Label // what every output of the state joins with
	traced string      // tier as the trace has it
	prompt []segment
	system fence.Doc
	over   *reference
	fan    bool // sample or over
	input  []binding
	output int
	gates  []gate
	callee *unit // nil when the registry does not know it
	batch  []batch
}

// reference is one placeholder.
type reference struct {
	root  string
	path  []string // below the root; nil for the root itself
	label string   // as written, for receipts
	sym   int
}

type segment struct {
	text trust.Text
	ref  *reference
}

// binding is one key of input:.
type binding struct {
	key      string
	fixed    trust.Value // used when neither single nor segments
	single   *reference
	segments []segment
}

type gate struct {
	src       *mkl.Gate
	when      trust.Text
	whenText  string
	otherwise bool
	hook      string
	hooked    bool
	repair    int // slot of a repair gate, -1 otherwise
	next      int // state index, nextEnd, nextUnknown
	feedback  trust.Text
	replyTo   string
}

const (
	nextEnd     = -1
	nextUnknown = -2
)

// batch is a run of consecutive prose gates when every gate is eligible, with
// its conditions set once.
type batch struct {
	first, last int
	text        trust.Text
}

// Compile compiles m and what it can call. Names that the registry does not
// know fail when a run reaches them.
func Compile(m *mkl.Machine, reg Registry) (*Program, error) {
	if m == nil {
		return nil, errors.New("compile: no machine")
	}
	c := compiler{reg: reg, done: map[string]*unit{}}
	top := c.enter(m)
	c.fill(top)
	c.settle()
	p := &Program{top: top}
	for _, u := range c.done {
		if u != top {
			p.units = append(p.units, u)
		}
	}
	p.units = append(p.units, top)
	slices.SortStableFunc(p.units, func(a, b *unit) int { return strings.Compare(a.m.Name, b.m.Name) })
	return p, nil
}

type compiler struct {
	reg  Registry
	done map[string]*unit // by the name that call: uses
	all  []*unit
}

// enter makes the unit of a machine, before its states are looked at: a machine
// that calls itself finds it.
func (c *compiler) enter(m *mkl.Machine) *unit {
	u := &unit{m: m, index: make(map[string]int, len(m.States)), owned: m.Authorship == mkl.AuthorshipOperator, label: trust.From("machine:" + m.Name)}
	u.syms.index = map[string]int{}
	c.all = append(c.all, u)
	return u
}

// fill compiles a machine's states and, through them, its callees.
func (c *compiler) fill(u *unit) {
	m := u.m
	for _, b := range m.Context {
		u.context = append(u.context, contextKey{u.syms.add(b.Key), b.Value})
	}
	for i := range m.States {
		u.index[m.States[i].ID] = i
	}
	u.result = -1
	if m.HasResult {
		u.result = u.syms.add(m.Result)
	}
	u.states = make([]state, len(m.States))
	for i := range m.States {
		c.state(u, &u.states[i], &m.States[i])
	}
}

func (c *compiler) callee(name string) *unit {
	if u, ok := c.done[name]; ok {
		return u
	}
	if c.reg == nil {
		return nil
	}
	m, ok := c.reg.Machine(name)
	if !ok || m == nil {
		return nil
	}
	for _, u := range c.all {
		if u.m == m { // the top machine, reached again
			c.done[name] = u
			return u
		}
	}
	u := c.enter(m)
	c.done[name] = u
	c.fill(u)
	return u
}

// settle computes, as a fixed point, which machines can act through a tool and
// which have text that nobody answers for, and then the labels that depend on it.
func (c *compiler) settle() {
	defer func() {
		for _, u := range c.all {
			for i := range u.states {
				u.states[i].label = u.states[i].base(u)
			}
		}
	}()
	for changed := true; changed; {
		changed = false
		for _, u := range c.all {
			acts, foreign := u.acts, u.foreign || !u.owned
			for i := range u.states {
				s := &u.states[i]
				acts = acts || s.src.Kind == mkl.Tool || s.callee != nil && s.callee.acts
				foreign = foreign || s.callee != nil && s.callee.foreign
			}
			changed = changed || acts != u.acts || foreign != u.foreign
			u.acts, u.foreign = acts, foreign
		}
	}
}

// base is what every output of the state joins with (LANGUAGE.md §8.1).
func (s *state) base(u *unit) trust.Label {
	l := trust.ModelLabel("model:" + s.id)
	switch s.src.Kind {
	case mkl.Tool:
		l = trust.From("tool:" + s.src.Tool)
	case mkl.Call:
		l = trust.ModelLabel("call:" + s.src.Callee)
		if s.callee != nil && (s.callee.acts || s.callee.foreign) {
			l = l.Lowered(trust.LevelExternal)
		}
	}
	if !u.owned { // an outsider wrote the prompt
		l = l.Join(u.label)
	}
	return l
}

func (c *compiler) state(u *unit, s *state, src *mkl.State) {
	s.src, s.id = src, src.ID
	s.tier = src.Tier
	if s.tier == "" {
		s.tier = u.m.DefaultTier
	}
	s.traced = string(s.tier)
	if src.Kind == mkl.Tool {
		s.traced = string(u.m.DefaultTier)
	}
	if src.Kind == mkl.Generative {
		s.system = produceSystem(src)
		if src.Prompt != nil {
			s.prompt = u.segments(src.Prompt)
		}
	}
	if src.Kind == mkl.Call {
		s.callee = c.callee(src.Callee)
	}
	if src.Over != nil {
		s.fan = true
		if path, ok := src.Over.First(); ok {
			s.over = u.reference(path, strings.Join(path, "."))
		}
	}
	if src.Sample > 0 {
		s.fan, s.over = true, nil
	}
	for _, b := range src.Input {
		s.input = append(s.input, u.binding(b))
	}
	s.output = u.syms.add(src.Output)
	for i := range src.Gates {
		s.gates = append(s.gates, u.gate(&src.Gates[i]))
	}
	s.batches()
}

func (u *unit) reference(path []string, label string) *reference {
	r := &reference{root: path[0], label: label, sym: u.syms.add(path[0])}
	if len(path) > 1 {
		r.path = path[1:]
	}
	return r
}

func (u *unit) segments(t *mkl.Template) []segment {
	out := make([]segment, 0, len(t.Segments))
	for _, s := range t.Segments {
		if s.Path == nil {
			out = append(out, segment{text: s.Text})
			continue
		}
		out = append(out, segment{ref: u.reference(s.Path, strings.Join(s.Path, "."))})
	}
	return out
}

func (u *unit) binding(b mkl.Binding) binding {
	out := binding{key: b.Key, fixed: b.Value}
	switch {
	case b.Template != nil:
		if path, ok := b.Template.Single(); ok {
			out.single = u.reference(path, strings.Join(path, "."))
		} else {
			out.segments = u.segments(b.Template)
			if out.segments == nil {
				out.segments = []segment{}
			}
		}
	case b.Value.Value().IsNull():
		out.segments = []segment{} // null resolves to the empty text
	}
	return out
}

func (u *unit) gate(g *mkl.Gate) gate {
	out := gate{
		src: g, when: g.When, whenText: g.When.String(), otherwise: g.Otherwise(),
		repair: -1, next: nextUnknown, replyTo: g.ReplyTo,
	}
	if g.HasHook && !out.otherwise {
		out.hook, out.hooked = g.Hook, true
	}
	if g.HasTo && g.To == mkl.End {
		out.next = nextEnd
	} else if i, ok := u.index[g.To]; ok && g.HasTo {
		out.next = i
	}
	if g.Policy == mkl.PolicyRepair {
		out.repair = u.repairs
		u.repairs++
		out.feedback = trust.Join(feedbackBefore, g.When, feedbackAfter)
	}
	if out.replyTo == "" {
		out.replyTo = defaultReply
	}
	return out
}

const defaultReply = "human.reply"

func (g *gate) prose() bool { return !g.hooked && !g.otherwise }

// batches sets the runs of prose gates for the case that every gate is eligible.
func (s *state) batches() {
	for i := 0; i < len(s.gates); {
		if !s.gates[i].prose() {
			i++
			continue
		}
		j := i
		var whens []trust.Text
		for j < len(s.gates) && s.gates[j].prose() {
			whens = append(whens, s.gates[j].when)
			j++
		}
		s.batch = append(s.batch, batch{i, j - 1, conditions(whens)})
		i = j
	}
}

// Machine is the program's top machine.
func (p *Program) Machine() *mkl.Machine { return p.top.m }

// Reachable lists the top machine and every machine that call: can reach, by name.
func (p *Program) Reachable() []*mkl.Machine {
	out := make([]*mkl.Machine, len(p.units))
	for i, u := range p.units {
		out[i] = u.m
	}
	return out
}

// Context is the top machine's own literals: what host inputs are merged into.
func (p *Program) Context() value.Value {
	entries := make([]value.Entry, len(p.top.context))
	for i, k := range p.top.context {
		entries[i] = value.Entry{Key: p.top.syms.names[k.sym], Value: k.val.Value()}
	}
	return value.FromEntries(entries...)
}
