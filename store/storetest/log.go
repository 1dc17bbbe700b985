package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/store"
	"github.com/pinfold-dev/pinfold/value"
)

func appendAndRead(ctx context.Context, e *env) error {
	s, err := e.open()
	if err != nil {
		return err
	}
	if err := expectJournal(ctx, s, "nobody", nil); err != nil {
		return fmt.Errorf("a run without records: %w", err)
	}
	want := records()
	for n := 0; n < len(want); { // in pieces of 1, 2, 3 …, that of odd numbers to another run too
		end := min(len(want), n+1+n%7)
		if err := s.Append(ctx, "r", uint64(n), want[n:end]); err != nil {
			return fmt.Errorf("append at %d: %w", n, err)
		}
		n = end
	}
	other := batch(0, 3)
	if err := s.Append(ctx, "other", 0, other); err != nil {
		return err
	}
	if err := expectJournal(ctx, s, "r", want); err != nil {
		return err
	}
	if err := expectJournal(ctx, s, "other", other); err != nil {
		return err
	}
	i := 0 // a reader may leave early, and start again
	for r, err := range s.Read(ctx, "r") {
		if err != nil {
			return err
		}
		if r.Kind != want[i].Kind {
			return fmt.Errorf("record %d: expected a %s, found a %s", i, want[i].Kind, r.Kind)
		}
		if i++; i == 3 {
			break
		}
	}
	return expectJournal(ctx, s, "r", want)
}

func sequence(ctx context.Context, e *env) error {
	s, err := e.open()
	if err != nil {
		return err
	}
	want := batch(0, 5)
	if err := expectSequence("first append at 1", s.Append(ctx, "r", 1, want[1:]), "r", 0, 1); err != nil {
		return err
	}
	if err := s.Append(ctx, "r", 0, want[:3]); err != nil {
		return err
	}
	for _, at := range []uint64{0, 1, 2, 4, 100, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64 - 2, math.MaxUint64} {
		what := fmt.Sprintf("append at %d to a journal of 3", at)
		for _, records := range [][]engine.Record{batch(7, 2), nil} {
			if err := expectSequence(what, s.Append(ctx, "r", at, records), "r", 3, at); err != nil {
				return err
			}
		}
	}
	if err := s.Append(ctx, "r", 3, nil); err != nil {
		return fmt.Errorf("append of no records: %w", err)
	}
	if err := s.Append(ctx, "r", 3, want[3:]); err != nil {
		return fmt.Errorf("append after refused ones: %w", err)
	}
	if err := s.Append(ctx, "", 0, batch(0, 1)); err == nil {
		return errors.New("append to a run without a name: expected an error")
	}
	return expectJournal(ctx, s, "r", want)
}

// A record in the middle that cannot be kept takes its append with it.
func wholeAppends(ctx context.Context, e *env) error {
	s, err := e.open()
	if err != nil {
		return err
	}
	want := batch(0, 6)
	if err := s.Append(ctx, "r", 0, want[:2]); err != nil {
		return err
	}
	bad := batch(2, 3)
	bad[1].ID.Path = "" // no record says so
	if err := s.Append(ctx, "r", 2, bad); err == nil {
		return errors.New("append of a record that does not read back: expected an error")
	}
	if err := expectJournal(ctx, s, "r", want[:2]); err != nil {
		return fmt.Errorf("after a failed append: %w", err)
	}
	if err := s.Append(ctx, "r", 2, want[2:]); err != nil {
		return fmt.Errorf("after a failed append: %w", err)
	}
	return expectJournal(ctx, s, "r", want)
}

// The records are the caller's, who uses them again (engine.Ready).
func reuse(ctx context.Context, e *env) error {
	s, err := e.open()
	if err != nil {
		return err
	}
	given := batch(0, 4)
	if err := s.Append(ctx, "r", 0, given); err != nil {
		return err
	}
	clear(given)
	return expectJournal(ctx, s, "r", batch(0, 4))
}

func unreadable(ctx context.Context, e *env) error {
	s, err := e.open()
	if err != nil {
		return err
	}
	r := produced(1, "")
	r.Result = engine.Observed{Value: deep(2 * value.MaxDepth)}
	err = s.Append(ctx, "r", 0, []engine.Record{r})
	var bad *store.RecordError
	if !errors.As(err, &bad) {
		return wrong("append of a record that nests too deeply to be read", "a RecordError", err)
	}
	return expectJournal(ctx, s, "r", nil)
}

// Read gives what there was when it began: who appends while reading comes to
// an end.
func growing(ctx context.Context, e *env) error {
	s, err := e.open()
	if err != nil {
		return err
	}
	const n = 3
	want := make([]engine.Record, 2*n) // long ones: a reader may read ahead
	for i := range want {
		want[i] = produced(i+1, strings.Repeat("x", 50_000))
	}
	for i := range n {
		if err := s.Append(ctx, "r", uint64(i), want[i:i+1]); err != nil {
			return err
		}
	}
	seen := 0
	for r, err := range s.Read(ctx, "r") {
		if err != nil {
			return err
		}
		if seen == n {
			return errors.New("a reader sees what was appended after it began")
		}
		if r.ID != want[seen].ID {
			return fmt.Errorf("record %d has the id %+v", seen, r.ID)
		}
		if err := s.Append(ctx, "r", uint64(n+seen), want[n+seen:n+seen+1]); err != nil {
			return fmt.Errorf("append while reading: %w", err)
		}
		seen++
	}
	if seen != n {
		return fmt.Errorf("expected %d records, found %d", n, seen)
	}
	return expectJournal(ctx, s, "r", want)
}

