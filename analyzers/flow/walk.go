package flow

import (
	"go/token"
	"go/types"
	"sort"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A hop is a node of the walk, kept so that the way can be told afterwards.
type hop struct {
	prev *hop
	pos  token.Pos
	fn   *ssa.Function
	what string
}

type flags uint8

const (
	fScalar flags = 1 << iota // the value has been a number, a time or the like
	fFenced                   // it stands inside a fence
	fStored                   // it came out of a field or a variable of the package: how that was put together is the origin's business
)

// item is a unit of work: what is v, or what v points to, at path.
type item struct {
	slot   *Slot
	v      ssa.Value
	path   *sel
	ctx    *ctx
	flags  flags
	frames int
	hop    *hop
}

type itemKey struct {
	slot  *Slot
	v     ssa.Value
	path  *sel
	ctx   *ctx
	flags flags
}

type originKey struct {
	class  Class
	detail string
	pos    token.Pos
	flags  flags
}

type holeKey struct {
	pos token.Pos
	idx int
	k   string
}

// walker is one exploration. A whole audit is one walker over every sink; small
// questions (is this random? what is this query?) are walkers of their own.
type walker struct {
	a     *Analysis
	queue []item
	seen  map[itemKey]bool
	holes map[holeKey]*Slot
	order []*Slot
	limit int
	flat  bool // holes do not open slots of their own
	small bool // a sub-walk: asks no sub-walks itself

	summing *ssa.Function // its parameters end the walk
}

func (a *Analysis) walker() *walker {
	return &walker{a: a, seen: map[itemKey]bool{}, holes: map[holeKey]*Slot{}, limit: a.in.Limit}
}

// Sinks lists every place where text becomes model input, in source order.
func (a *Analysis) Sinks() []Sink {
	var out []Sink
	for i := range a.sinks {
		out = append(out, a.sinkOf(&a.sinks[i]))
	}
	return out
}

func (a *Analysis) sinkOf(s *sink) Sink {
	return Sink{Func: s.name, Role: s.role, Pos: a.fset.Position(s.pos), In: funcName(s.fn)}
}

// Slots finds every slot of every sink and walks back from each.
func (a *Analysis) Slots() []*Slot {
	w := a.walker()
	roots := map[holeKey]*Slot{}
	for i := range a.sinks {
		s := &a.sinks[i]
		for k, v := range s.vals {
			// A generic function is built once an instance: one root for all.
			rk := holeKey{s.pos, k, s.name}
			slot := roots[rk]
			if slot == nil {
				slot = w.newSlot(Whole, v, s.pos, s.fn)
				roots[rk] = slot
				slot.roots = append(slot.roots, s)
			}
			w.add(item{slot: slot, v: v, flags: roleFlag(s.role), hop: &hop{pos: s.pos, fn: s.fn, what: "reaches " + s.name}})
		}
	}
	w.run()
	return w.finish()
}

func (w *walker) newSlot(k Kind, v ssa.Value, pos token.Pos, fn *ssa.Function) *Slot {
	s := &Slot{Kind: k, pos: pos, fn: fn, byKey: map[originKey]*Origin{}}
	s.Name = describe(v)
	s.Pos = w.a.fset.Position(pos)
	s.In = funcName(fn)
	if fn != nil {
		if p := pkgOf(fn); p != nil {
			s.Package = p.Path()
		}
	}
	w.order = append(w.order, s)
	return s
}

func (w *walker) add(it item) {
	if it.v == nil {
		return
	}
	for it.path != nil && it.path.f == selAssert {
		is, maybe := holds(it.v.Type(), it.path.typ)
		if is {
			it.path = it.path.next
			continue
		}
		if maybe {
			break
		}
		return
	}
	if scalarType(w.a.table, it.v.Type()) && it.path == nil {
		it.flags |= fScalar
	}
	k := itemKey{it.slot, it.v, it.path, it.ctx, it.flags}
	if w.seen[k] {
		return
	}
	w.seen[k] = true
	it.slot.steps++
	if it.slot.steps > w.limit {
		if !it.slot.gaveUp {
			it.slot.gaveUp = true
			w.leaf(it, UnknownLimit, "the walk gave up after "+itoa(w.limit)+" steps", it.v.Pos())
		}
		return
	}
	w.queue = append(w.queue, it)
}

func (w *walker) run() {
	for i := 0; i < len(w.queue); i++ {
		it := w.queue[i]
		w.queue[i] = item{}
		w.step(it)
	}
	w.queue = nil
}

// to derives an item: the same slot, another value.
func (it item) to(v ssa.Value, path *sel, c *ctx) item {
	it.v, it.path, it.ctx = v, path, c
	return it
}

func (it item) via(pos token.Pos, fn *ssa.Function, what string) item {
	it.hop = &hop{prev: it.hop, pos: pos, fn: fn, what: what}
	return it
}

// stored marks an item that was taken out of storage. The text of a whole message
// may well be kept in a field; what is put into a hole from one is one value.
func (it item) stored() item {
	if it.slot.Kind != Whole {
		it.flags |= fStored
	}
	return it
}

func (it item) deeper() item {
	it.frames++
	return it
}

func (w *walker) leaf(it item, c Class, detail string, pos token.Pos) *Origin {
	if !pos.IsValid() && it.hop != nil {
		pos = it.hop.pos
	}
	if c.Authority() == Author {
		pos = token.NoPos // one line for all constants of a slot
		detail = ""
	}
	k := originKey{c, detail, pos, it.flags & (fScalar | fFenced)}
	if o := it.slot.byKey[k]; o != nil {
		if it.frames < o.Frames {
			o.Frames = it.frames
		}
		return o
	}
	o := &Origin{Class: c, Detail: detail, Frames: it.frames, Scalar: it.flags&fScalar != 0, Fenced: it.flags&fFenced != 0, hop: it.hop}
	o.Pos = w.a.fset.Position(pos)
	if it.v != nil {
		o.In = funcName(it.v.Parent())
	}
	it.slot.byKey[k] = o
	it.slot.Origins = append(it.slot.Origins, o)
	return o
}

// step takes one value one hop back.
func (w *walker) step(it item) {
	a := w.a
	v, path := it.v, it.path
	if w.standard(it) {
		return
	}
	if isError(v.Type()) && it.flags&fScalar == 0 {
		// How an error's text was put together, and from what, is a long way that
		// says little: it is named for what it is. A package's own error variable
		// is its author's text.
		u, load := v.(*ssa.UnOp)
		if load {
			_, load = u.X.(*ssa.Global)
		}
		if !load && path == nil {
			if k, ok := v.(*ssa.Const); !ok || !k.IsNil() {
				w.leaf(it, UnknownError, describe(v), posOf(v))
			}
			return
		}
	}
	if r, ok := a.table.named("type", v.Type()); ok && !madeHere(v) {
		if c, isCall := v.(*ssa.Call); !isCall || len(a.callees[c]) == 0 {
			w.classified(it, r.class, describe(v), posOf(v))
			return
		}
	}
	switch x := v.(type) {
	case *ssa.Const:
		if x.Value != nil {
			w.leaf(it, Constant, "", token.NoPos)
		}
	case *ssa.Parameter:
		w.parameter(it, x)
	case *ssa.FreeVar:
		w.writes(it, x)
		w.freeVar(it, x)
	case *ssa.Alloc:
		if w.writes(it, x) {
			return
		}
		if r, ok := a.table.named("type", x.Type()); ok && path != nil {
			w.classified(it, r.class, describe(x), posOf(x))
		} else if path != nil && path.f >= 0 {
			w.field(it, key(x, path.f), path.next, false)
		}
	case *ssa.Global:
		w.global(it, x)
	case *ssa.FieldAddr:
		w.fieldOf(it, x.X, x.Field)
	case *ssa.Field:
		w.fieldOf(it, x.X, x.Field)
	case *ssa.IndexAddr:
		w.add(it.to(x.X, a.sel(selElem, path), it.ctx))
	case *ssa.Index:
		w.add(it.to(x.X, a.sel(selElem, path), it.ctx))
	case *ssa.Lookup:
		if _, ok := x.X.Type().Underlying().(*types.Map); ok {
			w.add(it.to(x.X, a.sel(selElem, path), it.ctx))
		} else {
			w.add(it.to(x.X, path, it.ctx))
		}
	case *ssa.Slice:
		w.writes(it, x)
		w.add(it.to(x.X, path, it.ctx))
	case *ssa.UnOp:
		switch x.Op {
		case token.MUL:
			if isRef(x.Type()) {
				w.writes(it, x)
			}
			w.load(it, x)
		case token.ARROW:
			w.receive(it, x.X)
		default:
			w.add(it.to(x.X, path, it.ctx))
		}
	case *ssa.BinOp:
		w.binOp(it, x)
	case *ssa.Phi:
		for _, e := range x.Edges {
			w.add(it.to(e, path, it.ctx))
		}
	case *ssa.ChangeType:
		w.add(it.to(x.X, path, it.ctx))
	case *ssa.ChangeInterface:
		w.add(it.to(x.X, path, it.ctx))
	case *ssa.Convert:
		w.add(it.to(x.X, path, it.ctx))
	case *ssa.MultiConvert:
		w.add(it.to(x.X, path, it.ctx))
	case *ssa.SliceToArrayPointer:
		w.add(it.to(x.X, path, it.ctx))
	case *ssa.MakeInterface:
		w.add(it.to(x.X, path, it.ctx))
	case *ssa.TypeAssert:
		w.assert(it, x)
	case *ssa.MakeMap, *ssa.MakeSlice, *ssa.MakeChan:
		w.writes(it, v)
	case *ssa.Extract:
		w.extract(it, x)
	case *ssa.Call:
		w.writes(it, x)
		w.call(it, x, 0)
	case *ssa.Range:
		w.add(it.to(x.X, path, it.ctx))
	case *ssa.MakeClosure, *ssa.Function, *ssa.Builtin:
		// a function is not text
	default:
		w.leaf(it, UnknownValue, describe(v), posOf(v))
	}
}

// assert walks through a type assertion: to a concrete type, only what was put
// into the interface with that type is looked for.
func (w *walker) assert(it item, x *ssa.TypeAssert) {
	path := it.path
	if !types.IsInterface(x.AssertedType) {
		if _, param := x.AssertedType.(*types.TypeParam); !param {
			path = w.a.selType(selAssert, x.AssertedType, path)
		}
	}
	w.add(it.to(x.X, path, it.ctx))
}

// holds reports whether a value of type t is what an assertion to want finds, or
// may turn out to be on the way back: an interface, a container, an address of
// one. An address stands for what it points to on a walk.
func holds(t, want types.Type) (is, maybe bool) {
	if types.Identical(t, want) {
		return true, false
	}
	u := t.Underlying()
	if p, ok := u.(*types.Pointer); ok {
		if types.Identical(p.Elem(), want) {
			return true, false
		}
		u = p.Elem().Underlying()
	}
	if _, param := types.Unalias(t).(*types.TypeParam); param {
		return false, true
	}
	switch u.(type) {
	case *types.Basic, *types.Struct:
		return false, false
	}
	return false, true
}

// standard knows the two variables of package os that are sources.
func (w *walker) standard(it item) bool {
	v := it.v
	if u, ok := v.(*ssa.UnOp); ok && u.Op == token.MUL {
		v = u.X
	}
	g, ok := v.(*ssa.Global)
	if !ok || g.Pkg == nil || g.Pkg.Pkg.Path() != "os" {
		return false
	}
	switch g.Name() {
	case "Args":
		w.leaf(it, Flag, "os.Args", posOf(it.v))
	case "Stdin":
		w.leaf(it, Stdin, "os.Stdin", posOf(it.v))
	default:
		return false
	}
	return true
}

// madeHere reports whether v is a local variable or a literal, or a load of one:
// what its fields hold is what was stored to them, whatever the type is known for.
func madeHere(v ssa.Value) bool {
	if u, ok := v.(*ssa.UnOp); ok && u.Op == token.MUL {
		v = u.X
	}
	_, ok := v.(*ssa.Alloc)
	return ok
}

func isRef(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map:
		return true
	}
	return false
}

