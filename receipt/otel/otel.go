// Package otel gives receipts to OpenTelemetry: one event a row on the span of the
// call's context, and one a call where receipt.Keep is used.
//
// The attributes have the names that receipt/jsonl writes, behind pinfold.receipt and a
// dot; the text of a value is never in one. Channels and origins are names, and may be
// chosen by whoever names them.
//
//	ctx, span := tracer.Start(ctx, "answer")
//	defer span.End()
//	err := receipt.Keep(ctx, otel.New(time.Now), call, rendered, rows)
//
// It is a module of its own, so that a program that does not use OpenTelemetry has none
// of it among its dependencies. The package imports the tracing interface alone; which
// SDK is behind it, what it samples and where it exports to is the program's.
//
// # Limits
//
// A span that does not record takes no receipts: the sink fails, unless it is Lossy. An
// SDK's own limits (128 events a span, where nobody sets more) drop events without
// telling anybody: raise them, or keep receipts in a file beside the traces.
package otel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/receipt"
)

// Sink gives receipts to the span of the context. It is safe for concurrent use, and
// keeps the rows of a call together among its own events.
type Sink struct {
	// Lossy takes it that spans which do not record, those that were sampled out among
	// them, have no receipts. Set it before the first use.
	Lossy bool

	now func() time.Time
	mu  sync.Mutex
}

var _ receipt.CallSink = (*Sink)(nil)

// New gives events the time of now.
func New(now func() time.Time) *Sink { return &Sink{now: now} }

// The names of the events.
const (
	RowEvent  = "pinfold.receipt"
	CallEvent = "pinfold.call"
)

// ErrNotRecording is what a sink that is not Lossy gives when the context has no span
// that records.
var ErrNotRecording = errors.New("receipts: the context has no span that records, and the receipts would be lost")

// Receipts adds one event a row, also when ctx has ended.
func (s *Sink) Receipts(ctx context.Context, call receipt.CallID, rows []fence.Row) error {
	span, ok, err := s.span(ctx)
	if !ok || len(rows) == 0 {
		return err
	}
	at := s.now()
	records := receipt.NewRecords(call, rows, at) // digests outside the lock
	all := make([]trace.EventOption, len(records))
	for i := range records {
		all[i] = trace.WithAttributes(attributes(&records[i])...)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, attrs := range all {
		span.AddEvent(RowEvent, attrs, trace.WithTimestamp(at))
	}
	return nil
}

// Call adds one event on the whole call.
func (s *Sink) Call(ctx context.Context, call receipt.CallID, r fence.Rendered) error {
	span, ok, err := s.span(ctx)
	if !ok {
		return err
	}
	at := s.now()
	c := receipt.NewCall(call, r, at)
	prefix := make([]string, len(c.Prefix))
	for i, m := range c.Prefix {
		prefix[i] = fmt.Sprintf("%d:%s", m.Bytes, m.SHA256)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	span.AddEvent(CallEvent, trace.WithTimestamp(at), trace.WithAttributes(
		attribute.String(CallEvent+".call_id", c.CallID), attribute.Int(CallEvent+".system_bytes", c.SystemBytes),
		attribute.Int(CallEvent+".user_bytes", c.UserBytes), attribute.StringSlice(CallEvent+".prefix", prefix)))
	return nil
}

func (s *Sink) span(ctx context.Context) (trace.Span, bool, error) {
	span := trace.SpanFromContext(ctx)
	if span.IsRecording() {
		return span, true, nil
	}
	if s.Lossy {
		return nil, false, nil
	}
	return nil, false, ErrNotRecording
}

func attributes(r *receipt.Record) []attribute.KeyValue {
	const in = RowEvent + "."
	all := []attribute.KeyValue{
		attribute.String(in+"channel", r.Channel),
		attribute.String(in+"kind", r.Kind),
		attribute.String(in+"origin", r.Origin),
		attribute.String(in+"trust", r.Trust),
		attribute.Bool(in+"fenced", r.Fenced),
		attribute.String(in+"level", r.Level),
		attribute.Bool(in+"authoritative", r.Authoritative),
		attribute.Bool(in+"admitted", r.Admitted),
		attribute.Bool(in+"required", r.Required),
		attribute.String(in+"fence_style", r.FenceStyle),
		attribute.String(in+"banner", r.Banner),
		attribute.Int(in+"bytes_in", r.BytesIn),
		attribute.Int(in+"bytes_out", r.BytesOut),
		attribute.Bool(in+"truncated", r.Truncated),
		attribute.Bool(in+"dropped", r.Dropped),
		attribute.Bool(in+"altered", r.Altered),
		attribute.Int(in+"invisible", r.Invisible),
		attribute.Int(in+"position", r.Position),
		attribute.String(in+"sha256", r.SHA256),
		attribute.String(in+"call_id", r.CallID),
	}
	if r.Budget.Set {
		all = append(all, attribute.Int(in+"budget.max", r.Budget.Max), attribute.String(in+"budget.unit", r.Budget.Unit.String()))
	}
	return all
}
