package store

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
	"pgregory.net/rapid"
)

// anyRecord draws a record of any kind that the engine knows.
func anyRecord() *rapid.Generator[engine.Record] {
	return rapid.Custom(func(t *rapid.T) engine.Record {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", `"`, `\`, `\"}`, "}", "{", `"}, "`, "\x00", "\n"}))
		r := engine.Record{
			Kind: rapid.Custom(kind).Draw(t, "kind"),
			ID:   engine.EffectID{Path: "m" + text.Draw(t, "path"), State: text.Draw(t, "state"), Visit: rapid.Int32Min(0).Draw(t, "visit"), Branch: rapid.Int32Min(-1).Draw(t, "branch"), Phase: engine.PhaseHook, Seq: rapid.Int32Min(0).Draw(t, "seq")},
			Tool: text.Draw(t, "tool"), Digest: "00", Key: text.Draw(t, "key"), Label: trust.From("tool:t"), Approval: text.Draw(t, "approval"), Approved: true, Forced: []string{"a"},
			Step: &engine.TraceStep{State: text.Draw(t, "step"), Output: text.Draw(t, "output")}, Outcome: engine.Halted{Reason: text.Draw(t, "reason")},
			Result: engine.Produced{Text: text.Draw(t, "text"), Truncated: true},
		}
		return r
	})
}

// kind is every kind that has a word.
func kind(t *rapid.T) engine.RecordKind {
	n := engine.RecordKind(0)
	for !strings.HasPrefix((n + 1).String(), "RecordKind(") {
		n++
	}
	return engine.RecordKind(rapid.Uint8Max(uint8(n)).Draw(t, "n"))
}

// What is left unread is what engine.RecordOf does not read.
func TestParseRecord(t *testing.T) {
	kinds := map[engine.RecordKind]bool{}
	rapid.Check(t, func(t *rapid.T) {
		r := anyRecord().Draw(t, "record")
		kinds[r.Kind] = true
		b, err := AppendRecord([]byte("x"), &r)
		if err != nil {
			t.Fatal(err)
		}
		b = b[1:]
		got, err := ParseRecord(b)
		if err != nil {
			t.Fatal(err)
		}
		v, err := value.ParseJSON(b)
		if err != nil {
			t.Fatal(err)
		}
		if v.JSON() != r.Value().JSON() || strings.ContainsRune(string(b), '\n') {
			t.Fatalf("expected %s, found %s", r.Value().JSON(), b)
		}
		want, err := engine.RecordOf(v)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("expected %+v, found %+v, %v", want, got, err)
		}
	})
	if len(kinds) < 7 {
		t.Errorf("the property saw %d kinds", len(kinds))
	}
}

// A record cut anywhere is no record, but for those that nobody reads whole: they
// are none without their last brace.
func TestCutRecord(t *testing.T) {
	for _, r := range []engine.Record{
		{Kind: engine.RecordStep, ID: engine.EffectID{Path: "m{}", State: `"}`}, Step: &engine.TraceStep{Output: "text"}},
		{Kind: engine.RecordStarted, ID: engine.EffectID{Path: "m", State: "s"}, Tool: "t"},
	} {
		b, err := AppendRecord(nil, &r)
		if err != nil {
			t.Fatal(err)
		}
		for n := range len(b) {
			if _, err := ParseRecord(b[:n]); err == nil && !(r.Kind == engine.RecordStep && b[n-1] == '}' && n > kindAndID(b)) {
				t.Errorf("%s is read as a record", b[:n])
			}
		}
	}
}

func TestRecordError(t *testing.T) {
	v := value.FromInt(1)
	for range 2 * value.MaxDepth {
		v = value.FromList(v)
	}
	r := engine.Record{Kind: engine.RecordResult, ID: engine.EffectID{Path: "m", State: "s"}, Result: engine.Observed{Value: v}}
	b, err := AppendRecord([]byte("kept"), &r)
	var bad *RecordError
	if !errors.As(err, &bad) || bad.ID != r.ID || !errors.Is(err, value.ErrDepth) || string(b) != "kept" {
		t.Errorf("%q, %v", b, err)
	}
	// What nobody reads may be nested as it likes: a run's end is always recorded.
	r = engine.Record{Kind: engine.RecordOutcome, ID: engine.EffectID{Path: "m"}, Outcome: engine.Done{Result: trust.NewValue(v, trust.From("tool:t"))}}
	if _, err := AppendRecord(nil, &r); err != nil {
		t.Error(err)
	}
	if _, err := ParseRecord([]byte(`{"kind": "step", "id": {"path": ""}}`)); err == nil {
		t.Error("a step without a path is a record")
	}
}

func BenchmarkParseRecord(b *testing.B) {
	for _, kind := range []engine.RecordKind{engine.RecordResult, engine.RecordStep} {
		r := engine.Record{Kind: kind, ID: engine.EffectID{Path: "m", State: "s", Visit: 1}, Result: engine.Produced{Text: strings.Repeat("words ", 50)}, Step: &engine.TraceStep{Output: strings.Repeat("words ", 50)}}
		line, err := AppendRecord(nil, &r)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(kind), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseRecord(line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
