// Package store is the contract of stores: three small things, so that a host can
// encrypt the blobs and keep the rest searchable.
//
// With a store the journal of results is the truth and a run is its fold; a
// checkpoint is a shortcut into it. A store never looks into a blob, keeps a
// claim beside the bytes (LANGUAGE.md §18.1), and keeps every value alike, a NUL
// included. It never decides who may resume, and deletes nothing.
//
//	s, err := file.Open(dir) // or sqlite.Open(path)
//	err = s.Append(ctx, run, n, ready.Records) // before any of ready.Effects
//	at, err := s.Blobs().Put(ctx, string(run), envelope)
//	err = s.Put(ctx, store.RunInfo{Run: run, Status: "suspended", Checkpoint: at})
//	err = s.Blobs().Claim(ctx, at, attempt) // a resume: succeeds once
//
// Implementations are safe for concurrent use, by several processes too, and
// must pass storetest. What a context ends has not happened, unless it was
// durable already; an iterator that a context ends says so with its error and is
// never merely short.
package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/engine"
)

// RunID names a run: any text but the empty one, which is an error everywhere.
type RunID string

// Location is where a blob lies. It is made by Put and opaque to everybody else.
type Location string

// Log is the journal of runs. seq is the number of records that the run had
// before: an Append at another place is a SequenceError and changes nothing, so
// two drivers of one run cannot interleave. An Append happens whole or not at
// all, and returns when the records are durable; of no records it only compares
// seq. A record that could not be read back is a RecordError.
//
// Read gives what there was when it began, in order, and nothing for a run
// without records. Of a record it gives what engine.RecordOf reads. After an
// error it gives no more.
type Log interface {
	Append(ctx context.Context, run RunID, seq uint64, records []engine.Record) error
	Read(ctx context.Context, run RunID) iter.Seq2[engine.Record, error]
}

// Blobs keeps checkpoints. Put never overwrites: every Put has a location of its
// own, unclaimed, whatever its key, which is for people. Get, Claim and Release
// of what Put did not make are ErrNotFound.
//
// Claim succeeds once; a second is a ClaimedError, also by the same claimer. by
// names one attempt to resume, and is not empty. Release gives a claim back when
// the resume was refused before anything ran; by must be who claimed it, else it
// is a ClaimedError, or ErrNotFound where nobody did.
type Blobs interface {
	Put(ctx context.Context, key string, b []byte) (Location, error)
	Get(ctx context.Context, at Location) ([]byte, error)
	Claim(ctx context.Context, at Location, by string) error
	Release(ctx context.Context, at Location, by string) error
}

// Claims is what a store can tell of a claim without making one: nil where there
// is none. A Blobs that has it lets a reader fill the envelope's "claimed".
type Claims interface {
	Claimed(ctx context.Context, at Location) (*ClaimedError, error)
}

// Index finds runs. Put replaces what was known of the run. List gives them in
// the order of Newest; a run that cannot be read comes as an error, after the
// others and beyond the limit, and hides none of them.
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

// RunInfo is what is known of a run without opening its checkpoint. Times are
// kept to the nanosecond, in UTC; one beyond the years 1 to 9999 is an error.
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

// Match says whether q selects info, its limit aside.
func (q *Query) Match(info *RunInfo) bool {
	if q.Run != "" && q.Run != info.Run || q.Machine != "" && q.Machine != info.Machine || q.Status != "" && q.Status != info.Status {
		return false
	}
	for i := range info.Approvals {
		if info.Approvals[i].ID == q.Approval {
			return true
		}
	}
	return q.Approval == ""
}

// Newest orders runs as List does: the last updated first, equals by run id.
func Newest(a, b RunInfo) int {
	if c := b.Updated.Compare(a.Updated); c != 0 {
		return c
	}
	return strings.Compare(string(a.Run), string(b.Run))
}

// ErrNotFound says that there is nothing under a name or location.
var ErrNotFound = errors.New("not found")

// ErrLocked says that another process kept the store, or a part of it, locked for
// longer than a store waits (at most ten seconds). Nothing was changed.
var ErrLocked = errors.New("locked by another process")

// ErrDamaged says that what is kept is not what was written. The store leaves it
// as it is.
var ErrDamaged = errors.New("damaged")

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
