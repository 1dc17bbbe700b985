package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/engine/enginetest"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/trust/unchecked"
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
			frames, err := engine.FramesOf(snap.Frames.Value(), unchecked.Believe("a test's own frames"))
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

const asking = `
machine: flow
entry: read
budget: 8
context: {mail: "", approval: {answer: old}}
states:
  read:
    structure: a plan
    prompt: "Plan for {{mail}}"
    output: plan
    gates:
      - {when: the plan is to reply, then: ok, to: send}
      - {when: a person should say, escalate: true, to: send, ask: "Send it?", reply_to: approval.answer}
      - {when: otherwise, then: ok, to: END}
  send:
    tool: send_reply
    input: {to: office, body: "about {{plan}} {{approval.answer}}"}
    output: sent
    gates: [{when: otherwise, then: ok, to: END}]
`

// suspended runs asking until it waits: for an approval, or for a person's word.
func suspended(t *testing.T, verdict string, o engine.Options) (*engine.Run, engine.Frames) {
	t.Helper()
	r := start(t, o, asking)
	step(t, r, engine.Produced{Text: "reply"})
	step(t, r, engine.Judged{Reply: verdict, Model: "m"})
	s, ok := r.Ready().Outcome.(engine.Suspended)
	if !ok {
		t.Fatalf("not suspended: %s", enginetest.Outcome(r.Ready().Outcome))
	}
	for i, a := range s.Approvals {
		if err := r.SetApproval(a.State, fmt.Sprintf("id-%d", i), "2030-01-01T00:00:00Z"); err != nil {
			t.Fatal(err)
		}
	}
	frames, err := engine.FramesOf(r.Snapshot().Frames.Value(), unchecked.Believe("a test's own frames"))
	if err != nil {
		t.Fatal(err)
	}
	return r, frames
}

func askOptions() engine.Options {
	return engine.Options{Suspendable: true, EscalateSuspend: true, OnTruncate: engine.TruncateReport, Table: policy.Builtin(),
		Policies: policy.Policies{UntrustedFlow: policy.Ask, UntrustedArgument: policy.Report}}
}

func resumeOptions(o engine.Options) engine.ResumeOptions {
	o.RunID = "run-1"
	return engine.ResumeOptions{Options: o}
}

