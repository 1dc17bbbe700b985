package engine

import (
	"fmt"
	"math"
	"slices"

	"github.com/pinfold-dev/pinfold/display"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/trust/unchecked"
	"github.com/pinfold-dev/pinfold/value"
)

// Steps is the wire form of a trace.
func Steps(trace []TraceStep) value.Value {
	out := make([]value.Value, len(trace))
	for i := range trace {
		out[i] = trace[i].Value()
	}
	return value.FromList(out...)
}

// Value is the step's wire form: a flat map without absent keys (LANGUAGE.md §15).
func (s *TraceStep) Value() value.Value {
	o := object{entries: make([]value.Entry, 0, 14)} // a judged step has no more
	o.str("state", s.State)
	o.str("tier", s.Tier)
	o.int("step", s.Step)
	if s.HasOutput {
		o.str("output", s.Output)
	}
	d := s.Detail
	if d == nil {
		d = &Detail{}
	}
	if f := d.Fan; f != nil {
		o.put("branches", value.FromList(f.Branches...))
		if len(f.Errors) > 0 {
			errs := make([]value.Value, len(f.Errors))
			for i, e := range f.Errors {
				errs[i] = value.FromEntries(value.Entry{Key: "index", Value: value.FromInt(int64(e.Index))}, value.Entry{Key: "error", Value: value.FromString(e.Error)})
			}
			o.put("branch_errors", value.FromList(errs...))
		}
		if f.Reasonings != nil {
			rs := make([]value.Value, len(f.Reasonings))
			for i, r := range f.Reasonings {
				if r != "" {
					rs[i] = value.FromString(r)
				}
			}
			o.put("reasonings", value.FromList(rs...))
		}
		if f.IsCall {
			subs := make([]value.Value, len(f.SubTraces))
			for i, t := range f.SubTraces {
				if t != nil {
					subs[i] = Steps(t)
				}
			}
			o.put("sub_trace", value.FromList(subs...))
		}
	}
	o.text("reasoning", d.Reasoning)
	if d.HasSubTrace {
		o.put("sub_trace", Steps(d.SubTrace))
	}
	o.flag("truncated", d.Truncated)
	o.text("finish_reason", d.FinishReason)
	if s.Cost.total() > 0 {
		o.put("cost", s.Cost.Value())
	}
	o.nullable("gate", s.Gate, s.HasGate)
	o.text("gate_via", s.GateVia.String())
	o.str("policy", s.Policy)
	o.nullable("to", s.To, s.HasTo)
	o.text("hook", s.Hook)
	o.text("judge_model", s.Judge)
	o.count("judge_none", d.JudgeNone)
	o.text("judge_parse", d.JudgeParse)
	o.flag("judge_fallback", d.JudgeFallback)
	if d.JudgeFallback {
		o.str("judge_raw", d.JudgeRaw)
	}
	o.flag("judge_forced_choice", d.JudgeForced)
	o.flag("decision_tainted", s.DecisionTainted)
	o.flag("untrusted_control_flow", s.UntrustedControlFlow)
	if m := s.Marks; m != nil {
		o.strings("confirmed_on_external", m.ConfirmedOnExternal)
		o.strings("untrusted_argument", m.UntrustedArgument)
		o.strings("secret_egress", m.SecretEgress)
		o.strings("host_rule", m.HostRule)
		o.text("approval", m.Approval)
		o.strings("resume_forced", m.ResumeForced)
	}
	return o.value()
}

// String is the wire word; "" when no gate fired.
func (v Via) String() string {
	return [...]string{"", "hook", "llm", "otherwise"}[v&3]
}

