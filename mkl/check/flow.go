package check

import "github.com/pinfold-dev/pinfold/mkl"

// lintFlow notes effects that a judged decision can lead to (MK408, MK409).
//
// It is the static form of the flow flag, a fixed point over the gates: a state
// is judged when a prose gate leads to it, when an otherwise gate of a state
// that also has a prose gate does (none of these is a verdict too), or when an
// otherwise gate of a judged state does. A hook gate passes nothing on and
// removes nothing. It knows no labels, so a machine over its author's data
// alone is noted as well: hence a note.
func (a *analysis) lintFlow() {
	judged := a.judged()
	for i := range a.m.States {
		if judged[i] == 0 {
			continue
		}
		s, by := &a.m.States[i], &a.m.States[judged[i]-1]
		switch s.Kind {
		case mkl.Tool:
			if a.effectful(s.Tool) {
				a.add(mkl.Note, "MK408", at(s, "tool"), s.ID, "put a hook gate before it, or run with --untrusted-flow ask or halt",
					"effectful tool %s is reached on what a judge decides in state %s", quoted(s.Tool), quoted(by.ID))
			}
		case mkl.Call:
			if a.o.Registry == nil {
				continue
			}
			g := a.callees()
			if n := &g.nodes[g.byName[s.Callee]]; n.acts != "" {
				a.add(mkl.Note, "MK409", at(s, "call"), s.ID, "put a hook gate before it, or run with --untrusted-flow ask or halt",
					"machine %s can use effectful tool %s and is called on what a judge decides in state %s",
					quoted(s.Callee), quoted(n.acts), quoted(by.ID))
			}
		}
	}
}

