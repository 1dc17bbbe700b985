package flow

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/ssa"
)

func itoa(n int) string { return strconv.Itoa(n) }

func tagValue(tag, key string) string { return reflect.StructTag(tag).Get(key) }

// written is an operand as the source has it: the argument of the call whose
// parenthesis is at pos, or a side of the operator there. It is empty when that is
// long, or not found.
func (a *Analysis) written(pos token.Pos, arg int) string {
	var file *ast.File
	for _, s := range a.in.Sources {
		for _, f := range s.Files {
			if f.FileStart <= pos && pos <= f.FileEnd {
				file = f
			}
		}
	}
	if file == nil {
		return ""
	}
	path, _ := astutil.PathEnclosingInterval(file, pos, pos)
	for _, n := range path {
		var e ast.Expr
		switch n := n.(type) {
		case *ast.CallExpr:
			if n.Lparen == pos && arg > 0 && arg <= len(n.Args) && !n.Ellipsis.IsValid() {
				e = n.Args[arg-1]
			}
		case *ast.BinaryExpr:
			if n.OpPos == pos && arg == sideX {
				e = n.X
			} else if n.OpPos == pos && arg == sideY {
				e = n.Y
			}
		case *ast.AssignStmt:
			if n.TokPos == pos && n.Tok == token.ADD_ASSIGN && arg == sideX {
				e = n.Lhs[0]
			} else if n.TokPos == pos && n.Tok == token.ADD_ASSIGN && arg == sideY {
				e = n.Rhs[0]
			}
		}
		if e == nil {
			continue
		}
		s := types.ExprString(e)
		if len(s) > 60 || strings.ContainsAny(s, "\n{") {
			return ""
		}
		return s
	}
	return ""
}

// describe names a value the way a reader of the source would: r.FormValue("q"),
// article.Body, question.
func describe(v ssa.Value) string {
	s := desc(v, 0)
	if len(s) > 80 {
		s = s[:77] + "…"
	}
	return s
}

func desc(v ssa.Value, depth int) string {
	if v == nil {
		return "?"
	}
	if depth > 6 {
		return "…"
	}
	switch x := v.(type) {
	case *ssa.Const:
		if x.Value != nil && x.Value.Kind() == constant.String {
			s := constant.StringVal(x.Value)
			if len(s) > 24 {
				s = s[:21] + "…"
			}
			return strconv.Quote(s)
		}
		if x.Value == nil {
			return "nil"
		}
		return x.Value.ExactString()
	case *ssa.Parameter, *ssa.FreeVar:
		return x.Name()
	case *ssa.Global:
		return x.Name()
	case *ssa.Alloc:
		if x.Comment != "" && x.Comment != "complit" && x.Comment != "varargs" && x.Comment != "slicelit" {
			return x.Comment
		}
		return typeName(x.Type())
	case *ssa.FieldAddr:
		return desc(x.X, depth+1) + "." + structField(x.X.Type(), x.Field)
	case *ssa.Field:
		return desc(x.X, depth+1) + "." + structField(x.X.Type(), x.Field)
	case *ssa.IndexAddr:
		return desc(x.X, depth+1) + "[" + index(x.Index) + "]"
	case *ssa.Index:
		return desc(x.X, depth+1) + "[" + index(x.Index) + "]"
	case *ssa.Lookup:
		return desc(x.X, depth+1) + "[" + desc(x.Index, depth+1) + "]"
	case *ssa.UnOp:
		if x.Op == token.ARROW {
			return "<-" + desc(x.X, depth+1)
		}
		return desc(x.X, depth+1)
	case *ssa.BinOp:
		return desc(x.X, depth+2) + " " + x.Op.String() + " " + desc(x.Y, depth+2)
	case *ssa.Phi:
		if x.Comment != "" && !strings.ContainsAny(x.Comment, "&| ") {
			return x.Comment
		}
		return "…"
	case *ssa.MakeInterface:
		return desc(x.X, depth)
	case *ssa.ChangeInterface:
		return desc(x.X, depth)
	case *ssa.ChangeType:
		return desc(x.X, depth)
	case *ssa.Convert:
		return desc(x.X, depth)
	case *ssa.Slice:
		return desc(x.X, depth+1)
	case *ssa.TypeAssert:
		return desc(x.X, depth+1)
	case *ssa.Extract:
		switch t := x.Tuple.(type) {
		case *ssa.Next:
			if r, ok := t.Iter.(*ssa.Range); ok {
				return "range " + desc(r.X, depth+1)
			}
		}
		return desc(x.Tuple, depth)
	case *ssa.Call:
		return describeCallDepth(x.Common(), depth)
	case *ssa.MakeMap:
		return "map"
	case *ssa.Function:
		return x.Name()
	}
	return v.Name()
}

