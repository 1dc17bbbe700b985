package run

import (
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/value"
)

// Event is one thing that an observer sees: *engine.Event, or the driver's own
// *BranchDone.
type Event interface{ Value() value.Value }

// Observer takes events in order. What it is given is valid during the call.
type Observer func(Event)

// BranchDone says that a branch of a fan-out came to its end, in completion
// order (LANGUAGE.md §17).
type BranchDone struct {
	Machine string
	Depth   int
	State   string
	Index   int
	Tokens  engine.Usage
	Error   string // "" when it came to an output
}

// Value is the event's wire form.
func (b *BranchDone) Value() value.Value {
	e := []value.Entry{
		{Key: "type", Value: value.FromString("branch-done")},
		{Key: "machine", Value: value.FromString(b.Machine)},
		{Key: "depth", Value: value.FromInt(int64(b.Depth))},
		{Key: "state", Value: value.FromString(b.State)},
		{Key: "index", Value: value.FromInt(int64(b.Index))},
		{Key: "tokens", Value: b.Tokens.Value()},
	}
	if b.Error != "" {
		e = append(e, value.Entry{Key: "error", Value: value.FromString(b.Error)})
	}
	return value.FromEntries(e...)
}

// place is where a fan-out stands.
type place struct {
	machine string
	depth   int
	state   string
}

// locate reads from a fan-out's id, and from the state-start that announced it,
// where it stands.
func locate(id string, events []engine.Event) place {
	level, last := id, ""
	if i := strings.LastIndexByte(id, '#'); i >= 0 {
		level = id[:i]
	}
	depth := strings.Count(level, "/") / 2
	var found *engine.Event
	for i := range events {
		e := &events[i]
		if e.Type == engine.EventStateStart && strings.HasSuffix(level, e.Machine+"/"+e.State) && (found == nil || e.Depth == depth) {
			found = e
		}
	}
	if found != nil {
		return place{found.Machine, found.Depth, found.State}
	}
	// Only the names are left to go by.
	if i := strings.LastIndexByte(level, '/'); i >= 0 {
		level, last = level[:i], level[i+1:]
	}
	return place{level[strings.LastIndexByte(level, '/')+1:], depth, last}
}

// observe tells the observer what happened: a branch's end stands after what
// happened inside it and before what followed from it.
func (d *driver) observe(events []engine.Event) {
	over := d.sched.over
	d.sched.over = over[:0]
	for i := range events {
		e := &events[i]
		for len(over) > 0 && e.Depth <= over[0].g.at.depth {
			d.branchDone(over[0])
			over = over[1:]
		}
		switch {
		case e.Type == engine.EventRunFinished && e.Status == string(StatusHalt):
			for _, sl := range over {
				if sl.calls && sl.g.at.depth+1 == e.Depth {
					sl.failed = "call-failed: " + e.Error
				}
			}
		case e.Type == engine.EventStateDone && e.Trace != nil && e.Trace.Fan() != nil:
			d.unseen(e)
		}
		d.tell(e)
	}
	for _, sl := range over {
		d.branchDone(sl)
	}
}

func (d *driver) branchDone(sl *slot) {
	at := sl.g.at
	if d.told == nil {
		d.told = map[place]map[int]bool{}
	}
	if d.told[at] == nil {
		d.told[at] = map[int]bool{}
	}
	d.told[at][sl.branch] = true
	d.tell(&BranchDone{at.machine, at.depth, at.state, sl.branch, sl.usage, sl.failed})
}

// unseen tells of the branches that ended without asking for anything, such as
// calls of a machine that nobody knows.
func (d *driver) unseen(e *engine.Event) {
	at := place{e.Machine, e.Depth, e.State}
	told := d.told[at]
	delete(d.told, at)
	for i := range e.Trace.Fan().Branches {
		if told[i] {
			continue
		}
		b := &BranchDone{Machine: e.Machine, Depth: e.Depth, State: e.State, Index: i}
		for _, f := range e.Trace.Fan().Errors {
			if f.Index == i {
				b.Error = f.Error
			}
		}
		d.tell(b)
	}
}

func (d *driver) tell(e Event) {
	defer func() {
		if x := recover(); x != nil {
			d.p.log().Warn("an observer panicked", "panic", fmt.Sprint(x))
		}
	}()
	d.c.Observer(e)
}
