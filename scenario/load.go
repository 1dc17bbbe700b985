package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/llm/scripted"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/mkl/yamltree"
	"github.com/pinfold-dev/pinfold/value"
)

// LoadCase reads one conformance case, its machines with the lenient reader and
// as the operator's own (LANGUAGE.md §19). The error is an Errors; it means that
// there is no case, not that the case is wrong: that is in Problems.
func LoadCase(file string, src []byte) (*Case, error) {
	root, err := read(file, src)
	if err != nil {
		return nil, err
	}
	l := loader{file: file}
	c := l.scenario(root, "case", conformanceKeys)
	m, ok := root.Get("machine")
	if !ok {
		return nil, Errors{l.at(root, "a conformance case needs a machine")}
	}
	own := mkl.Source{Name: file, Text: src, Authorship: mkl.AuthorshipOperator}
	var errs Errors
	c.Machine, errs = l.machine(m, own, "machine")
	registry := engine.Machines{}
	if reg, ok := root.Get("registry"); ok && !reg.Empty {
		if reg.Kind != yamltree.Mapping {
			return nil, append(errs, l.at(reg, "registry: expected a map of machines, found "+kind(reg)))
		}
		for i, key := range reg.Keys {
			sub, more := l.machine(reg.Values[i], own, "registry."+key.Text)
			errs = append(errs, more...)
			registry[key.Text] = sub
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	if _, ok := registry[c.Machine.Name]; !ok {
		registry[c.Machine.Name] = c.Machine
	}
	c.Registry = registry
	c.Problems = l.problems
	if c.Name == "" {
		c.Name = file
	}
	return c, nil
}

// Load reads a *.test.yaml: a list under scenarios:. Machine and Registry of the
// cases are the caller's to set. A file without a scenario is an error.
func Load(file string, src []byte) ([]*Case, error) {
	root, err := read(file, src)
	if err != nil {
		return nil, err
	}
	l := loader{file: file}
	list, ok := root.Get("scenarios")
	switch {
	case !ok:
		return nil, Errors{l.at(root, "no scenarios: in the file")}
	case list.Kind != yamltree.Sequence:
		return nil, Errors{l.at(list, "scenarios: expected a list, found "+kind(list))}
	case len(list.Items) == 0:
		return nil, Errors{l.at(list, "scenarios: the list is empty")}
	}
	for _, k := range root.Keys {
		if k.Text != "scenarios" {
			return nil, Errors{l.at(k, unknown("key", k.Text, []string{"scenarios"}))}
		}
	}
	cases := make([]*Case, len(list.Items))
	for i, item := range list.Items {
		if item.Kind != yamltree.Mapping {
			return nil, Errors{l.at(item, fmt.Sprintf("scenarios[%d]: expected a map, found %s", i, kind(item)))}
		}
		l.problems = nil
		c := l.scenario(item, "name", scenarioKeys)
		if c.Name == "" {
			c.Name = fmt.Sprintf("scenario[%d]", i)
		}
		c.Problems = l.problems
		cases[i] = c
	}
	return cases, nil
}

func read(file string, src []byte) (*yamltree.Node, error) {
	root, errs := yamltree.Read(src)
	if len(errs) > 0 {
		out := make(Errors, len(errs))
		for i, e := range errs {
			out[i] = &Error{File: file, Line: e.Line, Column: e.Column, Message: e.Message}
		}
		return nil, out
	}
	if root == nil || root.Kind != yamltree.Mapping {
		return nil, Errors{{File: file, Line: 1, Column: 1, Message: "expected a map at the top of the file"}}
	}
	return root, nil
}

var (
	scenarioKeys    = []string{"name", "description", "llm", "tools", "hooks", "input", "context", "run", "expect"}
	conformanceKeys = []string{"case", "name", "description", "machine", "registry", "llm", "tools", "hooks", "input", "context", "run", "expect"}
)

// loader collects what is wrong with one scenario.
type loader struct {
	file     string
	problems []*Error
}

func (l *loader) at(n *yamltree.Node, message string) *Error {
	return &Error{File: l.file, Line: n.Line, Column: n.Column, Message: message}
}

func (l *loader) problem(n *yamltree.Node, format string, args ...any) {
	l.problems = append(l.problems, l.at(n, fmt.Sprintf(format, args...)))
}

func (l *loader) machine(n *yamltree.Node, src mkl.Source, where string) (*mkl.Machine, Errors) {
	m, diags := mkl.FromNode(n, src, mkl.Lenient)
	var errs Errors
	for _, d := range diags {
		if d.Severity == mkl.Error {
			errs = append(errs, &Error{File: l.file, Line: d.Line, Column: d.Column, Message: where + ": " + d.Code + " " + d.Message})
		}
	}
	if m == nil && errs == nil {
		errs = Errors{l.at(n, where+": cannot be read")}
	}
	return m, errs
}

func (l *loader) scenario(n *yamltree.Node, nameKey string, known []string) *Case {
	c := &Case{File: l.file, Line: n.Line, params: defaults()}
	for i, k := range n.Keys {
		v := n.Values[i]
		switch {
		case !slices.Contains(known, k.Text):
			l.problem(k, "%s", unknown("key", k.Text, known))
		case k.Text == nameKey || k.Text == "name" && c.Name == "":
			c.Name = l.str(v, k.Text)
		case k.Text == "description":
			c.Description = l.str(v, k.Text)
		case k.Text == "llm":
			l.llm(c, v)
		case k.Text == "tools":
			l.each(v, "tools", func(name string, v *yamltree.Node) { c.tools = append(c.tools, l.tool(name, v)) })
		case k.Text == "hooks":
			l.each(v, "hooks", func(name string, v *yamltree.Node) { c.hooks = append(c.hooks, l.hook(name, v)) })
		case k.Text == "run":
			l.params(c, v)
		}
	}
	// input wins over context, whichever stands first.
	for _, key := range []string{"context", "input"} {
		if v, ok := n.Get(key); ok {
			l.each(v, key, func(name string, v *yamltree.Node) {
				x := l.free(v, key+"."+name)
				if i := slices.IndexFunc(c.inputs, func(e value.Entry) bool { return e.Key == name }); i >= 0 {
					c.inputs[i].Value = x
					return
				}
				c.inputs = append(c.inputs, value.Entry{Key: name, Value: x})
			})
		}
	}
	if v, ok := n.Get("expect"); ok {
		l.expect(c, v)
	} else {
		l.problem(n, "expect is missing: a scenario without it cannot fail")
	}
	return c
}

// each calls f for every entry of a map; an empty node is an empty map.
func (l *loader) each(n *yamltree.Node, where string, f func(name string, v *yamltree.Node)) {
	if n.Empty {
		return
	}
	if n.Kind != yamltree.Mapping {
		l.problem(n, "%s: expected a map, found %s", where, kind(n))
		return
	}
	for i, k := range n.Keys {
		f(k.Text, n.Values[i])
	}
}

func (l *loader) llm(c *Case, n *yamltree.Node) {
	known := []string{"produce", "judge", "tokens"}
	l.each(n, "llm", func(name string, v *yamltree.Node) {
		switch name {
		case "produce":
			switch {
			case v.Empty:
			case v.Kind == yamltree.Mapping:
				c.script.Keyed = true
				for i, k := range v.Keys {
					c.script.Matches = append(c.script.Matches, scripted.Match{Key: k.Text, Text: l.text(v.Values[i], "llm.produce")})
				}
			case v.Kind == yamltree.Sequence:
				for _, item := range v.Items {
					c.script.Texts = append(c.script.Texts, l.text(item, "llm.produce"))
				}
			default:
				l.problem(v, "llm.produce: expected a list or a map, found %s", kind(v))
			}
		case "tokens":
			if v.Kind != yamltree.Sequence || len(v.Items) != 2 {
				l.problem(v, "llm.tokens: expected [in, out]")
				return
			}
			c.script.Input = l.count(v.Items[0], "llm.tokens", 0)
			c.script.Output = l.count(v.Items[1], "llm.tokens", 0)
		case "judge":
			l.judge(c, v)
		default:
			l.problem(v, "%s", unknown("key under llm", name, known))
		}
	})
}

func (l *loader) judge(c *Case, n *yamltree.Node) {
	switch {
	case n.Empty:
	case n.Kind == yamltree.Scalar && n.Text == "unparseable":
		c.script.Unparseable = true
	case n.Kind != yamltree.Sequence:
		l.problem(n, "llm.judge: expected a list of indices, or unparseable, found %s", kind(n))
	default:
		for _, item := range n.Items {
			x, err := item.AsValue()
			if err != nil {
				l.problem(item, "llm.judge: %s", err.Message)
				continue
			}
			if word, ok := x.AsString(); ok {
				if v, ok := scripted.ParseVerdict(word); ok {
					c.script.Verdicts = append(c.script.Verdicts, v)
					continue
				}
			}
			if i, ok := x.AsInt(); ok && x.Kind() == value.Int {
				c.script.Verdicts = append(c.script.Verdicts, scripted.Index(clampInt(i)))
				continue
			}
			if x.Kind() == value.Int { // too large for a machine word: out of range of any batch
				c.script.Verdicts = append(c.script.Verdicts, scripted.Index(-1))
				continue
			}
			l.problem(item, "llm.judge: expected an index or none, found %s", x.JSON())
		}
	}
}

// clampInt keeps an out-of-range index out of range on any word size.
func clampInt(i int64) int {
	if i < 0 || i > 1<<30 {
		return -1
	}
	return int(i)
}

func (l *loader) tool(name string, n *yamltree.Node) scriptedTool {
	t := scriptedTool{name: name}
	switch {
	case n.Empty:
	case n.Kind == yamltree.Mapping:
		t.keyed = true
		for i, k := range n.Keys {
			t.outs = append(t.outs, scripted.Match{Key: k.Text, Text: l.text(n.Values[i], "tools."+name)})
		}
	case n.Kind == yamltree.Sequence:
		for _, item := range n.Items {
			t.outs = append(t.outs, scripted.Match{Text: l.text(item, "tools."+name)})
		}
	default:
		l.problem(n, "tools.%s: expected a list or a map, found %s", name, kind(n))
	}
	return t
}

func (l *loader) hook(name string, n *yamltree.Node) scriptedHook {
	h := scriptedHook{name: name}
	switch {
	case n.Empty:
	case n.Kind != yamltree.Sequence:
		l.problem(n, "hooks.%s: expected a list of booleans, found %s", name, kind(n))
	default:
		for _, item := range n.Items {
			h.answers = append(h.answers, l.boolean(item, "hooks."+name))
		}
	}
	return h
}

// The readings by position. Each reports what is wrong and goes on with a zero.

func (l *loader) str(n *yamltree.Node, where string) string {
	s, err := n.AsString()
	if err != nil {
		l.problem(n, "%s: %s", where, err.Message)
	}
	return s
}

// text is a scripted text: the source text of a scalar, the JSON text of a
// collection.
func (l *loader) text(n *yamltree.Node, where string) string {
	if n.Kind == yamltree.Scalar {
		return l.str(n, where)
	}
	return l.free(n, where).JSON()
}

func (l *loader) free(n *yamltree.Node, where string) value.Value {
	v, err := n.AsValue()
	if err != nil {
		l.problem(n, "%s: %s", where, err.Message)
	}
	return v
}

func (l *loader) boolean(n *yamltree.Node, where string) bool {
	b, err := n.AsBool()
	if err != nil {
		l.problem(n, "%s: %s", where, err.Message)
	}
	return b
}

// count is an integer of at least least.
func (l *loader) count(n *yamltree.Node, where string, least int) int {
	i, err := n.AsInt()
	switch {
	case err != nil:
		l.problem(n, "%s: %s", where, err.Message)
	case i < least:
		l.problem(n, "%s: expected at least %d, found %d", where, least, i)
	}
	return i
}

func (l *loader) strings(n *yamltree.Node, where string) []string {
	if n.Kind != yamltree.Sequence {
		l.problem(n, "%s: expected a list of strings, found %s", where, kind(n))
		return nil
	}
	out := make([]string, 0, len(n.Items))
	for _, item := range n.Items {
		out = append(out, l.str(item, where))
	}
	return out
}

func kind(n *yamltree.Node) string {
	switch {
	case n.Kind == yamltree.Mapping:
		return "a map"
	case n.Kind == yamltree.Sequence:
		return "a list"
	case n.Empty:
		return "nothing"
	}
	return "'" + n.Text + "'"
}

func unknown(what, name string, known []string) string {
	return fmt.Sprintf("unknown %s '%s' (known: %s)", what, name, strings.Join(known, ", "))
}