// fanTrace is what the step of a fan-out records by branch.
func (e *entry) fanTrace() *FanTrace {
	f := &FanTrace{Branches: make([]value.Value, len(e.br)), IsCall: e.s.src.Callee != ""}
	reasoned := false
	for i := range e.br {
		b := &e.br[i]
		if b.done {
			s, ok := b.out.AsString()
			if !ok {
				s, _ = b.out.Text(defaultClip)
			}
			f.Branches[i] = value.FromString(s)
		}
		if b.done && b.fail.reason != "" { // a stopped branch is not a failed one
			f.Errors = append(f.Errors, BranchError{i, b.fail.reason})
		}
		reasoned = reasoned || b.reasoning != ""
		if f.IsCall {
			var t []TraceStep
			if b.hasSub {
				t = b.sub
				if t == nil {
					t = []TraceStep{}
				}
			}
			f.SubTraces = append(f.SubTraces, t)
		}
	}
	if reasoned || e.s.src.Reason {
		f.Reasonings = []string{}
		for i := range e.br {
			f.Reasonings = append(f.Reasonings, e.br[i].reasoning)
		}
	}
	return f
}

// Value is the event's wire form (LANGUAGE.md §17).
func (e *Event) Value() value.Value {
	var o object
	o.str("type", string(e.Type))
	o.str("machine", e.Machine)
	o.int("depth", e.Depth)
	switch e.Type {
	case EventRunStart:
		o.str("entry", e.Entry)
		o.put("resumed", value.FromBool(e.Resumed))
	case EventStateStart:
		o.str("state", e.State)
		o.int("step", e.Step)
		o.str("kind", e.Kind)
		o.str("tier", e.Tier)
	case EventControlFlow, EventArgument, EventEgress, EventHostRule:
		o.str("state", e.State)
		o.str("tool", e.Tool)
		o.str("policy", e.Policy)
		if e.Type == EventArgument || e.Type == EventHostRule {
			o.strings("names", e.Names)
		}
		if e.Type == EventEgress {
			o.strings("tags", e.Names)
		}
	case EventApprovalRequested:
		o.str("state", e.State)
		o.str("tool", e.Tool)
		if e.Approval != nil {
			o.text("id", e.Approval.ID)
			o.text("expires", e.Approval.Expires)
		}
	case EventStateDone:
		o.str("state", e.State)
		o.int("step", e.Step)
		if t := e.Trace; t != nil {
			o.nullable("gate", t.Gate, t.HasGate)
			o.str("policy", t.Policy)
			o.nullable("to", t.To, t.HasTo)
			if t.HasOutput {
				o.str("output", ellipsis(t.Output, 200))
			}
			if f := t.Fan(); f != nil {
				o.int("branches", len(f.Branches))
			}
			o.count("tokens", t.Cost.total())
			if t.Detail != nil {
				o.flag("truncated", t.Detail.Truncated)
				o.text("finish_reason", t.Detail.FinishReason)
			}
		}
	case EventRunFinished:
		o.str("status", e.Status)
		o.nullable("error", e.Error, e.Error != "")
		o.nullable("at", e.At, e.At != "")
		o.put("tokens", e.Tokens.Value())
	}
	return o.value()
}

// ellipsis is s in at most n characters, the last one … when it was cut.
func ellipsis(s string, n int) string {
	if firstRunes(s, n) == s {
		return s
	}
	return firstRunes(s, n-1) + "…"
}

// Value is the approval's wire form (LANGUAGE.md §8.4).
func (a *Approval) Value() value.Value {
	var o object
	o.str("id", a.ID)
	o.str("run", a.Run)
	o.str("state", a.State)
	o.str("tool", a.Tool)
	args := make([]value.Entry, len(a.Args))
	shown := make([]value.Value, len(a.Args))
	for i, x := range a.Args {
		args[i] = value.Entry{Key: x.Name, Value: x.Value.Value()}
		text := observation(x.Value.Value())
		var s object
		s.str("name", x.Name)
		s.str("kind", x.Value.Value().Kind().String())
		s.str("text", display.Approval(text))
		s.int("characters", len([]rune(text)))
		s.str("level", x.Value.Label().Level().String())
		shown[i] = s.value()
	}
	o.put("arguments", value.FromEntries(args...))
	o.str("digest", a.Digest)
	o.str("expires", a.Expires)
	rules := make([]value.Value, len(a.Rules))
	for i, r := range a.Rules {
		rules[i] = value.FromInt(int64(r))
	}
	o.put("rules", value.FromList(rules...))
	o.put("reasons", stringList(a.Reasons))
	o.put("shown", value.FromList(shown...))
	return o.value()
}

