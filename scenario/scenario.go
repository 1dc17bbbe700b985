// Package scenario reads and runs *.test.yaml scenarios and conformance cases
// (LANGUAGE.md §19): a machine, a scripted world, and what is expected of it.
//
// Nothing here reaches a network, a clock or a tool that does something: the
// model, the tools and the hooks answer from the script alone. A scenario that
// cannot fail is a defect, so a missing expect, an unknown key in it, an unknown
// run parameter or a misspelt value fails the scenario, and a file without cases
// is an error.
//
//	c, err := scenario.LoadCase("repair.yaml", src)
//	rep, err := c.Run(ctx)
//	for _, m := range rep.Mismatches { fmt.Println(m) }
//
// A Case is immutable once loaded: running it twice gives the same.
package scenario

import (
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/llm/scripted"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/run"
	"github.com/pinfold-dev/pinfold/value"
)

// Case is one scenario with its machine.
type Case struct {
	Name        string
	Description string
	File        string
	Line        int

	// Machine and Registry come with a conformance case. Load leaves them to the
	// caller, who has read the machine that the scenarios are about.
	Machine  *mkl.Machine
	Registry engine.Registry

	// Problems are what is wrong with the scenario itself. A case that has any
	// fails and does not run.
	Problems []*Error

	script scripted.Script
	tools  []scriptedTool
	hooks  []scriptedHook
	inputs []value.Entry
	params params
	expect expect

	journal run.Journal // of the playing; for tests that need the records
}

type scriptedTool struct {
	name  string
	keyed bool
	outs  []scripted.Match // Key is unused unless keyed
}

type scriptedHook struct {
	name    string
	answers []bool
}

// Error is something wrong with a scenario file, with its place.
type Error struct {
	File         string
	Line, Column int
	Message      string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		if e.File == "" {
			return e.Message
		}
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// mismatch is the problem as one line of a report.
func (e *Error) mismatch() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Message)
}

// Errors is everything wrong with a file that could not be read as scenarios.
type Errors []*Error

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, x := range e {
		lines[i] = x.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the single errors.
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, x := range e {
		out[i] = x
	}
	return out
}
