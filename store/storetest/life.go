package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/pinfold-dev/pinfold/store"
)

// What an instance was told is there in the next.
func durable(ctx context.Context, e *env) error {
	s, err := e.open()
	if err != nil {
		return err
	}
	all := records()
	if err := s.Append(ctx, "r", 0, all[:10]); err != nil {
		return err
	}
	free, err := s.Blobs().Put(ctx, "k", noise(1, 5000))
	if err != nil {
		return err
	}
	held, err := s.Blobs().Put(ctx, "k", noise(2, 5000))
	if err != nil {
		return err
	}
	if err := s.Blobs().Claim(ctx, held, "me"); err != nil {
		return err
	}
	info := store.RunInfo{Run: "r", Status: "suspended", Checkpoint: held, Approvals: []store.ApprovalInfo{{ID: "a"}}, Updated: at(0)}
	if err := s.Put(ctx, info); err != nil {
		return err
	}
	for n := 10; n < len(all); n += 10 {
		if err := e.close(); err != nil {
			return err
		}
		if s, err = e.open(); err != nil {
			return err
		}
		if err := expectJournal(ctx, s, "r", all[:n]); err != nil {
			return err
		}
		if err := expectSequence("append at 1 after reopening", s.Append(ctx, "r", 1, all[:1]), "r", uint64(n), 1); err != nil {
			return err
		}
		if err := s.Append(ctx, "r", uint64(n), all[n:min(len(all), n+10)]); err != nil {
			return fmt.Errorf("append after reopening: %w", err)
		}
	}
	if err := expectJournal(ctx, s, "r", all); err != nil {
		return err
	}
	b := s.Blobs()
	if err := errors.Join(expectBlob(ctx, b, free, noise(1, 5000)), expectBlob(ctx, b, held, noise(2, 5000))); err != nil {
		return err
	}
	if err := expectClaimed("claim after reopening", b.Claim(ctx, held, "you"), "me"); err != nil {
		return err
	}
	if err := b.Release(ctx, held, "me"); err != nil {
		return fmt.Errorf("release after reopening: %w", err)
	}
	if err := b.Claim(ctx, free, "you"); err != nil {
		return err
	}
	if err := expectRuns(ctx, s, store.Query{Approval: "a"}, info); err != nil {
		return err
	}
	if err := e.close(); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return fmt.Errorf("second close: %w", err)
	}
	if s.Append(ctx, "r", uint64(len(all)), all[:1]) == nil {
		return errors.New("append to a closed store: expected an error")
	}
	return nil
}

// An ended context: an error that says so, and nothing is done.
func ended(ctx context.Context, e *env) error {
	s, err := e.open()
	if err != nil {
		return err
	}
	const n = 700
	if err := s.Append(ctx, "r", 0, batch(0, n)); err != nil {
		return err
	}
	var at [2]store.Location
	for i := range at {
		if at[i], err = s.Blobs().Put(ctx, "k", []byte("x")); err != nil {
			return err
		}
	}
	if err := s.Blobs().Claim(ctx, at[1], "me"); err != nil {
		return err
	}
	info := store.RunInfo{Run: "r", Status: "running"}
	if err := s.Put(ctx, info); err != nil {
		return err
	}

	past, cancel := context.WithDeadline(ctx, time.Unix(1, 0))
	defer cancel()
	gone, cancel := context.WithCancel(ctx)
	cancel()
	for _, c := range []struct {
		ctx context.Context
		err error
	}{{gone, context.Canceled}, {past, context.DeadlineExceeded}} {
		b := s.Blobs()
		ops := map[string]func() error{
			"append":    func() error { return s.Append(c.ctx, "r", n, batch(n, 1)) },
			"append at": func() error { return s.Append(c.ctx, "new", 0, batch(0, 1)) },
			"put":       func() error { return s.Put(c.ctx, store.RunInfo{Run: "r", Status: "done"}) },
			"put new":   func() error { return s.Put(c.ctx, store.RunInfo{Run: "new"}) },
			"blob put":  func() error { _, err := b.Put(c.ctx, "k", []byte("y")); return err },
			"get":       func() error { _, err := b.Get(c.ctx, at[0]); return err },
			"claim":     func() error { return b.Claim(c.ctx, at[0], "you") },
			"release":   func() error { return b.Release(c.ctx, at[1], "me") },
			"read":      func() error { return only(s.Read(c.ctx, "r")) },
			"read new":  func() error { return only(s.Read(c.ctx, "new")) },
			"list":      func() error { return only(s.List(c.ctx, store.Query{})) },
		}
		for name, op := range ops {
			if err := expectIs(name+" with an ended context", op(), c.err); err != nil {
				return err
			}
		}
	}

	// A journal that is read in part must not look whole.
	short, cancel := context.WithCancel(ctx)
	defer cancel()
	read, failed := 0, error(nil)
	for _, err := range s.Read(short, "r") {
		if failed != nil {
			return errors.New("read goes on after an error")
		}
		if failed = err; err == nil {
			read++
		}
		if read == 5 {
			cancel()
		}
	}
	if err := expectIs(fmt.Sprintf("read of %d records, ended after 5, gave %d", n, read), failed, context.Canceled); err != nil {
		return err
	}

	if err := expectJournal(ctx, s, "r", batch(0, n)); err != nil {
		return err
	}
	if err := expectJournal(ctx, s, "new", nil); err != nil {
		return err
	}
	if err := expectRuns(ctx, s, store.Query{}, info); err != nil {
		return err
	}
	if err := s.Blobs().Claim(ctx, at[0], "you"); err != nil {
		return fmt.Errorf("after a claim with an ended context: %w", err)
	}
	return expectClaimed("after a release with an ended context", s.Blobs().Claim(ctx, at[1], "you"), "me")
}