// classified ends the walk at something that a table names.
func (w *walker) classified(it item, c Class, detail string, pos token.Pos) {
	switch c {
	case "sql":
		w.sqlLeaf(it, nil, outCall{}, detail, pos)
	case "orm":
		w.leaf(it, ORMField, detail, pos)
	default:
		w.leaf(it, c, detail, pos)
	}
}

func (w *walker) load(it item, x *ssa.UnOp) {
	// A pointer that was itself loaded from the heap: the field's stores
	// anywhere are a better answer than the way of the pointer.
	if _, ok := x.Type().Underlying().(*types.Pointer); ok && it.path != nil && it.path.f >= 0 {
		switch x.X.(type) {
		case *ssa.FieldAddr, *ssa.Global:
			if w.field(it, key(x, it.path.f), it.path.next, true) {
				return
			}
		}
	}
	w.add(it.to(x.X, it.path, it.ctx))
}

// fieldOf walks to field f of x, which is a struct or points to one.
func (w *walker) fieldOf(it item, x ssa.Value, f int) {
	a := w.a
	if r, ok := a.table.named("type", x.Type()); ok && !madeHere(x) {
		w.classified(it, r.class, describe(it.v), posOf(it.v))
		return
	}
	switch base := x.(type) {
	case *ssa.UnOp, *ssa.Lookup, *ssa.TypeAssert, *ssa.Extract, *ssa.IndexAddr, *ssa.Global:
		_, ptr := x.Type().Underlying().(*types.Pointer)
		if u, ok := base.(*ssa.UnOp); ok && u.Op == token.MUL {
			if _, local := u.X.(*ssa.Alloc); local {
				ptr = false // a local variable: its object is at hand
			}
			if _, local := u.X.(*ssa.FreeVar); local {
				ptr = false
			}
		}
		if e, ok := base.(*ssa.Extract); ok {
			if _, call := e.Tuple.(*ssa.Call); call {
				ptr = false
			}
		}
		if _, ok := base.(*ssa.IndexAddr); ok {
			ptr = false
		}
		if ptr && w.field(it, key(x, f), it.path, true) {
			return
		}
	}
	w.add(it.to(x, a.sel(f, it.path), it.ctx))
}

