package file_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/store"
	"github.com/pinfold-dev/pinfold/store/file"
)

func benchmark(b *testing.B) store.Store {
	dir := b.TempDir()
	s, err := file.Open(filepath.Join(dir, "runs"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// step is the records of a turn of a machine: a result, a deposit, a step.
func step(n int) []engine.Record {
	id := engine.EffectID{Path: "triage", State: "classify", Visit: int32(n), Branch: -1}
	return []engine.Record{
		{Kind: engine.RecordResult, ID: id, Result: engine.Produced{Text: strings.Repeat("words ", 50)}},
		{Kind: engine.RecordDeposit, ID: id, Key: "ticket", Version: uint32(n)},
		{Kind: engine.RecordStep, ID: id, Step: &engine.TraceStep{State: "classify", Output: strings.Repeat("words ", 50)}},
	}
}

// One run after another, each driver on its own: what a step waits for.
func BenchmarkAppend(b *testing.B) {
	s := benchmark(b)
	records := step(1)
	for n := 0; b.Loop(); n += 3 {
		if err := s.Append(b.Context(), "r", uint64(n), records); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
}

// Sixteen drivers of runs of their own.
func BenchmarkAppendParallel(b *testing.B) {
	s := benchmark(b)
	records := step(1)
	runs := make(chan int, 1<<10)
	for i := range cap(runs) {
		runs <- i
	}
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		run := store.RunID(fmt.Sprint(<-runs))
		for n := 0; pb.Next(); n += 3 {
			if err := s.Append(b.Context(), run, uint64(n), records); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
}

// A journal of 900 steps, as a resume folds it.
func BenchmarkRead(b *testing.B) {
	s := benchmark(b)
	const steps = 900
	for n := range steps {
		if err := s.Append(b.Context(), "r", uint64(3*n), step(n+1)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		n := 0
		for _, err := range s.Read(b.Context(), "r") {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 3*steps {
			b.Fatal(n)
		}
	}
}

func BenchmarkPut(b *testing.B) {
	s := benchmark(b)
	content := make([]byte, 50_000)
	for b.Loop() {
		if _, err := s.Blobs().Put(b.Context(), "r", content); err != nil {
			b.Fatal(err)
		}
	}
}

func claimable(b *testing.B, s store.Store) store.Location {
	at, err := s.Blobs().Put(b.Context(), "r", make([]byte, 50_000))
	if err != nil {
		b.Fatal(err)
	}
	return at
}

// A claim and its release.
func BenchmarkClaim(b *testing.B) {
	s := benchmark(b)
	at := claimable(b, s)
	for b.Loop() {
		if err := s.Blobs().Claim(b.Context(), at, "me"); err != nil {
			b.Fatal(err)
		}
		if err := s.Blobs().Release(b.Context(), at, "me"); err != nil {
			b.Fatal(err)
		}
	}
}

// A claim that loses.
func BenchmarkClaimLost(b *testing.B) {
	s := benchmark(b)
	at := claimable(b, s)
	if err := s.Blobs().Claim(b.Context(), at, "me"); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if s.Blobs().Claim(b.Context(), at, "you") == nil {
			b.Fatal("claimed twice")
		}
	}
}

// The twenty newest of a thousand runs.
func BenchmarkList(b *testing.B) {
	s := benchmark(b)
	for i := range 1000 {
		if err := s.Put(b.Context(), store.RunInfo{Run: store.RunID(fmt.Sprint(i)), Status: "done"}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		for _, err := range s.List(b.Context(), store.Query{Limit: 20}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		s, err := file.Open(filepath.Join(dir, "runs"))
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range s.List(b.Context(), store.Query{Limit: 1}) {
			if err != nil {
				b.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
