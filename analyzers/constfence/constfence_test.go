package constfence_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/pinfold-dev/pinfold/analyzers/constfence"
	"github.com/pinfold-dev/pinfold/analyzers/internal/fixture"
)

func Test(t *testing.T) {
	fixture.Wants(t, "bad", 1)
	fixture.Wants(t, "good", 0)
	analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), constfence.Analyzer, "bad", "good")
}
