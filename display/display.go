// Package display is how text that pinfold did not write itself is shown to a
// person: model and tool text, values, errors from outside, file names, and the
// author's text too (LANGUAGE.md §20).
//
// Whatever a terminal would act on or would not draw becomes visible: controls,
// line and paragraph separators, bidirectional controls, zero-width, tag,
// variation-selector and filler characters, and code points that no font has, are
// written \u{202e}; a byte that is not UTF-8 is written \x{ff}. All else stands as
// it is. What is shown says which text it was: a backslash that would begin such
// an escape in the text itself is written \u{5c}, and a × behind an escape, which
// would begin the number of a run, is written \u{d7}, so no two texts look alike.
//
// The package is for eyes alone. It never touches text on its way to a model, and
// it is no filter: nothing is removed, nothing is cut without saying so.
//
//	fmt.Println("error:", display.Line(err.Error()))
package display

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Style is what stands around each escape, so that a terminal can show it apart
// from text that only looks like one. The zero Style is plain.
type Style struct{ On, Off string }

// Colour is the Style for terminals that have colours.
func Colour() Style { return Style{On: "\x1b[33m", Off: "\x1b[39m"} }

// Line is s on one line, without colour.
func Line(s string) string { return Style{}.Line(s) }

// Block is s with its line ends kept, without colour. A carriage return is no line
// end: it is escaped, as it would let later text overwrite earlier text.
func Block(s string) string { return Style{}.Block(s) }

// Approval is s as a person must see it before saying yes: Line, and each run of
// at least 8 white-space characters as escapes with their number, \u{3000}×400, so
// that nothing is pushed out of sight [C17].
func Approval(s string) string { return Style{}.Approval(s) }

// Short is the Line of the first n characters of s; where s has more it says so:
// "… (200 of 12,345 characters)".
func Short(s string, n int) string { return Style{}.Short(s, n) }

// Line is s on one line.
func (st Style) Line(s string) string { return st.show(s, mode{}) }

// Block is s with its line ends kept.
func (st Style) Block(s string) string { return st.show(s, mode{lines: true}) }

// Approval is s as a person must see it before saying yes.
func (st Style) Approval(s string) string { return st.show(s, mode{runs: true}) }

// Short is the Line of the first n characters of s.
func (st Style) Short(s string, n int) string {
	if len(s) <= n {
		return st.Line(s)
	}
	n = max(n, 0)
	total, end := 0, len(s)
	for i := range s {
		if total == n {
			end = i
		}
		total++
	}
	if total <= n {
		return st.Line(s)
	}
	return st.Line(s[:end]) + "… (" + thousands(n) + " of " + thousands(total) + " characters)"
}

// thousands is n with a comma between each three digits.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

type mode struct {
	lines bool // keep line feeds
	runs  bool // count out long white space
}

// longRun is how many white-space characters in a row an approval counts out.
const longRun = 8

func (st Style) show(s string, m mode) string {
	i := m.plain(s, 0)
	if i == len(s) {
		return s
	}
	w := writer{st: st}
	w.Grow(len(s) + 32)
	for start := 0; ; {
		w.text(s[start:i])
		if i == len(s) {
			w.close()
			return w.String()
		}
		if n, bytes := m.space(s[i:]); n >= longRun {
			w.run(s[i : i+bytes])
			i += bytes
		} else {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				w.escape('x', rune(s[i]))
			} else {
				w.escape('u', r)
			}
			i += size
		}
		start = i
		i = m.plain(s, i)
	}
}

// plain is the position from i on of the first thing in s that is not shown as it
// stands, or len(s).
func (m mode) plain(s string, i int) int {
	for i < len(s) {
		c := s[i]
		switch {
		case c == ' ':
			if n, _ := m.space(s[i:]); n >= longRun {
				return i
			}
			i++
		case c == '\\':
			if opens(s[i:]) {
				return i
			}
			i++
		case c == '\n' && m.lines:
			i++
		case c < ' ' || c == 0x7f:
			return i
		case c < utf8.RuneSelf:
			i++
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 || hidden(r) {
				return i
			}
			if n, _ := m.space(s[i:]); n >= longRun {
				return i
			}
			i += size
		}
	}
	return i
}

// opens reports whether s begins as an escape of ours does.
func opens(s string) bool { return strings.HasPrefix(s, `\u{`) || strings.HasPrefix(s, `\x{`) }

// space is how many white-space characters s begins with, in characters and in
// bytes; 0 where runs are not looked for.
func (m mode) space(s string) (n, bytes int) {
	if !m.runs {
		return 0, 0
	}
	for bytes < len(s) {
		r, size := utf8.DecodeRuneInString(s[bytes:])
		if !unicode.IsSpace(r) {
			break
		}
		n++
		bytes += size
	}
	return n, bytes
}

// writer writes text and escapes; escapes in a row share one pair of colours.
type writer struct {
	strings.Builder
	st   Style
	open bool // the style is on: the last thing written is an escape

	counted bool // and ends in the number of a run
}

func (w *writer) close() {
	if w.open {
		w.WriteString(w.st.Off)
		w.open = false
	}
}

// text writes what is shown as it stands.
func (w *writer) text(s string) {
	if s == "" {
		return
	}
	// After an escape, × begins the number of a run, and a digit continues one.
	// Where the text has them there, they are escaped.
	if w.counted && s[0]-'0' < 10 {
		w.escape('u', rune(s[0]))
		s = s[1:]
	}
	for w.open && strings.HasPrefix(s, "×") {
		w.escape('u', '×')
		s = s[len("×"):]
	}
	if s != "" {
		w.close()
		w.WriteString(s)
	}
}

func (w *writer) escape(kind byte, r rune) {
	if !w.open {
		w.WriteString(w.st.On)
		w.open = true
	}
	w.counted = false
	w.WriteByte('\\')
	w.WriteByte(kind)
	w.WriteByte('{')
	var digits [8]byte
	w.Write(strconv.AppendInt(digits[:0], int64(r), 16))
	w.WriteByte('}')
}

// run writes white space counted out: each character that repeats with how often.
func (w *writer) run(s string) {
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		n := 1
		for n*size < len(s) && strings.HasPrefix(s[n*size:], s[:size]) {
			n++
		}
		w.escape('u', r)
		if n > 1 {
			w.WriteString("×" + strconv.Itoa(n))
			w.counted = true
		}
		s = s[n*size:]
	}
}
