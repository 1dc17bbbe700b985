package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/store"
	"github.com/pinfold-dev/pinfold/store/storetest"
)

func opener(place string) (store.Store, error) { return open(place, wait) }

// hasty opens stores that wait for a lock as long as a test can.
func hasty(place string) (store.Store, error) { return open(place, 200*time.Millisecond) }

func TestSuite(t *testing.T) { storetest.Test(t, opener) }

func TestProcesses(t *testing.T) { storetest.Processes(t, opener) }

func TestFull(t *testing.T) { storetest.Full(t, hasty) }

func openAt(t testing.TB, path string) *Store {
	t.Helper()
	s, err := open(path, 200*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// raw is a connection of another program.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func execute(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// rec is a record with a text.
func rec(text string) engine.Record {
	return engine.Record{Kind: engine.RecordResult, ID: engine.EffectID{Path: "m", State: "s", Visit: 1, Branch: -1}, Result: engine.Produced{Text: text}}
}

func texts(t testing.TB, s *Store) (all []string, failed error) {
	t.Helper()
	for r, err := range s.Read(t.Context(), "r") {
		if failed != nil {
			t.Fatal("Read goes on after an error")
		}
		if failed = err; err == nil {
			all = append(all, r.Result.(engine.Produced).Text)
		}
	}
	return all, failed
}

func recs(texts ...string) (all []engine.Record) {
	for _, text := range texts {
		all = append(all, rec(text))
	}
	return all
}

// Another process holds the database: writers fail in bounded time and say why,
// readers go on.
func TestLocked(t *testing.T) {
	if wait > 10*time.Second {
		t.Errorf("a store waits for %v", wait)
	}
	lock := storetest.Fault{Name: "locked", Err: store.ErrLocked, Do: func(place string) (func() error, error) {
		db, err := sql.Open("sqlite", place)
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(1)
		_, err = db.Exec("BEGIN EXCLUSIVE; INSERT INTO runs VALUES ('ghost', '', '', '', '', '', '', '', '')")
		return db.Close, err // which takes it all back
	}}
	if err := lock.Check(t.Context(), t.TempDir(), hasty); err != nil {
		t.Error(err)
	}

	path := filepath.Join(t.TempDir(), "s.db")
	s := openAt(t, path)
	if err := s.Append(t.Context(), "r", 0, recs("a")); err != nil {
		t.Fatal(err)
	}
	execute(t, raw(t, path), "BEGIN IMMEDIATE")
	if all, err := texts(t, s); err != nil || len(all) != 1 {
		t.Errorf("a reader waits for a writer: %q, %v", all, err)
	}
	s.wait = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if err := s.Append(ctx, "r", 1, recs("b")); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 5*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}

// A database that may not grow leaves what is there.
func TestPageLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := openAt(t, path)
	if err := s.Append(t.Context(), "r", 0, recs("a", "b")); err != nil {
		t.Fatal(err)
	}
	execute(t, s.write, "PRAGMA max_page_count = 40")
	big := strings.Repeat("x", 100_000)
	if err := s.Append(t.Context(), "r", 2, recs("c", big, big)); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("append to a full database: %v", err)
	}
	if _, err := s.Blobs().Put(t.Context(), "k", []byte(big+big)); err == nil {
		t.Error("put into a full database: expected an error")
	}
	if all, err := texts(t, s); err != nil || fmt.Sprint(all) != "[a b]" {
		t.Error(all, err)
	}
	if err := s.Append(t.Context(), "r", 2, recs("c")); err != nil {
		t.Errorf("what fits: %v", err)
	}
	execute(t, s.write, "PRAGMA max_page_count = 100000")
	if err := s.Append(t.Context(), "r", 3, recs(big)); err != nil {
		t.Error(err)
	}
	if all, err := texts(t, s); err != nil || fmt.Sprint(all[:3]) != "[a b c]" || len(all) != 4 {
		t.Error(len(all), err)
	}
}

// Without the right to write nothing is written, and nothing is lost.
func TestReadOnly(t *testing.T) {
	if os.Geteuid() <= 0 {
		t.Skip("modes do not bind this user")
	}
	path := filepath.Join(t.TempDir(), "dir", "s.db")
	s := openAt(t, path)
	if err := errors.Join(s.Append(t.Context(), "r", 0, recs("a")), s.Close()); err != nil {
		t.Fatal(err)
	}
	for _, modes := range [][2]fs.FileMode{{0o500, 0o600}, {0o700, 0o400}, {0o500, 0o400}} {
		if err := errors.Join(os.Chmod(path, modes[1]), os.Chmod(filepath.Dir(path), modes[0])); err != nil {
			t.Fatal(err)
		}
		s, err := open(path, 200*time.Millisecond)
		if err == nil {
			err = s.Append(t.Context(), "r", 1, recs("b"))
			_ = s.Close()
		}
		if err == nil || errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrLocked) {
			t.Errorf("modes %v: %v", modes, err)
		}
		if err := errors.Join(os.Chmod(filepath.Dir(path), 0o700), os.Chmod(path, 0o600)); err != nil {
			t.Fatal(err)
		}
		if all, err := texts(t, openAt(t, path)); err != nil || fmt.Sprint(all) != "[a]" {
			t.Errorf("after modes %v: %q, %v", modes, all, err)
		}
	}
}

