package mkl

import (
	"cmp"
	"slices"

	"github.com/pinfold-dev/pinfold/mkl/yamltree"
)

// Parse reads one machine. The machine is nil when any diagnostic is an error.
// All diagnostics of the structure (MK1xx, MK2xx) are returned, by line; the
// warnings MK110 come from the strict reader alone. Whether the machine makes
// sense is package check's matter.
//
// The lenient reader ignores keys that it does not know, that another kind of
// state has, or that another policy has. It takes a gate without a target, a
// repair without a budget and a state with both sample and over, because a run
// has an answer to each (LANGUAGE.md §7.3, §16).
func Parse(src Source, mode Mode) (*Machine, []Diagnostic) {
	root, errs := yamltree.Read(src.Text)
	if root == nil {
		r := reader{src: src}
		for _, e := range errs {
			r.yaml(e)
		}
		return nil, r.done()
	}
	return FromNode(root, src, mode)
}

// FromNode reads a machine that stands inside another document: a conformance
// case's machine, an entry of its registry. Of src the name and the authorship
// count; the text is that of the node.
func FromNode(n *yamltree.Node, src Source, mode Mode) (*Machine, []Diagnostic) {
	r := reader{src: src, strict: mode == Strict}
	m := r.machine(n)
	diags := r.done()
	if r.failed {
		return nil, diags
	}
	return m, diags
}

// done gives the diagnostics by place. What an alias brings in twice is said once.
func (r *reader) done() []Diagnostic {
	slices.SortStableFunc(r.diags, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Code, b.Code))
	})
	return slices.CompactFunc(r.diags, func(a, b Diagnostic) bool {
		a.State, b.State = "", ""
		return a == b
	})
}
