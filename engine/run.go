package engine

import (
	"fmt"
	"slices"

	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/trust/unchecked"
	"github.com/pinfold-dev/pinfold/value"
)

// Run is one run of a program. It is used by one goroutine.
type Run struct {
	prog *Program
	opt  Options
	clip int
	top  *level

	queue   []*level // levels that can go on
	ready   Ready
	pending []pending
	byID    map[EffectID]int // index into pending, kept only when there are many
	since   []Applied        // results since the top level's last loop top

	cancelled bool
	live      int  // branches of all fan-outs under way
	shared    bool // a fork reads what pending effects hold: build anew
	args      []policy.Arg
	parts     []trust.Label // scratch for joins
	values    []trust.Value // and for input templates
	pieces    []trust.Piece
	scratch   []byte   // and for a judge's context
	spare     []*level // ended children, to be used again
	entries   []*entry // and what they executed in

	// room for the run that does one thing at a time
	first struct {
		pending [1]pending
		effects [1]Effect
		queue   [1]*level
	}

	// resume
	approve map[string]bool // approval id → approved
	expired []string
}

// pending is an effect that was asked for and has no result yet.
type pending struct {
	eff Effect
	l   *level
	b   *branch // nil for hooks and judges
}

// New starts a run of p at its entry.
func New(p *Program, in Inputs, o Options) (*Run, error) {
	r, err := prepare(p, o)
	if err != nil {
		return nil, err
	}
	l := r.top
	for _, k := range p.top.context {
		l.board.set(k.sym, r.tagged(p.top.syms.names[k.sym], k.val))
	}
	for _, key := range sortedKeys(in) {
		v := in[key]
		i := l.board.intern(key)
		if l.board.has(i) && l.u.owned && value.Equal(l.board.cells[i].val.Value(), v.Value()) && !l.board.cells[i].val.Label().Tainted() {
			// The author's own literal, handed in again: equality decides who chose
			// it, and says nothing of how secret it is.
			if s := v.Label().Secrecy(); s.Len() > 0 {
				l.board.put(i, l.board.cells[i].val.WithSecrecy(s.Items()...))
			}
			continue
		}
		if !l.u.owned {
			v = v.Lower(trust.From("host:" + key)) // nobody answers for this program: no key of it is the author's
		}
		l.board.put(i, r.tagged(key, v))
	}
	l.begin(false)
	r.pump()
	return r, nil
}

// prepare makes a run with its top level, before anything is on the board.
func prepare(p *Program, o Options) (*Run, error) {
	if p == nil {
		return nil, fmt.Errorf("engine: no program")
	}
	if o.HasCostBudget && o.CostBudget < 0 {
		return nil, fmt.Errorf("engine: cost budget %d, expected 0 or more", o.CostBudget)
	}
	r := &Run{prog: p, opt: o, clip: o.PromptValueChars}
	if r.clip == 0 {
		r.clip = defaultClip
	}
	r.pending, r.ready.Effects, r.queue = r.first.pending[:0], r.first.effects[:0], r.first.queue[:0]
	r.parts = make([]trust.Label, 0, 8)
	l := r.level(p.top, p.top.m.Name)
	l.capped, l.allowance = o.HasCostBudget, o.CostBudget
	l.flow.Tainted = o.FlowTainted || !p.top.owned
	r.top = l
	return r, nil
}

// defaultClip is the value clip of LANGUAGE.md §6, in characters.
const defaultClip = 20_000

func (r *Run) level(u *unit, path string) *level {
	var l *level
	if n := len(r.spare); n > 0 {
		l = r.spare[n-1]
		r.spare = r.spare[:n-1]
		*l = level{board: l.board.renew(&u.syms), visits: renew(l.visits, len(u.states)), entered: l.entered[:0]}
	} else {
		n := len(u.states)
		both := make([]int32, 2*n)
		l = &level{board: newBoard(&u.syms), visits: both[:n:n], entered: both[n:n]}
	}
	l.r, l.u, l.path, l.cur, l.phase = r, u, path, -1, phaseEnded
	if i, ok := u.index[u.m.Entry]; ok {
		l.cur = i
	}
	return l
}

// recycle takes an ended child back. Its trace is its caller's now, and a board
// that somebody was shown stays as it is.
func (r *Run) recycle(l *level) {
	if l.e != nil {
		r.entries = append(r.entries, l.e)
		l.e = nil
	}
	r.spare = append(r.spare, l)
}

