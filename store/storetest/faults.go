package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/store"
)

// A Fault makes the store at a place fail as the world does, until it is mended:
// locks it as another process would, fills its disk, takes away its rights. It
// is done while an instance is open, and must make something fail.
type Fault struct {
	Name string
	Do   func(place string) (mend func() error, err error)
	Err  error // what at least one failure must be; nil for any
}

// bound is how long an operation may take while the world fails.
const bound = 11 * time.Second

// Check checks one fault alone, in a directory that is there.
func (f Fault) Check(ctx context.Context, dir string, open Open) error {
	return check(ctx, dir, open, []section{f.section()})
}

func (f Fault) section() section { return section{"fault: " + f.Name, f.check} }

// check: while the world fails each operation happens whole or not at all, in
// bounded time, and says which; what was there is there when it is mended.
func (f Fault) check(ctx context.Context, e *env) error {
	s, err := e.open()
	if err != nil {
		return err
	}
	want := batch(0, 3)
	if err := s.Append(ctx, "r", 0, want); err != nil {
		return err
	}
	var old, held store.Location
	for _, at := range []*store.Location{&old, &held} {
		if *at, err = s.Blobs().Put(ctx, "k", noise(1, 3000)); err != nil {
			return err
		}
	}
	if err := s.Blobs().Claim(ctx, held, "me"); err != nil {
		return err
	}
	info := store.RunInfo{Run: "r", Status: "running", Updated: at(0)}
	if err := s.Put(ctx, info); err != nil {
		return err
	}

	var (
		big     = []engine.Record{produced(4, string(make([]byte, 60_000))), produced(5, "small")}
		small   = batch(0, 2)
		next    = store.RunInfo{Run: "r", Status: "done", Reason: string(noise(3, 60_000)), Updated: at(1)}
		blob    = noise(4, 300_000)
		fresh   store.Location
		ops     = []string{"append of 60 kB", "append to a new run", "blob put", "index put", "claim", "release", "open"}
		perform = map[string]func() error{
			"append of 60 kB":     func() error { return s.Append(ctx, "r", 3, big) },
			"append to a new run": func() error { return s.Append(ctx, "new", 0, small) },
			"blob put":            func() (err error) { fresh, err = s.Blobs().Put(ctx, "k", blob); return err },
			"index put":           func() error { return s.Put(ctx, next) },
			"claim":               func() error { return s.Blobs().Claim(ctx, old, "me") },
			"release":             func() error { return s.Blobs().Release(ctx, held, "me") },
			"open":                func() error { _, err := e.open(); return err },
		}
		failed = map[string]bool{}
		fit    = false
	)
	mend, err := f.Do(e.place)
	if err != nil {
		return fmt.Errorf("the fault itself: %w", err)
	}
	err = func() error {
		for _, name := range ops {
			began := time.Now()
			err := perform[name]()
			if d := time.Since(began); d > bound {
				return fmt.Errorf("%s took %v", name, d)
			}
			if err == nil {
				continue
			}
			var (
				seq *store.SequenceError
				cl  *store.ClaimedError
			)
			if errors.Is(err, store.ErrNotFound) || errors.As(err, &seq) || errors.As(err, &cl) {
				return wrong(name, "an error that says what failed", err)
			}
			failed[name] = true
			fit = fit || f.Err == nil || errors.Is(err, f.Err)
		}
		return nil
	}()
	if err := errors.Join(err, mend()); err != nil {
		return err
	}
	if len(failed) == 0 {
		return errors.New("the fault makes nothing fail")
	}
	if !fit {
		return fmt.Errorf("no failure is the error %q", f.Err)
	}

	intact := func(s store.Store) error {
		journal, runs := want, info
		var added []engine.Record
		if !failed["append of 60 kB"] {
			journal = append(want[:3:3], big...)
		}
		if !failed["append to a new run"] {
			added = small
		}
		if !failed["index put"] {
			runs = next
		}
		errs := []error{
			expectJournal(ctx, s, "r", journal), expectJournal(ctx, s, "new", added), expectRuns(ctx, s, store.Query{}, runs),
			expectBlob(ctx, s.Blobs(), old, noise(1, 3000)), expectBlob(ctx, s.Blobs(), held, noise(1, 3000)),
		}
		if !failed["blob put"] {
			errs = append(errs, expectBlob(ctx, s.Blobs(), fresh, blob))
		}
		return errors.Join(errs...)
	}
	if err := intact(s); err != nil {
		return fmt.Errorf("after the fault: %w", err)
	}
	if err := e.close(); err != nil {
		return err
	}
	if s, err = e.open(); err != nil {
		return fmt.Errorf("after the fault: %w", err)
	}
	if err := intact(s); err != nil {
		return fmt.Errorf("reopened after the fault: %w", err)
	}
	for _, name := range ops { // what failed can be done now, so none of it was
		if failed[name] {
			if err := perform[name](); err != nil {
				return fmt.Errorf("%s, again after the fault: %w", name, err)
			}
		}
	}
	clear(failed)
	if err := intact(s); err != nil {
		return fmt.Errorf("repeated after the fault: %w", err)
	}
	if err := expectClaimed("claim after the fault", s.Blobs().Claim(ctx, old, "you"), "me"); err != nil {
		return err
	}
	return s.Blobs().Claim(ctx, held, "you")
}