// Value is the wire form of the frames (LANGUAGE.md §18.2).
func (f Frames) Value() value.Value {
	out := make([]value.Value, len(f))
	for i := range f {
		out[i] = f[i].value()
	}
	return value.FromList(out...)
}

func (f *Frame) value() value.Value {
	var o object
	o.str("machine", f.Machine)
	o.str("state", f.State)
	ctx := make([]value.Entry, len(f.Board))
	labels := make([]value.Entry, len(f.Board))
	versions := make([]value.Entry, len(f.Board))
	var tainted, external []string
	for i, c := range f.Board {
		ctx[i] = value.Entry{Key: c.Key, Value: c.Value.Value()}
		labels[i] = value.Entry{Key: c.Key, Value: c.Value.Label().Value()}
		versions[i] = value.Entry{Key: c.Key, Value: value.FromInt(int64(c.Version))}
		if c.Value.Label().Tainted() {
			tainted = append(tainted, c.Key)
		}
		if c.Value.Label().External() {
			external = append(external, c.Key)
		}
	}
	slices.Sort(tainted)
	slices.Sort(external)
	o.put("ctx", value.FromEntries(ctx...))
	o.int("steps", f.Steps)
	o.int("total_in", f.In)
	o.int("total_out", f.Out)
	o.flag("estimated", f.Estimated)
	o.str("feedback", f.Feedback)
	left := make([]value.Value, len(f.RepairLeft))
	for i, r := range f.RepairLeft {
		left[i] = value.FromList(value.FromString(r.State), value.FromInt(int64(r.Gate)), value.FromInt(int64(r.Left)))
	}
	o.put("repair_left", value.FromList(left...))
	o.put("trace", Steps(f.Trace))
	o.put("entered", value.FromBool(f.Entered))
	visits := make([]value.Entry, len(f.Visits))
	for i, v := range f.Visits {
		visits[i] = value.Entry{Key: v.State, Value: value.FromInt(int64(v.Count))}
	}
	o.put("visits", value.FromEntries(visits...))
	o.put("labels", value.FromEntries(labels...))
	o.put("versions", value.FromEntries(versions...))
	o.put("tainted", stringList(tainted))
	o.put("external", stringList(external))
	o.put("flow_tainted", value.FromBool(f.FlowTainted))
	o.text("flow_by", f.FlowBy)
	if f.HasReply {
		o.str("reply_to", f.ReplyTo)
		if f.HasAsk {
			o.str("ask", f.Ask)
		}
	}
	if f.Approval != nil {
		o.put("approval", f.Approval.frameValue())
	}
	if f.Branches != nil {
		out := make([]value.Value, len(f.Branches))
		for i := range f.Branches {
			out[i] = f.Branches[i].value()
		}
		o.put("branches", value.FromList(out...))
	}
	o.put("outside", value.FromBool(f.Outside))
	if f.ResumeInjected != nil {
		o.put("resume_injected", stringList(f.ResumeInjected))
	}
	return o.value()
}

func (b *BranchFrame) value() value.Value {
	var o object
	o.int("index", b.Index)
	o.put("done", value.FromBool(b.Done))
	if b.HasOutput {
		o.put("output", b.Output.Value())
		o.put("label", b.Output.Label().Value())
	}
	o.text("reasoning", b.Reasoning)
	if b.HasSubTrace {
		o.put("sub_trace", Steps(b.SubTrace))
	}
	if b.Usage.total() > 0 {
		o.put("tokens", b.Usage.Value())
	}
	o.text("error", b.Error)
	o.flag("truncated", b.Truncated)
	o.text("finish_reason", b.FinishReason)
	if b.Approval != nil {
		o.put("approval", b.Approval.frameValue())
	}
	if b.Frames != nil {
		o.put("frames", b.Frames.Value())
	}
	return o.value()
}

