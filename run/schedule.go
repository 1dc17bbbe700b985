package run

import (
	"strings"

	"github.com/pinfold-dev/pinfold/engine"
)

// The scheduler bounds the branches in flight of every fan-out and keeps the
// order: a branch that has started goes on before another starts, branches start
// in branch order. With one branch at a time that is depth first, each branch to
// its end: then at most one effect may start at any time.
//
// A fan-out is a group, a branch of it a slot. A branch holds its slot until
// nothing of it is outstanding, its nested fan-outs included: bounding effects
// alone would let a fan-out of calls start all its branches at once.
type scheduler struct {
	groups map[engine.GroupID]*group
	ready  []task // what may start, in order
	limit  int
	live   int // effects handed in that have not landed
	last   *slot
	over   []*slot // ended since the observer was told, inner ones first
}

type task struct {
	e engine.Effect
	s *slot
}

type group struct {
	id     engine.GroupID
	parent *slot
	slots  []*slot // by branch; nil where none was seen or it has ended
	queue  []*slot // not yet open, in order
	active int     // open slots
	live   int     // slots that have not ended
	at     place
}

type slot struct {
	g       *group
	branch  int
	open    bool
	live    int // effects and nested groups of this branch that have not ended
	waiting []engine.Effect
	groups  []*group
	usage   engine.Usage
	failed  string
	calls   bool // its effects are a child's
}

func (s *scheduler) busy() bool { return s.live > 0 }

// admit takes the effects of one Ready.
func (s *scheduler) admit(ready engine.Ready, limit int) {
	s.limit = limit
	for _, e := range ready.Effects {
		s.live++
		sl := s.slotOf(e, ready.Events)
		switch {
		case sl == nil:
			s.ready = append(s.ready, task{e: e})
		case sl.open:
			sl.live++
			s.ready = append(s.ready, task{e, sl})
		default:
			sl.live++
			sl.waiting = append(sl.waiting, e)
		}
	}
}

// settle ends the branch that the last landing left without anything to do, and
// opens what may start now.
func (s *scheduler) settle() {
	if sl := s.last; sl != nil {
		s.last = nil
		s.release(sl)
	}
}

// landed notes the result of an effect of sl. The branch is looked at in settle,
// when it is known what the core asks for next.
func (s *scheduler) landed(sl *slot, res engine.Result) {
	s.live--
	if sl == nil {
		return
	}
	var u engine.Usage
	switch r := res.(type) {
	case engine.Produced:
		u = r.Usage
	case engine.Judged:
		u = r.Usage
	case engine.Failed:
		u = r.Usage
		if !sl.calls {
			sl.failed = failedReason(r)
		}
	}
	if u != (engine.Usage{}) {
		for x := sl; x != nil; x = x.g.parent {
			x.usage.Input += u.Input
			x.usage.Output += u.Output
			x.usage.Estimated = x.usage.Estimated || u.Estimated
		}
	}
	s.last = sl
}

func failedReason(f engine.Failed) string {
	switch f.Kind {
	case engine.FailProvider:
		return "provider-error: " + f.Message
	case engine.FailRefusal:
		return "refusal"
	case engine.FailCancelled:
		return "cancelled"
	}
	return "state-error: " + f.Message
}

// release takes one from what is live in sl and ends what came to nothing.
func (s *scheduler) release(sl *slot) {
	for sl != nil {
		if sl.live--; sl.live > 0 {
			return
		}
		g := sl.g
		s.over = append(s.over, sl)
		g.slots[sl.branch] = nil
		g.active--
		g.live--
		s.fill(g)
		if g.live > 0 {
			return
		}
		delete(s.groups, g.id)
		sl = g.parent
	}
}

// fill opens slots of g while there is room and the branch that g runs in is
// open itself.
func (s *scheduler) fill(g *group) {
	if g.parent != nil && !g.parent.open {
		return
	}
	for g.active < s.limit && len(g.queue) > 0 {
		sl := g.queue[0]
		g.queue[0] = nil
		g.queue = g.queue[1:]
		sl.open = true
		g.active++
		for _, e := range sl.waiting {
			s.ready = append(s.ready, task{e, sl})
		}
		sl.waiting = nil
		for _, inner := range sl.groups {
			s.fill(inner)
		}
	}
}

// slotOf finds the branch that an effect runs in, and makes it known; nil
// outside a fan-out.
func (s *scheduler) slotOf(e engine.Effect, events []engine.Event) *slot {
	id := e.Group()
	if id == "" {
		return nil
	}
	eid := e.ID()
	branch, calls := int(eid.Branch), false
	if branch < 0 {
		branch, calls = branchOf(eid.Path, string(id)), true
	}
	sl := s.slot(s.group(id, events), branch)
	sl.calls = calls
	return sl
}

func (s *scheduler) group(id engine.GroupID, events []engine.Event) *group {
	if g, ok := s.groups[id]; ok {
		return g
	}
	g := &group{id: id, at: locate(string(id), events)}
	if outer, branch, ok := enclosing(string(id)); ok {
		g.parent = s.slot(s.group(engine.GroupID(outer), events), branch)
		g.parent.live++
		g.parent.calls = true
		g.parent.groups = append(g.parent.groups, g)
	}
	if s.groups == nil {
		s.groups = make(map[engine.GroupID]*group, 4)
	}
	s.groups[id] = g
	return g
}

func (s *scheduler) slot(g *group, branch int) *slot {
	for len(g.slots) <= branch {
		g.slots = append(g.slots, nil)
	}
	sl := g.slots[branch]
	if sl == nil {
		sl = &slot{g: g, branch: branch}
		g.slots[branch] = sl
		g.live++
		g.queue = append(g.queue, sl)
		s.fill(g)
	}
	return sl
}

// branchOf reads the branch from the path of an effect inside a call branch:
// GROUP[branch]/….
func branchOf(path, group string) int {
	if rest, ok := strings.CutPrefix(path, group+"["); ok {
		if n, _, ok := leadingNumber(rest); ok {
			return n
		}
	}
	return 0
}

// enclosing finds the fan-out that the fan-out id runs in: the last GROUP[branch]/
// of it. Names are not escaped in ids; a state that is called like a branch can
// only change which branches share a bound.
func enclosing(id string) (group string, branch int, ok bool) {
	for end := len(id); ; {
		i := strings.LastIndexByte(id[:end], '[')
		if i < 0 {
			return "", 0, false
		}
		if n, rest, ok := leadingNumber(id[i+1:]); ok && strings.HasPrefix(rest, "]/") {
			return id[:i], n, true
		}
		end = i
	}
}

func leadingNumber(s string) (n int, rest string, ok bool) {
	i := 0
	for i < len(s) && i < 9 && '0' <= s[i] && s[i] <= '9' {
		n = n*10 + int(s[i]-'0')
		i++
	}
	return n, s[i:], i > 0
}
