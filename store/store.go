// Package store is the contract of stores: three small things, so that a host can
// encrypt the blobs and keep the rest searchable.
//
// With a store the journal of results is the truth and a run is its fold; a
// checkpoint is a shortcut into it. A store never looks into a blob, keeps a
// claim beside the bytes, and keeps every value alike, a NUL included.
//
// Implementations are safe for concurrent use, by several processes too, and
// must pass storetest.
package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/pinfold-dev/pinfold/engine"
)

// RunID names a run.
type RunID string

// Location is where a blob lies. It is made by Put and opaque to everybody else.
type Location string

// Log is the journal of runs. seq is the number of records that the run had
// before: an Append at another place is a SequenceError and changes nothing, so
// two drivers of one run cannot interleave. Append returns when the records are
// durable.
type Log interface {
	Append(ctx context.Context, run RunID, seq uint64, records []engine.Record) error
	Read(ctx context.Context, run RunID) iter.Seq2[engine.Record, error]
}

// Blobs keeps checkpoints. Put never overwrites: every Put has a location of its
// own, unclaimed. Claim succeeds once; a second is a ClaimedError. Release gives
// a claim back when the resume was refused before anything ran; by must be who
// claimed it.
type Blobs interface {
	Put(ctx context.Context, key string, b []byte) (Location, error)
	Get(ctx context.Context, at Location) ([]byte, error)
	Claim(ctx context.Context, at Location, by string) error
	Release(ctx context.Context, at Location, by string) error
}

// Index finds runs. Put replaces what was known of the run.
type Index interface {
	Put(ctx context.Context, info RunInfo) error
	List(ctx context.Context, q Query) iter.Seq2[RunInfo, error]
}

// Store is all three.
type Store interface {
	Log
	Index
	// Blobs are apart, since Put of the index has the same name.
	Blobs() Blobs
	Close() error
}

// RunInfo is what is known of a run without opening its checkpoint.
type RunInfo struct {
	Run        RunID
	Machine    string
	Path       string // of the machine's file, "<inline>" without one
	Status     string // running, suspended, done, halt
	Reason     string // of a halt or suspension
	At         string // state
	Checkpoint Location
	Approvals  []ApprovalInfo // pending
	Created    time.Time
	Updated    time.Time
}

// ApprovalInfo is one pending approval, for lists.
type ApprovalInfo struct {
	ID, State, Tool, Digest string
	Expires                 time.Time
}

// Query selects runs; zero fields select all. Runs come newest first; Limit ≤ 0
// means no limit.
type Query struct {
	Run      RunID
	Machine  string
	Status   string
	Approval string // the run that an approval of this id is pending in
	Limit    int
}

// ErrNotFound says that there is nothing under a name or location.
var ErrNotFound = errors.New("not found")

// ClaimedError says that a checkpoint was claimed already.
type ClaimedError struct {
	By string
	At time.Time
}

func (e *ClaimedError) Error() string {
	return fmt.Sprintf("checkpoint already resumed: claimed by %s at %s", e.By, e.At.UTC().Format(time.RFC3339))
}

// SequenceError says that a journal is longer or shorter than its writer thinks.
type SequenceError struct {
	Run       RunID
	Have, Got uint64
}

func (e *SequenceError) Error() string {
	return fmt.Sprintf("journal of run %s has %d records, expected %d: another driver writes it", e.Run, e.Have, e.Got)
}
