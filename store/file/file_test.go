package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
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

func TestFaults(t *testing.T) {
	for _, f := range faults() {
		if err := f.Check(t.Context(), t.TempDir(), hasty); err != nil {
			t.Error(err)
		}
	}
}

func openAt(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := open(dir, 200*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// rec is a record with a text.
func rec(text string) engine.Record {
	return engine.Record{Kind: engine.RecordResult, ID: engine.EffectID{Path: "m", State: "s", Visit: 1, Branch: -1}, Result: engine.Produced{Text: text}}
}

// texts is the journal of run r; what could be read of it, with the error.
func texts(t *testing.T, s *Store, run store.RunID) (all []string, failed error) {
	t.Helper()
	for r, err := range s.Read(t.Context(), run) {
		if failed != nil {
			t.Fatal("Read goes on after an error")
		}
		if failed = err; err == nil {
			all = append(all, r.Result.(engine.Produced).Text)
		}
	}
	return all, failed
}

// everything is every file below dir, by path, with its mode and bytes.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		if !d.IsDir() {
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			content = string(b)
		}
		rel, err := filepath.Rel(dir, name)
		all[filepath.ToSlash(rel)] = fmt.Sprint(info.Mode(), " ", content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// fill does one of everything.
func fill(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	at, err := s.Blobs().Put(ctx, "r", []byte("{}"))
	if err == nil {
		err = errors.Join(
			s.Append(ctx, "r", 0, []engine.Record{rec("a"), rec("b")}),
			s.Append(ctx, "r", 2, []engine.Record{rec("c")}),
			s.Put(ctx, store.RunInfo{Run: "r", Checkpoint: at}),
			s.Blobs().Claim(ctx, at, "me"),
		)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The directory and all in it are the user's alone, whatever the umask and
// whatever the directory was before.
func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	for _, before := range []fs.FileMode{0, 0o777, 0o755, 0o750} {
		dir := filepath.Join(t.TempDir(), "deep", "store")
		if before != 0 {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, before); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			s := openAt(t, dir)
			if before != 0 { // again, of a store that somebody opened
				if err := os.Chmod(filepath.Join(dir, checkpoints), before); err != nil {
					t.Fatal(err)
				}
				s = openAt(t, dir)
			}
			if len(everything(t, dir)) <= len(parts)+2 {
				fill(t, s)
			}
		}
		files := 0
		for name, x := range everything(t, dir) {
			mode, _, _ := strings.Cut(x, " ")
			switch {
			case strings.HasPrefix(mode, "d") && mode == "drwx------":
			case mode == "-rw-------":
				files++
			default:
				t.Errorf("directory of mode %v: %s has the mode %s", before, name, mode)
			}
		}
		if files != 5 { // format, journal, checkpoint, claim, run
			t.Errorf("found %d files, expected 5", files)
		}
	}
}

// A directory that holds anything else is left as it is.
func TestForeignDirectory(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"main.go", "package main", `expected a directory of its own, found "main.go" in it`},
		{".git", "x", `found ".git" in it`},
		{formatFile, "pinfold store 2\n", `expected the format "pinfold store 1\n", found "pinfold store 2\n"`},
		{formatFile, "", `expected the format`},
		{journals, "a file", "expected a directory"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, c.name), []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		before := everything(t, dir)
		s, err := Open(dir)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: expected %q, found %v", c.name, c.want, err)
		}
		after := everything(t, dir)
		if c.name == journals {
			continue // a part of a store: the directory is one already
		}
		if fmt.Sprint(before) != fmt.Sprint(after) {
			t.Errorf("%s: the directory changed: %v", c.name, after)
		}
	}
	if _, err := Open(""); err == nil {
		t.Error("an empty name opens")
	}
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file); err == nil {
		t.Error("a file opens")
	}
}

