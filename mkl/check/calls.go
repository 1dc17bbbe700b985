package check

import (
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/policy"
)

// callGraph is every machine that the analysed one can reach by call:, itself
// first. Edges are the call states of a machine, whether a gate leads to them
// or not: what runs next is decided later, what can be called is not.
type callGraph struct {
	nodes  []callee
	byName map[string]int
}

type callee struct {
	name   string
	m      *mkl.Machine    // nil when it was not found or could not be read
	broken *mkl.Diagnostic // its first MK1xx or MK2xx
	found  bool
	from   int // place of the root machine's call state that leads here first

	callers []int // nodes with a call state, wherever it stands
	entered []int // nodes with a call state that is reachable from their entry

	acts    string // an effectful tool that it or a callee of its can reach, "" for none
	outside string // why its result can be External whatever it is given, "" when it can't
}

// callees builds the graph, once. It needs a registry.
func (a *analysis) callees() *callGraph {
	if a.calls != nil {
		return a.calls
	}
	g := &callGraph{
		// A machine's own name means itself, whatever the registry holds: the
		// document at hand replaces its entry (LANGUAGE.md §22).
		nodes:  []callee{{name: a.m.Name, m: a.m, found: true}},
		byName: map[string]int{a.m.Name: 0},
	}
	a.calls = g
	for n := 0; n < len(g.nodes); n++ {
		m := g.nodes[n].m
		if m == nil {
			continue
		}
		in := a
		if n > 0 {
			in = analyse(m, a.o)
		}
		var distance []int
		if entry, ok := in.index[m.Entry]; ok {
			distance, _ = in.walk(entry)
		} else {
			distance = make([]int, len(m.States))
		}
		for i := range m.States {
			s := &m.States[i]
			switch s.Kind {
			case mkl.Tool:
				if distance[i] > 0 && a.effectful(s.Tool) && g.nodes[n].acts == "" {
					g.nodes[n].acts = s.Tool
				}
			case mkl.Call:
				from := g.nodes[n].from
				if n == 0 {
					from = i
				}
				to := g.node(a.o.Registry, s.Callee, from)
				g.nodes[to].callers = append(g.nodes[to].callers, n)
				if distance[i] > 0 {
					g.nodes[to].entered = append(g.nodes[to].entered, n)
				}
			}
		}
		g.nodes[n].outside = outside(m)
	}
	g.spread(func(n *callee) *string { return &n.acts }, func(n *callee) []int { return n.entered })
	g.spread(func(n *callee) *string { return &n.outside }, func(n *callee) []int { return n.callers })
	return g
}

// node finds or adds a machine by name; from is kept where it is added.
func (g *callGraph) node(r Registry, name string, from int) int {
	if n, ok := g.byName[name]; ok {
		return n
	}
	m, broken, ok := r.Lookup(name)
	if broken != nil {
		m = nil
	}
	g.nodes = append(g.nodes, callee{name: name, m: m, broken: broken, found: ok, from: from})
	g.byName[name] = len(g.nodes) - 1
	return len(g.nodes) - 1
}

// spread carries a property of machines to those that call them, and theirs.
func (g *callGraph) spread(property func(*callee) *string, callers func(*callee) []int) {
	var queue []int
	for n := range g.nodes {
		if *property(&g.nodes[n]) != "" {
			queue = append(queue, n)
		}
	}
	for len(queue) > 0 {
		n := &g.nodes[queue[0]]
		queue = queue[1:]
		for _, c := range callers(n) {
			if p := property(&g.nodes[c]); *p == "" {
				*p = *property(n)
				queue = append(queue, c)
			}
		}
	}
}

// outside says why a machine's result can be External when nothing External is
// given to it (LANGUAGE.md §8.1), "" when it cannot.
func outside(m *mkl.Machine) string {
	if m.Authorship == mkl.AuthorshipModel {
		return "nobody answers for the text of machine " + quoted(m.Name)
	}
	for i := range m.States {
		s := &m.States[i]
		switch {
		case s.Kind == mkl.Tool:
			return "machine " + quoted(m.Name) + " uses tool " + quoted(s.Tool)
		case fan(s):
			return "a failed branch of a fan-out in machine " + quoted(m.Name) + " leaves an error text"
		}
		for j := range s.Gates {
			if s.Gates[j].Policy == mkl.PolicyEscalate {
				return "machine " + quoted(m.Name) + " can be answered by a reply from outside"
			}
		}
	}
	return ""
}

// effectful reports whether a tool can change the world. One nobody classified
// can (TRUST.md §5).
func (a *analysis) effectful(tool string) bool { return a.table[tool].Class == policy.Effect }

// fan reports whether a state runs in branches.
func fan(s *mkl.State) bool { return s.Sample > 0 || s.Over != nil }
