package flow

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/callgraph"
	"golang.org/x/tools/go/ssa"
)

// Source is a package whose syntax is at hand.
type Source struct {
	Pkg   *types.Package
	Files []*ast.File
	Dir   string // where the files are; go:embed patterns are relative to it
}

// Input of an Analysis.
type Input struct {
	Fset    *token.FileSet
	Funcs   []*ssa.Function                   // every function with a body, instances and closures included
	Graph   *callgraph.Graph                  // who calls whom; nil: static calls alone
	Sources []Source                          // for go:embed directives
	Table   *Table                            // what is known of libraries
	Report  func(*ssa.Function) bool          // functions whose sinks are of interest; nil: all of them
	Read    func(name string) ([]byte, error) // reads an embedded template; nil: none can be read
	Facts   Facts                             // what is known of functions whose source is not here; nil: nothing
	Limit   int                               // steps a slot may take before the walk gives up; 0: 10,000
}

// Facts answers for functions whose bodies are not part of the Input.
type Facts interface {
	// Summary says how the results of fn come about. ok is false when nothing is known.
	Summary(fn *types.Func) (s Summary, ok bool)
}

// Summary is what one function does with text, as its callers see it.
type Summary struct {
	Results []Result // by result
	Sinks   []ParamSink
}

// Result says what one result of a function is made of.
type Result struct {
	Params  []int // parameters, the receiver first
	Origins []SummaryOrigin
}

// SummaryOrigin is an origin inside a function of another package.
type SummaryOrigin struct {
	Class  Class
	Detail string
	Frames int
	At     string
}

// ParamSink is a parameter whose text reaches model input.
type ParamSink struct {
	Param int // the receiver first
	Func  string
	Role  string
	At    string
}

// Analysis holds the indexes of one program. It is not safe for concurrent use.
type Analysis struct {
	in    Input
	fset  *token.FileSet
	table *Table

	callers  map[*ssa.Function][]callSite
	callees  map[ssa.CallInstruction][]*ssa.Function
	closures map[*ssa.Function][]*ssa.MakeClosure
	has      map[*ssa.Function]bool

	fieldStores map[fieldKey][]fieldStore   // values stored to a field anywhere
	fieldElems  map[fieldKey][]elemStore    // elements stored into a container held by a field
	fieldOuts   map[fieldKey][]outCall      // calls handed the address of a field
	typeOuts    map[*types.Named][]outCall  // calls that fill a whole value of a type
	globals     map[*ssa.Global][]ssa.Value // values stored to a global
	globalElems map[*ssa.Global][]elemStore // elements stored into a container held by a global
	globalOuts  map[*ssa.Global][]outCall   // calls handed the address of a global
	sends       map[string][]ssa.Value      // values sent, by element type
	embeds      map[types.Object]embedded   // variables with a go:embed directive
	sinks       []sink
	parts       map[*types.Named]bool // see wireParts
	writers     map[string][]writer   // by table.column; built when first asked for

	ctxs  map[ctxKey]*ctx
	sels  map[selKey]*sel
	lines map[string]string
}

type callSite struct {
	caller *ssa.Function
	site   ssa.CallInstruction
}

type fieldKey struct {
	t types.Type // the named struct type, else the struct itself
	f int
}

// fieldStore is a value stored to a field, and the struct that holds the field.
type fieldStore struct {
	val, base ssa.Value
}

type elemStore struct {
	key, val ssa.Value // key nil for a slice
}

type outCall struct {
	call ssa.CallInstruction
	arg  int // position among the call's Args
	elem int // position inside the variadic slice, -1
}

type embedded struct {
	patterns []string
	dir      string
	pos      token.Pos
}

// A ctx is the chain of calls that the walk went into, so that it comes out of a
// function by the call through which it went in and not by all of them.
type ctx struct {
	call  ssa.CallInstruction
	up    *ctx
	depth int
}

type ctxKey struct {
	call ssa.CallInstruction
	up   *ctx
}

const maxDepth = 6

func (a *Analysis) push(up *ctx, call ssa.CallInstruction) *ctx {
	// Recursion: a call that is already on the chain takes the chain back to it,
	// which keeps the number of chains finite.
	for c := up; c != nil; c = c.up {
		if c.call == call {
			return c
		}
	}
	if up != nil && up.depth >= maxDepth {
		up = nil // forget the outer calls: their callers are all callers
	}
	k := ctxKey{call, up}
	if c, ok := a.ctxs[k]; ok {
		return c
	}
	c := &ctx{call: call, up: up, depth: 1}
	if up != nil {
		c.depth = up.depth + 1
	}
	a.ctxs[k] = c
	return c
}