// No name leads out of the store, and a link that somebody put into it neither.
func TestConfined(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	dir := t.TempDir()
	s := openAt(t, filepath.Join(dir, "store"))
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "store", checkpoints, "x"+blobSuffix)); err != nil {
		t.Fatal(err)
	}
	if b, err := s.Blobs().Get(t.Context(), "x"); err == nil {
		t.Errorf("found %q", b)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "store", filepath.FromSlash(journalName("r")))); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), "r", 0, []engine.Record{rec("a")}); err == nil {
		t.Error("a journal goes through a link")
	}
	if b, err := os.ReadFile(secret); err != nil || string(b) != "secret" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestFileName(t *testing.T) {
	seen := map[string]string{}
	long := strings.Repeat("a", maxName)
	texts := []string{
		"", "a", "A", "a.", "a/b", "%61", "%", "%%", "con", "CON", "con.x", "com1", "com", "lpt9", "é", "\xff", "\x00", "r-1_z", " ",
		long, long + "a", long + "b", strings.Repeat("%", 40), strings.Repeat("%", 41), strings.Repeat("/", 1000), long[:60],
	}
	for i := range 256 {
		texts = append(texts, "q"+string([]byte{byte(i)}))
	}
	for _, text := range texts {
		name := fileName(text)
		if other, found := seen[strings.ToLower(name)]; found {
			t.Errorf("%q and %q have the name %q", text, other, name)
		}
		seen[strings.ToLower(name)] = text
		for i := range len(name) {
			if c := name[i]; !plainByte(c) && c != '%' {
				t.Errorf("%q has the name %q", text, name)
			}
		}
		if len(name) > maxName {
			t.Errorf("%q has a name of %d bytes", text, len(name))
		}
	}
	for text, want := range map[string]string{"run-01_b": "run-01_b", "con": "%63on", "A/b.": "%41%2fb%2e", "": ""} {
		if got := fileName(text); got != want {
			t.Errorf("%q: expected %q, found %q", text, want, got)
		}
	}
	// The digest is that of 121 letters a: a name at a version of the format stays.
	if got := fileName(long + "a"); len(got) != maxName || !strings.HasPrefix(got, strings.Repeat("a", 54)+"%-") {
		t.Errorf("a long name is %q", got)
	}
}

// A location leads to a file of any other name never.
func TestLocation(t *testing.T) {
	s := openAt(t, t.TempDir())
	at, err := s.Blobs().Put(t.Context(), "../Key 1", []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(at), "%2e%2e%2f%4bey%201-") || len(at) != 19+26 {
		t.Errorf("location %q", at)
	}
	for _, no := range []store.Location{at + blobSuffix, "../" + checkpoints + "/" + at, store.Location(strings.Repeat("a", 200)), "A"} {
		if _, err := s.Blobs().Get(t.Context(), no); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%q: %v", no, err)
		}
	}
}

// A claim that nobody can read holds, says what it is, and nobody takes it back.
func TestDamagedClaim(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir)
	for _, content := range []string{"", "{", `{"by": "", "at": "2026-01-02T03:04:05Z"}`, `{"by": "me", "at": "2026-01-02T03:04:05Z"}}`, `{"who": "me"}`} {
		at, err := s.Blobs().Put(t.Context(), "k", nil)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, checkpoints, string(at)+claimSuffix)
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		var held *store.ClaimedError
		for _, err := range []error{s.Blobs().Claim(t.Context(), at, "me"), s.Blobs().Release(t.Context(), at, "me"), s.Blobs().Release(t.Context(), at, "an unknown claimer")} {
			if !errors.As(err, &held) || !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), name) {
				t.Errorf("claim file %q: %v", content, err)
			}
		}
		if b, err := os.ReadFile(name); err != nil || string(b) != content {
			t.Errorf("the claim file is %q, %v", b, err)
		}
	}
}

