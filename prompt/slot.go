package prompt

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/trust"
)

// Slots declares every slot of a template by its name.
type Slots map[string]Slot

// Slot declares who fills a slot: Outside or Own makes one. The zero Slot is outside
// and admits no origin, which is an error of the template.
type Slot struct {
	own     bool
	origins []string
	budget  fence.Budget
	keep    fence.Keep
	inline  int
	short   bool // inline is set
	system  bool
	reason  string // of system
	secrecy []string
}

// Outside declares a slot for data from the given origins, constants all: whatever
// fills it goes fenced, and names its origin there. Data of any other origin, or of
// none, is refused.
func Outside(origins ...constant) Slot {
	s := Slot{origins: make([]string, len(origins))}
	for i, o := range origins {
		s.origins[i] = string(o)
	}
	return s
}

// Own declares a slot for the author's own text and for what cannot carry text:
// a trust.Bare. It goes without a fence.
func Own() Slot { return Slot{own: true} }

// Budget bounds what the slot puts into the prompt, fence and all, to n characters
// (Unicode code points). A value that is too long is cut, with a visible marker; when
// n cannot hold the fence and the marker, nothing of the slot is in the prompt, and
// its row says so. 0 admits nothing.
func (s Slot) Budget(n int) Slot {
	s.budget = fence.Budget{Set: true, Max: n}
	return s
}

// Tokens is Budget in tokens, as package tokens estimates them.
func (s Slot) Tokens(n int) Slot {
	s.budget = fence.Budget{Set: true, Max: n, Unit: fence.Tokens}
	return s
}

// Keep says which part of a value survives a cut; without it the head does.
func (s Slot) Keep(k fence.Keep) Slot {
	s.keep = k
	return s
}

// Inline is for a value inside a sentence: one line of at most n characters, in a
// fence without line breaks. A longer value, or one of several lines, is an error of
// Render and not a cut.
func (s Slot) Inline(n int) Slot {
	s.inline, s.short = n, true
	return s
}

// AllowInSystem lets an outside slot stand in the system message. Outside data
// belongs in the user message: the reason says why this must not, and is listed by
// Template.Slots. It is not shown to the model.
func (s Slot) AllowInSystem(reason string) Slot {
	s.system, s.reason = true, reason
	return s
}

// Secrecy says how sensitive what fills the slot is, whatever its trust is: pii,
// billing. The tags join the label of the receipt's row, and so that of what a model
// writes from it (Reply).
func (s Slot) Secrecy(tags ...string) Slot {
	s.secrecy = append(slices.Clip(s.secrecy), tags...)
	return s
}

// The declared trust of a slot, as receipts write it.
const (
	trustOwn     = "own"
	trustOutside = "outside"
)

func (s *Slot) trust() string {
	if s.own {
		return trustOwn
	}
	return trustOutside
}

// check reports what contradicts itself in a declaration.
func (s *Slot) check(report func(error)) {
	if s.own {
		if s.budget.Set || s.short || s.system || s.keep != fence.KeepHead {
			report(errors.New("the author's own goes in whole, and anywhere: expected no budget, keep, inline or allowance on it"))
		}
	} else if len(s.origins) == 0 {
		report(errors.New("admits no origin: expected Own, or Outside with the origins of its data"))
	}
	for i, o := range s.origins {
		if !isWord(o) {
			report(fmt.Errorf("origin %s: expected one or more of A-Z a-z 0-9 _ . : / -", shown(o)))
		} else if slices.Contains(s.origins[:i], o) {
			report(fmt.Errorf("origin %s: expected once, found twice", o))
		}
	}
	for _, tag := range s.secrecy {
		if !isWord(tag) {
			report(fmt.Errorf("sensitivity %s: expected one or more of A-Z a-z 0-9 _ . : / -", shown(tag)))
		}
	}
	switch {
	case s.short && s.inline <= 0:
		report(fmt.Errorf("inline %d: expected at least 1 character", s.inline))
	case s.short && s.budget.Set:
		report(errors.New("inline and a budget: an inline value that is too long is an error, and is never cut"))
	case s.keep != fence.KeepHead && !s.budget.Set:
		report(errors.New("what to keep of a cut, and no budget that could cut"))
	case s.budget.Set && s.budget.Max < 0:
		report(fmt.Errorf("budget %d: expected 0 or more", s.budget.Max))
	}
	if s.keep > fence.KeepBoth {
		report(fmt.Errorf("keep %v: expected head, tail or both", s.keep))
	}
	if s.system && strings.TrimSpace(s.reason) == "" {
		report(errors.New("allowed in the system message without a reason: write why it cannot stand in the user message"))
	}
}

// part is what the slot declares of a value from source; "" is an own slot's.
func (s *Slot) part(name, source string) fence.Part {
	p := fence.Part{Channel: name, Kind: "slot", Trust: s.trust(), Authoritative: s.own,
		Budget: s.budget, Keep: s.keep, Secrecy: trust.NewSet(s.secrecy...)}
	if !s.own {
		p.Style = fence.StyleLabelled
		if s.short {
			p.Style = fence.StyleInline
		}
		p.Attrs = []fence.Attr{{Name: "source", Value: source}}
	}
	return p
}

// isName says whether a slot may have this name.
func isName(s string) bool {
	for i := 0; i < len(s); i++ {
		if !letter(s[i]) && (i == 0 || !('0' <= s[i] && s[i] <= '9' || s[i] == '_')) {
			return false
		}
	}
	return s != ""
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// isWord says whether s may stand in an attribute of a fence (TRUST.md §3).
func isWord(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !letter(c) && !('0' <= c && c <= '9') && strings.IndexByte("_.:/-", c) < 0 {
			return false
		}
	}
	return s != ""
}