// only is the error of an iterator that gives nothing else.
func only[T any](seq iter.Seq2[T, error]) error {
	var failed error
	for _, err := range seq {
		if err == nil {
			return errors.New("it gives something")
		}
		failed = err
	}
	return failed
}

// 200 concurrent saves, of blobs with one key, of runs, one of them the same,
// and of journals, in two instances: all are there, each as it was written
// (CASES: a shared temporary name leaves a valid document with a tail).
func saves(ctx context.Context, e *env) error {
	ss, err := e.two()
	if err != nil {
		return err
	}
	const n = 200
	content := func(i int) []byte { return noise(uint64(i), 10+(i*7919)%20_000) }
	info := func(i int) store.RunInfo {
		x := store.RunInfo{Run: store.RunID(fmt.Sprintf("run-%03d", i)), Reason: string(make([]byte, i)), Approvals: make([]store.ApprovalInfo, i%5), Updated: at(-i)}
		if i >= n/2 {
			x.Run = "shared"
		}
		return x
	}
	locations := make([]store.Location, n)
	errs := atOnce(n, func(i int) (err error) {
		s := ss[i%2]
		if locations[i], err = s.Blobs().Put(ctx, "checkpoint", content(i)); err != nil {
			return fmt.Errorf("save %d: %w", i, err)
		}
		if err = s.Put(ctx, info(i)); err != nil {
			return fmt.Errorf("save %d, index: %w", i, err)
		}
		if err = s.Append(ctx, store.RunID(fmt.Sprint("j", i)), 0, batch(i, 1+i%3)); err != nil {
			return fmt.Errorf("save %d, journal: %w", i, err)
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	s, err := e.open()
	if err != nil {
		return err
	}
	seen := map[store.Location]bool{}
	for i, at := range locations {
		if seen[at] {
			return fmt.Errorf("two saves have the location %q", at)
		}
		seen[at] = true
		if err := expectBlob(ctx, s.Blobs(), at, content(i)); err != nil {
			return fmt.Errorf("save %d: %w", i, err)
		}
		if err := expectJournal(ctx, s, store.RunID(fmt.Sprint("j", i)), batch(i, 1+i%3)); err != nil {
			return err
		}
		if i < n/2 {
			if err := expectRuns(ctx, s, store.Query{Run: info(i).Run}, info(i)); err != nil {
				return err
			}
		}
	}
	shared, err := list(ctx, s, store.Query{Run: "shared"})
	if err != nil {
		return err
	}
	if len(shared) != 1 || len(shared[0].Reason) < n/2 {
		return fmt.Errorf("the run that %d savers put: found %d", n/2, len(shared))
	}
	if err := same(shared[0], info(len(shared[0].Reason))); err != nil { // one of them, and not a mixture
		return err
	}
	got, err := list(ctx, s, store.Query{})
	if err == nil && len(got) != n/2+1 {
		err = fmt.Errorf("expected %d runs, found %d", n/2+1, len(got))
	}
	return err
}
