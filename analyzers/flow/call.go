package flow

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// call walks into result idx of a call.
func (w *walker) call(it item, call *ssa.Call, idx int) {
	a := w.a
	com := call.Common()
	if b, ok := com.Value.(*ssa.Builtin); ok {
		w.builtin(it, call, b)
		return
	}
	fn := calleeFunc(call)
	if fn != nil && fn.Pkg() != nil {
		if w.composing(it, call, fn, idx) || w.library(it, call, fn, idx) {
			return
		}
	}
	callees := a.callees[call]
	for _, callee := range callees {
		w.returns(it, call, callee, idx)
	}
	if len(callees) > 0 {
		return
	}
	if fn == nil {
		// A call of a function value whose targets are not in the program: a
		// callback of a library, or a field nobody sets.
		w.leaf(it, UnknownDynamic, describe(call), call.Pos())
		return
	}
	if a.in.Facts != nil {
		if s, ok := a.in.Facts.Summary(fn); ok && idx < len(s.Results) {
			w.summary(it, call, s.Results[idx])
			return
		}
	}
	w.outside(it, call, fn, idx)
}

func (w *walker) returns(it item, call *ssa.Call, callee *ssa.Function, idx int) {
	c := w.a.push(it.ctx, call)
	for _, b := range callee.Blocks {
		if len(b.Instrs) == 0 {
			continue
		}
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok || idx >= len(ret.Results) {
			continue
		}
		next := it.to(ret.Results[idx], it.path, c)
		next = next.via(call.Pos(), call.Parent(), "returned by "+shortFunc(callee)).deeper()
		w.add(next)
	}
}

func (w *walker) summary(it item, call *ssa.Call, r Result) {
	com := call.Common()
	for _, p := range r.Params {
		i := p
		if com.IsInvoke() {
			if p == 0 {
				w.add(it.to(com.Value, nil, it.ctx))
				continue
			}
			i--
		}
		if i < len(com.Args) {
			w.add(it.to(com.Args[i], nil, it.ctx))
		}
	}
	for _, o := range r.Origins {
		next := it
		next.frames += o.Frames + 1
		w.leaf(next, o.Class, o.Detail+" ("+o.At+")", call.Pos())
	}
}

func (w *walker) builtin(it item, call *ssa.Call, b *ssa.Builtin) {
	args := call.Common().Args
	switch b.Name() {
	case "append":
		w.add(it.to(args[0], it.path, it.ctx))
		if len(args) > 1 {
			if elems, ok := sliceElems(args[1]); ok {
				for _, e := range elems {
					w.elem(it, elemStore{nil, e}, it.path, it.ctx)
				}
				return
			}
			w.add(it.to(args[1], it.path, it.ctx))
		}
	case "len", "cap", "copy", "complex", "real", "imag":
		w.leaf(it, Length, describe(call), call.Pos())
	default: // min, max, ssa:wrapnilchk, ssa:deferstack
		for _, v := range args {
			w.add(it.to(v, it.path, it.ctx))
		}
	}
}

