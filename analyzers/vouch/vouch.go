package vouch

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"path"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/pinfold-dev/pinfold/analyzers/ignore"
)

// Analyzer reports PF005.
var Analyzer = &analysis.Analyzer{
	Name:     "vouch",
	Doc:      "report unchecked calls without a constant reason or outside the allow-list (PF005)",
	URL:      "https://pkg.go.dev/github.com/pinfold-dev/pinfold/analyzers/vouch",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

func init() {
	Analyzer.Flags.String("allow", "", "comma-separated packages (or patterns) that may vouch; empty: any may")
}

const unchecked = "github.com/pinfold-dev/pinfold/trust/unchecked"

func run(pass *analysis.Pass) (any, error) {
	emit := ignore.Reporter(pass)
	listed, limited := allowed(pass)
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.Preorder([]ast.Node{(*ast.CallExpr)(nil)}, func(n ast.Node) {
		call := n.(*ast.CallExpr)
		fn := callee(pass.TypesInfo, call)
		if ignore.Test(pass, call.Pos()) {
			return
		}
		if fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != unchecked || pass.Pkg.Path() == unchecked {
			return
		}
		sig := fn.Signature()
		reason := -1
		for i := range sig.Params().Len() {
			if sig.Params().At(i).Name() == "reason" {
				reason = i
			}
		}
		report := func(format string, args ...any) {
			emit(analysis.Diagnostic{Pos: call.Pos(), End: call.End(), Category: "PF005", Message: "PF005: " + fmt.Sprintf(format, args...)})
		}
		if limited && !listed {
			report("unchecked.%s: this package is not on the list of those that may vouch", fn.Name())
			return
		}
		if reason < 0 || reason >= len(call.Args) {
			return
		}
		v := pass.TypesInfo.Types[call.Args[reason]].Value
		switch {
		case v == nil && !listed:
			report("unchecked.%s: the reason is not a constant: nobody can read it beside the call", fn.Name())
		case v != nil && v.Kind() == constant.String && strings.TrimSpace(constant.StringVal(v)) == "":
			report("unchecked.%s: the reason is empty: write why nobody outside can have chosen this", fn.Name())
		}
	})
	return nil, nil
}

// allowed reports whether the package is on the list, and whether there is one.
func allowed(pass *analysis.Pass) (listed, limited bool) {
	list := pass.Analyzer.Flags.Lookup("allow").Value.String()
	if list == "" {
		return false, false
	}
	for p := range strings.SplitSeq(list, ",") {
		if ok, _ := path.Match(strings.TrimSpace(p), pass.Pkg.Path()); ok || strings.HasSuffix(pass.Pkg.Path(), "/"+strings.TrimSpace(p)) {
			return true, true
		}
	}
	return false, true
}

func callee(info *types.Info, call *ast.CallExpr) *types.Func {
	switch e := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		fn, _ := info.Uses[e].(*types.Func)
		return fn
	case *ast.SelectorExpr:
		fn, _ := info.Uses[e.Sel].(*types.Func)
		return fn
	}
	return nil
}
