// Package enginetest drives a run of the core in a test and writes down, in a
// canonical text form, everything it asked for, was given and kept. Golden files
// of that text are the main test of the core.
//
// It performs nothing: the test answers the effects. The text does not depend on
// the order in which results are given: it is grouped by the place of an effect,
// so a transcript of results delivered backwards must be the same bytes.
package enginetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/trust"
)

// Answer gives the result of an effect. It is asked once an effect.
type Answer func(engine.Effect) engine.Result

// Order picks which of n outstanding effects is answered next.
type Order func(n int) int

// First answers depth first, in branch order; Last backwards.
func First(int) int  { return 0 }
func Last(n int) int { return n - 1 }

// Transcript collects what one run, or one run and what it was resumed as, did.
type Transcript struct {
	Prompts bool // write the rendered prompts down

	groups  map[string]*group
	order   []string
	outcome string
}

type group struct{ lines []*line }

type line struct{ text, result string }

// Drive answers r's effects until its turn ends or stop says so (nil: never), and
// writes them down. stop is asked before each answer.
func (t *Transcript) Drive(r *engine.Run, answer Answer, order Order, stop func() bool) error {
	var outstanding []engine.Effect
	lines := map[engine.EffectID]*line{}
	ready := r.Ready()
	for {
		t.note(ready, lines)
		// New effects take the place of the one they follow from.
		outstanding = append(slices.Clone(ready.Effects), outstanding...)
		if ready.Outcome != nil {
			if len(outstanding) > 0 {
				return fmt.Errorf("the turn ended while %d effects were outstanding", len(outstanding))
			}
			t.outcome = Outcome(ready.Outcome)
			return nil
		}
		if len(outstanding) == 0 {
			return fmt.Errorf("the run asks for nothing and has not ended")
		}
		if stop != nil && stop() {
			return nil
		}
		i := order(len(outstanding))
		e := outstanding[i]
		outstanding = slices.Delete(outstanding, i, i+1)
		if tool, ok := e.(*engine.Tool); ok && !tool.Decision.Allowed() {
			return fmt.Errorf("effect %s was handed out without a decision to allow it", e.ID())
		}
		id := e.ID()
		res := answer(e)
		lines[id].result = Result(res)
		if err := r.Step(id, res); err != nil {
			return err
		}
		ready = r.Ready()
	}
}

func (t *Transcript) note(ready engine.Ready, lines map[engine.EffectID]*line) {
	for _, rec := range ready.Records {
		switch rec.Kind {
		case engine.RecordResult:
			if l := lines[rec.ID]; l != nil && len(rec.Reads) > 0 {
				l.text += " reads " + reads(rec.Reads)
			}
		case engine.RecordOutcome:
		default:
			t.add(rec.ID.Path, &line{text: Record(&rec)})
		}
	}
	for _, e := range ready.Effects {
		l := &line{text: t.effect(e)}
		lines[e.ID()] = l
		t.add(e.ID().Path, l)
	}
}

func (t *Transcript) add(path string, l *line) {
	if t.groups == nil {
		t.groups = map[string]*group{}
	}
	g := t.groups[path]
	if g == nil {
		g = &group{}
		t.groups[path] = g
		t.order = append(t.order, path)
	}
	g.lines = append(g.lines, l)
}

// String is the transcript: a section a level, outermost first, then by place.
func (t *Transcript) String() string {
	var b strings.Builder
	paths := slices.Clone(t.order)
	slices.SortFunc(paths, naturally)
	for _, p := range paths {
		fmt.Fprintf(&b, "level %s\n", p)
		for _, l := range t.groups[p].lines {
			fmt.Fprintf(&b, "  %s\n", l.text)
			if l.result != "" {
				fmt.Fprintf(&b, "    = %s\n", l.result)
			}
		}
	}
	if t.outcome != "" {
		fmt.Fprintf(&b, "outcome %s\n", t.outcome)
	}
	return b.String()
}

