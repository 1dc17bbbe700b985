package prompt

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/mkl/yamltree"
)

// declare reads a file's front matter into s.
func (s *source) declare(front string) error {
	s.sections = []string{sectionUser}
	if strings.TrimSpace(front) == "" {
		return nil
	}
	f := reader{file: s.file}
	root, errs := yamltree.Read([]byte(front))
	for _, e := range errs {
		f.errs = append(f.errs, &Error{File: s.file, Line: e.Line, Column: e.Column, Err: errors.New(e.Message)})
	}
	if root != nil {
		f.top(root, s)
	}
	return errors.Join(f.errs...)
}

// reader reads the nodes of a front matter and notes what is wrong.
type reader struct {
	file string
	slot string // that is being read
	errs []error
}

func (f *reader) wrong(n *yamltree.Node, format string, args ...any) {
	f.errs = append(f.errs, &Error{File: f.file, Line: n.Line, Column: n.Column, Slot: f.slot, Err: fmt.Errorf(format, args...)})
}

func (f *reader) top(root *yamltree.Node, s *source) {
	f.keys(root, "slots", "sections", "sensitivity")
	if n, ok := root.Get("slots"); ok && f.mapping(n) {
		for i, key := range n.Keys {
			f.slot = key.Text
			s.slots = append(s.slots, declared{Slot: f.declared(n.Values[i]), name: key.Text, line: key.Line, column: key.Column})
		}
		f.slot = ""
	}
	if n, ok := root.Get("sections"); ok {
		s.sections = f.list(n)
		for i, name := range s.sections {
			if name != sectionSystem && name != sectionUser {
				f.wrong(n.Items[i], "section %s: expected system or user", shown(name))
			}
		}
	}
	if n, ok := root.Get("sensitivity"); ok && f.mapping(n) {
		for i, key := range n.Keys {
			at := slices.IndexFunc(s.slots, func(d declared) bool { return d.name == key.Text })
			f.slot = key.Text
			if at < 0 {
				f.wrong(key, "it is not declared in slots")
			} else if tags := f.list(n.Values[i]); len(tags) > 0 {
				s.slots[at].Slot = s.slots[at].Secrecy(tags...)
			}
		}
		f.slot = ""
	}
}

func (f *reader) declared(n *yamltree.Node) Slot {
	var s Slot
	if !f.mapping(n) {
		return s
	}
	f.keys(n, "trust", "origins", "budget", "keep", "inline", "allow_in_system")
	if v, ok := n.Get("trust"); !ok {
		f.wrong(n, "expected trust: own or trust: outside")
	} else if s.own = f.word(v, "trust", trustOutside, trustOwn) == 1; s.own {
		if v, ok := n.Get("origins"); ok {
			f.wrong(v, "origins: the author's own has none")
		}
	}
	if v, ok := n.Get("origins"); ok {
		s.origins = f.list(v)
	}
	if v, ok := n.Get("budget"); ok {
		if v.Kind == yamltree.Mapping {
			f.keys(v, "tokens")
			if tokens, ok := v.Get("tokens"); ok {
				s = s.Tokens(f.number(tokens))
			} else {
				f.wrong(v, "budget: expected {tokens: n} or a number of characters")
			}
		} else {
			s = s.Budget(f.number(v))
		}
	}
	if v, ok := n.Get("keep"); ok {
		s = s.Keep(fence.Keep(f.word(v, "keep", fence.KeepHead.String(), fence.KeepTail.String(), fence.KeepBoth.String())))
	}
	if v, ok := n.Get("inline"); ok {
		s = s.Inline(f.number(v))
	}
	if v, ok := n.Get("allow_in_system"); ok {
		reason, err := v.AsString()
		f.note(err)
		s = s.AllowInSystem(reason)
	}
	return s
}

func (f *reader) note(e *yamltree.Error) {
	if e != nil {
		f.errs = append(f.errs, &Error{File: f.file, Line: e.Line, Column: e.Column, Slot: f.slot, Err: errors.New(e.Message)})
	}
}

func (f *reader) mapping(n *yamltree.Node) bool {
	if n.Kind != yamltree.Mapping {
		f.wrong(n, "expected a mapping, found %s", n.What())
		return false
	}
	return true
}

func (f *reader) keys(n *yamltree.Node, known ...string) {
	for _, key := range n.Keys {
		if !slices.Contains(known, key.Text) {
			f.wrong(key, "key %s: expected one of %s", shown(key.Text), strings.Join(known, ", "))
		}
	}
}

func (f *reader) list(n *yamltree.Node) []string {
	if n.Kind != yamltree.Sequence {
		f.wrong(n, "expected a list, found %s", n.What())
		return nil
	}
	all := make([]string, len(n.Items))
	for i, item := range n.Items {
		text, err := item.AsString()
		f.note(err)
		all[i] = text
	}
	return all
}

func (f *reader) number(n *yamltree.Node) int {
	i, err := n.AsInt()
	f.note(err)
	return i
}

// word is the place of what n holds among the known words.
func (f *reader) word(n *yamltree.Node, key string, known ...string) int {
	text, err := n.AsString()
	if err != nil {
		f.note(err)
		return 0
	}
	i := slices.Index(known, text)
	if i < 0 {
		f.wrong(n, "%s %s: expected one of %s", key, shown(text), strings.Join(known, ", "))
	}
	return max(i, 0)
}
