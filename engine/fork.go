package engine

import (
	"slices"

	"github.com/pinfold-dev/pinfold/policy"
)

// Fork is a second run at the same place. It shares the program, the boards and
// the traces and copies what is small; either run goes on without the other
// seeing it, on another goroutine too. Its Ready lists every pending effect.
//
// A fork is for exploring. An approval is good once, so the fork has none: a call
// that a person approved is handed to it without a decision to allow it, which no
// driver performs.
func (r *Run) Fork() *Run {
	n := *r
	n.queue, n.args, n.parts, n.scratch, n.values, n.pieces, n.byID, n.spare, n.entries = nil, nil, nil, nil, nil, nil, nil, nil, nil
	n.since = slices.Clone(r.since)
	n.approve = nil
	r.shared, n.shared = true, true // pending prompts are read by both from now on
	moved := map[*level]*level{}
	n.top = r.top.fork(&n, nil, moved)
	n.pending = make([]pending, len(r.pending))
	n.ready = Ready{Outcome: r.ready.Outcome}
	for i, p := range r.pending {
		q := pending{l: moved[p.l]}
		switch p.eff.(type) {
		case *Produce, *Tool:
			q.b = &q.l.e.br[max(0, int(p.b.index))]
			if _, ok := p.eff.(*Produce); ok {
				q.eff = &q.b.produce
			} else {
				q.eff = &q.b.tool
				if q.b.tool.Approval != "" { // good once, and the run that was forked has it
					q.b.tool.Approval, q.b.tool.Decision = "", policy.Decision{}
					q.b.approval = ""
				}
			}
		case *Hook:
			q.eff = &q.l.e.pick.askHook
		case *Judge:
			q.eff = &q.l.e.pick.askJudge
		}
		n.pending[i] = q
		n.ready.Effects = append(n.ready.Effects, q.eff)
	}
	if len(n.pending) > manyPending {
		n.byID = make(map[EffectID]int, len(n.pending))
		for i := range n.pending {
			n.byID[n.pending[i].eff.ID()] = i
		}
	}
	return &n
}

func (l *level) fork(r *Run, parent *level, moved map[*level]*level) *level {
	c := *l
	moved[l] = &c
	c.r, c.parent = r, parent
	l.board.freeze()
	c.visits, c.entered, c.repairs = slices.Clone(l.visits), slices.Clone(l.entered), slices.Clone(l.repairs)
	c.trace = l.trace.fork()
	if l.e == nil {
		return &c
	}
	e := *l.e
	c.e = &e
	if l.e.fan {
		e.br = slices.Clone(l.e.br)
	} else {
		e.br = e.one[:]
	}
	if l.e.marks != nil {
		m := *l.e.marks
		e.marks = &m
	}
	for i := range e.br {
		b := &e.br[i]
		b.args, b.reads = slices.Clone(b.args), slices.Clone(b.reads)
		b.tool.Args = b.args
		if b.ask != nil {
			a := *b.ask
			b.ask = &a
		}
		if b.child != nil {
			b.child = b.child.fork(r, &c, moved)
		}
	}
	p := &e.pick
	p.eligible, p.batch, p.reads = slices.Clone(p.eligible), slices.Clone(p.batch), slices.Clone(p.reads)
	return &c
}