func renew(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// tagged adds the secrecy tags that the host gave a key.
func (r *Run) tagged(key string, v trust.Value) trust.Value {
	tags := r.opt.Secrecy[key]
	if len(tags) == 0 {
		return v
	}
	return v.WithSecrecy(tags...)
}

func branchIndex(i int) trust.Value {
	return unchecked.Index(i, "a fan-out's own count of its branches")
}

func (r *Run) wake(l *level) { r.queue = append(r.queue, l) }

func (r *Run) pump() {
	for i := 0; i < len(r.queue); i++ {
		r.queue[i].advance()
	}
	clear(r.queue)
	r.queue = r.queue[:0]
}

func (r *Run) event(e Event) {
	if !r.opt.Quiet {
		r.ready.Events = append(r.ready.Events, e)
	}
}

func (r *Run) record(rec Record) { r.ready.Records = append(r.ready.Records, rec) }

const manyPending = 16

func (r *Run) ask(e Effect, p pending) {
	p.eff = e
	r.ready.Effects = append(r.ready.Effects, e)
	r.pending = append(r.pending, p)
	if r.byID != nil {
		r.byID[e.ID()] = len(r.pending) - 1
	} else if len(r.pending) > manyPending {
		r.byID = make(map[EffectID]int, 2*len(r.pending))
		for i := range r.pending {
			r.byID[r.pending[i].eff.ID()] = i
		}
	}
}

// take removes and returns a pending effect. The order of the others is not kept.
func (r *Run) take(id EffectID) (pending, bool) {
	at := -1
	if r.byID != nil {
		if i, ok := r.byID[id]; ok {
			at = i
		}
	} else {
		for i := range r.pending {
			if r.pending[i].eff.ID() == id {
				at = i
				break
			}
		}
	}
	if at < 0 {
		return pending{}, false
	}
	return r.pending[at], true
}

func (r *Run) drop(id EffectID) {
	last := len(r.pending) - 1
	at := last
	if r.byID != nil {
		at = r.byID[id]
		delete(r.byID, id)
		if at != last {
			r.byID[r.pending[last].eff.ID()] = at
		}
	} else {
		for i := range r.pending {
			if r.pending[i].eff.ID() == id {
				at = i
				break
			}
		}
	}
	r.pending[at] = r.pending[last]
	r.pending[last] = pending{}
	r.pending = r.pending[:last]
	if last == 0 {
		r.byID = nil
	}
}

func (r *Run) conclude(o Outcome) {
	r.ready.Outcome = o
	r.spare, r.entries, r.parts, r.args, r.scratch, r.values, r.pieces = nil, nil, nil, nil, nil, nil, nil
	if r.opt.Journal {
		r.record(Record{Kind: RecordOutcome, ID: EffectID{Path: r.top.path, Branch: -1}, Outcome: o})
	}
}

// Ready is what the last call came to. Calling it again gives the same.
func (r *Run) Ready() Ready { return r.ready }

// UnknownEffectError says that a result names no effect that is pending.
type UnknownEffectError struct{ ID EffectID }

func (e *UnknownEffectError) Error() string {
	return fmt.Sprintf("no pending effect %s", e.ID)
}

// DuplicateResultError says that an effect was given a second result.
type DuplicateResultError struct{ ID EffectID }

func (e *DuplicateResultError) Error() string {
	return fmt.Sprintf("effect %s has a result already", e.ID)
}

// ResultTypeError says that a result does not answer the effect it names.
type ResultTypeError struct {
	ID       EffectID
	Expected string
	Found    Result
}

func (e *ResultTypeError) Error() string {
	return fmt.Sprintf("effect %s: expected %s or Failed, found %T", e.ID, e.Expected, e.Found)
}

// Step gives the result of an effect. An UnknownEffectError, DuplicateResultError
// or ResultTypeError changes nothing.
func (r *Run) Step(id EffectID, res Result) error {
	p, ok := r.take(id)
	if !ok {
		for i := range r.since {
			if r.since[i].ID == id {
				return &DuplicateResultError{id}
			}
		}
		return &UnknownEffectError{id}
	}
	expected, fits := "", false
	_, failed := res.(Failed)
	switch p.eff.(type) {
	case *Produce:
		_, fits = res.(Produced)
		expected = "Produced"
	case *Tool:
		_, fits = res.(Observed)
		expected = "Observed"
	case *Judge:
		_, fits = res.(Judged)
		expected = "Judged"
	case *Hook:
		_, fits = res.(Answered)
		expected = "Answered"
	}
	if !fits && !failed {
		return &ResultTypeError{id, expected, res}
	}
	r.drop(id)
	r.clearReady()
	r.since = append(r.since, Applied{id, res})
	if r.opt.Journal {
		rec := Record{Kind: RecordResult, ID: id, Result: res}
		if p.b != nil {
			rec.Reads = p.b.reads
		} else if id.Phase == PhaseJudge {
			rec.Reads = p.l.e.pick.reads
		}
		r.record(rec)
	}
	switch x := res.(type) {
	case Produced:
		p.l.produced(p.b, x)
	case Observed:
		p.l.observed(p.b, x)
	case Judged:
		p.l.judged(x)
	case Answered:
		p.l.answered(x)
	case Failed:
		if p.b != nil {
			p.l.failed(p.b, x)
		} else {
			p.l.unanswered(x, id.Phase)
		}
	}
	r.pump()
	return nil
}

func (r *Run) clearReady() {
	clear(r.ready.Records)
	clear(r.ready.Events)
	clear(r.ready.Effects)
	r.ready.Records, r.ready.Events, r.ready.Effects = r.ready.Records[:0], r.ready.Events[:0], r.ready.Effects[:0]
}

// Cancel makes the run, and every child run, halt at its next loop top.
func (r *Run) Cancel() error {
	if r.ready.Outcome != nil {
		return fmt.Errorf("cancel: the run has ended")
	}
	r.cancelled = true
	return nil
}

// Usage is the run's tokens at all levels, recorded or not.
func (r *Run) Usage() Usage { return r.top.total() }

// Steps, Trace and Context are the top level's.
func (r *Run) Steps() int         { return r.top.steps }
func (r *Run) Trace() []TraceStep { return r.top.trace.all() }
func (r *Run) Context() View {
	r.top.board.freeze()
	return View{r.top.board}
}

// Pending lists every effect without a result, in no particular order: what a
// driver that takes over a run starts with.
func (r *Run) Pending() []Effect {
	out := make([]Effect, len(r.pending))
	for i := range r.pending {
		out[i] = r.pending[i].eff
	}
	return out
}

// Machine is the machine at the top of the run.
func (r *Run) Machine() *mkl.Machine { return r.prog.top.m }

func sortedKeys[V any](m map[string]V) []string {
	if len(m) == 0 {
		return nil
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
