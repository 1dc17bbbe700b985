package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/pinfold-dev/pinfold/store"
)

func expectBlob(ctx context.Context, b store.Blobs, at store.Location, want []byte) error {
	got, err := b.Get(ctx, at)
	if err != nil {
		return fmt.Errorf("get of %q: %w", at, err)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("get of %q: expected %d bytes, found %d others", at, len(want), len(got))
	}
	return nil
}

// noise is bytes that are no text, the same for the same seed.
func noise(seed uint64, n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	_, _ = r.Read(b) // it never fails
	return b
}

func blobs(ctx context.Context, e *env) error {
	ss, err := e.two()
	if err != nil {
		return err
	}
	b := ss[0].Blobs()
	contents := [][]byte{nil, {0}, []byte("x"), []byte("x"), []byte("{}"), []byte("{}}"), []byte("{\"cut"), []byte("\r\n\x00\n"), []byte("\uFEFF\xff\xfe"), noise(1, 4096), noise(2, 70_001)}
	locations := make([]store.Location, len(contents))
	seen := map[store.Location]bool{}
	for i, want := range contents {
		given := bytes.Clone(want)
		if locations[i], err = b.Put(ctx, "run/1", given); err != nil {
			return err
		}
		for j := range given {
			given[j] ^= 0xff // the bytes are the caller's
		}
		if seen[locations[i]] {
			return fmt.Errorf("two puts of one key have the location %q", locations[i])
		}
		seen[locations[i]] = true
	}
	for _, s := range ss {
		for i, want := range contents {
			if err := expectBlob(ctx, s.Blobs(), locations[i], want); err != nil {
				return err
			}
		}
	}
	got, err := b.Get(ctx, locations[9])
	if err != nil {
		return err
	}
	clear(got) // what Get gave is the caller's too
	if err := expectBlob(ctx, b, locations[9], contents[9]); err != nil {
		return err
	}

	at := locations[2]
	for _, unknown := range []store.Location{"", "x", "0", "-1", "99999999", ".", "..", "../" + at, "/" + at, "./" + at, at + "/", at + " ", at + "\x00", at + ".claim", at + at, store.Location(strings.ToUpper(string(at))) + "X", "' OR 1=1 --", "%", store.Location(strings.Repeat("a", 5000))} {
		_, err := b.Get(ctx, unknown)
		if err := expectIs(fmt.Sprintf("get of the unknown %.50q", unknown), err, store.ErrNotFound); err != nil {
			return err
		}
		if err := expectIs(fmt.Sprintf("claim of the unknown %.50q", unknown), b.Claim(ctx, unknown, "a"), store.ErrNotFound); err != nil {
			return err
		}
		if err := expectIs(fmt.Sprintf("release of the unknown %.50q", unknown), b.Release(ctx, unknown, "a"), store.ErrNotFound); err != nil {
			return err
		}
	}
	return nil
}

func bigBlobs(ctx context.Context, e *env) error {
	s, err := e.open()
	if err != nil {
		return err
	}
	const size = 10 << 20
	var locations [2]store.Location
	for i := range locations {
		if locations[i], err = s.Blobs().Put(ctx, "big", noise(uint64(i), size)); err != nil {
			return err
		}
	}
	if s, err = e.open(); err != nil {
		return err
	}
	for i, at := range locations {
		if err := expectBlob(ctx, s.Blobs(), at, noise(uint64(i), size)); err != nil {
			return err
		}
	}
	want := append(batch(0, 2), produced(3, "\x00\n"+strings.Repeat("prose ", size/30)+"\x00"), produced(4, "after"))
	if err := s.Append(ctx, "r", 0, want); err != nil {
		return fmt.Errorf("a record of 2 MB: %w", err)
	}
	if err := s.Append(ctx, "r", 4, want[:1]); err != nil {
		return err
	}
	return expectJournal(ctx, s, "r", append(want, want[0]))
}

// The rules of claims, one after another.
func claim(ctx context.Context, e *env) error {
	ss, err := e.two()
	if err != nil {
		return err
	}
	a, b := ss[0].Blobs(), ss[1].Blobs()
	before := time.Now()
	at, err := a.Put(ctx, "k", []byte("one"))
	if err != nil {
		return err
	}
	other, err := a.Put(ctx, "k", []byte("two"))
	if err != nil {
		return err
	}
	if err := claimed(ctx, b, at, ""); err != nil {
		return err
	}
	if err := expectIs("release of what nobody claimed", a.Release(ctx, at, "a"), store.ErrNotFound); err != nil {
		return err
	}
	if a.Claim(ctx, at, "") == nil {
		return errors.New("claim by nobody: expected an error")
	}

	by := "attempt 1 \x00\"\n" + strings.Repeat("a", 500)
	if err := a.Claim(ctx, at, by); err != nil {
		return fmt.Errorf("first claim: %w", err)
	}
	for _, x := range []store.Blobs{a, b} {
		for _, who := range []string{"other", by} {
			err := x.Claim(ctx, at, who)
			if err := expectClaimed("second claim", err, by); err != nil {
				return err
			}
			var c *store.ClaimedError
			errors.As(err, &c)
			if d := c.At.Sub(before); d < -time.Second || d > time.Hour {
				return fmt.Errorf("the claim was made at %v, it says %v", before, c.At)
			}
		}
		if err := claimed(ctx, x, at, by); err != nil {
			return err
		}
		if err := claimed(ctx, x, other, ""); err != nil {
			return err
		}
		if err := expectBlob(ctx, x, at, []byte("one")); err != nil { // a claim is beside the bytes
			return err
		}
		for _, who := range []string{"other", by[:len(by)-1], by + "a", strings.ToUpper(by)} {
			if err := expectClaimed("release by another", x.Release(ctx, at, who), by); err != nil {
				return err
			}
		}
		if x.Release(ctx, at, "") == nil {
			return errors.New("release by nobody: expected an error")
		}
		if err := expectClaimed("claim after refused releases", x.Claim(ctx, at, "other"), by); err != nil {
			return err
		}
	}
	if err := b.Claim(ctx, other, by); err != nil {
		return fmt.Errorf("claim of another checkpoint of the same key: %w", err)
	}

	if err := b.Release(ctx, at, by); err != nil { // by the claimer, from another process
		return fmt.Errorf("release: %w", err)
	}
	if err := claimed(ctx, a, at, ""); err != nil {
		return err
	}
	if err := expectIs("second release", a.Release(ctx, at, by), store.ErrNotFound); err != nil {
		return err
	}
	if err := b.Claim(ctx, at, "attempt 2"); err != nil {
		return fmt.Errorf("claim of what was released: %w", err)
	}
	if err := expectClaimed("release by an earlier claimer", a.Release(ctx, at, by), "attempt 2"); err != nil {
		return err
	}
	if err := expectClaimed("claim by an earlier claimer", a.Claim(ctx, at, by), "attempt 2"); err != nil {
		return err
	}
	return expectClaimed("the other checkpoint", a.Claim(ctx, other, "x"), by)
}

