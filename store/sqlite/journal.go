package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"iter"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/store"
)

// Append writes the records in one transaction.
func (s *Store) Append(ctx context.Context, run store.RunID, seq uint64, records []engine.Record) error {
	if err := s.append(ctx, run, seq, records); err != nil {
		return fmt.Errorf("journal of run %s: %w", run, err)
	}
	return nil
}

func (s *Store) append(ctx context.Context, run store.RunID, seq uint64, records []engine.Record) error {
	if err := checkRun(run); err != nil {
		return err
	}
	texts := make([]string, len(records)) // before the lock
	var b []byte
	for i := range records {
		var err error
		if b, err = store.AppendRecord(b[:0], &records[i]); err != nil {
			return err
		}
		texts[i] = string(b)
	}
	return s.change(ctx, func(ctx context.Context, c *sql.Conn) error {
		var have uint64
		if err := c.QueryRowContext(ctx, "SELECT coalesce(max(seq) + 1, 0) FROM journal WHERE run = ?", string(run)).Scan(&have); err != nil {
			return err
		}
		if have != seq {
			return &store.SequenceError{Run: run, Have: have, Got: seq}
		}
		if len(texts) == 0 {
			return nil
		}
		insert, err := c.PrepareContext(ctx, "INSERT INTO journal (run, seq, record) VALUES (?, ?, ?)")
		if err != nil {
			return err
		}
		defer insert.Close()
		for i, text := range texts {
			if _, err := insert.ExecContext(ctx, string(run), int64(seq)+int64(i), text); err != nil {
				return err
			}
		}
		return nil
	})
}

// A page of a journal is read at once; it ends at the first record that takes it
// over either.
const (
	pageRecords = 256
	pageBytes   = 1 << 20
)

// Read gives the records of a run. It holds no connection while the caller works.
func (s *Store) Read(ctx context.Context, run store.RunID) iter.Seq2[engine.Record, error] {
	return func(yield func(engine.Record, error) bool) {
		fail := func(err error) { yield(engine.Record{}, fmt.Errorf("journal of run %s: %w", run, known(err))) }
		if err := checkRun(run); err != nil {
			fail(err)
			return
		}
		var size int64
		if err := s.read.QueryRowContext(ctx, "SELECT coalesce(max(seq) + 1, 0) FROM journal WHERE run = ?", string(run)).Scan(&size); err != nil {
			fail(err)
			return
		}
		for at := int64(0); at < size; {
			page, err := s.page(ctx, run, at, size)
			for _, r := range page {
				if err := ctx.Err(); err != nil {
					fail(err)
					return
				}
				if !yield(r, nil) {
					return
				}
			}
			if err != nil {
				fail(err)
				return
			}
			at += int64(len(page))
		}
	}
}

// page reads records from at on, one at least, and with an error those before it.
func (s *Store) page(ctx context.Context, run store.RunID, at, size int64) (page []engine.Record, err error) {
	rows, err := s.read.QueryContext(ctx, "SELECT seq, record FROM journal WHERE run = ? AND seq >= ? AND seq < ? ORDER BY seq LIMIT ?", string(run), at, size, pageRecords)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	page = make([]engine.Record, 0, min(size-at, pageRecords))
	for n := 0; n < pageBytes && rows.Next(); {
		var (
			seq  int64
			text sql.RawBytes // good until the next row
		)
		if err := rows.Scan(&seq, &text); err != nil {
			return page, err
		}
		if want := at + int64(len(page)); seq != want {
			return page, fmt.Errorf("%w: expected record %d, found record %d", store.ErrDamaged, want, seq)
		}
		r, err := store.ParseRecord(text)
		if err != nil {
			return page, fmt.Errorf("record %d: %w: %w", seq, store.ErrDamaged, err)
		}
		page = append(page, r)
		n += len(text)
	}
	if err := rows.Err(); err != nil {
		return page, err
	}
	if len(page) == 0 {
		return nil, fmt.Errorf("%w: expected record %d, found none", store.ErrDamaged, at)
	}
	return page, nil
}