// composing handles the library functions that put text together.
func (w *walker) composing(it item, call *ssa.Call, fn *types.Func, idx int) bool {
	if idx > 0 && fn.Pkg().Path() != "fmt" {
		if _, isErr := call.Type().(*types.Tuple); isErr && resultIsError(call, idx) {
			return false
		}
	}
	all := w.a.spread(call)
	pos := call.Pos()
	name := fn.Pkg().Path() + "." + funcKey(fn)
	one := func(k Kind, vs ...ssa.Value) []piece {
		var out []piece
		for _, v := range vs {
			p := w.piece(v, pos, k)
			for i, arg := range all {
				if arg == v {
					p.arg = i + 1
				}
			}
			out = append(out, p)
		}
		return out
	}
	switch name {
	case "fmt.Sprintf", "fmt.Errorf":
		w.compose(it, pos, call.Parent(), Format, w.format(all, call))
	case "fmt.Appendf":
		w.add(it.to(all[0], it.path, it.ctx))
		w.compose(it, pos, call.Parent(), Format, w.format(all[1:], call))
	case "fmt.Sprint", "fmt.Sprintln":
		w.compose(it, pos, call.Parent(), Format, one(Format, all...))
	case "strings.Join", "bytes.Join":
		if elems, ok := sliceElems(all[0]); ok {
			w.compose(it, pos, call.Parent(), Join, one(Join, elems...))
		} else {
			w.compose(it, pos, call.Parent(), Join, []piece{{v: all[0], path: w.a.sel(selElem, nil), pos: pos, kind: Join}})
		}
		w.add(it.to(all[1], nil, it.ctx))
	case "strings.Replace", "strings.ReplaceAll", "bytes.Replace", "bytes.ReplaceAll":
		w.add(it.to(all[0], nil, it.ctx))
		w.compose(it, pos, call.Parent(), Replace, one(Replace, all[2]))
	case "regexp.Regexp.ReplaceAllString", "regexp.Regexp.ReplaceAllLiteralString", "regexp.Regexp.ReplaceAll", "regexp.Regexp.ReplaceAllLiteral":
		w.add(it.to(all[0], nil, it.ctx))
		w.compose(it, pos, call.Parent(), Replace, one(Replace, all[1]))
	case "regexp.Regexp.ReplaceAllStringFunc", "regexp.Regexp.ReplaceAllFunc":
		w.add(it.to(all[0], nil, it.ctx))
		w.funcResults(it, all[1])
	case "strings.Map":
		w.add(it.to(all[1], nil, it.ctx))
	case "strings.Replacer.Replace":
		w.add(it.to(all[0], nil, it.ctx))
		if r, ok := call.Common().Args[0].(*ssa.Call); ok && shortTypes(calleeFunc(r)) == "strings.NewReplacer" {
			pairs := w.a.spread(r)
			var vals []ssa.Value
			for i := 1; i < len(pairs); i += 2 {
				vals = append(vals, pairs[i])
			}
			w.compose(it, r.Pos(), call.Parent(), Replace, one(Replace, vals...))
		} else {
			w.add(it.to(call.Common().Args[0], nil, it.ctx))
		}
	case "strings.NewReplacer":
		var vals []ssa.Value
		for i := 1; i < len(all); i += 2 {
			vals = append(vals, all[i])
		}
		w.compose(it, pos, call.Parent(), Replace, one(Replace, vals...))
	case "encoding/json.Marshal", "encoding/json.MarshalIndent", "encoding/xml.Marshal", "encoding/xml.MarshalIndent":
		w.compose(it, pos, call.Parent(), Marshal, one(Marshal, all[0]))
	case "errors.New":
		w.add(it.to(all[0], nil, it.ctx))
	default:
		if strings.HasSuffix(name, "yaml.Marshal") || strings.HasSuffix(name, "yaml.v3.Marshal") || strings.HasSuffix(name, "yaml.v2.Marshal") {
			w.compose(it, pos, call.Parent(), Marshal, one(Marshal, all[0]))
			return true
		}
		return false
	}
	return true
}

// funcResults walks into what a function value returns.
func (w *walker) funcResults(it item, v ssa.Value) {
	var fn *ssa.Function
	switch f := v.(type) {
	case *ssa.MakeClosure:
		fn, _ = f.Fn.(*ssa.Function)
	case *ssa.Function:
		fn = f
	}
	if fn == nil {
		w.leaf(it, UnknownDynamic, describe(v), posOf(v))
		return
	}
	for _, b := range fn.Blocks {
		if len(b.Instrs) == 0 {
			continue
		}
		if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && len(ret.Results) > 0 {
			w.add(it.to(ret.Results[0], nil, nil).deeper())
		}
	}
}

func resultIsError(call *ssa.Call, idx int) bool {
	t, ok := call.Type().(*types.Tuple)
	if !ok || idx >= t.Len() {
		return false
	}
	return isError(t.At(idx).Type())
}

func isError(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() == nil && n.Obj().Name() == "error"
}

