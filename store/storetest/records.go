package storetest

import (
	"context"
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/store"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// odd are texts that some store somewhere has changed, cut, or refused: NUL and
// other controls, line ends of every kind, quotes and braces that look like a
// file's own, byte order marks, invisible characters, text that does not
// normalise to itself, nothing at all.
var odd = []string{
	"", " ", "\x00", "W\x00s\x00l", "end\x00", "\n", "\r\n", "a\nb\n", "\u2028\u2029\u0085", "\x1b[31m\x7f",
	`"`, `\`, `\u0000`, `"}` + "\n" + `{"seq": 0`, "'; DROP TABLE journal; --", "%s%00", "\uFEFFx", "x\u200b\u202Ey",
	"e\u0301\u00e9", "日本語 🧵", "\U0010FFFF", "\uFFFD", strings.Repeat("long ", 4_000),
}

func produced(n int, text string) engine.Record {
	return engine.Record{
		Kind:   engine.RecordResult,
		ID:     engine.EffectID{Path: "m", State: "s", Visit: int32(n), Branch: -1},
		Result: engine.Produced{Text: text, Usage: engine.Usage{Input: 3, Output: 4}},
	}
}

// batch makes n records that say where they stand in a journal.
func batch(from, n int) []engine.Record {
	records := make([]engine.Record, n)
	for i := range records {
		records[i] = produced(from+i+1, fmt.Sprintf("record %d", from+i))
	}
	return records
}

// records has one record of every kind, results of every type, and in each place
// for text every odd one.
func records() []engine.Record {
	id := engine.EffectID{Path: "m/ask#1[0]/sub", State: "s", Visit: 2, Branch: 3, Phase: engine.PhaseTool}
	all := []engine.Record{
		{Kind: engine.RecordStarted, ID: id, Tool: "send_email", Digest: strings.Repeat("0f", 32)},
		{Kind: engine.RecordDeposit, ID: engine.EffectID{Path: "m", State: "s", Visit: 1, Branch: -1}, Key: "k", Version: 7, Label: trust.From("tool:t")},
		{Kind: engine.RecordStep, ID: engine.EffectID{Path: "m", State: "s", Visit: 1, Branch: -1}, Step: &engine.TraceStep{}},
		{Kind: engine.RecordOutcome, ID: engine.EffectID{Path: "m", Branch: -1}, Outcome: engine.Halted{Reason: "why", At: "s"}},
		{Kind: engine.RecordResult, ID: id, Result: engine.Answered{True: true, Parametric: true}},
		{Kind: engine.RecordResult, ID: id, Result: engine.Observed{Value: deep(value.MaxDepth - 2), Label: trust.From("tool:t")}},
	}
	for i, text := range odd {
		x := value.FromString(text)
		at := engine.EffectID{Path: "m" + text, State: text, Visit: int32(i), Branch: -1, Phase: engine.PhaseJudge, Seq: int32(i)}
		all = append(all,
			engine.Record{Kind: engine.RecordStarted, ID: at, Tool: text, Digest: text},
			engine.Record{Kind: engine.RecordAnswered, ID: at, Approval: text, Approved: i%2 == 0, By: text},
			engine.Record{Kind: engine.RecordResumed, ID: at, Forced: []string{text, "machine"}, By: text},
			engine.Record{Kind: engine.RecordResult, ID: at, Result: engine.Produced{Text: text, Reasoning: text, FinishReason: text, Truncated: true, Usage: engine.Usage{Input: 1, Output: 2, Estimated: true}}, Reads: []engine.Read{{Key: text, Version: 3}, {Key: "b", Version: 0}}},
			engine.Record{Kind: engine.RecordResult, ID: at, Result: engine.Judged{Reply: text, Model: text, Forced: true}},
			engine.Record{Kind: engine.RecordResult, ID: at, Result: engine.Failed{Kind: engine.FailProvider, Message: text, Model: text}},
			engine.Record{Kind: engine.RecordResult, ID: at, Result: engine.Observed{Label: trust.From("tool:t"), Value: value.FromEntries(
				value.Entry{Key: text, Value: value.FromList(x, value.FromBool(false), value.Value{}, number("1e-07"), number("-0.0"))},
				value.Entry{Key: "big", Value: number("123456789012345678901234567890")},
			)}},
		)
	}
	return all
}

// number is a literal of this file.
func number(s string) value.Value {
	v, err := value.ParseJSON([]byte(s))
	if err != nil {
		panic(err)
	}
	return v
}

func deep(n int) value.Value {
	v := value.FromInt(1)
	for range n {
		v = value.FromList(v)
	}
	return v
}

// form is what a store must keep of a record. What a resume folds reads back as
// it was; of the records that are for people, what engine.RecordOf reads.
func form(r *engine.Record) (string, error) {
	v := r.Value()
	switch r.Kind {
	case engine.RecordDeposit, engine.RecordStep, engine.RecordOutcome:
		read, err := engine.RecordOf(v)
		if err != nil {
			return "", err
		}
		v = read.Value()
	}
	return v.JSON(), nil
}

// read is the journal of a run.
func read(ctx context.Context, s store.Store, run store.RunID) ([]engine.Record, error) {
	var all []engine.Record
	for r, err := range s.Read(ctx, run) {
		if err != nil {
			return all, fmt.Errorf("read of run %q after %d records: %w", run, len(all), err)
		}
		all = append(all, r)
	}
	return all, nil
}

// expectJournal reads the journal of a run and compares.
func expectJournal(ctx context.Context, s store.Store, run store.RunID, want []engine.Record) error {
	got, err := read(ctx, s, run)
	if err != nil {
		return err
	}
	if len(got) != len(want) {
		return fmt.Errorf("journal of run %q: expected %d records, found %d", run, len(want), len(got))
	}
	for i := range got {
		g, err := form(&got[i])
		if err != nil {
			return fmt.Errorf("record %d of run %q: %w", i, run, err)
		}
		w, err := form(&want[i])
		if err != nil {
			return err
		}
		if g != w {
			return fmt.Errorf("record %d of run %q: expected %s, found %s", i, run, clip(w), clip(g))
		}
	}
	return nil
}

func clip(s string) string {
	if len(s) > 400 {
		return fmt.Sprintf("%.400q… (%d bytes)", s, len(s))
	}
	return fmt.Sprintf("%q", s)
}
