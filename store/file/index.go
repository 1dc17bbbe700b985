package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/store"
)

const runSuffix = ".json"

// run is a RunInfo as its file says it.
type run struct {
	Format     int        `json:"pinfold_run"`
	Run        text       `json:"run"`
	Machine    text       `json:"machine"`
	Path       text       `json:"path"`
	Status     text       `json:"status"`
	Reason     text       `json:"reason"`
	At         text       `json:"at"`
	Checkpoint text       `json:"checkpoint"`
	Created    time.Time  `json:"created"`
	Updated    time.Time  `json:"updated"`
	Approvals  []approval `json:"approvals"`
}

type approval struct {
	ID      text      `json:"id"`
	State   text      `json:"state"`
	Tool    text      `json:"tool"`
	Digest  text      `json:"digest"`
	Expires time.Time `json:"expires"`
}

func runOf(info *store.RunInfo) (run, error) {
	r := run{
		Format: 1, Run: text(info.Run), Machine: text(info.Machine), Path: text(info.Path), Status: text(info.Status),
		Reason: text(info.Reason), At: text(info.At), Checkpoint: text(info.Checkpoint),
		Created: info.Created.UTC(), Updated: info.Updated.UTC(), Approvals: make([]approval, len(info.Approvals)),
	}
	err := errors.Join(checkTime(r.Created), checkTime(r.Updated))
	for i, a := range info.Approvals {
		r.Approvals[i] = approval{text(a.ID), text(a.State), text(a.Tool), text(a.Digest), a.Expires.UTC()}
		err = errors.Join(err, checkTime(a.Expires.UTC()))
	}
	return r, err
}

func checkTime(t time.Time) error {
	if y := t.Year(); y < 1 || y > 9999 {
		return fmt.Errorf("expected a time in the years 1 to 9999, found the year %d", y)
	}
	return nil
}

func (r *run) info() store.RunInfo {
	info := store.RunInfo{
		Run: store.RunID(r.Run), Machine: string(r.Machine), Path: string(r.Path), Status: string(r.Status),
		Reason: string(r.Reason), At: string(r.At), Checkpoint: store.Location(r.Checkpoint),
		Created: r.Created.UTC(), Updated: r.Updated.UTC(),
	}
	for _, a := range r.Approvals {
		info.Approvals = append(info.Approvals, store.ApprovalInfo{ID: string(a.ID), State: string(a.State), Tool: string(a.Tool), Digest: string(a.Digest), Expires: a.Expires.UTC()})
	}
	return info
}

// Put replaces what was known of the run.
func (s *Store) Put(ctx context.Context, info store.RunInfo) error {
	err := s.put(ctx, &info)
	if err != nil {
		return fmt.Errorf("index of run %s: %w", info.Run, err)
	}
	return nil
}

func (s *Store) put(ctx context.Context, info *store.RunInfo) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := checkRun(info.Run); err != nil {
		return err
	}
	r, err := runOf(info)
	if err != nil {
		return err
	}
	b, err := encode(r)
	if err != nil {
		return err
	}
	return s.write(runs, fileName(string(info.Run))+runSuffix, b)
}

// List finds runs, the last updated first.
func (s *Store) List(ctx context.Context, q store.Query) iter.Seq2[store.RunInfo, error] {
	return func(yield func(store.RunInfo, error) bool) {
		found, damaged, err := s.find(ctx, &q)
		if err != nil {
			yield(store.RunInfo{}, fmt.Errorf("list of runs: %w", err))
			return
		}
		for _, info := range found {
			if !yield(info, nil) {
				return
			}
		}
		for _, err := range damaged {
			if !yield(store.RunInfo{}, err) {
				return
			}
		}
	}
}

func (s *Store) find(ctx context.Context, q *store.Query) (found []store.RunInfo, damaged []error, err error) {
	var names []string
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if q.Run != "" {
		names = []string{fileName(string(q.Run)) + runSuffix}
	} else {
		entries, err := fs.ReadDir(s.root.FS(), runs)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), runSuffix) {
				names = append(names, e.Name())
			}
		}
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		info, err := s.read(name)
		switch {
		case errors.Is(err, fs.ErrNotExist): // no such run
		case err != nil:
			damaged = append(damaged, err)
		case q.Match(&info):
			found = append(found, info)
		}
	}
	slices.SortFunc(found, store.Newest)
	if q.Limit > 0 && len(found) > q.Limit {
		found = found[:q.Limit]
	}
	return found, damaged, nil
}

func (s *Store) read(name string) (store.RunInfo, error) {
	b, err := s.root.ReadFile(path.Join(runs, name))
	if err != nil {
		return store.RunInfo{}, err
	}
	var r run
	err = decode(b, &r)
	switch {
	case err != nil:
	case r.Format != 1:
		err = fmt.Errorf("expected the format 1, found %d", r.Format)
	case fileName(string(r.Run))+runSuffix != name:
		err = fmt.Errorf("expected the run of this name, found run %s", r.Run)
	}
	if err != nil {
		return store.RunInfo{}, fmt.Errorf("%s: %w: %w", s.where(path.Join(runs, name)), store.ErrDamaged, err)
	}
	return r.info(), nil
}
