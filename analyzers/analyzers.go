// Package analyzers lists pinfold's checks for Go.
//
// Each is a package of its own that exports one Analyzer, with the rule, an
// example that it reports and one that it does not in the package's doc.go. They
// report and never change a program.
//
//	for _, a := range analyzers.All() {
//		fmt.Println(a.Name, a.Doc)
//	}
package analyzers

import (
	"golang.org/x/tools/go/analysis"

	"github.com/pinfold-dev/pinfold/analyzers/authorship"
	"github.com/pinfold-dev/pinfold/analyzers/constfence"
	"github.com/pinfold-dev/pinfold/analyzers/constonly"
	"github.com/pinfold-dev/pinfold/analyzers/fencepath"
	"github.com/pinfold-dev/pinfold/analyzers/promptsink"
	"github.com/pinfold-dev/pinfold/analyzers/rerender"
	"github.com/pinfold-dev/pinfold/analyzers/toolclass"
	"github.com/pinfold-dev/pinfold/analyzers/vouch"
)

// All returns every analyzer, in the order of their codes.
func All() []*analysis.Analyzer {
	return []*analysis.Analyzer{
		promptsink.Analyzer, // PF001
		constfence.Analyzer, // PF002
		constonly.Analyzer,  // PF004
		vouch.Analyzer,      // PF005
		rerender.Analyzer,   // PF006
		toolclass.Analyzer,  // PF007
		authorship.Analyzer, // PF009
		fencepath.Analyzer,  // PF010
	}
}