// field walks to everything that is stored to a field of a type anywhere. It
// reports whether there was anything.
func (w *walker) field(it item, k fieldKey, path *sel, heap bool) bool {
	a := w.a
	found := false
	name := fieldName(k)
	it = it.stored()
	for _, fs := range a.fieldStores[k] {
		v := fs.val
		found = true
		if otherRole(it.flags, fs.base) {
			continue
		}
		w.add(it.to(v, path, nil).via(v.Pos(), v.Parent(), "stored to "+name))
	}
	if path == nil || path.f < 0 {
		for _, e := range a.fieldElems[k] {
			found = true
			w.elem(it.via(e.val.Pos(), e.val.Parent(), "stored into "+name), e, path, nil)
		}
	}
	for _, o := range a.fieldOuts[k] {
		if w.out(it.via(o.call.Pos(), o.call.Parent(), "filled "+name), o, k, nil) {
			found = true
		}
	}
	if n, ok := k.t.(*types.Named); ok {
		for _, o := range a.typeOuts[n] {
			if w.out(it.via(o.call.Pos(), o.call.Parent(), "decoded into "+n.Obj().Name()), o, k, nil) {
				found = true
			}
		}
	}
	return found
}

func (w *walker) elem(it item, e elemStore, path *sel, c *ctx) {
	switch {
	case path == nil:
		if e.key != nil {
			w.add(it.to(e.key, nil, c))
		}
		w.add(it.to(e.val, nil, c))
	case path.f == selKeys:
		if e.key != nil {
			w.add(it.to(e.key, path.next, c))
		}
	case path.f == selElem:
		w.add(it.to(e.val, path.next, c))
	}
}

