package flow

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A put is something written to a buffer.
type put struct {
	call  ssa.CallInstruction
	kind  Kind
	parts []piece
	ctx   *ctx
	fn    *ssa.Function
}

// scan looks forward from an address or a container to everything that is
// written through it.
type scan struct {
	w    *walker
	it   item
	seen map[scanKey]bool
	puts []put
	hit  bool
	n    int
}

type scanKey struct {
	v    ssa.Value
	path *sel
	ctx  *ctx
}

// writes adds everything that is written through v (an address, a map, a slice,
// a writer) at the item's path, and reports whether there was anything.
func (w *walker) writes(it item, v ssa.Value) bool {
	s := &scan{w: w, it: it, seen: map[scanKey]bool{}}
	s.through(v, it.path, it.ctx)
	if len(s.puts) > 0 {
		s.flush()
	}
	return s.hit
}

// flush turns what was written to a buffer into compositions, in source order
// within each function: a fence may be written in three calls.
func (s *scan) flush() {
	type group struct {
		fn  *ssa.Function
		ctx *ctx
	}
	groups := map[group][]put{}
	var order []group
	for _, p := range s.puts {
		g := group{p.fn, p.ctx}
		if _, ok := groups[g]; !ok {
			order = append(order, g)
		}
		groups[g] = append(groups[g], p)
	}
	for _, g := range order {
		ps := groups[g]
		slices.SortStableFunc(ps, func(a, b put) int { return int(a.call.Pos()) - int(b.call.Pos()) })
		var all []piece
		for _, p := range ps {
			all = append(all, p.parts...)
		}
		it := s.it
		it.ctx, it.path = g.ctx, nil
		s.w.compose(it, token.NoPos, g.fn, Write, all)
	}
}

func (s *scan) emit(v ssa.Value, path *sel, c *ctx, pos token.Pos, what string) {
	s.hit = true
	it := s.it
	if what != "" && v.Parent() != nil {
		it = it.via(pos, v.Parent(), what)
	}
	s.w.add(it.to(v, path, c))
}

func (s *scan) through(v ssa.Value, path *sel, c *ctx) {
	k := scanKey{v, path, c}
	if s.seen[k] || s.n > 4000 {
		return
	}
	s.seen[k] = true
	s.n++
	refs := v.Referrers()
	if refs == nil {
		return
	}
	a := s.w.a
	escaped := false
	for _, instr := range *refs {
		switch i := instr.(type) {
		case *ssa.Store:
			switch {
			case i.Addr == v:
				s.emit(i.Val, path, c, i.Pos(), "")
			case s.spreadCall(i, path, c):
			default:
				escaped = true
			}
		case *ssa.FieldAddr:
			if i.X != v {
				continue
			}
			if path == nil {
				if !scalarType(a.table, i.Type().Underlying().(*types.Pointer).Elem()) {
					s.through(i, nil, c)
				}
			} else if path.f == i.Field {
				if otherRole(s.it.flags, v) {
					s.hit = true // it is a message, of somebody else's
					continue
				}
				s.through(i, path.next, c)
			}
		case *ssa.IndexAddr:
			if i.X == v && (path == nil || path.f == selElem) {
				var next *sel
				if path != nil {
					next = path.next
				}
				s.through(i, next, c)
			}
		case *ssa.MapUpdate:
			if i.Map == v {
				s.hit = true
				s.w.elem(s.it.via(i.Pos(), i.Parent(), "stored in a map"), elemStore{i.Key, i.Value}, path, c)
			} else {
				escaped = true
			}
		case *ssa.UnOp:
			if i.Op == token.MUL && isRef(i.Type()) {
				switch i.Type().Underlying().(type) {
				case *types.Map, *types.Slice:
					s.through(i, path, c)
				case *types.Pointer:
					switch v.(type) {
					case *ssa.Alloc, *ssa.IndexAddr:
						s.through(i, path, c)
					}
				}
			}
		case *ssa.Slice:
			if i.X == v {
				s.through(i, path, c)
			}
		case *ssa.MakeInterface:
			s.through(i, path, c)
		case *ssa.ChangeInterface:
			s.through(i, path, c)
		case *ssa.ChangeType:
			s.through(i, path, c)
		case *ssa.TypeAssert:
			s.through(i, path, c)
		case *ssa.Phi:
			if _, isPtr := v.Type().Underlying().(*types.Pointer); isPtr {
				s.through(i, path, c)
			}
		case *ssa.MakeClosure:
			fn, ok := i.Fn.(*ssa.Function)
			if !ok {
				continue
			}
			for k, b := range i.Bindings {
				if b == v && k < len(fn.FreeVars) {
					s.through(fn.FreeVars[k], path, nil)
				}
			}
		case ssa.CallInstruction:
			s.call(i, v, path, c)
		}
	}
	if escaped && !s.hit && path != nil && path.f >= 0 {
		s.hit = s.w.field(s.it, key(v, path.f), path.next, true) || s.hit
	}
}

