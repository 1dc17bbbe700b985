package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/run"
	"github.com/pinfold-dev/pinfold/trust/unchecked"
	"github.com/pinfold-dev/pinfold/value"
)

// Every case is run four ways: straight through the driver; through snapshot,
// wire form and resume at every loop top; with the recorded results delivered in
// reversed order; and replayed from the recorded results. What the run came to is
// byte-identical in all of them.
func TestFourWays(t *testing.T) {
	resumed, turned := 0, 0
	eachCase(t, func(t *testing.T, c *Case) {
		straight, journal := c.straight(t)
		want := transcript(straight)

		got, n := c.resumedEverywhere(t)
		same(t, "resumed at every loop top", want, transcript(got))
		resumed += n

		got, n, _ = c.fed(t, journal.results, true)
		same(t, "results in reversed order", want, transcript(got))
		turned += n

		var records []string
		got, _, records = c.fed(t, journal.results, false)
		same(t, "replayed", want, transcript(got))
		same(t, "records of the replay", strings.Join(journal.lines, "\n"), strings.Join(records, "\n"))
	})
	// A test of resumes that never resumed, or of orders that never differed,
	// would prove nothing.
	if resumed == 0 || turned == 0 {
		t.Errorf("%d resumes, %d results out of order: expected some of each", resumed, turned)
	}
}

func same(t *testing.T, way, want, got string) {
	t.Helper()
	if got == want {
		return
	}
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := 0; i < len(a) || i < len(b); i++ {
		x, y := "", ""
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			t.Fatalf("%s: line %d\nstraight: %s\n%s: %s", way, i+1, x, strings.Repeat(" ", 7), y)
		}
	}
}

// transcript is everything that a run came to: the result on the wire, the board
// with its labels, the frames of a suspension.
func transcript(res *run.Result) string {
	var b strings.Builder
	b.Write(res.Value().AppendIndentJSON(nil, ""))
	for _, key := range res.Context.Keys() {
		v, _ := res.Context.Get(key)
		fmt.Fprintf(&b, "\n%s = %s %s", key, v.Value().JSON(), v.Label())
	}
	if res.Frames != nil {
		b.WriteString("\nframes " + res.Frames.Value().JSON())
	}
	return b.String()
}

// keeper is a journal that keeps results by effect and a line for every record.
type keeper struct {
	results map[engine.EffectID]engine.Result
	lines   []string
}

func (k *keeper) Append(_ context.Context, _ string, seq uint64, records []engine.Record) error {
	if int(seq) != len(k.lines) {
		return fmt.Errorf("records from %d, expected %d", seq, len(k.lines))
	}
	for i := range records {
		r := &records[i]
		if r.Kind == engine.RecordResult {
			k.results[r.ID] = r.Result
		}
		k.lines = append(k.lines, line(r))
	}
	return nil
}

func line(r *engine.Record) string {
	s := fmt.Sprintf("%d %s", r.Kind, r.ID)
	switch r.Kind {
	case engine.RecordStarted:
		s += " " + r.Tool + " " + r.Digest
	case engine.RecordResult:
		s += fmt.Sprintf(" %T", r.Result)
		switch x := r.Result.(type) {
		case engine.Produced:
			s += fmt.Sprintf(" %q %v", x.Text, x.Usage)
		case engine.Judged:
			s += fmt.Sprintf(" %q", x.Reply)
		case engine.Observed:
			s += " " + x.Value.JSON()
		case engine.Answered:
			s += fmt.Sprint(" ", x.True)
		case engine.Failed:
			s += fmt.Sprint(" ", x.Kind, " ", x.Message)
		}
		s += fmt.Sprint(" reads ", r.Reads)
	case engine.RecordDeposit:
		s += fmt.Sprintf(" %s v%d %s", r.Key, r.Version, r.Label)
	case engine.RecordStep:
		s += " " + r.Step.Value().JSON()
	case engine.RecordOutcome:
		s += fmt.Sprintf(" %T", r.Outcome)
	}
	return s
}

