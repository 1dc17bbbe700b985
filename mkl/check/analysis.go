package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/policy"
)

// analysis is what Check and Lint share about one machine: its names, indexed
// once, and the diagnostics found so far.
type analysis struct {
	m     *mkl.Machine
	o     Options
	table policy.Table

	index   map[string]int          // state id → place in m.States
	context map[string]*mkl.Binding // context key → its binding
	outputs map[string]bool         // keys that some state writes
	replies map[string]bool         // roots that a person's reply is written to
	tools   map[string]bool         // declared in tools:
	hooks   map[string]bool         // declared in hooks:

	calls    *callGraph // see callees
	distance int        // comparisons left for near
	found    []mkl.Diagnostic
}

func analyse(m *mkl.Machine, o Options) *analysis {
	a := &analysis{
		m: m, o: o, table: o.Tools,
		index:   make(map[string]int, len(m.States)),
		context: make(map[string]*mkl.Binding, len(m.Context)),
		outputs: make(map[string]bool, len(m.States)),
		replies: map[string]bool{defaultReplyRoot: true},
		tools:   declared(m.Tools),
		hooks:   declared(m.Hooks),

		distance: comparisons,
	}
	if a.table == nil {
		a.table = policy.Builtin()
	}
	for i := range m.Context {
		a.context[m.Context[i].Key] = &m.Context[i]
	}
	for i := range m.States {
		s := &m.States[i]
		if _, ok := a.index[s.ID]; !ok {
			a.index[s.ID] = i
		}
		a.outputs[s.Output] = true
		for j := range s.Gates {
			if to := s.Gates[j].ReplyTo; to != "" {
				a.replies[root(to)] = true
			}
		}
	}
	return a
}

// defaultReplyRoot is the root of human.reply, where a reply goes that names no
// other place.
const defaultReplyRoot = "human"

func declared(list []mkl.Declaration) map[string]bool {
	if len(list) == 0 {
		return nil
	}
	names := make(map[string]bool, len(list))
	for _, d := range list {
		names[d.Name] = true
	}
	return names
}

// written reports whether the run itself can put something at a top-level key:
// a state's output, or a person's reply.
func (a *analysis) written(key string) bool { return a.outputs[key] || a.replies[key] }

// known reports whether a top-level key can exist at all.
func (a *analysis) known(key string) bool {
	_, ok := a.context[key]
	return ok || a.written(key)
}

// walk goes through every gate edge from entry, breadth first. distance counts
// states from 1, 0 meaning unreachable; shortest is the number of states on the
// shortest path to END, 0 when there is none. A fan-out counts 1: it is charged
// more when it runs, but how much only its data says.
func (a *analysis) walk(entry int) (distance []int, shortest int) {
	distance = make([]int, len(a.m.States))
	queue := make([]int, 1, len(a.m.States))
	queue[0], distance[entry] = entry, 1
	for len(queue) > 0 {
		from := queue[0]
		queue = queue[1:]
		gates := a.m.States[from].Gates
		for i := range gates {
			to, ok := target(&gates[i])
			if !ok {
				continue
			}
			if to == mkl.End {
				if shortest == 0 {
					shortest = distance[from]
				}
				continue
			}
			if next, ok := a.index[to]; ok && distance[next] == 0 {
				distance[next] = distance[from] + 1
				queue = append(queue, next)
			}
		}
	}
	return distance, shortest
}

// target is where a gate leads; a fail gate leads nowhere.
func target(g *mkl.Gate) (string, bool) {
	if g.Policy == mkl.PolicyFail {
		return "", false
	}
	return g.To, true
}

// catchAll reports whether the gate is the otherwise gate. It asks the gate
// only where the answer can be yes: conditions are long and asked about often.
func catchAll(g *mkl.Gate) bool {
	const longest = 4 * len("otherwise")
	return len(strings.TrimSpace(g.When.String())) <= longest && g.Otherwise()
}

