package mkl

import "github.com/pinfold-dev/pinfold/mkl/yamltree"

// Parse reads one machine. The machine is nil when any diagnostic is an error;
// all diagnostics of the structure (MK1xx, MK2xx) are returned, by line.
func Parse(src Source, mode Mode) (*Machine, []Diagnostic) { panic("TODO") }

// FromNode reads a machine that stands inside another document: a conformance
// case's machine, an entry of its registry.
func FromNode(n *yamltree.Node, src Source, mode Mode) (*Machine, []Diagnostic) { panic("TODO") }

// ScanTemplate scans placeholders of text that the author's document holds.
// It is exported for the fuzzer and for tests of other rooms.
func ScanTemplate(text string, a Authorship) Template { panic("TODO") }

// Format rewrites a document in the standard layout, keeping comments. It is idempotent.
func Format(src []byte) ([]byte, error) { panic("TODO") }

// Canonical is the form that program hashes are made of (DESIGN.md, "Canonical form").
func Canonical(m *Machine) []byte { panic("TODO") }

// Hash is the lower-case hex SHA-256 of Canonical.
func Hash(m *Machine) string { panic("TODO") }
