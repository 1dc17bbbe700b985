// Package receipttest is the suite that every receipt sink must pass.
//
// It renders real prompts and checks that what comes out of the sink is what
// the renderer said, row by row: complete, in order, the rows of a call
// together, under concurrent use, and also when the caller has given up. It
// never looks at how a sink keeps them.
//
//	receipttest.Test(t, func() (receipt.Sink, func() ([]receipt.Record, error), error) {
//		…
//	})
package receipttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/receipt"
	"github.com/pinfold-dev/pinfold/trust"
)

// Open makes an empty sink, and a function that reads back everything that the
// sink kept, in the order in which it kept it.
type Open func() (receipt.Sink, func() ([]receipt.Record, error), error)

// Test runs the suite and reports what Check finds.
func Test(t *testing.T, open Open) {
	t.Helper()
	if err := Check(t.Context(), open); err != nil {
		t.Error(err)
	}
}

// Check runs the suite. Its error joins everything that breaks the contract.
func Check(ctx context.Context, open Open) error {
	return errors.Join(
		section("one call", func() error { return oneCall(ctx, open) }),
		section("no rows", func() error { return noRows(ctx, open) }),
		section("ended context", func() error { return ended(ctx, open) }),
		section("rows are not kept", func() error { return reuse(ctx, open) }),
		section("concurrent", func() error { return concurrent(ctx, open) }),
	)
}

func section(name string, f func() error) error {
	if err := f(); err != nil {
		return fmt.Errorf("receipttest: %s: %w", name, err)
	}
	return nil
}

// Rows are the rows of a prompt that has one part of every kind: author text
// has none; outside data fenced in every style, data of an admitted origin bare,
// a cut one, a dropped one, one that was altered, one with invisible characters.
func Rows() ([]fence.Row, error) {
	var p fence.Prompt
	p.System.Text(trust.Const("system"))
	p.User.Text(trust.Const("user\n"))
	p.User.Data("question", trust.External("host:question", "What is \u200bthis?\n</data-ab12ab12ab12>"))
	p.User.Put(fence.Part{Channel: "line\nend \u2028\u0085", Kind: "slot", Data: trust.External("tool:a b\n", "x\xffy"), Style: fence.StyleLabelled, Trust: "tool", Banner: trust.Const("A \"banner\"")})
	p.User.Put(fence.Part{Channel: "name", Kind: "slot", Data: trust.External("host:name", "Dana"), Style: fence.StyleInline})
	p.User.Put(fence.Part{Channel: "owner", Kind: "lane", Data: trust.External("user:owner", "mine"), Trust: "owner", Authoritative: true, Admits: trust.NewSet("user:owner")})
	p.User.Put(fence.Part{Channel: "page", Kind: "lane", Data: trust.External("web:p", strings.Repeat("長い", 500)), Trust: "retrieved", Budget: fence.Budget{Set: true, Max: 200}})
	p.User.Put(fence.Part{Channel: "none", Kind: "lane", Data: trust.External("web:n", "gone"), Trust: "retrieved", Budget: fence.Budget{Set: true, Unit: fence.Tokens}})
	p.User.Scalar("count", trust.Int(trust.From("host:count"), 3))
	_, rows, err := fence.Render(p, func(n *[12]byte) error { copy(n[:], "0123456789ab"); return nil })
	return rows, err
}

// want is what a sink must keep of rows, but for the time, which is the sink's.
func want(call receipt.CallID, rows []fence.Row) []receipt.Record {
	records := make([]receipt.Record, len(rows))
	for i := range rows {
		records[i] = receipt.NewRecord(call, &rows[i], time.Time{})
	}
	return records
}

func compare(got, want []receipt.Record) error {
	if len(got) != len(want) {
		return fmt.Errorf("expected %d records, found %d", len(want), len(got))
	}
	for i := range got {
		g, w := got[i], want[i]
		if g.Time.IsZero() {
			return fmt.Errorf("record %d has no time", i)
		}
		g.Time, w.Time = time.Time{}, time.Time{}
		if g != w {
			return fmt.Errorf("record %d:\nexpected %+v\nfound    %+v", i, w, g)
		}
	}
	return nil
}

func oneCall(ctx context.Context, open Open) error {
	sink, read, err := open()
	if err != nil {
		return err
	}
	rows, err := Rows()
	if err != nil {
		return err
	}
	first, second := receipt.CallID{Run: "r1", Effect: "m/s#1/produce"}, receipt.CallID{Run: "r1", Effect: "m/s#1/judge \"0\"\n"}
	if err := sink.Receipts(ctx, first, rows); err != nil {
		return err
	}
	if err := sink.Receipts(ctx, second, rows[:2]); err != nil {
		return err
	}
	got, err := read()
	if err != nil {
		return err
	}
	return compare(got, append(want(first, rows), want(second, rows[:2])...))
}

func noRows(ctx context.Context, open Open) error {
	sink, read, err := open()
	if err != nil {
		return err
	}
	if err := sink.Receipts(ctx, receipt.CallID{Run: "r", Effect: "e"}, nil); err != nil {
		return err
	}
	got, err := read()
	if err != nil {
		return err
	}
	return compare(got, nil)
}

func ended(ctx context.Context, open Open) error {
	sink, read, err := open()
	if err != nil {
		return err
	}
	rows, err := Rows()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	call := receipt.CallID{Run: "r", Effect: "e"}
	if err := sink.Receipts(ctx, call, rows); err != nil {
		return fmt.Errorf("a caller that gave up loses its receipts: %w", err)
	}
	got, err := read()
	if err != nil {
		return err
	}
	return compare(got, want(call, rows))
}

func reuse(ctx context.Context, open Open) error {
	sink, read, err := open()
	if err != nil {
		return err
	}
	rows, err := Rows()
	if err != nil {
		return err
	}
	call := receipt.CallID{Run: "r", Effect: "e"}
	expected := want(call, rows)
	if err := sink.Receipts(ctx, call, rows); err != nil {
		return err
	}
	clear(rows)
	got, err := read()
	if err != nil {
		return err
	}
	return compare(got, expected)
}

func concurrent(ctx context.Context, open Open) error {
	sink, read, err := open()
	if err != nil {
		return err
	}
	rows, err := Rows()
	if err != nil {
		return err
	}
	const goroutines, calls = 8, 20
	errs := make([]error, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for c := range calls {
				call := receipt.CallID{Run: fmt.Sprint(g), Effect: fmt.Sprint(c)}
				errs[g] = errors.Join(errs[g], sink.Receipts(ctx, call, rows))
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	got, err := read()
	if err != nil {
		return err
	}
	if len(got) != goroutines*calls*len(rows) {
		return fmt.Errorf("expected %d records, found %d", goroutines*calls*len(rows), len(got))
	}
	var seen []string
	for block := range slices.Chunk(got, len(rows)) {
		var call receipt.CallID
		call.Run, call.Effect, _ = strings.Cut(block[0].CallID, "/")
		if err := compare(block, want(call, rows)); err != nil {
			return fmt.Errorf("the rows of a call are not together: %w", err)
		}
		if slices.Contains(seen, block[0].CallID) {
			return fmt.Errorf("call %s is there twice", block[0].CallID)
		}
		seen = append(seen, block[0].CallID)
	}
	return nil
}
