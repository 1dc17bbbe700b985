package engine

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// entry is one entry of a state: what it executes and how its gate is chosen.
// A level keeps one and uses it again: entering a state clears the small embedded
// part, and what effects were built in is overwritten when the next is built.
type entry struct {
	entered
	one  [1]branch
	pick selection
}

type entered struct {
	active  bool
	s       *state
	visit   int32
	fan     bool
	over    bool
	list    trust.Value // what over leads to
	label   trust.Label // of its root
	group   GroupID     // of a fan-out
	n       int         // branches; 1 outside a fan-out
	charge  int
	charged bool
	fb      feedback // consumed by this execution

	reentered bool // resumed inside the state

	br      []branch
	waiting int // branches that have not come to anything yet
	settled bool
	cost    Usage

	marks     *Marks
	tainted   bool // the decision was
	untrusted bool // reached on a tainted flow
	output    trust.Value
	hasOutput bool
	undo      cell // what the deposit replaced
	deposited bool
	truncated bool
	finish    string
}

// branch is one execution: the only one, or one of a fan-out.
type branch struct {
	outcome
	args    []Arg
	reads   []Read
	produce Produce
	tool    Tool
}

type outcome struct {
	index  int32 // -1 outside a fan-out
	done   bool
	parked bool // suspended: stays as it is until the run is resumed

	out       value.Value
	label     trust.Label
	reasoning string
	usage     Usage
	truncated bool
	finish    string
	fail      failure

	child  *level
	resume Frames // of a child that a resume takes up
	sub    []TraceStep
	hasSub bool

	decision policy.Decision
	approval string
	ask      *Approval
	derived  trust.Label // what the output will join with
}

// fresh makes the level's entry ready for s.
func (l *level) fresh(s *state) *entry {
	e := l.e
	if e == nil {
		if n := len(l.r.entries); n > 0 {
			e = l.r.entries[n-1]
			l.r.entries = l.r.entries[:n-1]
		} else {
			e = new(entry)
		}
		l.e = e
	}
	e.entered = entered{active: true, s: s, visit: l.visits[l.cur], n: 1}
	b := &e.one[0]
	b.outcome = outcome{index: -1}
	e.br = e.one[:]
	e.pick.scan = scan{}
	e.pick.eligible, e.pick.batch, e.pick.reads = e.pick.eligible[:0], e.pick.batch[:0], e.pick.reads[:0]
	if l.r.shared { // a fork may still read what these hold
		b.produce.Prompt.User, b.args, b.reads = fence.Doc{}, nil, nil
	} else {
		b.produce.Prompt.User.Reset()
		b.args, b.reads = b.args[:0], b.reads[:0]
	}
	return e
}

// execute starts every branch that has not come to anything.
func (l *level) execute(e *entry) {
	for i := range e.br {
		b := &e.br[i]
		if !b.done && !b.parked {
			e.waiting++
		}
	}
	left, capped := 0, l.capped
	if capped {
		left = max(0, l.allowance-l.used.total())
		if l.plan != nil { // counted with the branches and children from now on
			l.allowance += l.plan.total().total()
		}
	}
	l.plan = nil
	for i := range e.br {
		b := &e.br[i]
		if b.done || b.parked {
			continue
		}
		switch e.s.src.Kind {
		case mkl.Generative:
			l.askProduce(e, b)
		case mkl.Tool:
			l.askTool(e, b)
		case mkl.Call:
			share := left
			if e.fan {
				share = left / e.n
				if i < left%e.n {
					share++
				}
			}
			l.call(e, b, capped, share)
		}
	}
}

// join is the label of an output of e. In a loop it mostly is the label that the
// output key has already.
func (l *level) join(e *entry, parts []trust.Label) trust.Label {
	l.r.parts = parts
	return trust.JoinReusing(l.board.cells[e.s.output].val.Label(), parts)
}

func (l *level) effectID(e *entry, b *branch, p Phase) EffectID {
	return EffectID{Path: l.path, State: e.s.id, Visit: e.visit, Branch: b.index, Phase: p}
}

// inGroup is the fan-out that bounds an effect of this entry.
func (l *level) inGroup(e *entry) GroupID {
	if e.fan {
		return e.group
	}
	return l.group
}