func (w *walker) global(it item, g *ssa.Global) {
	a := w.a
	path := it.path
	if e, ok := a.embeds[g.Object()]; ok {
		w.leaf(it, Embed, strings.Join(e.patterns, " "), e.pos)
		return
	}
	found := false
	it = it.stored()
	if path != nil && path.f >= 0 {
		found = w.field(it, key(g, path.f), path.next, true)
	}
	for _, v := range a.globals[g] {
		if k, ok := v.(*ssa.Const); ok && k.Value == nil {
			found = true
			continue
		}
		found = true
		w.add(it.to(v, path, nil).via(v.Pos(), v.Parent(), "stored to "+g.Name()))
	}
	if path == nil || path.f < 0 {
		for _, e := range a.globalElems[g] {
			found = true
			w.elem(it.via(e.val.Pos(), e.val.Parent(), "stored into "+g.Name()), e, path, nil)
		}
	}
	for _, o := range a.globalOuts[g] {
		if w.out(it.via(o.call.Pos(), o.call.Parent(), "filled "+g.Name()), o, fieldKey{}, nil) {
			found = true
		}
	}
	if found {
		return
	}
	w.leaf(it, Constant, "", token.NoPos) // a variable that nothing assigns, or a library's own
}

func (w *walker) freeVar(it item, x *ssa.FreeVar) {
	fn := x.Parent()
	idx := -1
	for i, fv := range fn.FreeVars {
		if fv == x {
			idx = i
		}
	}
	sites := w.a.closures[fn]
	if idx < 0 || len(sites) == 0 {
		w.leaf(it, UnknownValue, "captured "+x.Name(), x.Pos())
		return
	}
	for _, mc := range sites {
		if idx < len(mc.Bindings) {
			c := it.ctx
			for c != nil && c.call.Parent() != mc.Parent() {
				c = c.up
			}
			if c != nil {
				c = c.up
			}
			w.add(it.to(mc.Bindings[idx], it.path, c).via(mc.Pos(), mc.Parent(), "captured as "+x.Name()))
		}
	}
}

