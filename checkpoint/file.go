package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/store"
)

// Write writes a checkpoint whole or not at all: a unique temporary file beside
// it, synced and renamed [C66]. The file is for its owner alone, as are the
// directories that are made for it.
func Write(path string, b []byte) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*") // made with 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(b); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir makes the names in a directory durable. Where a directory cannot be
// synced there is nothing more that could be done.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) {
		return err
	}
	return nil
}

// maxFile bounds what is read: a path may lead to a device.
const maxFile = 1 << 30

// Read reads a checkpoint's file.
func Read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: expected a file", path)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s: larger than %d MiB", path, maxFile>>20)
	}
	return os.ReadFile(path)
}

// claimPath is the claim on one envelope of a file: it stands beside the file and
// is named after the envelope, so that the next suspension that is written to the
// same path has a claim of its own.
func claimPath(path string, e *Envelope, content []byte) string {
	id := e.ID
	if id == "" {
		id = hash(content)[:32]
	}
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+id+".claim")
}

// Claim claims the envelope that the file at path holds. It succeeds once: a
// second claim is a store.ClaimedError [C57].
func Claim(path string, e *Envelope, content []byte, by string, at time.Time) error {
	name := claimPath(path, e, content)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		who, when := claimant(name)
		return &store.ClaimedError{By: who, At: when}
	}
	if err != nil {
		return fmt.Errorf("claiming the checkpoint: %w", err)
	}
	_, err = f.WriteString(at.UTC().Format(time.RFC3339) + " " + by + "\n")
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		os.Remove(name)
		return fmt.Errorf("claiming the checkpoint: %w", err)
	}
	return nil
}

// claimant reads who claimed; a claim that is being written has nobody yet.
func claimant(name string) (string, time.Time) {
	b, _ := os.ReadFile(name)
	at, by, ok := strings.Cut(strings.TrimSuffix(string(b), "\n"), " ")
	when, err := time.Parse(time.RFC3339, at)
	if !ok || err != nil {
		return "somebody", time.Time{}
	}
	return by, when
}

// Release gives a claim back: the resume was refused before anything ran.
func Release(path string, e *Envelope, content []byte, by string) error {
	name := claimPath(path, e, content)
	who, _ := claimant(name)
	if who != by {
		return fmt.Errorf("releasing the checkpoint: claimed by %s, not by %s", who, by)
	}
	return os.Remove(name)
}
