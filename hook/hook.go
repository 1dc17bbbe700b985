// Package hook is the contract of hooks: pure predicates over a read-only
// blackboard (LANGUAGE.md §13).
//
// A fired hook means that host code chose, and clears the flow flag (TRUST.md
// §4). So a hook never changes anything, never asks a model, and never turns a
// failure into an answer: what it cannot decide is an error. Implementations
// must pass hooktest.
//
//	var small hook.Func = func(_ context.Context, board hook.View, _ trust.Value) (bool, error) {
//		v, _ := board.Get("amount")
//		n, ok := v.Value().AsInt()
//		return ok && n <= 100, nil
//	}
package hook

import (
	"context"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/trust"
)

// View is the blackboard a hook may read.
type View = engine.View

// Func answers whether a gate fires. output is the raw output of the state: a
// list for a fan-out, a value for a parsed one. An error or a panic is no
// answer: the run halts state-error: hook: ….
type Func func(ctx context.Context, board View, output trust.Value) (bool, error)
