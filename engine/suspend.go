package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// suspension is why a level waits for the next turn.
type suspension struct {
	reason string
	at     string
	asked  *asked
}

// suspend parks the level. In a fan-out the branch is parked and the others
// finish first; everywhere else every caller waits too.
func (l *level) suspend(s suspension) bool {
	l.phase = phaseSuspended
	l.end.reason = s.reason
	if l.parent == nil {
		o := Suspended{Reason: s.reason, At: s.at, Approvals: l.approvals(nil)}
		if s.asked != nil {
			o.Ask, o.HasAsk, o.ReplyTo = s.asked.ask, s.asked.hasAsk, s.asked.replyTo
		}
		l.r.event(Event{Type: EventRunFinished, Machine: l.u.m.Name, Depth: l.depth, Status: "suspended", Error: s.reason, At: s.at, Tokens: l.total()})
		l.r.conclude(o)
		return false
	}
	l.r.event(Event{Type: EventRunFinished, Machine: l.u.m.Name, Depth: l.depth, Status: "suspended", Error: s.reason, At: s.at, Tokens: l.total()})
	p := l.parent
	p.e.br[l.slot].parked = true
	if p.e.fan {
		p.branchOver()
		return false
	}
	p.e.waiting--
	return p.suspend(s)
}

// approvals collects what is pending, by level and branch.
func (l *level) approvals(out []Approval) []Approval {
	if l.e == nil || !l.e.active {
		return out
	}
	for i := range l.e.br {
		b := &l.e.br[i]
		if b.parked && b.ask != nil {
			out = append(out, *b.ask)
		}
		if b.child != nil && !b.done {
			out = b.child.approvals(out)
		}
	}
	return out
}

// eachAsk visits the pending approvals where they are kept.
func (l *level) eachAsk(f func(*Approval) bool) bool {
	if l.e == nil || !l.e.active {
		return true
	}
	for i := range l.e.br {
		b := &l.e.br[i]
		if b.parked && b.ask != nil && !f(b.ask) {
			return false
		}
		if b.child != nil && !b.done && !b.child.eachAsk(f) {
			return false
		}
	}
	return true
}

// SetApproval gives the pending approval of a state path the id and expiry that
// the driver drew. The outcome of Ready shows them.
func (r *Run) SetApproval(state, id, expires string) error {
	s, ok := r.ready.Outcome.(Suspended)
	if !ok {
		return fmt.Errorf("approval of %s: the run is not suspended", state)
	}
	found := !r.top.eachAsk(func(a *Approval) bool {
		if a.State != state {
			return true
		}
		a.ID, a.Expires = id, expires
		return false
	})
	if !found {
		return fmt.Errorf("approval of %s: none is pending", state)
	}
	s.Approvals = r.top.approvals(nil)
	r.ready.Outcome = s
	return nil
}

// Applied is a result that was given since the frames were taken.
type Applied struct {
	ID     EffectID
	Result Result
}

// Snapshot is the frames of the last loop top or suspension and the results
// since: a resume of the frames that is given those results stands where the
// run stands. A run that has ended has no frames.
type Snapshot struct {
	Frames Frames
	Since  []Applied
}

// Snapshot takes the run's frames. The run goes on unchanged.
func (r *Run) Snapshot() Snapshot {
	switch r.ready.Outcome.(type) {
	case Done, Halted:
		return Snapshot{}
	case Suspended:
		return Snapshot{Frames: r.top.frames(nil)}
	}
	return Snapshot{Frames: r.top.frames(nil), Since: slices.Clone(r.since[r.top.innermost().since:])}
}

// innermost is the level whose loop top the last frame shows.
func (l *level) innermost() *level {
	e := l.e
	if e != nil && e.active && !e.fan && e.br[0].child != nil && !e.br[0].done {
		return e.br[0].child.innermost()
	}
	return l
}

// frames is one frame a level, outermost first, down to the innermost level or
// to a fan-out, whose branches its own frame holds.
func (l *level) frames(out Frames) Frames {
	f := l.frame()
	e := l.e
	if e == nil || !e.active {
		if l.plan != nil { // resumed, and suspended again before it went in
			f.Branches, f.Approval = l.plan.branches, l.plan.approval
			return append(append(out, f), l.plan.frames...)
		}
		return append(out, f)
	}
	if e.fan {
		if l.phase == phaseSuspended {
			f.Branches = e.branchFrames()
		}
		return append(out, f)
	}
	b := &e.br[0]
	if l.phase == phaseSuspended && b.ask != nil {
		f.Approval = b.ask
	}
	out = append(out, f)
	if b.child != nil && !b.done {
		return b.child.frames(out)
	}
	return out
}