func (w *walker) parameter(it item, p *ssa.Parameter) {
	a := w.a
	fn := p.Parent()
	if isRef(p.Type()) {
		w.writes(it, p)
	}
	idx := -1
	for i, q := range fn.Params {
		if q == p {
			idx = i
		}
	}
	if w.summing == fn && it.ctx == nil {
		w.leaf(it, UnknownParameter, p.Name()+" of "+shortFunc(fn), p.Pos()).param = p
		return
	}
	arg := func(site ssa.CallInstruction, c *ctx) {
		v, ok := argFor(site, fn, idx)
		if !ok {
			w.leaf(it, UnknownDynamic, "parameter "+p.Name()+" of "+funcName(fn), p.Pos())
			return
		}
		pos := site.Pos()
		w.add(it.to(v, it.path, c).via(pos, site.Parent(), "passed as "+p.Name()+" of "+shortFunc(fn)).deeper())
	}
	if it.ctx != nil {
		for _, cs := range a.callers[fn] {
			if cs.site == it.ctx.call {
				arg(cs.site, it.ctx.up)
				return
			}
		}
	}
	sites := a.callers[fn]
	if len(sites) == 0 {
		if o := fn.Origin(); o != nil && o != fn && len(a.callers[o]) > 0 {
			sites = a.callers[o]
		}
	}
	if len(sites) > 0 {
		for _, cs := range sites {
			arg(cs.site, nil)
		}
		return
	}
	if it.path != nil && it.path.f >= 0 && w.field(it, key(p, it.path.f), it.path.next, true) {
		return
	}
	w.entry(it, p)
}

// argFor is the value that fills parameter idx of fn at a call.
func argFor(site ssa.CallInstruction, fn *ssa.Function, idx int) (ssa.Value, bool) {
	c := site.Common()
	if c.IsInvoke() {
		if idx == 0 {
			return c.Value, true
		}
		idx--
	} else if len(c.Args) == len(fn.Params)-1 && c.StaticCallee() == nil && fn.Signature.Recv() != nil {
		// a method value called through a function: the receiver is bound
		if idx == 0 {
			return nil, false
		}
		idx--
	}
	if idx < 0 || idx >= len(c.Args) {
		return nil, false
	}
	return c.Args[idx], true
}

// entry classifies a parameter that nothing in the program fills.
func (w *walker) entry(it item, p *ssa.Parameter) {
	fn := p.Parent()
	// A handler's other parameters say what it handles.
	for _, q := range fn.Params {
		if q == p {
			continue
		}
		r, ok := w.a.table.named("type", q.Type())
		if ok && r.class.Authority() == Operator {
			w.leaf(it, r.class, p.Name(), p.Pos())
			return
		}
	}
	if isProto(p.Type()) {
		w.leaf(it, "user:grpc-request", p.Name(), p.Pos())
		return
	}
	w.leaf(it, UnknownParameter, p.Name()+" of "+shortFunc(fn), p.Pos()).param = p
}

// isProto recognises a generated protocol buffer message.
func isProto(t types.Type) bool {
	n := namedOf(t)
	if n == nil {
		return false
	}
	for m := range n.Methods() {
		if m.Name() == "ProtoReflect" {
			return true
		}
	}
	return false
}

func (w *walker) receive(it item, ch ssa.Value) {
	vals := w.a.sends[chanKey(ch.Type())]
	for _, v := range vals {
		w.add(it.to(v, it.path, nil).via(v.Pos(), v.Parent(), "sent on a channel").deeper())
	}
	if len(vals) == 0 {
		// A channel of a library: what it holds comes from where it came from.
		w.add(it.to(ch, it.path, it.ctx))
	}
}