// resolve finds what a placeholder's root is bound to: a branch variable hides
// a key of the same name.
func (l *level) resolve(e *entry, b *branch, ref *reference) (v trust.Value, exists bool) {
	if e.fan {
		switch ref.root {
		case "index":
			return branchIndex(int(b.index)), true
		case "item":
			if e.over {
				return e.list.At(int(b.index)), true
			}
		}
	}
	if !l.board.has(ref.sym) {
		return trust.Value{}, false
	}
	c := &l.board.cells[ref.sym]
	if l.r.opt.Journal && !slices.ContainsFunc(b.reads, func(r Read) bool { return r.Key == ref.root }) {
		b.reads = append(b.reads, Read{ref.root, c.ver})
	}
	return c.val, true
}

// at is the value a placeholder leads to; a missing sub-path is null with the root's label.
func (ref *reference) at(v trust.Value) trust.Value {
	if ref.path == nil {
		return v
	}
	x, _ := v.Lookup(ref.path)
	return x
}

// askProduce builds the prompt of a generative state and asks for text.
func (l *level) askProduce(e *entry, b *branch) {
	p := &b.produce
	p.Prompt.System = e.s.system
	doc := &p.Prompt.User
	parts := append(l.r.parts[:0], e.s.label)
	if e.over {
		parts = append(parts, e.label)
	}
	doc.Grow(len(e.s.prompt)+1, len(e.s.prompt))
	for i := range e.s.prompt {
		seg := &e.s.prompt[i]
		if seg.ref == nil {
			doc.Text(seg.text)
			continue
		}
		v, ok := l.resolve(e, b, seg.ref)
		if !ok {
			continue
		}
		parts = append(parts, v.Label())
		d := seg.ref.at(v).Data(l.r.clip)
		if l.r.opt.Undelimited {
			doc.Undelimited(seg.ref.label, d)
		} else {
			doc.Data(seg.ref.label, d)
		}
	}
	if !e.fan {
		switch e.fb.kind {
		case feedbackText:
			doc.Text(e.fb.text)
		case feedbackData:
			doc.Text(feedbackBare)
			doc.Data("feedback", e.fb.data)
			parts = append(parts, e.fb.data.Label())
		}
	}
	b.derived = l.join(e, parts)
	p.effect = effect{l.effectID(e, b, PhaseProduce), l.inGroup(e)}
	p.Tier, p.Reason, p.Sampling = e.s.tier, e.s.src.Reason, e.s.src.Sample > 0
	l.r.ask(p, pending{l: l, b: b})
}

// produced takes a model's text.
func (l *level) produced(b *branch, res Produced) {
	e := l.e
	src := e.s.src
	b.usage, b.truncated = res.Usage, res.Truncated
	if res.Truncated {
		b.finish = res.FinishReason
	}
	if src.Reason {
		b.reasoning = res.Reasoning
	}
	b.label = b.derived
	switch {
	case res.Truncated && l.r.opt.OnTruncate == TruncateHalt:
		b.fail = failure{reason: "state-error: output-truncated", stop: stopTruncated}
	case src.Parse == mkl.ParseNone:
		b.out = value.FromString(res.Text)
	default:
		mode := "json"
		if src.Parse == mkl.ParseList {
			mode = "list"
		}
		if res.Truncated {
			b.fail = stateError("parse-" + mode + "-truncated")
			break
		}
		v, err := parseOutput(res.Text)
		if err == nil && mode == "list" && v.Kind() != value.List {
			err = errNotList(v.Kind())
		}
		if err != nil {
			b.fail = stateError("parse-" + mode + ": " + err.Error())
			break
		}
		b.out = v
	}
	l.branchEnded(b)
}

// failed takes the failure of a produce or a tool.
func (l *level) failed(b *branch, res Failed) {
	b.usage = res.Usage
	if l.e.s.src.Reason {
		b.reasoning = res.Reasoning
	}
	b.fail = res.failure()
	l.branchEnded(b)
}

