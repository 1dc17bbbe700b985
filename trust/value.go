package trust

import (
	"strings"

	"github.com/pinfold-dev/pinfold/internal/raw"
	"github.com/pinfold-dev/pinfold/value"
)

// Value is any value of the language with its label. The zero Value is an External
// null.
type Value struct {
	v value.Value
	l Label
}

// NewValue is a value derived from things with the given labels: it carries their
// join, at most Model, and External when there are none.
func NewValue(v value.Value, from ...Label) Value { return Value{v, joined(from)} }

// FromRawValue is Author: v was read out of the author's document. A document that
// nobody made answers for nothing: v is External.
func FromRawValue(document raw.Text, v value.Value) Value {
	if !document.Made() {
		return Value{v, Label{}}
	}
	return Value{v, Label{level: LevelAuthor}}
}

// FromRawLabel gives v exactly the label l. It is the door of trust/unchecked: the
// importer of internal/raw answers for the label, and reason says why.
func FromRawLabel(reason raw.Text, v value.Value, l Label) Value {
	if !reason.Made() {
		return Value{v, l.Lowered(LevelExternal)}
	}
	return Value{v, l}
}

// Value is the value without its label.
func (v Value) Value() value.Value { return v.v }

// Label says who chose it.
func (v Value) Label() Label { return v.l }

// Lookup is the part at the path (LANGUAGE.md §6: maps only). A part carries the
// label of the whole. A missing part is a null with that label, and false.
func (v Value) Lookup(path []string) (Value, bool) {
	part, ok := v.v.Lookup(path)
	return Value{part, v.l}, ok
}

// At is item i of a list, or the value of entry i of a map, with the label of the
// whole. Like an index into a slice, i is within the length, or At panics.
func (v Value) At(i int) Value { return Value{v.v.At(i), v.l} }

// Lower joins by into the label.
func (v Value) Lower(by Label) Value { return Value{v.v, v.l.Join(by)} }

// WithSources is v with origins added to its label.
func (v Value) WithSources(origins ...string) Value { return Value{v.v, v.l.WithSources(origins...)} }

// WithSecrecy is v with tags added to its label.
func (v Value) WithSecrecy(tags ...string) Value { return Value{v.v, v.l.WithSecrecy(tags...)} }

// Data is the text of the value (LANGUAGE.md §6), cut to limit characters with a
// visible marker; limit ≤ 0 means no limit. It carries the label of the value.
func (v Value) Data(limit int) Data {
	text, truncated := v.v.Text(limit)
	d := Data{text: text, label: v.l, bytesIn: len(text), truncated: truncated}
	if truncated {
		if s, ok := v.v.AsString(); ok {
			d.bytesIn = len(s)
		} else {
			whole, _ := v.v.Text(0)
			d.bytesIn = len(whole)
		}
	}
	return d
}

// Author is the text of the value, uncut, when its level is Author, and otherwise
// nothing and false.
func (v Value) Author() (Text, bool) {
	if v.l.level != LevelAuthor {
		return Text{}, false
	}
	text, _ := v.v.Text(0)
	return Text{text}, true
}

// Scalar is the value as a Scalar with its own label, when it is a number or a
// boolean.
func (v Value) Scalar() (Scalar, bool) {
	switch v.v.Kind() {
	case value.Bool, value.Int, value.Float:
		text, _ := v.v.Text(0)
		return Scalar{text, v.l}, true
	}
	return Scalar{}, false
}

// Piece is one part of what Format puts together.
type Piece struct {
	Text  Text
	Value *Value // nil: Text is used
}

// Format builds the text of an input template: author text and labelled values
// in order, each value's text cut to limit characters (≤ 0: uncut). The result
// carries the join of the values' labels; text alone is Author.
func Format(limit int, pieces ...Piece) Value {
	out := Value{l: Label{level: LevelAuthor}}
	if len(pieces) == 1 && pieces[0].Value == nil {
		out.v = value.FromString(pieces[0].Text.String())
		return out
	}
	var b strings.Builder
	for _, p := range pieces {
		if p.Value == nil {
			b.WriteString(p.Text.String())
			continue
		}
		text, _ := p.Value.v.Text(limit)
		b.WriteString(text)
		out.l = out.l.Join(p.Value.l)
	}
	out.v = value.FromString(b.String())
	return out
}
