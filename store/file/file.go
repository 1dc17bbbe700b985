// Package file keeps runs in a directory: a journal of JSON Lines for each run,
// a file for each checkpoint with its claim beside it, a file for what is known
// of each run. A person can read them all, and copy the directory.
//
//	s, err := file.Open(".pinfold/runs")
//	defer s.Close()
//
// The directory is the store's own and its user's alone (0700, files 0600); one
// that holds anything else is refused. A file comes to its place whole, by a
// unique temporary name, fsync and rename; a journal grows by appends that are
// durable before Append returns. Nothing is ever repaired by guess: a file that
// is not what was written is an error and is left alone, but for the torn end of
// a journal, which is of an Append that never returned.
//
// It wants a file system with hard links and whole-file locks, as local ones are.
package file

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/store"
)

// The parts of the directory.
const (
	journals    = "journals"
	checkpoints = "checkpoints"
	runs        = "runs"
	temporary   = "tmp"
	formatFile  = "format"

	format = "pinfold store 1\n"
)

var parts = []string{journals, checkpoints, runs, temporary}

// wait is how long an operation waits for a lock of another process.
const wait = 5 * time.Second

// stale is the age at which a temporary file belongs to no writer any more.
const stale = 24 * time.Hour

// Store is a directory of runs. Any number of them, in any number of processes,
// may be open on one directory.
type Store struct {
	dir  string
	root *os.Root // no name leads out of it
	wait time.Duration
}

var (
	_ store.Store  = (*Store)(nil)
	_ store.Claims = Blobs{}
)

// Open opens the store in dir. A missing or empty directory becomes one.
func Open(dir string) (*Store, error) {
	s, err := open(dir, wait)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", dir, err)
	}
	return s, nil
}

func open(dir string, wait time.Duration) (*Store, error) {
	if dir == "" {
		return nil, errors.New("expected a directory, found an empty name")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, root: root, wait: wait}
	if err := s.prepare(); err != nil {
		_ = root.Close()
		return nil, err
	}
	return s, nil
}

// prepare makes the directory a store where it is none. Several processes may do
// so at once: each step is one that the others may have done.
func (s *Store) prepare() error {
	b, err := s.root.ReadFile(formatFile)
	known := err == nil
	switch {
	case known && string(b) != format:
		return fmt.Errorf("expected the format %q, found %q", format, clip(string(b)))
	case known:
	case !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		entries, err := fs.ReadDir(s.root.FS(), ".")
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !slices.Contains(parts, e.Name()) && e.Name() != formatFile {
				return fmt.Errorf("expected a directory of its own, found %q in it", clip(e.Name()))
			}
		}
	}
	if err := s.private("."); err != nil {
		return err
	}
	for _, part := range parts {
		if err := s.root.Mkdir(part, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := s.private(part); err != nil {
			return err
		}
	}
	if !known {
		if err := s.write(".", formatFile, []byte(format)); err != nil {
			return err
		}
		if err := syncName(s.dir); err != nil {
			return err
		}
	}
	return s.sweep()
}

// private takes a directory away from others.
func (s *Store) private(dir string) error {
	info, err := s.root.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s: expected a directory", dir)
	}
	if info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows" {
		return nil
	}
	return s.root.Chmod(dir, 0o700)
}

// sweep removes temporary files of writers that were killed long ago: they hold
// blackboards in clear.
func (s *Store) sweep() error {
	entries, err := fs.ReadDir(s.root.FS(), temporary)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < stale {
			continue // gone already, or somebody's
		}
		if err := s.root.Remove(path.Join(temporary, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Close closes the store. What it holds stays.
func (s *Store) Close() error { return s.root.Close() }

// where is a file's place, for people.
func (s *Store) where(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// temp writes b, durably, under a temporary name that nobody else has.
func (s *Store) temp(b []byte) (name string, err error) {
	name = path.Join(temporary, unique())
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = s.root.Remove(name)
		return "", err
	}
	return name, nil
}

// write puts b under a name, in place of what was there: a reader sees the one or
// the other, also after a crash.
func (s *Store) write(dir, name string, b []byte) error {
	tmp, err := s.temp(b)
	if err != nil {
		return err
	}
	if err := s.root.Rename(tmp, path.Join(dir, name)); err != nil {
		_ = s.root.Remove(tmp)
		return err
	}
	return s.syncDir(dir)
}

// syncDir makes the names of a directory durable.
func (s *Store) syncDir(dir string) error {
	if runtime.GOOS == "windows" { // it has no such thing
		return nil
	}
	d, err := s.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// syncName makes the name of the store's directory durable, where its parent can
// be read.
func syncName(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(filepath.Join(dir, ".."))
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// lock waits for a lock of the whole file, which its closing gives back.
func (s *Store) lock(ctx context.Context, f *os.File, exclusive bool) error {
	began := time.Now()
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 20*time.Millisecond) {
		ok, err := tryLock(f, exclusive)
		if ok || err != nil {
			return err
		}
		if time.Since(began) >= s.wait {
			return fmt.Errorf("%w: waited %v for %s", store.ErrLocked, s.wait, f.Name())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", store.ErrLocked, ctx.Err())
		case <-time.After(pause):
		}
	}
}

// unique is a name that nobody else draws.
func unique() string { return strings.ToLower(rand.Text()) }

// maxName keeps a name with all that is put around it below the 255 bytes of
// file systems.
const maxName = 120

// fileName is a name of a file for any text, another for each: every byte but
// a–z, 0–9, - and _ is written as % and two digits, so that neither separators
// nor the folding of case or of Unicode lead to another's file. A long one ends
// in its digest. "" stays empty.
func fileName(text string) string {
	const digits = "0123456789abcdef"
	b := make([]byte, 0, len(text)+8)
	for i := range len(text) {
		c := text[i]
		if plainByte(c) && !(i == 0 && reserved(text)) {
			b = append(b, c)
			continue
		}
		b = append(b, '%', digits[c>>4], digits[c&15])
	}
	if len(b) <= maxName {
		return string(b)
	}
	sum := sha256.Sum256([]byte(text))
	return string(b[:maxName-66]) + "%-" + hex.EncodeToString(sum[:])
}

func plainByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// reserved says whether Windows has a device of that name, with any extension.
func reserved(name string) bool {
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && (name[:3] == "com" || name[:3] == "lpt") && '0' <= name[3] && name[3] <= '9'
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