// frame is the level at its last loop top, or inside the state it is suspended in.
func (l *level) frame() Frame {
	f := Frame{
		Machine: l.u.m.Name, State: l.u.states[l.cur].id,
		Steps: l.steps, In: l.used.Input, Out: l.used.Output, Estimated: l.used.Estimated,
		Trace: l.trace.all(), Entered: l.reenter,
		FlowTainted: l.flow.Tainted, FlowBy: l.flow.By, ResumeInjected: l.injected, Outside: l.outside,
	}
	fb, board := l.fb, l.board
	inside := false // a state that was begun and must be done again from its loop top
	if e := l.e; e != nil && e.active {
		f.Entered = l.phase == phaseSuspended || e.reentered || !e.fan && e.br[0].child != nil && !e.br[0].done
		inside = !f.Entered
		if e.charged {
			f.Steps -= e.charge
			fb = e.fb
		}
		if e.deposited {
			board = board.clone()
			board.restore(e.s.output, e.undo)
		}
	}
	switch fb.kind {
	case feedbackText:
		f.Feedback, f.HasFeedback = strings.TrimPrefix(fb.text.String(), "\n\n"), true
	case feedbackData:
		f.Feedback, f.HasFeedback = fb.data.Text(), true
	}
	f.Board = make([]Cell, len(board.order))
	for i, k := range board.order {
		c := &board.cells[k]
		f.Board[i] = Cell{Key: board.name(int(k)), Value: c.val, Version: c.ver}
	}
	for i, n := range l.visits {
		if inside && i == l.cur {
			n--
		}
		if n > 0 {
			f.Visits = append(f.Visits, Visit{State: l.u.states[i].id, Count: int(n)})
		}
	}
	slices.SortFunc(f.Visits, func(a, b Visit) int { return strings.Compare(a.State, b.State) })
	if l.repairs != nil {
		for i := range l.u.states {
			for j := range l.u.states[i].gates {
				g := &l.u.states[i].gates[j]
				if g.repair >= 0 && int(l.repairs[g.repair]) != g.src.Repair {
					f.RepairLeft = append(f.RepairLeft, RepairLeft{State: l.u.states[i].id, Gate: j, Left: int(l.repairs[g.repair])})
				}
			}
		}
	}
	if l.asked != nil {
		f.HasReply, f.ReplyTo = true, l.asked.replyTo
		f.HasAsk, f.Ask = l.asked.hasAsk, l.asked.ask
	}
	return f
}

func (e *entry) branchFrames() []BranchFrame {
	out := make([]BranchFrame, len(e.br))
	for i := range e.br {
		b := &e.br[i]
		f := BranchFrame{Index: i, Done: b.done}
		switch {
		case b.done:
			f.Output, f.HasOutput = trust.NewValue(b.out, b.label), true
			f.Reasoning, f.Usage, f.Error = b.reasoning, b.usage, b.fail.reason
			f.SubTrace, f.HasSubTrace = b.sub, b.hasSub
			f.Truncated, f.FinishReason = b.truncated, b.finish
		case b.ask != nil:
			f.Approval = b.ask
		case b.child != nil && b.parked:
			f.Frames = b.child.frames(nil)
		}
		out[i] = f
	}
	return out
}

// plan is what a resumed level still has to take up inside its state.
type plan struct {
	frames   Frames
	branches []BranchFrame
	approval *Approval
}

func (p *plan) total() Usage {
	u := p.frames.total()
	for i := range p.branches {
		u.add(p.branches[i].Usage)
		u.add(p.branches[i].Frames.total())
	}
	return u
}

func (f Frames) total() Usage {
	var u Usage
	for i := range f {
		u.add(Usage{Input: f[i].In, Output: f[i].Out, Estimated: f[i].Estimated})
		for j := range f[i].Branches {
			u.add(f[i].Branches[j].Usage)
			u.add(f[i].Branches[j].Frames.total())
		}
	}
	return u
}

