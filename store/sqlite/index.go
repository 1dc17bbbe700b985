package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/store"
)

// Put replaces what was known of the run.
func (s *Store) Put(ctx context.Context, info store.RunInfo) error {
	if err := s.put(ctx, &info); err != nil {
		return fmt.Errorf("index of run %s: %w", info.Run, err)
	}
	return nil
}

func (s *Store) put(ctx context.Context, info *store.RunInfo) error {
	if err := checkRun(info.Run); err != nil {
		return err
	}
	created, err := momentOf(info.Created)
	if err != nil {
		return err
	}
	updated, err := momentOf(info.Updated)
	if err != nil {
		return err
	}
	expires := make([]string, len(info.Approvals))
	for i := range info.Approvals {
		if expires[i], err = momentOf(info.Approvals[i].Expires); err != nil {
			return err
		}
	}
	return s.change(ctx, func(ctx context.Context, c *sql.Conn) error {
		_, err := c.ExecContext(ctx, "REPLACE INTO runs (run, machine, path, status, reason, at, checkpoint, created, updated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			string(info.Run), info.Machine, info.Path, info.Status, info.Reason, info.At, string(info.Checkpoint), created, updated)
		if err != nil {
			return err
		}
		if _, err := c.ExecContext(ctx, "DELETE FROM approvals WHERE run = ?", string(info.Run)); err != nil {
			return err
		}
		for i, a := range info.Approvals {
			_, err := c.ExecContext(ctx, "INSERT INTO approvals (run, position, id, state, tool, digest, expires) VALUES (?, ?, ?, ?, ?, ?, ?)",
				string(info.Run), i, a.ID, a.State, a.Tool, a.Digest, expires[i])
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// List finds runs, the last updated first. It holds no connection while the
// caller works.
func (s *Store) List(ctx context.Context, q store.Query) iter.Seq2[store.RunInfo, error] {
	return func(yield func(store.RunInfo, error) bool) {
		found, damaged, err := s.find(ctx, &q)
		if err != nil {
			yield(store.RunInfo{}, fmt.Errorf("list of runs: %w", known(err)))
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

// statement is the query: the runs that are selected, and their approvals, each
// in the order that List gives them.
func statement(q *store.Query) (string, []any) {
	var (
		where []string
		args  []any
	)
	condition := func(sql, arg string) {
		if arg != "" {
			where, args = append(where, sql), append(args, arg)
		}
	}
	condition("run = ?", string(q.Run))
	condition("machine = ?", q.Machine)
	condition("status = ?", q.Status)
	condition("run IN (SELECT run FROM approvals WHERE id = ?)", q.Approval)
	b := "SELECT * FROM runs"
	if len(where) > 0 {
		b += " WHERE " + strings.Join(where, " AND ")
	}
	b += " ORDER BY updated DESC, run"
	if q.Limit > 0 {
		b += " LIMIT ?"
		args = append(args, q.Limit)
	}
	return `SELECT r.run, r.machine, r.path, r.status, r.reason, r.at, r.checkpoint, r.created, r.updated, a.id, a.state, a.tool, a.digest, a.expires
		FROM (` + b + `) r LEFT JOIN approvals a ON a.run = r.run ORDER BY r.updated DESC, r.run, a.position`, args
}

func (s *Store) find(ctx context.Context, q *store.Query) (found []store.RunInfo, damaged []error, err error) {
	query, args := statement(q)
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	bad := store.RunID("") // the last run that cannot be read
	for rows.Next() {
		var (
			info                    store.RunInfo
			id, state, tool, digest sql.NullString
			created, updated        string
			expires                 sql.NullString
		)
		if err := rows.Scan(&info.Run, &info.Machine, &info.Path, &info.Status, &info.Reason, &info.At, &info.Checkpoint, &created, &updated, &id, &state, &tool, &digest, &expires); err != nil {
			return nil, nil, err
		}
		if info.Run == bad {
			continue
		}
		times := func() error {
			var err1, err2, err3 error
			var e time.Time
			info.Created, err1 = time.Parse(moments, created)
			info.Updated, err2 = time.Parse(moments, updated)
			if id.Valid {
				e, err3 = time.Parse(moments, expires.String)
				info.Approvals = []store.ApprovalInfo{{ID: id.String, State: state.String, Tool: tool.String, Digest: digest.String, Expires: e}}
			}
			return errors.Join(err1, err2, err3)
		}
		last := len(found) - 1
		again := last >= 0 && found[last].Run == info.Run
		if err := times(); err != nil {
			bad = info.Run
			damaged = append(damaged, fmt.Errorf("run %s: %w: %w", info.Run, store.ErrDamaged, err))
			if again {
				found = found[:last]
			}
			continue
		}
		if again {
			found[last].Approvals = append(found[last].Approvals, info.Approvals...)
		} else {
			found = append(found, info)
		}
	}
	return found, damaged, rows.Err()
}
