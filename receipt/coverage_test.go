package receipt_test

import (
	"testing"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/receipt"
	"github.com/pinfold-dev/pinfold/trust"
)

// rows renders one declared and one undeclared External part, the second with
// the fences switched off, and one part of the author's.
func rows(t testing.TB, undelimited bool) []fence.Row {
	t.Helper()
	var p fence.Prompt
	p.User.Put(fence.Part{Channel: "page", Kind: "lane", Data: trust.External("web:p", "x"), Trust: "retrieved"})
	if undelimited {
		p.User.Undelimited("q", trust.External("host:q", "y"))
	} else {
		p.User.Data("q", trust.External("host:q", "y"))
	}
	_, rows, err := fence.Render(p, func(n *[12]byte) error { copy(n[:], "0123456789ab"); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestCoverage(t *testing.T) {
	c := receipt.Cover(rows(t, false))
	if (c != receipt.Coverage{Parts: 2, Declared: 1, Required: 2, Enforced: 2}) {
		t.Errorf("%+v", c)
	}
	// Switched-off fences show in the second number and not in the first: that is
	// why there are two.
	off := receipt.Cover(rows(t, true))
	if (off != receipt.Coverage{Parts: 2, Declared: 1, Required: 2, Enforced: 1}) {
		t.Errorf("%+v", off)
	}
	sum := c.Add(off)
	if label, ok := sum.Label(); !ok || label != 0.5 {
		t.Errorf("%v %v", label, ok)
	}
	if enforcement, ok := sum.Enforcement(); !ok || enforcement != 0.75 {
		t.Errorf("%v %v", enforcement, ok)
	}
	if got := sum.String(); got != "label coverage 50.0 % (2 of 4), enforcement coverage 75.0 % (3 of 4)" {
		t.Error(got)
	}
	var none receipt.Coverage
	if _, ok := none.Label(); ok {
		t.Error("no part is no coverage")
	}
	if _, ok := none.Enforcement(); ok {
		t.Error("no part is no coverage")
	}
	if got := none.String(); got != "label coverage none (0 of 0), enforcement coverage none (0 of 0)" {
		t.Error(got)
	}
	if got := (receipt.Coverage{Parts: 1000, Declared: 1000, Required: 10000, Enforced: 9999}).String(); got != "label coverage 100.0 % (1000 of 1000), enforcement coverage 99.9 % (9999 of 10000)" {
		t.Error(got)
	}
}