// ResumeOptions is everything a resume changes; it is validated as a whole
// before anything moves.
type ResumeOptions struct {
	Options
	// Inject maps dotted paths to values; they are External whatever their label.
	Inject map[string]trust.Value
	// Unconfirmed says that whoever injects may be a model: its values are kept
	// and confirm nothing.
	Unconfirmed bool
	// Approve and Deny answer pending approvals by id. Expired lists the ids
	// whose time is over; the driver has the clock.
	Approve, Deny, Expired []string
	// DropApprovals forgets every pending approval: the machine changed.
	DropApprovals bool
	// Forced are the reasons that the first step records as resume_forced.
	Forced []string
}

// MismatchError says that frames do not fit the machines. A surface reports it
// as the halt resume-mismatch: ‹message›.
type MismatchError struct{ Message string }

func (e *MismatchError) Error() string { return "resume-mismatch: " + e.Message }

// ApprovalError says that an answer names no approval it could answer.
type ApprovalError struct{ ID, Message string }

func (e *ApprovalError) Error() string { return "approval " + e.ID + ": " + e.Message }

// Resume goes on from frames. Everything is checked first; an error has run nothing.
func Resume(p *Program, f Frames, o ResumeOptions) (*Run, error) {
	if p == nil {
		return nil, fmt.Errorf("resume: no program")
	}
	if len(f) == 0 {
		return nil, &MismatchError{"no frames"}
	}
	if err := p.top.fits(f, 0); err != nil {
		return nil, err
	}
	if o.DropApprovals {
		f = f.withoutApprovals()
	}
	if err := o.checkAnswers(f); err != nil {
		return nil, err
	}
	paths := sortedKeys(o.Inject)
	for _, path := range paths {
		if path == "" || slices.Contains(strings.Split(path, "."), "") {
			return nil, fmt.Errorf("resume: injected path %q has an empty segment", path)
		}
	}
	r, err := prepare(p, o.Options)
	if err != nil {
		return nil, err
	}
	r.approve = map[string]bool{}
	for _, id := range o.Approve {
		r.approve[id] = true
	}
	for _, id := range o.Deny {
		r.approve[id] = false
	}
	r.expired = o.Expired
	f = slices.Clone(f)
	f[len(f)-1] = f[len(f)-1].inject(paths, o.Inject, o.Unconfirmed || !p.unitNamed(f[len(f)-1].Machine).owned)
	r.top.restore(f, 0)
	if o.FlowTainted {
		r.top.flow.Tainted = true
	}
	if r.top.capped && r.top.plan != nil {
		r.top.allowance -= r.top.plan.total().total()
	}
	r.top.forced = o.Forced
	r.top.begin(true)
	r.pump()
	return r, nil
}

// Force has the next step of the top level record reasons as resume_forced, beside
// those that are still to be recorded: a driver that takes a run up in the middle
// of its turn overrode something there.
func (r *Run) Force(reasons ...string) {
	for _, s := range reasons {
		if !slices.Contains(r.top.forced, s) {
			r.top.forced = append(slices.Clip(r.top.forced), s)
		}
	}
}

func (p *Program) unitNamed(name string) *unit {
	for _, u := range p.units {
		if u.m.Name == name {
			return u
		}
	}
	return p.top
}

// fits checks the chain of frames against the machines (LANGUAGE.md §18.3, 7).
func (u *unit) fits(f Frames, depth int) error {
	x := &f[0]
	if x.Machine != u.m.Name {
		return &MismatchError{fmt.Sprintf("frame %d is of machine '%s', expected '%s'", depth, x.Machine, u.m.Name)}
	}
	i, ok := u.index[x.State]
	if !ok {
		return &MismatchError{fmt.Sprintf("frame %d: machine '%s' has no state '%s'", depth, x.Machine, x.State)}
	}
	s := &u.states[i]
	for j := range x.Branches {
		b := &x.Branches[j]
		if b.Index < 0 || b.Index >= len(x.Branches) {
			return &MismatchError{fmt.Sprintf("frame %d: branch %d of %d", depth, b.Index, len(x.Branches))}
		}
		if !s.fan {
			return &MismatchError{fmt.Sprintf("frame %d: state '%s' of machine '%s' has no branches", depth, x.State, x.Machine)}
		}
		if len(b.Frames) == 0 {
			continue
		}
		if s.callee == nil {
			return &MismatchError{fmt.Sprintf("frame %d: state '%s' of machine '%s' calls no machine", depth, x.State, x.Machine)}
		}
		if err := s.callee.fits(b.Frames, depth+1); err != nil {
			return err
		}
	}
	if len(f) == 1 {
		return nil
	}
	if s.callee == nil || s.fan {
		return &MismatchError{fmt.Sprintf("frame %d: state '%s' of machine '%s' does not call '%s'", depth, x.State, x.Machine, f[1].Machine)}
	}
	return s.callee.fits(f[1:], depth+1)
}