func index(v ssa.Value) string {
	if k, ok := v.(*ssa.Const); ok && k.Value != nil {
		return k.Value.ExactString()
	}
	return "i"
}

func describeCall(c *ssa.CallCommon) string { return describeCallDepth(c, 0) }

func describeCallDepth(c *ssa.CallCommon, depth int) string {
	var name string
	args := c.Args
	switch {
	case c.IsInvoke():
		name = desc(c.Value, depth+1) + "." + c.Method.Name()
	default:
		if fn := c.StaticCallee(); fn != nil {
			name = fn.Name()
			if o := fn.Origin(); o != nil {
				name = o.Name()
			}
			if fn.Signature.Recv() != nil && len(args) > 0 {
				name = desc(args[0], depth+1) + "." + name
				args = args[1:]
			} else if p := pkgOf(fn); p != nil && fn.Parent() == nil {
				name = p.Name() + "." + name
			}
		} else if b, ok := c.Value.(*ssa.Builtin); ok {
			name = b.Name()
		} else {
			name = desc(c.Value, depth+1)
		}
	}
	var parts []string
	for i, a := range args {
		if i == 3 {
			parts = append(parts, "…")
			break
		}
		if n := namedOf(a.Type()); n != nil && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "context" {
			parts = append(parts, "ctx")
			continue
		}
		parts = append(parts, desc(a, depth+2))
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

func structField(t types.Type, f int) string {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if s, ok := t.Underlying().(*types.Struct); ok && f < s.NumFields() {
		return s.Field(f).Name()
	}
	return "?"
}

func fieldName(k fieldKey) string {
	if k.t == nil {
		return "?"
	}
	return typeName(k.t) + "." + structField(k.t, k.f)
}

func typeName(t types.Type) string {
	if n := namedOf(t); n != nil {
		return n.Obj().Name()
	}
	return types.TypeString(t, func(*types.Package) string { return "" })
}

func pkgOf(fn *ssa.Function) *types.Package {
	for f := fn; f != nil; f = f.Parent() {
		if f.Pkg != nil {
			return f.Pkg.Pkg
		}
		if o := f.Origin(); o != nil && o != f && o.Pkg != nil {
			return o.Pkg.Pkg
		}
		if obj := f.Object(); obj != nil && obj.Pkg() != nil {
			return obj.Pkg()
		}
	}
	return nil
}

// funcName is package.Func, package.Type.Method, package.Func$1 for a closure.
func funcName(fn *ssa.Function) string {
	if fn == nil {
		return ""
	}
	s := shortFunc(fn)
	if p := pkgOf(fn); p != nil {
		return p.Name() + "." + s
	}
	return s
}

func shortFunc(fn *ssa.Function) string {
	if o := fn.Origin(); o != nil {
		fn = o
	}
	if recv := fn.Signature.Recv(); recv != nil && fn.Parent() == nil {
		return typeName(recv.Type()) + "." + fn.Name()
	}
	return fn.Name()
}

func shortTypes(fn *types.Func) string {
	if fn == nil {
		return "?"
	}
	if fn.Pkg() == nil {
		return fn.Name()
	}
	return fn.Pkg().Name() + "." + funcKey(fn)
}

// posOf is the position of a value, or of the nearest operand that has one.
func posOf(v ssa.Value) token.Pos {
	for range 8 {
		if v.Pos().IsValid() {
			return v.Pos()
		}
		i, ok := v.(ssa.Instruction)
		if !ok {
			return token.NoPos
		}
		ops := i.Operands(nil)
		if len(ops) == 0 || *ops[0] == nil {
			return token.NoPos
		}
		v = *ops[0]
	}
	return token.NoPos
}

// scalarType reports whether a value of the type cannot carry text.
func scalarType(t *Table, typ types.Type) bool {
	switch u := typ.Underlying().(type) {
	case *types.Basic:
		return u.Info()&(types.IsBoolean|types.IsNumeric) != 0 && u.Kind() != types.Byte && u.Kind() != types.Rune
	}
	if _, ok := t.named("scalar", typ); ok {
		return true
	}
	return false
}
