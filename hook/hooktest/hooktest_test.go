package hooktest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/pinfold-dev/pinfold/hook"
	"github.com/pinfold-dev/pinfold/hook/hooktest"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

func TestBoardHoldsItsEntries(t *testing.T) {
	board := hooktest.Board(value.FromEntries(
		value.Entry{Key: "a", Value: value.FromInt(1)},
		value.Entry{Key: "a.b", Value: value.FromString("x")},
	))
	for key, want := range map[string]string{"a": "1", "a.b": `"x"`} {
		v, ok := board.Get(key)
		if !ok || v.Value().JSON() != want || !v.Label().External() {
			t.Errorf("%s: %s %v %v", key, v.Value().JSON(), v.Label(), ok)
		}
	}
	if _, ok := board.Get("c"); ok {
		t.Error("holds what nobody put there")
	}
}

// The suite rejects what is no hook.
func TestCheckRejects(t *testing.T) {
	var calls atomic.Int64
	for name, f := range map[string]hook.Func{
		"no function": nil,
		"impure":      func(context.Context, hook.View, trust.Value) (bool, error) { return calls.Add(1)%2 == 0, nil },
		"panics on a list": func(_ context.Context, _ hook.View, out trust.Value) (bool, error) {
			if out.Value().Kind() == value.List {
				panic("a list")
			}
			return false, nil
		},
		"panics on a key": func(_ context.Context, b hook.View, _ trust.Value) (bool, error) {
			if v, _ := b.Get("k"); v.Value().Kind() == value.Map {
				panic("a map")
			}
			return false, nil
		},
		"fires with an error": func(context.Context, hook.View, trust.Value) (bool, error) { return true, errors.New("x") },
	} {
		if err := hooktest.Check(t.Context(), f, "k"); err == nil {
			t.Errorf("%s: passes", name)
		}
	}
	sound := func(_ context.Context, b hook.View, _ trust.Value) (bool, error) {
		_, ok := b.Get("k")
		return ok, nil
	}
	if err := hooktest.Check(t.Context(), sound, "k"); err != nil {
		t.Errorf("a sound hook: %v", err)
	}
	failing := func(context.Context, hook.View, trust.Value) (bool, error) { return false, errors.New("no answer") }
	if err := hooktest.Check(t.Context(), failing); err != nil {
		t.Errorf("a hook that has no answer may say so: %v", err)
	}
}
