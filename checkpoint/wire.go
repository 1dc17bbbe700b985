package checkpoint

import (
	"slices"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/trust/unchecked"
	"github.com/pinfold-dev/pinfold/value"
)

const format = 1

// Encode is the envelope's bytes: JSON, indented by two.
func (e *Envelope) Encode() []byte {
	entries := make([]value.Entry, 0, 22)
	put := func(key string, v value.Value) { entries = append(entries, value.Entry{Key: key, Value: v}) }
	str := func(key, s string) { put(key, value.FromString(s)) }
	orNull := func(key, s string) {
		if s == "" {
			put(key, value.Value{})
		} else {
			str(key, s)
		}
	}
	put("format", value.FromInt(format))
	if e.Foreign {
		str("mklang_version", e.Version)
	} else {
		str("pinfold_version", e.Version)
	}
	str("created", e.Created)
	if e.ID != "" {
		str("id", e.ID)
	}
	str("run", e.Run)
	str("machine", e.Machine)
	str("machine_path", e.Path)
	orNull("machine_sha256", e.FileHash)
	if e.Program != nil {
		hashes := make([]value.Entry, len(e.Program))
		for i, h := range e.Program {
			hashes[i] = value.Entry{Key: h.Machine, Value: value.FromString(h.Sum)}
		}
		put("program_sha256", value.FromEntries(hashes...))
	}
	orNull("reason", e.Reason)
	if e.HasBudget {
		put("cost_budget", value.FromInt(int64(e.CostBudget)))
	} else {
		put("cost_budget", value.Value{})
	}
	put("hitl", value.FromBool(e.HITL))
	if e.HasPolicy {
		put("policy", e.Policy.value())
	}
	put("frames", e.Frames.Value())
	if e.Inlined {
		str("machine_source", e.Source)
	}
	put("claimed", value.Value{})
	if !e.Metadata.IsNull() {
		put("metadata", e.Metadata)
	}
	if e.Journal > 0 || e.Turn != nil {
		put("journal", value.FromInt(int64(e.Journal)))
	}
	if e.Turn != nil {
		put("turn", e.Turn.value())
	}
	return append(value.FromEntries(entries...).AppendIndentJSON(make([]byte, 0, e.size()), ""), '\n')
}

// size is about how long the encoding is: a step is mostly its text.
func (e *Envelope) size() int {
	n := 4096
	for i := range e.Frames {
		f := &e.Frames[i]
		for j := range f.Trace {
			n += 512 + len(f.Trace[j].Output)*9/8
		}
		n += 512 * len(f.Board)
	}
	return n
}

var policyKeys = [...]string{"untrusted_flow", "untrusted_argument", "secret_egress"}

func (p *Policy) actions() [3]*policy.Action {
	return [3]*policy.Action{&p.UntrustedFlow, &p.UntrustedArgument, &p.SecretEgress}
}

func (p Policy) value() value.Value {
	entries := make([]value.Entry, 0, 4)
	for i, a := range p.actions() {
		entries = append(entries, value.Entry{Key: policyKeys[i], Value: value.FromString(a.String())})
	}
	return value.FromEntries(append(entries, value.Entry{Key: "on_truncate", Value: value.FromString(Word(p.OnTruncate))})...)
}

// Word is how files and flags write what a cut answer causes.
func Word(t engine.Truncate) string {
	if t == engine.TruncateReport {
		return "report"
	}
	return "halt"
}

func (t *Turn) value() value.Value {
	var entries []value.Entry
	put := func(key string, v value.Value) { entries = append(entries, value.Entry{Key: key, Value: v}) }
	list := func(key string, ss []string) {
		if len(ss) == 0 {
			return
		}
		items := make([]value.Value, len(ss))
		for i, s := range ss {
			items[i] = value.FromString(s)
		}
		put(key, value.FromList(items...))
	}
	if len(t.Inject) > 0 {
		paths := make([]string, 0, len(t.Inject))
		for path := range t.Inject {
			paths = append(paths, path)
		}
		slices.Sort(paths)
		in := make([]value.Entry, len(paths))
		for i, path := range paths {
			in[i] = value.Entry{Key: path, Value: t.Inject[path]}
		}
		put("inject", value.FromEntries(in...))
	}
	if t.Unconfirmed {
		put("unconfirmed", value.FromBool(true))
	}
	list("approve", t.Approve)
	list("deny", t.Deny)
	list("expired", t.Expired)
	if t.DropApprovals {
		put("drop_approvals", value.FromBool(true))
	}
	list("forced", t.Forced)
	return value.FromEntries(entries...)
}

// Error says why bytes are no checkpoint that can be resumed. The message is that
// of LANGUAGE.md §18.1.
type Error struct {
	Message string
	Err     error // of the JSON reader, or nil
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Err }

