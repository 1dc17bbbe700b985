package authorship_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/pinfold-dev/pinfold/analyzers/authorship"
	"github.com/pinfold-dev/pinfold/analyzers/internal/fixture"
)

func Test(t *testing.T) {
	fixture.Wants(t, "bad", 1)
	fixture.Wants(t, "good", 0)
	for k, v := range map[string]string{"declare": "customers.note=staff,customers.name=public", "trusted": "staff"} {
		if err := authorship.Analyzer.Flags.Set(k, v); err != nil {
			t.Fatal(err)
		}
	}
	analysistest.Run(t, analysistest.TestData(), authorship.Analyzer, "bad", "good")
}
