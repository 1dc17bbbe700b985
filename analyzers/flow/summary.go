package flow

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// Summaries says, for the functions of one package that others can call, what
// their results are made of and which of their parameters reach model input. A
// driver that sees one package at a time hands them on as facts.
func (a *Analysis) Summaries(slots []*Slot) map[*types.Func]Summary {
	out := map[*types.Func]Summary{}
	for _, f := range a.in.Funcs {
		obj, ok := f.Object().(*types.Func)
		if !ok || f.Origin() != nil || !reachable(obj) {
			continue
		}
		res := f.Signature.Results()
		s := Summary{Results: make([]Result, res.Len())}
		any := false
		for i := range res.Len() {
			t := res.At(i).Type()
			if isError(t) || !mayHoldText(t, 0) {
				continue
			}
			s.Results[i] = a.result(f, i)
			any = any || len(s.Results[i].Params)+len(s.Results[i].Origins) > 0
		}
		if any {
			out[obj] = s
		}
	}
	for _, slot := range slots {
		for _, o := range slot.Origins {
			if o.param == nil || o.Scalar || o.Fenced || len(slot.Sinks) == 0 {
				continue
			}
			fn := o.param.Parent()
			obj, ok := fn.Object().(*types.Func)
			if !ok || !reachable(obj) {
				continue
			}
			s := out[obj]
			for i, p := range fn.Params {
				if p == o.param {
					dup := false
					for _, e := range s.Sinks {
						dup = dup || e.Param == i
					}
					if !dup {
						s.Sinks = append(s.Sinks, ParamSink{i, slot.Sinks[0].Func, slot.Sinks[0].Role, slot.Sinks[0].Pos.String()})
					}
				}
			}
			out[obj] = s
		}
	}
	return out
}

// reachable reports whether another package can call the function.
func reachable(f *types.Func) bool {
	if !f.Exported() {
		return false
	}
	recv := f.Signature().Recv()
	if recv == nil {
		return true
	}
	n := namedOf(recv.Type())
	return n != nil
}

func mayHoldText(t types.Type, depth int) bool {
	if depth > 2 {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if mayHoldText(f.Type(), depth+1) {
				return true
			}
		}
		return false
	case *types.Pointer:
		return mayHoldText(u.Elem(), depth+1)
	case *types.Signature, *types.Chan:
		return false
	}
	return carriesText(t, depth)
}

// result walks back from result i of f to its parameters and its own origins.
func (a *Analysis) result(f *ssa.Function, i int) Result {
	w := a.walker()
	w.flat, w.small, w.limit, w.summing = true, true, 600, f
	s := w.newSlot(Whole, f, f.Pos(), f)
	for _, b := range f.Blocks {
		if len(b.Instrs) == 0 {
			continue
		}
		if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && i < len(ret.Results) {
			w.add(item{slot: s, v: ret.Results[i], hop: &hop{pos: ret.Pos(), fn: f}})
		}
	}
	w.run()
	var r Result
	for _, o := range s.Origins {
		if o.param != nil && o.param.Parent() == f {
			for k, p := range f.Params {
				if p == o.param {
					r.Params = append(r.Params, k)
				}
			}
			continue
		}
		if len(r.Origins) < 16 {
			r.Origins = append(r.Origins, SummaryOrigin{o.Class, o.Detail, o.Frames, o.Pos.String()})
		}
	}
	return r
}

// Origins walks back from one value: whose characters can it hold?
func (a *Analysis) Origins(v ssa.Value) []*Origin { return a.origins(v, nil, nil) }

// TemplateText is the text that a template is parsed from, where it is not
// constant.
type TemplateText struct {
	Pos     token.Pos
	Origins []*Origin
}

// TemplateTexts finds the templates of the program whose text is a value, and
// whose characters those are.
func (a *Analysis) TemplateTexts() []TemplateText {
	var out []TemplateText
	for _, f := range a.in.Funcs {
		for _, b := range f.Blocks {
			for _, instr := range b.Instrs {
				call, ok := instr.(*ssa.Call)
				if !ok {
					continue
				}
				fn := calleeFunc(call)
				if fn == nil || fn.Pkg() == nil || fn.Name() != "Parse" && fn.Name() != "MustParse" {
					continue
				}
				switch fn.Pkg().Path() {
				case "text/template", "html/template", "github.com/pinfold-dev/pinfold/prompt", "github.com/tmc/langchaingo/prompts":
				default:
					continue
				}
				all := a.spread(call)
				if len(all) == 0 || isConst(all[0]) {
					continue
				}
				out = append(out, TemplateText{call.Pos(), a.Origins(all[0])})
			}
		}
	}
	return out
}

// PathsApart returns an outside origin that reaches the slot without a fence and
// the same origin where it reaches the slot through one: the fence is there and a
// condition skips it.
func PathsApart(s *Slot) (bare, fenced *Origin) {
	through := append([]*Origin{}, s.Origins...)
	for _, c := range s.children {
		through = append(through, c.Origins...)
	}
	for _, b := range s.Origins {
		if !b.Crosses() || b.Fenced {
			continue
		}
		for _, f := range through {
			if f.Fenced && f.Class == b.Class && f.Pos == b.Pos {
				return b, f
			}
		}
	}
	return nil, nil
}
