package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// application marks a database as ours ("pfld").
const application = 0x70666c64

// schema is what each version of the database added, from an empty one. An entry
// that was released is never changed.
var schema = [...]string{
	`-- The journal of results: record is the JSON text of package engine's records.
	CREATE TABLE journal (
		run    TEXT    NOT NULL,
		seq    INTEGER NOT NULL,
		record TEXT    NOT NULL,
		PRIMARY KEY (run, seq)
	);
	-- Suspensions, with the claim beside the bytes, which nobody looks into.
	CREATE TABLE checkpoints (
		id         INTEGER PRIMARY KEY,
		location   TEXT NOT NULL UNIQUE,
		key        TEXT NOT NULL,
		claimed_by TEXT,
		claimed_at TEXT
	);
	CREATE TABLE blobs (
		id    INTEGER PRIMARY KEY REFERENCES checkpoints,
		bytes BLOB NOT NULL
	);
	-- What is known of each run. Times are UTC, to the nanosecond.
	CREATE TABLE runs (
		run        TEXT NOT NULL PRIMARY KEY,
		machine    TEXT NOT NULL,
		path       TEXT NOT NULL,
		status     TEXT NOT NULL,
		reason     TEXT NOT NULL,
		at         TEXT NOT NULL,
		checkpoint TEXT NOT NULL,
		created    TEXT NOT NULL,
		updated    TEXT NOT NULL
	);
	CREATE INDEX runs_by_update ON runs (updated DESC, run);
	CREATE INDEX runs_by_status ON runs (status, updated DESC, run);
	CREATE TABLE approvals (
		run      TEXT    NOT NULL,
		position INTEGER NOT NULL,
		id       TEXT    NOT NULL,
		state    TEXT    NOT NULL,
		tool     TEXT    NOT NULL,
		digest   TEXT    NOT NULL,
		expires  TEXT    NOT NULL,
		PRIMARY KEY (run, position)
	) WITHOUT ROWID;
	CREATE INDEX approvals_by_id ON approvals (id);`,
}

// prepare brings the database to the newest version. Several processes may do so
// at once.
func (s *Store) prepare(ctx context.Context) error {
	// SQLite itself does not wait for whoever is changing the mode, nor to change it.
	var version int
	if err := s.try(func() (err error) { version, err = versionOf(ctx, s.write); return err }); err != nil {
		return err
	}
	if err := s.try(func() error { _, err := s.write.ExecContext(ctx, "PRAGMA journal_mode = WAL"); return err }); err != nil {
		return err
	}
	if version == len(schema) {
		return nil
	}
	return s.change(ctx, func(ctx context.Context, c *sql.Conn) error {
		version, err := versionOf(ctx, c) // another process may have been faster
		if err != nil {
			return err
		}
		for _, step := range schema[version:] {
			if _, err := c.ExecContext(ctx, step); err != nil {
				return err
			}
		}
		_, err = c.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", application, len(schema)))
		return err
	})
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// versionOf is the version of the schema, 0 of an empty database. It writes
// nothing.
func versionOf(ctx context.Context, q querier) (int, error) {
	var id, version, tables int
	err := q.QueryRowContext(ctx, "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)").Scan(&id, &version, &tables)
	switch {
	case err != nil:
		return 0, err
	case id == 0 && version == 0 && tables == 0:
		return 0, nil
	case id != application:
		return 0, errors.New("expected a store of runs, found a database of another program")
	case version < 1 || version > len(schema):
		return 0, fmt.Errorf("expected a store of version 1 to %d, found version %d: it is of a newer release", len(schema), version)
	}
	return version, nil
}
