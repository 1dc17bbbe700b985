package tokens_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/tokens"
)

func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		name, text string
		least      int
		most       int
	}{
		{"empty", "", 0, 0},
		{"a letter", "a", 1, 1},
		{"a space", " ", 1, 1},
		{"Han", strings.Repeat("語", 100), 100, 150},
		{"kana", "おはようございます", 9, 14},
		{"Hangul", "안녕하세요", 5, 8},
		{"Han beyond the first plane", strings.Repeat("𠀀", 50), 50, 150},
		{"emoji", strings.Repeat("🧪", 50), 50, 150},
		{"one-letter words", strings.Repeat("a ", 509), 509, 700},
		{"prose", "The quick brown fox jumps over the lazy dog.", 9, 14},
		{"one long word", strings.Repeat("x", 4000), 1000, 1100},
		{"digits", strings.Repeat("7", 300), 100, 110},
		{"punctuation", strings.Repeat(".", 400), 100, 100},
		{"Thai without spaces", strings.Repeat("ก", 100), 50, 100},
		{"Russian words", "Где моя посылка", 3, 9},
		{"tag characters", strings.Repeat("\U000E0041", 100), 100, 400},
		{"variation selectors", strings.Repeat("\uFE0F", 100), 100, 400},
		{"zero width", strings.Repeat("\u200b", 100), 100, 400},
		{"not UTF-8", strings.Repeat("\xff", 100), 100, 400},
	} {
		if got := tokens.Estimate(c.text); got < c.least || got > c.most {
			t.Errorf("%s: %d, want %d to %d", c.name, got, c.least, c.most)
		}
	}
}

// TestEstimateProperties holds the lower bounds that the page names, and that
// text can only add.
func TestEstimateProperties(t *testing.T) {
	char := rapid.OneOf(rapid.Rune(), rapid.RuneFrom([]rune("ab1 .,\n語가🧪é\u0301")), rapid.RuneFrom([]rune("abcdef ")))
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(char).Draw(t, "s")
		more := rapid.StringOf(char).Draw(t, "more")
		n := tokens.Estimate(s)
		if n < len(strings.Fields(s)) {
			t.Fatalf("%q: %d, but %d words", s, n, len(strings.Fields(s)))
		}
		if c := utf8.RuneCountInString(s); 6*n < c {
			t.Fatalf("%q: %d for %d characters", s, n, c)
		}
		if han := strings.Count(s, "語") + strings.Count(s, "가"); n < han {
			t.Fatalf("%q: %d, but %d of CJK", s, n, han)
		}
		if (n == 0) != (s == "") {
			t.Fatalf("%q: %d", s, n)
		}
		if both := tokens.Estimate(s + more); both < n {
			t.Fatalf("%q costs %d, with %q after it %d", s, n, more, both)
		}
	})
}

func BenchmarkEstimate(b *testing.B) {
	for _, c := range []struct{ name, unit string }{
		{"prose", "The parcel has not arrived, and nobody answers. "},
		{"han", "包裹还没有到，也没有人回答。"},
	} {
		text := strings.Repeat(c.unit, 10_000/len(c.unit))
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				tokens.Estimate(text)
			}
		})
	}
}

func ExampleEstimate() {
	fmt.Println(tokens.Estimate("Where is my parcel?"), tokens.Estimate("我的包裹在哪里？"))
	// Output: 5 8
}