// claimed compares what a store tells of a claim, if it tells.
func claimed(ctx context.Context, b store.Blobs, at store.Location, by string) error {
	c, ok := b.(store.Claims)
	if !ok {
		return nil
	}
	got, err := c.Claimed(ctx, at)
	switch {
	case err != nil:
		return fmt.Errorf("claimed: %w", err)
	case by == "" && got != nil:
		return fmt.Errorf("claimed: expected no claim, found one by %q", got.By)
	case by != "" && got == nil:
		return fmt.Errorf("claimed: expected a claim by %q, found none", by)
	case by != "":
		return expectClaimed("claimed", got, by)
	}
	_, err = c.Claimed(ctx, at+"?")
	return expectIs("claimed of an unknown location", err, store.ErrNotFound)
}

// Resumes of one suspension at the same moment, goroutines on two instances: one
// winner each time, and each loser is told of it (CASES: double click).
func claimOnce(ctx context.Context, e *env) error {
	ss, err := e.two()
	if err != nil {
		return err
	}
	const rounds, claimers = 12, 6
	for round := range rounds {
		at, err := ss[0].Blobs().Put(ctx, "k", []byte{byte(round)})
		if err != nil {
			return err
		}
		errs := atOnce(claimers, func(i int) error {
			return ss[i%2].Blobs().Claim(ctx, at, fmt.Sprint("claimer ", i))
		})
		winner := -1
		for i, err := range errs {
			if err == nil {
				if winner >= 0 {
					return fmt.Errorf("round %d: claimers %d and %d both have the checkpoint", round, winner, i)
				}
				winner = i
			}
		}
		if winner < 0 {
			return fmt.Errorf("round %d: nobody has the checkpoint: %w", round, errors.Join(errs...))
		}
		for i, err := range errs {
			if i == winner {
				continue
			}
			if err := expectClaimed(fmt.Sprintf("round %d, loser %d", round, i), err, fmt.Sprint("claimer ", winner)); err != nil {
				return err
			}
		}
		if err := expectClaimed("after the race", ss[0].Blobs().Claim(ctx, at, "late"), fmt.Sprint("claimer ", winner)); err != nil {
			return err
		}
	}
	return nil
}

// Releases race with a claim that follows them: no release takes away a claim
// that is not its own, so there is never a moment with two holders.
func releaseOnce(ctx context.Context, e *env) error {
	ss, err := e.two()
	if err != nil {
		return err
	}
	at, err := ss[0].Blobs().Put(ctx, "k", []byte("x"))
	if err != nil {
		return err
	}
	for round := range 8 {
		holder := fmt.Sprint("holder ", round)
		if err := ss[0].Blobs().Claim(ctx, at, holder); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		errs := atOnce(6, func(i int) error {
			b := ss[i%2].Blobs()
			if i < 3 {
				return b.Release(ctx, at, holder)
			}
			for range 100 { // until the release came, or another won
				err := b.Claim(ctx, at, fmt.Sprint("next ", i))
				var c *store.ClaimedError
				if errors.As(err, &c) && c.By == holder {
					time.Sleep(time.Millisecond)
					continue
				}
				return err
			}
			return errors.New("the holder never released")
		})
		released, next := 0, ""
		for i, err := range errs {
			switch {
			case i < 3 && err == nil:
				released++
			case i >= 3 && err == nil:
				if next != "" {
					return fmt.Errorf("round %d: %s and next %d both hold the checkpoint", round, next, i)
				}
				next = fmt.Sprint("next ", i)
			}
		}
		if released != 1 || next == "" {
			return fmt.Errorf("round %d: %d releases and the claim of %q succeeded: %w", round, released, next, errors.Join(errs...))
		}
		if err := ss[1].Blobs().Release(ctx, at, next); err != nil {
			return fmt.Errorf("round %d: the claim of %s is gone: %w", round, next, err)
		}
	}
	return nil
}

// atOnce runs f n times, each from a goroutine of its own, all let go together.
func atOnce(n int, f func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = f(i)
		})
	}
	close(start)
	wg.Wait()
	return errs
}
