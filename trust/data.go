package trust

import (
	"strings"
	"unicode/utf8"
)

// Data is text with a label. It is always valid UTF-8. The zero Data is empty and
// External.
type Data struct {
	text      string
	label     Label
	bytesIn   int
	truncated bool
	altered   bool
}

// External is text that came from origin. Bytes that are not UTF-8 become U+FFFD,
// and the Data says that it was altered.
func External(origin, text string) Data { return newData(text, From(origin)) }

// DataOf is text derived from things with the given labels: it carries their join,
// at most Model, and External when there are none.
func DataOf(text string, from ...Label) Data { return newData(text, joined(from)) }

func newData(text string, l Label) Data {
	d := Data{text: text, label: l, bytesIn: len(text)}
	if !utf8.ValidString(text) {
		d.text, d.altered = validUTF8(text), true
	}
	return d
}

// validUTF8 replaces each byte that is not part of a character by U+FFFD.
func validUTF8(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2*utf8.UTFMax)
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}

// Text is the text.
func (d Data) Text() string { return d.text }

// Label says who chose it.
func (d Data) Label() Label { return d.label }

// BytesIn is the length in bytes before anything was cut or replaced.
func (d Data) BytesIn() int { return d.bytesIn }

// Truncated says whether the text was cut to a limit.
func (d Data) Truncated() bool { return d.truncated }

// Altered says whether bytes that are not UTF-8 were replaced.
func (d Data) Altered() bool { return d.altered }
