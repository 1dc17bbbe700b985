package check

import (
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/mkl"
)

// Lint looks for what is legal and probably not meant, MK401 to MK417 of
// LANGUAGE.md §5, whether or not Check finds errors. Findings are for a person
// to act on; notes state a fact that may be fine. It is listed by line.
func Lint(m *mkl.Machine, o Options) []mkl.Diagnostic {
	a := analyse(m, o)
	a.lint()
	return listed(a.found)
}

func (a *analysis) lint() {
	for i := range a.m.States {
		s := &a.m.States[i]
		a.lintProse(s)
		a.lintGates(s)
	}
	a.lintEscalations()
	a.lintNames()
	a.lintFlow()
	a.lintOutside()
}

// lintProse reports text that a comment cut (MK401).
func (a *analysis) lintProse(s *mkl.State) {
	for i := range s.Prose {
		p := &s.Prose[i]
		if !p.Plain || p.Lost == "" {
			continue
		}
		// "otherwise # note" means what it says.
		if p.Key == "when" && catchAll(&s.Gates[p.Gate]) {
			continue
		}
		a.add(mkl.Finding, "MK401", or(p.Pos, s.Pos), s.ID, "put the text in quotes",
			"a comment cuts this %s short: kept %s, lost %s", p.Key, quoted(p.Text), quoted(p.Lost))
	}
}

// lintGates reports lists of gates that cannot do what they seem to (MK402 to
// MK405) and comparisons with values that JSON spells otherwise (MK415).
func (a *analysis) lintGates(s *mkl.State) {
	repairs, catches, spent := 0, 0, 0
	for i := range s.Gates {
		g := &s.Gates[i]
		repair := g.Policy == mkl.PolicyRepair
		if repair {
			repairs++
		}
		if catchAll(g) {
			catches++
			if repair {
				spent++
			}
		}
		if p, ok := parametric(g); ok {
			if json, ok := spelling(strings.TrimSpace(p.value)); ok {
				a.add(mkl.Finding, "MK415", gateAt(g, "hook"), s.ID, fmt.Sprintf("write %s:%s:%s", p.name, p.path, json),
					"hook %s compares with %s: values are compared as JSON text", quoted(g.Hook), strings.TrimSpace(p.value))
			}
		}
	}
	if n := len(s.Gates) - live(s); n > 0 {
		what := "1 gate after otherwise never fires"
		if n > 1 {
			what = fmt.Sprintf("%d gates after otherwise never fire", n)
		}
		a.add(mkl.Finding, "MK402", s.Gates[live(s)].Pos, s.ID, "move the otherwise gate to the end", "%s", what)
	}
	switch {
	case repairs == len(s.Gates) && repairs > 0:
		a.add(mkl.Finding, "MK403", at(s, "gates"), s.ID, "add a gate that leaves the state",
			"every gate of state %s is a repair: when they are spent the run halts", quoted(s.ID))
	case catches == 0:
		a.add(mkl.Finding, "MK404", at(s, "gates"), s.ID, "end the list with a gate whose when is otherwise",
			"state %s has no catch-all: nothing catches a judge that answers none or gives no verdict", quoted(s.ID))
	}
	if catches > 0 && catches == spent {
		a.add(mkl.Finding, "MK405", at(s, "gates"), s.ID, "add an otherwise gate that is no repair",
			"every otherwise gate of state %s is a repair: once it is spent nothing catches a judge without a verdict", quoted(s.ID))
	}
}

// live is the number of gates up to and including the first otherwise that can
// always fire. A repair cannot: when it is spent the gates after it have their
// turn.
func live(s *mkl.State) int {
	for i := range s.Gates {
		if g := &s.Gates[i]; catchAll(g) && g.Policy != mkl.PolicyRepair {
			return i + 1
		}
	}
	return len(s.Gates)
}

// named is how many names one message lists.
const named = 8

// lintEscalations notes, once, where the machine escalates (MK407).
func (a *analysis) lintEscalations() {
	var names []string
	var first *mkl.Gate
	count := 0
	for i := range a.m.States {
		s := &a.m.States[i]
		for j := range s.Gates[:live(s)] {
			if g := &s.Gates[j]; g.Policy == mkl.PolicyEscalate {
				if first == nil {
					first = g
				}
				if count++; count <= named {
					names = append(names, quoted(s.ID))
				}
				break
			}
		}
	}
	if count == 0 {
		return
	}
	list := strings.Join(names, ", ")
	if count > named {
		list = fmt.Sprintf("%s and %d more", list, count-named)
	}
	a.add(mkl.Note, "MK407", or(first.Pos, a.m.Pos), "", "prefer a hook, or run with --hitl so that a person decides",
		"this machine escalates in %s: an escalation that a judge decides is not reproducible", list)
}

// comparison is a parametric hook taken apart (LANGUAGE.md §13).
type comparison struct{ name, path, value string }

// parametric takes the hook of a gate apart: eq:PATH:VALUE or neq:PATH:VALUE.
func parametric(g *mkl.Gate) (comparison, bool) {
	if !hooked(g) {
		return comparison{}, false
	}
	return compares(g.Hook)
}

func compares(hook string) (comparison, bool) {
	name, rest, ok := strings.Cut(hook, ":")
	if !ok || (name != "eq" && name != "neq") {
		return comparison{}, false
	}
	path, value, ok := strings.Cut(rest, ":")
	if !ok || path == "" {
		return comparison{}, false
	}
	return comparison{name, path, value}, true
}

// spelling is the JSON text of a value that authors write as another language
// prints it.
func spelling(value string) (json string, ok bool) {
	switch value {
	case "True":
		return "true", true
	case "False":
		return "false", true
	case "None":
		return "null", true
	}
	return "", false
}