// library answers from the tables. It reports whether it did.
func (w *walker) library(it item, call *ssa.Call, fn *types.Func, idx int) bool {
	a := w.a
	com := call.Common()
	name := shortTypes(fn)
	if _, ok := a.table.function("fence", fn); ok {
		next := it
		next.flags |= fFenced
		w.flowsFrom(next.via(call.Pos(), call.Parent(), "fenced by "+name), call, args{all: true, from: -1}, it.ctx)
		return true
	}
	if reason, ok := vouched(fn, a.spread(call)); ok {
		o := w.leaf(it, VouchedText, reason, call.Pos())
		o.Reason = reason
		return true
	}
	if _, ok := a.table.function("const", fn); ok {
		w.leaf(it, Constant, "", token.NoPos)
		return true
	}
	if isErrorMethod(fn) {
		// The text of an error: what made it is behind the interface.
		w.add(it.to(com.Value, it.path, it.ctx))
		return len(a.callees[call]) == 0
	}
	if resultIsError(call, idx) && len(a.callees[call]) == 0 {
		w.leaf(it, UnknownError, "an error of "+name, call.Pos())
		return true
	}
	if r, ok := a.table.function("result", fn); ok {
		w.classified(it, r.class, describe(call), call.Pos())
		return true
	}
	if recv := fn.Signature().Recv(); recv != nil {
		if r, ok := a.table.named("type", recv.Type()); ok && !w.declaredHere(fn) {
			w.classified(it, r.class, describe(call), call.Pos())
			return true
		}
		if _, ok := a.table.named("scalar", recv.Type()); ok {
			next := it
			next.flags |= fScalar
			w.flowsFrom(next, call, args{recv: true, from: -1}, it.ctx)
			return true
		}
	}
	if _, ok := a.table.function("scalar", fn); ok {
		next := it
		next.flags |= fScalar
		w.flowsFrom(next, call, args{all: true, recv: true, from: -1}, it.ctx)
		if len(a.spread(call)) == 0 && fn.Signature().Recv() == nil {
			w.leaf(next, Length, describe(call), call.Pos())
		}
		return true
	}
	if r, ok := a.table.function("pass", fn); ok {
		w.flowsFrom(it, call, r.args, it.ctx)
		return true
	}
	return false
}

func isErrorMethod(fn *types.Func) bool {
	return fn.Name() == "Error" && fn.Signature().Params().Len() == 0 && fn.Signature().Recv() != nil && fn.Pkg() == nil
}

// declaredHere reports whether fn's body is in the program.
func (w *walker) declaredHere(fn *types.Func) bool { return false }

func vouched(fn *types.Func, args []ssa.Value) (string, bool) {
	if fn.Pkg().Path() != "github.com/pinfold-dev/pinfold/trust/unchecked" {
		return "", false
	}
	reason := "no reason given"
	if len(args) > 0 {
		if s, ok := constString(args[len(args)-1]); ok {
			reason = s
		}
	}
	return reason, true
}

// outside decides about a function that no table names and whose body is not at
// hand.
func (w *walker) outside(it item, call *ssa.Call, fn *types.Func, idx int) {
	a := w.a
	name := shortTypes(fn)
	if fn.Pkg() == nil { // a method of error or of a built-in interface
		w.add(it.to(call.Common().Value, it.path, it.ctx))
		return
	}
	if c, ok := a.table.belowClass(fn.Pkg().Path()); ok {
		w.leaf(it, c, describe(call), call.Pos())
		return
	}
	sig := fn.Signature()
	// A getter of something: it is what the something is. Anything that takes a
	// context or can fail is an operation, and its result came from wherever.
	op := false
	for i := range sig.Results().Len() {
		op = op || isError(sig.Results().At(i).Type())
	}
	for i := range sig.Params().Len() {
		if n := namedOf(sig.Params().At(i).Type()); n != nil && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "context" {
			op = true
		}
	}
	if sig.Recv() != nil && !op {
		w.flowsFrom(it, call, args{recv: true, all: true, from: -1}, it.ctx)
		return
	}
	w.leaf(it, UnknownCall, describe(call)+" ("+name+")", call.Pos())
}