func (f Frames) withoutApprovals() Frames {
	out := slices.Clone(f)
	for i := range out {
		out[i].Approval = nil
		out[i].Branches = slices.Clone(out[i].Branches)
		for j := range out[i].Branches {
			b := &out[i].Branches[j]
			b.Approval = nil
			b.Frames = b.Frames.withoutApprovals()
		}
	}
	return out
}

// pendingIDs visits the ids of the approvals that the frames hold.
func (f Frames) pendingIDs(out []string) []string {
	for i := range f {
		if a := f[i].Approval; a != nil {
			out = append(out, a.ID)
		}
		for j := range f[i].Branches {
			b := &f[i].Branches[j]
			if b.Approval != nil {
				out = append(out, b.Approval.ID)
			}
			out = b.Frames.pendingIDs(out)
		}
	}
	return out
}

// Expired lists the ids of pending approvals that were good until before at. One
// whose time cannot be read is over.
func (f Frames) Expired(at time.Time) []string {
	var out []string
	over := func(a *Approval) {
		if until, err := time.Parse(time.RFC3339, a.Expires); err != nil || !at.Before(until) {
			out = append(out, a.ID)
		}
	}
	for i := range f {
		if f[i].Approval != nil {
			over(f[i].Approval)
		}
		for j := range f[i].Branches {
			b := &f[i].Branches[j]
			if b.Approval != nil {
				over(b.Approval)
			}
			out = append(out, b.Frames.Expired(at)...)
		}
	}
	return out
}

func (o *ResumeOptions) checkAnswers(f Frames) error {
	pending := f.pendingIDs(nil)
	for i, ids := range [2][]string{o.Approve, o.Deny} {
		for j, id := range ids {
			switch {
			case id == "" || !slices.Contains(pending, id):
				return &ApprovalError{id, "no approval of this run is pending under this id"}
			case slices.Contains(ids[:j], id), i == 1 && slices.Contains(o.Approve, id):
				return &ApprovalError{id, "answered twice"}
			case i == 0 && slices.Contains(o.Expired, id):
				return &ApprovalError{id, "expired"}
			}
		}
	}
	return nil
}

// inject writes the host's values into a copy of the innermost frame and clears
// the flow flag where they answer the question this suspension asked.
func (f Frame) inject(paths []string, in map[string]trust.Value, unconfirmed bool) Frame {
	f.ResumeInjected = paths
	f.Board = slices.Clone(f.Board)
	for _, path := range paths {
		segments := strings.Split(path, ".")
		at := slices.IndexFunc(f.Board, func(c Cell) bool { return c.Key == segments[0] })
		if at < 0 {
			f.Board = append(f.Board, Cell{Key: segments[0]})
			at = len(f.Board) - 1
		}
		c := &f.Board[at]
		label := in[path].Label().Lowered(trust.LevelExternal).WithSources("host:" + segments[0])
		if c.Version > 0 {
			label = label.Join(c.Value.Label())
		}
		c.Value = trust.NewValue(setPath(c.Value.Value(), segments[1:], in[path].Value()), label)
		c.Version++
	}
	if f.HasReply && !unconfirmed {
		reply := strings.Split(f.ReplyTo, ".")
		for _, path := range paths {
			p := strings.Split(path, ".")
			if len(p) <= len(reply) && slices.Equal(p, reply[:len(p)]) && f.answered(reply) {
				f.FlowTainted, f.FlowBy = false, ""
			}
		}
	}
	return f
}

func setPath(v value.Value, path []string, x value.Value) value.Value {
	if len(path) == 0 {
		return x
	}
	return v.SetPath(path, x)
}

// answered reports whether there is an answer at the reply path: false and 0 are
// answers; nothing, blank text and empty collections are not.
func (f *Frame) answered(reply []string) bool {
	at := slices.IndexFunc(f.Board, func(c Cell) bool { return c.Key == reply[0] })
	if at < 0 {
		return false
	}
	v, ok := f.Board[at].Value.Value(), true
	if len(reply) > 1 {
		v, ok = v.Lookup(reply[1:])
	}
	if !ok {
		return false
	}
	switch v.Kind() {
	case value.Null:
		return false
	case value.String:
		s, _ := v.AsString()
		return strings.TrimSpace(s) != ""
	case value.List, value.Map:
		return v.Len() > 0
	}
	return true
}

