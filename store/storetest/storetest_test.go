package storetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/store"
	"github.com/pinfold-dev/pinfold/store/storetest"
)

// A store in memory, right in everything but what it is told to get wrong.
type shelf struct {
	mu     sync.Mutex
	logs   map[store.RunID][][]byte
	blobs  map[store.Location]*blob
	runs   map[store.RunID]store.RunInfo
	listed []store.RunInfo // of a store that adds where it should replace
	failed bool            // the world's doing
	n      int
}

type blob struct {
	b  []byte
	by string
	at time.Time
}

type memory struct {
	*shelf
	wrong  string
	mine   map[store.Location]string // of a store whose instances don't see each other's claims
	closed bool
}

func (m *memory) is(wrong string) bool { return m.wrong == wrong }

func open(wrong string) (storetest.Open, storetest.Fault) {
	var mu sync.Mutex
	shelves := map[string]*shelf{}
	at := func(place string) *shelf {
		if shelves[place] == nil || wrong == "forgets" {
			shelves[place] = &shelf{logs: map[store.RunID][][]byte{}, blobs: map[store.Location]*blob{}, runs: map[store.RunID]store.RunInfo{}}
		}
		return shelves[place]
	}
	set := func(place string, failed bool) {
		mu.Lock()
		defer mu.Unlock()
		at(place).failed = failed
	}
	return func(place string) (store.Store, error) {
			mu.Lock()
			defer mu.Unlock()
			return &memory{shelf: at(place), wrong: wrong, mine: map[store.Location]string{}}, nil
		}, storetest.Fault{Name: "full", Err: errFull, Do: func(place string) (func() error, error) {
			set(place, true)
			return func() error { set(place, false); return nil }, nil
		}}
}

var errFull = errors.New("no space")

func (m *memory) enter(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil && !m.is("ignores contexts") {
		return nil, err
	}
	m.mu.Lock()
	if m.closed && !m.is("never closes") {
		m.mu.Unlock()
		return nil, errors.New("closed")
	}
	return m.mu.Unlock, nil
}

func (m *memory) name(run store.RunID) store.RunID {
	switch m.wrong {
	case "folds case":
		return store.RunID(strings.ToLower(string(run)))
	case "cuts names":
		return run[:min(len(run), 255)]
	case "stops at NUL":
		before, _, _ := strings.Cut(string(run), "\x00")
		return store.RunID(before)
	}
	return run
}

func (m *memory) Append(ctx context.Context, run store.RunID, seq uint64, records []engine.Record) error {
	leave, err := m.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if run == "" && !m.is("takes no name") {
		return errors.New("a run has a name")
	}
	run = m.name(run)
	have := uint64(len(m.logs[run]))
	if have != seq && !m.is("ignores seq") {
		if len(records) == 0 && m.is("ignores seq of nothing") {
			return nil
		}
		if m.is("says conflict without figures") {
			return &store.SequenceError{Run: run}
		}
		if !(m.is("takes a gap") && seq > have) {
			return &store.SequenceError{Run: run, Have: have, Got: seq}
		}
	}
	var lines [][]byte
	for i := range records {
		b, err := store.AppendRecord(nil, &records[i])
		if err != nil {
			if m.is("appends half") {
				m.logs[run] = append(m.logs[run], lines...)
			}
			if m.is("writes the unreadable") {
				lines = append(lines, []byte(records[i].Value().JSON()))
				continue
			}
			return err
		}
		if m.is("drops NUL from records") {
			b = bytes.ReplaceAll(b, []byte(`W\u0000s`), []byte("Ws"))
		}
		if m.is("changes text") {
			b = bytes.ReplaceAll(b, []byte("\u2028"), []byte(" "))
		}
		lines = append(lines, b)
	}
	if m.failed {
		if m.is("half under a fault") {
			m.logs[run] = append(m.logs[run], lines[:1]...)
		}
		if m.is("says done under a fault") {
			return nil
		}
		if m.is("says not found under a fault") {
			return store.ErrNotFound
		}
		return fmt.Errorf("append: %w", errFull)
	}
	if m.is("reverses") {
		slices.Reverse(lines)
	}
	m.logs[run] = append(m.logs[run], lines...)
	if m.is("tears batches") { // another driver can come between
		m.logs[run] = m.logs[run][:have]
		for i := range lines {
			m.mu.Unlock()
			runtime.Gosched()
			m.mu.Lock()
			m.logs[run] = append(m.logs[run], lines[i])
		}
	}
	return nil
}

