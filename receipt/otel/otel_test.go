package otel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/receipt"
	"github.com/pinfold-dev/pinfold/receipt/otel"
	"github.com/pinfold-dev/pinfold/receipt/receipttest"
	"github.com/pinfold-dev/pinfold/trust"
)

func clock() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 789, time.UTC) }

// start starts a span of the real SDK.
func start(t testing.TB, o ...sdk.TracerProviderOption) (context.Context, sdk.ReadOnlySpan, trace.Span) {
	t.Helper()
	limits := sdk.NewSpanLimits()
	limits.EventCountLimit = -1
	p := sdk.NewTracerProvider(append(o, sdk.WithRawSpanLimits(limits), sdk.WithSpanProcessor(tracetest.NewSpanRecorder()))...)
	ctx, span := p.Tracer("test").Start(context.Background(), "call")
	ro, _ := span.(sdk.ReadOnlySpan)
	return ctx, ro, span
}

// record is what an event says.
func record(e sdk.Event) (r receipt.Record, err error) {
	at := map[string]attribute.Value{}
	for _, a := range e.Attributes {
		at[strings.TrimPrefix(string(a.Key), otel.RowEvent+".")] = a.Value
	}
	str := func(k string) string { return at[k].AsString() }
	is := func(k string) bool { return at[k].AsBool() }
	num := func(k string) int { return int(at[k].AsInt64()) }
	r = receipt.Record{Channel: str("channel"), Kind: str("kind"), Origin: str("origin"), Trust: str("trust"), Fenced: is("fenced"), Level: str("level"),
		Authoritative: is("authoritative"), Admitted: is("admitted"), Required: is("required"), FenceStyle: str("fence_style"), Banner: str("banner"),
		BytesIn: num("bytes_in"), BytesOut: num("bytes_out"), Truncated: is("truncated"), Dropped: is("dropped"), Altered: is("altered"), Invisible: num("invisible"),
		Position: num("position"), SHA256: str("sha256"), CallID: str("call_id"), Time: e.Time}
	if _, ok := at["budget.max"]; ok {
		r.Budget = fence.Budget{Set: true, Max: num("budget.max")}
		for r.Budget.Unit.String() != str("budget.unit") {
			if r.Budget.Unit++; r.Budget.Unit > fence.Tokens {
				return r, fmt.Errorf("unit %q", str("budget.unit"))
			}
		}
	}
	return r, nil
}

func TestSuite(t *testing.T) {
	ctx, ro, span := start(t)
	defer span.End()
	if err := receipttest.Check(ctx, func() (receipt.Sink, func() ([]receipt.Record, error), error) {
		before := len(ro.Events())
		return otel.New(clock), func() ([]receipt.Record, error) {
			var all []receipt.Record
			for _, e := range ro.Events()[before:] {
				r, err := record(e)
				if err != nil || e.Name != otel.RowEvent {
					return nil, fmt.Errorf("%s: %v", e.Name, err)
				}
				all = append(all, r)
			}
			return all, nil
		}, nil
	}); err != nil {
		t.Error(err)
	}
}

func prompt(t testing.TB) (fence.Rendered, []fence.Row) {
	t.Helper()
	var p fence.Prompt
	p.User.Data("question", trust.External("host:q", "SECRET words"))
	r, rows, err := fence.Render(p, func(n *[12]byte) error { copy(n[:], "0123456789ab"); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return r, rows
}

func TestKeep(t *testing.T) {
	ctx, ro, span := start(t)
	defer span.End()
	r, rows := prompt(t)
	if err := receipt.Keep(ctx, otel.New(clock), receipt.CallID{Run: "r", Effect: "e"}, r, rows); err != nil {
		t.Fatal(err)
	}
	events := ro.Events()
	if len(events) != 2 || events[0].Name != otel.RowEvent || events[1].Name != otel.CallEvent || !events[1].Time.Equal(clock()) {
		t.Fatalf("%+v", events)
	}
	if s := fmt.Sprintf("%+v", events); strings.Contains(s, "SECRET") || strings.Contains(s, "0123456789ab") {
		t.Errorf("a value or a nonce: %s", s)
	}
}

// Where no span records nothing is kept, and that is an error unless it was said that
// it is none.
func TestNotRecording(t *testing.T) {
	r, rows := prompt(t)
	sampledOut, _, span := start(t, sdk.WithSampler(sdk.NeverSample()))
	defer span.End()
	for _, ctx := range []context.Context{context.Background(), sampledOut} {
		if err := receipt.Keep(ctx, otel.New(clock), receipt.CallID{}, r, rows); !errors.Is(err, otel.ErrNotRecording) {
			t.Errorf("got %v", err)
		}
		lossy := otel.New(clock)
		lossy.Lossy = true
		if err := receipt.Keep(ctx, lossy, receipt.CallID{}, r, rows); err != nil {
			t.Errorf("lossy: %v", err)
		}
	}
}
