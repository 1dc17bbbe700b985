package promptsink_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/pinfold-dev/pinfold/analyzers/internal/fixture"
	"github.com/pinfold-dev/pinfold/analyzers/promptsink"
)

func Test(t *testing.T) {
	fixture.Wants(t, "bad", 1)
	fixture.Wants(t, "good", 0)
	analysistest.Run(t, analysistest.TestData(), promptsink.Analyzer, "bad", "good")
}