// A sel selects a part of a value: a field, an element, a key; the innermost
// comes last.
type sel struct {
	f    int
	typ  types.Type // selAssert: what the interface holds
	next *sel
	n    int
}

type selKey struct {
	f    int
	typ  types.Type
	next *sel
}

const (
	selElem = -1
	selKeys = -2
	// selAssert is the dynamic value of an interface, if it has the type: what was
	// stored with another type is not what is looked for.
	selAssert = -3
)

const maxPath = 9

func (a *Analysis) sel(f int, next *sel) *sel { return a.selType(f, nil, next) }

func (a *Analysis) selType(f int, typ types.Type, next *sel) *sel {
	if next != nil && next.n >= maxPath {
		next = nil // beyond this depth a part stands for the whole
	}
	k := selKey{f, typ, next}
	if s, ok := a.sels[k]; ok {
		return s
	}
	s := &sel{f: f, typ: typ, next: next, n: 1}
	if next != nil {
		s.n = next.n + 1
	}
	a.sels[k] = s
	return s
}

// New indexes a program.
func New(in Input) (*Analysis, error) {
	if in.Table == nil {
		t, err := Default()
		if err != nil {
			return nil, fmt.Errorf("built-in tables: %w", err)
		}
		in.Table = t
	}
	if in.Limit == 0 {
		in.Limit = 10000
	}
	a := &Analysis{
		in: in, fset: in.Fset, table: in.Table,
		callers:     map[*ssa.Function][]callSite{},
		callees:     map[ssa.CallInstruction][]*ssa.Function{},
		closures:    map[*ssa.Function][]*ssa.MakeClosure{},
		has:         map[*ssa.Function]bool{},
		fieldStores: map[fieldKey][]fieldStore{},
		fieldElems:  map[fieldKey][]elemStore{},
		fieldOuts:   map[fieldKey][]outCall{},
		typeOuts:    map[*types.Named][]outCall{},
		globals:     map[*ssa.Global][]ssa.Value{},
		globalElems: map[*ssa.Global][]elemStore{},
		globalOuts:  map[*ssa.Global][]outCall{},
		sends:       map[string][]ssa.Value{},
		embeds:      map[types.Object]embedded{},
		ctxs:        map[ctxKey]*ctx{},
		sels:        map[selKey]*sel{},
		lines:       map[string]string{},
	}
	// One order for every run: the call graph and AllFunctions are maps.
	slices.SortFunc(a.in.Funcs, func(f, g *ssa.Function) int {
		if f.Pos() != g.Pos() {
			return int(f.Pos()) - int(g.Pos())
		}
		switch fs, gs := f.String(), g.String(); {
		case fs < gs:
			return -1
		case fs > gs:
			return 1
		}
		return 0
	})
	for _, f := range a.in.Funcs {
		if len(f.Blocks) > 0 {
			a.has[f] = true
		}
	}
	a.linkCalls()
	for _, s := range in.Sources {
		a.findEmbeds(s)
	}
	for _, f := range a.in.Funcs {
		a.index(f)
	}
	return a, nil
}

func (a *Analysis) linkCalls() {
	for _, f := range a.in.Funcs {
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				if call, ok := i.(ssa.CallInstruction); ok {
					callee := call.Common().StaticCallee()
					if callee != nil && !a.has[callee] && callee.Origin() != nil {
						callee = callee.Origin() // built once for all its instances
					}
					if callee != nil && a.has[callee] {
						a.link(f, call, callee)
					}
				}
			}
		}
		if a.in.Graph == nil {
			continue
		}
		n := a.in.Graph.Nodes[f]
		if n == nil {
			continue
		}
		var dyn []*callgraph.Edge
		for _, e := range n.Out {
			if e.Site != nil && e.Site.Common().StaticCallee() == nil && a.has[e.Callee.Func] {
				dyn = append(dyn, e)
			}
		}
		slices.SortFunc(dyn, func(x, y *callgraph.Edge) int {
			if x.Site.Pos() != y.Site.Pos() {
				return int(x.Site.Pos()) - int(y.Site.Pos())
			}
			if x.Callee.Func.Pos() != y.Callee.Func.Pos() {
				return int(x.Callee.Func.Pos()) - int(y.Callee.Func.Pos())
			}
			switch xs, ys := x.Callee.Func.String(), y.Callee.Func.String(); {
			case xs < ys:
				return -1
			case xs > ys:
				return 1
			}
			return 0
		})
		for _, e := range dyn {
			a.link(f, e.Site, e.Callee.Func)
		}
	}
}

