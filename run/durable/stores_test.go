package durable_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/run/durable"
	"github.com/pinfold-dev/pinfold/store"
	"github.com/pinfold-dev/pinfold/store/file"
	"github.com/pinfold-dev/pinfold/store/sqlite"
)

// open opens a store of a kind in a directory.
func open(dir, kind string) (store.Store, error) {
	if kind == "sqlite" {
		return sqlite.Open(filepath.Join(dir, "store.db"))
	}
	return file.Open(filepath.Join(dir, "store"))
}

// answersNothing says that a late driver found the winner's next suspension, where
// the id is of no use.
func answersNothing(err error) bool {
	var bad *engine.ApprovalError
	return errors.As(err, &bad)
}

// Double click, over the stores that are shipped, each driver with the store opened
// for itself as another process would: one winner, one call [C57].
func TestOneWinnerOverStores(t *testing.T) {
	for _, kind := range []string{"file", "sqlite"} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			x := &till{}
			c := config(x)
			c.Options.Policies.UntrustedFlow, c.Options.Suspendable, c.Options.RunID = policy.Ask, true, "r"
			p := program(t, orders, item)
			st, err := open(dir, kind)
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			out, err := keeper(st, "first").Run(context.Background(), p, outside, c, about())
			if err != nil || len(out.Approvals) != 1 {
				t.Fatal(err)
			}
			id := out.Approvals[0].ID
			var won atomic.Int32
			var wg sync.WaitGroup
			for i := range 6 {
				wg.Go(func() {
					st, err := open(dir, kind)
					if err != nil {
						t.Error(err)
						return
					}
					defer st.Close()
					parked, err := keeper(st, fmt.Sprint("driver ", i)).Open(context.Background(), "r", false)
					if err == nil {
						defer parked.Close()
						_, err = parked.Resume(context.Background(), p, c, about(), durable.Request{Approve: []string{id}})
					}
					var claimed *store.ClaimedError
					if err == nil {
						won.Add(1)
					} else if !errors.As(err, &claimed) && !answersNothing(err) {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if won.Load() != 1 || x.paid["booking text"] != 1 {
				t.Errorf("%d won, paid %v", won.Load(), x.paid)
			}
		})
	}
}
