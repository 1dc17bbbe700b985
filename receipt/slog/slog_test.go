package slog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	stdslog "log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/receipt"
	"github.com/pinfold-dev/pinfold/receipt/jsonl"
	"github.com/pinfold-dev/pinfold/receipt/receipttest"
	"github.com/pinfold-dev/pinfold/receipt/slog"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

func clock() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 789, time.UTC) }

// readBack makes records of what a JSON handler wrote.
func readBack(log string) ([]receipt.Record, error) {
	var all []receipt.Record
	for line := range strings.Lines(log) {
		v, err := value.ParseJSON([]byte(line))
		if err != nil {
			return nil, err
		}
		msg, _ := v.Get("msg")
		group, _ := v.Get("receipt")
		at, _ := v.Get("time")
		if s, _ := msg.AsString(); s != "receipt" {
			continue
		}
		var entries []value.Entry
		for i := range group.Len() {
			entries = append(entries, value.Entry{Key: group.Key(i), Value: group.At(i)})
		}
		r, err := jsonl.Parse([]byte(value.FromEntries(append(entries, value.Entry{Key: "time", Value: at})...).JSON()))
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// The names in the group are those of JSON Lines, or the lines would not parse.
func TestSuite(t *testing.T) {
	receipttest.Test(t, func() (receipt.Sink, func() ([]receipt.Record, error), error) {
		var log bytes.Buffer
		return slog.New(stdslog.NewJSONHandler(&log, nil), stdslog.LevelInfo, clock), func() ([]receipt.Record, error) { return readBack(log.String()) }, nil
	})
}

func prompt(t testing.TB, text string) (fence.Rendered, []fence.Row) {
	t.Helper()
	var p fence.Prompt
	p.User.Data("question", trust.External("host:q\nline", text))
	r, rows, err := fence.Render(p, func(n *[12]byte) error { copy(n[:], "0123456789ab"); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return r, rows
}

func TestNoTextAndOneLine(t *testing.T) {
	r, rows := prompt(t, "SECRET words")
	for _, handler := range []func(*bytes.Buffer) stdslog.Handler{
		func(b *bytes.Buffer) stdslog.Handler { return stdslog.NewJSONHandler(b, nil) },
		func(b *bytes.Buffer) stdslog.Handler { return stdslog.NewTextHandler(b, nil) },
	} {
		var log bytes.Buffer
		if err := receipt.Keep(t.Context(), slog.New(handler(&log), stdslog.LevelInfo, clock), receipt.CallID{Run: "r", Effect: "e"}, r, rows); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(log.String(), "SECRET") || strings.Contains(log.String(), "0123456789ab") || strings.Count(log.String(), "\n") != 2 || !strings.Contains(log.String(), "model call") {
			t.Errorf("%s", log.String())
		}
	}
}

// A receipt that nobody keeps is an error, and so is a handler that fails.
func TestFails(t *testing.T) {
	r, rows := prompt(t, "x")
	var log bytes.Buffer
	s := slog.New(stdslog.NewJSONHandler(&log, &stdslog.HandlerOptions{Level: stdslog.LevelWarn}), stdslog.LevelInfo, clock)
	if err := s.Receipts(t.Context(), receipt.CallID{}, rows); err == nil || !strings.Contains(err.Error(), "not enabled at level INFO") {
		t.Errorf("got %v", err)
	}
	if err := s.Call(t.Context(), receipt.CallID{}, r); err == nil {
		t.Error("a call nobody keeps")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := slog.New(failing{}, 0, clock).Receipts(ended, receipt.CallID{}, rows); err != nil {
		t.Errorf("a handler that heeds its context loses receipts: %v", err)
	}
	full := errors.New("full")
	if err := slog.New(failing{full}, 0, clock).Receipts(t.Context(), receipt.CallID{}, rows); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (failing) Enabled(context.Context, stdslog.Level) bool { return true }
func (f failing) Handle(ctx context.Context, _ stdslog.Record) error {
	return errors.Join(ctx.Err(), f.err)
}
func (f failing) WithAttrs([]stdslog.Attr) stdslog.Handler { return f }
func (f failing) WithGroup(string) stdslog.Handler         { return f }

func ExampleNew() {
	handler := stdslog.NewTextHandler(os.Stdout, &stdslog.HandlerOptions{ReplaceAttr: func(groups []string, a stdslog.Attr) stdslog.Attr {
		for _, shown := range []string{"msg", "channel", "trust", "fenced"} {
			if a.Key == shown {
				return a
			}
		}
		return stdslog.Attr{}
	}})
	var p fence.Prompt
	p.User.Put(fence.Part{Channel: "page", Kind: "lane", Data: trust.External("web:x", "text"), Trust: "retrieved"})
	_, rows, err := fence.Render(p, func(n *[12]byte) error { copy(n[:], "0123456789ab"); return nil })
	if err != nil {
		panic(err)
	}
	sink := slog.New(handler, stdslog.LevelInfo, time.Now)
	fmt.Println(sink.Receipts(context.Background(), receipt.CallID{Run: "r1", Effect: "ask"}, rows))
	// Output:
	// msg=receipt receipt.channel=page receipt.trust=retrieved receipt.fenced=true
	// <nil>
}
