// Package raw is the one door through which text becomes the author's own.
//
// It imports nothing and holds one type. Package trust wraps it (trust.FromRaw);
// only mkl (program text), prompt (templates), lane (banners) and trust/unchecked
// (the written escapes) may import it. deps_test.go at the root keeps that list.
//
// The shortest correct use, in an importer that has just read a program a person
// wrote:
//
//	t := trust.FromRaw(raw.Of(line))
package raw

// Text is text that its importer answers for: it was read from a program, a
// template or a registry that a person wrote, or vouched for with a reason.
//
// Its fields are unexported: neither a conversion nor a decoder can make one, in
// a generic function that never names this package either. The zero Text was
// made by nobody and answers for nothing.
type Text struct {
	s    string
	made bool
}

// Of is text that the caller answers for.
func Of(s string) Text { return Text{s, true} }

// String is the text.
func (t Text) String() string { return t.s }

// Made says whether Of made it.
func (t Text) Made() bool { return t.made }
