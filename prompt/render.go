package prompt

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/trust"
)

// Trusted fills a template's own slots.
type Trusted map[string]trust.Bare

// Untrusted fills a template's outside slots.
type Untrusted map[string]trust.Data

var errNoTemplate = errors.New("prompt: the zero Template: only Parse and Load make one")

// Render puts every value where its slots stand. Every slot has to be filled, each
// from the map of its trust, and no value may be left over; all that is wrong is in
// the error, one *Error each, and nothing is rendered then.
//
// The prompt refers to the values and copies none. fence.Render makes it the bytes of
// one call, with a nonce of its own, and gives the receipt's rows.
func (t *Template) Render(trusted Trusted, untrusted Untrusted) (fence.Prompt, error) {
	return t.render(&values{trusted: trusted, untrusted: untrusted, nOwn: len(trusted), nOutside: len(untrusted)})
}

// RenderOrdered is Render for code that pinfold gen wrote: the values of the own and
// of the outside slots, each in the order of their names. It keeps neither slice.
func (t *Template) RenderOrdered(own []trust.Bare, outside []trust.Data) (fence.Prompt, error) {
	return t.render(&values{own: own, outside: outside, nOwn: len(own), nOutside: len(outside)})
}

// values is what a template is filled with: by name, or in order.
type values struct {
	trusted        Trusted
	untrusted      Untrusted
	own            []trust.Bare
	outside        []trust.Data
	nOwn, nOutside int
}

func (v *values) bare(s *slot) (b trust.Bare, ok bool) {
	if v.own == nil {
		b, ok = v.trusted[s.name]
	} else if ok = s.at < len(v.own); ok {
		b = v.own[s.at]
	}
	return b, ok
}

func (v *values) data(s *slot) (d trust.Data, ok bool) {
	if v.outside == nil {
		d, ok = v.untrusted[s.name]
	} else if ok = s.at < len(v.outside); ok {
		d = v.outside[s.at]
	}
	return d, ok
}

func (t *Template) render(v *values) (fence.Prompt, error) {
	if t == nil || t.prompt.User.Empty() {
		return fence.Prompt{}, errNoTemplate
	}
	fills := make([]fence.Fill, len(t.holes))
	for i := range t.holes {
		if t.slots[t.holes[i].slot].fill(v, &fills[i]) != nil {
			return fence.Prompt{}, t.faults(v)
		}
	}
	if v.nOwn != t.own || v.nOutside != t.outside {
		return fence.Prompt{}, t.faults(v)
	}
	system, err := t.prompt.System.Filled(fills[:t.system:t.system])
	if err != nil {
		return fence.Prompt{}, err
	}
	user, err := t.prompt.User.Filled(fills[t.system:])
	return fence.Prompt{System: system, User: user}, err
}

// faults is everything that is wrong with v: slots in the order of the template, then
// what is left over.
func (t *Template) faults(v *values) error {
	var errs []error
	report := func(line int, slot string, err error) {
		errs = append(errs, &Error{File: t.file, Line: line, Slot: slot, Err: err})
	}
	seen := make([]bool, len(t.slots))
	for _, h := range t.holes {
		if s := &t.slots[h.slot]; !seen[h.slot] {
			seen[h.slot] = true
			if err := s.fill(v, &fence.Fill{}); err != nil {
				report(h.line, s.name, err)
			}
		}
	}
	leftover := func(name string, own bool, taker, found string) {
		switch i := t.find(name); {
		case i < 0:
			report(0, name, fmt.Errorf("%w: the template has no such slot", ErrLeftover))
		case t.slots[i].own != own:
			report(t.slots[i].places[0].Line, name, fmt.Errorf("%w: expected it in %s, found one in %s", ErrSwapped, taker, found))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.trusted)) {
		leftover(name, true, "Untrusted", "Trusted")
	}
	for _, name := range slices.Sorted(maps.Keys(v.untrusted)) {
		leftover(name, false, "Trusted", "Untrusted")
	}
	if len(errs) == 0 {
		report(0, "", fmt.Errorf("%w: expected %d own and %d outside ones, found %d and %d", ErrLeftover, t.own, t.outside, v.nOwn, v.nOutside))
	}
	return errors.Join(errs...)
}

