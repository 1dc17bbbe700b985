package policy

import (
	"slices"

	"github.com/pinfold-dev/pinfold/trust"
)

// Call is one call of a tool as a host's own rules see it: with the values, and
// with where it stands.
type Call struct {
	Run     string
	Machine string
	State   string
	Tool    string
	Is      Tool // what the table says of it
	Args    []CallArg
	Flow    Flow
}

// CallArg is one argument with its value and label.
type CallArg struct {
	Name  string
	Value trust.Value
}

// HostRules are a host's own rules about calls, beside the three: the reasons that
// speak against one. A pure function: no clock, no state. It can only tighten,
// since its reasons are added to the decision with Decision.With.
type HostRules func(Call) []Reason

// With is the decision with a host's own reasons added. A reason that halts or asks
// makes the decision stricter; nothing makes it laxer. Their Rule is HostRule,
// whatever they say.
func (d Decision) With(reasons []Reason) Decision {
	if len(reasons) == 0 {
		return d
	}
	d.Reasons = slices.Clip(d.Reasons)
	for _, r := range reasons {
		r.Rule, r.Action = HostRule, r.Action.strict()
		d.Reasons = append(d.Reasons, r)
		switch r.Action {
		case Halt:
			d.allowed, d.ask = false, false
		case Ask:
			d.ask = d.ask || d.allowed
			d.allowed = false
		}
	}
	return d
}
