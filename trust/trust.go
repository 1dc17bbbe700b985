// Package trust says who chose the characters of a value.
//
// The question is authorship, not sensitivity and not storage: a row of our own
// database is outside data when a stranger could cause its text to be there, and
// what a model writes from a poisoned page is poisoned, only shorter (TRUST.md §1).
//
// # Types
//
//   - Label: level × sources × secrecy. The zero Label is External.
//   - Text: the author's own text. It may stand in a prompt as it is.
//   - Scalar: a number, boolean or time with its label. It needs no fence, because
//     it cannot carry text; its label still says who chose it.
//   - Data: text with a label. Package fence fences it unless its level is Author.
//   - Value: any value of the .mkl language with its label.
//
// The shortest correct use is to say where text came from, and nothing else:
//
//	d := trust.External("tool:search_kb", page)
//
// # Threat model
//
// The adversary chooses the text, the keys and the shape of any value that enters,
// including values shaped like our own labels, and sees this source. The programmer
// is careless, not hostile. What is defended is the claim "level Author".
//
// # Properties
//
//   - Labels only go down. Every operation on values gives the join of the labels of
//     what it read, or something lower.
//   - A Label is a statement and opens nothing: NewValue, DataOf, Int, Float, Bool
//     and Time take any Label and give at most LevelModel.
//   - Author things come from exactly these places: Const and ConstInt, whose
//     parameters have unexported types that only constants fit; the functions that
//     take a raw.Text, which only the importers of internal/raw can make;
//     trust/unchecked, whose import is what an audit lists; and operations that keep
//     the level of an Author value (Lookup, At, Lower, WithSources, WithSecrecy,
//     Author, Data, Scalar, Trim, Format, Join). A test holds that list against the exported interface.
//   - Forgetting is safe: every zero value of this package is External or empty.
//   - Labels are not read out of values. A map that looks like a label is a map.
//
// # Limits
//
// Reflection, unsafe and a generic function instantiated over the constant types
// can get round the types; pinfoldvet reports those. Trust says nothing about
// truth. Package trust never logs, never reads a clock, and never looks at content
// for attacks.
package trust

// Level is who chose a value. The zero Level is LevelExternal (TRUST.md §2).
type Level uint8

// The levels, lowest first. The join of two levels is the lower one.
const (
	LevelExternal Level = iota // somebody outside the run chose it, or it was derived from such a value
	LevelModel                 // written by a model from Author data alone
	LevelAuthor                // the author's own, or vouched for
)

// String gives external, model or author. A number that is no level is external.
func (l Level) String() string {
	switch l {
	case LevelModel:
		return "model"
	case LevelAuthor:
		return "author"
	}
	return "external"
}

// levelOf is the reverse of String; anything else is LevelExternal and not ok.
// It is exact: case and white space matter, so that a misspelling is never Author.
func levelOf(s string) (Level, bool) {
	switch s {
	case "external":
		return LevelExternal, true
	case "model":
		return LevelModel, true
	case "author":
		return LevelAuthor, true
	}
	return LevelExternal, false
}
