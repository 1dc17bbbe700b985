package unchecked_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/trust/unchecked"
	"github.com/pinfold-dev/pinfold/value"
)

func TestWhatTheEscapesGive(t *testing.T) {
	one := value.FromInt(1)
	declared, err := unchecked.Declared(one, "triage", "plan", "written by billing")
	if err != nil {
		t.Fatal(err)
	}
	recorded := trust.From("host:q").WithSecrecy("pii")
	top := trust.LabelOf(value.FromString("author[vouch:m/k]"))
	for _, c := range []struct {
		name  string
		v     trust.Value
		label string
	}{
		{"VouchValue", unchecked.VouchValue(one, "sql:plans.tier", "an enum"), "author[sql:plans.tier]"},
		{"Declared", declared, "author[vouch:triage/plan]"},
		{"Clock", unchecked.Clock(one), "author[host:clock]"},
		{"Restore", unchecked.Restore(one, recorded, "a frame"), "external[host:q]{pii}"},
		{"Restore author", unchecked.Restore(one, top, "a frame"), "author[vouch:m/k]"},
		{"Restore none", unchecked.Restore(one, trust.Label{}, "a frame"), "external"},
		{"Index", unchecked.Index(1, "a branch"), "author"},
	} {
		if got := c.v.Label().String(); got != c.label || !value.Equal(c.v.Value(), one) {
			t.Errorf("%s: %s %s, want 1 %s", c.name, c.v.Value().JSON(), got, c.label)
		}
	}
	if got := unchecked.Vouch("gold\xff", "an enum").String(); got != "gold\uFFFD" {
		t.Errorf("Vouch: %q", got)
	}
}

func TestAReasonIsNeeded(t *testing.T) {
	for name, call := range map[string]func(){
		"Vouch":       func() { unchecked.Vouch("x", "") },
		"Vouch blank": func() { unchecked.Vouch("x", " \t\n") },
		"VouchValue":  func() { unchecked.VouchValue(value.Value{}, "o", "") },
		"Restore":     func() { unchecked.Restore(value.Value{}, trust.Label{}, "") },
		"Index":       func() { unchecked.Index(1, "") },
	} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "the reason is empty") {
					t.Errorf("%s without a reason: %v", name, r)
				}
			}()
			call()
		}()
	}
	for _, c := range [][3]string{{"m", "k", ""}, {"m", "k", "  \n"}, {"", "k", "why"}, {"m", "", "why"}} {
		v, err := unchecked.Declared(value.FromInt(1), c[0], c[1], c[2])
		if err == nil || !v.Label().External() || !v.Value().IsNull() {
			t.Errorf("%q: %v, %v", c, v.Label(), err)
		}
	}
}

func ExampleVouch() {
	plan := "gold" // read from a table that only our billing service writes
	text := unchecked.Vouch(plan, "plans.tier is an enum our billing service writes; no customer path")
	fmt.Println(text)
	// Output: gold
}