func (a *Analysis) link(caller *ssa.Function, site ssa.CallInstruction, callee *ssa.Function) {
	if slices.Contains(a.callees[site], callee) {
		return
	}
	a.callees[site] = append(a.callees[site], callee)
	a.callers[callee] = append(a.callers[callee], callSite{caller, site})
}

func key(x ssa.Value, f int) fieldKey {
	t := x.Type()
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return fieldKey{n.Origin(), f}
	}
	return fieldKey{types.Unalias(t), f}
}

// index records everything in f that the walk will want to find backwards.
func (a *Analysis) index(f *ssa.Function) {
	for _, b := range f.Blocks {
		for _, instr := range b.Instrs {
			switch i := instr.(type) {
			case *ssa.Store:
				switch addr := i.Addr.(type) {
				case *ssa.FieldAddr:
					k := key(addr.X, addr.Field)
					a.fieldStores[k] = append(a.fieldStores[k], fieldStore{i.Val, addr.X})
				case *ssa.Global:
					a.globals[addr] = append(a.globals[addr], i.Val)
				case *ssa.IndexAddr:
					a.indexElem(addr.X, elemStore{nil, i.Val})
				}
			case *ssa.MapUpdate:
				a.indexElem(i.Map, elemStore{i.Key, i.Value})
			case *ssa.MakeClosure:
				if fn, ok := i.Fn.(*ssa.Function); ok {
					a.closures[fn] = append(a.closures[fn], i)
				}
			case *ssa.Send:
				k := chanKey(i.Chan.Type())
				a.sends[k] = append(a.sends[k], i.X)
			case *ssa.Select:
				for _, s := range i.States {
					if s.Dir == types.SendOnly {
						k := chanKey(s.Chan.Type())
						a.sends[k] = append(a.sends[k], s.Send)
					}
				}
			}
			if call, ok := instr.(ssa.CallInstruction); ok {
				a.indexOuts(call)
			}
			a.findSink(f, instr)
		}
	}
}

func chanKey(t types.Type) string {
	if c, ok := t.Underlying().(*types.Chan); ok {
		return types.TypeString(c.Elem(), nil)
	}
	return types.TypeString(t, nil)
}

// indexElem files a store into a container under the field or global that holds
// the container.
func (a *Analysis) indexElem(container ssa.Value, e elemStore) {
	load, ok := container.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		if fa, ok := container.(*ssa.FieldAddr); ok { // an array field
			k := key(fa.X, fa.Field)
			a.fieldElems[k] = append(a.fieldElems[k], e)
		}
		if g, ok := container.(*ssa.Global); ok {
			a.globalElems[g] = append(a.globalElems[g], e)
		}
		return
	}
	switch addr := load.X.(type) {
	case *ssa.FieldAddr:
		k := key(addr.X, addr.Field)
		a.fieldElems[k] = append(a.fieldElems[k], e)
	case *ssa.Global:
		a.globalElems[addr] = append(a.globalElems[addr], e)
	}
}

// indexOuts files the calls outside this program that may write through an
// address: of a field, of a global, or of a whole value of a type.
func (a *Analysis) indexOuts(call ssa.CallInstruction) {
	if len(a.callees[call]) > 0 {
		return
	}
	c := call.Common()
	note := func(v ssa.Value, o outCall) {
		v = plain(v)
		switch p := v.(type) {
		case *ssa.FieldAddr:
			k := key(p.X, p.Field)
			a.fieldOuts[k] = append(a.fieldOuts[k], o)
		case *ssa.Global:
			a.globalOuts[p] = append(a.globalOuts[p], o)
		}
		if _, ok := v.Type().Underlying().(*types.Pointer); ok && a.writes(call, o) {
			a.fillsType(v.Type(), o, 0, map[types.Type]bool{})
		}
	}
	for i, arg := range c.Args {
		if elems, ok := variadic(call, i); ok {
			for j, e := range elems {
				note(e, outCall{call, i, j})
			}
			continue
		}
		note(arg, outCall{call, i, -1})
	}
	// pgx.RowToStructByName[T] as a value, CollectRows[T](…): the type is in the
	// signature of the instance.
	if fn := c.StaticCallee(); fn != nil && len(fn.TypeArgs()) > 0 {
		if obj, ok := fn.Object().(*types.Func); ok {
			if r, ok := a.table.function("result", obj.Origin()); ok && r.class.Authority() == SQL {
				for _, t := range fn.TypeArgs() {
					a.fillsType(t, outCall{call, -1, -1}, 0, map[types.Type]bool{})
				}
			}
		}
	}
}

