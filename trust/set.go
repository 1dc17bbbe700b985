package trust

import (
	"slices"
	"strings"
)

// Set is an immutable sorted set of strings. The zero Set is empty. Sets are small
// (a handful of origins or tags), so they are slices behind one pointer: copying a
// Label copies words, and two labels that came from one place share their sets.
type Set struct{ p *[]string }

// NewSet returns the set of items. The empty string is an item like any other: as
// an origin or tag it stands for one that is not known.
func NewSet(items ...string) Set {
	if len(items) == 0 {
		return Set{}
	}
	s := slices.Clone(items)
	slices.Sort(s)
	s = slices.Compact(s)
	return Set{&s}
}

func (s Set) items() []string {
	if s.p == nil {
		return nil
	}
	return *s.p
}

// Len is the number of items.
func (s Set) Len() int { return len(s.items()) }

// Has says whether item is in the set.
func (s Set) Has(item string) bool {
	for _, x := range s.items() {
		if x == item {
			return true
		}
	}
	return false
}

// Items returns the items, sorted, in a slice of the caller's own.
func (s Set) Items() []string { return slices.Clone(s.items()) }

// Union returns the set of what is in s or in t. When one holds the other it
// returns that one and allocates nothing.
func (s Set) Union(t Set) Set {
	switch {
	case s.p == t.p || t.p == nil:
		return s
	case s.p == nil:
		return t
	}
	a, b := *s.p, *t.p
	if len(a) >= len(b) {
		if subset(b, a) {
			return s
		}
	} else if subset(a, b) {
		return t
	}
	u := make([]string, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch c := strings.Compare(a[0], b[0]); {
		case c < 0:
			u, a = append(u, a[0]), a[1:]
		case c > 0:
			u, b = append(u, b[0]), b[1:]
		default:
			u, a, b = append(u, a[0]), a[1:], b[1:]
		}
	}
	u = append(append(u, a...), b...)
	return Set{&u}
}

// SubsetOf says whether every item of s is in t. The empty set is a subset of all.
func (s Set) SubsetOf(t Set) bool { return s.p == t.p || subset(s.items(), t.items()) }

// Equal says whether s and t have the same items.
func (s Set) Equal(t Set) bool { return s.p == t.p || slices.Equal(s.items(), t.items()) }

// String gives the items as they stand in the text of a label: sorted, escaped,
// separated by one space. It is always one line of printable ASCII.
func (s Set) String() string { return string(s.append(nil)) }

func (s Set) append(dst []byte) []byte {
	for i, item := range s.items() {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = appendWord(dst, item)
	}
	return dst
}

// subset says whether every item of a is in b; both are sorted.
func subset(a, b []string) bool {
	if len(a) > len(b) {
		return false
	}
	for _, x := range a {
		for {
			if len(b) == 0 {
				return false
			}
			head := b[0]
			b = b[1:]
			if head == x {
				break
			}
			if head > x {
				return false
			}
		}
	}
	return true
}
