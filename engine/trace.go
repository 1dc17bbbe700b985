package engine

import "github.com/pinfold-dev/pinfold/value"

// Cost is the tokens of one step.
type Cost = Usage

// BranchError is the full reason of a failed branch.
type BranchError struct {
	Index int
	Error string
}

// TraceStep is one recorded step (LANGUAGE.md §15). Value gives its wire form.
type TraceStep struct {
	State string
	Tier  string
	Step  int

	Output  string
	Gate    string
	Policy  string
	To      string
	Hook    string
	Judge   string // model of the last verdict
	Cost    Usage
	GateVia Via

	HasOutput bool
	HasGate   bool
	HasTo     bool

	DecisionTainted      bool // §8.2
	UntrustedControlFlow bool // §8.3, rule 1

	Detail *Detail // what most steps do not have; nil when there is nothing
	Marks  *Marks  // the other trust marks; nil when there is none
}

// Detail is what most steps do not have.
type Detail struct {
	Fan          *FanTrace // a fan-out: its branches stand in the place of Output
	Reasoning    string
	SubTrace     []TraceStep // of a call outside a fan-out
	HasSubTrace  bool
	Truncated    bool
	FinishReason string

	JudgeNone     int
	JudgeParse    string // "", bare, last-number
	JudgeFallback bool
	JudgeRaw      string
	JudgeForced   bool
}

// Fan is what a fan-out's step records by branch, nil for other steps.
func (s *TraceStep) Fan() *FanTrace {
	if s.Detail == nil {
		return nil
	}
	return s.Detail.Fan
}

// FanTrace is what a fan-out's step records by branch.
type FanTrace struct {
	Branches   []value.Value // text, or null for a stopped one
	Errors     []BranchError
	Reasonings []string      // "" where none; nil without reason
	SubTraces  [][]TraceStep // aligned with branches, nil where a branch has none
	IsCall     bool
}

// Marks are the trust marks of a step that carry names (LANGUAGE.md §8).
type Marks struct {
	ConfirmedOnExternal []string
	UntrustedArgument   []string
	SecretEgress        []string
	HostRule            []string // names of the host's own rules that spoke against the call
	Approval            string
	ResumeForced        []string
}

// Via says what fired a gate.
type Via uint8

const (
	ViaNone Via = iota
	ViaHook
	ViaJudge
	ViaOtherwise
)

// EventType of an Event.
type EventType string

// Event types of LANGUAGE.md §17. branch-done comes from the driver.
const (
	EventRunStart          EventType = "run-start"
	EventStateStart        EventType = "state-start"
	EventControlFlow       EventType = "untrusted-control-flow"
	EventArgument          EventType = "untrusted-argument"
	EventEgress            EventType = "secret-egress"
	EventHostRule          EventType = "host-rule"
	EventApprovalRequested EventType = "approval-requested"
	EventStateDone         EventType = "state-done"
	EventRunFinished       EventType = "run-finished"
)

// Event is one thing that happened. Fields that its type does not have are zero.
type Event struct {
	Type     EventType
	Machine  string
	Depth    int
	State    string
	Step     int
	Kind     string
	Tier     string
	Entry    string
	Resumed  bool
	Tool     string
	Policy   string // action of a rule, or the step's policy
	Names    []string
	Trace    *TraceStep // state-done
	Status   string
	Error    string
	At       string
	Tokens   Usage
	Approval *Approval
}
