package engine

import (
	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// Registry finds the machines that call: can reach.
type Registry interface {
	Machine(name string) (*mkl.Machine, bool)
}

// Machines is a Registry held in a map.
type Machines map[string]*mkl.Machine

func (m Machines) Machine(name string) (*mkl.Machine, bool) { x, ok := m[name]; return x, ok }

// Inputs are the host's values by top-level key of the context. Labels enter
// here: a value that the machine's own literal does not equal keeps the label
// it comes with (External host input, the clock, a vouch).
type Inputs map[string]trust.Value

// Truncate says what a length stop causes. The zero value halts.
type Truncate uint8

const (
	TruncateHalt Truncate = iota
	TruncateReport
)

// Options of a run (LANGUAGE.md §14). The zero value is strict: every rule
// halts, a truncated output halts, fences are on; surfaces open by name.
type Options struct {
	RunID            string
	CostBudget       int // tokens; used when HasCostBudget
	HasCostBudget    bool
	Suspendable      bool
	EscalateSuspend  bool
	Policies         policy.Policies
	Table            policy.Table
	Host             policy.HostRules // the host's own rules; they can only tighten
	OnTruncate       Truncate
	PromptValueChars int  // 0: the default of 20,000; < 0: no clip
	Undelimited      bool // produce-side fences off (TRUST.md §3); the judge's stay
	FlowTainted      bool
	JudgeLenient     bool
	Journal          bool                // emit Records; a driver that keeps none saves their cost
	Quiet            bool                // emit no Events
	Secrecy          map[string][]string // tags of context keys
}

// EffectID names one effect: path/visit/branch/phase. It is the idempotency key
// of the effect and the same for the same place in every replay of a run.
type EffectID struct {
	Path   string // machine names and states from the outside in: "triage" or "triage/ask#1[0]/sub"
	State  string
	Visit  int32 // which entry of the state, from 1
	Branch int32 // -1 outside a fan-out
	Phase  Phase
	Seq    int32 // nth hook or judge of this entry
}

// Phase of an effect.
type Phase uint8

const (
	PhaseProduce Phase = iota
	PhaseTool
	PhaseHook
	PhaseJudge
)

// GroupID names the innermost fan-out that an effect runs in; "" outside one.
// The driver runs at most its worker count of a group at a time.
type GroupID string

// Effect is something the core asks for. Produce, Judge, Tool, Hook.
type Effect interface {
	ID() EffectID
	Group() GroupID
	isEffect()
}

type effect struct {
	id    EffectID
	group GroupID
}

func (e *effect) ID() EffectID   { return e.id }
func (e *effect) Group() GroupID { return e.group }
func (e *effect) isEffect()      {}

// Produce asks for text. Answer with Produced or Failed.
type Produce struct {
	effect
	Prompt   fence.Prompt
	Tier     mkl.Tier
	Reason   bool
	Sampling bool // temperature 0.8 instead of 0.4
}

// Judge asks which condition holds first. Answer with Judged or Failed.
type Judge struct {
	effect
	Prompt     fence.Prompt
	Tier       mkl.Tier // of the state; a host's judge override replaces the model
	Conditions int      // N: valid choices are 1…N and N+1 for none of these
}

// Arg is one resolved argument of a tool.
type Arg struct {
	Name  string
	Value trust.Value
}

// Tool asks for a tool to run. Answer with Observed or Failed. The core hands
// out only effects whose Decision allows them; a driver performs no other.
type Tool struct {
	effect
	Name     string
	Args     []Arg
	Decision policy.Decision
	Approval string // id of the approval that allowed it, "" when none was needed
}

// Hook asks a host predicate. Answer with Answered or Failed.
type Hook struct {
	effect
	Name   string
	Board  View
	Output trust.Value
}

// View is a read-only blackboard. It stays as it was when it was handed out.
type View struct{ b *board }

// Usage counts tokens.
type Usage struct {
	Input, Output int
	Estimated     bool
}

// Result answers an effect. Produced, Judged, Observed, Answered, Failed.
type Result interface{ isResult() }

// Produced is a model's text.
type Produced struct {
	Text         string
	Reasoning    string
	Usage        Usage
	Truncated    bool
	FinishReason string
}

// Judged is a judge's reply as it came; the core reads it (LANGUAGE.md §10.3).
type Judged struct {
	Reply     string
	Truncated bool // a reply cut off at a length limit
	Usage     Usage
	Model     string
	Forced    bool // the adapter could not offer "none of these"
}

// Observed is a tool's observation. A labelled tool may refine sources and
// secrecy; the level is External whatever it says.
type Observed struct {
	Value value.Value // its text is deposited
	Label trust.Label // sources and secrecy join; used only where the tool is declared labelled
}

// Answered is a hook's answer.
type Answered struct {
	True       bool
	Parametric bool // eq:/neq: answered by the parametric rule and not by a host's own hook
}

// FailKind says how an effect failed.
type FailKind uint8

const (
	FailState    FailKind = iota // state-error: …
	FailProvider                 // provider-error: …
	FailRefusal                  // refusal
	FailCancelled
	FailInternal // unexpected: shown as "internal error" to models, in full in the log
)

// Failed says that an effect did not come to a result. Usage comes back with errors too.
type Failed struct {
	Kind      FailKind
	Message   string
	Usage     Usage
	Reasoning string
	Model     string
}

func (Produced) isResult() {}
func (Judged) isResult()   {}
func (Observed) isResult() {}
func (Answered) isResult() {}
func (Failed) isResult()   {}

// Read is a key that a prompt, input or judgement read, with its version: how
// often the key had been written.
type Read struct {
	Key     string
	Version uint32
}

// RecordKind of a Record.
type RecordKind uint8

const (
	RecordStarted  RecordKind = iota // an effectful tool is about to run: to be kept before it does
	RecordResult                     // an effect came to a result: the journal's truth
	RecordDeposit                    // a key was written
	RecordStep                       // a trace step was recorded
	RecordOutcome                    // the turn ended
	RecordResumed                    // a driver took the run up: what an earlier one still wants to append no longer fits
	RecordAnswered                   // a person answered a pending approval
)

// Record is one line of the journal. A driver makes the records of a Ready
// durable before it performs the effects of the same Ready.
type Record struct {
	Kind    RecordKind
	ID      EffectID // Started, Result; for Deposit and Step the place, phase 0
	Tool    string   // Started
	Digest  string   // Started: hex SHA-256 of the canonical call
	Result  Result   // Result
	Key     string   // Deposit
	Version uint32   // Deposit
	Label   trust.Label
	Reads   []Read // Result of produce, tool and judge: what its prompt or input read
	Step    *TraceStep
	Outcome Outcome

	// What a driver appends by itself, with the top machine's path as the place.
	Forced   []string // Resumed: what was overridden to go on in the middle of a turn
	Approval string   // Answered: its id
	Approved bool     // Answered
	By       string   // Resumed, Answered: who
}

// Ready is what a turn has come to. Records are to be persisted before any of
// Effects is performed; Outcome is nil while the turn goes on. The slices are
// valid until the next call of a method of the run.
type Ready struct {
	Records []Record
	Events  []Event
	Effects []Effect
	Outcome Outcome
}

// Outcome ends a turn: Done, Halted or Suspended.
type Outcome interface{ isOutcome() }

// Done is a run that reached END.
type Done struct{ Result trust.Value }

// Diagnosis names the state that was entered most often.
type Diagnosis struct {
	State  string
	Visits int
}

// Halted is a run that stopped. At is "" where no place is known.
type Halted struct {
	Reason    string
	At        string
	Diagnosis *Diagnosis
}

// Suspended is a run that can go on. Frames are in Snapshot.
type Suspended struct {
	Reason    string
	At        string
	Ask       string
	HasAsk    bool
	ReplyTo   string // escalations
	Approvals []Approval
}

func (Done) isOutcome()      {}
func (Halted) isOutcome()    {}
func (Suspended) isOutcome() {}

// Approval is what a person is asked to approve: exactly one call (LANGUAGE.md
// §8.4). ID and Expires are drawn by the driver (SetApproval); until then they are "".
type Approval struct {
	ID      string
	Expires string
	Run     string
	State   string // machine/state of every level, joined by " > "
	Tool    string
	Args    []Arg
	Digest  string
	Rules   []policy.Rule
	Reasons []string // as a person reads them
	Branch  int      // -1 outside a fan-out
}
