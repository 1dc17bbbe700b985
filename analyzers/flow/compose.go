package flow

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A piece is one part of text that is put together: fixed text, or a value.
type piece struct {
	v    ssa.Value
	path *sel
	pos  token.Pos
	kind Kind
	verb string
	name string // template actions have names of their own
	arg  int    // the argument of the call at pos, from 1; sideX or sideY of an operator; 0: not known
	leaf *leafPiece
}

// leafPiece is a piece that is known to end here: an action of a template that
// is not at hand.
type leafPiece struct {
	class  Class
	detail string
}

const (
	sideX = -1
	sideY = -2
)

func (w *walker) piece(v ssa.Value, pos token.Pos, k Kind) piece {
	return piece{v: v, pos: pos, kind: k}
}

// concat flattens a + b + c.
func (w *walker) concat(x *ssa.BinOp) []piece {
	var out []piece
	var flat func(v ssa.Value, pos token.Pos, side int)
	flat = func(v ssa.Value, pos token.Pos, side int) {
		if b, ok := v.(*ssa.BinOp); ok && b.Op == token.ADD && len(out) < 2000 {
			flat(b.X, b.Pos(), sideX)
			flat(b.Y, b.Pos(), sideY)
			return
		}
		p := w.piece(v, pos, Concat)
		p.arg = side
		out = append(out, p)
	}
	flat(x, x.Pos(), 0)
	return out
}

// restArgs lists the operands of a variadic call from i on; a slice that is
// handed on (args...) stands for all its elements.
func (w *walker) restArgs(call ssa.CallInstruction, i int) []ssa.Value {
	all := w.a.spread(call)
	if i > len(all) {
		return nil
	}
	return all[i:]
}

// format cuts a call of fmt's formatting functions into pieces. all holds the
// format and its operands.
func (w *walker) format(all []ssa.Value, call ssa.CallInstruction) []piece {
	pos := call.Pos()
	if len(all) == 0 {
		return nil
	}
	f, ok := constString(all[0])
	if !ok {
		// The format is itself a value: its text is a part like any other.
		out := []piece{w.piece(all[0], pos, Format)}
		for _, v := range all[1:] {
			out = append(out, piece{v: v, pos: pos, kind: Format, verb: "?"})
		}
		return out
	}
	if len(all) == 2 {
		if _, ok := all[1].Type().Underlying().(*types.Slice); ok {
			if c := call.Common(); all[1] == c.Args[len(c.Args)-1] { // args...
				return []piece{{v: all[1], path: w.a.sel(selElem, nil), pos: pos, kind: Format, verb: "…"}}
			}
		}
	}
	var out []piece
	ops := all[1:]
	before := len(w.a.spread(call)) - len(ops) // what stands before the operands
	for _, vb := range verbs(f) {
		if vb.arg < 0 || vb.arg >= len(ops) {
			continue
		}
		if vb.verb == 'T' || vb.verb == 'p' || vb.verb == '*' {
			continue
		}
		out = append(out, piece{v: ops[vb.arg], pos: pos, kind: Format, verb: "%" + string(vb.verb), arg: before + vb.arg + 1})
	}
	return out
}

type verb struct {
	verb rune
	arg  int
}

// verbs lists the verbs of a format with the operands they take, explicit
// indexes and starred widths included.
func verbs(f string) []verb {
	var out []verb
	arg := 0
	rs := []rune(f)
	for i := 0; i < len(rs); i++ {
		if rs[i] != '%' {
			continue
		}
		i++
		for i < len(rs) {
			c := rs[i]
			switch {
			case c == '[':
				n := 0
				i++
				for i < len(rs) && rs[i] >= '0' && rs[i] <= '9' {
					n = n*10 + int(rs[i]-'0')
					i++
				}
				arg = n - 1
				i++ // ]
				continue
			case c == '*':
				out = append(out, verb{'*', arg})
				arg++
				i++
				continue
			case strings.ContainsRune("+-# 0123456789.", c):
				i++
				continue
			}
			break
		}
		if i >= len(rs) {
			break
		}
		if rs[i] == '%' {
			continue
		}
		out = append(out, verb{rs[i], arg})
		arg++
	}
	return out
}

// maxSlotFrames is how far from the sink text may be put together and still have
// slots of its own. Further off it is what some value is made of, and the way
// there leads through code that hands any value to any other; its origins are
// those of the nearer slot.
const maxSlotFrames = 6