func (c *Case) play(t *testing.T) *Play {
	t.Helper()
	p, err := c.Play()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// journalled is a playing whose run emits records.
func (c *Case) journalled(t *testing.T, j run.Journal) *Play {
	t.Helper()
	recorded := *c
	recorded.journal = j
	return recorded.play(t)
}

func (c *Case) straight(t *testing.T) (*run.Result, *keeper) {
	t.Helper()
	k := &keeper{results: map[engine.EffectID]engine.Result{}}
	p := c.journalled(t, k)
	res, err := run.Drive(context.Background(), p.Run, p.Config)
	if err != nil {
		t.Fatal(err)
	}
	return res, k
}

// resumedEverywhere drives by hand and puts the run through its wire form at
// every loop top.
func (c *Case) resumedEverywhere(t *testing.T) (*run.Result, int) {
	t.Helper()
	p := c.play(t)
	perform := run.NewPerformer(p.Config)
	r, resumes := p.Run, 0
	var pending []engine.Effect
	for {
		ready := r.Ready()
		if ready.Outcome != nil {
			return finish(t, r, p), resumes
		}
		if s := r.Snapshot(); len(s.Since) == 0 && len(pending) == 0 {
			parked, err := value.ParseJSON([]byte(s.Frames.Value().JSON()))
			if errors.Is(err, value.ErrDepth) {
				// A value as deep as a value may be is deeper inside its frame than
				// JSON that comes in may be.
				parked = s.Frames.Value()
			} else if err != nil {
				t.Fatal(err)
			}
			frames, err := engine.FramesOf(parked, unchecked.Believe("a test's own frames"))
			if err != nil {
				t.Fatal(err)
			}
			o := engine.ResumeOptions{Options: p.Config.Options}
			o.FlowTainted = false // what the frames say holds
			again, err := engine.Resume(p.Program, frames, o)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := ids(ready.Effects), ids(again.Ready().Effects); a != b {
				t.Fatalf("resumed at a loop top: asks for %s, expected %s", b, a)
			}
			if a, b := s.Frames.Value().JSON(), again.Snapshot().Frames.Value().JSON(); a != b {
				t.Fatalf("frames changed by a resume:\n%s\n%s", a, b)
			}
			r, ready = again, again.Ready()
			resumes++
			if ready.Outcome != nil {
				return finish(t, r, p), resumes
			}
		}
		pending = append(append([]engine.Effect(nil), ready.Effects...), pending...)
		e := pending[0]
		pending = pending[1:]
		res, err := perform.Perform(context.Background(), e)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Step(e.ID(), res); err != nil {
			t.Fatal(err)
		}
	}
}

// fed drives from recorded results, newest effect first when reversed. The count
// is of the results that were given out of order.
func (c *Case) fed(t *testing.T, results map[engine.EffectID]engine.Result, reversed bool) (*run.Result, int, []string) {
	t.Helper()
	k := &keeper{results: map[engine.EffectID]engine.Result{}}
	p := c.journalled(t, k)
	r, turned := p.Run, 0
	var pending []engine.Effect
	for {
		ready := r.Ready()
		if err := k.Append(context.Background(), "", uint64(len(k.lines)), ready.Records); err != nil {
			t.Fatal(err)
		}
		if ready.Outcome != nil {
			if len(pending) > 0 {
				t.Fatalf("ended with %s outstanding", ids(pending))
			}
			return finish(t, r, p), turned, k.lines
		}
		var e engine.Effect
		if reversed {
			pending = append(pending, ready.Effects...)
			e = pending[len(pending)-1]
			pending = pending[:len(pending)-1]
			if len(pending) > 0 {
				turned++
			}
		} else {
			pending = append(append([]engine.Effect(nil), ready.Effects...), pending...)
			e = pending[0]
			pending = pending[1:]
		}
		res, ok := results[e.ID()]
		if !ok {
			t.Fatalf("%s was never asked for in the straight run", e.ID())
		}
		if err := r.Step(e.ID(), res); err != nil {
			t.Fatal(err)
		}
	}
}

// finish is the result of a run that was driven by hand, approvals drawn as the
// driver draws them.
func finish(t *testing.T, r *engine.Run, p *Play) *run.Result {
	t.Helper()
	cfg := p.Config
	cfg.Journal = nil
	res, err := run.Drive(context.Background(), r, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func ids(effects []engine.Effect) string {
	s := make([]string, len(effects))
	for i, e := range effects {
		s[i] = e.ID().String()
	}
	return strings.Join(s, " ")
}

// orderless says that the script answers the same in whatever order it is asked.
func (c *Case) orderless() bool {
	if !c.script.Keyed && len(c.script.Texts) > 0 || len(c.script.Verdicts) > 1 {
		return false
	}
	for _, t := range c.tools {
		if !t.keyed && len(t.outs) > 1 {
			return false
		}
	}
	for _, h := range c.hooks {
		for _, a := range h.answers {
			if a != h.answers[0] {
				return false
			}
		}
	}
	return true
}

// A case whose script is orderless comes to the same with branches side by side.
func TestSideBySide(t *testing.T) {
	fanned := 0
	eachCase(t, func(t *testing.T, c *Case) {
		if !c.orderless() {
			return
		}
		straight, _ := c.straight(t)
		for _, workers := range []int{2, 5} {
			p := c.play(t)
			p.Config.Sequential, p.Config.MaxWorkers = false, workers
			res, err := run.Drive(context.Background(), p.Run, p.Config)
			if err != nil {
				t.Fatal(err)
			}
			same(t, fmt.Sprintf("%d workers", workers), transcript(straight), transcript(res))
		}
		for i := range straight.Trace {
			if f := straight.Trace[i].Fan(); f != nil && len(f.Branches) > 1 {
				fanned++
			}
		}
	})
	if fanned < 10 {
		t.Errorf("%d fan-outs in all cases: expected some", fanned)
	}
}