func (w *walker) extract(it item, x *ssa.Extract) {
	a := w.a
	switch t := x.Tuple.(type) {
	case *ssa.Call:
		if isRef(x.Type()) {
			w.writes(it, x)
		}
		w.call(it, t, x.Index)
	case *ssa.Next:
		rng, ok := t.Iter.(*ssa.Range)
		if !ok {
			w.leaf(it, UnknownValue, describe(x), posOf(x))
			return
		}
		if t.IsString {
			w.add(it.to(rng.X, it.path, it.ctx))
			return
		}
		f := selElem
		if x.Index == 1 {
			f = selKeys
		}
		w.add(it.to(rng.X, a.sel(f, it.path), it.ctx))
	case *ssa.TypeAssert:
		w.assert(it, t)
	case *ssa.Lookup:
		w.add(it.to(t.X, a.sel(selElem, it.path), it.ctx))
	case *ssa.UnOp:
		w.receive(it, t.X)
	case *ssa.Select:
		n := 0
		for _, s := range t.States {
			if s.Dir == types.RecvOnly {
				if x.Index == 2+n {
					w.receive(it, s.Chan)
				}
				n++
			}
		}
	default:
		w.leaf(it, UnknownValue, describe(x), posOf(x))
	}
}

func (w *walker) binOp(it item, x *ssa.BinOp) {
	if x.Op == token.ADD && isStringish(x.Type()) {
		w.compose(it, x.Pos(), x.Parent(), Concat, w.concat(x))
		return
	}
	if b, ok := x.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 {
		w.leaf(it, Length, describe(x), posOf(x)) // a comparison tells one bit
		return
	}
	w.add(it.to(x.X, it.path, it.ctx))
	w.add(it.to(x.Y, it.path, it.ctx))
}

// finish links slots to their sinks and drops what is not a slot.
func (w *walker) finish() []*Slot {
	var out []*Slot
	sinksOf := map[*Slot][]Sink{}
	for _, s := range w.order {
		seen := map[*Slot]bool{}
		var up func(s *Slot)
		var found []*sink
		up = func(s *Slot) {
			if seen[s] {
				return
			}
			seen[s] = true
			found = append(found, s.roots...)
			for _, p := range s.parents {
				up(p)
			}
		}
		up(s)
		dup := map[token.Pos]bool{}
		for _, r := range found {
			if !dup[r.pos] {
				dup[r.pos] = true
				sinksOf[s] = append(sinksOf[s], w.a.sinkOf(r))
			}
		}
	}
	for _, s := range w.order {
		if len(s.Origins) == 0 {
			continue
		}
		harmless, drawn := true, true
		for _, o := range s.Origins {
			drawn = drawn && (o.Class == Random || o.Class == Constant)
			if o.Class.Authority() != Author && o.Class.Authority() != Embedded {
				harmless = false
			}
		}
		if harmless && (len(s.children) > 0 || s.Kind == Whole) {
			continue // the text around other slots, or fixed text
		}
		if drawn && !harmless {
			continue // the marks of a fence
		}
		s.Sinks = sinksOf[s]
		for _, o := range s.Origins {
			w.tell(o, s)
			if o.Class.Authority() == SQL && o.Column != "" && !o.Scalar {
				o.Writers = w.a.Writers(o.Table, o.Column)
			}
		}
		sort.SliceStable(s.Origins, func(i, j int) bool {
			a, b := s.Origins[i], s.Origins[j]
			if a.Crosses() != b.Crosses() {
				return a.Crosses()
			}
			if a.Unknown() != b.Unknown() {
				return a.Unknown()
			}
			return a.Frames < b.Frames
		})
		out = append(out, s)
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i].Pos, out[j].Pos
		if a.Filename != b.Filename {
			return a.Filename < b.Filename
		}
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Column < b.Column
	})
	return out
}

// tell turns the hops of an origin into steps, the origin first.
func (w *walker) tell(o *Origin, s *Slot) {
	for h := o.hop; h != nil; h = h.prev {
		p := w.a.fset.Position(h.pos)
		if !p.IsValid() {
			continue
		}
		o.Path = append(o.Path, Step{Pos: p, In: funcName(h.fn), What: h.what})
		if h.fn == s.fn && !o.Filled.IsValid() {
			o.Filled = p
		}
	}
	if !o.Filled.IsValid() {
		o.Filled = s.Pos
	}
	o.hop = nil
}
