package durable

import (
	"context"
	"errors"
	"fmt"

	"github.com/pinfold-dev/pinfold/checkpoint"
	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/store"
)

// Pending is one approval that a run waits for.
type Pending struct {
	engine.Approval
	Info     store.RunInfo
	Expired  bool
	Answered bool
	Approved bool // the answer

	total    uint64 // records of the run when it was looked at
	envelope *checkpoint.Envelope
}

// AnswerError says why an approval cannot be answered: nothing was changed.
type AnswerError struct{ ID, Message string }

func (e *AnswerError) Error() string { return "approval " + e.ID + ": " + e.Message }

// Approvals lists what runs wait for, the newest run first, the approvals of a run
// by level and branch. A run that cannot be read hides none of the others: the error
// joins those of all such runs.
func (k *Keeper) Approvals(ctx context.Context) ([]Pending, error) {
	var out []Pending
	var faults []error
	for info, err := range k.Store.List(ctx, store.Query{Status: "suspended"}) {
		if err == nil && len(info.Approvals) > 0 {
			var ps []Pending
			ps, err = k.pending(ctx, info)
			out = append(out, ps...)
		}
		if err != nil {
			faults = append(faults, err)
		}
	}
	return out, errors.Join(faults...)
}

// Approval finds a pending approval by its id. An empty id names none: there is no
// bare yes [C63].
func (k *Keeper) Approval(ctx context.Context, id string) (*Pending, error) {
	if id == "" {
		return nil, &AnswerError{id, "expected an id"}
	}
	for info, err := range k.Store.List(ctx, store.Query{Approval: id, Status: "suspended"}) {
		if err != nil {
			return nil, err
		}
		ps, err := k.pending(ctx, info)
		if err != nil {
			return nil, err
		}
		for i := range ps {
			if ps[i].ID == id {
				return &ps[i], nil
			}
		}
	}
	return nil, &AnswerError{id, "no run waits for an approval of this id"}
}

func (k *Keeper) pending(ctx context.Context, info store.RunInfo) ([]Pending, error) {
	b, err := k.Store.Blobs().Get(ctx, info.Checkpoint)
	if err != nil {
		return nil, fmt.Errorf("checkpoint of run %s: %w", info.Run, err)
	}
	e, err := checkpoint.Parse(b)
	if err != nil {
		return nil, fmt.Errorf("checkpoint of run %s: %w", info.Run, err)
	}
	past, err := read(ctx, k.Store, info.Run, e.Journal)
	if err != nil {
		return nil, err
	}
	expired := e.Expired(now(k.Clock))
	var out []Pending
	for _, a := range e.Pending() {
		p := Pending{Approval: a, Info: info, total: past.total, envelope: e}
		p.Approved, p.Answered = past.answers[a.ID]
		for _, id := range expired {
			p.Expired = p.Expired || id == a.ID
		}
		out = append(out, p)
	}
	return out, nil
}

// Answer keeps a person's answer to the approval: the next resume of the run acts
// on it. An approval is answered once, and only while the run still waits for it:
// a run that went on meanwhile is a store.SequenceError.
func (k *Keeper) Answer(ctx context.Context, p *Pending, approved bool, by string) error {
	switch {
	case p.Answered && p.Approved:
		return &AnswerError{p.ID, "was approved already"}
	case p.Answered:
		return &AnswerError{p.ID, "was denied already"}
	case p.Expired && approved:
		return &AnswerError{p.ID, "expired at " + p.Expires}
	}
	rec := engine.Record{Kind: engine.RecordAnswered, ID: engine.EffectID{Path: p.envelope.Machine, Branch: -1}, Approval: p.ID, Approved: approved, By: by}
	return k.Store.Append(ctx, p.Info.Run, p.total, []engine.Record{rec})
}
