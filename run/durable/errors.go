package durable

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/checkpoint"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/store"
)

// ChangedError says that what would run is not what was parked.
type ChangedError struct{ Machines []string }

func (e *ChangedError) Error() string {
	return strings.Join(e.Machines, ", ") + " changed since the checkpoint"
}

// LoosenedError says that a resume asked for less than the run started with.
type LoosenedError struct {
	Rule     string
	Recorded string
	Asked    string
}

func (e *LoosenedError) Error() string {
	return fmt.Sprintf("%s: the run started with %s, and %s is looser", e.Rule, e.Recorded, e.Asked)
}

// OutcomeUnknownError says that a call that may have changed the world was started
// and that nobody knows what came of it.
type OutcomeUnknownError struct{ Tool, State string }

func (e *OutcomeUnknownError) Error() string {
	return fmt.Sprintf("effect-outcome-unknown: %s at %s", e.Tool, e.State)
}

// EndedError says that there is nothing to go on with.
type EndedError struct {
	Run    store.RunID
	Status string
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("run %s has ended (%s): there is nothing to resume", e.Run, e.Status)
}

// ErrMidTurn says that a run that was interrupted was given answers: it stands in
// the middle of a turn, where nobody was asked.
var ErrMidTurn = errors.New("the run was interrupted in the middle of a turn and asked nothing: resume it without values and answers first")

// tighten is the recorded policies under what the caller asks for: stricter is
// taken, looser is an error unless forced (LANGUAGE.md §18.3, 3). Where nothing was
// recorded, whoever resumes sets them freely.
func (r *Request) tighten(p *checkpoint.Policy, free bool) (loosened bool, err error) {
	for i, to := range []*policy.Action{&p.UntrustedFlow, &p.UntrustedArgument, &p.SecretEgress} {
		a := r.Policies[i]
		switch {
		case a == nil:
			continue
		case free || *a <= *to: // a smaller action is stricter
		case r.Force:
			loosened = true
		default:
			return false, &LoosenedError{policy.Rule(i + 1).String(), to.String(), a.String()}
		}
		*to = *a
	}
	if t := r.OnTruncate; t != nil {
		switch {
		case free || *t <= p.OnTruncate:
		case r.Force:
			loosened = true
		default:
			return false, &LoosenedError{"on-truncate", checkpoint.Word(p.OnTruncate), checkpoint.Word(*t)}
		}
		p.OnTruncate = *t
	}
	return loosened, nil
}
