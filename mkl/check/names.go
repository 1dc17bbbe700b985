package check

import (
	"fmt"
	"index/suffixarray"
	"strings"

	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/value"
)

// mention is a placeholder where the author wrote it.
type mention struct {
	path  []string
	key   string // of the state
	input string // under input:
	pos   mkl.Pos
	bound bool // branch variables exist there
}

func (m *mention) text() string { return "{{" + short(strings.Join(m.path, ".")) + "}}" }

func (m *mention) where() string { return place(m.key, m.input) }

func place(key, input string) string {
	if key == "input" {
		return "input " + short(input)
	}
	return key
}

// mentions lists the placeholders of a state. structure and execution are never
// interpolated; they are read for names because authors write placeholders
// there that they believe to be filled.
func (a *analysis) mentions(s *mkl.State, list []mention) []mention {
	in := mention{bound: fan(s)}
	in.key, in.pos = "prompt", at(s, "prompt")
	list = in.each(list, s.Prompt)
	list = a.fromText(list, s, "structure", s.Structure.String())
	list = a.fromText(list, s, "execution", s.Execution.String())
	// What over leads to is looked up before there are branches.
	list = (&mention{key: "over", pos: at(s, "over")}).each(list, s.Over)
	in.key = "input"
	for i := range s.Input {
		b := &s.Input[i]
		in.input, in.pos = b.Key, or(b.ValuePos, b.Pos, at(s, "input"))
		list = in.each(list, b.Template)
	}
	return list
}

func (a *analysis) fromText(list []mention, s *mkl.State, key, text string) []mention {
	if !strings.Contains(text, "{{") {
		return list
	}
	for _, p := range mkl.Placeholders(text) {
		list = append(list, mention{key: key, pos: at(s, key), bound: fan(s), path: p.Path})
	}
	return list
}

// each adds the placeholders of a template to a list, each like m.
func (m mention) each(list []mention, t *mkl.Template) []mention {
	if t == nil {
		return list
	}
	m.pos = or(t.Pos, m.pos)
	for i := range t.Segments {
		if p := t.Segments[i].Path; p != nil {
			m.path = p
			list = append(list, m)
		}
	}
	return list
}

// branch reports whether a root is a branch variable of a state (LANGUAGE.md
// §7.3): index in every fan-out, item only where a list is gone through.
func branch(s *mkl.State, root string) bool {
	switch root {
	case "index":
		return fan(s)
	case "item":
		return s.Over != nil && s.Sample == 0
	}
	return false
}

// lintNames goes through every placeholder once: MK406, MK410 to MK414.
func (a *analysis) lintNames() {
	n := names{read: make(map[string]bool, len(a.outputs))}
	var list []mention
	for i := range a.m.States {
		s := &a.m.States[i]
		list = a.mentions(s, list[:0])
		clear(n.said)
		for j := range list {
			m := &list[j]
			if m.bound && branch(s, m.path[0]) {
				continue
			}
			n.read[m.path[0]] = true
			a.lintMention(s, m, &n)
		}
		a.lintLiterals(s)
	}
	a.lintOutputs(n.read)
}

type names struct {
	read map[string]bool            // roots of all placeholders
	said map[string]bool            // what has been reported in this state
	keys map[string]map[string]bool // keys of context maps
}

// once reports whether something is said for the first time in a state.
func (n *names) once(what string) bool {
	if n.said[what] {
		return false
	}
	if n.said == nil {
		n.said = make(map[string]bool)
	}
	n.said[what] = true
	return true
}

// has reports whether a map of the context has a key.
func (n *names) has(b *mkl.Binding, key string) bool {
	if n.keys == nil {
		n.keys = make(map[string]map[string]bool)
	}
	if n.keys[b.Key] == nil {
		literal := b.Value.Value()
		n.keys[b.Key] = make(map[string]bool, literal.Len())
		for i := range literal.Len() {
			n.keys[b.Key][literal.Key(i)] = true
		}
	}
	return n.keys[b.Key][key]
}

// lintMention reports a name that leads nowhere, once a state.
func (a *analysis) lintMention(s *mkl.State, m *mention, n *names) {
	root := m.path[0]
	if !a.known(root) {
		switch {
		case !n.once(root):
		case root != "item" && root != "index":
			a.add(mkl.Finding, "MK410", m.pos, s.ID, "", "%s in %s: %s is no context key, no state's output and no reply",
				m.text(), m.where(), quoted(root))
		case root == "item" && s.Sample > 0:
			a.add(mkl.Finding, "MK411", m.pos, s.ID, "", "%s in %s: item does not exist in a sample state, whose branches all get the same",
				m.text(), m.where())
		default:
			a.add(mkl.Finding, "MK411", m.pos, s.ID, "", "%s in %s: %s exists only in the branches of a fan-out",
				m.text(), m.where(), root)
		}
		return
	}
	b := a.context[root]
	if len(m.path) < 2 || b == nil || a.written(root) {
		return
	}
	literal := b.Value.Value()
	if literal.Kind() != value.Map || n.has(b, m.path[1]) || !n.once(root+"."+m.path[1]) {
		return
	}
	a.add(mkl.Finding, "MK412", m.pos, s.ID, "", "%s in %s: %s in context has no key %s, %s",
		m.text(), m.where(), quoted(root), quoted(m.path[1]), keysOf(literal))
}

func keysOf(m value.Value) string {
	if m.Len() == 0 {
		return "it is empty"
	}
	var names []string
	for i := range min(m.Len(), named) {
		names = append(names, quoted(m.Key(i)))
	}
	list := "it has " + strings.Join(names, ", ")
	if n := m.Len() - named; n > 0 {
		list = fmt.Sprintf("%s and %d more", list, n)
	}
	return list
}

