package vouch_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/pinfold-dev/pinfold/analyzers/internal/fixture"
	"github.com/pinfold-dev/pinfold/analyzers/vouch"
)

func Test(t *testing.T) {
	fixture.Wants(t, "bad", 1)
	fixture.Wants(t, "good", 0)
	analysistest.Run(t, analysistest.TestData(), vouch.Analyzer, "bad", "good")
}

func TestAllowList(t *testing.T) {
	if err := vouch.Analyzer.Flags.Set("allow", "listed"); err != nil {
		t.Fatal(err)
	}
	defer vouch.Analyzer.Flags.Set("allow", "")
	analysistest.Run(t, analysistest.TestData(), vouch.Analyzer, "listed", "unlisted")
}