func (m *memory) Read(ctx context.Context, run store.RunID) iter.Seq2[engine.Record, error] {
	return func(yield func(engine.Record, error) bool) {
		leave, err := m.enter(ctx)
		if err != nil {
			yield(engine.Record{}, err)
			return
		}
		run = m.name(run)
		lines := slices.Clone(m.logs[run])
		leave()
		if lines == nil && m.is("says that an empty journal is not found") {
			yield(engine.Record{}, store.ErrNotFound)
			return
		}
		for i := 0; i < len(lines); i++ {
			if ctx.Err() != nil && !m.is("ignores contexts") {
				if !m.is("reads short") {
					yield(engine.Record{}, ctx.Err())
				}
				return
			}
			r, err := store.ParseRecord(lines[i])
			if !yield(r, err) || err != nil && !m.is("goes on after an error") {
				return
			}
			if m.is("reads on") {
				m.mu.Lock()
				lines = slices.Clone(m.logs[run])
				m.mu.Unlock()
			}
		}
	}
}

func (m *memory) Blobs() store.Blobs { return blobs{m} }

type blobs struct{ *memory }

func (m blobs) Put(ctx context.Context, key string, b []byte) (store.Location, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	if m.failed {
		return "", fmt.Errorf("put: %w", errFull)
	}
	m.n++
	at := store.Location(fmt.Sprintf("at-%d", m.n))
	if m.is("names blobs by key") {
		at = store.Location("key-" + key)
	}
	if !m.is("keeps the caller's bytes") {
		b = bytes.Clone(b)
	}
	if m.is("cuts blobs") {
		b = b[:min(len(b), 1<<20)]
	}
	if m.is("trims blobs") {
		b = bytes.TrimSpace(b)
	}
	m.shelf.blobs[at] = &blob{b: b}
	return at, nil
}

func (m blobs) find(at store.Location) (*blob, error) {
	if x := m.shelf.blobs[at]; x != nil {
		return x, nil
	}
	return nil, store.ErrNotFound
}

func (m blobs) Get(ctx context.Context, at store.Location) ([]byte, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	x, err := m.find(at)
	if err != nil {
		if m.is("gives nothing for the unknown") {
			return nil, nil
		}
		return nil, err
	}
	if m.is("gives its own bytes") {
		return x.b, nil
	}
	if m.is("writes claims into the bytes") && x.by != "" {
		return append(bytes.Clone(x.b), x.by...), nil
	}
	return bytes.Clone(x.b), nil
}

func (m blobs) Claim(ctx context.Context, at store.Location, by string) error {
	leave, err := m.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	x, err := m.find(at)
	if err != nil {
		if m.is("claims the unknown") {
			return nil
		}
		return err
	}
	if by == "" && !m.is("takes no name") {
		return errors.New("nobody claims")
	}
	holder := x.by
	if m.is("claims by instance") {
		holder = m.mine[at]
	}
	if m.is("claims twice by one") && holder == by {
		return nil
	}
	if holder != "" {
		switch m.wrong {
		case "claims again":
			return nil
		case "says claimed without a word":
			return errors.New("claimed")
		case "says the loser's name":
			return &store.ClaimedError{By: by, At: x.at}
		case "says no time":
			return &store.ClaimedError{By: holder}
		}
		return &store.ClaimedError{By: holder, At: x.at}
	}
	if m.failed {
		return fmt.Errorf("claim: %w", errFull)
	}
	if m.is("checks, then writes") {
		m.mu.Unlock()
		time.Sleep(time.Millisecond)
		m.mu.Lock()
	}
	x.by, x.at, m.mine[at] = by, time.Now(), by
	return nil
}

func (m blobs) Claimed(ctx context.Context, at store.Location) (*store.ClaimedError, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	x, err := m.find(at)
	if err != nil || x.by == "" || m.is("tells of no claim") {
		return nil, err
	}
	return &store.ClaimedError{By: x.by, At: x.at}, nil
}