// The database and what SQLite keeps beside it are the user's alone.
func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	path := filepath.Join(t.TempDir(), "deep", "down", "s.db")
	check := func(when string, files int) {
		t.Helper()
		found, err := filepath.Glob(path + "*")
		if err != nil || len(found) != files {
			t.Errorf("%s: %q, %v", when, found, err)
		}
		for _, name := range append(found, filepath.Dir(path), filepath.Dir(filepath.Dir(path))) {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %s has the mode %v", when, name, info.Mode())
			}
		}
	}
	s := openAt(t, path)
	if err := s.Append(t.Context(), "r", 0, recs("a")); err != nil {
		t.Fatal(err)
	}
	if _, err := texts(t, s); err != nil {
		t.Fatal(err)
	}
	check("in use", 3)
	for _, name := range []string{path, path + "-wal", path + "-shm"} { // somebody opened them
		if err := os.Chmod(name, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	again := openAt(t, path)
	check("opened again", 3)
	if err := errors.Join(again.Append(t.Context(), "r", 1, recs("b")), again.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	check("closed", 1)
}

// A path is a path, whatever is in it.
func TestPath(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a b.db", "a?mode=memory", "a#b", "100%.db", "%41", ":memory:", "a&b=c;d", "é.db", "file:x.db"} {
		s := openAt(t, filepath.Join(dir, name))
		if err := errors.Join(s.Put(t.Context(), store.RunInfo{Run: "r"}), s.Close()); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Size() == 0 {
			t.Errorf("%q: %v, %v", name, info, err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 9 {
		t.Errorf("%v, %v", entries, err)
	}
	t.Chdir(dir)
	s := openAt(t, ":memory:") // from the directory: the file, and it stays that file
	t.Chdir(t.TempDir())
	n := 0
	for _, err := range s.List(t.Context(), store.Query{}) {
		if err != nil {
			t.Error(err)
		}
		n++
	}
	if n != 1 {
		t.Errorf("found %d runs", n)
	}
	for _, bad := range []string{"", "a\x00b", dir} {
		if s, err := Open(bad); err == nil {
			_ = s.Close()
			t.Errorf("%q opens", bad)
		}
	}
}

// A file that is no store of this version is refused, and not a byte changes.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	newer := filepath.Join(dir, "newer")
	s := openAt(t, newer)
	execute(t, s.write, "PRAGMA user_version = 9")
	older := filepath.Join(dir, "zero")
	z := openAt(t, older)
	execute(t, z.write, "PRAGMA user_version = 0")
	if err := errors.Join(s.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other")
	db := raw(t, other)
	execute(t, db, "CREATE TABLE journal (x)", "INSERT INTO journal VALUES (1)")
	versioned := filepath.Join(dir, "versioned")
	db2 := raw(t, versioned)
	execute(t, db2, "PRAGMA user_version = 1")
	if err := errors.Join(db.Close(), db2.Close()); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		newer: "found version 9: it is of a newer release", older: "found version 0", other: "a database of another program",
		versioned: "a database of another program", text: "file is not a database",
	} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(path)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "store "+path+": ") {
			t.Errorf("expected %q, found %v", want, err)
		}
		if after, err := os.ReadFile(path); err != nil || !slices.Equal(before, after) {
			t.Errorf("%s changed, %v", path, err)
		}
	}
	if files, err := filepath.Glob(dir + "/*"); err != nil || len(files) != 5 {
		t.Errorf("%q, %v", files, err)
	}
}

// Versions are added one after another; a database of each comes to the last.
func TestMigrations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	errs := make([]error, 6)
	stores := make([]*Store, len(errs))
	done := make(chan int)
	for i := range errs { // an empty file, opened by all at once
		go func() {
			stores[i], errs[i] = open(path, wait)
			done <- i
		}()
	}
	for range errs {
		<-done
	}
	for i, err := range errs {
		if err != nil {
			t.Fatalf("opener %d: %v", i, err)
		}
		if err := stores[i].Append(t.Context(), "r", uint64(i), recs("a")); err != nil {
			t.Errorf("opener %d: %v", i, err)
		}
	}
	for _, s := range stores {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	db := raw(t, path)
	for pragma, want := range map[string]string{"user_version": fmt.Sprint(len(schema)), "application_id": "1885760612", "journal_mode": "wal", "integrity_check": "ok"} {
		var got string
		if err := db.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s: expected %s, found %s, %v", pragma, want, got, err)
		}
	}
}

