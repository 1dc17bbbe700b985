package policy

import (
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/display"
	"github.com/pinfold-dev/pinfold/trust"
)

// Flow is the flow flag and where it was set.
type Flow struct {
	Tainted bool
	By      string // state path of the deciding step; "" when seeded by the host
}

// Arg is one argument of a call with the label of its value.
type Arg struct {
	Name  string
	Label trust.Label
}

// Request is everything Decide looks at.
type Request struct {
	Tool  string
	Args  []Arg
	Flow  Flow
	Table Table
	Rules Policies
}

// Reason is one rule that holds, with what made it hold.
type Reason struct {
	Rule    Rule
	Action  Action
	Names   []string  // sorted, each once: arguments (rule 2), tags (rule 3), names of a host's rules
	Sources trust.Set // origins of the arguments that caused it (rules 2 and 3)
	By      string    // rule 1: the deciding step; a host's rule: what went wrong in it
}

// String says in one line of printable text why the rule holds. Names and
// origins are escaped as in the text of a label.
func (r Reason) String() string {
	var b strings.Builder
	switch r.Rule {
	case UntrustedFlow:
		b.WriteString("untrusted control flow: this step was reached by a choice that outside text had a part in")
		if r.By != "" {
			b.WriteString(", made at " + trust.NewSet(r.By).String())
		}
	case UntrustedArgument:
		b.WriteString("untrusted argument: outside text chose " + trust.NewSet(r.Names...).String())
	case SecretEgress:
		b.WriteString("secret egress: the arguments carry " + trust.NewSet(r.Names...).String())
	case HostRule:
		b.WriteString("rule of this host: " + trust.NewSet(r.Names...).String())
		if r.By != "" {
			b.WriteString(": " + display.Line(r.By))
		}
	default:
		return r.Rule.String()
	}
	if r.Sources.Len() > 0 {
		b.WriteString(", from " + r.Sources.String())
	}
	return b.String()
}

// Decision is the outcome with all reasons, in rule order. The zero Decision halts.
type Decision struct {
	allowed bool
	ask     bool
	Reasons []Reason
}

// Decide weighs one call against the three rules (LANGUAGE.md §8.3). Rules 1 and
// 2 look at tools of class Effect, rule 3 also at those that send their arguments
// off this host. Every rule that holds is a reason; the strictest of their actions
// is the outcome.
func Decide(r Request) Decision {
	t := r.Table[r.Tool] // one that is not there is the zero Tool
	var reasons []Reason
	add := func(x Reason) {
		if reasons == nil {
			reasons = make([]Reason, 0, 3)
		}
		x.Action = r.Rules.Of(x.Rule)
		reasons = append(reasons, x)
	}
	if t.effect() {
		if r.Flow.Tainted {
			add(Reason{Rule: UntrustedFlow, By: r.Flow.By})
		}
		if names, sources := untrusted(t, r.Args); names != nil {
			add(Reason{Rule: UntrustedArgument, Names: names, Sources: sources})
		}
	}
	if t.effect() || t.Egress() {
		if tags, sources := secret(t, r.Args); tags != nil {
			add(Reason{Rule: SecretEgress, Names: tags, Sources: sources})
		}
	}
	outcome := Report
	for i := range reasons {
		outcome = min(outcome, reasons[i].Action)
	}
	return Decision{allowed: outcome == Report, ask: outcome == Ask, Reasons: reasons}
}

// untrusted is the sensitive arguments that somebody outside chose.
func untrusted(t Tool, args []Arg) (names []string, sources trust.Set) {
	for i := range args {
		if !args[i].Label.External() || !slices.Contains(t.Sensitive, args[i].Name) {
			continue
		}
		if names == nil {
			names = make([]string, 0, len(args)-i)
		}
		names = append(names, args[i].Name)
		sources = sources.Union(args[i].Label.Sources())
	}
	return sorted(names), sources
}

// secret is the tags that the arguments carry and the tool may not.
func secret(t Tool, args []Arg) (tags []string, sources trust.Set) {
	for i := range args {
		s := args[i].Label.Secrecy()
		if s.Len() == 0 || covers(t.MayCarry, s) {
			continue
		}
		tags = append(tags, slices.DeleteFunc(s.Items(), func(tag string) bool {
			return slices.Contains(t.MayCarry, tag)
		})...)
		sources = sources.Union(args[i].Label.Sources())
	}
	return sorted(tags), sources
}

// covers reports whether every item of s is in list, without copying s.
func covers(list []string, s trust.Set) bool {
	n := 0
	for i, item := range list {
		if s.Has(item) && !slices.Contains(list[:i], item) {
			n++
		}
	}
	return n == s.Len()
}

// sorted sorts names in place and drops repetitions; nil stays nil.
func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// Allowed reports whether the tool may run now.
func (d Decision) Allowed() bool { return d.allowed }

// Asks reports whether the tool may run once a person has approved this call.
func (d Decision) Asks() bool { return d.ask }

// Halting is the lowest-numbered rule that halts; false where none does. Of a
// decision that was never made it is Rule(0), true.
func (d Decision) Halting() (Rule, bool) {
	if d.allowed || d.ask {
		return 0, false
	}
	for i := range d.Reasons {
		if d.Reasons[i].Action.strict() == Halt {
			return d.Reasons[i].Rule, true
		}
	}
	return 0, true
}

// Approve is the decision after a person approved exactly this call: one that
// asks allows, with the same reasons. One that halts stays as it is. Whoever calls
// it has checked the approval (LANGUAGE.md §8.4).
func (d Decision) Approve() Decision {
	d.allowed, d.ask = d.allowed || d.ask, false
	return d
}
