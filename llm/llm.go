// Package llm is the door to a model: an interface that takes what
// fence.Render made and nothing else.
//
// No method takes a string, so no caller can hand a model text that has not
// been through the renderer and left a receipt. The package never opens a
// connection and never reads a reply for meaning: adapters (llm/openai,
// llm/scripted) carry, package engine reads. Every adapter must pass llmtest.
//
//	rendered, rows, err := fence.Render(prompt, nonces)
//	// keep rows, then
//	reply, err := model.Produce(ctx, rendered, llm.Options{Model: "m", Temperature: 0.4})
package llm

import (
	"context"
	"fmt"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/fence"
)

// Options of one call.
type Options struct {
	Model       string // provider's model id
	Temperature float64
	Reason      bool           // ask for the provider's own reasoning
	Params      map[string]any // tier params, produce only
	JSON        bool           // a wish for a JSON reply, judge only
}

// Reply is what came back. Usage is set with errors too.
type Reply struct {
	Text         string
	Reasoning    string // "" unless Options.Reason
	Usage        engine.Usage
	Truncated    bool     // stopped at a length limit
	FinishReason string   // the provider's own label, "" when it gave none
	Dropped      []string // parameters that the provider refused
	Forced       bool     // a judge that could not be offered "none of these"
}

// Model is one door. No method takes a string. Implementations are safe for
// concurrent use and must pass llmtest. A non-nil error is an *Error; the
// Reply that comes with it carries the usage (LANGUAGE.md §9).
type Model interface {
	Produce(ctx context.Context, p fence.Rendered, o Options) (Reply, error)
	Judge(ctx context.Context, p fence.Rendered, o Options) (Reply, error)
}

// ErrorKind of an Error.
type ErrorKind uint8

const (
	KindProvider ErrorKind = iota
	KindRefusal
	KindCancelled
	KindScript // a scripted model has no text for this prompt: the scenario fails
)

// String names the kind: provider, refusal, cancelled, script.
func (k ErrorKind) String() string {
	switch k {
	case KindProvider:
		return "provider"
	case KindRefusal:
		return "refusal"
	case KindCancelled:
		return "cancelled"
	case KindScript:
		return "script"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Error is a typed failure of a call.
type Error struct {
	Kind    ErrorKind
	Message string // the provider's own message, one line; never a key
	Status  int    // HTTP status, 0 where there is none
	Err     error
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s (status %d)", e.Message, e.Status)
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }
