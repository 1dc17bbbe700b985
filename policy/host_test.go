package policy

import (
	"testing"

	"pgregory.net/rapid"
)

// Whatever a host's rules say, the decision with them is never laxer than without.
func TestHostRulesOnlyTighten(t *testing.T) {
	strictness := func(d Decision) int {
		switch {
		case d.Allowed():
			return 2
		case d.Asks():
			return 1
		}
		return 0
	}
	rapid.Check(t, func(t *rapid.T) {
		action := rapid.SampledFrom([]Action{Halt, Ask, Report, Action(7)})
		d := Decide(Request{Tool: "pay", Table: Table{}, Flow: Flow{Tainted: rapid.Bool().Draw(t, "tainted")},
			Rules: Policies{UntrustedFlow: action.Draw(t, "flow")}})
		if rapid.Bool().Draw(t, "zero") {
			d = Decision{}
		}
		before := strictness(d)
		var reasons []Reason
		want := before
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			r := Reason{Rule: rapid.SampledFrom([]Rule{0, UntrustedFlow, HostRule}).Draw(t, "rule"), Action: action.Draw(t, "action"), Names: []string{"x"}}
			reasons = append(reasons, r)
			want = min(want, int(r.Action.strict()))
		}
		got := d.With(reasons)
		if strictness(got) != want || len(got.Reasons) != len(d.Reasons)+len(reasons) {
			t.Fatalf("%d with %v: %d, want %d", before, reasons, strictness(got), want)
		}
		for _, r := range got.Reasons[len(d.Reasons):] {
			if r.Rule != HostRule {
				t.Fatalf("a host's reason passes for rule %s", r.Rule)
			}
		}
		if rule, halts := got.Halting(); halts != (want == 0) || halts && before > 0 && rule != HostRule {
			t.Fatalf("halts %v by %s", halts, rule)
		}
	})
}
