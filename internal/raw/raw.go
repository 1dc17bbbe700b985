// Package raw is the one door through which text becomes the author's own.
//
// It imports nothing and holds one type. Package trust wraps it (trust.FromRaw);
// only mkl (program text), prompt (templates), lane (banners) and trust/unchecked
// (the written escapes) may import it. deps_test.go at the root keeps that list.
package raw

// Text is text that its importer answers for: it was read from a program, a
// template or a registry that a person wrote, or vouched for with a reason.
type Text struct{ S string }
