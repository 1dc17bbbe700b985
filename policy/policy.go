// Package policy decides what may happen after an untrusted decision: the table
// of what tools can do, and Decide, which weighs one tool call against the three
// rules of TRUST.md §5 and LANGUAGE.md §8.3.
//
// Decide is pure: no clock, no state, no order of a map comes into it. It never
// stops at the first rule that holds, so a decision always carries every reason.
// What nobody said is read the strict way: an unknown tool is an effect that
// sends its arguments off this host and may carry nothing secret, and the zero
// Policies halts on everything. The package never looks at what a value says,
// only at who chose it.
//
//	d := policy.Decide(policy.Request{
//		Tool: "send_reply", Args: args, Flow: flow,
//		Table: policy.Builtin(), Rules: policy.Defaults(),
//	})
//	switch {
//	case d.Allowed(): // run it, and record d.Reasons
//	case d.Asks(): // suspend until a person approves exactly this call
//	default: // refuse: d.Halting() names the rule
//	}
package policy

import "fmt"

// Action is what a rule that holds causes. The zero Action is Halt; a smaller
// Action is stricter. A number that is none of the three is read as Halt.
type Action uint8

const (
	Halt   Action = iota // the tool does not run
	Ask                  // a person must approve exactly this call
	Report               // recorded, and the run goes on
)

// ParseAction reads halt, ask or report, exactly so written.
func ParseAction(s string) (Action, error) {
	switch s {
	case "halt":
		return Halt, nil
	case "ask":
		return Ask, nil
	case "report":
		return Report, nil
	}
	return Halt, fmt.Errorf("expected a policy: halt, ask or report; found %s", found(s))
}

// String is the word that ParseAction reads.
func (a Action) String() string {
	switch a {
	case Ask:
		return "ask"
	case Report:
		return "report"
	}
	return "halt"
}

// strict is a, or Halt where a is no action.
func (a Action) strict() Action {
	if a > Report {
		return Halt
	}
	return a
}

// Policies is what each rule causes. The zero value halts on all three.
type Policies struct{ UntrustedFlow, UntrustedArgument, SecretEgress Action }

// Defaults is what a surface uses where its operator named nothing: report,
// report, halt (TRUST.md §5).
func Defaults() Policies {
	return Policies{UntrustedFlow: Report, UntrustedArgument: Report, SecretEgress: Halt}
}

// Of is what the rule causes; Halt where there is no such rule.
func (p Policies) Of(r Rule) Action {
	switch r {
	case UntrustedFlow:
		return p.UntrustedFlow.strict()
	case UntrustedArgument:
		return p.UntrustedArgument.strict()
	case SecretEgress:
		return p.SecretEgress.strict()
	}
	return Halt
}

// Tighten is the stricter of p and q, rule by rule: what a source that may only
// tighten can make of p.
func (p Policies) Tighten(q Policies) Policies {
	return Policies{
		UntrustedFlow:     min(p.UntrustedFlow.strict(), q.UntrustedFlow.strict()),
		UntrustedArgument: min(p.UntrustedArgument.strict(), q.UntrustedArgument.strict()),
		SecretEgress:      min(p.SecretEgress.strict(), q.SecretEgress.strict()),
	}
}

// Looser reports whether p is less strict than q on some rule. A resume under
// looser policies than the run started with is refused.
func (p Policies) Looser(q Policies) bool { return p.Tighten(q) != p.Tighten(p) }

// Rule numbers of LANGUAGE.md §8.3, and one for the rules of a host.
type Rule uint8

const (
	UntrustedFlow     Rule = iota + 1 // an effect reached while the flow flag is set
	UntrustedArgument                 // a sensitive parameter of an effect is External
	SecretEgress                      // a secret goes where it may not be carried
	HostRule                          // a rule of the host's own (Decision.With)
)

// String is the rule's name as events and errors have it.
func (r Rule) String() string {
	switch r {
	case UntrustedFlow:
		return "untrusted-control-flow"
	case UntrustedArgument:
		return "untrusted-argument"
	case SecretEgress:
		return "secret-egress"
	case HostRule:
		return "host-rule"
	}
	return "no-rule"
}
