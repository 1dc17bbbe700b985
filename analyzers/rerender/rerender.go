package rerender

import (
	"fmt"

	"golang.org/x/tools/go/analysis"

	"github.com/pinfold-dev/pinfold/analyzers/flow"
	"github.com/pinfold-dev/pinfold/analyzers/flow/flowpass"
	"github.com/pinfold-dev/pinfold/analyzers/ignore"
)

// Analyzer reports PF006.
var Analyzer = &analysis.Analyzer{
	Name:     "rerender",
	Doc:      "report model output used as template text or as a system message (PF006)",
	URL:      "https://pkg.go.dev/github.com/pinfold-dev/pinfold/analyzers/rerender",
	Requires: []*analysis.Analyzer{flowpass.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	report := ignore.Reporter(pass)
	r := pass.ResultOf[flowpass.Analyzer].(*flowpass.Result)
	for _, s := range r.Slots {
		for _, o := range s.Origins {
			if o.Class.Authority() != flow.Model || o.Fenced || o.Scalar || len(s.Sinks) == 0 || s.Sinks[0].Role != "system" {
				continue
			}
			if p := r.Pos(s.Pos); p.IsValid() {
				report(analysis.Diagnostic{Pos: p, Category: "PF006", Message: fmt.Sprintf(
					"PF006: %s was written by a model (%s) and becomes part of a system message", s.Name, o.Detail)})
			}
			break
		}
	}
	if r.Analysis == nil {
		return nil, nil
	}
	for _, t := range r.Analysis.TemplateTexts() {
		for _, o := range t.Origins {
			if o.Class.Authority() == flow.Model && !o.Scalar {
				report(analysis.Diagnostic{Pos: t.Pos, Category: "PF006", Message: fmt.Sprintf(
					"PF006: the text of this template was written by a model (%s): its marks would be obeyed", o.Detail)})
				break
			}
		}
	}
	return nil, nil
}
