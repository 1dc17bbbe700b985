package toolclass

import (
	"go/ast"
	"go/constant"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/pinfold-dev/pinfold/analyzers/ignore"
)

// Analyzer reports PF007.
var Analyzer = &analysis.Analyzer{
	Name:     "toolclass",
	Doc:      "report tools registered without a class or with sensitive parameters undeclared (PF007)",
	URL:      "https://pkg.go.dev/github.com/pinfold-dev/pinfold/analyzers/toolclass",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

const (
	toolPkg   = "github.com/pinfold-dev/pinfold/tool"
	policyPkg = "github.com/pinfold-dev/pinfold/policy"
)

func run(pass *analysis.Pass) (any, error) {
	emit := ignore.Reporter(pass)
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.Preorder([]ast.Node{(*ast.CompositeLit)(nil)}, func(n ast.Node) {
		lit := n.(*ast.CompositeLit)
		if ignore.Test(pass, lit.Pos()) || !is(pass.TypesInfo.TypeOf(lit), toolPkg, "Tool") || !keyed(lit) || field(lit, "Func") == nil {
			return // a zero value, or one that is filled in later
		}
		report := func(n ast.Node, msg string) {
			emit(analysis.Diagnostic{Pos: n.Pos(), End: n.End(), Category: "PF007", Message: "PF007: " + msg})
		}
		decl := field(lit, "Policy")
		if decl == nil {
			report(lit, "a tool is registered without a policy: say whether it reads or acts")
			return
		}
		p, ok := ast.Unparen(decl).(*ast.CompositeLit)
		if !ok || !is(pass.TypesInfo.TypeOf(p), policyPkg, "Tool") || len(p.Elts) > 0 && !keyed(p) {
			return // a value from elsewhere
		}
		class := field(p, "Class")
		if class == nil {
			report(p, "a tool is registered without a class: write policy.Read or policy.Effect")
			return
		}
		v := pass.TypesInfo.Types[class].Value
		if v == nil {
			return
		}
		if n, ok := constant.Int64Val(v); ok && n == 0 && field(p, "Sensitive") == nil {
			report(p, "an effect is registered with its sensitive parameters undeclared: name them, or write an empty list")
		}
	})
	return nil, nil
}

func is(t types.Type, pkg, name string) bool {
	if t == nil {
		return false
	}
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == pkg && n.Obj().Name() == name
}

func keyed(lit *ast.CompositeLit) bool {
	if len(lit.Elts) == 0 {
		return false
	}
	_, ok := lit.Elts[0].(*ast.KeyValueExpr)
	return ok
}

func field(lit *ast.CompositeLit, name string) ast.Expr {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok && id.Name == name {
				return kv.Value
			}
		}
	}
	return nil
}
