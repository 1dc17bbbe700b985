// Package receipt is the contract of receipt sinks: rows leave the hot path as
// the renderer wrote them; a sink computes digests, joins the call id, writes.
package receipt

import (
	"context"

	"github.com/pinfold-dev/pinfold/fence"
)

// CallID names one model call: the run id and the effect's canonical text.
type CallID struct{ Run, Effect string }

// Sink takes the rows of one call. It is safe for concurrent use.
type Sink interface {
	Receipts(ctx context.Context, call CallID, rows []fence.Row) error
}
