package check

import (
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/policy"
)

// Options of Check, Lint and File. The zero Options check one document alone:
// no registry, versions not enforced, the built-in tools' declarations.
type Options struct {
	// Registry finds the machines that call: can reach. Without one, MK303,
	// MK318 and MK409 are silent and what a call returns counts as External.
	Registry Registry
	// Strict makes an unsupported version (MK312) an error.
	Strict bool
	// Lint makes File lint as well. Check and Lint themselves ignore it.
	Lint bool
	// Tools says which tools act and which of their parameters are sensitive.
	// nil means policy.Builtin(). A tool that is not in it is effectful.
	Tools policy.Table
}

// Registry says what a name after call: stands for.
type Registry interface {
	// Lookup finds a machine by name. ok is false when there is none. A machine
	// whose document fails MK1xx or MK2xx is found with a nil m and the first
	// error, its File set; the error is nil for any other machine.
	Lookup(name string) (m *mkl.Machine, firstError *mkl.Diagnostic, ok bool)
}

// Check applies the semantic rules of LANGUAGE.md §4, MK301 to MK318, to a
// machine that was read without an error. It reports everything it finds,
// listed by line; MK307s keep, among themselves, the order of their ids.
func Check(m *mkl.Machine, o Options) []mkl.Diagnostic {
	a := analyse(m, o)
	a.check()
	return listed(a.found)
}

func (a *analysis) check() {
	a.checkVersion()
	a.checkPaths()
	for i := range a.m.States {
		a.checkState(&a.m.States[i])
	}
	a.checkResult()
	a.checkCalls()
}

// checkPaths looks at the graph: entry, END, budget, unreachable states.
func (a *analysis) checkPaths() {
	m := a.m
	entry, ok := a.index[m.Entry]
	if !ok {
		// Without an entry nothing is reachable; saying so once per state
		// would bury the one line that matters.
		a.add(mkl.Error, "MK301", or(m.EntryPos, m.Pos), "", a.near(m.Entry),
			"entry %s names no state", quoted(m.Entry))
		return
	}
	distance, shortest := a.walk(entry)
	if shortest == 0 {
		a.add(mkl.Error, "MK304", or(m.EntryPos, m.Pos), "", "give one of the reachable states a gate with to: END",
			"no state reachable from %s has a gate to END", quoted(m.Entry))
	} else if m.Budget < shortest {
		a.add(mkl.Error, "MK305", or(m.BudgetPos, m.Pos), "", fmt.Sprintf("set budget to %d or more", shortest),
			"budget-infeasible: budget is %d and the shortest path to END takes %s", m.Budget, states(shortest))
	} else if m.Budget < shortest+2 {
		a.add(mkl.Warning, "MK306", or(m.BudgetPos, m.Pos), "", fmt.Sprintf("set budget to %d or more", shortest+2),
			"budget %d leaves no room for one repair: the shortest path to END takes %s", m.Budget, states(shortest))
	}
	for i := range m.States {
		if distance[i] == 0 {
			s := &m.States[i]
			a.add(mkl.Warning, "MK307", s.Pos, s.ID, "", "state %s is not reachable from %s", quoted(s.ID), quoted(m.Entry))
		}
	}
}

func (a *analysis) checkState(s *mkl.State) {
	if s.ID == mkl.End {
		a.add(mkl.Warning, "MK315", s.Pos, s.ID, "rename the state",
			"a state is named END: to: END ends the run and never reaches it")
	}
	if s.Over != nil {
		if _, ok := s.Over.First(); !ok {
			a.add(mkl.Warning, "MK316", at(s, "over"), s.ID, "write over: \"{{list}}\"",
				"over holds no placeholder: the state halts when it is reached")
		}
	}
	if s.Kind == mkl.Tool && len(a.m.Tools) > 0 && !a.tools[s.Tool] {
		a.add(mkl.Warning, "MK310", at(s, "tool"), s.ID, "add it to tools:, or correct the name",
			"tool %s is not declared in tools", quoted(s.Tool))
	}

	caught, repairs := false, 0
	for i := range s.Gates {
		g := &s.Gates[i]
		if catchAll(g) {
			caught = true
		} else if hooked(g) && len(a.m.Hooks) > 0 && !a.hooks[g.Hook] {
			a.add(mkl.Warning, "MK309", gateAt(g, "hook"), s.ID, "add it to hooks:, or correct the name",
				"hook %s is not declared in hooks", quoted(g.Hook))
		}
		if to, ok := target(g); ok && to != mkl.End {
			if _, known := a.index[to]; !known {
				a.add(mkl.Error, "MK302", gateAt(g, "to"), s.ID, a.near(to),
					"a gate of state %s leads to %s, which names no state", quoted(s.ID), quoted(to))
			}
			if g.Policy == mkl.PolicyRepair && to == s.ID {
				repairs += g.Repair
			}
		}
	}
	if !caught {
		a.add(mkl.Warning, "MK308", at(s, "gates"), s.ID, "end the list with a gate whose when is otherwise",
			"state %s has no otherwise gate and can end in no-gate-matched", quoted(s.ID))
	}
	if s.MaxVisits > 0 && repairs >= s.MaxVisits {
		a.add(mkl.Warning, "MK314", at(s, "max_visits"), s.ID, fmt.Sprintf("set max_visits to %d or more", repairs+1),
			"repairs of state %s add up to %d and max_visits is %d: the ceiling halts the run before the last repair",
			quoted(s.ID), repairs, s.MaxVisits)
	}
	a.checkFeatures(s)
}