// An approval is good for exactly one call of exactly one run.
func TestAnApprovalHoldsForOneCall(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(f engine.Frames, o *engine.ResumeOptions)
		refused bool // before anything ran
		asks    bool // again, under no old id
		tool    bool // it runs
	}{
		"as it is": {change: func(engine.Frames, *engine.ResumeOptions) {}, tool: true},
		"arguments changed": {change: func(f engine.Frames, o *engine.ResumeOptions) {
			o.Inject = map[string]trust.Value{"plan": trust.NewValue(value.FromString("pay"))}
		}, asks: true},
		"digest changed":      {change: func(f engine.Frames, o *engine.ResumeOptions) { f[0].Approval.Digest = f[0].Approval.Digest[1:] + "0" }, asks: true},
		"of another run":      {change: func(f engine.Frames, o *engine.ResumeOptions) { f[0].Approval.Run = "run-2" }, asks: true},
		"resumed as another":  {change: func(f engine.Frames, o *engine.ResumeOptions) { o.RunID = "run-2" }, asks: true},
		"expired":             {change: func(f engine.Frames, o *engine.ResumeOptions) { o.Expired = o.Approve }, refused: true},
		"the machine changed": {change: func(f engine.Frames, o *engine.ResumeOptions) { o.DropApprovals = true }, refused: true},
		"twice":               {change: func(f engine.Frames, o *engine.ResumeOptions) { o.Approve = append(o.Approve, o.Approve...) }, refused: true},
		"yes and no":          {change: func(f engine.Frames, o *engine.ResumeOptions) { o.Deny = o.Approve }, refused: true},
		"unknown":             {change: func(f engine.Frames, o *engine.ResumeOptions) { o.Approve = []string{"id-9"} }, refused: true},
		"a bare yes":          {change: func(f engine.Frames, o *engine.ResumeOptions) { o.Approve = []string{""} }, refused: true},
		"nobody answered":     {change: func(f engine.Frames, o *engine.ResumeOptions) { o.Approve = nil }, asks: true},
	} {
		t.Run(name, func(t *testing.T) {
			_, frames := suspended(t, "1", askOptions())
			o := resumeOptions(askOptions())
			o.Approve = []string{"id-0"}
			c.change(frames, &o)
			r, err := engine.Resume(load(t, asking), frames, o)
			if c.refused {
				var bad *engine.ApprovalError
				if !errors.As(err, &bad) {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			switch out := r.Ready().Outcome.(type) {
			case engine.Suspended:
				if !c.asks || len(out.Approvals) != 1 {
					t.Fatalf("suspended with %d approvals", len(out.Approvals))
				}
				if kept := out.Approvals[0].ID == "id-0"; kept != (name == "nobody answered") {
					t.Errorf("asks under the id %q", out.Approvals[0].ID)
				}
			case nil:
				tool, ok := only(t, r).(*engine.Tool)
				if !c.tool || !ok || tool.Approval != "id-0" || !tool.Decision.Allowed() {
					t.Fatalf("asks for %v", only(t, r))
				}
			default:
				t.Fatalf("ended: %s", enginetest.Outcome(out))
			}
		})
	}
}

// A host's own rules can refuse a call or ask for it, and nothing that they say makes
// a decision laxer.
func TestHostRules(t *testing.T) {
	for name, c := range map[string]struct {
		says  policy.Action
		flow  policy.Action
		ends  string // "" when the tool runs
		marks string
	}{
		"report":            {policy.Report, policy.Report, "", `"host_rule": ["mine"]`},
		"halt":              {policy.Halt, policy.Report, "halt host-rule", `"policy": "host-rule"`},
		"ask":               {policy.Ask, policy.Report, "suspended approval-required", ""},
		"report over halt":  {policy.Report, policy.Halt, "halt untrusted-control-flow", `"host_rule": ["mine"]`},
		"report over ask":   {policy.Report, policy.Ask, "suspended approval-required", ""},
		"a word that isn't": {policy.Action(9), policy.Report, "halt host-rule", ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := askOptions()
			o.RunID = "run-1"
			o.Policies.UntrustedFlow = c.flow
			var seen []policy.Call
			o.Host = func(call policy.Call) []policy.Reason {
				seen = append(seen, call)
				return []policy.Reason{{Action: c.says, Names: []string{"mine"}}}
			}
			r := start(t, o, asking)
			step(t, r, engine.Produced{Text: "reply"})
			step(t, r, engine.Judged{Reply: "1", Model: "m"})
			got := ""
			switch out := r.Ready().Outcome.(type) {
			case engine.Halted:
				got = "halt " + out.Reason
			case engine.Suspended:
				got = "suspended " + out.Reason
				if a := out.Approvals[0]; !slices.Contains(a.Rules, policy.HostRule) || !strings.Contains(strings.Join(a.Reasons, "\n"), "rule of this host: mine") {
					t.Errorf("the approval does not say why: %v %q", a.Rules, a.Reasons)
				}
				if _, err := engine.FramesOf(r.Snapshot().Frames.Value(), unchecked.Believe("a test's own frames")); err != nil {
					t.Error(err)
				}
			case nil:
				step(t, r, engine.Observed{})
			}
			if got != c.ends || !strings.Contains(engine.Steps(r.Trace()).JSON(), c.marks) {
				t.Errorf("got %q, want %q; %s", got, c.ends, engine.Steps(r.Trace()).JSON())
			}
			call := seen[0]
			if len(seen) != 1 || call.Run != "run-1" || call.Machine != "flow" || call.State != "send" || call.Tool != "send_reply" || !call.Flow.Tainted ||
				len(call.Args) != 2 || call.Args[0].Value.Label().Tainted() || !call.Args[1].Value.Label().External() || call.Is.Class != policy.Effect {
				t.Errorf("the rules saw %+v", seen)
			}
		})
	}
}

// Only an answer to the question of this suspension clears the flow flag.
func TestOnlyAnAnswerConfirms(t *testing.T) {
	text := func(s string) trust.Value { return trust.NewValue(value.FromString(s)) }
	for name, c := range map[string]struct {
		path     string
		v        trust.Value
		model    bool
		confirms bool
	}{
		"the asked path":   {path: "approval.answer", v: text("yes"), confirms: true},
		"what contains it": {path: "approval", v: trust.NewValue(value.FromEntries(value.Entry{Key: "answer", Value: value.FromBool(false)})), confirms: true},
		"a sibling":        {path: "approval.note", v: text("yes")},
		"below it":         {path: "approval.answer.more", v: text("yes")},
		"like it":          {path: "approval.answers", v: text("yes")},
		"another key":      {path: "plan", v: text("yes")},
		"an empty answer":  {path: "approval.answer", v: text(" \n")},
		"nothing":          {path: "approval.answer", v: trust.NewValue(value.Value{})},
		"a map without it": {path: "approval", v: trust.NewValue(value.FromEntries(value.Entry{Key: "note", Value: value.FromString("yes")}))},
		"from a model":     {path: "approval.answer", v: text("yes"), model: true},
		"no answer at all": {},
	} {
		t.Run(name, func(t *testing.T) {
			o := askOptions()
			o.Policies.UntrustedFlow = policy.Halt
			_, frames := suspended(t, "2", o)
			ro := resumeOptions(o)
			ro.Unconfirmed = c.model
			if c.path != "" {
				ro.Inject = map[string]trust.Value{c.path: c.v}
			}
			r, err := engine.Resume(load(t, asking), frames, ro)
			if err != nil {
				t.Fatal(err)
			}
			_, halted := r.Ready().Outcome.(engine.Halted)
			if halted == c.confirms {
				t.Errorf("confirmed %v, want %v", !halted, c.confirms)
			}
			if c.path == "" {
				return
			}
			v, _ := r.Context().Get(strings.Split(c.path, ".")[0])
			if !v.Label().External() {
				t.Errorf("the injected value is %s", v.Label())
			}
		})
	}
}

