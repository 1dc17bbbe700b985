package flow

import (
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// sink is a value that becomes model input.
type sink struct {
	fn   *ssa.Function
	pos  token.Pos
	name string
	role string
	vals []ssa.Value
}

func (a *Analysis) findSink(f *ssa.Function, instr ssa.Instruction) {
	if a.in.Report != nil && !a.in.Report(f) {
		return
	}
	if f.Synthetic != "" && f.Origin() == nil && f.Name() != "init" {
		return // wrappers repeat what they wrap
	}
	home := pkgOf(f)
	add := func(pos token.Pos, name, role string, vals ...ssa.Value) {
		if roleFlag(role) == 0 && role != "tool-description" {
			if r := guardedRole(instr.Block()); r != "" {
				role = r
			}
		}
		var text []ssa.Value
		for _, v := range vals {
			if v != nil && carriesText(v.Type(), 0) {
				text = append(text, v)
			}
		}
		if len(text) > 0 || len(vals) > 0 && isConst(vals[0]) {
			a.sinks = append(a.sinks, sink{fn: f, pos: pos, name: name, role: role, vals: text})
		}
	}
	switch i := instr.(type) {
	case *ssa.Store:
		fa, ok := i.Addr.(*ssa.FieldAddr)
		if !ok {
			return
		}
		n := namedOf(fa.X.Type())
		if n == nil || n.Obj().Pkg() == nil {
			return
		}
		if a.inReply(fa.X) {
			return
		}
		listed := n.Obj().Pkg() != home // a client library's own code makes and merges messages: its callers are the sinks
		st, ok := n.Underlying().(*types.Struct)
		if !ok {
			return
		}
		name := st.Field(fa.Field).Name()
		if r, ok := a.table.find("field", n.Obj().Pkg().Path(), n.Obj().Name()+"."+name); ok {
			if !listed {
				return
			}
			role := r.role
			if sib, ok := strings.CutPrefix(role, "@"); ok {
				role = siblingRole(fa, st, sib)
			}
			add(i.Pos(), n.Obj().Pkg().Name()+"."+n.Obj().Name()+"."+name, role, i.Val)
		} else if role, ok := a.wireRole(n, st, fa); ok {
			add(i.Pos(), n.Obj().Pkg().Name()+"."+n.Obj().Name()+"."+name, role, i.Val)
		}
	case *ssa.ChangeType:
		a.findConversion(i, i.X, add)
	case *ssa.Convert:
		a.findConversion(i, i.X, add)
	case ssa.CallInstruction:
		fn := calleeFunc(i)
		r, ok := a.table.function("sink", fn)
		if ok && fn.Pkg() == home {
			return
		}
		if !ok {
			if a.in.Facts != nil && fn != nil && len(a.callees[i]) == 0 {
				if s, ok := a.in.Facts.Summary(fn); ok {
					for _, ps := range s.Sinks {
						if v, ok := argOfParam(i, ps.Param); ok {
							add(i.Pos(), ps.Func, ps.Role, v)
						}
					}
				}
			}
			return
		}
		role := r.role
		all := a.spread(i)
		if n, ok := strings.CutPrefix(role, "@"); ok {
			role = "message"
			if k, err := strconv.Atoi(n); err == nil && k < len(all) {
				if s, ok := constString(all[k]); ok {
					role = s
				}
			}
		}
		var vals []ssa.Value
		for k, v := range all {
			if r.args.has(k) {
				vals = append(vals, v)
			}
		}
		if len(vals) == 0 && len(all) > 0 {
			vals = all[len(all)-1:] // a release that takes fewer arguments
		}
		add(i.Pos(), fn.Pkg().Name()+"."+funcKey(fn), roleName(role), vals...)
	}
}

// inReply reports whether an address lies inside a value of a type that comes from
// outside: a message that is built into a reply is a reply.
func (a *Analysis) inReply(v ssa.Value) bool {
	for range 8 {
		switch x := v.(type) {
		case *ssa.FieldAddr:
			if r, ok := a.table.named("type", x.X.Type()); ok && r.class.Trust() == Untrusted {
				return true
			}
			v = x.X
			continue
		case *ssa.Alloc: // a literal that is then stored into a reply
			for _, r := range *x.Referrers() {
				load, ok := r.(*ssa.UnOp)
				if !ok {
					continue
				}
				for _, rr := range *load.Referrers() {
					if st, ok := rr.(*ssa.Store); ok && st.Val == load {
						if fa, ok := st.Addr.(*ssa.FieldAddr); ok && a.inReply(fa) {
							return true
						}
					}
				}
			}
		}
		return false
	}
	return false
}

func (a *Analysis) findConversion(i ssa.Value, x ssa.Value, add func(token.Pos, string, string, ...ssa.Value)) {
	n, ok := types.Unalias(i.Type()).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return
	}
	if r, ok := a.table.named("conv", n); ok {
		add(i.Pos(), n.Obj().Pkg().Name()+"."+n.Obj().Name(), r.role, x)
	}
}

