package engine

import (
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// Program is a compiled machine with every machine it can reach. It is shared
// by any number of runs.
type Program struct{}

// Compile compiles m and what it can call. Names that the registry does not
// know fail when a run reaches them.
func Compile(m *mkl.Machine, reg Registry) (*Program, error) { panic("TODO") }

// Machine is the program's top machine; Reachable lists it and every machine
// that call: can reach, by name.
func (p *Program) Machine() *mkl.Machine     { panic("TODO") }
func (p *Program) Reachable() []*mkl.Machine { panic("TODO") }

// Context is the top machine's own literals: what host inputs are merged into.
func (p *Program) Context() value.Value { panic("TODO") }

// Run is one run of a program. It is used by one goroutine.
type Run struct{}

type board struct{}

func New(p *Program, in Inputs, o Options) (*Run, error) { panic("TODO") }

// Ready is what the last call came to. Calling it again gives the same.
func (r *Run) Ready() Ready { panic("TODO") }

// Step gives the result of an effect. Unknown, duplicate and mistyped results
// are errors (UnknownEffectError, ResultTypeError) and change nothing.
func (r *Run) Step(id EffectID, res Result) error { panic("TODO") }

// Cancel makes the run halt at the next loop top.
func (r *Run) Cancel() error { panic("TODO") }

// Fork is a second run at the same place. It shares structure and costs little.
func (r *Run) Fork() *Run { panic("TODO") }

// Applied is a result that was given since the frames were taken.
type Applied struct {
	ID     EffectID
	Result Result
}

// Snapshot is the frames of the last loop top or suspension and the results since.
type Snapshot struct {
	Frames Frames
	Since  []Applied
}

func (r *Run) Snapshot() Snapshot { panic("TODO") }

// SetApproval gives a pending approval the id and expiry that the driver drew.
func (r *Run) SetApproval(digest string, branch int, id, expires string) error { panic("TODO") }

// Usage is the run's tokens at all levels. Steps, Trace and Context are the top level's.
func (r *Run) Usage() Usage       { panic("TODO") }
func (r *Run) Steps() int         { panic("TODO") }
func (r *Run) Trace() []TraceStep { panic("TODO") }
func (r *Run) Context() View      { panic("TODO") }

// Keys, Get, Lookup and Map read a blackboard.
func (v View) Keys() []string                     { panic("TODO") } // insertion order
func (v View) Get(key string) (trust.Value, bool) { panic("TODO") }
func (v View) Map() value.Value                   { panic("TODO") }

// ResumeOptions is everything a resume changes; it is validated as a whole
// before anything moves.
type ResumeOptions struct {
	Options
	Inject map[string]trust.Value // dotted path → value, External whatever its label
	// Answers to pending approvals, by id. Expired ids are left out by the
	// driver, which has the clock, and listed in Expired.
	Approve, Deny, Expired []string
	Force                  bool
	Forced                 []string // reasons recorded as resume_forced
}

// Resume goes on from frames.
func Resume(p *Program, f Frames, o ResumeOptions) (*Run, error) { panic("TODO") }
