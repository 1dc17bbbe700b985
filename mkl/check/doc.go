// Package check says what is wrong with a machine before it runs, and what is
// legal and probably not meant.
//
// It never runs anything, never reads a file, never asks a model, and never
// changes what a machine does: a machine with warnings runs as it is. It looks
// at one document and, through a [Registry], at the machines that it can call.
//
//	report := check.File(mkl.Source{Name: "triage.mkl", Text: text, Authorship: mkl.AuthorshipOperator},
//		check.Options{Lint: true, Registry: registry})
//	for _, d := range report.Diagnostics {
//		fmt.Println(d) // MK302 14:40 a gate of state ‹draft› leads to ‹serach›, which names no state
//	}
//
// [Check] gives errors and warnings about what a machine means (MK3xx,
// LANGUAGE.md §4), [Lint] findings and notes (MK4xx, §5), [Prepare] what a host
// lacks to run it (MK320, MK321). Every code has its documentation, [Doc], and
// a page under docs/codes that is generated from it.
//
// All of it takes time linear in the document and the documents it can call.
package check

//go:generate go test -run ^TestPages$ . -update