// spread lists the arguments of a call without the receiver, variadic elements
// one by one where they are written out.
func (a *Analysis) spread(call ssa.CallInstruction) []ssa.Value {
	c := call.Common()
	start := 0
	if !c.IsInvoke() && c.Signature().Recv() != nil {
		start = 1
	}
	var vals []ssa.Value
	for k := start; k < len(c.Args); k++ {
		if elems, ok := variadic(call, k); ok {
			vals = append(vals, elems...)
			continue
		}
		vals = append(vals, c.Args[k])
	}
	return vals
}

// siblingRole is the constant stored to the field named sib of the same object.
func siblingRole(fa *ssa.FieldAddr, st *types.Struct, sib string) string {
	refs := fa.X.Referrers()
	if refs == nil {
		return "message"
	}
	for _, r := range *refs {
		o, ok := r.(*ssa.FieldAddr)
		if !ok || st.Field(o.Field).Name() != sib || o.Referrers() == nil {
			continue
		}
		for _, rr := range *o.Referrers() {
			if s, ok := rr.(*ssa.Store); ok && s.Addr == o {
				if str, ok := constString(s.Val); ok {
					return roleName(str)
				}
			}
		}
	}
	return "message"
}

func roleName(s string) string {
	switch s {
	case "developer":
		return "system"
	case "human":
		return "user"
	case "ai", "model", "bot":
		return "assistant"
	case "function", "toolResult":
		return "tool"
	case "":
		return "message"
	}
	return s
}

func constString(v ssa.Value) (string, bool) {
	switch x := v.(type) {
	case *ssa.Const:
		if x.Value != nil && x.Value.Kind() == constant.String {
			return constant.StringVal(x.Value), true
		}
	case *ssa.ChangeType:
		return constString(x.X)
	case *ssa.Convert:
		return constString(x.X)
	case *ssa.MakeInterface:
		return constString(x.X)
	}
	return "", false
}

func isConst(v ssa.Value) bool {
	switch x := v.(type) {
	case *ssa.Const:
		return true
	case *ssa.ChangeType:
		return isConst(x.X)
	case *ssa.Convert:
		return isConst(x.X)
	case *ssa.MakeInterface:
		return isConst(x.X)
	}
	return false
}

// carriesText reports whether a value of the type can hold text that is not yet
// inside another sink's type.
func carriesText(t types.Type, depth int) bool {
	if depth > 3 {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0 || u.Kind() == types.UnsafePointer
	case *types.Slice:
		if b, ok := u.Elem().Underlying().(*types.Basic); ok && b.Kind() == types.Byte {
			return true
		}
		return carriesText(u.Elem(), depth+1)
	case *types.Pointer:
		return carriesText(u.Elem(), depth+1)
	case *types.Map:
		return carriesText(u.Elem(), depth+1) || carriesText(u.Key(), depth+1)
	case *types.Struct:
		// param.Opt[string] and its like: a struct that wraps one value.
		if n, ok := types.Unalias(t).(*types.Named); ok && n.TypeArgs().Len() > 0 {
			for i := range n.TypeArgs().Len() {
				if carriesText(n.TypeArgs().At(i), depth+1) {
					return true
				}
			}
		}
		return false
	case *types.Interface, *types.TypeParam:
		return true
	}
	return false
}

