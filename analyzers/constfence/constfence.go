package constfence

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/astutil"

	"github.com/pinfold-dev/pinfold/analyzers/flow/flowpass"
	"github.com/pinfold-dev/pinfold/analyzers/ignore"
)

// Analyzer reports PF002.
var Analyzer = &analysis.Analyzer{
	Name:     "constfence",
	Doc:      "report fence and trust lookups by a constant (PF002)",
	URL:      "https://pkg.go.dev/github.com/pinfold-dev/pinfold/analyzers/constfence",
	Requires: []*analysis.Analyzer{flowpass.Analyzer},
	Run:      run,
}

func init() {
	Analyzer.Flags.String("names", "", "comma-separated names of lookup functions")
}

func run(pass *analysis.Pass) (any, error) {
	report := ignore.Reporter(pass)
	r := pass.ResultOf[flowpass.Analyzer].(*flowpass.Result)
	if r.Analysis == nil {
		return nil, nil
	}
	var names []string
	if s := pass.Analyzer.Flags.Lookup("names").Value.String(); s != "" {
		names = strings.Split(s, ",")
	}
	for _, l := range r.Analysis.Lookups(names, false) {
		d := analysis.Diagnostic{Pos: l.Pos, Category: "PF002", Message: fmt.Sprintf(
			"PF002: %s is looked up by %s %s: it covers that lane and no other", l.Func, l.How, strconv.Quote(l.Value))}
		if fix, ok := useLane(pass, l.Pos, l.Arg); ok {
			d.SuggestedFixes = []analysis.SuggestedFix{fix}
		}
		report(d)
	}
	return nil, nil
}

// useLane offers to replace a literal by the one value in scope that names the
// lane being packed.
func useLane(pass *analysis.Pass, lparen token.Pos, arg int) (analysis.SuggestedFix, bool) {
	var none analysis.SuggestedFix
	for _, f := range pass.Files {
		if lparen < f.FileStart || lparen > f.FileEnd {
			continue
		}
		path, _ := astutil.PathEnclosingInterval(f, lparen, lparen)
		for _, n := range path {
			call, ok := n.(*ast.CallExpr)
			if !ok || call.Lparen != lparen || arg >= len(call.Args) {
				continue
			}
			lit, ok := call.Args[arg].(*ast.BasicLit)
			if !ok {
				return none, false
			}
			name := ""
			for s := pass.Pkg.Scope().Innermost(lparen); s != nil && s != pass.Pkg.Scope(); s = s.Parent() {
				for _, n := range s.Names() {
					v, ok := s.Lookup(n).(*types.Var)
					if !ok || v.Pos() > lparen || n != "lane" && n != "channel" && n != "source" {
						continue
					}
					if b, ok := v.Type().Underlying().(*types.Basic); !ok || b.Info()&types.IsString == 0 {
						continue
					}
					if name != "" {
						return none, false
					}
					name = n
				}
			}
			if name == "" {
				return none, false
			}
			return analysis.SuggestedFix{Message: "look it up by " + name, TextEdits: []analysis.TextEdit{{Pos: lit.Pos(), End: lit.End(), NewText: []byte(name)}}}, true
		}
	}
	return none, false
}
