package trust

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// words are origins and tags that overlap often and hold what the text form has to
// escape.
func words() *rapid.Generator[[]string] {
	word := rapid.OneOf(
		rapid.SampledFrom([]string{"", "host:question", "tool:x", "pii", "a b", "[", "]", "{}", "%41", "?", "\n", "\xff", "é", "\u202e", "a,b"}),
		rapid.String(),
	)
	return rapid.SliceOfN(word, 0, 6)
}

func TestSetIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		as, bs := words().Draw(t, "a"), words().Draw(t, "b")
		a, b := NewSet(as...), NewSet(bs...)
		am, bm := map[string]bool{}, map[string]bool{}
		for _, x := range as {
			am[x] = true
		}
		for _, x := range bs {
			bm[x] = true
		}
		both := maps.Clone(am)
		maps.Copy(both, bm)
		sorted := func(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }
		if !slices.Equal(a.Items(), sorted(am)) || a.Len() != len(am) {
			t.Fatalf("NewSet(%q) = %q", as, a.Items())
		}
		u := a.Union(b)
		if !slices.Equal(u.Items(), sorted(both)) || !u.Equal(b.Union(a)) {
			t.Fatalf("%q ∪ %q = %q", as, bs, u.Items())
		}
		if !a.SubsetOf(u) || !b.SubsetOf(u) {
			t.Fatalf("%q and %q are not subsets of their union", as, bs)
		}
		if got, want := a.SubsetOf(b), len(both) == len(bm); got != want {
			t.Fatalf("%q ⊆ %q: got %v", as, bs, got)
		}
		if got, want := a.Equal(b), maps.Equal(am, bm); got != want {
			t.Fatalf("%q = %q: got %v", as, bs, got)
		}
		for x := range both {
			if a.Has(x) != am[x] {
				t.Fatalf("%q has %q: got %v", as, x, a.Has(x))
			}
		}
	})
}

func TestSetKeepsItsOwnItems(t *testing.T) {
	given := []string{"b", "a"}
	s := NewSet(given...)
	given[0] = "z"
	s.Items()[0] = "y"
	if got := s.Items(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("a set changed through a slice outside it: %q", got)
	}
}

func TestUnionOfContainedAllocatesNothing(t *testing.T) {
	small, large := NewSet("b"), NewSet("a", "b", "c")
	n := testing.AllocsPerRun(100, func() {
		for _, u := range []Set{large.Union(small), small.Union(large), large.Union(large), large.Union(Set{}), Set{}.Union(large)} {
			if u.p != large.p {
				t.Fatal("a union with a contained set is not the containing one")
			}
		}
	})
	if n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
