package engine_test

import (
	"fmt"
	"testing"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

func TestRecordsReadBack(t *testing.T) {
	id := engine.EffectID{Path: "a/b#1[2]/c", State: "st:a[te", Visit: 3, Branch: 4, Phase: engine.PhaseJudge, Seq: 5}
	usage := engine.Usage{Input: 1, Output: 2, Estimated: true}
	results := []engine.Result{
		engine.Produced{Text: "t\x00é", Reasoning: "r", Usage: usage, Truncated: true, FinishReason: "length"},
		engine.Produced{},
		engine.Judged{Reply: `{"choice": 1}`, Model: "m", Usage: usage, Forced: true, Truncated: true},
		engine.Observed{Value: value.FromList(value.FromInt(1), value.FromString("x")), Label: trust.From("tool:x").WithSecrecy("pii")},
		engine.Observed{},
		engine.Answered{True: true, Parametric: true},
		engine.Answered{},
		engine.Failed{Kind: engine.FailInternal, Message: "m", Reasoning: "r", Model: "m", Usage: usage},
	}
	for _, res := range results {
		for _, branch := range []int32{-1, 0, 7} {
			id.Branch = branch
			rec := engine.Record{Kind: engine.RecordResult, ID: id, Result: res, Reads: []engine.Read{{Key: "k", Version: 9}}}
			wire, err := value.ParseJSON([]byte(rec.Value().JSON()))
			if err != nil {
				t.Fatal(err)
			}
			got, err := engine.RecordOf(wire)
			if err != nil {
				t.Fatal(err)
			}
			if got.ID != id || fmt.Sprintf("%#v", got.Reads) != fmt.Sprintf("%#v", rec.Reads) || got.Value().JSON() != rec.Value().JSON() {
				t.Errorf("%s\nread back as\n%s", rec.Value().JSON(), got.Value().JSON())
			}
		}
	}
	place := engine.EffectID{Path: "a", Branch: -1}
	for _, rec := range []engine.Record{
		{Kind: engine.RecordStarted, ID: id, Tool: "pay", Digest: "00ff"},
		{Kind: engine.RecordResumed, ID: place},
		{Kind: engine.RecordResumed, ID: place, Forced: []string{"effect-repeated"}, By: "somebody"},
		{Kind: engine.RecordAnswered, ID: place, Approval: "id-0", Approved: true, By: "somebody"},
		{Kind: engine.RecordAnswered, ID: place, Approval: "id-0"},
	} {
		got, err := engine.RecordOf(rec.Value())
		if err != nil || fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", rec) {
			t.Errorf("%#v read back as %#v, %v", rec, got, err)
		}
	}
	for _, bad := range []string{`{"kind": "answered", "id": {"path": "a", "phase": "produce"}, "approval": "id-0"}`, `{}`, `{"kind": "result"}`, `{"kind": "other", "id": {}}`,
		`{"kind": "result", "id": {"path": "p", "state": "s", "visit": 1, "phase": "tool"}, "result": {"type": "odd"}}`,
		`{"kind": "result", "id": {"path": "p", "state": "s", "visit": -1, "phase": "tool"}, "result": {"type": "answered"}}`,
		`{"kind": "started", "id": {"path": "p", "state": "s", "visit": 1, "phase": "tool"}}`, `null`, `[]`} {
		v, err := value.ParseJSON([]byte(bad))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := engine.RecordOf(v); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

// A label that a journal claims for a tool's observation never raises it.
func TestJournalDoesNotRaise(t *testing.T) {
	v, err := value.ParseJSON([]byte(`{"kind": "result", "id": {"path": "p", "state": "s", "visit": 1, "phase": "tool"},
		"result": {"type": "observed", "value": "x", "label": {"level": "author", "sources": [], "secrecy": []}}}`))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := engine.RecordOf(v)
	if err != nil {
		t.Fatal(err)
	}
	if got := rec.Result.(engine.Observed).Label.Level(); got != trust.LevelExternal {
		t.Errorf("level %s", got)
	}
}