// fill puts the slot's value, and what was declared of it, into a hole.
func (s *slot) fill(v *values, to *fence.Fill) error {
	if s.own {
		b, ok := v.bare(s)
		switch b.(type) {
		case trust.Text, trust.Scalar:
			*to = s.forms[0].Bare(b)
			return nil
		case nil:
			if !ok {
				return fmt.Errorf("%w: it is the author's own: expected a trust.Bare in Trusted", ErrMissing)
			}
		}
		// A pointer, or a struct that embeds one of the two, has the method too; who
		// made its text is not known.
		return fmt.Errorf("%w: expected a trust.Text or a trust.Scalar, found %T", ErrBare, b)
	}
	d, ok := v.data(s)
	if !ok {
		return fmt.Errorf("%w: it is outside: expected a trust.Data in Untrusted", ErrMissing)
	}
	if s.short {
		if err := s.fits(d.Text()); err != nil {
			return err
		}
	}
	form, err := s.form(d.Label().Sources())
	if err == nil {
		*to = form.Data(d)
	}
	return err
}

// form is what is declared of data from these sources, all of which the slot has to
// admit. Data without a source is from somewhere all the same.
func (s *slot) form(from trust.Set) (*fence.Prepared, error) {
	if from.Len() == 1 {
		for i, o := range s.origins {
			if from.Has(o) {
				return s.forms[i], nil
			}
		}
	}
	if from.Len() == 0 || !from.SubsetOf(s.admits) {
		found := from.String()
		if found == "" {
			found = "data of no known origin"
		}
		return nil, fmt.Errorf("%w: expected %s, found %s", ErrOrigin, names(s.origins), found)
	}
	return fence.Prepare(s.part(s.name, strings.Join(from.Items(), "/")))
}

// fits says whether a value can stand in a sentence.
func (s *slot) fits(text string) error {
	if len(text) > utf8.UTFMax*s.inline {
		return fmt.Errorf("%w: expected at most %d characters, found %d", ErrInline, s.inline, utf8.RuneCountInString(text))
	}
	n := 0
	for _, r := range text {
		n++
		switch r {
		case '\n', '\v', '\f', '\r', '\u0085', '\u2028', '\u2029': // Unicode's mandatory line breaks
			return fmt.Errorf("%w: expected one line, found a line break at character %d", ErrInline, n)
		}
	}
	if n > s.inline {
		return fmt.Errorf("%w: expected at most %d characters, found %d", ErrInline, s.inline, n)
	}
	return nil
}

// ToolResult is a prompt that holds one result of a tool, fenced, and nothing else: for
// the loop of another framework, which keeps messages as strings and has to be given
// each result as one. The paragraph that names the fence is its system message; it
// belongs in front of the user message, outside the fence. Where the program makes its
// own messages, a result is a slot's value like any other, and all fences of a call
// share one nonce.
//
// Nothing declares which origins are admitted. Data of no known origin, or of one that
// no fence can write, is an error.
func ToolResult(d trust.Data) (fence.Prompt, error) {
	var p fence.Prompt
	from := d.Label().Sources().Items()
	for _, origin := range from {
		if !isWord(origin) {
			return p, fmt.Errorf("prompt: tool result: origin %s: expected one or more of A-Z a-z 0-9 _ . : / -", shown(origin))
		}
	}
	if len(from) == 0 {
		return p, errors.New("prompt: tool result: data of no known origin: expected one, such as tool:search")
	}
	source := strings.Join(from, "/")
	p.User.Put(fence.Part{Channel: source, Kind: "tool", Data: d, Trust: trustOutside,
		Style: fence.StyleLabelled, Attrs: []fence.Attr{{Name: "source", Value: source}}})
	explain(&p.System)
	return p, nil
}

// Reply is what a model wrote from a prompt with these rows: data from origin, such as
// model:draft, and from all that the model read. Its level is Model at most
// (TRUST.md §2).
func Reply(origin, text string, rows []fence.Row) trust.Data {
	labels := make([]trust.Label, 1, len(rows)+1)
	labels[0] = trust.ModelLabel(origin)
	for i := range rows {
		if !rows[i].Dropped {
			labels = append(labels, rows[i].Label)
		}
	}
	return trust.DataOf(text, labels...)
}