// The versions of the language in the order in which features came.
const (
	unversioned = 0
	version02   = 2
	version03   = 3
	version04   = 4
)

func version(claim string) int {
	switch claim {
	case "0.2", "0.2.0":
		return version02
	case "0.3":
		return version03
	case "0.4":
		return version04
	}
	return unversioned
}

func (a *analysis) checkVersion() {
	m := a.m
	claimed := m.Version != "" || m.VersionPos != mkl.Pos{}
	if !claimed || version(m.Version) != unversioned {
		return
	}
	severity, prefix := mkl.Warning, ""
	if a.o.Strict {
		severity, prefix = mkl.Error, "version-unsupported: "
	}
	a.add(severity, "MK312", or(m.VersionPos, m.Pos), "", "declare 0.4, or one of 0.2, 0.2.0, 0.3",
		"%slanguage version %s is not one of 0.2, 0.2.0, 0.3, 0.4", prefix, quoted(m.Version))
}

// checkFeatures reports what a state uses that the declared version did not
// have. An unknown version is MK312's business.
func (a *analysis) checkFeatures(s *mkl.State) {
	declared := version(a.m.Version)
	if declared == unversioned || declared == version04 {
		return
	}
	newer := func(since int, pos mkl.Pos, feature string) {
		if declared < since {
			a.add(mkl.Warning, "MK313", pos, s.ID, fmt.Sprintf("declare mklang: \"0.%d\"", since),
				"%s came with 0.%d and the document declares %s", feature, since, a.m.Version)
		}
	}
	switch s.Parse {
	case mkl.ParseList:
		newer(version03, at(s, "parse"), "parse: list")
	case mkl.ParseJSON:
		newer(version04, at(s, "parse"), "parse: json")
	}
	if s.MaxVisits > 0 {
		newer(version04, at(s, "max_visits"), "max_visits")
	}
	for i := range s.Gates {
		g := &s.Gates[i]
		if g.HasAsk {
			newer(version04, gateAt(g, "ask"), "ask")
		}
		if g.ReplyTo != "" {
			newer(version04, gateAt(g, "reply_to"), "reply_to")
		}
	}
}

func (a *analysis) checkResult() {
	m := a.m
	if !m.HasResult || a.written(m.Result) {
		return
	}
	a.add(mkl.Warning, "MK311", or(m.ResultPos, m.Pos), "", "",
		"result %s is the output of no state and no reply is written there", quoted(m.Result))
}

// checkCalls reports callees that do not exist and documents, reachable by
// calls, that could not be read. Each broken document is reported once, at the
// first call of this machine that leads to it.
func (a *analysis) checkCalls() {
	if a.o.Registry == nil {
		return
	}
	g := a.callees()
	for i := range a.m.States {
		s := &a.m.States[i]
		if s.Kind != mkl.Call {
			continue
		}
		if n := g.nodes[g.byName[s.Callee]]; !n.found {
			a.add(mkl.Error, "MK303", at(s, "call"), s.ID, "",
				"state %s calls %s, which names no machine of the registry", quoted(s.ID), quoted(s.Callee))
		}
	}
	for i := range g.nodes {
		n := &g.nodes[i]
		if n.broken == nil {
			continue
		}
		s := &a.m.States[n.from]
		file := n.broken.File
		if file == "" {
			file = "its document"
		}
		through := ""
		if s.Callee != n.name {
			through = fmt.Sprintf(", reached through %s,", quoted(s.Callee))
		}
		a.add(mkl.Error, "MK318", at(s, "call"), s.ID, "",
			"machine %s%s cannot be read: %s: %s", quoted(n.name), through, file, strings.TrimPrefix(n.broken.String(), "note: "))
	}
}

func states(n int) string {
	if n == 1 {
		return "1 state"
	}
	return fmt.Sprintf("%d states", n)
}
