package authorship

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/pinfold-dev/pinfold/analyzers/flow"
	"github.com/pinfold-dev/pinfold/analyzers/flow/flowpass"
	"github.com/pinfold-dev/pinfold/analyzers/ignore"
)

// Analyzer reports PF009.
var Analyzer = &analysis.Analyzer{
	Name:     "authorship",
	Doc:      "report columns declared trusted that an outside source writes (PF009)",
	URL:      "https://pkg.go.dev/github.com/pinfold-dev/pinfold/analyzers/authorship",
	Requires: []*analysis.Analyzer{flowpass.Analyzer},
	Run:      run,
}

func init() {
	Analyzer.Flags.String("declare", "", "comma-separated TABLE.COLUMN=CLASS")
	Analyzer.Flags.String("trusted", "author,operator,owner,policy,own,system,enum", "comma-separated classes that count as trusted")
}

func run(pass *analysis.Pass) (any, error) {
	report := ignore.Reporter(pass)
	r := pass.ResultOf[flowpass.Analyzer].(*flowpass.Result)
	decl := pass.Analyzer.Flags.Lookup("declare").Value.String()
	if r.Analysis == nil || decl == "" {
		return nil, nil
	}
	trusted := strings.Split(pass.Analyzer.Flags.Lookup("trusted").Value.String(), ",")
	for d := range strings.SplitSeq(decl, ",") {
		name, class, ok := strings.Cut(strings.TrimSpace(d), "=")
		table, column, dotted := strings.Cut(name, ".")
		if !ok || !dotted {
			return nil, fmt.Errorf("authorship: -declare: expected TABLE.COLUMN=CLASS, found %q", d)
		}
		if !slices.Contains(trusted, class) {
			continue
		}
		for _, w := range r.Analysis.Writers(table, column) {
			for _, o := range w.Origins {
				if !o.Crosses() || o.Class.Authority() == flow.SQL {
					continue
				}
				if p := r.Pos(w.Pos); p.IsValid() {
					report(analysis.Diagnostic{Pos: p, Category: "PF009", Message: fmt.Sprintf(
						"PF009: %s is declared %s, and %s writes it here (%s)", name, class, o.Class.Who(), o.Detail)})
				}
				break
			}
		}
	}
	return nil, nil
}
