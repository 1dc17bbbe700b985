// Package hook is the contract of hooks: pure predicates over a read-only blackboard.
package hook

import (
	"context"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/trust"
)

// View is the blackboard a hook may read.
type View = engine.View

// Func answers whether a gate fires. An error or a panic is no answer: the run
// halts state-error: hook: ….
type Func func(ctx context.Context, board View, output trust.Value) (bool, error)
