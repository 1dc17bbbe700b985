package durable

import (
	"context"
	"fmt"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/store"
)

// journal writes the records of a turn behind those that the run has already.
// Records that a fold makes again are counted against the kept ones and not
// written twice.
type journal struct {
	log  store.Log
	seq  uint64          // records that the run has
	kept []engine.Record // of this turn, still to be made again
}

// Append is run.Journal. The driver's own count starts with the turn and is not
// used: the run's does not.
func (j *journal) Append(ctx context.Context, id string, _ uint64, records []engine.Record) error {
	for len(records) > 0 && len(j.kept) > 0 {
		a, b := &records[0], &j.kept[0]
		if a.Kind != b.Kind || a.ID != b.ID {
			return fmt.Errorf("the journal says %s %s where the run comes to %s %s: it is of another program or configuration", b.Kind, b.ID, a.Kind, a.ID)
		}
		records, j.kept = records[1:], j.kept[1:]
	}
	return j.append(ctx, id, records)
}

func (j *journal) append(ctx context.Context, id string, records []engine.Record) error {
	if len(records) == 0 {
		return nil
	}
	if err := j.log.Append(ctx, store.RunID(id), j.seq, records); err != nil {
		return err
	}
	j.seq += uint64(len(records))
	return nil
}

// history is what the journal says of a turn.
type history struct {
	total    uint64
	records  []engine.Record // the core's, in order
	events   []event         // results and resumptions, in order
	answers  map[string]bool // approval id → approved
	answered []string        // ids in order
	started  []engine.Record // calls without a result, in order
}

// event is a result to give back, or a resumption that overrode something.
type event struct {
	result *engine.Record
	forced []string
}

// read reads the journal of a run from the record numbered from.
func read(ctx context.Context, log store.Log, id store.RunID, from uint64) (*history, error) {
	h := &history{answers: map[string]bool{}}
	for rec, err := range log.Read(ctx, id) {
		if err != nil {
			return nil, fmt.Errorf("journal of run %s: %w", id, err)
		}
		h.total++
		if h.total <= from {
			continue
		}
		switch rec.Kind {
		case engine.RecordAnswered:
			if _, again := h.answers[rec.Approval]; !again { // the first answer holds [C65]
				h.answers[rec.Approval] = rec.Approved
				h.answered = append(h.answered, rec.Approval)
			}
			continue
		case engine.RecordResumed:
			if len(rec.Forced) > 0 {
				h.events = append(h.events, event{forced: rec.Forced})
			}
			continue
		case engine.RecordStarted:
			h.started = append(h.started, rec)
		case engine.RecordResult:
			h.events = append(h.events, event{result: &rec})
			for i := range h.started {
				if h.started[i].ID == rec.ID {
					h.started = append(h.started[:i], h.started[i+1:]...)
					break
				}
			}
		}
		h.records = append(h.records, rec)
	}
	if h.total < from {
		return nil, fmt.Errorf("journal of run %s has %d records, and its checkpoint knows of %d", id, h.total, from)
	}
	return h, nil
}

// fold gives the results back to a run that stands where its turn started.
func (j *journal) fold(ctx context.Context, r *engine.Run, id string, events []event) error {
	for _, e := range events {
		if e.result == nil {
			r.Force(e.forced...)
			continue
		}
		if err := j.Append(ctx, id, 0, r.Ready().Records); err != nil {
			return err
		}
		if r.Ready().Outcome != nil {
			return fmt.Errorf("the journal has a result of %s after the end of its turn", e.result.ID)
		}
		if err := r.Step(e.result.ID, e.result.Result); err != nil {
			return fmt.Errorf("the journal does not fit the run: %w", err)
		}
	}
	return nil
}