// wireRole recognises a program's own types for a chat endpoint's JSON: a message
// (fields called role and content, or role and parts), the text parts of one, and
// a request (a prompt next to a model, or to the settings of one).
func (a *Analysis) wireRole(n *types.Named, st *types.Struct, fa *ssa.FieldAddr) (string, bool) {
	me := jsonName(st.Tag(fa.Field))
	switch me {
	case "content", "prompt", "system", "instructions", "input", "text":
	default:
		return "", false
	}
	names := jsonNames(st)
	request := false
	for _, k := range []string{"model", "max_tokens", "max_tokens_to_sample", "temperature", "top_p", "top_k", "num_predict"} {
		if _, ok := names[k]; ok {
			request = true
		}
	}
	_, messages := names["messages"]
	switch me {
	case "content":
		if role, ok := names["role"]; ok && isStringish(st.Field(role).Type()) && isPlainText(st.Field(fa.Field).Type()) {
			return siblingRole(fa, st, st.Field(role).Name()), true
		}
	case "prompt":
		return "prompt", request && isStringish(st.Field(fa.Field).Type())
	case "system":
		_, prompt := names["prompt"]
		return "system", (request || messages) && (messages || prompt) && carriesText(st.Field(fa.Field).Type(), 0)
	case "instructions":
		_, input := names["input"]
		return "system", input && request
	case "input":
		_, inst := names["instructions"]
		return "user", inst && request && carriesText(st.Field(fa.Field).Type(), 0)
	case "text":
		return "part", isStringish(st.Field(fa.Field).Type()) && a.wireParts()[n.Origin()]
	}
	return "", false
}

// wireParts is the set of types that a message of the program's own holds as its
// content.
func (a *Analysis) wireParts() map[*types.Named]bool {
	if a.parts != nil {
		return a.parts
	}
	a.parts = map[*types.Named]bool{}
	for _, src := range a.in.Sources {
		if src.Pkg == nil {
			continue
		}
		scope := src.Pkg.Scope()
		for _, name := range scope.Names() {
			tn, ok := scope.Lookup(name).(*types.TypeName)
			if !ok {
				continue
			}
			st, ok := tn.Type().Underlying().(*types.Struct)
			if !ok {
				continue
			}
			names := jsonNames(st)
			if _, ok := names["role"]; !ok {
				continue
			}
			for _, k := range []string{"content", "parts"} {
				i, ok := names[k]
				if !ok {
					continue
				}
				t := st.Field(i).Type()
				if s, ok := t.Underlying().(*types.Slice); ok {
					t = s.Elem()
				}
				if part := namedOf(t); part != nil {
					a.parts[part] = true
				}
			}
		}
	}
	return a.parts
}

func jsonNames(st *types.Struct) map[string]int {
	names := map[string]int{}
	for i := range st.NumFields() {
		if j := jsonName(st.Tag(i)); j != "" {
			names[j] = i
		}
	}
	return names
}

// isPlainText is a string, a pointer to one, or an any that may hold one; content
// made of parts is looked at where the parts are made.
func isPlainText(t types.Type) bool {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if i, ok := t.Underlying().(*types.Interface); ok {
		return i.NumMethods() == 0
	}
	return isStringish(t)
}

func isStringish(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

func jsonName(tag string) string {
	v := tagValue(tag, "json")
	name, _, _ := strings.Cut(v, ",")
	return name
}

// argOfParam is the argument of a call for a parameter, the receiver first.
func argOfParam(call ssa.CallInstruction, param int) (ssa.Value, bool) {
	c := call.Common()
	if c.IsInvoke() {
		if param == 0 {
			return c.Value, true
		}
		param--
	}
	if param < 0 || param >= len(c.Args) {
		return nil, false
	}
	return c.Args[param], true
}