// A value injected at a resume is External, whatever label it comes with.
func TestInjectedIsExternal(t *testing.T) {
	_, frames := suspended(t, "2", askOptions())
	o := resumeOptions(askOptions())
	p := load(t, asking)
	o.Inject = map[string]trust.Value{"mine": p.Machine().Context[0].Value} // the author's own literal
	r, err := engine.Resume(p, frames, o)
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := r.Context().Get("mine"); !ok || !v.Label().External() {
		t.Errorf("got %s", v.Label())
	}
}

// What a frame lacks is read as the least trusted it could have been.
func TestFramesFailSafe(t *testing.T) {
	_, frames := suspended(t, "2", askOptions())
	whole := frames.Value().At(0)
	read := func(change func(value.Value) value.Value) (engine.Frame, error) {
		f, err := engine.FramesOf(value.FromList(change(whole)), unchecked.Believe("a test's own frames"))
		if err != nil {
			return engine.Frame{}, err
		}
		return f[0], nil
	}
	without := func(keys ...string) func(value.Value) value.Value {
		return func(v value.Value) value.Value {
			var out []value.Entry
			for i := range v.Len() {
				if !slices.Contains(keys, v.Key(i)) {
					out = append(out, value.Entry{Key: v.Key(i), Value: v.At(i)})
				}
			}
			return value.FromEntries(out...)
		}
	}
	level := func(f engine.Frame, key string) trust.Level {
		for _, c := range f.Board {
			if c.Key == key {
				return c.Value.Label().Level()
			}
		}
		t.Fatalf("no key %s", key)
		return 0
	}
	f, err := read(without())
	if err != nil || level(f, "approval") != trust.LevelAuthor || !f.FlowTainted {
		t.Fatalf("%v, %v", err, f.FlowTainted)
	}
	f, err = read(without("flow_tainted"))
	if err != nil || !f.FlowTainted {
		t.Errorf("without the flow flag: %v, %v", err, f.FlowTainted)
	}
	f, err = read(func(v value.Value) value.Value {
		return without("flow_tainted")(v).With("flow_tainted", value.FromBool(false))
	})
	if err != nil || f.FlowTainted {
		t.Errorf("a clear flag reads as %v, %v", err, f.FlowTainted)
	}
	f, err = read(without("labels", "tainted", "external"))
	if err != nil || level(f, "approval") != trust.LevelExternal {
		t.Errorf("without labels: %v, %s", err, level(f, "approval"))
	}
	f, err = read(without("labels", "external")) // tainted alone: every tainted key is External
	if err != nil || level(f, "approval") != trust.LevelAuthor || level(f, "mail") != trust.LevelExternal {
		t.Errorf("with tainted alone: %v", err)
	}
	f, err = read(func(v value.Value) value.Value {
		return v.With("tainted", value.FromList(value.FromString("approval")))
	})
	if err != nil || level(f, "approval") != trust.LevelModel || level(f, "mail") != trust.LevelExternal {
		t.Errorf("where they disagree the least trusted holds: %v, %s", err, level(f, "approval"))
	}
	f, err = read(func(v value.Value) value.Value {
		return v.With("labels", value.FromEntries(value.Entry{Key: "mail", Value: value.FromString("autor")}))
	})
	if err != nil || level(f, "approval") != trust.LevelExternal || level(f, "mail") != trust.LevelExternal {
		t.Errorf("a key without a label, and one that is misspelt: %v", err)
	}
	for _, key := range []string{"ctx", "steps", "total_in", "total_out", "feedback", "repair_left", "trace"} {
		var bad *engine.FrameError
		if _, err := read(without(key)); !errors.As(err, &bad) || bad.Key != key {
			t.Errorf("without %s: %v", key, err)
		}
	}
	for _, key := range []string{"machine", "state"} {
		f, err := read(without(key))
		if err != nil {
			t.Fatal(err)
		}
		var mismatch *engine.MismatchError
		if _, err := engine.Resume(load(t, asking), engine.Frames{f}, resumeOptions(askOptions())); !errors.As(err, &mismatch) {
			t.Errorf("without %s: %v", key, err)
		}
	}
}

func TestZeroViewIsEmpty(t *testing.T) {
	var v engine.View
	if _, ok := v.Get("x"); ok || v.Keys() != nil || v.Version("x") != 0 || v.Map().Len() != 0 {
		t.Error("the zero View holds something")
	}
}