// spreadCall handles v stored into the array behind the variadic arguments of a
// call. It reports whether that is what the store does.
func (s *scan) spreadCall(st *ssa.Store, path *sel, c *ctx) bool {
	ia, ok := st.Addr.(*ssa.IndexAddr)
	if !ok {
		return false
	}
	arr, ok := ia.X.(*ssa.Alloc)
	if !ok || arr.Comment != "varargs" {
		return false
	}
	k, ok := ia.Index.(*ssa.Const)
	if !ok {
		return false
	}
	done := false
	for _, r := range *arr.Referrers() {
		sl, ok := r.(*ssa.Slice)
		if !ok {
			continue
		}
		for _, rr := range *sl.Referrers() {
			call, ok := rr.(ssa.CallInstruction)
			if !ok {
				continue
			}
			done = true
			com := call.Common()
			i := len(com.Args) - 1
			fn := calleeFunc(call)
			callees := s.w.a.callees[call]
			if len(callees) > 0 && !s.known(fn) {
				for _, callee := range callees {
					n := i
					if com.IsInvoke() {
						n++
					}
					if n < len(callee.Params) {
						s.through(callee.Params[n], s.w.a.sel(selElem, path), s.w.a.push(c, call))
					}
				}
				continue
			}
			s.handed(call, fn, outCall{call, i, int(k.Int64())}, path, c)
		}
	}
	return done
}

// call looks at a call that was handed v.
func (s *scan) call(call ssa.CallInstruction, v ssa.Value, path *sel, c *ctx) {
	a := s.w.a
	com := call.Common()
	fn := calleeFunc(call)
	if b, ok := com.Value.(*ssa.Builtin); ok {
		if b.Name() == "copy" && com.Args[0] == v {
			s.emit(com.Args[1], path, c, call.Pos(), "copied")
		}
		return
	}
	if com.IsInvoke() && com.Value == v {
		if s.buffer(call, fn, c) {
			return
		}
		for _, callee := range a.callees[call] {
			if len(callee.Params) > 0 {
				s.through(callee.Params[0], path, a.push(c, call))
			}
		}
	}
	for i, arg := range com.Args {
		if arg != v {
			continue
		}
		if callees := a.callees[call]; len(callees) > 0 && !s.known(fn) {
			for _, callee := range callees {
				k := i
				if com.IsInvoke() {
					k++
				}
				if k < len(callee.Params) {
					s.through(callee.Params[k], path, a.push(c, call))
				}
			}
			continue
		}
		if i == 0 && !com.IsInvoke() && fn != nil && fn.Signature().Recv() != nil {
			if s.buffer(call, fn, c) {
				continue
			}
		}
		s.handed(call, fn, outCall{call, i, -1}, path, c)
	}
}

// known reports whether the tables describe fn, so that its body is not read.
func (s *scan) known(fn *types.Func) bool {
	for _, verb := range []string{"out", "write", "alias"} {
		if _, ok := s.w.a.table.function(verb, fn); ok {
			return true
		}
	}
	return false
}

// buffer handles a method that appends to its receiver.
func (s *scan) buffer(call ssa.CallInstruction, fn *types.Func, c *ctx) bool {
	r, ok := s.w.a.table.function("write", fn)
	if !ok {
		return false
	}
	var parts []piece
	kind := Write
	for i, v := range s.w.a.spread(call) {
		if r.args.has(i) {
			p := s.w.piece(v, call.Pos(), kind)
			p.arg = i + 1
			parts = append(parts, p)
		}
	}
	s.put(call, kind, parts, c)
	return true
}

func (s *scan) put(call ssa.CallInstruction, kind Kind, parts []piece, c *ctx) {
	s.hit = true
	s.puts = append(s.puts, put{call, kind, parts, c, call.Parent()})
}

// handed looks at a function outside the program that was handed v as an
// argument.
func (s *scan) handed(call ssa.CallInstruction, fn *types.Func, o outCall, path *sel, c *ctx) {
	w := s.w
	if fn == nil || fn.Pkg() == nil {
		return
	}
	idx := w.a.argIndex(call, o)
	name := fn.Pkg().Path() + "." + funcKey(fn)
	all := w.a.spread(call)
	if idx == 0 || idx < 0 {
		switch name {
		case "fmt.Fprintf":
			s.put(call, Format, w.format(all[1:], call), c)
			return
		case "fmt.Fprint", "fmt.Fprintln":
			var parts []piece
			for _, v := range w.restArgs(call, 1) {
				parts = append(parts, w.piece(v, call.Pos(), Format))
			}
			s.put(call, Format, parts, c)
			return
		case "io.WriteString":
			s.put(call, Write, []piece{w.piece(all[1], call.Pos(), Write)}, c)
			return
		case "text/template.Template.Execute", "html/template.Template.Execute":
			if idx == 0 {
				s.put(call, Template, w.template(s.it, call, nil, all[1], c), c)
			}
			return
		case "text/template.Template.ExecuteTemplate", "html/template.Template.ExecuteTemplate":
			if idx == 0 {
				s.put(call, Template, w.template(s.it, call, all[1], all[2], c), c)
			}
			return
		case "encoding/json.Indent", "encoding/json.Compact", "encoding/json.HTMLEscape":
			if idx == 0 {
				s.put(call, Write, []piece{w.piece(all[1], call.Pos(), Write)}, c)
			}
			return
		}
	}
	if r, ok := w.a.table.function("alias", fn); ok && r.args.has(idx) {
		if val := call.Value(); val != nil {
			s.through(val, path, c)
		}
		return
	}
	it := s.it
	it.path = path
	it = it.via(call.Pos(), call.Parent(), "filled by "+shortTypes(fn))
	if w.out(it, o, fieldKey{}, c) {
		s.hit = true
	}
}

