// Package sqlite keeps runs in one SQLite database, which stays searchable: the
// tables are meant to be read by people and other programs (schema.go), and to be
// written by this package alone.
//
//	s, err := sqlite.Open(".pinfold/runs.db")
//	defer s.Close()
//
// The database is its user's alone (0600, with the files SQLite keeps beside it).
// It runs in WAL mode with full synchronisation: what Append, Put and Claim were
// told is done survives a loss of power. Readers never wait for a writer; writers
// of any number of processes wait for one another, up to five seconds. A database
// that is not a pinfold store, or of a newer release, is refused and not touched.
package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/store"
	sqlite "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// wait is how long a writer waits for one of another process.
const wait = 5 * time.Second

// patience is how long SQLite waits before a writer begins to wait anew. Its pauses
// grow with each one, and against a busy process a writer that pauses for long
// is one that starves.
const patience = 20 * time.Millisecond

// readers is how many connections read at a time. None is held while a caller
// works on what it was given.
const readers = 4

// Store is a database of runs. Any number of them, in any number of processes,
// may be open on one file.
type Store struct {
	wait  time.Duration
	write *sql.DB // one connection: writers of this Store queue for it
	read  *sql.DB
}

var (
	_ store.Store  = (*Store)(nil)
	_ store.Claims = Blobs{}
)

// Open opens the database at path, and makes it, and the directories to it, where
// there is none.
func Open(path string) (*Store, error) {
	s, err := open(path, wait)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	return s, nil
}

func open(path string, wait time.Duration) (*Store, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return nil, errors.New("expected the path of a file")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := private(abs); err != nil {
		return nil, err
	}
	s := &Store{wait: wait}
	if s.write, err = pool(abs, patience); err != nil {
		return nil, err
	}
	s.write.SetMaxOpenConns(1)
	if s.read, err = pool(abs, wait, "query_only(1)"); err != nil {
		return nil, errors.Join(err, s.write.Close())
	}
	s.read.SetMaxOpenConns(readers)
	s.read.SetMaxIdleConns(readers)
	if err := s.prepare(context.Background()); err != nil {
		return nil, errors.Join(known(err), s.Close())
	}
	return s, nil
}

// private makes the file before SQLite does, and takes it away from others: what
// SQLite keeps beside a database has the mode of the database. It does not open a
// file that is there: closing it would drop the locks that this process has on it.
func private(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case err == nil:
		return f.Close()
	case !errors.Is(err, fs.ErrExist):
		return err
	case runtime.GOOS == "windows":
		return nil
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s: expected a file", name)
		case info.Mode().Perm()&0o077 != 0:
			if err := os.Chmod(name, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// pool is connections to the database, each set up alike.
func pool(path string, wait time.Duration, pragmas ...string) (*sql.DB, error) {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive
	}
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: url.Values{
		"_defensive": {"1"},
		"_pragma":    append([]string{fmt.Sprintf("busy_timeout(%d)", wait.Milliseconds()), "synchronous(FULL)", "trusted_schema(0)"}, pragmas...),
	}.Encode()}
	c, err := sqlite.NewConnector(u.String())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}

// Close closes the store. What it holds stays.
func (s *Store) Close() error { return errors.Join(s.read.Close(), s.write.Close()) }

// change performs f as one transaction, that of no other process overlaps. A
// context that ends keeps it from beginning; once begun it is short and is done.
func (s *Store) change(ctx context.Context, f func(ctx context.Context, c *sql.Conn) error) (err error) {
	var c *sql.Conn
	if err := s.try(func() (err error) { c, err = s.write.Conn(ctx); return err }); err != nil {
		return err
	}
	defer func() {
		if closed := c.Close(); !errors.Is(closed, sql.ErrConnDone) { // it is done when it was thrown away
			err = errors.Join(err, closed)
		}
	}()
	err = s.try(func() error { _, err := c.ExecContext(ctx, "BEGIN IMMEDIATE"); return err })
	ctx = context.WithoutCancel(ctx)
	if err == nil {
		err = f(ctx, c)
	}
	if err == nil {
		_, err = c.ExecContext(ctx, "COMMIT")
	}
	if err == nil {
		return nil
	}
	// Some errors end the transaction, others leave it: a connection that still
	// has one is thrown away.
	if _, undo := c.ExecContext(ctx, "ROLLBACK"); undo != nil && !strings.Contains(undo.Error(), "no transaction is active") {
		_ = c.Raw(func(any) error { return driver.ErrBadConn })
	}
	return known(err)
}

// try performs f until no other process is in its way, or for too long.
func (s *Store) try(f func() error) error {
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		err := known(f())
		if !errors.Is(err, store.ErrLocked) {
			return err
		}
		if time.Since(began) >= s.wait {
			return fmt.Errorf("%w (waited %v)", err, s.wait)
		}
	}
}

// known says in the words of package store what SQLite's code says.
func known(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) || errors.Is(err, store.ErrLocked) {
		return err
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return fmt.Errorf("%w: %w", store.ErrLocked, err)
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	return err
}

// unique is a name that nobody else draws.
func unique() string { return strings.ToLower(rand.Text()) }

// moments are the width that makes their order that of time.
const moments = "2006-01-02T15:04:05.000000000Z"

func momentOf(t time.Time) (string, error) {
	t = t.UTC()
	if y := t.Year(); y < 1 || y > 9999 {
		return "", fmt.Errorf("expected a time in the years 1 to 9999, found the year %d", y)
	}
	return t.Format(moments), nil
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

// checkRun refuses the name that no run has.
func checkRun(run store.RunID) error {
	if run == "" {
		return errors.New("expected a run id, found an empty one")
	}
	return nil
}
