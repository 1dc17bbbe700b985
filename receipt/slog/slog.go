// Package slog gives receipts to a log/slog handler, one log record a row, and one a
// call where receipt.Keep is used.
//
// What a row says stands in the group receipt, under the names that receipt/jsonl
// writes; the text of a value is never in it. Channels and origins are names, and may be
// chosen by whoever names them: the handler escapes them, as slog's own do.
//
//	sink := slog.New(logger.Handler(), slog.LevelInfo, time.Now)
//
// The package never filters: a handler that is not enabled at the sink's level makes the
// sink fail, since a receipt that nobody keeps is none.
package slog

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/receipt"
)

// Sink gives receipts to one handler. It is safe for concurrent use, and keeps the rows
// of a call together among its own records.
type Sink struct {
	handler slog.Handler
	level   slog.Level
	now     func() time.Time
	mu      sync.Mutex
}

var _ receipt.CallSink = (*Sink)(nil)

// New gives receipts to h at a level, with the time of now.
func New(h slog.Handler, level slog.Level, now func() time.Time) *Sink {
	return &Sink{handler: h, level: level, now: now}
}

// The messages of the log records.
const (
	rowMessage  = "receipt"
	callMessage = "model call"
)

// Receipts logs one record a row, also when ctx has ended. A handler that is not enabled
// at the sink's level, or that fails, is an error.
func (s *Sink) Receipts(ctx context.Context, call receipt.CallID, rows []fence.Row) error {
	at := s.now()
	records := receipt.NewRecords(call, rows, at) // digests outside the lock
	all := make([]slog.Record, len(records))
	for i := range records {
		all[i] = slog.NewRecord(at, s.level, rowMessage, 0)
		all[i].AddAttrs(group(&records[i]))
	}
	return s.handle(ctx, all)
}

// Call logs one record on the whole call, as Receipts does.
func (s *Sink) Call(ctx context.Context, call receipt.CallID, r fence.Rendered) error {
	at := s.now()
	c := receipt.NewCall(call, r, at)
	prefix := make([]string, len(c.Prefix))
	for i, m := range c.Prefix {
		prefix[i] = fmt.Sprintf("%d:%s", m.Bytes, m.SHA256)
	}
	record := slog.NewRecord(at, s.level, callMessage, 0)
	record.AddAttrs(slog.Group("receipt", slog.String("call_id", c.CallID), slog.Int("system_bytes", c.SystemBytes),
		slog.Int("user_bytes", c.UserBytes), slog.Any("prefix", prefix)))
	return s.handle(ctx, []slog.Record{record})
}

func (s *Sink) handle(ctx context.Context, all []slog.Record) error {
	ctx = context.WithoutCancel(ctx)
	if !s.handler.Enabled(ctx, s.level) {
		return fmt.Errorf("receipts: the log handler is not enabled at level %v, and would keep none", s.level)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range all {
		if err := s.handler.Handle(ctx, r); err != nil {
			return fmt.Errorf("receipts: %w", err)
		}
	}
	return nil
}

func group(r *receipt.Record) slog.Attr {
	budget := slog.Any("budget", nil)
	if r.Budget.Set {
		budget = slog.Group("budget", slog.Int("max", r.Budget.Max), slog.String("unit", r.Budget.Unit.String()))
	}
	return slog.Group("receipt",
		slog.String("channel", r.Channel),
		slog.String("kind", r.Kind),
		slog.String("origin", r.Origin),
		slog.String("trust", r.Trust),
		slog.Bool("fenced", r.Fenced),
		slog.String("level", r.Level),
		slog.Bool("authoritative", r.Authoritative),
		slog.Bool("admitted", r.Admitted),
		slog.Bool("required", r.Required),
		slog.String("fence_style", r.FenceStyle),
		slog.String("banner", r.Banner),
		slog.Int("bytes_in", r.BytesIn),
		slog.Int("bytes_out", r.BytesOut),
		budget,
		slog.Bool("truncated", r.Truncated),
		slog.Bool("dropped", r.Dropped),
		slog.Bool("altered", r.Altered),
		slog.Int("invisible", r.Invisible),
		slog.Int("position", r.Position),
		slog.String("sha256", r.SHA256),
		slog.String("call_id", r.CallID),
	)
}