// hooked reports whether host code decides the gate. The hook of a catch-all is
// ignored when it runs (LANGUAGE.md §2), so it is ignored here.
func hooked(g *mkl.Gate) bool { return g.HasHook && !catchAll(g) }

// prose reports whether a judge decides the gate.
func prose(g *mkl.Gate) bool { return !g.HasHook && !catchAll(g) }

func (a *analysis) add(severity mkl.Severity, code string, pos mkl.Pos, state, hint, format string, args ...any) {
	a.found = append(a.found, mkl.Diagnostic{
		Code: code, Severity: severity, Message: fmt.Sprintf(format, args...),
		File: a.m.File, Pos: pos, State: state, Hint: hint,
	})
}

// listed sorts by place. MK307s then take their own places again in the order
// of their ids, which is how LANGUAGE.md §4 lists unreachable states.
func listed(ds []mkl.Diagnostic) []mkl.Diagnostic {
	slices.SortStableFunc(ds, func(x, y mkl.Diagnostic) int {
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Column, y.Column), cmp.Compare(x.Code, y.Code))
	})
	var places []int
	var unreachable []mkl.Diagnostic
	for i := range ds {
		if ds[i].Code == "MK307" {
			places, unreachable = append(places, i), append(unreachable, ds[i])
		}
	}
	slices.SortStableFunc(unreachable, func(x, y mkl.Diagnostic) int { return cmp.Compare(x.State, y.State) })
	for i, place := range places {
		ds[place] = unreachable[i]
	}
	return ds
}

// or is the first place that is one.
func or(places ...mkl.Pos) mkl.Pos { return cmp.Or(places...) }

// at is the place of a key of a state, or of the state.
func at(s *mkl.State, key string) mkl.Pos { return or(s.KeyPos.At(key), s.Pos) }

func gateAt(g *mkl.Gate, key string) mkl.Pos { return or(g.KeyPos.At(key), g.Pos) }

// root is the first segment of a dotted path.
func root(path string) string {
	for i := 0; i < len(path); i++ {
		if path[i] == '.' {
			return path[:i]
		}
	}
	return path
}

// shown is how many characters of a name or text of the document a message
// holds. A document can hold megabytes in one scalar; a message is one line.
const shown = 80

// quoted sets a text of the document apart, as mkl does. What it may do to a
// terminal is the surface's business: messages are exact.
func quoted(s string) string { return "‹" + short(s) + "›" }

func short(s string) string {
	if len(s) <= shown {
		return s
	}
	n := 0
	for i := range s {
		if n == shown {
			return fmt.Sprintf("%s… (%d of %d characters)", s[:i], shown, utf8.RuneCountInString(s))
		}
		n++
	}
	return s
}

// comparisons bounds the work that one document can cause by misspelling many
// names among many states: near is a courtesy, and the rest is linear.
const comparisons = 20_000

// near is a hint that names the state closest to a misspelt one, "" when none
// is within a third of its length.
func (a *analysis) near(name string) string {
	if len(name) > shown {
		return ""
	}
	best, least := "", len(name)/3+1
	for i := range a.m.States {
		id := a.m.States[i].ID
		if a.distance--; a.distance < 0 {
			break
		}
		if d := len(id) - len(name); d >= least || -d >= least {
			continue
		}
		if d := edits(name, id); d < least {
			best, least = id, d
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean " + quoted(best) + "?"
}

// edits counts the insertions, deletions, replacements and swaps of neighbours
// between two names, in bytes, letter case apart.
func edits(x, y string) int {
	var before []int
	above, row := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range above {
		above[j] = j
	}
	for i := range len(x) {
		row[0] = i + 1
		for j := range len(y) {
			cost := 1
			if lower(x[i]) == lower(y[j]) {
				cost = 0
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+cost)
			if i > 0 && j > 0 && lower(x[i]) == lower(y[j-1]) && lower(x[i-1]) == lower(y[j]) {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		if before == nil {
			before = make([]int, len(y)+1)
		}
		before, above, row = above, row, before
	}
	return above[len(y)]
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
