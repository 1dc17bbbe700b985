package flow

import (
	"go/token"
	"sort"

	"golang.org/x/tools/go/ssa"
)

func sortStrings(s []string) { sort.Strings(s) }

func (w *walker) sqlLeaf(it item, call ssa.CallInstruction, o outCall, detail string, pos token.Pos) {
	w.leaf(it, SQLColumn, detail, pos)
}
func (w *walker) lastOriginField(it item, k fieldKey) {}
func (w *walker) sqlOut(it item, o outCall, r rule, k fieldKey, c *ctx) {
	w.leaf(it, SQLColumn, describeCall(o.call.Common()), o.call.Pos())
}
func (w *walker) ormOut(it item, o outCall, k fieldKey) {
	w.leaf(it, ORMField, describeCall(o.call.Common()), o.call.Pos())
}
