package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pinfold-dev/pinfold/store"
)

// Blobs are the checkpoints of a store.
type Blobs struct{ s *Store }

// Blobs are the checkpoints.
func (s *Store) Blobs() store.Blobs { return Blobs{s} }

// Put keeps b under a location that nobody else has.
func (b Blobs) Put(ctx context.Context, key string, content []byte) (store.Location, error) {
	if content == nil {
		content = []byte{} // nil is bound as NULL
	}
	at := unique()
	err := b.s.change(ctx, func(ctx context.Context, c *sql.Conn) error {
		made, err := c.ExecContext(ctx, "INSERT INTO checkpoints (location, key) VALUES (?, ?)", at, key)
		if err != nil {
			return err
		}
		id, err := made.LastInsertId()
		if err != nil {
			return err
		}
		_, err = c.ExecContext(ctx, "INSERT INTO blobs (id, bytes) VALUES (?, ?)", id, content)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("checkpoint: %w", err)
	}
	return store.Location(at), nil
}

// Get reads what Put was given.
func (b Blobs) Get(ctx context.Context, at store.Location) ([]byte, error) {
	var content []byte
	err := b.s.read.QueryRowContext(ctx, "SELECT bytes FROM checkpoints JOIN blobs USING (id) WHERE location = ?", string(at)).Scan(&content)
	if err != nil {
		return nil, about(at, missing(err))
	}
	return content, nil
}

// about names the checkpoint that an error is of.
func about(at store.Location, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("checkpoint %s: %w", clip(string(at)), err)
}

func missing(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return store.ErrNotFound
	}
	return known(err)
}

// Claim is one UPDATE that finds the checkpoint unclaimed or changes nothing.
func (b Blobs) Claim(ctx context.Context, at store.Location, by string) error {
	if by == "" {
		return about(at, errors.New("expected the name of who claims it, found an empty one"))
	}
	when, err := momentOf(time.Now())
	if err != nil {
		return about(at, err)
	}
	return about(at, b.s.change(ctx, func(ctx context.Context, c *sql.Conn) error {
		return one(ctx, c, at, "UPDATE checkpoints SET claimed_by = ?, claimed_at = ? WHERE location = ? AND claimed_by IS NULL", by, when, string(at))
	}))
}

// Release is one UPDATE that finds the claim by's or changes nothing.
func (b Blobs) Release(ctx context.Context, at store.Location, by string) error {
	if by == "" {
		return about(at, errors.New("expected the name of who claimed it, found an empty one"))
	}
	return about(at, b.s.change(ctx, func(ctx context.Context, c *sql.Conn) error {
		err := one(ctx, c, at, "UPDATE checkpoints SET claimed_by = NULL, claimed_at = NULL WHERE location = ? AND claimed_by = ?", string(at), by)
		if err == errUnclaimed {
			return fmt.Errorf("claim: %w", store.ErrNotFound)
		}
		return err
	}))
}

var errUnclaimed = errors.New("not claimed")

// one performs an update of one checkpoint. Where it changes nothing the error
// says why: there is none, it is claimed, it is not.
func one(ctx context.Context, c *sql.Conn, at store.Location, update string, args ...any) error {
	done, err := c.ExecContext(ctx, update, args...)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 1 {
		return err
	}
	held, err := claimOf(ctx, c, at)
	switch {
	case err != nil:
		return err
	case held == nil:
		return errUnclaimed
	}
	return held
}

// claimOf is who holds a checkpoint, nil where nobody does.
func claimOf(ctx context.Context, q querier, at store.Location) (*store.ClaimedError, error) {
	var by, when sql.NullString
	err := q.QueryRowContext(ctx, "SELECT claimed_by, claimed_at FROM checkpoints WHERE location = ?", string(at)).Scan(&by, &when)
	if err != nil || !by.Valid {
		return nil, missing(err)
	}
	t, err := time.Parse(moments, when.String)
	if err != nil {
		return nil, fmt.Errorf("%w: claim by %s: %w", store.ErrDamaged, by.String, err)
	}
	return &store.ClaimedError{By: by.String, At: t}, nil
}

// Claimed tells of a claim without making one.
func (b Blobs) Claimed(ctx context.Context, at store.Location) (*store.ClaimedError, error) {
	held, err := claimOf(ctx, b.s.read, at)
	return held, about(at, err)
}
