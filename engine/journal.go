package engine

import (
	"fmt"
	"math"

	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// The wire form of records: what a store keeps and a resume folds. A result
// reads back as it was; a step and an outcome are kept for people and tools.

var recordKinds = [...]string{RecordStarted: "started", RecordResult: "result", RecordDeposit: "deposit", RecordStep: "step", RecordOutcome: "outcome", RecordResumed: "resumed", RecordAnswered: "answered"}

// String is the wire word.
func (k RecordKind) String() string {
	if int(k) < len(recordKinds) {
		return recordKinds[k]
	}
	return fmt.Sprintf("RecordKind(%d)", uint8(k))
}

// Value is the id's wire form.
func (id EffectID) Value() value.Value {
	var o object
	o.str("path", id.Path)
	o.str("state", id.State)
	o.int("visit", int(id.Visit))
	if id.Branch >= 0 {
		o.int("branch", int(id.Branch))
	}
	o.str("phase", id.Phase.String())
	o.count("seq", int(id.Seq))
	return o.value()
}

// Value is the record's wire form.
func (r *Record) Value() value.Value {
	var o object
	o.str("kind", r.Kind.String())
	o.put("id", r.ID.Value())
	switch r.Kind {
	case RecordStarted:
		o.str("tool", r.Tool)
		o.str("digest", r.Digest)
	case RecordResult:
		o.put("result", resultValue(r.Result))
		if len(r.Reads) > 0 {
			reads := make([]value.Value, len(r.Reads))
			for i, x := range r.Reads {
				reads[i] = value.FromList(value.FromString(x.Key), value.FromInt(int64(x.Version)))
			}
			o.put("reads", value.FromList(reads...))
		}
	case RecordDeposit:
		o.str("key", r.Key)
		o.int("version", int(r.Version))
		o.put("label", r.Label.Value())
	case RecordStep:
		if r.Step != nil {
			o.put("step", r.Step.Value())
		}
	case RecordOutcome:
		o.put("outcome", outcomeValue(r.Outcome))
	case RecordResumed:
		o.strings("forced", r.Forced)
		o.text("by", r.By)
	case RecordAnswered:
		o.str("approval", r.Approval)
		o.put("approved", value.FromBool(r.Approved))
		o.text("by", r.By)
	}
	return o.value()
}

func resultValue(res Result) value.Value {
	var o object
	usage := func(u Usage) {
		if u != (Usage{}) {
			o.put("usage", u.Value())
		}
	}
	switch r := res.(type) {
	case Produced:
		o.str("type", "produced")
		o.str("text", r.Text)
		o.text("reasoning", r.Reasoning)
		usage(r.Usage)
		o.flag("truncated", r.Truncated)
		o.text("finish_reason", r.FinishReason)
	case Judged:
		o.str("type", "judged")
		o.str("reply", r.Reply)
		o.text("model", r.Model)
		usage(r.Usage)
		o.flag("truncated", r.Truncated)
		o.flag("forced", r.Forced)
	case Observed:
		o.str("type", "observed")
		o.put("value", r.Value)
		o.put("label", r.Label.Value())
	case Answered:
		o.str("type", "answered")
		o.put("true", value.FromBool(r.True))
		o.flag("parametric", r.Parametric)
	case Failed:
		o.str("type", "failed")
		o.str("kind", r.Kind.String())
		o.str("message", r.Message)
		o.text("reasoning", r.Reasoning)
		o.text("model", r.Model)
		usage(r.Usage)
	}
	return o.value()
}

var failKinds = [...]string{FailState: "state", FailProvider: "provider", FailRefusal: "refusal", FailCancelled: "cancelled", FailInternal: "internal"}

// String is the wire word.
func (k FailKind) String() string {
	if int(k) < len(failKinds) {
		return failKinds[k]
	}
	return fmt.Sprintf("FailKind(%d)", uint8(k))
}

func outcomeValue(out Outcome) value.Value {
	var o object
	switch x := out.(type) {
	case Done:
		o.str("status", "done")
		o.put("result", x.Result.Value())
		o.put("label", x.Result.Label().Value())
	case Halted:
		o.str("status", "halt")
		o.str("error", x.Reason)
		o.text("at", x.At)
	case Suspended:
		o.str("status", "suspended")
		o.str("error", x.Reason)
		o.text("at", x.At)
	}
	return o.value()
}

// RecordError says what of a journal's record cannot be read.
type RecordError struct{ Key, Want string }

func (e *RecordError) Error() string {
	return fmt.Sprintf("bad journal record: key '%s': expected %s", e.Key, e.Want)
}

// RecordOf reads the wire form of a record that a resume needs: its kind, id,
// tool, digest, result and reads, what was forced and answered. Of other kinds the kind and the id are read.
func RecordOf(v value.Value) (Record, error) {
	var r Record
	kind, _ := v.Get("kind")
	word, _ := kind.AsString()
	found := false
	for k, w := range recordKinds {
		if w == word {
			r.Kind, found = RecordKind(k), true
		}
	}
	if !found {
		return r, &RecordError{"kind", "started, result, deposit, step, outcome, resumed or answered"}
	}
	id, _ := v.Get("id")
	var err error
	if r.ID, err = effectIDOf(id); err != nil {
		return r, err
	}
	switch r.Kind {
	case RecordStarted:
		tool, _ := v.Get("tool")
		digest, _ := v.Get("digest")
		var ok1, ok2 bool
		r.Tool, ok1 = tool.AsString()
		r.Digest, ok2 = digest.AsString()
		if !ok1 || !ok2 {
			return r, &RecordError{"tool", "a tool and a digest"}
		}
	case RecordResult:
		res, _ := v.Get("result")
		if r.Result, err = resultOf(res); err != nil {
			return r, err
		}
		reads, _ := v.Get("reads")
		for i := range reads.Len() {
			key, _ := reads.At(i).At(0).AsString()
			n, _ := reads.At(i).At(1).AsInt()
			r.Reads = append(r.Reads, Read{key, uint32(n)})
		}
	case RecordResumed:
		forced, _ := v.Get("forced")
		for i := range forced.Len() {
			s, _ := forced.At(i).AsString()
			r.Forced = append(r.Forced, s)
		}
		by, _ := v.Get("by")
		r.By, _ = by.AsString()
	case RecordAnswered:
		approval, _ := v.Get("approval")
		approved, _ := v.Get("approved")
		by, _ := v.Get("by")
		var ok1, ok2 bool
		r.Approval, ok1 = approval.AsString()
		r.Approved, ok2 = approved.AsBool()
		r.By, _ = by.AsString()
		if !ok1 || !ok2 {
			return r, &RecordError{"approval", "an id and an answer"}
		}
	}
	return r, nil
}

func effectIDOf(v value.Value) (EffectID, error) {
	id := EffectID{Branch: -1}
	str := func(key string) string { x, _ := v.Get(key); s, _ := x.AsString(); return s }
	num := func(key string, missing int64) (int32, bool) {
		x, ok := v.Get(key)
		if !ok {
			return int32(missing), true
		}
		n, ok := x.AsInt()
		return int32(n), ok && n >= 0 && n <= math.MaxInt32
	}
	id.Path, id.State = str("path"), str("state")
	var ok1, ok2, ok3 bool
	id.Visit, ok1 = num("visit", 0)
	id.Branch, ok2 = num("branch", -1)
	id.Seq, ok3 = num("seq", 0)
	known := false
	for p := PhaseProduce; p <= PhaseJudge; p++ {
		if p.String() == str("phase") {
			id.Phase, known = p, true
		}
	}
	if !ok1 || !ok2 || !ok3 || !known || id.Path == "" {
		return id, &RecordError{"id", "{path, state, visit, branch, phase, seq}"}
	}
	return id, nil
}

func resultOf(v value.Value) (Result, error) {
	str := func(key string) string { x, _ := v.Get(key); s, _ := x.AsString(); return s }
	flag := func(key string) bool { x, _ := v.Get(key); b, _ := x.AsBool(); return b }
	u, _ := v.Get("usage")
	usage := usageOf(u)
	switch str("type") {
	case "produced":
		return Produced{Text: str("text"), Reasoning: str("reasoning"), Usage: usage, Truncated: flag("truncated"), FinishReason: str("finish_reason")}, nil
	case "judged":
		return Judged{Reply: str("reply"), Model: str("model"), Usage: usage, Truncated: flag("truncated"), Forced: flag("forced")}, nil
	case "observed":
		x, _ := v.Get("value")
		l, _ := v.Get("label")
		return Observed{Value: x, Label: trust.LabelOf(l).Lowered(trust.LevelExternal)}, nil
	case "answered":
		return Answered{True: flag("true"), Parametric: flag("parametric")}, nil
	case "failed":
		for k, w := range failKinds {
			if w == str("kind") {
				return Failed{Kind: FailKind(k), Message: str("message"), Reasoning: str("reasoning"), Model: str("model"), Usage: usage}, nil
			}
		}
	}
	return nil, &RecordError{"result", "a result"}
}