func (f Failed) failure() failure {
	switch f.Kind {
	case FailProvider:
		return failure{reason: "provider-error: " + f.Message}
	case FailRefusal:
		return failure{reason: "refusal"}
	case FailCancelled:
		return failure{reason: "cancelled", stop: stopCancelled}
	case FailInternal:
		return failure{reason: "state-error: " + f.Message, internal: true}
	}
	return stateError(f.Message)
}

// branchEnded notes that a branch came to something; in a fan-out a failure
// that does not stop becomes a marker.
func (l *level) branchEnded(b *branch) {
	e := l.e
	b.done = b.fail.stop == stopNone
	if e.fan && b.fail.reason != "" && b.fail.stop == stopNone {
		b.out = value.FromString(marker(b.fail))
		// What the branch read may stand in what its failure says.
		b.label = trust.From("failed:" + e.s.id).Join(b.derived)
	}
	l.branchOver()
}

func (l *level) branchOver() {
	l.e.waiting--
	if l.e.waiting == 0 {
		l.r.wake(l)
	}
}

// marker is what a failed branch deposits: pinfold's own one-line summary.
func marker(f failure) string {
	msg := f.reason
	for cut := true; cut; {
		cut = false
		for _, p := range [...]string{"provider-error: ", "state-error: ", "call-failed: "} {
			if rest, ok := strings.CutPrefix(msg, p); ok {
				msg, cut = rest, true
			}
		}
	}
	if f.internal {
		msg = "internal error"
	}
	return "[branch-error: " + oneLine(msg, 200) + "]"
}

// oneLine escapes control characters and line separators and keeps the first n characters.
func oneLine(s string, n int) string {
	var b strings.Builder
	count := 0
	put := func(t string) bool {
		if count += len([]rune(t)); count > n {
			return false
		}
		b.WriteString(t)
		return true
	}
	for _, c := range s {
		t := string(c)
		switch {
		case c == '\n':
			t = `\n`
		case c == '\r':
			t = `\r`
		case c == '\t':
			t = `\t`
		case unicode.IsControl(c), c == '\u2028', c == '\u2029':
			t = `\u{` + strconv.FormatInt(int64(c), 16) + `}`
		}
		if !put(t) {
			break
		}
	}
	return b.String()
}

// inputs resolves input: for one branch (LANGUAGE.md §6).
func (l *level) inputs(e *entry, b *branch) []Arg {
	args := b.args[:0]
	for i := range e.s.input {
		in := &e.s.input[i]
		v := in.fixed
		switch {
		case in.single != nil:
			root, ok := l.resolve(e, b, in.single)
			if !ok {
				v = trust.Format(0)
				break
			}
			v = in.single.at(root)
			if v.Value().IsNull() {
				v = emptyText(v)
			}
		case in.segments != nil:
			v = l.fill(e, b, in.segments)
		}
		if !l.u.owned { // nobody answers for the text between the placeholders
			v = v.Lower(l.u.label)
		}
		args = append(args, Arg{in.key, v})
	}
	b.args = args
	return args
}

// fill is the text of an input template.
func (l *level) fill(e *entry, b *branch, segments []segment) trust.Value {
	r := l.r
	values := slices.Grow(r.values[:0], len(segments)) // pieces point into it
	pieces := r.pieces[:0]
	for i := range segments {
		seg := &segments[i]
		if seg.ref == nil {
			pieces = append(pieces, trust.Piece{Text: seg.text})
			continue
		}
		if root, ok := l.resolve(e, b, seg.ref); ok {
			values = append(values, seg.ref.at(root))
			pieces = append(pieces, trust.Piece{Value: &values[len(values)-1]})
		}
	}
	v := trust.Format(defaultClip, pieces...)
	clear(values)
	clear(pieces)
	r.values, r.pieces = values[:0], pieces[:0]
	return v
}

// emptyText is "" with the label of v: null reaches a tool as the empty text.
func emptyText(v trust.Value) trust.Value {
	return trust.Format(0, trust.Piece{Value: &v})
}