// writes reports whether a call outside the program is known to write through
// the argument, or may: it takes an any, or a pointer into text.
func (a *Analysis) writes(call ssa.CallInstruction, o outCall) bool {
	fn := calleeFunc(call)
	if r, ok := a.table.function("out", fn); ok {
		return r.class != "skip" && r.args.has(a.argIndex(call, o))
	}
	return false
}

// argIndex is o's position with the receiver not counted and variadics spread.
func (a *Analysis) argIndex(call ssa.CallInstruction, o outCall) int {
	i := o.arg
	if !call.Common().IsInvoke() {
		if fn := calleeFunc(call); fn != nil && fn.Signature().Recv() != nil {
			i--
		}
	}
	if o.elem > 0 {
		i += o.elem
	}
	return i
}

// fillsType files o under every named type that a value of type t holds.
func (a *Analysis) fillsType(t types.Type, o outCall, depth int, seen map[types.Type]bool) {
	if depth > 5 || seen[t] {
		return
	}
	seen[t] = true
	switch u := types.Unalias(t).(type) {
	case *types.Named:
		if s, ok := u.Underlying().(*types.Struct); ok {
			a.typeOuts[u.Origin()] = append(a.typeOuts[u.Origin()], o)
			for f := range s.Fields() {
				a.fillsType(f.Type(), o, depth+1, seen)
			}
			return
		}
		a.fillsType(u.Underlying(), o, depth, seen)
	case *types.Pointer:
		a.fillsType(u.Elem(), o, depth, seen)
	case *types.Slice:
		a.fillsType(u.Elem(), o, depth, seen)
	case *types.Array:
		a.fillsType(u.Elem(), o, depth, seen)
	case *types.Map:
		a.fillsType(u.Elem(), o, depth, seen)
	case *types.Struct:
		for f := range u.Fields() {
			a.fillsType(f.Type(), o, depth+1, seen)
		}
	}
}

// plain strips conversions that do not change what an address is.
func plain(v ssa.Value) ssa.Value {
	for {
		switch x := v.(type) {
		case *ssa.MakeInterface:
			v = x.X
		case *ssa.ChangeInterface:
			v = x.X
		case *ssa.ChangeType:
			v = x.X
		default:
			return v
		}
	}
}

// variadic returns the elements of the variadic slice that the compiler made for
// argument i of call.
func variadic(call ssa.CallInstruction, i int) ([]ssa.Value, bool) {
	c := call.Common()
	sig := c.Signature()
	if !sig.Variadic() || i != len(c.Args)-1 {
		return nil, false
	}
	return sliceElems(c.Args[i])
}

// sliceElems returns the elements of a slice literal in order.
func sliceElems(v ssa.Value) ([]ssa.Value, bool) {
	if k, ok := v.(*ssa.Const); ok && k.IsNil() {
		return nil, true
	}
	s, ok := v.(*ssa.Slice)
	if !ok {
		return nil, false
	}
	alloc, ok := s.X.(*ssa.Alloc)
	if !ok || s.Low != nil || s.High != nil {
		return nil, false
	}
	arr, ok := alloc.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Array)
	if !ok || arr.Len() > 10000 {
		return nil, false
	}
	elems := make([]ssa.Value, arr.Len())
	for _, r := range *alloc.Referrers() {
		switch r := r.(type) {
		case *ssa.IndexAddr:
			k, ok := r.Index.(*ssa.Const)
			if !ok {
				return nil, false
			}
			for _, rr := range *r.Referrers() {
				if st, ok := rr.(*ssa.Store); ok && st.Addr == r {
					elems[k.Int64()] = st.Val
				} else {
					return nil, false // composite elements are built in place
				}
			}
		case *ssa.Slice, *ssa.DebugRef:
		default:
			return nil, false
		}
	}
	for _, e := range elems {
		if e == nil {
			return nil, false
		}
	}
	return elems, true
}

// calleeFunc is the declared function or method that a call names, generic
// origin and interface method included; nil for a call of a function value.
func calleeFunc(call ssa.CallInstruction) *types.Func {
	c := call.Common()
	if c.IsInvoke() {
		return c.Method
	}
	fn := c.StaticCallee()
	if fn == nil {
		return nil
	}
	if o := fn.Origin(); o != nil {
		fn = o
	}
	if obj, ok := fn.Object().(*types.Func); ok {
		return obj.Origin()
	}
	return nil
}
