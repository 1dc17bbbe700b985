package constonly_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/pinfold-dev/pinfold/analyzers/constonly"
	"github.com/pinfold-dev/pinfold/analyzers/internal/fixture"
)

func Test(t *testing.T) {
	fixture.Wants(t, "bad", 1)
	fixture.Wants(t, "good", 0)
	analysistest.Run(t, analysistest.TestData(), constonly.Analyzer, "bad", "good")
}
