package engine

import (
	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/trust"
)

// selection is where the one scan over a state's gates stands (LANGUAGE.md §7.5).
type selection struct {
	scan
	eligible []bool
	batch    []int // gate indexes of the batch a judge was asked about
	reads    []Read
	askHook  Hook
	askJudge Judge
}

type scan struct {
	spent bool // a repair gate is not eligible: the compiled batches don't hold
	pos   int
	after int // where the scan goes on after the batch

	hookSeq, judgeSeq int32
	judged            bool // a judge was consulted, whatever it said
	none              int
	model             string
	method            Method
	fallback          bool
	forced            bool
	raw               string
	hook              string
}

// gates computes, once, which gates are eligible: all but spent repairs.
func (e *entry) gates(l *level) {
	p := &e.pick
	p.eligible = p.eligible[:0]
	for i := range e.s.gates {
		g := &e.s.gates[i]
		ok := g.repair < 0 || g.src.Repair < 1 || l.left(g) > 0
		if !ok {
			p.spent = true
		}
		p.eligible = append(p.eligible, ok)
	}
}

// choose scans on until a gate fires or a hook or judge must be asked.
func (l *level) choose() bool {
	e := l.e
	p := &e.pick
	for p.pos < len(e.s.gates) {
		g := &e.s.gates[p.pos]
		switch {
		case !p.eligible[p.pos]:
			p.pos++
		case g.otherwise:
			return l.fire(g, ViaOtherwise)
		case g.hooked:
			l.askHook(g)
			return false
		default:
			l.askJudge()
			return false
		}
	}
	return l.fail(failure{reason: "no-gate-matched"})
}

func (l *level) askHook(g *gate) {
	e := l.e
	p := &e.pick
	h := &p.askHook
	id := EffectID{Path: l.path, State: e.s.id, Visit: e.visit, Branch: -1, Phase: PhaseHook, Seq: p.hookSeq}
	p.hookSeq++
	l.board.freeze() // the view stays as it is
	*h = Hook{effect: effect{id, l.group}, Name: g.hook, Board: View{l.board}, Output: e.output}
	l.phase = phaseAsked
	l.r.ask(h, pending{l: l})
}

func (l *level) answered(res Answered) {
	p := &l.e.pick
	g := &l.e.s.gates[p.pos]
	l.phase = phaseSelect
	if !res.True {
		p.pos++
		l.r.wake(l)
		return
	}
	p.hook = g.hook
	if l.u.owned {
		l.flow = policy.Flow{}
	}
	if res.Parametric {
		if root, ok := l.parametricRoot(g.hook); ok {
			l.mark().ConfirmedOnExternal = []string{root}
		}
	}
	if l.fire(g, ViaHook) {
		l.r.wake(l)
	}
}

// parametricRoot is the key that an eq: or neq: hook reads, when it is External.
func (l *level) parametricRoot(name string) (string, bool) {
	path, ok := hookPath(name)
	if !ok {
		return "", false
	}
	i := l.board.find(path)
	if !l.board.has(i) {
		for j := 0; j < len(path); j++ {
			if path[j] == '.' {
				path = path[:j]
				break
			}
		}
		i = l.board.find(path)
	}
	if !l.board.has(i) || !l.board.cells[i].val.Label().External() {
		return "", false
	}
	return path, true
}

// hookPath is PATH of eq:PATH:VALUE and neq:PATH:VALUE.
func hookPath(name string) (string, bool) {
	for _, prefix := range [...]string{"eq:", "neq:"} {
		if len(name) > len(prefix) && name[:len(prefix)] == prefix {
			rest := name[len(prefix):]
			for i := 0; i < len(rest); i++ {
				if rest[i] == ':' {
					return rest[:i], i > 0
				}
			}
		}
	}
	return "", false
}

// askJudge asks about the batch of consecutive eligible prose gates from pos on.
// A spent repair between two of them is passed over, so they fuse.
func (l *level) askJudge() {
	e := l.e
	p := &e.pick
	p.batch = p.batch[:0]
	i := p.pos
	for ; i < len(e.s.gates); i++ {
		if !p.eligible[i] {
			continue
		}
		if !e.s.gates[i].prose() {
			break
		}
		p.batch = append(p.batch, i)
	}
	p.after = i

	j := &p.askJudge
	user := &j.Prompt.User
	if l.r.shared { // a fork may still read what the last one held
		*user = fence.Doc{}
	} else {
		user.Reset()
	}
	j.effect = effect{EffectID{Path: l.path, State: e.s.id, Visit: e.visit, Branch: -1, Phase: PhaseJudge, Seq: p.judgeSeq}, l.group}
	p.judgeSeq++
	j.Tier, j.Conditions = e.s.tier, len(p.batch)
	j.Prompt.System = judgeSystemDoc
	out := e.output.Label()
	text, _ := e.output.Value().Text(defaultClip)
	user.Grow(6, 3)
	user.Text(judgeOutput)
	user.Data("OUTPUT", trust.DataOf(text, out))
	if r := e.reasonings(); r != "" {
		user.Text(judgeReasoning)
		user.Data("REASONING", trust.DataOf(r, out))
	}
	user.Text(judgeContext)
	l.r.parts = l.board.labels(l.r.parts[:0])
	l.seen = trust.JoinReusing(l.seen, l.r.parts)
	l.r.scratch = l.board.clipped(l.r.scratch)
	user.Data("CONTEXT", trust.DataOf(string(l.r.scratch), l.seen))
	user.Text(e.conditions())

	p.reads = p.reads[:0]
	if l.r.opt.Journal {
		for _, k := range l.board.order {
			p.reads = append(p.reads, Read{l.board.name(int(k)), l.board.cells[k].ver})
		}
	}
	l.phase = phaseAsked
	l.r.ask(j, pending{l: l})
}

