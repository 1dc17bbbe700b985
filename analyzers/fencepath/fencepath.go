package fencepath

import (
	"fmt"

	"golang.org/x/tools/go/analysis"

	"github.com/pinfold-dev/pinfold/analyzers/flow"
	"github.com/pinfold-dev/pinfold/analyzers/flow/flowpass"
	"github.com/pinfold-dev/pinfold/analyzers/ignore"
)

// Analyzer reports PF010.
var Analyzer = &analysis.Analyzer{
	Name:     "fencepath",
	Doc:      "report fences that a condition can skip (PF010)",
	URL:      "https://pkg.go.dev/github.com/pinfold-dev/pinfold/analyzers/fencepath",
	Requires: []*analysis.Analyzer{flowpass.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	report := ignore.Reporter(pass)
	r := pass.ResultOf[flowpass.Analyzer].(*flowpass.Result)
	for _, s := range r.Slots {
		bare, fenced := flow.PathsApart(s)
		if bare == nil || fenced == nil {
			continue
		}
		if p := r.Pos(s.Pos); p.IsValid() {
			report(analysis.Diagnostic{Pos: p, Category: "PF010", Message: fmt.Sprintf(
				"PF010: %s is fenced on one path and bare on another: %s can write it (%s)", s.Name, bare.Class.Who(), bare.Detail)})
		}
	}
	return nil, nil
}
