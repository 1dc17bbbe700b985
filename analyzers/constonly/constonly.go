package constonly

import (
	"fmt"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/pinfold-dev/pinfold/analyzers/ignore"
)

// Analyzer reports PF004.
var Analyzer = &analysis.Analyzer{
	Name:     "constonly",
	Doc:      "report constant-only constructors used as values or given what is no constant (PF004)",
	URL:      "https://pkg.go.dev/github.com/pinfold-dev/pinfold/analyzers/constonly",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	report := ignore.Reporter(pass)
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	called := map[*ast.Ident]*ast.CallExpr{}
	in.Preorder([]ast.Node{(*ast.CallExpr)(nil)}, func(n ast.Node) {
		call := n.(*ast.CallExpr)
		if id := calledIdent(call.Fun); id != nil {
			called[id] = call
		}
	})
	in.Preorder([]ast.Node{(*ast.Ident)(nil)}, func(n ast.Node) {
		id := n.(*ast.Ident)
		fn, ok := pass.TypesInfo.Uses[id].(*types.Func)
		if !ok || fn.Pkg() == pass.Pkg {
			return
		}
		params := constants(fn)
		if len(params) == 0 {
			return
		}
		call := called[id]
		if call == nil {
			report(analysis.Diagnostic{Pos: id.Pos(), End: id.End(), Category: "PF004", Message: fmt.Sprintf(
				"PF004: %s.%s takes only constants and is used as a value: a generic function or reflection can give it any string", fn.Pkg().Name(), fn.Name())})
			return
		}
		for _, i := range params {
			if i >= len(call.Args) {
				continue
			}
			if tv, ok := pass.TypesInfo.Types[call.Args[i]]; ok && tv.Value == nil {
				report(analysis.Diagnostic{Pos: call.Args[i].Pos(), End: call.Args[i].End(), Category: "PF004", Message: fmt.Sprintf(
					"PF004: %s.%s takes only constants and is given a value", fn.Pkg().Name(), fn.Name())})
			}
		}
	})
	return nil, nil
}

func calledIdent(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return calledIdent(e.X)
	case *ast.IndexListExpr:
		return calledIdent(e.X)
	}
	return nil
}

// constants lists the parameters of an exported function whose type is an
// unexported basic type of the function's own package.
func constants(fn *types.Func) []int {
	if !fn.Exported() || fn.Signature().Recv() != nil || fn.Pkg() == nil {
		return nil
	}
	var out []int
	for i := range fn.Signature().Params().Len() {
		n, ok := types.Unalias(fn.Signature().Params().At(i).Type()).(*types.Named)
		if !ok || n.Obj().Exported() || n.Obj().Pkg() != fn.Pkg() {
			continue
		}
		if _, ok := n.Underlying().(*types.Basic); ok {
			out = append(out, i)
		}
	}
	return out
}
