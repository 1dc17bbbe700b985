package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pinfold-dev/pinfold/store"
)

func list(ctx context.Context, s store.Store, q store.Query) ([]store.RunInfo, error) {
	var all []store.RunInfo
	for info, err := range s.List(ctx, q) {
		if err != nil {
			return all, fmt.Errorf("list of %+v: %w", q, err)
		}
		all = append(all, info)
	}
	return all, nil
}

// same compares what is known of a run. Times are the same when they are the
// same moment, written in UTC.
func same(got, want store.RunInfo) error {
	moment := func(t *time.Time) error {
		if t.Location() != time.UTC {
			return fmt.Errorf("run %q: the time %v is not UTC", got.Run, t)
		}
		return nil
	}
	if err := errors.Join(moment(&got.Created), moment(&got.Updated)); err != nil {
		return err
	}
	equal := got.Created.Equal(want.Created) && got.Updated.Equal(want.Updated) &&
		slices.EqualFunc(got.Approvals, want.Approvals, func(g, w store.ApprovalInfo) bool {
			ok := g.Expires.Equal(w.Expires)
			g.Expires, w.Expires = time.Time{}, time.Time{}
			return ok && g == w
		})
	if equal {
		g, w := got, want
		for _, x := range []*store.RunInfo{&g, &w} {
			x.Created, x.Updated, x.Approvals = time.Time{}, time.Time{}, nil
		}
		equal = fmt.Sprintf("%#v", g) == fmt.Sprintf("%#v", w)
	}
	if !equal {
		return fmt.Errorf("expected %s, found %s", clip(fmt.Sprintf("%+v", want)), clip(fmt.Sprintf("%+v", got)))
	}
	return nil
}

func expectRuns(ctx context.Context, s store.Store, q store.Query, want ...store.RunInfo) error {
	got, err := list(ctx, s, q)
	if err != nil {
		return err
	}
	if len(got) != len(want) {
		return fmt.Errorf("list of %+v: expected %d runs, found %d", q, len(want), len(got))
	}
	for i := range got {
		if err := same(got[i], want[i]); err != nil {
			return fmt.Errorf("list of %+v, run %d: %w", q, i, err)
		}
	}
	return nil
}

func at(seconds int) time.Time {
	return time.Date(2026, 1, 2, 3, 4, 5+seconds, 678_900_001, time.FixedZone("x", 3600))
}

func index(ctx context.Context, e *env) error {
	ss, err := e.two()
	if err != nil {
		return err
	}
	if err := expectRuns(ctx, ss[0], store.Query{}); err != nil {
		return err
	}
	info := store.RunInfo{
		Run: "r", Machine: "m", Path: "a/m.mkl", Status: "suspended", Reason: "approval-required: send", At: "send", Checkpoint: "somewhere",
		Approvals: []store.ApprovalInfo{{ID: "z", State: "send", Tool: "mail", Digest: "00", Expires: at(60)}, {ID: "a", State: "pay"}, {}},
		Created:   at(0), Updated: at(1),
	}
	given := slices.Clone(info.Approvals)
	info.Approvals = given
	if err := ss[0].Put(ctx, info); err != nil {
		return err
	}
	info.Approvals = slices.Clone(given)
	clear(given) // it is the caller's
	if err := expectRuns(ctx, ss[0], store.Query{}, info); err != nil {
		return err
	}
	if err := expectRuns(ctx, ss[1], store.Query{Approval: "a"}, info); err != nil {
		return err
	}
	for i, next := range []store.RunInfo{
		{Run: "r", Machine: "m2", Status: "running", Approvals: []store.ApprovalInfo{{ID: "b"}}, Updated: at(2)},
		{Run: "r"}, // all is replaced, by nothing too
		{Run: "r", Status: "done", Created: at(-100), Updated: at(-90)},
	} {
		if err := ss[i%2].Put(ctx, next); err != nil {
			return err
		}
		for _, s := range ss {
			if err := expectRuns(ctx, s, store.Query{}, next); err != nil {
				return err
			}
			for _, gone := range []store.Query{{Status: "suspended"}, {Approval: "a"}, {Approval: "z"}, {Machine: "m"}} {
				if err := expectRuns(ctx, s, gone); err != nil {
					return fmt.Errorf("what was replaced is still found: %w", err)
				}
			}
		}
	}
	if ss[0].Put(ctx, store.RunInfo{Status: "done"}) == nil {
		return errors.New("put of a run without a name: expected an error")
	}
	for _, bad := range []time.Time{time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(1<<62, 0)} {
		for _, info := range []store.RunInfo{{Run: "t", Updated: bad}, {Run: "t", Created: bad}, {Run: "t", Approvals: []store.ApprovalInfo{{ID: "e", Expires: bad}}}} {
			if ss[0].Put(ctx, info) == nil {
				return fmt.Errorf("put of a run with a time in the year %d: expected an error", bad.Year())
			}
		}
	}
	return expectRuns(ctx, ss[0], store.Query{Run: "t"})
}

