package golangci

import (
	"testing"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"
)

func TestPlugin(t *testing.T) {
	make, err := register.GetPlugin("pinfold")
	if err != nil {
		t.Fatal(err)
	}
	p, err := make(nil)
	if err != nil {
		t.Fatal(err)
	}
	as, err := p.BuildAnalyzers()
	if err != nil || len(as) < 8 {
		t.Fatalf("%d analyzers, %v", len(as), err)
	}
	if err := analysis.Validate(as); err != nil {
		t.Fatal(err)
	}
	if p.GetLoadMode() != register.LoadModeTypesInfo {
		t.Error(p.GetLoadMode())
	}
}