// frameValue is an approval as a frame keeps it: the wire form with the labels
// of the arguments.
func (a *Approval) frameValue() value.Value {
	v := a.Value()
	labels := make([]value.Entry, len(a.Args))
	for i, x := range a.Args {
		labels[i] = value.Entry{Key: x.Name, Value: x.Value.Label().Value()}
	}
	return v.With("labels", value.FromEntries(labels...)).With("branch", value.FromInt(int64(a.Branch)))
}

// FrameError says what of a checkpoint's frames cannot be read.
type FrameError struct {
	Frame int
	Key   string
	Want  string
}

func (e *FrameError) Error() string {
	return fmt.Sprintf("bad checkpoint: frame %d: key '%s': expected %s", e.Frame, e.Key, e.Want)
}

// FramesOf reads the wire form. What is missing is read the fail-safe way of
// LANGUAGE.md §18.2; what cannot be read is a FrameError. Labels stand as they were
// recorded only when the caller believes the document; under the zero Believed every
// key is External.
func FramesOf(v value.Value, by unchecked.Believed) (Frames, error) {
	return framesOf(v, by, 0, 0)
}

func framesOf(v value.Value, by unchecked.Believed, first, nested int) (Frames, error) {
	if v.Kind() != value.List || nested > maxDepth+1 {
		return nil, &FrameError{first, "frames", "a list"}
	}
	out := make(Frames, v.Len())
	for i := range out {
		r := frameReader{v: v.At(i), by: by, frame: first + i, nested: nested}
		out[i] = r.read(i == len(out)-1)
		if r.err != nil {
			return nil, r.err
		}
	}
	return out, nil
}

type frameReader struct {
	v      value.Value
	by     unchecked.Believed
	frame  int
	nested int
	err    error
}

func (r *frameReader) bad(key, want string) {
	if r.err == nil {
		r.err = &FrameError{r.frame, key, want}
	}
}

func (r *frameReader) get(key string) (value.Value, bool) {
	v, ok := r.v.Get(key)
	return v, ok && !v.IsNull()
}

// str reads a string; a required one that is missing or anything else is bad.
func (r *frameReader) str(key string, required bool) (string, bool) {
	v, ok := r.get(key)
	if !ok {
		if required {
			r.bad(key, "a string")
		}
		return "", false
	}
	s, ok := v.AsString()
	if !ok {
		r.bad(key, "a string")
	}
	return s, ok
}

func (r *frameReader) int(key string) int {
	v, ok := r.get(key)
	n, isInt := v.AsInt()
	if !ok || !isInt || n < 0 || n > math.MaxInt32*1024 {
		r.bad(key, "an integer ≥ 0")
		return 0
	}
	return int(n)
}

func (r *frameReader) flag(key string, missing bool) bool {
	v, ok := r.get(key)
	if !ok {
		return missing
	}
	b, ok := v.AsBool()
	if !ok {
		r.bad(key, "true or false")
	}
	return b
}

func (r *frameReader) list(key string) (value.Value, bool) {
	v, ok := r.get(key)
	if ok && v.Kind() != value.List {
		r.bad(key, "a list")
		return value.Value{}, false
	}
	return v, ok
}

func (r *frameReader) keys(key string) ([]string, bool) {
	v, ok := r.list(key)
	if !ok {
		return nil, false
	}
	out := make([]string, v.Len())
	for i := range out {
		s, ok := v.At(i).AsString()
		if !ok {
			r.bad(key, "a list of strings")
		}
		out[i] = s
	}
	return out, true
}

