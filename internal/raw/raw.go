// Package raw is the one door through which text becomes the author's own.
//
// It imports nothing and holds one type. Package trust wraps it (trust.FromRaw);
// only mkl (program text), prompt (templates), lane (banners) and trust/unchecked
// (the written escapes) may import it. deps_test.go at the root keeps that list.
//
// The shortest correct use, in an importer that has just read a program a person
// wrote:
//
//	t := trust.FromRaw(raw.Text{S: line})
package raw

// Text is text that its importer answers for: it was read from a program, a
// template or a registry that a person wrote, or vouched for with a reason.
type Text struct {
	// The unexported field is a wall. Without it a plain struct{ S string }{s},
	// which needs no import of this package, would be assignable to Text, and
	// trust.FromRaw would be open to everybody.
	_ struct{}

	S string
}
