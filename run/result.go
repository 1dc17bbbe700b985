package run

import (
	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// Status of a turn, as the wire says it.
type Status string

const (
	StatusDone      Status = "done"
	StatusHalt      Status = "halt"
	StatusSuspended Status = "suspended"
)

// Result is what a turn came to. Run, Trace and Context belong to the engine's
// run and stay as they are: the run does not move any more.
type Result struct {
	Status  Status
	Error   string      // "" when done, else the reason (LANGUAGE.md §16)
	At      string      // "" where no place is known
	Result  trust.Value // done only
	Usage   engine.Usage
	Steps   int
	Trace   []engine.TraceStep
	Context engine.View

	Diagnosis *engine.Diagnosis
	Ask       string // escalations
	HasAsk    bool
	ReplyTo   string
	Approvals []engine.Approval

	// Unstarted says that nothing could start: there is no usage to speak of.
	Unstarted bool

	RunID string
	// Frames is the parked run of a suspension, nil otherwise.
	Frames engine.Frames
}

// Mismatched is the result of a resume whose frames do not fit the machines:
// nothing has run (LANGUAGE.md §16).
func Mismatched(err *engine.MismatchError) *Result {
	return &Result{Status: StatusHalt, Error: err.Error(), Unstarted: true}
}

// Value is the wire form, keys in the order of LANGUAGE.md §14. A surface
// appends what only it knows (checkpoint, warnings).
func (r *Result) Value() value.Value {
	e := make([]value.Entry, 0, 12)
	put := func(k string, v value.Value) { e = append(e, value.Entry{Key: k, Value: v}) }
	put("status", value.FromString(string(r.Status)))
	if r.Error == "" {
		put("error", value.Value{})
	} else {
		put("error", value.FromString(r.Error))
	}
	if r.Status == StatusDone {
		put("result", r.Result.Value())
	} else {
		put("result", value.Value{})
	}
	if r.Unstarted {
		put("usage", value.Value{})
	} else {
		put("usage", r.Usage.Value())
	}
	put("trace", engine.Steps(r.Trace))
	if r.At != "" {
		put("at", value.FromString(r.At))
	}
	if d := r.Diagnosis; d != nil {
		put("diagnosis", value.FromEntries(
			value.Entry{Key: "most_visited_state", Value: value.FromString(d.State)},
			value.Entry{Key: "visits", Value: value.FromInt(int64(d.Visits))}))
	}
	if r.HasAsk {
		put("ask", value.FromString(r.Ask))
	}
	if r.ReplyTo != "" {
		put("reply_to", value.FromString(r.ReplyTo))
	}
	switch len(r.Approvals) {
	case 0:
	case 1:
		put("approval", r.Approvals[0].Value())
	default:
		all := make([]value.Value, len(r.Approvals))
		for i := range r.Approvals {
			all[i] = r.Approvals[i].Value()
		}
		put("approvals", value.FromList(all...))
	}
	if r.Status == StatusDone {
		put("result_label", r.Result.Label().Value())
	}
	if r.RunID != "" {
		put("run", value.FromString(r.RunID))
	}
	return value.FromEntries(e...)
}