// Every connection synchronises in full, waits, and trusts no schema.
func TestPragmas(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "s.db"))
	for db, timeout := range map[*sql.DB]int{s.write: 20, s.read: 200} {
		var mode string
		var synchronous, busy, trusted, readOnly int
		err := db.QueryRowContext(t.Context(), "SELECT * FROM pragma_journal_mode, pragma_synchronous, pragma_busy_timeout, pragma_trusted_schema, pragma_query_only").Scan(&mode, &synchronous, &busy, &trusted, &readOnly)
		if err != nil || mode != "wal" || synchronous != 2 || busy != timeout || trusted != 0 || (readOnly == 1) != (db == s.read) {
			t.Errorf("journal %s, synchronous %d, busy timeout %d, trusted schema %d, read only %d, %v", mode, synchronous, busy, trusted, readOnly, err)
		}
	}
}

// A row that is not what was written is an error where it stands, and hides
// nothing else.
func TestDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := openAt(t, path)
	for _, run := range []store.RunID{"a", "b", "c"} {
		err := s.Put(t.Context(), store.RunInfo{Run: run, Approvals: []store.ApprovalInfo{{ID: "1"}, {ID: "2"}, {ID: "3"}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	db := raw(t, path)
	for _, damage := range []string{
		"UPDATE runs SET updated = 'yesterday' WHERE run = 'b'", "UPDATE runs SET updated = '0001-01-01T00:00:00.000000000Z', created = '' WHERE run = 'b'",
		"UPDATE runs SET created = updated; UPDATE approvals SET expires = '' WHERE run = 'b' AND position = 1", "UPDATE approvals SET expires = '' WHERE run = 'b' AND position = 0",
	} {
		execute(t, db, damage)
		var found []store.RunInfo
		var failed []error
		for info, err := range s.List(t.Context(), store.Query{}) {
			if err != nil {
				failed = append(failed, err)
			} else if found = append(found, info); len(failed) > 0 {
				t.Error("an error comes before a run")
			}
		}
		if len(found) != 2 || found[0].Run != "a" || found[1].Run != "c" || len(found[1].Approvals) != 3 || len(failed) != 1 || !errors.Is(failed[0], store.ErrDamaged) || !strings.Contains(failed[0].Error(), "run b") {
			t.Errorf("%s: found %+v and %v", damage, found, failed)
		}
	}

	all := make([]string, 2*pageRecords+10)
	for i := range all {
		all[i] = fmt.Sprint(i)
	}
	if err := s.Append(t.Context(), "r", 0, recs(all...)); err != nil {
		t.Fatal(err)
	}
	if got, err := texts(t, s); err != nil || !slices.Equal(got, all) {
		t.Fatalf("%d records, %v", len(got), err)
	}
	for _, c := range []struct {
		damage string
		read   int
	}{
		{"UPDATE journal SET record = '{' WHERE seq = 520", 520},
		{"UPDATE journal SET record = '{}' WHERE seq = 300", 300},
		{"DELETE FROM journal WHERE seq = 256", 256}, // the first of a page
		{"DELETE FROM journal WHERE seq = 7", 7},
		{"DELETE FROM journal WHERE seq = 0", 0},
	} {
		execute(t, db, c.damage)
		got, err := texts(t, s)
		if !errors.Is(err, store.ErrDamaged) || !slices.Equal(got, all[:c.read]) {
			t.Errorf("%s: %d records, %v", c.damage, len(got), err)
		}
	}

	at, err := s.Blobs().Put(t.Context(), "k", nil)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, db, "UPDATE checkpoints SET claimed_by = 'x', claimed_at = ''")
	if err := s.Blobs().Claim(t.Context(), at, "me"); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("claim with a damaged claim: %v", err)
	}
}

// A page ends by its size too: a journal is never in memory as a whole.
func TestPages(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "s.db"))
	all := make([]string, 9)
	for i := range all {
		all[i] = fmt.Sprint(i) + strings.Repeat("x", pageBytes/2)
	}
	if err := s.Append(t.Context(), "r", 0, recs(all...)); err != nil {
		t.Fatal(err)
	}
	page, err := s.page(t.Context(), "r", 0, 9)
	if err != nil || len(page) != 2 {
		t.Errorf("a page of %d records, %v", len(page), err)
	}
	if got, err := texts(t, s); err != nil || !slices.Equal(got, all) {
		t.Errorf("%d records, %v", len(got), err)
	}
	// More readers than connections, each in the middle of a journal.
	var read func(depth int)
	read = func(depth int) {
		for _, err := range s.Read(t.Context(), "r") {
			if err != nil {
				t.Fatal(err)
			}
			if depth < 2*readers {
				read(depth + 1)
			}
			break
		}
	}
	read(0)
}

// The queries that List makes are answered by an index.
func TestIndexed(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "s.db"))
	for _, q := range []store.Query{{Run: "r"}, {Status: "suspended"}, {Approval: "a"}, {Limit: 20}, {}} {
		query, args := statement(&q)
		rows, err := s.read.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, step)
		}
		if err := rows.Err(); err != nil || len(plan) == 0 {
			t.Fatal(plan, err)
		}
		for _, step := range plan {
			if step == "SCAN runs" || step == "SCAN approvals" {
				t.Errorf("%+v: %q", q, plan)
			}
		}
	}
}

func TestUnknownPath(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(filepath.Join(file, "s.db")); err == nil {
		_ = s.Close()
		t.Error("a file is a directory")
	}
}