// A run's file that is not what was written is an error beside the other runs,
// and is left alone; Put replaces it.
func TestDamagedRun(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir)
	for _, run := range []store.RunID{"a", "b", "c"} {
		if err := s.Put(t.Context(), store.RunInfo{Run: run, Status: "suspended", Approvals: []store.ApprovalInfo{{ID: string(run)}}}); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(dir, runs, "b"+runSuffix)
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.TrimSuffix(string(good), "\n")
	damages := []string{text + "}", text + "x", strings.Replace(text, `"run":"b"`, `"run":"c"`, 1), strings.Replace(text, `_run":1`, `_run":2`, 1), "\x00\x00"}
	for i := range len(text) { // cut at every length
		damages = append(damages, text[:i])
	}
	for _, damage := range damages {
		if damage == text {
			t.Fatal("no damage")
		}
		if err := os.WriteFile(name, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		for q, n := range map[store.Query]int{{}: 2, {Limit: 2}: 2, {Run: "b"}: 0, {Approval: "c"}: 1} {
			var found []store.RunInfo
			var failed []error
			for info, err := range s.List(t.Context(), q) {
				if err != nil {
					failed = append(failed, err)
				} else if found = append(found, info); len(failed) > 0 {
					t.Error("an error comes before a run")
				}
			}
			if len(found) != n || len(failed) != 1 || !errors.Is(failed[0], store.ErrDamaged) || !strings.Contains(failed[0].Error(), name) {
				t.Fatalf("%q, %+v: found %d runs and %v", damage, q, len(found), failed)
			}
		}
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != damages[len(damages)-1] {
		t.Errorf("the file is %q, %v", b, err)
	}
	if err := s.Put(t.Context(), store.RunInfo{Run: "b"}); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(name); err != nil || len(b) == 0 {
		t.Errorf("%q, %v", b, err)
	}
}

// Temporary files of killed writers go when they are old; those of a writer stay.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir)
	fill(t, s)
	if left := len(everything(t, filepath.Join(dir, temporary))); left != 1 {
		t.Errorf("%d temporary files are left", left-1)
	}
	for name, age := range map[string]time.Duration{"old": stale + time.Hour, "young": stale - time.Hour} {
		name = filepath.Join(dir, temporary, name)
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	openAt(t, dir)
	left := everything(t, filepath.Join(dir, temporary))
	if _, found := left["young"]; !found || len(left) != 2 {
		t.Errorf("left: %v", left)
	}
}

// What a lock stops says so, names the file, and ends within ten seconds, or with
// the caller's context.
func TestLocked(t *testing.T) {
	if wait > 10*time.Second {
		t.Errorf("a store waits for %v", wait)
	}
	dir := t.TempDir()
	s := openAt(t, dir)
	s.wait = time.Hour
	fill(t, s)
	at, err := s.Blobs().Put(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Blobs().Claim(t.Context(), at, "me"); err != nil {
		t.Fatal(err)
	}
	blob, _, _ := names(at)
	g, err := os.OpenFile(filepath.Join(dir, filepath.FromSlash(blob)), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if ok, err := tryLock(g, true); !ok || err != nil {
		t.Fatal(ok, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, filepath.FromSlash(journalName("r"))), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if ok, err := tryLock(f, true); !ok || err != nil {
		t.Fatal(ok, err)
	}
	for name, op := range map[string]func(ctx context.Context) error{
		g.Name(): func(ctx context.Context) error { return s.Blobs().Release(ctx, at, "me") },
		f.Name(): func(ctx context.Context) error { return s.Append(ctx, "r", 3, []engine.Record{rec("d")}) },
		f.Name() + "\x00": func(ctx context.Context) (failed error) {
			for _, err := range s.Read(ctx, "r") {
				failed = err
			}
			return failed
		},
	} {
		name, _, _ := strings.Cut(name, "\x00")
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err := op(ctx)
		cancel()
		if !errors.Is(err, store.ErrLocked) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		s.wait = time.Millisecond
		err = op(t.Context())
		s.wait = time.Hour
		if !errors.Is(err, store.ErrLocked) || !strings.Contains(err.Error(), " "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if all, err := texts(t, s, "r"); err != nil || fmt.Sprint(all) != "[a b c]" {
		t.Error(all, err)
	}
}
