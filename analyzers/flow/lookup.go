package flow

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A Lookup is a call that asks for a fence, a banner or a trust class by a name
// that is always the same one.
type Lookup struct {
	Call  *ssa.Call
	Pos   token.Pos // of the call
	Func  string
	Value string // the one name
	How   string // "the literal", "the constant", "a parameter that only ever receives"
	Arg   int    // the argument, the receiver not counted
}

// LookupNames are the usual names of such functions, in any capitalisation of
// the first letter.
var lookupNames = []string{"fence", "trustFence", "untrustedBanner", "wrapUntrusted", "trustLabel", "trustLabelFor", "trustOf", "laneTrustOf", "provenanceNote"}

// nameParams are what a parameter that names a lane is called.
var nameParams = map[string]bool{"lane": true, "channel": true, "source": true, "src": true, "origin": true, "trust": true, "class": true, "kind": true, "name": true, "key": true, "id": true, "label": true}

// Lookups finds the lookups that can only ever name one lane. A parameter counts
// when every caller in the program passes the same constant, so the answer is as
// complete as the program is; exported functions whose callers may be elsewhere
// are judged only when whole is set.
func (a *Analysis) Lookups(names []string, whole bool) []Lookup {
	if len(names) == 0 {
		names = lookupNames
	}
	is := map[string]bool{}
	for _, n := range names {
		is[n] = true
		is[strings.ToUpper(n[:1])+n[1:]] = true
	}
	var out []Lookup
	for _, f := range a.in.Funcs {
		if a.in.Report != nil && !a.in.Report(f) || f.Synthetic != "" && f.Origin() == nil {
			continue
		}
		for _, b := range f.Blocks {
			for _, instr := range b.Instrs {
				call, ok := instr.(*ssa.Call)
				if !ok {
					continue
				}
				name, sig := callName(call)
				if !is[name] || sig == nil {
					continue
				}
				i := nameParam(sig)
				all := a.spread(call)
				if i < 0 || i >= len(all) {
					continue
				}
				if v, how, ok := a.always(all[i], whole, 0); ok {
					out = append(out, Lookup{call, call.Pos(), name, v, how, i})
				}
			}
		}
	}
	return out
}

func callName(call *ssa.Call) (string, *types.Signature) {
	c := call.Common()
	if c.IsInvoke() {
		return c.Method.Name(), c.Method.Signature()
	}
	if fn := c.StaticCallee(); fn != nil {
		if o := fn.Origin(); o != nil {
			fn = o
		}
		return fn.Name(), fn.Signature
	}
	switch v := c.Value.(type) {
	case *ssa.UnOp:
		if fa, ok := v.X.(*ssa.FieldAddr); ok {
			return structField(fa.X.Type(), fa.Field), c.Signature()
		}
		if g, ok := v.X.(*ssa.Global); ok {
			return g.Name(), c.Signature()
		}
	}
	return "", nil
}

// nameParam is the parameter that names a lane: by its own name, else the only
// one there is. A function whose only string is the text to be fenced is no lookup.
func nameParam(sig *types.Signature) int {
	only, n := -1, 0
	for i := range sig.Params().Len() {
		p := sig.Params().At(i)
		if !isStringish(p.Type()) {
			continue
		}
		if nameParams[p.Name()] {
			return i
		}
		n++
		only = i
	}
	if n != 1 {
		return -1
	}
	switch sig.Params().At(only).Name() {
	case "text", "s", "content", "body", "value", "v", "data", "str", "input", "msg", "message", "t":
		return -1
	}
	if sig.Params().Len() != 1 {
		return -1
	}
	return only
}

// always reports the one constant that v can be.
func (a *Analysis) always(v ssa.Value, whole bool, depth int) (value, how string, ok bool) {
	if s, is := constString(v); is {
		return s, "the constant", true
	}
	if depth > 4 {
		return "", "", false
	}
	switch x := v.(type) {
	case *ssa.ChangeType:
		return a.always(x.X, whole, depth)
	case *ssa.Phi:
		for i, e := range x.Edges {
			s, _, is := a.always(e, whole, depth+1)
			if !is || i > 0 && s != value {
				return "", "", false
			}
			value = s
		}
		return value, "a variable that is always", len(x.Edges) > 0
	case *ssa.Parameter:
		fn := x.Parent()
		if obj := fn.Object(); obj != nil && obj.Exported() && !whole {
			return "", "", false
		}
		sites := a.callers[fn]
		if len(sites) == 0 {
			return "", "", false
		}
		for i, s := range sites {
			for k, p := range fn.Params {
				if p != x {
					continue
				}
				arg, is := argFor(s.site, fn, k)
				if !is {
					return "", "", false
				}
				str, _, is := a.always(arg, whole, depth+1)
				if !is || i > 0 && str != value {
					return "", "", false
				}
				value = str
			}
		}
		return value, "a parameter that only ever receives", true
	}
	return "", "", false
}