// conditions is the compiled tail of the judge's prompt, or one set for a batch
// that a spent repair changed.
func (e *entry) conditions() trust.Text {
	p := &e.pick
	if !p.spent {
		for i := range e.s.batch {
			if e.s.batch[i].first == p.pos {
				return e.s.batch[i].text
			}
		}
	}
	whens := make([]trust.Text, len(p.batch))
	for i, g := range p.batch {
		whens[i] = e.s.gates[g].when
	}
	return conditions(whens)
}

// reasonings is what the judge sees of this state's reasoning.
func (e *entry) reasonings() string {
	if !e.s.src.Reason {
		return ""
	}
	all := ""
	for i := range e.br {
		if r := e.br[i].reasoning; r != "" {
			if all != "" {
				all += "\n---\n"
			}
			all += r
		}
	}
	return all
}

func (l *level) judged(res Judged) {
	e := l.e
	p := &e.pick
	p.judged = true
	e.cost.add(res.Usage)
	l.phase = phaseSelect
	n := len(p.batch)
	choice, method, ok := ReadVerdict(res.Reply, l.r.opt.JudgeLenient)
	switch {
	case ok && choice >= 1 && choice <= n:
		p.verdict(res, method)
		p.forced = res.Forced
		if l.fire(&e.s.gates[p.batch[choice-1]], ViaJudge) {
			l.r.wake(l)
		}
	case ok && choice == n+1:
		p.verdict(res, method)
		p.none++
		p.pos = p.after
		l.r.wake(l)
	default:
		p.fallback = true
		p.raw = firstRunes(res.Reply, 200)
		for i := p.pos; i < len(e.s.gates); i++ {
			if p.eligible[i] && e.s.gates[i].otherwise {
				if l.fire(&e.s.gates[i], ViaOtherwise) {
					l.r.wake(l)
				}
				return
			}
		}
		l.fail(failure{reason: "judge-unparseable"})
	}
}

func (p *selection) verdict(res Judged, m Method) {
	p.model = res.Model
	p.method = ""
	if m != MethodJSON {
		p.method = m
	}
}

// unanswered takes the failure of a hook or a judge: no answer is not false.
func (l *level) unanswered(res Failed, phase Phase) {
	e := l.e
	e.cost.add(res.Usage)
	if phase == PhaseJudge {
		e.pick.judged = true
	}
	l.phase = phaseSelect
	l.fail(res.failure())
}

// fire records the step of a gate that fired, and moves.
func (l *level) fire(g *gate, via Via) bool {
	e := l.e
	if via != ViaHook && e.pick.judged && l.board.external > 0 {
		e.tainted = true
		if !l.flow.Tainted || l.flow.By == "" {
			l.flow = policy.Flow{Tainted: true, By: l.path + "/" + e.s.id}
		}
	}
	raw := e.output
	l.record(g, via, g.src.Policy.String())
	return l.move(g, raw)
}

func (l *level) mark() *Marks {
	if l.e.marks == nil {
		l.e.marks = new(Marks)
	}
	return l.e.marks
}

// record appends the trace step of the current entry; the entry is over.
func (l *level) record(g *gate, via Via, pol string) {
	e := l.e
	p := &e.pick
	st := l.trace.add()
	*st = TraceStep{
		State: e.s.id, Tier: e.s.traced, Step: l.steps,
		Cost: e.cost, Policy: pol, GateVia: via, Judge: p.model, Marks: e.marks,
		DecisionTainted: e.tainted, UntrustedControlFlow: e.untrusted,
	}
	if p.none > 0 || p.method != "" || p.fallback || p.forced || e.truncated {
		st.Detail = &Detail{
			Truncated: e.truncated, FinishReason: e.finish,
			JudgeNone: p.none, JudgeParse: string(p.method),
			JudgeFallback: p.fallback, JudgeRaw: p.raw, JudgeForced: p.forced,
		}
	}
	if g != nil {
		st.Gate, st.HasGate = g.whenText, true
		if via == ViaHook {
			st.Hook = p.hook
		}
		if g.src.HasTo {
			st.To, st.HasTo = g.src.To, true
		}
	}
	if e.charged {
		if e.fan {
			st.detail().Fan = e.fanTrace()
		} else {
			b := &e.br[0]
			if b.reasoning != "" {
				st.detail().Reasoning = b.reasoning
			}
			if b.hasSub {
				st.detail().SubTrace, st.Detail.HasSubTrace = b.sub, true
			}
			if e.hasOutput {
				st.Output, st.HasOutput = e.text(), true
			}
			if b.approval != "" {
				l.mark().Approval = b.approval
				st.Marks = e.marks
			}
		}
	}
	if l.forced != nil {
		l.mark().ResumeForced = l.forced
		st.Marks, l.forced = e.marks, nil
	}
	l.used.add(e.cost)
	e.active, e.cost = false, Usage{}
	if !l.r.opt.Quiet {
		l.r.event(Event{Type: EventStateDone, Machine: l.u.m.Name, Depth: l.depth, State: st.State, Step: st.Step, Policy: pol, Trace: st})
	}
	if l.r.opt.Journal {
		l.r.record(Record{Kind: RecordStep, ID: l.place(), Step: st})
	}
}

func (s *TraceStep) detail() *Detail {
	if s.Detail == nil {
		s.Detail = new(Detail)
	}
	return s.Detail
}

// text is the output as the trace has it: strings whole, other values clipped.
func (e *entry) text() string {
	v := e.output.Value()
	if s, ok := v.AsString(); ok {
		return s
	}
	s, _ := v.Text(defaultClip)
	return s
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
