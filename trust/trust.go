// Package trust says who chose the characters of a value.
package trust

import (
	"github.com/pinfold-dev/pinfold/internal/raw"
	"github.com/pinfold-dev/pinfold/value"
)

// Level is who chose a value. The zero Level is LevelExternal.
type Level uint8

const (
	LevelExternal Level = iota
	LevelModel
	LevelAuthor
)

// Set is an immutable sorted set of strings. The zero Set is empty.
type Set struct{ p *[]string }

func NewSet(items ...string) Set   { panic("TODO") }
func (s Set) Len() int             { panic("TODO") }
func (s Set) Has(item string) bool { panic("TODO") }
func (s Set) Items() []string      { panic("TODO") } // sorted; a copy
func (s Set) Union(t Set) Set      { panic("TODO") } // no allocation when one holds the other
func (s Set) SubsetOf(t Set) bool  { panic("TODO") }
func (s Set) Equal(t Set) bool     { panic("TODO") }

// Label is level × sources × secrecy. The zero Label is External, from nowhere
// in particular, not secret. A Label is only a statement: constructors of Value
// and Data decide which labels they accept, and none but those of unchecked
// accepts one above Model.
type Label struct {
	level   Level
	sources Set
	secrecy Set
}

func From(origins ...string) Label                  { panic("TODO") } // External, from these origins
func ModelLabel(origins ...string) Label            { panic("TODO") } // Model, from these origins
func (l Label) Level() Level                        { panic("TODO") }
func (l Label) Sources() Set                        { panic("TODO") }
func (l Label) Secrecy() Set                        { panic("TODO") }
func (l Label) Tainted() bool                       { panic("TODO") } // level ≠ Author
func (l Label) External() bool                      { panic("TODO") }
func (l Label) Join(m Label) Label                  { panic("TODO") } // lower level, union, union
func (l Label) WithSecrecy(tags ...string) Label    { panic("TODO") }
func (l Label) WithSources(origins ...string) Label { panic("TODO") }
func (l Label) Lowered(to Level) Label              { panic("TODO") } // min(level, to)
func (l Label) Equal(m Label) bool                  { panic("TODO") }
func (l Label) String() string                      { panic("TODO") } // external[host:question tool:x]{pii}
func (l Label) Value() value.Value                  { panic("TODO") } // {"level","sources","secrecy"}
func LabelOf(v value.Value) Label                   { panic("TODO") } // the reverse; unknown or missing is External

// Text is the author's own text: a compile-time constant, a program's or
// template's own text, a registry's banner, or the text of a value whose level
// is Author.
type Text struct{ t raw.Text }

type constant string

func Const(s constant) Text   { panic("TODO") }
func FromRaw(t raw.Text) Text { panic("TODO") }
func (t Text) String() string { panic("TODO") }
func (t Text) Len() int       { panic("TODO") }
func Join(parts ...Text) Text { panic("TODO") }

// Bare is what may stand in a prompt without a fence: a Text or a Scalar.
type Bare interface{ bare() }

// Scalar is a number, boolean or time: it cannot carry text, so it needs no
// fence, but its label says who chose it.
type Scalar struct {
	text  string
	label Label
}

// Data is text with a label. It is always valid UTF-8.
type Data struct {
	text      string
	label     Label
	bytesIn   int
	truncated bool
	altered   bool
}

func External(origin, text string) Data      { panic("TODO") } // bytes that are not UTF-8 become U+FFFD, Altered
func DataOf(text string, from ...Label) Data { panic("TODO") } // derived text: the labels' join, at most Model
func (d Data) Text() string                  { panic("TODO") }
func (d Data) Label() Label                  { panic("TODO") }
func (d Data) BytesIn() int                  { panic("TODO") } // length before it was cut
func (d Data) Truncated() bool               { panic("TODO") }
func (d Data) Altered() bool                 { panic("TODO") }

// Value is any JSON value with its label. The zero Value is an External null.
type Value struct {
	v value.Value
	l Label
}

func NewValue(v value.Value, from ...Label) Value         { panic("TODO") } // the labels' join (no labels: External), at most Model
func FromRawValue(document raw.Text, v value.Value) Value { panic("TODO") } // Author: v was read out of the author's document
func (v Value) Value() value.Value                        { panic("TODO") }
func (v Value) Label() Label                              { panic("TODO") }
func (v Value) Lookup(path []string) (Value, bool)        { panic("TODO") } // a part carries the label of the whole
func (v Value) At(i int) Value                            { panic("TODO") }
func (v Value) Lower(by Label) Value                      { panic("TODO") } // joins by into the label
func (v Value) Data(limit int) Data                       { panic("TODO") } // its text (LANGUAGE.md §6), cut
func (v Value) Author() (Text, bool)                      { panic("TODO") } // its text, uncut, when the level is Author

// Format builds the text of an input template: author text and labelled values
// in order. The result carries the join of the parts' labels; text alone is Author.
type Piece struct {
	Text  Text
	Value *Value // nil: Text is used
}

func Format(limit int, pieces ...Piece) Value { panic("TODO") }