func (m blobs) Release(ctx context.Context, at store.Location, by string) error {
	leave, err := m.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	x, err := m.find(at)
	if err != nil {
		return err
	}
	if m.failed {
		if m.is("releases under a fault") {
			x.by = ""
		}
		return fmt.Errorf("release: %w", errFull)
	}
	switch {
	case x.by == "" && !m.is("releases what is free"):
		return store.ErrNotFound
	case x.by != by && !m.is("releases for anybody") && !(m.is("releases for the empty name") && by == ""):
		return &store.ClaimedError{By: x.by, At: x.at}
	case m.is("never releases"):
		return nil
	case m.is("checks, then releases"):
		m.mu.Unlock()
		time.Sleep(2 * time.Millisecond)
		m.mu.Lock()
	}
	x.by = ""
	return nil
}

func (m *memory) Put(ctx context.Context, info store.RunInfo) error {
	leave, err := m.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if info.Run == "" && !m.is("takes no name") {
		return errors.New("a run has a name")
	}
	if m.failed {
		return fmt.Errorf("index: %w", errFull)
	}
	times := []*time.Time{&info.Created, &info.Updated}
	if !m.is("keeps the caller's approvals") {
		info.Approvals = slices.Clone(info.Approvals)
	}
	for i := range info.Approvals {
		times = append(times, &info.Approvals[i].Expires)
	}
	for _, t := range times {
		if y := t.UTC().Year(); (y < 1 || y > 9999) && !m.is("takes any year") {
			return errors.New("year")
		}
		if !m.is("keeps zones") {
			*t = t.UTC()
		}
		if m.is("keeps seconds") {
			*t = t.Truncate(time.Second)
		}
	}
	if m.is("drops approvals") {
		info.Approvals = nil
	}
	if m.is("keeps old approvals") && len(info.Approvals) == 0 {
		info.Approvals = m.runs[info.Run].Approvals
	}
	if m.is("cuts text at NUL") {
		info.Reason, _, _ = strings.Cut(info.Reason, "\x00")
	}
	if m.is("makes text UTF-8") {
		info.Path = strings.ToValidUTF8(info.Path, "\uFFFD")
	}
	info.Run = m.name(info.Run)
	m.runs[info.Run] = info
	m.listed = append(m.listed, info)
	return nil
}

func (m *memory) List(ctx context.Context, q store.Query) iter.Seq2[store.RunInfo, error] {
	return func(yield func(store.RunInfo, error) bool) {
		leave, err := m.enter(ctx)
		if err != nil {
			yield(store.RunInfo{}, err)
			return
		}
		switch m.wrong {
		case "finds by parts":
			q.Machine = ""
		case "finds approvals of any status":
			q.Status = ""
		case "finds all for an approval":
			q.Approval = ""
		}
		var all []store.RunInfo
		from := m.listed
		if !m.is("adds for replaces") {
			from = nil
			for _, info := range m.runs {
				from = append(from, info)
			}
		}
		q.Run = m.name(q.Run)
		for _, info := range from {
			if q.Match(&info) {
				all = append(all, info)
			}
		}
		leave()
		slices.SortFunc(all, func(a, b store.RunInfo) int {
			switch m.wrong {
			case "lists by name":
				return strings.Compare(string(a.Run), string(b.Run))
			case "lists the oldest first":
				return store.Newest(b, a)
			case "lists by creation":
				return b.Created.Compare(a.Created)
			}
			return store.Newest(a, b)
		})
		if q.Limit > 0 && !m.is("knows no limit") {
			all = all[:min(len(all), q.Limit)]
		}
		for _, info := range all {
			if !yield(info, nil) {
				return
			}
		}
	}
}

func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

func TestRight(t *testing.T) {
	how, fault := open("")
	storetest.Test(t, how, fault)
}