// out follows a call outside the program that wrote what the item is after. It
// reports whether the call is taken to have written anything.
func (w *walker) out(it item, o outCall, k fieldKey, c *ctx) bool {
	a := w.a
	fn := calleeFunc(o.call)
	if fn == nil {
		return false
	}
	r, ok := a.table.function("out", fn)
	if !ok {
		if o.arg < 0 { // an instance over the type: pgx.CollectRows[T]
			if r, ok := a.table.function("result", fn); ok && r.class.Authority() == SQL {
				w.sqlLeaf(it, o.call, o, shortTypes(fn), o.call.Pos())
				w.lastOriginField(it, k)
				return true
			}
			return false
		}
		return w.maybeOut(it, o, fn)
	}
	if r.class == "skip" || !r.args.has(a.argIndex(o.call, o)) {
		return false
	}
	if r.flows {
		it.flags |= fStored // how a document was put together is not how the prompt was
		w.flowsFrom(it, o.call, r.from, c)
		return true
	}
	detail := describeCall(o.call.Common())
	switch r.class {
	case "sql":
		w.sqlOut(it, o, r, k, c)
	case "orm":
		w.ormOut(it, o, k)
	default:
		w.leaf(it, r.class, detail, o.call.Pos())
	}
	return true
}

// maybeOut decides about a call that no table names: one that takes an any, or a
// pointer into text, may have written it.
func (w *walker) maybeOut(it item, o outCall, fn *types.Func) bool {
	com := o.call.Common()
	if isKnownReader(fn) {
		return false
	}
	var arg ssa.Value
	if elems, ok := variadic(o.call, o.arg); ok && o.elem >= 0 {
		arg = elems[o.elem]
	} else if o.arg >= 0 && o.arg < len(com.Args) {
		arg = com.Args[o.arg]
	}
	if arg == nil {
		return false
	}
	mi, isAny := arg.(*ssa.MakeInterface)
	if isAny {
		if _, ptr := mi.X.Type().Underlying().(*types.Pointer); !ptr {
			return false
		}
		if i, ok := mi.Type().Underlying().(*types.Interface); !ok || i.NumMethods() > 0 {
			return false // handed over as something with behaviour, not as memory
		}
	} else {
		p, ok := arg.Type().Underlying().(*types.Pointer)
		if !ok {
			return false
		}
		if _, basic := p.Elem().Underlying().(*types.Basic); !basic {
			return false
		}
	}
	if _, ok := w.a.table.function("pass", fn); ok {
		return false
	}
	w.leaf(it, UnknownCall, "written by "+shortTypes(fn), o.call.Pos())
	return true
}

// isKnownReader lists the standard library's takers of any that only read it.
func isKnownReader(fn *types.Func) bool {
	switch fn.Pkg().Path() {
	case "fmt", "log", "log/slog", "encoding/json", "reflect", "testing", "errors", "sync", "context", "text/template", "html/template":
		return true
	}
	return false
}

// flowsFrom follows the arguments of a call that the set names.
func (w *walker) flowsFrom(it item, call ssa.CallInstruction, from args, c *ctx) {
	com := call.Common()
	if from.recv {
		if com.IsInvoke() {
			w.add(it.to(com.Value, nil, c))
		} else if fn := calleeFunc(call); fn != nil && fn.Signature().Recv() != nil && len(com.Args) > 0 {
			w.add(it.to(com.Args[0], nil, c))
		}
	}
	all := w.a.spread(call)
	for i, v := range all {
		if from.has(i) && carriesAnything(v.Type()) {
			w.add(it.to(v, nil, c))
		}
	}
}

// carriesAnything is false for the types that are never the text itself: flags,
// contexts, functions.
func carriesAnything(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&(types.IsBoolean|types.IsNumeric) == 0 || u.Kind() == types.Byte
	case *types.Signature:
		return false
	}
	if n := namedOf(t); n != nil && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "context" {
		return false
	}
	return true
}