// askTool asks for a tool to run. The guard has allowed it.
func (l *level) askTool(e *entry, b *branch) {
	parts := append(l.r.parts[:0], e.s.label)
	for _, a := range b.args {
		parts = append(parts, a.Value.Label())
	}
	b.derived = l.join(e, parts)
	if yields := l.r.opt.Table[e.s.src.Tool].Yields; len(yields) > 0 {
		b.derived = b.derived.WithSecrecy(yields...)
	}
	t := &b.tool
	t.effect = effect{l.effectID(e, b, PhaseTool), l.inGroup(e)}
	t.Name, t.Args, t.Decision, t.Approval = e.s.src.Tool, b.args, b.decision, b.approval
	if l.r.opt.Journal && l.r.opt.Table[t.Name].Class == policy.Effect {
		l.r.record(Record{Kind: RecordStarted, ID: t.id, Tool: t.Name, Digest: l.digest(e, b)})
	}
	l.r.ask(t, pending{l: l, b: b})
}

// observed takes a tool's observation. It is External, always.
func (l *level) observed(b *branch, res Observed) {
	b.label = b.derived
	if l.r.opt.Table[l.e.s.src.Tool].Labelled {
		b.label = b.label.Join(res.Label)
	}
	b.out = value.FromString(observation(res.Value))
	l.branchEnded(b)
}

// observation is a tool's result as text: a structure becomes its JSON text.
func observation(v value.Value) string {
	switch v.Kind() {
	case value.Null:
		return ""
	case value.String:
		s, _ := v.AsString()
		return s
	}
	return v.JSON()
}

// call starts a child run.
func (l *level) call(e *entry, b *branch, capped bool, allowance int) {
	u := e.s.callee
	if u == nil {
		b.derived = e.s.label
		b.fail = stateError("call: unknown machine '" + e.s.src.Callee + "'")
		l.branchEnded(b)
		return
	}
	args := l.inputs(e, b)
	parts := append(l.r.parts[:0], e.s.label)
	for _, a := range args {
		parts = append(parts, a.Value.Label())
	}
	b.derived = l.join(e, parts)
	c := l.child(e, b, u)
	c.capped, c.allowance = capped, allowance
	if l.depth+1 > maxDepth {
		c.finish(finish{reason: "call-depth-exceeded"})
		return
	}
	if f := b.resume; len(f) > 0 {
		b.resume = nil
		c.restore(f, 0)
		if c.capped { // the pool less what the other levels have recorded
			c.allowance += c.used.total()
		}
		c.begin(true)
		return
	}
	for _, k := range u.context {
		c.board.set(k.sym, l.r.tagged(u.syms.names[k.sym], k.val))
	}
	for _, a := range args {
		c.board.put(c.board.intern(a.Name), l.r.tagged(a.Name, a.Value))
	}
	c.begin(false)
}

const maxDepth = 8

func (l *level) child(e *entry, b *branch, u *unit) *level {
	branch := ""
	if e.fan {
		branch = "[" + strconv.Itoa(int(b.index)) + "]"
	}
	c := l.r.level(u, l.path+"/"+e.s.id+"#"+strconv.Itoa(int(e.visit))+branch+"/"+u.m.Name)
	c.depth, c.parent, c.slot = l.depth+1, l, max(0, int(b.index))
	c.fanned, c.group = l.fanned || e.fan, l.inGroup(e)
	c.flow = l.flow
	if !u.owned {
		c.flow.Tainted = true
	}
	b.child = c
	return c
}

// childEnded takes the end of a child run.
func (l *level) childEnded(c *level) {
	b := &l.e.br[c.slot]
	b.usage = c.total()
	b.sub, b.hasSub = c.trace.all(), true
	end := c.end
	if c.outside {
		l.outside = true
		b.derived = b.derived.Join(trust.From("host:resume"))
	}
	if !end.done && l.e.fan { // its failure may say anything that it held
		b.derived = trust.JoinReusing(b.derived, c.board.labels(append(l.r.parts[:0], b.derived)))
	}
	b.child = nil
	l.r.recycle(c)
	if end.done {
		b.out = end.result.Value()
		b.label = l.join(l.e, append(l.r.parts[:0], b.derived, end.result.Label()))
	} else {
		reason := end.reason
		if reason == "" {
			reason = "sub-halted"
		}
		b.fail = failure{reason: "call-failed: " + reason, stop: end.stop}
	}
	l.branchEnded(b)
}