// naturally orders texts with numbers in them by the numbers: m#2 before m#10.
func naturally(a, b string) int {
	for a != "" && b != "" {
		if digit(a[0]) && digit(b[0]) {
			na, ra := number(a)
			nb, rb := number(b)
			if na != nb {
				return na - nb
			}
			a, b = ra, rb
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func number(s string) (n int, rest string) {
	for s != "" && digit(s[0]) && n < 1<<40 {
		n = n*10 + int(s[0]-'0')
		s = s[1:]
	}
	return n, s
}

func (t *Transcript) effect(e engine.Effect) string {
	switch e := e.(type) {
	case *engine.Produce:
		s := fmt.Sprintf("produce %s tier=%s", e.ID(), e.Tier)
		if e.Reason {
			s += " reason"
		}
		if e.Sampling {
			s += " sampling"
		}
		return s + within(e) + t.prompt(e.Prompt)
	case *engine.Judge:
		return fmt.Sprintf("judge %s tier=%s conditions=%d%s%s", e.ID(), e.Tier, e.Conditions, within(e), t.prompt(e.Prompt))
	case *engine.Hook:
		return fmt.Sprintf("hook %s %q over %s%s", e.ID(), e.Name, Value(e.Output), within(e))
	case *engine.Tool:
		s := fmt.Sprintf("tool %s %q", e.ID(), e.Name)
		for _, a := range e.Args {
			s += fmt.Sprintf(" %s=%s", a.Name, Value(a.Value))
		}
		for i := range e.Decision.Reasons {
			s += " because " + Reason(&e.Decision.Reasons[i])
		}
		if e.Approval != "" {
			s += " approval=" + e.Approval
		}
		return s + within(e)
	}
	return fmt.Sprintf("%T", e)
}

func within(e engine.Effect) string {
	if e.Group() == "" {
		return ""
	}
	return " in " + string(e.Group())
}

// prompt is the rendered prompt under a fixed nonce, a line each, barred.
func (t *Transcript) prompt(p fence.Prompt) string {
	if !t.Prompts {
		return ""
	}
	r, rows, err := fence.Render(p, Fixed)
	if err != nil {
		return " ! " + err.Error()
	}
	var b strings.Builder
	for _, part := range []struct{ name, text string }{{"system", r.System()}, {"user", r.User()}} {
		for l := range strings.SplitSeq(part.text, "\n") {
			fmt.Fprintf(&b, "\n    %s| %s", part.name, l)
		}
	}
	for i := range rows {
		fmt.Fprintf(&b, "\n    row %s %s fenced=%v in=%d out=%d", rows[i].Channel, rows[i].Label, rows[i].Fenced, rows[i].BytesIn, rows[i].BytesOut)
	}
	return b.String()
}

// Fixed is a nonce source for transcripts: the same for every call.
func Fixed(n *[12]byte) error {
	copy(n[:], "0123456789ab")
	return nil
}

// Value is a labelled value: its JSON text and its label.
func Value(v trust.Value) string { return v.Value().JSON() + " " + v.Label().String() }

// Reason is one reason of a policy decision.
func Reason(r *policy.Reason) string {
	s := r.Rule.String() + "/" + r.Action.String()
	if len(r.Names) > 0 {
		s += "(" + strings.Join(r.Names, ",") + ")"
	}
	if r.By != "" {
		s += "@" + r.By
	}
	return s
}

// Result is a result.
func Result(res engine.Result) string {
	usage := func(u engine.Usage) string {
		if u == (engine.Usage{}) {
			return ""
		}
		return " usage=" + u.Value().JSON()
	}
	switch r := res.(type) {
	case engine.Produced:
		s := fmt.Sprintf("produced %q", r.Text)
		if r.Reasoning != "" {
			s += fmt.Sprintf(" reasoning=%q", r.Reasoning)
		}
		if r.Truncated {
			s += " truncated " + r.FinishReason
		}
		return s + usage(r.Usage)
	case engine.Judged:
		return fmt.Sprintf("judged %q by %s%s", r.Reply, r.Model, usage(r.Usage))
	case engine.Observed:
		return "observed " + r.Value.JSON()
	case engine.Answered:
		return fmt.Sprintf("answered %v", r.True)
	case engine.Failed:
		return fmt.Sprintf("failed kind=%d %q%s", r.Kind, r.Message, usage(r.Usage))
	}
	return fmt.Sprintf("%T", res)
}

func reads(rs []engine.Read) string {
	out := make([]string, len(rs))
	for i, r := range rs {
		out[i] = fmt.Sprintf("%s@%d", r.Key, r.Version)
	}
	return strings.Join(out, " ")
}

// Record is one record that is not a result.
func Record(r *engine.Record) string {
	switch r.Kind {
	case engine.RecordStarted:
		return fmt.Sprintf("started %s %q %s", r.ID, r.Tool, r.Digest)
	case engine.RecordDeposit:
		return fmt.Sprintf("deposit %s@%d %s", r.Key, r.Version, r.Label)
	case engine.RecordStep:
		return "step " + r.Step.Value().JSON()
	}
	return fmt.Sprintf("record %d", r.Kind)
}

// Outcome is how a turn ended.
func Outcome(o engine.Outcome) string {
	switch o := o.(type) {
	case engine.Done:
		return "done " + Value(o.Result)
	case engine.Halted:
		s := fmt.Sprintf("halt %q at %q", o.Reason, o.At)
		if d := o.Diagnosis; d != nil {
			s += fmt.Sprintf(" most revisited %s x%d", d.State, d.Visits)
		}
		return s
	case engine.Suspended:
		s := fmt.Sprintf("suspended %q at %q", o.Reason, o.At)
		if o.ReplyTo != "" {
			s += fmt.Sprintf(" ask %q reply to %s", o.Ask, o.ReplyTo)
		}
		for i := range o.Approvals {
			a := &o.Approvals[i]
			s += fmt.Sprintf("\n  approval %s %q %s", a.State, a.Tool, a.Digest)
			for _, reason := range a.Reasons {
				s += "\n    " + reason
			}
		}
		return s
	}
	return fmt.Sprintf("%T", o)
}