// judged gives, by state, 1 + the place of a state whose judge decides that it
// is reached; 0 where none does.
func (a *analysis) judged() []int {
	by := make([]int, len(a.m.States))
	var queue []int
	reach := func(g *mkl.Gate, decider int) {
		to, ok := target(g)
		if !ok {
			return
		}
		if next, ok := a.index[to]; ok && to != mkl.End && by[next] == 0 {
			by[next] = decider
			queue = append(queue, next)
		}
	}
	for i := range a.m.States {
		gates := a.m.States[i].Gates
		judge := false
		for j := range gates {
			judge = judge || prose(&gates[j])
		}
		if !judge {
			continue
		}
		for j := range gates {
			if !hooked(&gates[j]) {
				reach(&gates[j], i+1)
			}
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		gates := a.m.States[i].Gates
		for j := range gates {
			if catchAll(&gates[j]) {
				reach(&gates[j], by[i])
			}
		}
	}
	return by
}

// lintOutside notes where text that somebody outside may have chosen decides
// something: a sensitive parameter (MK416), a parametric hook (MK417).
func (a *analysis) lintOutside() {
	if !a.asksOutside() {
		return
	}
	keys, produced := a.external()
	for i := range a.m.States {
		s := &a.m.States[i]
		if s.Kind == mkl.Tool && a.effectful(s.Tool) {
			for _, parameter := range a.table[s.Tool].Sensitive {
				a.lintParameter(s, parameter, keys)
			}
		}
		for j := range s.Gates {
			g := &s.Gates[j]
			p, ok := parametric(g)
			if !ok {
				continue
			}
			key := p.path
			if !a.known(key) {
				key = root(key)
			}
			why := keys[key]
			if s.Output == key && !s.Accumulate {
				// The output is deposited before the gates are looked at, so
				// this gate never sees what stood there before.
				why = produced[i]
			}
			if why.kind != causeNone {
				a.add(mkl.Note, "MK417", gateAt(g, "hook"), s.ID, "let a hook of the host decide, or a person",
					"hook %s confirms on %s, which can come from outside: %s", quoted(g.Hook), quoted(key), why)
			}
		}
	}
}

// asksOutside reports whether anything would use what external computes.
func (a *analysis) asksOutside() bool {
	for i := range a.m.States {
		s := &a.m.States[i]
		if s.Kind == mkl.Tool && a.effectful(s.Tool) && len(a.table[s.Tool].Sensitive) > 0 {
			return true
		}
		for j := range s.Gates {
			if _, ok := parametric(&s.Gates[j]); ok {
				return true
			}
		}
	}
	return false
}

func (a *analysis) lintParameter(s *mkl.State, parameter string, keys map[string]cause) {
	for i := range s.Input {
		b := &s.Input[i]
		if b.Key != parameter || b.Template == nil {
			continue
		}
		for _, m := range (mention{}).each(nil, b.Template) {
			key, ok := a.source(s, m.path[0])
			if why, outside := keys[key]; ok && outside {
				a.add(mkl.Note, "MK416", or(b.Pos, at(s, "input")), s.ID, "write the value in the machine, or run with --untrusted-argument ask or halt",
					"sensitive parameter %s of tool %s is fed from %s, which can come from outside: %s",
					quoted(parameter), quoted(s.Tool), quoted(key), why)
				break
			}
		}
	}
}

// source is the blackboard key whose label a placeholder's root carries in a
// state: item stands for what over leads to, index for nothing (LANGUAGE.md §8.1).
func (a *analysis) source(s *mkl.State, root string) (string, bool) {
	if !branch(s, root) {
		return root, true
	}
	if root == "item" {
		if path, ok := s.Over.First(); ok {
			return path[0], true
		}
	}
	return "", false
}

// cause is why a value can come from outside. The zero cause is none.
type cause struct {
	kind  causeKind
	state string // that writes it
	name  string // of the tool, machine or key
	text  string // of causeCallee
}

type causeKind uint8

const (
	causeNone causeKind = iota
	causeTool
	causeUnseen
	causeCallee
	causeHost
	causeNobody
	causeReply
	causeDerived
	causeBranch
)

func (c cause) String() string {
	switch c.kind {
	case causeTool:
		return "state " + quoted(c.state) + " takes it from tool " + quoted(c.name)
	case causeUnseen:
		return "state " + quoted(c.state) + " takes it from machine " + quoted(c.name) + ", which was not looked at"
	case causeCallee:
		return "state " + quoted(c.state) + " takes it from machine " + quoted(c.name) + ": " + c.text
	case causeHost:
		return "a host input may set it"
	case causeNobody:
		return "nobody answers for the text of this machine"
	case causeReply:
		return "a reply is written there"
	case causeDerived:
		return "state " + quoted(c.state) + " makes it from " + quoted(c.name)
	case causeBranch:
		return "a failed branch of state " + quoted(c.state) + " leaves its error text there"
	}
	return ""
}

// external says which keys can hold an External value, and which outputs can be
// one as they are deposited, by state: the zero cause where it cannot.
//
// It follows LANGUAGE.md §8.1 and leans to the safe side: whatever the order of
// states, a key counts when anything that ever writes it can be External. A
// host input may replace any key of context:, so all of them count; a key that
// only states write is no input, and counts by its writers alone. A vouch is
// the operator's, outside the document, and is not looked for.
func (a *analysis) external() (keys map[string]cause, produced []cause) {
	e := &externals{
		a:        a,
		keys:     make(map[string]cause),
		produced: make([]cause, len(a.m.States)),
		readers:  make(map[string][]int),
	}
	for i := range a.m.States {
		s := &a.m.States[i]
		switch s.Kind {
		case mkl.Tool:
			e.produce(i, cause{kind: causeTool, state: s.ID, name: s.Tool})
			continue
		case mkl.Call:
			e.call(i)
			for j := range s.Input {
				e.derive(i, s.Input[j].Template)
			}
		case mkl.Generative:
			e.derive(i, s.Prompt)
		}
		if path, ok := s.Over.First(); ok {
			e.readers[path[0]] = append(e.readers[path[0]], i)
		}
	}
	for i := range a.m.States {
		for j := range a.m.States[i].Gates {
			if g := &a.m.States[i].Gates[j]; g.Policy == mkl.PolicyEscalate {
				at := defaultReplyRoot
				if g.ReplyTo != "" {
					at = root(g.ReplyTo)
				}
				e.hold(at, cause{kind: causeReply})
			}
		}
	}
	host := cause{kind: causeHost}
	if a.m.Authorship == mkl.AuthorshipModel {
		host.kind = causeNobody
	}
	for i := range a.m.Context {
		e.hold(a.m.Context[i].Key, host)
	}
	e.spread()
	// Last, because it says least: a branch that fails leaves its error text.
	for i := range a.m.States {
		if s := &a.m.States[i]; fan(s) {
			e.produce(i, cause{kind: causeBranch, state: s.ID})
		}
	}
	e.spread()
	return e.keys, e.produced
}

type externals struct {
	a        *analysis
	keys     map[string]cause
	produced []cause
	readers  map[string][]int // key → states whose output derives from it
	queue    []string
}

// call says what a call returns whatever it is given.
func (e *externals) call(state int) {
	s := &e.a.m.States[state]
	if e.a.o.Registry != nil {
		g := e.a.callees()
		if n := &g.nodes[g.byName[s.Callee]]; n.m != nil {
			if n.outside != "" {
				e.produce(state, cause{kind: causeCallee, state: s.ID, name: s.Callee, text: n.outside})
			}
			return
		}
	}
	e.produce(state, cause{kind: causeUnseen, state: s.ID, name: s.Callee})
}

// hold keeps the first cause of a key: the ones that say most come first.
func (e *externals) hold(key string, why cause) {
	if _, ok := e.keys[key]; !ok {
		e.keys[key] = why
		e.queue = append(e.queue, key)
	}
}

func (e *externals) produce(state int, why cause) {
	if e.produced[state].kind == causeNone {
		e.produced[state] = why
		e.hold(e.a.m.States[state].Output, why)
	}
}

func (e *externals) derive(state int, t *mkl.Template) {
	if t == nil {
		return
	}
	for i := range t.Segments {
		if p := t.Segments[i].Path; p != nil {
			if key, ok := e.a.source(&e.a.m.States[state], p[0]); ok {
				e.readers[key] = append(e.readers[key], state)
			}
		}
	}
}

func (e *externals) spread() {
	for len(e.queue) > 0 {
		key := e.queue[0]
		e.queue = e.queue[1:]
		for _, i := range e.readers[key] {
			e.produce(i, cause{kind: causeDerived, state: e.a.m.States[i].ID, name: key})
		}
	}
}