// restore makes the level what frame i says, and plans the deeper ones.
func (l *level) restore(f Frames, i int) {
	x := &f[i]
	u := l.u
	l.cur = u.index[x.State]
	l.reenter = x.Entered
	l.steps = x.Steps
	l.used = Usage{Input: x.In, Output: x.Out, Estimated: x.Estimated}
	l.trace = stepsOf(x.Trace)
	l.injected = x.ResumeInjected
	l.outside = x.Outside || len(x.ResumeInjected) > 0
	for _, c := range x.Board {
		v := c.Value
		if !u.owned {
			v = v.Lower(trust.From("checkpoint:" + u.m.Name))
		}
		k := l.board.intern(c.Key)
		l.board.set(k, v)
		l.board.cells[k].ver = max(1, c.Version)
	}
	for _, v := range x.Visits {
		if k, ok := u.index[v.State]; ok {
			l.visits[k] = int32(v.Count)
		}
	}
	seen := make([]bool, len(u.states))
	first := func(k int) {
		if !seen[k] && l.visits[k] > 0 {
			seen[k] = true
			l.entered = append(l.entered, int32(k))
		}
	}
	for j := range x.Trace {
		if k, ok := u.index[x.Trace[j].State]; ok {
			first(k)
		}
	}
	for k := range u.states {
		first(k)
	}
	for _, rl := range x.RepairLeft {
		if k, ok := u.index[rl.State]; ok && rl.Gate >= 0 && rl.Gate < len(u.states[k].gates) {
			if g := &u.states[k].gates[rl.Gate]; g.repair >= 0 {
				l.repairLeft()[g.repair] = int32(min(rl.Left, g.src.Repair))
			}
		}
	}
	l.flow = policy.Flow{Tainted: x.FlowTainted || !u.owned, By: x.FlowBy}
	if x.HasFeedback {
		l.fb = u.feedback(x.Feedback)
	}
	if x.HasReply {
		l.asked = &asked{ask: x.Ask, hasAsk: x.HasAsk, replyTo: x.ReplyTo}
	}
	if i+1 < len(f) || len(x.Branches) > 0 || x.Approval != nil {
		l.plan = &plan{frames: f[i+1:], branches: x.Branches, approval: x.Approval}
	}
}

// feedback is what a frame's feedback line reads as: the author's text when a
// repair gate of the machine wrote it, else data.
func (u *unit) feedback(line string) feedback {
	if line == "" {
		return feedback{}
	}
	for i := range u.states {
		for j := range u.states[i].gates {
			g := &u.states[i].gates[j]
			if g.repair >= 0 && strings.TrimPrefix(g.feedback.String(), "\n\n") == line {
				return feedback{kind: feedbackText, text: g.feedback}
			}
		}
	}
	return feedback{kind: feedbackData, data: trust.External("checkpoint:feedback", line)}
}

// takeUp gives the branches of an entry what the plan kept of them.
func (l *level) takeUp(e *entry) {
	p := l.plan
	if p == nil {
		return
	}
	if !e.fan {
		e.br[0].ask = p.approval
		e.br[0].resume = p.frames
		return
	}
	for i := range p.branches {
		f := &p.branches[i]
		if f.Index >= len(e.br) {
			continue
		}
		b := &e.br[f.Index]
		b.ask, b.resume = f.Approval, f.Frames
		if f.Done && f.HasOutput {
			b.done = true
			b.out, b.label = f.Output.Value(), f.Output.Label()
			b.reasoning, b.usage = f.Reasoning, f.Usage
			b.sub, b.hasSub = f.SubTrace, f.HasSubTrace
			b.truncated, b.finish = f.Truncated, f.FinishReason
			b.fail.reason = f.Error
		}
	}
}

type answer uint8

const (
	answerNone answer = iota
	answerApproved
	answerDenied
)

// answerTo is what a person said to the pending approval of a branch. An
// approval holds for exactly the call it names.
func (r *Run) answerTo(digest string, b *branch) answer {
	if b.ask == nil || b.ask.ID == "" {
		return answerNone
	}
	yes, said := r.approve[b.ask.ID]
	switch {
	case !said:
		return answerNone
	case !yes:
		return answerDenied
	case b.ask.Digest != digest, slices.Contains(r.expired, b.ask.ID), b.ask.Run != r.opt.RunID:
		return answerNone
	}
	b.approval = b.ask.ID
	delete(r.approve, b.ask.ID)
	return answerApproved
}