func (r *frameReader) read(innermost bool) Frame {
	var f Frame
	if r.v.Kind() != value.Map {
		r.bad("", "a map")
		return f
	}
	f.Machine, _ = r.str("machine", false) // missing: resume-mismatch
	f.State, _ = r.str("state", false)
	ctx, ok := r.get("ctx")
	if !ok || ctx.Kind() != value.Map {
		r.bad("ctx", "a map")
		return f
	}
	f.Steps, f.In, f.Out = r.int("steps"), r.int("total_in"), r.int("total_out")
	f.Estimated = r.flag("estimated", false)
	if fb, ok := r.str("feedback", true); ok && fb != "" {
		f.Feedback, f.HasFeedback = fb, true
	}
	f.RepairLeft = r.repairs()
	if trace, ok := r.list("trace"); ok {
		f.Trace = r.trace("trace", trace)
	} else {
		r.bad("trace", "a list")
	}
	f.Entered = r.flag("entered", !innermost)
	r.board(&f, ctx)
	if visits, ok := r.get("visits"); ok {
		if visits.Kind() != value.Map {
			r.bad("visits", "a map")
		}
		for i := range visits.Len() {
			n, ok := visits.At(i).AsInt()
			if !ok || n < 0 || n > math.MaxInt32 {
				r.bad("visits", "counts ≥ 0")
			}
			f.Visits = append(f.Visits, Visit{visits.Key(i), int(n)})
		}
	}
	f.FlowTainted = r.flag("flow_tainted", true)
	f.FlowBy, _ = r.str("flow_by", false)
	f.ReplyTo, f.HasReply = r.str("reply_to", false)
	f.Ask, f.HasAsk = r.str("ask", false)
	f.ResumeInjected, _ = r.keys("resume_injected")
	f.Outside = r.flag("outside", true) // another writer's frames don't say
	if a, ok := r.get("approval"); ok {
		f.Approval = r.approval("approval", a)
	}
	if bs, ok := r.list("branches"); ok {
		f.Branches = make([]BranchFrame, bs.Len())
		for i := range f.Branches {
			f.Branches[i] = r.branch(bs.At(i))
		}
	}
	return f
}

func (r *frameReader) repairs() []RepairLeft {
	v, ok := r.list("repair_left")
	if !ok {
		r.bad("repair_left", "a list")
		return nil
	}
	var out []RepairLeft
	for i := range v.Len() {
		x := v.At(i)
		state, ok1 := x.At(0).AsString()
		gate, ok2 := x.At(1).AsInt()
		left, ok3 := x.At(2).AsInt()
		if x.Kind() != value.List || x.Len() != 3 || !ok1 || !ok2 || !ok3 || left < 0 || left > math.MaxInt32 {
			r.bad("repair_left", "entries [state, gate index, left]")
			return nil
		}
		out = append(out, RepairLeft{state, int(gate), int(left)})
	}
	return out
}

// board reads ctx with its labels. Where labels, tainted and external disagree
// the least trusted reading holds; a key with no label anywhere is External.
func (r *frameReader) board(f *Frame, ctx value.Value) {
	labels, hasLabels := r.get("labels")
	tainted, hasTainted := r.keys("tainted")
	external, hasExternal := r.keys("external")
	versions, _ := r.get("versions")
	f.Board = make([]Cell, ctx.Len())
	for i := range f.Board {
		key := ctx.Key(i)
		label, known := trust.Label{}, false
		if hasLabels {
			if l, ok := labels.Get(key); ok {
				label, known = trust.LabelOf(l), true
			}
		}
		if hasTainted {
			isTainted := slices.Contains(tainted, key)
			isExternal := isTainted
			if hasExternal {
				isExternal = slices.Contains(external, key)
			}
			level := trust.LevelAuthor
			if isTainted {
				level = trust.LevelModel
			}
			if isExternal {
				level = trust.LevelExternal
			}
			if known {
				label = label.Lowered(level)
			} else if !hasLabels {
				label = trust.LabelOf(value.FromString(level.String()))
			}
		} else if known && hasExternal && slices.Contains(external, key) {
			label = label.Lowered(trust.LevelExternal)
		}
		c := Cell{Key: key, Version: 1}
		if n, ok := versions.Get(key); ok {
			if n, ok := n.AsInt(); ok && n > 0 && n <= math.MaxUint32 {
				c.Version = uint32(n)
			}
		}
		if !r.by.Made() {
			label = label.Lowered(trust.LevelExternal)
		}
		c.Value = unchecked.Restore(ctx.At(i), label, "a checkpoint frame recorded this label")
		f.Board[i] = c
	}
}

