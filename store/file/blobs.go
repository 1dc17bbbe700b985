package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/pinfold-dev/pinfold/store"
)

const (
	blobSuffix  = ".checkpoint"
	claimSuffix = ".claim"
)

// Blobs are the checkpoints of a store: a file each, with a file beside it while
// it is claimed.
type Blobs struct{ s *Store }

// Blobs are the checkpoints.
func (s *Store) Blobs() store.Blobs { return Blobs{s} }

// names are the files of a location; ok is false for what Put never made.
func names(at store.Location) (blob, claim string, ok bool) {
	for i := range len(at) {
		if !plainByte(at[i]) && at[i] != '%' {
			return "", "", false
		}
	}
	base := path.Join(checkpoints, string(at))
	return base + blobSuffix, base + claimSuffix, at != "" && len(at) < 200
}

// Put keeps b in a file of its own.
func (b Blobs) Put(ctx context.Context, key string, content []byte) (store.Location, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("checkpoint: %w", err)
	}
	at := unique()
	if key != "" {
		at = fileName(key) + "-" + at
	}
	if err := b.s.write(checkpoints, at+blobSuffix, content); err != nil {
		return "", fmt.Errorf("checkpoint: %w", err)
	}
	return store.Location(at), nil
}

// Get reads what Put was given.
func (b Blobs) Get(ctx context.Context, at store.Location) ([]byte, error) {
	content, err := func() ([]byte, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		blob, _, ok := names(at)
		if !ok {
			return nil, store.ErrNotFound
		}
		content, err := b.s.root.ReadFile(blob)
		return content, notFound(err)
	}()
	if err != nil {
		return nil, about(at, err)
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

func notFound(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return store.ErrNotFound
	}
	return err
}

// claim is what a claim file says.
type claim struct {
	By text      `json:"by"`
	At time.Time `json:"at"`
}

// Claim makes the claim file, by a hard link to one that is whole: the system
// lets one of any number of processes have the name.
func (b Blobs) Claim(ctx context.Context, at store.Location, by string) error {
	return about(at, b.claim(ctx, at, by))
}

func (b Blobs) claim(ctx context.Context, at store.Location, by string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if by == "" {
		return errors.New("expected the name of who claims it, found an empty one")
	}
	blob, name, ok := names(at)
	if !ok {
		return store.ErrNotFound
	}
	if _, err := b.s.root.Lstat(blob); err != nil {
		return notFound(err)
	}
	if err := b.claimed(name); err != nil { // most refusals need no file
		return err
	}
	line, err := encode(claim{text(by), time.Now().UTC()})
	if err != nil {
		return err
	}
	tmp, err := b.s.temp(line)
	if err != nil {
		return err
	}
	defer func() { _ = b.s.root.Remove(tmp) }()
	for {
		err = b.s.root.Link(tmp, name)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
		if err := b.claimed(name); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil { // it was released in between: again
			return err
		}
	}
	if err != nil {
		return err
	}
	if err := b.s.syncDir(checkpoints); err != nil {
		// Nobody but this claimer can hold it now: a claim that may not last is no claim.
		return errors.Join(err, b.s.root.Remove(name))
	}
	return nil
}

// claimed is the ClaimedError of a claim file, nil where there is none. A file
// that nobody can read is a claim all the same.
func (b Blobs) claimed(name string) error {
	content, err := b.s.root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var c claim
	if err := decode(content, &c); err != nil || c.By == "" {
		info, err := b.s.root.Lstat(name)
		if err != nil {
			return err
		}
		return fmt.Errorf("%s is %w: %w", b.s.where(name), store.ErrDamaged, &store.ClaimedError{By: "an unknown claimer", At: info.ModTime().UTC()})
	}
	return &store.ClaimedError{By: string(c.By), At: c.At.UTC()}
}

// Claimed tells of a claim without making one.
func (b Blobs) Claimed(ctx context.Context, at store.Location) (*store.ClaimedError, error) {
	held, err := func() (*store.ClaimedError, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		blob, name, ok := names(at)
		if !ok {
			return nil, store.ErrNotFound
		}
		if _, err := b.s.root.Lstat(blob); err != nil {
			return nil, notFound(err)
		}
		err := b.claimed(name)
		var held *store.ClaimedError
		if errors.As(err, &held) {
			return held, nil
		}
		return nil, err
	}()
	return held, about(at, err)
}

// Release removes the claim file.
func (b Blobs) Release(ctx context.Context, at store.Location, by string) error {
	return about(at, b.release(ctx, at, by))
}

// release holds a lock of the checkpoint, so that between reading whose claim it
// is and removing it no other release removes it and lets another claim in.
func (b Blobs) release(ctx context.Context, at store.Location, by string) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	blob, name, ok := names(at)
	if !ok {
		return store.ErrNotFound
	}
	f, err := b.s.root.OpenFile(blob, os.O_RDWR, 0)
	if err != nil {
		return notFound(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := b.s.lock(ctx, f, true); err != nil {
		return err
	}
	err = b.claimed(name)
	var held *store.ClaimedError
	switch {
	case err == nil:
		return fmt.Errorf("claim: %w", store.ErrNotFound)
	case !errors.As(err, &held), errors.Is(err, store.ErrDamaged), held.By != by:
		return err
	}
	if err := b.s.root.Remove(name); err != nil {
		return err
	}
	return b.s.syncDir(checkpoints)
}
