// Package llm is the door to a model: an interface that takes what
// fence.Render made and nothing else.
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
	Reasoning    string
	Usage        engine.Usage
	Truncated    bool
	FinishReason string
	Dropped      []string // parameters that the provider refused
	Forced       bool     // a judge that could not be offered "none of these"
}

// Model is one door. No method takes a string. Implementations are safe for
// concurrent use and must pass llmtest.
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
