// Package policy decides what may happen after an untrusted decision: the tool
// table and Decide, a pure function with every reason (TRUST.md §5).
package policy

import "github.com/pinfold-dev/pinfold/trust"

// Action is what a rule that holds causes. The zero Action is Halt; a smaller
// Action is stricter.
type Action uint8

const (
	Halt Action = iota
	Ask
	Report
)

func ParseAction(s string) (Action, error) { panic("TODO") } // halt, ask, report; an error lists them
func (a Action) String() string            { panic("TODO") }

// Class of a tool. The zero Class is Effect: silence is not a safety claim.
type Class uint8

const (
	Effect Class = iota
	Read
)

func ParseClass(s string) (Class, error) { panic("TODO") }
func (c Class) String() string           { panic("TODO") }

// Tool is what the table knows about one tool. The zero Tool is an effect that
// sends its arguments off this host and may carry nothing secret.
type Tool struct {
	Class     Class
	Sensitive []string // parameter names, rule 2
	Yields    []string // secrecy tags its observation carries
	MayCarry  []string // secrecy tags it may be given
	Labelled  bool
	Local     bool // egress: false was declared
}

// Egress reports whether arguments leave this host.
func (t Tool) Egress() bool { return !t.Local }

// Table maps tool names to declarations. A name that is not in it is the zero Tool.
type Table map[string]Tool

// Policies is what each rule causes. The zero value halts on all three.
type Policies struct{ UntrustedFlow, UntrustedArgument, SecretEgress Action }

// Rule numbers of LANGUAGE.md §8.3.
type Rule uint8

const (
	UntrustedFlow Rule = iota + 1
	UntrustedArgument
	SecretEgress
)

func (r Rule) String() string { panic("TODO") } // untrusted-control-flow, untrusted-argument, secret-egress

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
	Names   []string  // sorted: arguments (rule 2) or tags (rule 3)
	Sources trust.Set // origins that caused it
	By      string    // rule 1: the deciding step
}

// Decision is the outcome with all reasons, in rule order. The zero Decision halts.
type Decision struct {
	allowed bool
	ask     bool
	Reasons []Reason
}

func Decide(r Request) Decision { panic("TODO") }

func (d Decision) Allowed() bool { return d.allowed }
func (d Decision) Asks() bool    { return d.ask }

// Halting is the lowest-numbered rule that halts.
func (d Decision) Halting() (Rule, bool) { panic("TODO") }
