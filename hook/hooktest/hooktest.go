// Package hooktest is the suite that every hook must pass (LANGUAGE.md §13),
// and makes the blackboards that a hook's own tests need.
//
// It checks that a hook is what its contract calls it, pure: the same board and
// output give the same answer, in any order and from several goroutines, and
// nothing panics, whatever kind of value stands where another was expected. It
// never decides whether the answer is right.
//
//	hooktest.Test(t, small)
//	fires, err := small(ctx, hooktest.Board(value.FromEntries(…)), trust.Value{})
package hooktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/hook"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// Board is a blackboard that holds the entries of a map, all of them External.
// It panics when the map cannot be a run's input.
func Board(entries value.Value) hook.View {
	in := engine.Inputs{}
	for i := range entries.Len() {
		in[entries.Key(i)] = trust.NewValue(entries.At(i), trust.From("host:"+entries.Key(i)))
	}
	program, err := engine.Compile(machine(), engine.Machines{})
	if err != nil {
		panic(fmt.Sprintf("hooktest: %v", err))
	}
	run, err := engine.New(program, in, engine.Options{})
	if err != nil {
		panic(fmt.Sprintf("hooktest: %v", err))
	}
	return run.Context()
}

// machine is the smallest one: a board needs a run to belong to.
func machine() *mkl.Machine {
	return &mkl.Machine{
		Name: "board", Entry: "s", Budget: 1, DefaultTier: mkl.Balanced,
		States: []mkl.State{{
			ID: "s", Kind: mkl.Generative, Prompt: &mkl.Template{}, Output: "out",
			Gates: []mkl.Gate{{When: trust.Const("otherwise"), Policy: mkl.PolicyOK, To: mkl.End, HasTo: true}},
		}},
	}
}

// Test runs the suite and reports what Check finds.
func Test(t *testing.T, f hook.Func, keys ...string) {
	t.Helper()
	if err := Check(t.Context(), f, keys...); err != nil {
		t.Error(err)
	}
}

// Check runs the suite over boards and outputs of all kinds, with keys, the
// names of the keys that the hook reads, set to each of them in turn. Its error
// joins everything that breaks the contract.
func Check(ctx context.Context, f hook.Func, keys ...string) error {
	if f == nil {
		return errors.New("hooktest: no function")
	}
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("hooktest: "+format, args...)) }

	boards := []named{{"empty", Board(value.FromEntries())}}
	for _, key := range keys {
		for _, k := range kinds() {
			boards = append(boards, named{key + "=" + k.name, Board(value.FromEntries(value.Entry{Key: key, Value: k.value}))})
		}
	}
	for _, b := range boards {
		for _, k := range kinds() {
			out := trust.NewValue(k.value, trust.From("tool:x"))
			first, err := ask(ctx, f, b.board, out)
			second, again := ask(ctx, f, b.board, out)
			switch {
			case errors.Is(err, errPanic):
				fault("board %s, output %s: %w", b.name, k.name, err)
			case first != second || (err == nil) != (again == nil):
				fault("board %s, output %s: %v (%v), then %v (%v)", b.name, k.name, first, err, second, again)
			case first && err != nil:
				fault("board %s, output %s: fires with an error: %w", b.name, k.name, err)
			}
		}
	}

	var wg sync.WaitGroup
	want, _ := ask(ctx, f, boards[0].board, trust.Value{})
	differ := make([]bool, 8)
	for i := range differ {
		wg.Go(func() {
			for range 16 {
				if got, _ := ask(ctx, f, boards[0].board, trust.Value{}); got != want {
					differ[i] = true
				}
			}
		})
	}
	wg.Wait()
	if slices.Contains(differ, true) {
		fault("concurrent calls differ from %v", want)
	}
	return errors.Join(faults...)
}

type named struct {
	name  string
	board hook.View
}

var errPanic = errors.New("panic")

func ask(ctx context.Context, f hook.Func, board hook.View, out trust.Value) (fires bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			fires, err = false, fmt.Errorf("%w: %v", errPanic, r)
		}
	}()
	return f(ctx, board, out)
}

type kind struct {
	name  string
	value value.Value
}

func kinds() []kind {
	half, _ := value.FromFloat(0.5) // finite
	text := value.FromString
	return []kind{
		{"null", value.Value{}}, {"true", value.FromBool(true)}, {"false", value.FromBool(false)},
		{"0", value.FromInt(0)}, {"101", value.FromInt(101)}, {"half", half},
		{"empty text", text("")}, {"text", text("full")}, {"number text", text(" 100 ")}, {"odd text", text("1e999")},
		{"JSON text", text(`{"error": "x", "written": false, "tool": "list_workspace"}`)}, {"broken JSON", text(`{"error": `)},
		{"list", value.FromList(text("a"), value.FromInt(1))}, {"empty list", value.FromList()},
		{"list of JSON", value.FromList(text(`{"tool": "list_workspace"}`), value.Value{})},
		{"map", value.FromEntries(value.Entry{Key: "error", Value: text("x")}, value.Entry{Key: "written", Value: text("no")})},
		{"empty map", value.FromEntries()},
	}
}
