package engine

import (
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// level is the run of one machine at one call depth. It moves through phases;
// between two calls of advance it waits for effects or for children.
type level struct {
	r      *Run
	u      *unit
	path   string
	depth  int
	fanned bool // inside a fan-out branch, at any depth: never suspends on its own steps or escalations
	group  GroupID

	parent *level
	slot   int // branch of the parent's entry

	phase phase
	cur   int
	board *board
	steps int
	used  Usage // recorded steps only: what the frames of the last loop top say

	capped    bool
	allowance int

	since   int // results of the run that were in when this level was at its loop top
	visits  []int32
	entered []int32 // states by first entry, for the diagnosis' ties
	repairs []int32 // left, by repair slot; nil: all full
	fb      feedback
	flow    policy.Flow
	trace   steps
	e       *entry

	reenter bool // resumed inside its state: neither counted nor checked again
	plan    *plan
	forced  []string
	asked   *asked // this level stands at the handler of an escalation

	injected []string    // resume_injected of this level's frame
	outside  bool        // a resume put outside data into it or into a child of it
	seen     trust.Label // what the last judge of this level read

	end finish
}

type phase uint8

const (
	phaseTop phase = iota
	phaseRun
	phaseSelect
	phaseAsked // a hook or a judge was asked
	phaseSuspended
	phaseEnded
)

// feedback is what a repair gate leaves for the next execution. Text that a
// frame brings and that no gate of the machine wrote is data.
type feedback struct {
	text trust.Text
	data trust.Data
	kind feedbackKind
}

type feedbackKind uint8

const (
	feedbackNone feedbackKind = iota
	feedbackText
	feedbackData
)

// asked is what an escalation left at its handler.
type asked struct {
	ask     string
	hasAsk  bool
	replyTo string
}

// finish is how a level ended.
type finish struct {
	done   bool
	reason string
	at     string
	stop   stop
	result trust.Value
}

// stop is why a failure must stop a fan-out and never become a marker. It is
// carried as a type, at any call depth, and not read from text.
type stop uint8

const (
	stopNone stop = iota
	stopTruncated
	stopRule
	stopDenied
	stopCancelled
	stopCost
)

// failure is why a state, or a branch of it, did not come to an output.
type failure struct {
	reason   string // what a plain state halts with; "" when nothing failed
	stop     stop
	internal bool
}

func stateError(msg string) failure { return failure{reason: "state-error: " + msg} }

func (l *level) advance() {
	for {
		switch l.phase {
		case phaseTop:
			if !l.enter() {
				return
			}
		case phaseRun:
			if l.e.waiting > 0 || !l.settle() {
				return
			}
		case phaseSelect:
			if !l.choose() {
				return
			}
		default:
			return
		}
	}
}

// begin announces the level and puts it at its first loop top.
func (l *level) begin(resumed bool) {
	entry := l.u.m.Entry
	if resumed {
		entry = l.u.states[l.cur].id
	}
	if !l.r.opt.Quiet {
		l.r.event(Event{Type: EventRunStart, Machine: l.u.m.Name, Depth: l.depth, Entry: entry, Resumed: resumed})
	}
	if l.cur < 0 {
		l.halt(failure{reason: "state-error: unknown state '" + l.u.m.Entry + "'"}, "")
		return
	}
	l.phase = phaseTop
	l.r.wake(l)
}

// enter is the loop top and the entry of a state (LANGUAGE.md §7.1, 1–4).
func (l *level) enter() bool {
	r, s := l.r, &l.u.states[l.cur]
	if l.parent == nil {
		r.since = r.since[:0]
	}
	l.since = len(r.since)
	switch {
	case r.cancelled:
		return l.halt(failure{reason: "cancelled", stop: stopCancelled}, s.id)
	case l.steps >= l.u.m.Budget:
		if r.opt.Suspendable && !l.fanned {
			return l.suspend(suspension{reason: "budget-exhausted", at: s.id})
		}
		return l.halt(failure{reason: "budget-exhausted"}, "")
	case l.capped && l.used.total() >= l.allowance:
		if r.opt.Suspendable {
			return l.suspend(suspension{reason: "cost-exhausted", at: s.id})
		}
		return l.halt(failure{reason: "cost-exhausted", stop: stopCost}, "")
	case !l.reenter && s.src.MaxVisits > 0 && int(l.visits[l.cur]) >= s.src.MaxVisits:
		return l.halt(failure{reason: "loop-ceiling"}, s.id)
	}
	if !l.reenter {
		if l.visits[l.cur] == 0 {
			l.entered = append(l.entered, int32(l.cur))
		}
		l.visits[l.cur]++
	}
	e := l.fresh(s)
	e.reentered = l.reenter
	l.reenter, l.asked = false, nil
	if !r.opt.Quiet {
		r.event(Event{Type: EventStateStart, Machine: l.u.m.Name, Depth: l.depth, State: s.id, Step: l.steps + 1, Kind: s.src.Kind.String(), Tier: s.traced})
	}

	if s.fan {
		if f := l.spread(e); f.reason != "" {
			e.active = false
			return l.halt(f, s.id)
		}
	}
	l.takeUp(e)
	if s.src.Kind == mkl.Tool {
		if !l.guard(e) {
			return false
		}
	}
	l.charge(e)
	l.execute(e)
	l.phase = phaseRun
	return true
}

func (l *level) charge(e *entry) {
	e.charge = max(1, e.n)
	l.steps += e.charge
	e.fb, l.fb = l.fb, feedback{}
	e.charged = true
}

// maxBranches bounds the branches that a run has under way, in all its fan-outs
// together, before anything is allocated in proportion: the width may be an
// outsider's or a model's choice.
const maxBranches = 100_000

// spread resolves sample or over into branches.
func (l *level) spread(e *entry) failure {
	s := e.s
	if s.src.Sample > 0 {
		e.n = s.src.Sample
	} else {
		if s.over == nil {
			return stateError("over: no placeholder")
		}
		list, found := trust.Value{}, false
		if l.board.has(s.over.sym) {
			whole := l.board.cells[s.over.sym].val
			e.label = whole.Label()
			list, found = whole.Lookup(s.over.path)
		}
		v := list.Value()
		switch {
		case !found || v.IsNull():
			return stateError("over: nothing at '" + s.over.label + "', expected a list")
		case v.Kind() != value.List:
			return stateError("over: '" + s.over.label + "' is a " + kindName(v.Kind()) + ", expected a list")
		}
		e.list, e.n = list, v.Len()
		e.over = true
	}
	if e.n > maxBranches-l.r.live {
		return stateError("over: " + strconv.Itoa(e.n) + " branches beside " + strconv.Itoa(l.r.live) + ", expected " + strconv.Itoa(maxBranches) + " at most")
	}
	l.r.live += e.n
	e.fan = true
	e.group = GroupID(l.path + "/" + s.id + "#" + strconv.Itoa(int(e.visit)))
	e.br = make([]branch, e.n)
	for i := range e.br {
		e.br[i].index = int32(i)
	}
	return failure{}
}

func kindName(k value.Kind) string {
	switch k {
	case value.Null:
		return "null"
	case value.Bool:
		return "boolean"
	case value.Int, value.Float:
		return "number"
	case value.String:
		return "string"
	case value.List:
		return "list"
	}
	return "map"
}

// settle merges what the branches came to: deposit and go on, or fail.
func (l *level) settle() bool {
	e, s := l.e, l.e.s
	e.settled = true
	if e.fan {
		l.r.live -= e.n
	}
	for i := range e.br {
		e.cost.add(e.br[i].usage)
	}
	if !e.fan {
		b := &e.br[0]
		e.truncated, e.finish = b.truncated, b.finish
		if b.fail.reason != "" {
			return l.fail(b.fail)
		}
		l.deposit(b.out, b.label)
		return true
	}
	for i := range e.br {
		b := &e.br[i]
		if b.truncated && !e.truncated {
			e.truncated, e.finish = true, b.finish
		}
	}
	for i := range e.br {
		b := &e.br[i]
		if b.parked {
			e.cost, e.settled = Usage{}, false // stays with the branches until they are done
			sus := suspension{reason: "approval-required", at: s.id}
			if b.child != nil && b.child.end.reason != "" {
				sus.reason = b.child.end.reason
			}
			return l.suspend(sus)
		}
		if b.fail.stop != stopNone {
			return l.fail(b.fail)
		}
	}
	out := make([]value.Value, e.n)
	parts := l.r.parts[:0]
	if s.src.Kind != mkl.Call {
		parts = append(parts, s.label)
	} else if e.n == 0 {
		base := trust.ModelLabel("call:" + s.src.Callee)
		if !l.u.owned || s.callee != nil && s.callee.foreign {
			base = s.label
		}
		parts = append(parts, base)
	}
	if e.over {
		parts = append(parts, e.label)
	}
	for i := range e.br {
		b := &e.br[i]
		out[i] = b.out
		parts = append(parts, b.label)
	}
	l.deposit(value.FromList(out...), l.join(e, parts).Lowered(trust.LevelModel))
	return true
}

// deposit writes the output (LANGUAGE.md §7.4). It stays whatever the gates do.
func (l *level) deposit(out value.Value, label trust.Label) {
	e, sym := l.e, l.e.s.output
	e.output, e.hasOutput = trust.NewValue(out, label), true
	v := e.output
	b := l.write()
	old := b.cells[sym]
	if e.s.src.Accumulate {
		switch {
		case old.ver == 0:
			v = trust.NewValue(value.FromList(out), label)
		case old.val.Value().Kind() == value.List:
			v = trust.NewValue(old.val.Value().Append(out), label.Join(old.val.Label()))
		default:
			v = trust.NewValue(value.FromList(old.val.Value(), out), label.Join(old.val.Label()))
		}
	}
	if tags := l.r.opt.Secrecy[e.s.src.Output]; len(tags) > 0 {
		v = v.WithSecrecy(tags...)
	}
	b.set(sym, v)
	e.undo, e.deposited = old, true
	if l.r.opt.Journal {
		l.r.record(Record{Kind: RecordDeposit, ID: l.place(), Key: e.s.src.Output, Version: b.cells[sym].ver, Label: v.Label()})
	}
	e.gates(l)
	l.phase = phaseSelect
}

// write is the board, cloned first when somebody else holds it.
func (l *level) write() *board {
	if l.board.frozen {
		l.board = l.board.clone()
	}
	return l.board
}

func (l *level) place() EffectID {
	return EffectID{Path: l.path, State: l.e.s.id, Visit: l.e.visit, Branch: -1}
}

// fail records the step of a state that came to no transition, and halts.
func (l *level) fail(f failure) bool {
	at := l.e.s.id
	l.record(nil, ViaNone, pseudo(f.reason))
	return l.halt(f, at)
}

// pseudo is the policy of a step that ended the run: the reason up to its first colon.
func pseudo(reason string) string {
	head, _, _ := strings.Cut(reason, ":")
	return head
}

// halt ends the level without a result.
func (l *level) halt(f failure, at string) bool {
	l.finish(finish{reason: f.reason, at: at, stop: f.stop})
	return false
}

func (l *level) finish(end finish) {
	l.end = end
	l.phase = phaseEnded
	status := "halt"
	if end.done {
		status = "done"
	}
	if !l.r.opt.Quiet {
		l.r.event(Event{Type: EventRunFinished, Machine: l.u.m.Name, Depth: l.depth, Status: status, Error: end.reason, At: end.at, Tokens: l.total()})
	}
	if l.parent != nil {
		l.parent.childEnded(l)
		return
	}
	l.e = nil
	if end.done {
		l.r.conclude(Done{Result: end.result})
		return
	}
	h := Halted{Reason: end.reason, At: end.at}
	if end.reason == "budget-exhausted" || end.reason == "cost-exhausted" {
		h.Diagnosis = l.diagnosis()
	}
	l.r.conclude(h)
}

// diagnosis names the state entered most often, twice at least; of several the
// one entered first.
func (l *level) diagnosis() *Diagnosis {
	best := int32(-1)
	for _, i := range l.entered {
		if l.visits[i] >= 2 && (best < 0 || l.visits[i] > l.visits[best]) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return &Diagnosis{State: l.u.states[best].id, Visits: int(l.visits[best])}
}

// move follows the gate that fired (LANGUAGE.md §7.6).
func (l *level) move(g *gate, raw trust.Value) bool {
	here := l.u.states[l.cur].id
	switch g.src.Policy {
	case mkl.PolicyFail:
		return l.halt(failure{reason: "gate-fail"}, here)
	case mkl.PolicyRepair:
		if g.src.Repair < 1 {
			return l.halt(stateError("repair has no budget"), here)
		}
		l.repairLeft()[g.repair]--
		l.fb = feedback{kind: feedbackText, text: g.feedback}
	}
	switch {
	case !g.src.HasTo:
		return l.halt(stateError("gate has no target"), here)
	case g.next == nextUnknown:
		return l.halt(stateError("unknown state '"+g.src.To+"'"), here)
	case g.next == nextEnd:
		l.finish(finish{done: true, result: l.result(raw)})
		return false
	}
	l.cur = g.next
	l.phase = phaseTop
	if g.src.Policy == mkl.PolicyEscalate && l.r.opt.EscalateSuspend && !l.fanned {
		l.asked = &asked{ask: g.src.Ask, hasAsk: g.src.HasAsk, replyTo: g.replyTo}
		return l.suspend(suspension{reason: "escalated", at: l.u.states[l.cur].id, asked: l.asked})
	}
	return true
}

func (l *level) result(raw trust.Value) trust.Value {
	if l.u.result < 0 {
		return raw
	}
	if !l.board.has(l.u.result) {
		if !l.u.owned {
			return trust.NewValue(value.Value{}, l.u.label)
		}
		return trust.NewValue(value.Value{}, trust.ModelLabel("machine:"+l.u.m.Name))
	}
	return l.board.cells[l.u.result].val
}

// repairLeft is the level's own copy of the repair budgets.
func (l *level) repairLeft() []int32 {
	if l.repairs == nil {
		l.repairs = make([]int32, l.u.repairs)
		for i := range l.u.states {
			for j := range l.u.states[i].gates {
				if g := &l.u.states[i].gates[j]; g.repair >= 0 {
					l.repairs[g.repair] = int32(g.src.Repair)
				}
			}
		}
	}
	return l.repairs
}

func (l *level) left(g *gate) int {
	if l.repairs != nil {
		return int(l.repairs[g.repair])
	}
	return g.src.Repair
}

// total is the tokens of this level and everything below it, recorded or not.
func (l *level) total() Usage {
	u := l.used
	if e := l.e; e != nil && e.active {
		u.add(e.cost)
		if !e.settled {
			for i := range e.br {
				b := &e.br[i]
				if b.child != nil && !b.done {
					u.add(b.child.total())
				} else {
					u.add(b.usage)
				}
			}
		}
	}
	if l.plan != nil {
		u.add(l.plan.total())
	}
	return u
}

func (u *Usage) add(o Usage) {
	u.Input += o.Input
	u.Output += o.Output
	u.Estimated = u.Estimated || o.Estimated
}

func (u Usage) total() int { return u.Input + u.Output }