func (r *frameReader) branch(v value.Value) BranchFrame {
	sub := frameReader{v: v, by: r.by, frame: r.frame, nested: r.nested}
	b := BranchFrame{Index: sub.int("index"), Done: sub.flag("done", false)}
	if out, ok := v.Get("output"); ok && b.Done {
		l, _ := v.Get("label")
		b.Output, b.HasOutput = trust.NewValue(out, trust.LabelOf(l)), true
	} else if b.Done {
		sub.bad("branches.output", "a value")
	}
	b.Reasoning, _ = sub.str("reasoning", false)
	if t, ok := sub.list("sub_trace"); ok {
		b.SubTrace, b.HasSubTrace = sub.trace("sub_trace", t), true
	}
	if t, ok := sub.get("tokens"); ok {
		b.Usage = usageOf(t)
	}
	b.Error, _ = sub.str("error", false)
	b.Truncated = sub.flag("truncated", false)
	b.FinishReason, _ = sub.str("finish_reason", false)
	if a, ok := sub.get("approval"); ok {
		b.Approval = sub.approval("branches.approval", a)
	}
	if f, ok := sub.get("frames"); ok && sub.err == nil {
		b.Frames, sub.err = framesOf(f, r.by, r.frame+1, r.nested+1)
	}
	if r.err == nil {
		r.err = sub.err
	}
	return b
}

func (r *frameReader) approval(key string, v value.Value) *Approval {
	sub := frameReader{v: v, by: r.by, frame: r.frame}
	a := &Approval{Branch: -1}
	a.ID, _ = sub.str("id", true)
	a.Expires, _ = sub.str("expires", true)
	a.Run, _ = sub.str("run", true)
	a.State, _ = sub.str("state", true)
	a.Tool, _ = sub.str("tool", true)
	a.Digest, _ = sub.str("digest", true)
	args, ok := sub.get("arguments")
	if !ok || args.Kind() != value.Map {
		sub.bad("arguments", "a map")
	}
	labels, _ := v.Get("labels")
	for i := range args.Len() {
		l, _ := labels.Get(args.Key(i))
		label := trust.LabelOf(l)
		if !r.by.Made() {
			label = label.Lowered(trust.LevelExternal)
		}
		a.Args = append(a.Args, Arg{args.Key(i), unchecked.Restore(args.At(i), label, "an approval in a checkpoint recorded this label; the call itself is resolved anew")})
	}
	if rules, ok := sub.list("rules"); ok {
		for i := range rules.Len() {
			n, ok := rules.At(i).AsInt()
			if !ok || n < int64(policy.UntrustedFlow) || n > int64(policy.HostRule) {
				sub.bad("rules", "numbers from 1 to 4")
			}
			a.Rules = append(a.Rules, policy.Rule(n))
		}
	}
	a.Reasons, _ = sub.keys("reasons")
	if b, ok := sub.get("branch"); ok {
		if n, ok := b.AsInt(); ok {
			a.Branch = int(n)
		}
	}
	if sub.err != nil {
		r.bad(key+"."+sub.err.(*FrameError).Key, sub.err.(*FrameError).Want)
	}
	return a
}

func usageOf(v value.Value) Usage {
	num := func(key string) int {
		x, _ := v.Get(key)
		n, _ := x.AsInt()
		return int(max(0, n))
	}
	e, _ := v.Get("estimated")
	est, _ := e.AsBool()
	return Usage{Input: num("input_tokens"), Output: num("output_tokens"), Estimated: est}
}

// trace reads recorded steps; keys that it does not know are left behind.
func (r *frameReader) trace(key string, v value.Value) []TraceStep {
	if v.Kind() != value.List {
		r.bad(key, "a list")
		return nil
	}
	out := make([]TraceStep, v.Len())
	for i := range out {
		if v.At(i).Kind() != value.Map {
			r.bad(key, "a list of maps")
			return nil
		}
		out[i] = r.step(v.At(i))
	}
	return out
}

