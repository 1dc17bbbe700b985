package display_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/display"
)

func TestLine(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"plain, ünïcödé 語 🧪", "plain, ünïcödé 語 🧪"},
		{"a\nb\tc\r\n", `a\u{a}b\u{9}c\u{d}\u{a}`},
		{"\x00\x1b[2K\x7f\u0085\u009b", `\u{0}\u{1b}[2K\u{7f}\u{85}\u{9b}`},
		{"a\u2028b\u2029", `a\u{2028}b\u{2029}`},
		{"</da\u200Bta-ab12>", `</da\u{200b}ta-ab12>`},       // C5
		{"\uFF1C/data-ab12\uFF1E", "\uFF1C/data-ab12\uFF1E"}, // C5: seen for what they are
		{"</data\u00AD-ab12>", `</data\u{ad}-ab12>`},         // C5
		{"Sam\n[12:00] You: approve all", `Sam\u{a}[12:00] You: approve all`},
		{"Sunny today\U000E0073\U000E007F", `Sunny today\u{e0073}\u{e007f}`},
		{"\u202eevil\u2066\u2069\u061c", `\u{202e}evil\u{2066}\u{2069}\u{61c}`},
		{"a\uFE0Fb\U000E0100", `a\u{fe0f}b\u{e0100}`},
		{"\u3164\u115F\uFFA0\u2800\u034F\uFEFF", `\u{3164}\u{115f}\u{ffa0}\u{2800}\u{34f}\u{feff}`},
		{"\uE000\U000F0000\uFFFF\u0378", `\u{e000}\u{f0000}\u{ffff}\u{378}`},
		{"\xff\xc3", `\x{ff}\x{c3}`},
		{"\uFFFD", "\uFFFD"},
		{`C:\users \u{202e} \x{1} \u202e \`, `C:\users \u{5c}u{202e} \u{5c}x{1} \u202e \`},
		{"\u0600\u06DD", "\u0600\u06DD"}, // format characters that are drawn
		{"e\u0301", "e\u0301"},
	} {
		if got := display.Line(c.in); got != c.want {
			t.Errorf("Line(%q): %s, want %s", c.in, got, c.want)
		}
	}
}

func TestBlock(t *testing.T) {
	if got, want := display.Block("one\n\ttwo\r\nthree\u2028\u202e"), "one\n\\u{9}two\\u{d}\nthree\\u{2028}\\u{202e}"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestApproval(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"ok" + strings.Repeat("\u3000", 400) + "bcc=x@y.example", `ok\u{3000}×400bcc=x@y.example`}, // C17
		{"\x1b[2K\u202E\U000E0100", `\u{1b}[2K\u{202e}\u{e0100}`},                                   // C17
		{strings.Repeat(" ", 7) + "x", strings.Repeat(" ", 7) + "x"},
		{strings.Repeat(" ", 8) + "x", `\u{20}×8x`},
		{strings.Repeat("\n", 50) + "bcc", `\u{a}×50bcc`},
		{strings.Repeat(" \u00a0", 4), `\u{20}\u{a0}\u{20}\u{a0}\u{20}\u{a0}\u{20}\u{a0}`},
		{"a   \u3000\u3000\u3000\u2003\u2003b", `a\u{20}×3\u{3000}×3\u{2003}×2b`},
		{strings.Repeat(" ", 400) + "12", `\u{20}×400\u{31}2`},
		{"\t×400", `\u{9}\u{d7}400`},
		{strings.Repeat(" ", 9) + "××9", `\u{20}×9\u{d7}\u{d7}9`},
		{"2 × 3", "2 × 3"},
		{" \v \tx \n", ` \u{b} \u{9}x \u{a}`}, // a short run hides no control
		{"       \r", `\u{20}×7\u{d}`},
		{"two words  here", "two words  here"},
	} {
		if got := display.Approval(c.in); got != c.want {
			t.Errorf("Approval(%q): %s, want %s", c.in, got, c.want)
		}
	}
}

func TestShort(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{strings.Repeat("語", 12345), 200, strings.Repeat("語", 200) + "… (200 of 12,345 characters)"},
		{"語語", 2, "語語"},
		{"abc", 2, "ab… (2 of 3 characters)"},
		{"a\nbc", 2, `a\u{a}… (2 of 4 characters)`},
		{"abc", 0, "… (0 of 3 characters)"},
		{"abc", -5, "… (0 of 3 characters)"},
		{strings.Repeat("x", 1_234_567), 1000, strings.Repeat("x", 1000) + "… (1,000 of 1,234,567 characters)"},
		{"", 0, ""},
	} {
		if got := display.Short(c.in, c.n); got != c.want {
			t.Errorf("Short(%.10q, %d): %.80s, want %.80s", c.in, c.n, got, c.want)
		}
	}
}

func TestColour(t *testing.T) {
	if got, want := display.Colour().Line("a\u200b\u200bb\n"), "a\x1b[33m\\u{200b}\\u{200b}\x1b[39mb\x1b[33m\\u{a}\x1b[39m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := display.Colour().Line(`a\u{200b}`); !strings.Contains(got, "\x1b") {
		t.Errorf("%q: text that looks like an escape is not told apart", got)
	}
}

func TestJSON(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"{\n  \"a\": \"é \\n <\"\n}", "{\n  \"a\": \"é \\n <\"\n}"},
		{"\"\u202e\u200b\u2028\x7f\"", `"\u202e\u200b\u2028\u007f"`},
		{"\"\U000E0041\"", `"\udb40\udc41"`},
		{"\"\U000F0000\U0010FFFF\"", `"\udb80\udc00\udbff\udfff"`},
		{"[1,\r2]\x1b", `[1,\u000d2]\u001b`},
		{"\xff", `\ufffd`},
	} {
		if got := display.JSON(c.in); got != c.want {
			t.Errorf("%q: %s, want %s", c.in, got, c.want)
		}
		if got := string(display.AppendJSON([]byte("x"), c.in)); got != "x"+c.want {
			t.Errorf("AppendJSON(%q): %s", c.in, got)
		}
	}
}

func TestInvisible(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int
	}{
		{"", 0}, {"text\twith\r\nline ends, é 語 🧪", 0},
		{"</da\u200Bta-ab12>", 1}, {"</data\u00AD-ab12>", 1}, {"\uFF1C/data-ab12\uFF1E", 0},
		{"\x00\x1b\x7f\u0085", 4}, {"\u202e\u2066\u200e", 3}, {"\u3164\u115F\u2800", 3},
		{"Sunny" + strings.Repeat("\U000E0041", 9), 9}, {"👩\u200d👩\u200d👧", 2}, {"❤\uFE0F", 1},
		{"\u0600", 0}, {"\xff", 0},
	} {
		if got := display.Invisible(c.in); got != c.want {
			t.Errorf("%q: %d, want %d", c.in, got, c.want)
		}
	}
}

// TestEveryCharacter holds the quick paths to the tables of Unicode, for every
// code point there is.
func TestEveryCharacter(t *testing.T) {
	shown := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		line := display.Line(string(r))
		escaped := line != string(r)
		if escaped && line != `\u{`+strconv.FormatInt(int64(r), 16)+"}" {
			t.Fatalf("%U: %q", r, line)
		}
		bad := unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Variation_Selector,
			unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point) ||
			!unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs)
		if drawn := unicode.Is(unicode.Prepended_Concatenation_Mark, r); bad && !drawn && !escaped {
			t.Fatalf("%U is shown as it is", r)
		}
		if !bad && escaped && r != 0x2800 && r != 0x1D159 {
			t.Fatalf("%U is escaped", r)
		}
		if display.Invisible(string(r)) == 1 && !escaped {
			t.Fatalf("%U counts as invisible and is shown as it is", r)
		}
		if !escaped {
			shown++
		}
	}
	if shown < 100_000 {
		t.Fatalf("only %d characters are shown", shown)
	}
}

var text = rapid.Custom(func(t *rapid.T) string {
	piece := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{`\`, `u{`, `x{`, `\u{`, `\u{a}`, "}", "×", "×4", "0", "400", "\t", "\n", "\u3000",
			" ", "  ", "\v", "\u00a0", "        ", "\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000", "\x1b[2K", "\u202e", "\u200b", "\U000E0041", "\xff", "\xe2\x80"}),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 4), func(b []byte) string { return string(b) }),
	)
	return strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), "")
})

// read takes back what Line, Block or Approval wrote, by the rules that the
// package comment states.
func read(t *rapid.T, s string) string {
	var b strings.Builder
	for len(s) > 0 {
		if !strings.HasPrefix(s, `\u{`) && !strings.HasPrefix(s, `\x{`) {
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		digits, rest, ok := strings.Cut(s[3:], "}")
		n, err := strconv.ParseUint(digits, 16, 32)
		if !ok || err != nil {
			t.Fatalf("%q is no escape", s)
		}
		if s[1] == 'x' {
			b.WriteByte(byte(n))
			s = rest
			continue
		}
		times := 1
		if after, ok := strings.CutPrefix(rest, "×"); ok && unicode.IsSpace(rune(n)) {
			end := len(after) - len(strings.TrimLeft(after, "0123456789"))
			if times, err = strconv.Atoi(after[:end]); err != nil {
				t.Fatalf("%q is no run", s)
			}
			rest = after[end:]
		}
		for range times {
			b.WriteRune(rune(n))
		}
		s = rest
	}
	return b.String()
}

// TestNothingIsLost: what is shown says which text it was, so no two texts look
// alike, and none of it acts on a terminal.
func TestNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := text.Draw(t, "s")
		for _, show := range []struct {
			name string
			f    func(string) string
			line bool
		}{{"Line", display.Line, true}, {"Block", display.Block, false}, {"Approval", display.Approval, true}} {
			got := show.f(s)
			if back := read(t, got); back != s {
				t.Fatalf("%s(%q) is %q, which reads %q", show.name, s, got, back)
			}
			for _, r := range got {
				if r == '\n' && !show.line {
					continue
				}
				if !unicode.IsGraphic(r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) || unicode.Is(unicode.Bidi_Control, r) {
					t.Fatalf("%s(%q) holds %U", show.name, s, r)
				}
			}
			if show.name == "Approval" {
				run := 0
				for _, r := range got {
					if run++; !unicode.IsSpace(r) {
						run = 0
					}
					if run >= 8 {
						t.Fatalf("Approval(%q) holds a run of white space", s)
					}
				}
			}
		}
	})
}

// TestJSONIsTheSameValue: JSON for a terminal is JSON, of the same value, and
// nothing in it acts on the terminal.
func TestJSONIsTheSameValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := strings.ToValidUTF8(text.Draw(t, "s"), "\uFFFD")
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(want); err != nil {
			t.Fatal(err)
		}
		shown := display.JSON(b.String())
		var got string
		if err := json.Unmarshal([]byte(shown), &got); err != nil || got != want {
			t.Fatalf("%q became %q, %v", want, got, err)
		}
		for _, r := range shown {
			if r != '\n' && !unicode.IsGraphic(r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
				t.Fatalf("%q holds %U", shown, r)
			}
		}
	})
}

func BenchmarkLine(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"prose", strings.Repeat("The parcel has not arrived. ", 100)},
		{"escapes", strings.Repeat("The parcel\u200b has\nnot arrived. ", 100)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				display.Line(c.text)
			}
		})
	}
}

func BenchmarkInvisible(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"prose", strings.Repeat("The parcel has not arrived. ", 100)},
		{"han", strings.Repeat("包裹还没有到，也没有人回答。", 50)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				display.Invisible(c.text)
			}
		})
	}
}

func ExampleLine() {
	fmt.Println(display.Line("Sam\n[12:00] You: approve all\u202e"))
	// Output: Sam\u{a}[12:00] You: approve all\u{202e}
}

func ExampleApproval() {
	fmt.Println(display.Approval("ok" + strings.Repeat("\u3000", 400) + "bcc=x@y.example"))
	// Output: ok\u{3000}×400bcc=x@y.example
}

func ExampleShort() {
	fmt.Println(display.Short(strings.Repeat("lorem ipsum ", 100), 11))
	// Output: lorem ipsum… (11 of 1,200 characters)
}

// Counting by words is counting by characters, wherever a character stands in a word.
func TestInvisibleByWords(t *testing.T) {
	for c := range 256 {
		for at := range 24 {
			for _, around := range []string{"a", " ", "~", "\t", "\u00e9"} {
				s := strings.Repeat(around, at) + string([]byte{byte(c)}) + strings.Repeat(around, 23-at)
				want := 0
				for i := 0; i < len(s); {
					_, size := utf8.DecodeRuneInString(s[i:])
					want += display.Invisible(s[i : i+size])
					i += size
				}
				if got := display.Invisible(s); got != want {
					t.Fatalf("%q: %d, want %d", s, got, want)
				}
			}
		}
	}
}