// Drivers of one run, in two instances, all append at the place they last saw.
// One wins each place, and nothing interleaves: a run of this test is a chain
// where every append holds two records of one driver.
func oneDriver(ctx context.Context, e *env) error {
	ss, err := e.two()
	if err != nil {
		return err
	}
	const drivers, appends = 6, 8
	errs := make([]error, drivers)
	var wg sync.WaitGroup
	for d := range drivers {
		wg.Go(func() {
			s, at := ss[d%2], uint64(0)
			for done := 0; done < appends; {
				two := []engine.Record{produced(d+1, fmt.Sprint(done)), produced(d+1, fmt.Sprint(done, "b"))}
				err := s.Append(ctx, "r", at, two)
				var seq *store.SequenceError
				switch {
				case err == nil:
					at += 2
					done++
				case errors.As(err, &seq) && seq.Have != at && seq.Have%2 == 0 && seq.Got == at:
					at = seq.Have
				default:
					errs[d] = fmt.Errorf("driver %d at %d: %w", d, at, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	got, err := read(ctx, ss[0], "r")
	if err != nil {
		return err
	}
	if len(got) != 2*drivers*appends {
		return fmt.Errorf("%d appends of 2 records succeeded, the journal has %d records", drivers*appends, len(got))
	}
	next := make([]int, drivers+1)
	for i := 0; i < len(got); i += 2 {
		d := int(got[i].ID.Visit)
		a, ok := got[i].Result.(engine.Produced)
		b, ok2 := got[i+1].Result.(engine.Produced)
		if !ok || !ok2 || int(got[i+1].ID.Visit) != d || d < 1 || d > drivers || a.Text != fmt.Sprint(next[d]) || b.Text != fmt.Sprint(next[d], "b") {
			return fmt.Errorf("records %d and %d are not the two of append %d of driver %d", i, i+1, next[d], d-1)
		}
		next[d]++
	}
	return expectJournal(ctx, ss[1], "r", got)
}

// runs are names that are easily taken for one another, or for something else.
func runs() []store.RunID {
	long := make([]byte, 300)
	for i := range long {
		long[i] = 'a' + byte(i%26)
	}
	names := []store.RunID{
		"r", "R", "r ", " r", "r.", ".", "..", "../r", "/r", "r/", `\r`, "r\x00", "r\x00s", "r\n", "%72", "%", "%%", "r%00", "r:1", "con", "nul", "-r", "*", "~r",
		"r\xff", "r\xfe", "r\uFFFD", "é", "e\u0301", "日本", store.RunID(long), store.RunID(long[:299]) + "A", store.RunID(long[:299]), store.RunID(long) + "\x00",
	}
	return names
}

// Every name is a run of its own, in the journal, in the index and as a key.
func names(ctx context.Context, e *env) error {
	s, err := e.open()
	if err != nil {
		return err
	}
	all := runs()
	locations := make([]store.Location, len(all))
	for i, run := range all {
		if err := s.Append(ctx, run, 0, batch(i, 1)); err != nil {
			return fmt.Errorf("run %q: %w", run, err)
		}
		if err := s.Put(ctx, store.RunInfo{Run: run, At: fmt.Sprint(i)}); err != nil {
			return fmt.Errorf("run %q: %w", run, err)
		}
		if locations[i], err = s.Blobs().Put(ctx, string(run), []byte(run)); err != nil {
			return fmt.Errorf("key %q: %w", run, err)
		}
	}
	if s, err = e.open(); err != nil {
		return err
	}
	for i, run := range all {
		if err := expectJournal(ctx, s, run, batch(i, 1)); err != nil {
			return err
		}
		got, err := list(ctx, s, store.Query{Run: run})
		if err != nil {
			return err
		}
		if len(got) != 1 || got[0].Run != run || got[0].At != fmt.Sprint(i) {
			return fmt.Errorf("query for run %q: found %+v", run, got)
		}
		b, err := s.Blobs().Get(ctx, locations[i])
		if err != nil || string(b) != string(run) {
			return fmt.Errorf("blob with the key %q: found %q, %w", run, b, err)
		}
	}
	got, err := list(ctx, s, store.Query{})
	if err != nil {
		return err
	}
	slices.Sort(all) // none has a time: order is by name
	for i := range min(len(got), len(all)) {
		if got[i].Run != all[i] {
			return fmt.Errorf("run %d of the list: expected %q, found %q", i, all[i], got[i].Run)
		}
	}
	if len(got) != len(all) {
		return fmt.Errorf("expected %d runs, found %d", len(all), len(got))
	}
	return nil
}
