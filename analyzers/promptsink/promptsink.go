package promptsink

import (
	"fmt"

	"golang.org/x/tools/go/analysis"

	"github.com/pinfold-dev/pinfold/analyzers/flow"
	"github.com/pinfold-dev/pinfold/analyzers/flow/flowpass"
	"github.com/pinfold-dev/pinfold/analyzers/ignore"
)

// Analyzer reports PF001.
var Analyzer = &analysis.Analyzer{
	Name:     "promptsink",
	Doc:      "report untrusted text that reaches model input outside a fence (PF001)",
	URL:      "https://pkg.go.dev/github.com/pinfold-dev/pinfold/analyzers/promptsink",
	Requires: []*analysis.Analyzer{flowpass.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	report := ignore.Reporter(pass)
	r := pass.ResultOf[flowpass.Analyzer].(*flowpass.Result)
	for _, s := range r.Slots {
		if !s.Crosses() || s.Fence() != flow.Unfenced {
			continue
		}
		m := s.Main()
		d := analysis.Diagnostic{
			Pos: r.Pos(s.Pos), Category: "PF001",
			Message: fmt.Sprintf("PF001: %s reaches the %s text of %s outside a fence: %s can write it (%s)", s.Name, s.Sinks[0].Role, s.Sinks[0].Func, m.Class.Who(), m.Detail),
		}
		for _, st := range m.Path {
			if p := r.Pos(st.Pos); p.IsValid() {
				d.Related = append(d.Related, analysis.RelatedInformation{Pos: p, Message: st.What})
			}
		}
		if d.Pos.IsValid() {
			report(d)
		}
	}
	return nil, nil
}