// Each broken store is rejected, where and for what it should be.
func TestBroken(t *testing.T) {
	for _, c := range []struct{ wrong, section, reason string }{
		{"forgets", "durable", "expected 10 records"},
		{"ignores seq", "sequence", "expected a SequenceError"},
		{"takes a gap", "sequence", "expected a SequenceError"},
		{"ignores seq of nothing", "sequence", "expected a SequenceError"},
		{"says conflict without figures", "sequence", "Have:0 Got:1"},
		{"tears batches", "one driver", ""},
		{"appends half", "whole appends", "after a failed append"},
		{"reverses", "append and read", "record 1"},
		{"reads on", "reading a growing journal", "after it began"},
		{"reads short", "context", "ended after 5"},
		{"never closes", "durable", "closed store"},
		{"folds case", "names", "run \"R\""},
		{"cuts names", "names", "run \"abc"},
		{"stops at NUL", "names", "run \"r\\x00\""},
		{"takes no name", "sequence", "without a name"},
		{"takes no name", "index", "without a name"},
		{"takes no name", "claim", "claim by nobody"},
		{"ignores contexts", "context", "ended context"},
		{"writes the unreadable", "unreadable record", "expected a RecordError"},
		{"drops NUL from records", "append and read", "expected \""},
		{"changes text", "append and read", "expected \""},
		{"says that an empty journal is not found", "append and read", "a run without records"},
		{"half under a fault", "fault: full", "expected 3 records, found 4"},
		{"says done under a fault", "fault: full", "expected 5 records, found 3"},
		{"says not found under a fault", "fault: full", "says what failed"},
		{"releases under a fault", "fault: full", "release, again after the fault"},
		{"names blobs by key", "blobs", "two puts of one key"},
		{"names blobs by key", "200 saves", ""},
		{"keeps the caller's bytes", "blobs", "expected 1 bytes, found 1 others"},
		{"gives its own bytes", "blobs", "expected 4096 bytes, found 4096 others"},
		{"cuts blobs", "big blobs", "expected 10485760 bytes, found 1048576"},
		{"trims blobs", "blobs", "expected 4 bytes"},
		{"gives nothing for the unknown", "blobs", "get of the unknown"},
		{"claims the unknown", "blobs", "claim of the unknown"},
		{"writes claims into the bytes", "claim", "expected 3 bytes"},
		{"claims again", "claim", "second claim"},
		{"claims twice by one", "claim", "second claim"},
		{"claims by instance", "claim once", "both have the checkpoint"},
		{"checks, then writes", "claim once", "both have the checkpoint"},
		{"says claimed without a word", "claim", "expected a ClaimedError"},
		{"says the loser's name", "claim", "second claim"},
		{"says no time", "claim", "second claim"},
		{"tells of no claim", "claim", "claimed: expected a claim"},
		{"releases for anybody", "claim", "release by another"},
		{"releases for the empty name", "claim", "release by nobody"},
		{"releases what is free", "claim", "release of what nobody claimed"},
		{"never releases", "claim", "expected no claim, found one"},
		{"checks, then releases", "release once", "round 0"},
		{"takes any year", "index", "a time in the year"},
		{"keeps zones", "index", "is not UTC"},
		{"keeps seconds", "order", "run "},
		{"drops approvals", "index", "expected \"{Run:r"},
		{"keeps old approvals", "index", ""},
		{"keeps the caller's approvals", "index", "Approvals"},
		{"cuts text at NUL", "odd text", "run "},
		{"makes text UTF-8", "odd text", "run "},
		{"adds for replaces", "index", "expected 1 runs, found 2"},
		{"finds by parts", "query", ""},
		{"finds approvals of any status", "query", ""},
		{"finds all for an approval", "query", ""},
		{"lists by name", "order", "run 0"},
		{"lists the oldest first", "order", "run 0"},
		{"lists by creation", "order", "run 0"},
		{"knows no limit", "query", "Limit:1}: expected 1 runs"},
	} {
		t.Run(c.section+"/"+c.wrong, func(t *testing.T) {
			t.Parallel()
			how, fault := open(c.wrong)
			err := storetest.CheckOnly(t.Context(), c.section, t.TempDir(), how, fault)
			if err == nil {
				t.Fatal("it passes")
			}
			if first := "storetest: " + c.section + ": "; !strings.HasPrefix(err.Error(), first) || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("rejected, but not for %q: %v", c.reason, err)
			}
		})
	}
}

// A fault that makes nothing fail, or not with the error that was promised, is
// no test.
func TestFaults(t *testing.T) {
	how, fault := open("")
	none := storetest.Fault{Name: "none", Do: func(string) (func() error, error) { return func() error { return nil }, nil }}
	other := fault
	other.Name, other.Err = "other", os.ErrPermission
	for want, f := range map[string]storetest.Fault{"makes nothing fail": none, "no failure is the error": other} {
		if err := storetest.CheckOnly(t.Context(), "fault: "+f.Name, t.TempDir(), how, f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("expected %q, found %v", want, err)
		}
	}
}

// Check finds what one of its sections finds.
func TestCheck(t *testing.T) {
	how, fault := open("drops approvals")
	err := storetest.Check(t.Context(), t.TempDir(), how, fault)
	if err == nil || !strings.Contains(err.Error(), "storetest: index: ") || !strings.Contains(err.Error(), "storetest: query: ") {
		t.Errorf("expected what index and query find, found %v", err)
	}
}
