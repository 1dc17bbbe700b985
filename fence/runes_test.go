package fence

import (
	"testing"

	"pgregory.net/rapid"
)

// Cutting by many bytes at once is cutting by one character after the other.
func TestRunesByMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.RuneFrom([]rune("abc é語😀\u0301")), 0, 300, -1).Draw(t, "s")
		n := rapid.IntRange(0, 320).Draw(t, "n")
		starts := []int{}
		for i := range s {
			starts = append(starts, i)
		}
		head, tail := len(s), 0
		if n < len(starts) {
			head = starts[n]
		}
		if n == 0 {
			tail = len(s)
		} else if n < len(starts) {
			tail = starts[len(starts)-n]
		}
		if got := headRunes(s, n); got != head {
			t.Fatalf("the first %d characters end at %d, want %d", n, got, head)
		}
		if got := tailRunes(s, n); got != tail {
			t.Fatalf("the last %d characters begin at %d, want %d", n, got, tail)
		}
	})
}
