// Package tool is the contract of tools: a map of labelled values in, an
// observation out.
package tool

import (
	"context"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// Observation is what a tool saw. A structured Value becomes its JSON text.
type Observation struct {
	Value value.Value
	Label trust.Label // of a tool declared labelled; ignored otherwise
}

// Func is a tool. An error halts the run: state-error: ‹message›.
type Func func(ctx context.Context, args []engine.Arg) (Observation, error)

// Tool is a registration: the function with what the policy table must know.
type Tool struct {
	Name        string
	Description string
	Policy      policy.Tool
	Func        Func
}