// fleet is runs of two machines in every status; the order is not that of List.
func fleet() []store.RunInfo {
	var all []store.RunInfo
	for i := range 24 {
		info := store.RunInfo{
			Run: store.RunID(fmt.Sprintf("run-%02d", i)), Machine: []string{"triage", "Triage", "triage2"}[i%3],
			Status: []string{"running", "suspended", "done", "halt"}[i%4], Created: at(i), Updated: at(i * 7 % 24),
		}
		if info.Status == "suspended" {
			for k := range i % 3 {
				info.Approvals = append(info.Approvals, store.ApprovalInfo{ID: fmt.Sprintf("ap-%d-%d", i, k), State: "send", Tool: "mail", Expires: at(100 + k)})
			}
			info.Approvals = append(info.Approvals, store.ApprovalInfo{ID: "ap-shared"})
		}
		all = append(all, info)
	}
	return all
}

func query(ctx context.Context, e *env) error {
	ss, err := e.two()
	if err != nil {
		return err
	}
	all := fleet()
	for i, info := range all {
		if err := ss[i%2].Put(ctx, info); err != nil {
			return err
		}
	}
	slices.SortFunc(all, store.Newest)
	queries := []store.Query{
		{}, {Run: "run-03"}, {Run: "run-3"}, {Run: "RUN-03"}, {Run: "run-__"}, {Run: "run-%"}, {Machine: "triage"}, {Machine: "TRIAGE"}, {Machine: "triag"},
		{Status: "suspended"}, {Status: "done"}, {Status: "don"}, {Approval: "ap-5-0"}, {Approval: "ap-5-1"}, {Approval: "ap-5-2"}, {Approval: "ap-shared"}, {Approval: "AP-5-0"},
		{Machine: "Triage", Status: "suspended"}, {Run: "run-05", Approval: "ap-5-1"}, {Run: "run-05", Approval: "ap-17-1"}, {Run: "run-05", Status: "done"},
		{Status: "suspended", Approval: "ap-shared", Machine: "triage2"},
	}
	found := 0
	for _, q := range queries {
		for _, q.Limit = range []int{0, -1, 1, 3, 1000} {
			var want []store.RunInfo
			for i := range all {
				if q.Match(&all[i]) && (q.Limit <= 0 || len(want) < q.Limit) {
					want = append(want, all[i])
				}
			}
			if err := expectRuns(ctx, ss[0], q, want...); err != nil {
				return err
			}
			found += len(want)
		}
	}
	if found == 0 {
		return errors.New("the queries select nothing")
	}
	n := 0 // a reader may leave early, and ask again meanwhile
	for info, err := range ss[0].List(ctx, store.Query{}) {
		if err != nil {
			return err
		}
		if err := expectRuns(ctx, ss[0], store.Query{Run: info.Run}, info); err != nil {
			return err
		}
		if n++; n == 3 {
			break
		}
	}
	return nil
}

// Newest first, to the nanosecond, whatever the zone and the order of Put.
func order(ctx context.Context, e *env) error {
	s, err := e.open()
	if err != nil {
		return err
	}
	t := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var want []store.RunInfo
	for i, updated := range []time.Time{
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), t.Add(time.Second), t.Add(100), t.Add(20), t.Add(3), t, t,
		t.Add(-1).In(time.FixedZone("east", 13*3600)), t.Add(-2).In(time.FixedZone("west", -11*3600)), time.Unix(0, 0), time.Unix(-1, 0), time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC), {}, {},
	} {
		name := 2 * (49 - i) // not the order of names, but among equals
		if i == 6 || i == 13 {
			name += 3
		}
		want = append(want, store.RunInfo{Run: store.RunID(fmt.Sprint(name)), Updated: updated, Created: t.Add(time.Duration(i) * time.Hour)})
	}
	for i := range want {
		if err := s.Put(ctx, want[i*5%len(want)]); err != nil {
			return err
		}
	}
	if err := expectRuns(ctx, s, store.Query{}, want...); err != nil {
		return err
	}
	return expectRuns(ctx, s, store.Query{Limit: 4}, want[:4]...)
}

// oddText puts every odd text, and two that are not UTF-8, in every place for
// text.
func oddText(ctx context.Context, e *env) error {
	s, err := e.open()
	if err != nil {
		return err
	}
	var want []store.RunInfo
	for i, text := range append(slices.Clone(odd), "\xff", "a\xc3") {
		info := store.RunInfo{
			Run: store.RunID(fmt.Sprintf("run-%02d", i)), Machine: text, Path: text, Status: text, Reason: text, At: text, Checkpoint: store.Location(text),
			Approvals: []store.ApprovalInfo{{ID: text, State: text, Tool: text, Digest: text}, {ID: text + "2"}}, Updated: at(-i),
		}
		if err := s.Put(ctx, info); err != nil {
			return fmt.Errorf("text %q: %w", clip(text), err)
		}
		want = append(want, info)
	}
	if s, err = e.open(); err != nil {
		return err
	}
	if err := expectRuns(ctx, s, store.Query{}, want...); err != nil {
		return err
	}
	for i, info := range want {
		q := []store.Query{{Status: info.Status}, {Machine: info.Machine}, {Approval: info.Approvals[0].ID}}[i%3]
		var selected []store.RunInfo // all, for the empty text
		for k := range want {
			if q.Match(&want[k]) {
				selected = append(selected, want[k])
			}
		}
		if err := expectRuns(ctx, s, q, selected...); err != nil {
			return err
		}
	}
	return nil
}