// compose opens a slot for each piece that is not fixed text.
func (w *walker) compose(it item, pos token.Pos, fn *ssa.Function, k Kind, parts []piece) {
	fences := w.fences(parts, it)
	for i, p := range parts {
		if p.v != nil && p.leaf == nil && isConst(p.v) {
			continue
		}
		child := it
		child.path = p.path
		if p.verb == "%d" || p.verb == "%t" || p.verb == "%f" || p.verb == "%x" || p.verb == "%X" || p.verb == "%c" || p.verb == "%U" {
			child.flags |= fScalar
		}
		if fences[i] {
			child.flags |= fFenced
		}
		if w.flat || it.flags&fStored != 0 || it.frames > maxSlotFrames {
			if p.leaf != nil {
				w.leaf(child, p.leaf.class, p.leaf.detail, p.pos)
			} else {
				w.add(child.to(p.v, p.path, it.ctx))
			}
			continue
		}
		slot := w.hole(p, i, fn, it.slot)
		child.slot = slot
		child = child.via(p.pos, fn, "put into text as "+slot.Name)
		if p.leaf != nil {
			child.v = nil
			w.leaf(child, p.leaf.class, p.leaf.detail, p.pos)
			continue
		}
		w.add(child.to(p.v, p.path, it.ctx))
	}
}

func (w *walker) hole(p piece, i int, fn *ssa.Function, parent *Slot) *Slot {
	name := p.name
	if name == "" && p.arg != 0 {
		name = w.a.written(p.pos, p.arg)
	}
	if name == "" {
		name = describe(p.v)
	}
	k := holeKey{p.pos, i, name}
	s := w.holes[k]
	if s == nil {
		s = w.newSlot(p.kind, p.v, p.pos, fn)
		s.Name, s.Verb = name, p.verb
		w.holes[k] = s
	}
	if s != parent {
		linked := false
		for _, q := range s.parents {
			linked = linked || q == parent
		}
		if !linked {
			s.parents = append(s.parents, parent)
			parent.children = append(parent.children, s)
		}
	}
	return s
}

// fences reports which pieces stand between two occurrences of the same value
// that was drawn from a cryptographic source: marks that the piece cannot forge.
func (w *walker) fences(parts []piece, it item) []bool {
	out := make([]bool, len(parts))
	if w.small || len(parts) < 3 {
		return out
	}
	inside := make([]map[ssa.Value]bool, len(parts))
	at := map[ssa.Value][]int{}
	for i, p := range parts {
		if p.v == nil {
			continue
		}
		inside[i] = map[ssa.Value]bool{}
		w.leavesOf(p.v, inside[i], 0)
		for v := range inside[i] {
			at[v] = append(at[v], i)
		}
	}
	for v, is := range at {
		if len(is) < 2 || is[len(is)-1]-is[0] < 2 {
			continue
		}
		if !w.a.random(v, it.ctx) {
			continue
		}
		for j := 0; j+1 < len(is); j++ {
			// between an opening and a closing mark: the 1st and 2nd, 3rd and 4th …
			if j%2 == 0 {
				for i := is[j] + 1; i < is[j+1]; i++ {
					out[i] = true
				}
			}
		}
	}
	return out
}

// leavesOf collects the values that v is directly put together from.
func (w *walker) leavesOf(v ssa.Value, into map[ssa.Value]bool, depth int) {
	if depth > 6 || isConst(v) {
		return
	}
	switch x := v.(type) {
	case *ssa.BinOp:
		if x.Op == token.ADD {
			w.leavesOf(x.X, into, depth+1)
			w.leavesOf(x.Y, into, depth+1)
			return
		}
	case *ssa.MakeInterface:
		w.leavesOf(x.X, into, depth)
		return
	case *ssa.Convert:
		w.leavesOf(x.X, into, depth)
		return
	case *ssa.UnOp:
		if x.Op == token.MUL {
			into[x.X] = true // two loads of one variable
			return
		}
	case *ssa.Call:
		if fn := calleeFunc(x); fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == "fmt" && strings.HasPrefix(fn.Name(), "Sprint") {
			for _, a := range w.a.spread(x) {
				w.leavesOf(a, into, depth+1)
			}
			return
		}
	}
	into[v] = true
}

// random reports whether every origin of v is a cryptographic draw (or fixed
// text around one).
func (a *Analysis) random(v ssa.Value, c *ctx) bool {
	os := a.origins(v, nil, c)
	drawn := false
	for _, o := range os {
		switch o.Class {
		case Random:
			drawn = true
		case Constant, Length:
		default:
			return false
		}
	}
	return drawn
}

// origins is a small walk of its own: where does v come from?
func (a *Analysis) origins(v ssa.Value, path *sel, c *ctx) []*Origin {
	w := a.walker()
	w.flat, w.small, w.limit = true, true, 3000
	s := w.newSlot(Whole, v, v.Pos(), v.Parent())
	w.add(item{slot: s, v: v, path: path, ctx: c, hop: &hop{pos: v.Pos(), fn: v.Parent()}})
	w.run()
	for _, o := range s.Origins {
		w.tell(o, s)
	}
	return s.Origins
}