// lintLiterals reports text that its author may take for a placeholder and that
// goes out as it stands: inside lists and maps (MK413), or misspelt (MK414).
func (a *analysis) lintLiterals(s *mkl.State) {
	a.lintBraces(s, s.Prompt, "prompt", "", at(s, "prompt"))
	a.lintBraces(s, s.Over, "over", "", at(s, "over"))
	for i := range s.Input {
		b := &s.Input[i]
		pos := or(b.ValuePos, b.Pos, at(s, "input"))
		if b.Template != nil {
			a.lintBraces(s, b.Template, "input", b.Key, pos)
			continue
		}
		if way, text, ok := a.nested(b.Value.Value()); ok {
			a.add(mkl.Finding, "MK413", pos, s.ID, "give it an input key of its own, or build the text in a state before",
				"%s in input %s is passed as it stands: nothing inside a list or a map is filled in", short(text), short(b.Key+way))
		}
	}
}

func (a *analysis) lintBraces(s *mkl.State, t *mkl.Template, key, input string, pos mkl.Pos) {
	if t == nil {
		return
	}
	offset := 0
	for i := range t.Segments {
		text := t.Segments[i].Text.String()
		if t.Segments[i].Path == nil {
			if start := strings.Index(text, "{{"); start >= 0 {
				a.add(mkl.Finding, "MK414", or(t.Pos, pos), s.ID, "a placeholder is {{path}}: letters, numbers, _ and dots",
					"%s in %s is no placeholder and stays in the text", quoted(braced(t.Source.String()[offset+start:])), place(key, input))
				return
			}
		}
		offset += len(text)
	}
}

// braced is what an author would point at: from {{ to }}, or to the line's end.
func braced(text string) string {
	if end := strings.Index(text, "}}"); end >= 0 && !strings.ContainsAny(text[:end], "\r\n") {
		return text[:end+len("}}")]
	}
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimRight(line, "\r")
}

// nested finds the first string inside a list or map that holds a placeholder,
// and the way to it. The way is put together on the way out: most values hold
// none.
func (a *analysis) nested(v value.Value) (way, text string, ok bool) {
	switch v.Kind() {
	case value.String:
		text, _ := v.AsString()
		if !strings.Contains(text, "{{") {
			return "", "", false
		}
		if ps := mkl.Placeholders(text); len(ps) > 0 {
			return "", ps[0].Written, true
		}
	case value.List:
		for i := range v.Len() {
			if way, text, ok := a.nested(v.At(i)); ok {
				return fmt.Sprintf("[%d]%s", i, way), text, ok
			}
		}
	case value.Map:
		for i := range v.Len() {
			if way, text, ok := a.nested(v.At(i)); ok {
				return "." + v.Key(i) + way, text, ok
			}
		}
	}
	return "", "", false
}

// lintOutputs reports outputs that nothing reads (MK406). read holds the roots
// of all placeholders. A gate to END makes an output the implicit result and a
// prose gate shows it to a judge, so either is a reader.
func (a *analysis) lintOutputs(read map[string]bool) {
	if a.m.HasResult {
		read[a.m.Result] = true
	}
	var hooks []string
	for i := range a.m.States {
		for j := range a.m.States[i].Gates {
			g := &a.m.States[i].Gates[j]
			if p, ok := parametric(g); ok {
				// The whole path may be the name of a key; else its root is.
				read[p.path], read[root(p.path)] = true, true
			}
			if hooked(g) {
				hooks = append(hooks, g.Hook)
			}
		}
	}
	arguments := readers{hooks: hooks}
	for i := range a.m.States {
		s := &a.m.States[i]
		if read[s.Output] || seen(s) || arguments.name(s.Output) {
			continue
		}
		a.add(mkl.Finding, "MK406", at(s, "output"), s.ID, "",
			"output %s of state %s is never read: no placeholder, result, hook or judge looks at it", quoted(s.Output), quoted(s.ID))
	}
}

func seen(s *mkl.State) bool {
	for i := range s.Gates {
		g := &s.Gates[i]
		if to, ok := target(g); (ok && to == mkl.End) || prose(g) {
			return true
		}
	}
	return false
}

// readers finds keys named as arguments in the texts of hooks: between ":" or
// "," and ".", ":", "," or the end, as in has_items:draft,notes.
type readers struct {
	hooks []string
	names map[string]bool    // arguments that hold none of the separators
	whole *suffixarray.Index // all texts, for keys that hold one
}

func (r *readers) name(key string) bool {
	if len(r.hooks) == 0 {
		return false
	}
	if !strings.ContainsAny(key, ".:,\x00") {
		if r.names == nil {
			r.names = make(map[string]bool)
			for _, h := range r.hooks {
				r.split(h)
			}
		}
		return r.names[key]
	}
	// A key with a separator in its name is odd and legal. The index keeps the
	// search linear in the document however many of them there are.
	if r.whole == nil {
		r.whole = suffixarray.New([]byte(strings.Join(r.hooks, "\x00") + "\x00"))
	}
	for _, before := range []string{":", ","} {
		for _, after := range []string{".", ":", ",", "\x00"} {
			if len(r.whole.Lookup([]byte(before+key+after), 1)) > 0 {
				return true
			}
		}
	}
	return false
}

func (r *readers) split(hook string) {
	start := -1 // of an argument, -1 before the first ":" or ","
	for i := 0; i <= len(hook); i++ {
		if i < len(hook) && hook[i] != '.' && hook[i] != ':' && hook[i] != ',' {
			continue
		}
		if start >= 0 {
			r.names[hook[start:i]] = true
			start = -1
		}
		if i < len(hook) && hook[i] != '.' {
			start = i + 1
		}
	}
}
