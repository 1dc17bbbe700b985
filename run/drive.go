package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/engine"
)

// Drive drives r, fresh or resumed, to the end of its turn. When ctx ends the
// run is cancelled: it halts at its next loop top, what is in flight is waited
// for and sees ctx.
func Drive(ctx context.Context, r *engine.Run, c Config) (*Result, error) {
	d := driver{p: NewPerformer(c), c: &c, r: r, ctx: ctx, done: ctx.Done()}
	defer d.close()
	first := true
	for {
		ready := r.Ready()
		if first {
			ready.Effects, first = takenUp(r, ready.Effects), false
		}
		if c.Journal != nil && len(ready.Records) > 0 {
			if err := c.Journal.Append(ctx, c.Options.RunID, d.seq, ready.Records); err != nil {
				return nil, fmt.Errorf("journal: run %s: %w", c.Options.RunID, err)
			}
			d.seq += uint64(len(ready.Records))
		}
		if s, ok := ready.Outcome.(engine.Suspended); ok {
			if err := d.approvals(s); err != nil {
				return nil, err
			}
			ready = r.Ready()
		}
		// The straight path: one effect and nothing else outstanding is performed
		// here and now, without a goroutine or a map.
		straight := len(ready.Effects) == 1 && ready.Effects[0].Group() == "" && !d.sched.busy()
		if !straight && len(ready.Effects) > 0 {
			d.sched.admit(ready, c.workers())
		}
		if !straight || d.sched.last != nil {
			d.sched.settle()
		}
		if c.Observer != nil {
			d.observe(ready.Events)
		}
		if ready.Outcome != nil {
			if d.sched.busy() {
				return nil, errors.New("the run ended while effects were outstanding")
			}
			return d.result(ready.Outcome), nil
		}
		var t task
		var res engine.Result
		var err error
		if straight {
			t.e = ready.Effects[0]
			res, err = d.p.Perform(ctx, t.e)
		} else {
			t, res, err = d.next()
		}
		if err != nil {
			return nil, err
		}
		if d.done != nil && !d.cancelled && ctx.Err() != nil {
			d.cancelled = true
			if err := r.Cancel(); err != nil {
				return nil, fmt.Errorf("cancelling: %w", err)
			}
		}
		if err := r.Step(t.e.ID(), res); err != nil {
			return nil, fmt.Errorf("giving back a result: %w", err)
		}
		if !straight {
			d.sched.landed(t.s, res)
		}
	}
}

// takenUp is everything that a run has asked for and got no result of: a run that
// was brought to the middle of its turn asks for more than its last step did.
func takenUp(r *engine.Run, asked []engine.Effect) []engine.Effect {
	all := r.Pending()
	if len(all) == len(asked) {
		return asked
	}
	slices.SortFunc(all, func(a, b engine.Effect) int {
		x, y := a.ID(), b.ID()
		return cmp.Or(natural(x.Path, y.Path), cmp.Compare(x.Branch, y.Branch), cmp.Compare(x.Seq, y.Seq))
	})
	return all
}

// natural compares paths with the numbers in them as numbers: branches stay in
// their order.
func natural(a, b string) int {
	digits := func(s string) int {
		n := 0
		for n < len(s) && '0' <= s[n] && s[n] <= '9' {
			n++
		}
		return n
	}
	for a != "" && b != "" {
		n, m := digits(a), digits(b)
		if n > 0 && m > 0 && n != m {
			return n - m
		}
		n = max(1, min(n, m))
		if c := strings.Compare(a[:n], b[:n]); c != 0 {
			return c
		}
		a, b = a[n:], b[n:]
	}
	return len(a) - len(b)
}

func (c *Config) workers() int {
	switch {
	case c.Sequential:
		return 1
	case c.MaxWorkers <= 0:
		return DefaultMaxWorkers
	}
	return c.MaxWorkers
}

// driver is one turn.
type driver struct {
	p         *Performer
	c         *Config
	r         *engine.Run
	ctx       context.Context
	done      <-chan struct{}
	cancelled bool
	seq       uint64

	sched    scheduler
	inflight int
	results  chan landing
	stop     context.CancelFunc // ends what is in flight when the turn is given up
	work     context.Context
	told     map[place]map[int]bool // branches whose end the observer knows of
}

// landing is an effect that came to something.
type landing struct {
	task
	res engine.Result
	err error
}

// next performs what may start and waits for one effect to come to something. An
// effect that nothing runs beside is performed here; in sequence that is every one.
func (d *driver) next() (task, engine.Result, error) {
	ready := d.sched.ready
	if len(ready) > 0 && d.inflight == 0 && (d.c.Sequential || len(ready) == 1) {
		t := ready[0]
		d.sched.ready = append(ready[:0], ready[1:]...)
		res, err := d.p.Perform(d.ctx, t.e)
		return t, res, err
	}
	d.sched.ready = ready[:0]
	for _, t := range ready {
		d.start(t)
	}
	if d.inflight == 0 {
		return task{}, nil, errStuck
	}
	l := <-d.results
	d.inflight--
	return l.task, l.res, l.err
}

var errStuck = errors.New("the run asks for nothing and has not ended")

func (d *driver) start(t task) {
	if d.results == nil {
		d.results = make(chan landing, 16)
		d.work, d.stop = context.WithCancel(d.ctx)
	}
	d.inflight++
	go func() {
		res, err := d.p.Perform(d.work, t.e)
		d.results <- landing{t, res, err}
	}()
}

// close leaves nothing running: a turn that is given up waits for what it had
// started.
func (d *driver) close() {
	if d.stop == nil {
		return
	}
	d.stop()
	for ; d.inflight > 0; d.inflight-- {
		<-d.results
	}
}

// approvals draws ids and an expiry for the approvals that have none yet.
func (d *driver) approvals(s engine.Suspended) error {
	for i := range s.Approvals {
		a := &s.Approvals[i]
		if a.ID != "" {
			continue
		}
		id, err := d.c.newID()
		if err != nil {
			return fmt.Errorf("drawing an approval id: %w", err)
		}
		if err := d.r.SetApproval(a.State, id, d.c.expiry()); err != nil {
			return fmt.Errorf("approval of %s: %w", a.State, err)
		}
	}
	return nil
}

func (d *driver) result(o engine.Outcome) *Result {
	res := &Result{
		RunID:   d.c.Options.RunID,
		Usage:   d.r.Usage(),
		Steps:   d.r.Steps(),
		Trace:   d.r.Trace(),
		Context: d.r.Context(),
	}
	switch o := o.(type) {
	case engine.Done:
		res.Status, res.Result = StatusDone, o.Result
	case engine.Halted:
		res.Status, res.Error, res.At, res.Diagnosis = StatusHalt, o.Reason, o.At, o.Diagnosis
	case engine.Suspended:
		res.Status, res.Error, res.At = StatusSuspended, o.Reason, o.At
		res.Ask, res.HasAsk, res.ReplyTo = o.Ask, o.HasAsk, o.ReplyTo
		res.Approvals = o.Approvals
		res.Frames = d.r.Snapshot().Frames
	}
	return res
}