// Parse reads an envelope. Keys that it does not know are left behind. Its errors
// are *Error, and *engine.FrameError for what of a frame cannot be read.
func Parse(b []byte) (*Envelope, error) {
	doc, err := value.ParseDocument(b)
	if err != nil {
		return nil, &Error{"bad checkpoint: " + err.Error(), err}
	}
	r := reader{v: doc}
	if f, ok := doc.Get("format"); !ok || !value.Equal(f, value.FromInt(format)) {
		return nil, &Error{Message: "not a checkpoint (expected format 1)"}
	}
	for _, key := range []string{"machine", "machine_path", "machine_sha256"} {
		if _, ok := doc.Get(key); !ok {
			return nil, &Error{Message: "checkpoint has no '" + key + "'"}
		}
	}
	frames, ok := doc.Get("frames")
	switch {
	case !ok:
		return nil, &Error{Message: "checkpoint has no 'frames'"}
	case frames.Kind() == value.List && frames.Len() == 0:
		return nil, &Error{Message: "checkpoint has no frames"}
	}
	e := &Envelope{
		Version: r.str("pinfold_version"), Created: r.str("created"), ID: r.str("id"), Run: r.str("run"),
		Machine: r.str("machine"), Path: r.str("machine_path"), FileHash: r.str("machine_sha256"), Reason: r.str("reason"),
		HITL: r.flag("hitl"),
	}
	if _, ours := doc.Get("pinfold_version"); !ours {
		e.Foreign, e.Version = true, r.str("mklang_version")
	}
	if !hex32(e.ID) && e.ID != "" {
		r.bad("id", "32 hex characters")
	}
	if n, ok := r.count("cost_budget"); ok {
		e.CostBudget, e.HasBudget = n, true
	}
	if src, ok := r.get("machine_source"); ok {
		e.Source, e.Inlined = src.AsString()
		if !e.Inlined {
			r.bad("machine_source", "a string")
		}
	}
	e.Metadata, _ = r.get("metadata")
	if n, ok := r.count("journal"); ok {
		e.Journal = uint64(n)
	}
	if sums, ok := r.get("program_sha256"); ok {
		if sums.Kind() != value.Map {
			r.bad("program_sha256", "a map")
		}
		e.Program = make([]Hash, sums.Len())
		for i := range e.Program {
			s, ok := sums.At(i).AsString()
			if !ok {
				r.bad("program_sha256."+sums.Key(i), "a string")
			}
			e.Program[i] = Hash{sums.Key(i), s}
		}
	}
	if p, ok := r.get("policy"); ok {
		e.Policy, e.HasPolicy = r.policy(p), true
	}
	if t, ok := r.get("turn"); ok {
		e.Turn = r.turn(t)
	}
	if r.err != nil {
		return nil, r.err
	}
	if e.Frames, err = engine.FramesOf(frames, unchecked.Believe("a checkpoint is the operator's own file: SECURITY.md, Limits")); err != nil {
		return nil, err
	}
	if last := &e.Frames[len(e.Frames)-1]; e.Reason == "escalated" && !last.HasReply {
		last.ReplyTo, last.HasReply = "human.reply", true
	}
	return e, nil
}

func hex32(s string) bool {
	if len(s) != 32 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// reader reads the keys of one map. A key that is null is as good as missing.
type reader struct {
	v     value.Value
	where string
	err   error
}

func (r *reader) bad(key, want string) {
	if r.err == nil {
		r.err = &Error{Message: "bad checkpoint: key '" + r.where + key + "': expected " + want}
	}
}

func (r *reader) get(key string) (value.Value, bool) {
	v, ok := r.v.Get(key)
	return v, ok && !v.IsNull()
}

func (r *reader) str(key string) string {
	v, ok := r.get(key)
	if !ok {
		return ""
	}
	s, ok := v.AsString()
	if !ok {
		r.bad(key, "a string")
	}
	return s
}

func (r *reader) flag(key string) bool {
	v, ok := r.get(key)
	if !ok {
		return false
	}
	b, ok := v.AsBool()
	if !ok {
		r.bad(key, "true or false")
	}
	return b
}

func (r *reader) count(key string) (int, bool) {
	v, ok := r.get(key)
	if !ok {
		return 0, false
	}
	n, ok := v.AsInt()
	if !ok || n < 0 || n > 1<<52 {
		r.bad(key, "an integer ≥ 0")
		return 0, false
	}
	return int(n), true
}

func (r *reader) list(key string) []string {
	v, ok := r.get(key)
	if !ok {
		return nil
	}
	if v.Kind() != value.List {
		r.bad(key, "a list of strings")
		return nil
	}
	out := make([]string, v.Len())
	for i := range out {
		s, ok := v.At(i).AsString()
		if !ok {
			r.bad(key, "a list of strings")
		}
		out[i] = s
	}
	return out
}

// policy reads the recorded policies. What it does not name halts; a word that is
// none is an error and never a default [C42].
func (r *reader) policy(v value.Value) Policy {
	var p Policy
	sub := reader{v: v, where: "policy."}
	if v.Kind() != value.Map {
		r.bad("policy", "a map")
	}
	for i, to := range p.actions() {
		if word := sub.str(policyKeys[i]); word != "" {
			a, err := policy.ParseAction(word)
			if err != nil {
				sub.bad(policyKeys[i], "report, ask or halt")
			}
			*to = a
		}
	}
	switch sub.str("on_truncate") {
	case "report":
		p.OnTruncate = engine.TruncateReport
	case "halt", "":
	default:
		sub.bad("on_truncate", "report or halt")
	}
	if r.err == nil {
		r.err = sub.err
	}
	return p
}

func (r *reader) turn(v value.Value) *Turn {
	sub := reader{v: v, where: "turn."}
	if v.Kind() != value.Map {
		r.bad("turn", "a map")
	}
	t := &Turn{
		Unconfirmed: sub.flag("unconfirmed"), DropApprovals: sub.flag("drop_approvals"),
		Approve: sub.list("approve"), Deny: sub.list("deny"), Expired: sub.list("expired"), Forced: sub.list("forced"),
	}
	if in, ok := sub.get("inject"); ok {
		if in.Kind() != value.Map {
			sub.bad("inject", "a map")
		}
		t.Inject = make(map[string]value.Value, in.Len())
		for i := range in.Len() {
			t.Inject[in.Key(i)] = in.At(i)
		}
	}
	if r.err == nil {
		r.err = sub.err
	}
	return t
}