func (r *frameReader) step(v value.Value) TraceStep {
	str := func(key string) (string, bool) {
		x, _ := v.Get(key)
		return x.AsString()
	}
	text := func(key string) string { s, _ := str(key); return s }
	num := func(key string) int {
		x, _ := v.Get(key)
		n, _ := x.AsInt()
		return int(n)
	}
	flag := func(key string) bool {
		x, _ := v.Get(key)
		b, _ := x.AsBool()
		return b
	}
	list := func(key string) []string {
		x, _ := v.Get(key)
		var out []string
		for i := range x.Len() {
			s, _ := x.At(i).AsString()
			out = append(out, s)
		}
		return out
	}
	s := TraceStep{
		State: text("state"), Tier: text("tier"), Step: num("step"),
		Policy: text("policy"), Hook: text("hook"), Judge: text("judge_model"),
	}
	d := Detail{
		Reasoning: text("reasoning"), Truncated: flag("truncated"), FinishReason: text("finish_reason"),
		JudgeNone: num("judge_none"), JudgeParse: text("judge_parse"), JudgeFallback: flag("judge_fallback"),
		JudgeRaw: text("judge_raw"), JudgeForced: flag("judge_forced_choice"),
	}
	s.Output, s.HasOutput = str("output")
	s.Gate, s.HasGate = str("gate")
	s.To, s.HasTo = str("to")
	for via := ViaHook; via <= ViaOtherwise; via++ {
		if via.String() == text("gate_via") {
			s.GateVia = via
		}
	}
	if c, ok := v.Get("cost"); ok {
		s.Cost = usageOf(c)
	}
	sub, hasSub := v.Get("sub_trace")
	if b, ok := v.Get("branches"); ok && b.Kind() == value.List {
		f := &FanTrace{Branches: make([]value.Value, b.Len()), IsCall: hasSub}
		for i := range f.Branches {
			f.Branches[i] = b.At(i)
		}
		errs, _ := v.Get("branch_errors")
		for i := range errs.Len() {
			ix, _ := errs.At(i).Get("index")
			n, _ := ix.AsInt()
			e, _ := errs.At(i).Get("error")
			msg, _ := e.AsString()
			f.Errors = append(f.Errors, BranchError{int(n), msg})
		}
		if rs, ok := v.Get("reasonings"); ok {
			f.Reasonings = make([]string, rs.Len())
			for i := range f.Reasonings {
				f.Reasonings[i], _ = rs.At(i).AsString()
			}
		}
		for i := range sub.Len() {
			if sub.At(i).IsNull() {
				f.SubTraces = append(f.SubTraces, nil)
			} else {
				f.SubTraces = append(f.SubTraces, r.trace("trace.sub_trace", sub.At(i)))
			}
		}
		d.Fan = f
	} else if hasSub {
		d.SubTrace, d.HasSubTrace = r.trace("trace.sub_trace", sub), true
	}
	if d.Fan != nil || d.HasSubTrace || d.Reasoning != "" || d.Truncated || d.FinishReason != "" ||
		d.JudgeNone > 0 || d.JudgeParse != "" || d.JudgeFallback || d.JudgeForced {
		s.Detail = &d
	}
	s.DecisionTainted, s.UntrustedControlFlow = flag("decision_tainted"), flag("untrusted_control_flow")
	m := Marks{
		ConfirmedOnExternal: list("confirmed_on_external"), UntrustedArgument: list("untrusted_argument"),
		SecretEgress: list("secret_egress"), HostRule: list("host_rule"), Approval: text("approval"), ResumeForced: list("resume_forced"),
	}
	if m.Approval != "" || m.ConfirmedOnExternal != nil || m.UntrustedArgument != nil || m.SecretEgress != nil || m.HostRule != nil || m.ResumeForced != nil {
		s.Marks = &m
	}
	return s
}
