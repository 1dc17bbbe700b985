package engine_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/engine/enginetest"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

const judged = `
machine: judged
entry: a
budget: 9
context: {mail: ""}
states:
  a:
    structure: x
    prompt: "Read {{mail}}"
    output: o
    gates:
      - {when: first, then: ok, to: send}
      - {when: second, repair: 1, to: a}
      - {when: otherwise, then: ok, to: END}
  send:
    tool: send_reply
    input: {to: office, body: "{{o}}"}
    output: r
    gates: [{when: otherwise, then: ok, to: END}]
`

func start(t *testing.T, o engine.Options, docs ...string) *engine.Run {
	t.Helper()
	o.RunID = "run-1"
	in := engine.Inputs{"mail": trust.NewValue(value.FromString("from outside"), trust.From("host:mail"))}
	r, err := engine.New(load(t, docs...), in, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func only(t *testing.T, r *engine.Run) engine.Effect {
	t.Helper()
	if n := len(r.Ready().Effects); n != 1 {
		t.Fatalf("%d effects, expected one; outcome %v", n, r.Ready().Outcome)
	}
	return r.Ready().Effects[0]
}

func step(t *testing.T, r *engine.Run, res engine.Result) {
	t.Helper()
	if err := r.Step(only(t, r).ID(), res); err != nil {
		t.Fatal(err)
	}
}

func TestStepRefusesWhatDoesNotFit(t *testing.T) {
	r := start(t, engine.Options{Journal: true}, judged)
	id := only(t, r).ID()
	before := fmt.Sprint(r.Ready())

	other := id
	other.Visit++
	var unknown *engine.UnknownEffectError
	if err := r.Step(other, engine.Produced{}); !errors.As(err, &unknown) || unknown.ID != other {
		t.Errorf("unknown id: %v", err)
	}
	var mistyped *engine.ResultTypeError
	if err := r.Step(id, engine.Observed{}); !errors.As(err, &mistyped) || mistyped.Expected != "Produced" {
		t.Errorf("mistyped: %v", err)
	}
	if err := r.Step(id, nil); !errors.As(err, &mistyped) {
		t.Errorf("no result at all: %v", err)
	}
	if after := fmt.Sprint(r.Ready()); after != before {
		t.Errorf("a refused result changed the run:\n%s\n%s", before, after)
	}
	if err := r.Step(id, engine.Produced{Text: "text"}); err != nil {
		t.Fatal(err)
	}
	var twice *engine.DuplicateResultError
	if err := r.Step(id, engine.Produced{Text: "other"}); !errors.As(err, &twice) || twice.ID != id {
		t.Errorf("second result: %v", err)
	}
	if _, ok := only(t, r).(*engine.Judge); !ok {
		t.Error("the run did not go on to its judge")
	}
}

func TestCancelHaltsAtTheNextLoopTop(t *testing.T) {
	r := start(t, engine.Options{}, judged)
	if err := r.Cancel(); err != nil {
		t.Fatal(err)
	}
	step(t, r, engine.Produced{Text: "text"})
	step(t, r, engine.Judged{Reply: "2"}) // the judge is still asked: only loop tops look
	h, ok := r.Ready().Outcome.(engine.Halted)
	if !ok || h.Reason != "cancelled" || h.At != "a" {
		t.Errorf("got %#v", r.Ready().Outcome)
	}
	if len(r.Trace()) != 1 {
		t.Errorf("%d steps", len(r.Trace()))
	}
	if r.Cancel() == nil {
		t.Error("a run that has ended was cancelled")
	}
}

// A fork goes its own way: every verdict, each from the same place.
func TestForkIsIndependent(t *testing.T) {
	r := start(t, engine.Options{Policies: policy.Policies{UntrustedFlow: policy.Halt}, Table: policy.Builtin()}, judged)
	step(t, r, engine.Produced{Text: "text"})
	var wg sync.WaitGroup
	outcomes := make([]string, 3)
	for k := range 3 {
		f := r.Fork()
		wg.Go(func() {
			id := f.Ready().Effects[0].ID()
			if err := f.Step(id, engine.Judged{Reply: fmt.Sprint(k + 1), Model: "m"}); err != nil {
				t.Error(err)
				return
			}
			for f.Ready().Outcome == nil {
				e := f.Ready().Effects[0]
				var res engine.Result = engine.Produced{Text: "again"}
				if _, ok := e.(*engine.Judge); ok {
					res = engine.Judged{Reply: "3", Model: "m"}
				}
				if err := f.Step(e.ID(), res); err != nil {
					t.Error(err)
					return
				}
			}
			outcomes[k] = enginetest.Outcome(f.Ready().Outcome)
		})
	}
	wg.Wait()
	want := []string{
		`halt "untrusted-control-flow" at "send"`,
		`done "again" external[host:mail model:a]`, // one condition is left: 3 is out of range, otherwise fires
		`done "text" external[host:mail model:a]`,
	}
	for k := range want {
		if outcomes[k] != want[k] {
			t.Errorf("verdict %d: %s, want %s", k+1, outcomes[k], want[k])
		}
	}
	// The original stands where it stood.
	step(t, r, engine.Judged{Reply: "3", Model: "m"})
	if got := enginetest.Outcome(r.Ready().Outcome); got != want[2] {
		t.Errorf("the original came to %s", got)
	}
}

// At any moment the frames of a snapshot, resumed and given the results since,
// stand where the run stands.
func TestSnapshotAtEveryMoment(t *testing.T) {
	answers := func(e engine.Effect) engine.Result {
		switch e := e.(type) {
		case *engine.Produce:
			return engine.Produced{Text: "text of " + e.ID().State, Usage: engine.Usage{Input: 2, Output: 1}}
		case *engine.Judge:
			if e.ID().Visit == 1 {
				return engine.Judged{Reply: "2", Model: "m", Usage: engine.Usage{Input: 1}}
			}
			return engine.Judged{Reply: "1", Model: "m"}
		case *engine.Tool:
			return engine.Observed{Value: value.FromString("seen")}
		}
		return engine.Answered{True: e.ID().Visit == 2}
	}
	docs := []string{`
machine: top
entry: c
budget: 9
context: {mail: "", items: [x, y]}
states:
  c:
    call: judged
    input: {mail: "{{mail}}"}
    output: o
    gates: [{when: it came back, hook: asked, then: ok, to: f}, {when: not yet, repair: 2, to: c}, {when: otherwise, then: ok, to: f}]
  f:
    call: judged
    over: "{{items}}"
    input: {mail: "{{item}}"}
    output: p
    gates: [{when: all done, then: ok, to: END}, {when: otherwise, repair: 2, to: f}]
`, judged}
	o := engine.Options{Journal: true, Policies: policy.Policies{UntrustedFlow: policy.Report, UntrustedArgument: policy.Report}, Table: policy.Builtin()}
	whole := func(stopAt int) (string, int) {
		r := start(t, o, docs...)
		given := 0
		tr := &enginetest.Transcript{}
		stop := func() bool { given++; return given-1 == stopAt }
		if err := tr.Drive(r, answers, enginetest.First, stop); err != nil {
			t.Fatal(err)
		}
		if r.Ready().Outcome == nil {
			snap := r.Snapshot()
			frames, err := engine.FramesOf(snap.Frames.Value())
			if err != nil {
				t.Fatal(err)
			}
			ro := engine.ResumeOptions{Options: o}
			ro.RunID = "run-1"
			r, err = engine.Resume(load(t, docs...), frames, ro)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range snap.Since {
				if err := r.Step(a.ID, a.Result); err != nil {
					t.Fatalf("after %d results: %v", stopAt, err)
				}
			}
			for r.Ready().Outcome == nil {
				e := r.Pending()[0]
				if err := r.Step(e.ID(), answers(e)); err != nil {
					t.Fatal(err)
				}
			}
		}
		u := r.Usage().Value().JSON()
		return engine.Steps(r.Trace()).JSON() + "\n" + r.Context().Map().JSON() + "\n" + enginetest.Outcome(r.Ready().Outcome) + u, given
	}
	want, n := whole(-1)
	if n < 15 {
		t.Fatalf("only %d effects", n)
	}
	for at := range n {
		if got, _ := whole(at); got != want {
			t.Fatalf("resumed after %d results:\n got %s\nwant %s", at, got, want)
		}
	}
}

func TestInputsAreJudgedByTheLiteral(t *testing.T) {
	p := load(t, `
machine: m
entry: a
budget: 2
context: {same: {a: 1, b: [x]}, other: "1", empty: null}
states:
  a:
    structure: x
    prompt: "{{same}}"
    output: o
    gates: [{when: otherwise, then: ok, to: END}]
`)
	in := func(s string) trust.Value {
		v, err := value.ParseJSON([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		return trust.NewValue(v, trust.From("host:x"))
	}
	r, err := engine.New(p, engine.Inputs{
		"same": in(`{"b": ["x"], "a": 1.0}`), "other": in(`1`), "empty": in(`""`), "extra": in(`null`),
	}, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]trust.Level{
		"same": trust.LevelAuthor, "other": trust.LevelExternal, "empty": trust.LevelExternal, "extra": trust.LevelExternal,
	} {
		v, ok := r.Context().Get(key)
		if !ok || v.Label().Level() != want {
			t.Errorf("%s: %s, want %s", key, v.Label(), want)
		}
	}
}

// What a run keeps of ended children for later is its own.
func TestForksDoNotShareEndedChildren(t *testing.T) {
	r := start(t, engine.Options{}, `
machine: top
entry: c
budget: 9
context: {mail: ""}
states:
  c:
    call: child
    input: {mail: "{{mail}}"}
    output: o
    gates: [{when: again, repair: 3, to: c}, {when: otherwise, then: ok, to: END}]
`, `
machine: child
entry: s
budget: 2
context: {mail: ""}
states:
  s:
    structure: x
    prompt: "Read {{mail}}"
    output: o
    gates: [{when: otherwise, then: ok, to: END}]
`)
	step(t, r, engine.Produced{Text: "one"})
	forks := []*engine.Run{r.Fork(), r.Fork(), r}
	var wg sync.WaitGroup
	for i, f := range forks {
		wg.Go(func() {
			for f.Ready().Outcome == nil {
				e := f.Ready().Effects[0]
				var res engine.Result = engine.Produced{Text: fmt.Sprint("text of ", i)}
				if j, ok := e.(*engine.Judge); ok {
					res = engine.Judged{Reply: "1"}
					if j.Conditions == 1 && e.ID().Visit == 3 {
						res = engine.Judged{Reply: "2"}
					}
				}
				if err := f.Step(e.ID(), res); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	for i, f := range forks {
		if v, _ := f.Context().Get("o"); v.Value().JSON() != fmt.Sprintf(`"text of %d"`, i) {
			t.Errorf("fork %d holds %s", i, v.Value().JSON())
		}
	}
}
