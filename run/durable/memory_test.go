package durable_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/store"
)

// memory is a store in memory whose disk can fill up: the budget counts the writes
// that still succeed, negative is no limit.
type memory struct {
	mu     sync.Mutex
	logs   map[store.RunID][][]byte
	blobs  [][]byte
	claims map[store.Location]string
	runs   map[store.RunID]store.RunInfo
	budget int
}

func newMemory() *memory {
	return &memory{logs: map[store.RunID][][]byte{}, claims: map[store.Location]string{}, runs: map[store.RunID]store.RunInfo{}, budget: -1}
}

var errFull = errors.New("no space left on device")

// write takes the lock for one write; the caller unlocks.
func (m *memory) write() error {
	m.mu.Lock()
	if m.budget == 0 {
		return errFull
	}
	m.budget--
	return nil
}

func (m *memory) Append(_ context.Context, run store.RunID, seq uint64, records []engine.Record) error {
	err := m.write()
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	if have := uint64(len(m.logs[run])); have != seq {
		return &store.SequenceError{Run: run, Have: have, Got: seq}
	}
	for i := range records {
		b, err := store.AppendRecord(nil, &records[i])
		if err != nil {
			return err
		}
		m.logs[run] = append(m.logs[run], b)
	}
	return nil
}

func (m *memory) Read(_ context.Context, run store.RunID) iter.Seq2[engine.Record, error] {
	m.mu.Lock()
	lines := slices.Clone(m.logs[run])
	m.mu.Unlock()
	return func(yield func(engine.Record, error) bool) {
		for _, l := range lines {
			r, err := store.ParseRecord(l)
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func (m *memory) Put(_ context.Context, info store.RunInfo) error {
	err := m.write()
	defer m.mu.Unlock()
	if err == nil {
		m.runs[info.Run] = info
	}
	return err
}

func (m *memory) List(_ context.Context, q store.Query) iter.Seq2[store.RunInfo, error] {
	m.mu.Lock()
	var found []store.RunInfo
	for _, info := range m.runs {
		if q.Match(&info) {
			found = append(found, info)
		}
	}
	m.mu.Unlock()
	slices.SortFunc(found, store.Newest)
	return func(yield func(store.RunInfo, error) bool) {
		for i, info := range found {
			if q.Limit > 0 && i >= q.Limit || !yield(info, nil) {
				return
			}
		}
	}
}

func (m *memory) Blobs() store.Blobs { return (*memoryBlobs)(m) }
func (m *memory) Close() error       { return nil }

type memoryBlobs memory

func (b *memoryBlobs) Put(_ context.Context, _ string, x []byte) (store.Location, error) {
	m := (*memory)(b)
	err := m.write()
	defer m.mu.Unlock()
	if err != nil {
		return "", err
	}
	m.blobs = append(m.blobs, slices.Clone(x))
	return store.Location(fmt.Sprint(len(m.blobs) - 1)), nil
}

func (b *memoryBlobs) Get(_ context.Context, at store.Location) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var n int
	if _, err := fmt.Sscan(string(at), &n); err != nil || n >= len(b.blobs) {
		return nil, store.ErrNotFound
	}
	return b.blobs[n], nil
}

func (b *memoryBlobs) Claim(_ context.Context, at store.Location, by string) error {
	m := (*memory)(b)
	err := m.write()
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	if who, ok := m.claims[at]; ok {
		return &store.ClaimedError{By: who, At: time.Unix(0, 0)}
	}
	m.claims[at] = by
	return nil
}

func (b *memoryBlobs) Release(_ context.Context, at store.Location, by string) error {
	m := (*memory)(b)
	err := m.write()
	defer m.mu.Unlock()
	switch who, ok := m.claims[at]; {
	case err != nil:
		return err
	case !ok:
		return store.ErrNotFound
	case who != by:
		return &store.ClaimedError{By: who}
	}
	delete(m.claims, at)
	return nil
}
