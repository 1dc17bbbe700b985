package flow

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// A walk from a message of one role does not enter messages of another: a program
// keeps them in one list and looks at the role before it uses one.
const (
	fSystem flags = 1 << (iota + 4)
	fUser
	fAssistant
	fTool

	fRoles = fSystem | fUser | fAssistant | fTool
)

func roleFlag(role string) flags {
	switch role {
	case "system":
		return fSystem
	case "user":
		return fUser
	case "assistant":
		return fAssistant
	case "tool":
		return fTool
	}
	return 0
}

// otherRole reports whether base is a message with a constant role that is not
// the one the walk came from.
func otherRole(f flags, base ssa.Value) bool {
	f &= fRoles
	if f == 0 {
		return false
	}
	t := base.Type()
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok || base.Referrers() == nil {
		return false
	}
	for _, r := range *base.Referrers() {
		fa, ok := r.(*ssa.FieldAddr)
		if !ok || st.Field(fa.Field).Name() != "Role" {
			continue
		}
		for _, rr := range *fa.Referrers() {
			if s, ok := rr.(*ssa.Store); ok && s.Addr == fa {
				str, ok := constString(s.Val)
				if !ok {
					return false
				}
				g := roleFlag(roleName(str))
				return g != 0 && g != f
			}
		}
	}
	return false
}

// guardedRole is the role that a branch has already asked for where an instruction
// stands: inside `case RoleSystem:` of a switch over msg.Role, the text is that of
// a system message, whatever it is handed to.
func guardedRole(b *ssa.BasicBlock) string {
	for d := b; d != nil; d = d.Idom() {
		up := d.Idom()
		if up == nil || len(up.Instrs) == 0 {
			return ""
		}
		br, ok := up.Instrs[len(up.Instrs)-1].(*ssa.If)
		if !ok || len(up.Succs) != 2 || up.Succs[0] == up.Succs[1] || len(up.Succs[0].Preds) != 1 || !up.Succs[0].Dominates(b) {
			continue
		}
		cmp, ok := br.Cond.(*ssa.BinOp)
		if !ok || cmp.Op != token.EQL {
			continue
		}
		for _, side := range [][2]ssa.Value{{cmp.X, cmp.Y}, {cmp.Y, cmp.X}} {
			role, ok := constString(side[1])
			if ok && isRole(side[0]) && roleFlag(roleName(role)) != 0 {
				return roleName(role)
			}
		}
	}
	return ""
}

// isRole reports whether a value is a field named Role, or a call of GetRole or
// Role.
func isRole(v ssa.Value) bool {
	switch x := v.(type) {
	case *ssa.UnOp:
		fa, ok := x.X.(*ssa.FieldAddr)
		return ok && structField(fa.X.Type(), fa.Field) == "Role"
	case *ssa.Field:
		return structField(x.X.Type(), x.Field) == "Role"
	case *ssa.ChangeType:
		return isRole(x.X)
	case *ssa.Convert:
		return isRole(x.X)
	case *ssa.Call:
		fn := calleeFunc(x)
		return fn != nil && (fn.Name() == "GetRole" || fn.Name() == "Role")
	}
	return false
}
