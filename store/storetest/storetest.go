// Package storetest is the suite that every store must pass.
//
// It opens stores at places of its own, several at one place as several
// processes would, and checks what comes back: appends whole and in order,
// claims that succeed once, text kept to the byte, nothing lost or half done
// when the world fails. It never looks at how a store keeps things.
//
//	func TestSuite(t *testing.T) {
//		storetest.Test(t, func(place string) (store.Store, error) { return file.Open(place) })
//	}
package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pinfold-dev/pinfold/store"
)

// Open opens the store at a place: a path in a directory of the suite, where
// nothing is the first time. A second Open of one place, while the first is open
// or after, is another instance of the same store.
type Open func(place string) (store.Store, error)

// Test runs the suite and reports what Check finds, section by section, several
// at a time.
func Test(t *testing.T, open Open, faults ...Fault) {
	for _, s := range sections(faults) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			if err := s.run(t.Context(), filepath.Join(t.TempDir(), "store"), open); err != nil {
				t.Error(err)
			}
		})
	}
}

// Check runs the suite in a directory that is there. Its error joins everything
// that breaks the contract.
func Check(ctx context.Context, dir string, open Open, faults ...Fault) error {
	return check(ctx, dir, open, sections(faults))
}

func check(ctx context.Context, dir string, open Open, sections []section) error {
	var errs []error
	for i, s := range sections {
		place := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(place, 0o700); err != nil {
			return err
		}
		if err := s.run(ctx, filepath.Join(place, "store"), open); err != nil {
			errs = append(errs, fmt.Errorf("storetest: %s: %w", s.name, err))
		}
	}
	return errors.Join(errs...)
}

type section struct {
	name string
	f    func(ctx context.Context, e *env) error
}

func sections(faults []Fault) []section {
	all := []section{
		{"append and read", appendAndRead},
		{"sequence", sequence},
		{"whole appends", wholeAppends},
		{"records are not kept", reuse},
		{"unreadable record", unreadable},
		{"reading a growing journal", growing},
		{"one driver", oneDriver},
		{"names", names},
		{"blobs", blobs},
		{"big blobs", bigBlobs},
		{"claim", claim},
		{"claim once", claimOnce},
		{"release once", releaseOnce},
		{"index", index},
		{"query", query},
		{"order", order},
		{"odd text", oddText},
		{"durable", durable},
		{"context", ended},
		{"200 saves", saves},
	}
	for _, f := range faults {
		all = append(all, f.section())
	}
	return all
}

func (s section) run(ctx context.Context, place string, open Open) (err error) {
	e := &env{place: place, how: open}
	defer func() { err = errors.Join(err, e.close()) }()
	return s.f(ctx, e)
}

// env is one place and the stores opened at it.
type env struct {
	place  string
	how    Open
	opened []store.Store
}

func (e *env) open() (store.Store, error) {
	s, err := e.how(e.place)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	if s == nil || s.Blobs() == nil {
		return nil, errors.New("open: no store and no error")
	}
	e.opened = append(e.opened, s)
	return s, nil
}

// two opens two instances.
func (e *env) two() ([2]store.Store, error) {
	a, err := e.open()
	if err != nil {
		return [2]store.Store{}, err
	}
	b, err := e.open()
	return [2]store.Store{a, b}, err
}

func (e *env) close() error {
	var errs []error
	for _, s := range e.opened {
		if err := s.Close(); err != nil {
			errs = append(errs, fmt.Errorf("close: %w", err))
		}
	}
	e.opened = nil
	return errors.Join(errs...)
}

// wrong is what an operation gave instead of the error that was due.
func wrong(what, expected string, err error) error {
	if err == nil {
		return fmt.Errorf("%s: expected %s, found no error", what, expected)
	}
	return fmt.Errorf("%s: expected %s, found: %w", what, expected, err)
}

func expectIs(what string, err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return wrong(what, fmt.Sprintf("the error %q", target), err)
}

func expectSequence(what string, err error, run store.RunID, have, got uint64) error {
	var e *store.SequenceError
	if !errors.As(err, &e) {
		return wrong(what, "a SequenceError", err)
	}
	if want := (store.SequenceError{Run: run, Have: have, Got: got}); *e != want {
		return fmt.Errorf("%s: expected %+v, found %+v", what, want, *e)
	}
	return nil
}

func expectClaimed(what string, err error, by string) error {
	var e *store.ClaimedError
	if !errors.As(err, &e) {
		return wrong(what, "a ClaimedError", err)
	}
	if e.By != by || e.At.IsZero() {
		return fmt.Errorf("%s: expected a claim by %q with its time, found %+v", what, by, *e)
	}
	return nil
}
