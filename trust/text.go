package trust

import (
	"strings"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/internal/raw"
)

// Text is the author's own text: a compile-time constant, a program's or
// template's own text, a registry's banner, or the text of a value whose level
// is Author. The zero Text is empty.
type Text struct{ s string }

// constant fits untyped constants and nothing else outside this package. It is a
// parameter of package-level functions only: a method or an exported field of this
// type could be laundered through an interface or a generic.
type constant string

// Const is a compile-time constant.
func Const(s constant) Text { return FromRaw(raw.Of(string(s))) }

// FromRaw is text that an importer of internal/raw answers for. Bytes that are not
// UTF-8 become U+FFFD: no wire carries them.
func FromRaw(t raw.Text) Text {
	s := t.String()
	if !utf8.ValidString(s) {
		s = validUTF8(s)
	}
	return Text{s}
}

// String is the text itself.
func (t Text) String() string { return t.s }

// Len is the length in bytes.
func (t Text) Len() int { return len(t.s) }

// Trim is t without white space at its ends: a part of the author's text is the
// author's.
func (t Text) Trim() Text { return Text{strings.TrimSpace(t.s)} }

func (t Text) bare() {}

// Join is the parts one after the other.
func Join(parts ...Text) Text {
	if len(parts) == 1 {
		return parts[0]
	}
	n := 0
	for _, p := range parts {
		n += p.Len()
	}
	var b strings.Builder
	b.Grow(n)
	for _, p := range parts {
		b.WriteString(p.s)
	}
	return Text{b.String()}
}

// Bare is what may stand in a prompt without a fence: a Text or a Scalar.
type Bare interface{ bare() }
