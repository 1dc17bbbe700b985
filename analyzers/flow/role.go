package flow

import (
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
