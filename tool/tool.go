// Package tool is the contract of tools: a map of labelled values in, an
// observation out (LANGUAGE.md §12).
//
// A tool never decides whether it may run: package policy does, from the
// declaration beside the function, before the effect leaves the core. What a
// tool returns is outside data whatever it says (TRUST.md §2). Implementations
// must pass tooltest.
//
//	var echo = tool.Tool{
//		Name:   "echo",
//		Policy: policy.Tool{Class: policy.Read, Local: true},
//		Func: func(_ context.Context, args []engine.Arg) (tool.Observation, error) {
//			v, _ := tool.Find(args, "text")
//			return tool.Observation{Value: v.Value()}, nil
//		},
//	}
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

// Func is a tool. An error halts the run: state-error: ‹message›. It must not
// keep or change args, and ends soon after ctx does.
type Func func(ctx context.Context, args []engine.Arg) (Observation, error)

// Tool is a registration: the function with what the policy table must know.
type Tool struct {
	Name        string
	Description string
	Policy      policy.Tool
	Func        Func
}

// Find is the value of the argument of that name.
func Find(args []engine.Arg, name string) (trust.Value, bool) {
	for i := range args {
		if args[i].Name == name {
			return args[i].Value, true
		}
	}
	return trust.Value{}, false
}
