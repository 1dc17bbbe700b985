package run_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/hook"
	"github.com/pinfold-dev/pinfold/hook/builtin"
	"github.com/pinfold-dev/pinfold/llm"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/receipt"
	"github.com/pinfold-dev/pinfold/run"
	"github.com/pinfold-dev/pinfold/tool"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// program compiles documents; the first is the machine, all can be called.
func program(tb testing.TB, docs ...string) *engine.Program {
	tb.Helper()
	reg := engine.Machines{}
	var top *mkl.Machine
	for i, d := range docs {
		m, diags := mkl.Parse(mkl.Source{Text: []byte(d), Authorship: mkl.AuthorshipOperator}, mkl.Strict)
		if m == nil {
			tb.Fatal(diags)
		}
		if i == 0 {
			top = m
		}
		reg[m.Name] = m
	}
	p, err := engine.Compile(top, reg)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// speaker is a model made of two functions.
type speaker struct {
	produce func(ctx context.Context, p fence.Rendered, o llm.Options) (llm.Reply, error)
	judge   func(ctx context.Context, p fence.Rendered, o llm.Options) (llm.Reply, error)
}

func (s speaker) Produce(ctx context.Context, p fence.Rendered, o llm.Options) (llm.Reply, error) {
	if s.produce == nil {
		return llm.Reply{Text: "ok"}, nil
	}
	return s.produce(ctx, p, o)
}

func (s speaker) Judge(ctx context.Context, p fence.Rendered, o llm.Options) (llm.Reply, error) {
	if s.judge == nil {
		return llm.Reply{Text: `{"choice": 1}`}, nil
	}
	return s.judge(ctx, p, o)
}

var allTiers = map[mkl.Tier]string{mkl.Fast: "f", mkl.Balanced: "b", mkl.Reasoning: "r"}

// open is the language's defaults, which a surface sets by name.
var open = engine.Options{
	OnTruncate: engine.TruncateReport,
	Policies:   policy.Policies{UntrustedFlow: policy.Report, UntrustedArgument: policy.Report, SecretEgress: policy.Halt},
}

func config(m llm.Model) run.Config {
	return run.Config{Model: m, Tiers: allTiers, Options: open,
		Hooks: func(name string) (hook.Func, bool, bool) { return builtin.Resolve(name, nil) }}
}

func mustRun(t *testing.T, p *engine.Program, in engine.Inputs, c run.Config) *run.Result {
	t.Helper()
	res, err := run.Run(context.Background(), p, in, c)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

const one = `
machine: one
entry: a
budget: 4
states:
  a:
    %s
    output: o
    gates:
      - { %s, then: ok, to: END }
`

func single(tb testing.TB, state, gate string) *engine.Program {
	return program(tb, fmt.Sprintf(one, state, gate))
}

const generative = "structure: s\n    prompt: p"

func TestWhatTheModelIsAsked(t *testing.T) {
	var got []string
	note := func(kind string, text string) func(context.Context, fence.Rendered, llm.Options) (llm.Reply, error) {
		return func(_ context.Context, _ fence.Rendered, o llm.Options) (llm.Reply, error) {
			got = append(got, fmt.Sprintf("%s %s %.1f reason=%v json=%v %v", kind, o.Model, o.Temperature, o.Reason, o.JSON, o.Params))
			return llm.Reply{Text: text}, nil
		}
	}
	p := program(t, `
machine: asks
entry: a
budget: 9
default_tier: fast
states:
  a: { structure: s, prompt: p, tier: reasoning, reason: true, output: o, gates: [ { when: good, then: ok, to: b } ] }
  b: { structure: s, prompt: p, sample: 2, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
`)
	c := config(speaker{note("produce", "x"), note("judge", `{"choice": 1}`)})
	c.Sequential = true
	c.TierParams = map[mkl.Tier]map[string]any{mkl.Reasoning: {"seed": 7}}
	mustRun(t, p, nil, c)
	c.JudgeModel = "j"
	mustRun(t, p, nil, c)
	want := []string{
		"produce r 0.4 reason=true json=false map[seed:7]",
		"judge r 0.0 reason=false json=true map[]",
		"produce f 0.8 reason=false json=false map[]",
		"produce f 0.8 reason=false json=false map[]",
		"produce r 0.4 reason=true json=false map[seed:7]",
		"judge j 0.0 reason=false json=true map[]",
		"produce f 0.8 reason=false json=false map[]",
		"produce f 0.8 reason=false json=false map[]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// What the host lacks and what fails names itself in the words of LANGUAGE.md §16.
func TestFailures(t *testing.T) {
	boom := errors.New("the disk\nis full")
	failing := func(err error) llm.Model {
		return speaker{produce: func(context.Context, fence.Rendered, llm.Options) (llm.Reply, error) {
			return llm.Reply{Usage: engine.Usage{Input: 3, Output: 4}}, err
		}}
	}
	tools := map[string]tool.Tool{
		"broken": {Func: func(context.Context, []engine.Arg) (tool.Observation, error) { return tool.Observation{}, boom }},
		"panics": {Func: func(context.Context, []engine.Arg) (tool.Observation, error) { panic("secret text of a page") }},
		"empty":  {},
	}
	hooks := func(name string) (hook.Func, bool, bool) {
		switch name {
		case "broken":
			return func(context.Context, hook.View, trust.Value) (bool, error) { return false, boom }, false, true
		case "panics":
			return func(context.Context, hook.View, trust.Value) (bool, error) { panic("secret text of a page") }, false, true
		}
		return nil, false, false
	}
	toolState := func(name string) string { return "tool: " + name }
	for _, c := range []struct {
		name, state, gate string
		change            func(*run.Config)
		want              string
		tokens            int
	}{
		{"tool", toolState("nowhere"), "when: otherwise", nil, "state-error: tool: unknown tool 'nowhere'", 0},
		{"tool without a function", toolState("empty"), "when: otherwise", nil, "state-error: tool: unknown tool 'empty'", 0},
		{"tool error", toolState("broken"), "when: otherwise", nil, "state-error: the disk is full", 0},
		{"tool panic", toolState("panics"), "when: otherwise", nil, "state-error: internal error", 0},
		{"hook", generative, "when: x, hook: nowhere", nil, "state-error: hook: unknown hook 'nowhere'", 0},
		{"hook error", generative, "when: x, hook: broken", nil, "state-error: hook: the disk is full", 0},
		{"hook panic", generative, "when: x, hook: panics", nil, "state-error: hook: 'panics' panicked", 0},
		{"no hooks at all", generative, "when: x, hook: nowhere", func(c *run.Config) { c.Hooks = nil }, "state-error: hook: unknown hook 'nowhere'", 0},
		{"tier", generative, "when: otherwise", func(c *run.Config) { c.Tiers = map[mkl.Tier]string{mkl.Fast: "f"} }, "state-error: tier 'balanced' is not configured", 0},
		{"tier of the judge", toolState("fine"), "when: good", func(c *run.Config) {
			c.Tiers = nil
			c.Tools = map[string]tool.Tool{"fine": {Func: func(context.Context, []engine.Arg) (tool.Observation, error) { return tool.Observation{}, nil }}}
		}, "state-error: tier 'balanced' is not configured", 0},
		{"no model", generative, "when: otherwise", func(c *run.Config) { c.Model = nil }, "state-error: no model is configured", 0},
		{"model panic", generative, "when: otherwise", func(c *run.Config) {
			c.Model = speaker{produce: func(context.Context, fence.Rendered, llm.Options) (llm.Reply, error) { panic("x") }}
		}, "state-error: internal error", 0},
		{"provider", generative, "when: otherwise", func(c *run.Config) { c.Model = failing(&llm.Error{Message: "no such model", Status: 404}) }, "provider-error: no such model (status 404)", 7},
		{"foreign error", generative, "when: otherwise", func(c *run.Config) { c.Model = failing(boom) }, "provider-error: the disk is full", 7},
		{"refusal", generative, "when: otherwise", func(c *run.Config) { c.Model = failing(&llm.Error{Kind: llm.KindRefusal, Message: "no"}) }, "refusal", 7},
		{"script", generative, "when: otherwise", func(c *run.Config) { c.Model = failing(&llm.Error{Kind: llm.KindScript, Message: "no text"}) }, "state-error: no text", 7},
		{"a time-out of the model's own", generative, "when: otherwise", func(c *run.Config) { c.Model = failing(context.DeadlineExceeded) }, "provider-error: context deadline exceeded", 7},
		{"nonces", "structure: s\n    prompt: \"{{x}}\"", "when: otherwise", func(c *run.Config) { c.Nonces = func(*[12]byte) error { return boom } }, "state-error: prompt: fence: drawing a nonce: the disk is full", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(speaker{})
			cfg.Tools, cfg.Hooks = tools, hooks
			if c.change != nil {
				c.change(&cfg)
			}
			in := engine.Inputs{"x": trust.NewValue(value.FromString("outside"), trust.From("host:x"))}
			res := mustRun(t, single(t, c.state, c.gate), in, cfg)
			if res.Status != run.StatusHalt || res.Error != c.want {
				t.Errorf("%s %q, want halt %q", res.Status, res.Error, c.want)
			}
			if got := res.Usage.Input + res.Usage.Output; got != c.tokens {
				t.Errorf("%d tokens, want %d", got, c.tokens)
			}
		})
	}
}

// The text of a panic goes to the log and nowhere else [C27].
func TestPanicIsForTheLog(t *testing.T) {
	var log strings.Builder
	c := config(speaker{})
	c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	c.Tools = map[string]tool.Tool{"t": {Func: func(context.Context, []engine.Arg) (tool.Observation, error) { panic("page text") }}}
	res := mustRun(t, single(t, "tool: t\n    sample: 2", "when: otherwise"), nil, c)
	if wire := res.Value().JSON(); strings.Contains(wire, "page text") || !strings.Contains(wire, "internal error") {
		t.Error(wire)
	}
	if !strings.Contains(log.String(), "page text") {
		t.Errorf("not in the log: %s", log.String())
	}
}

// A driver performs only effects that carry a decision to allow them.
func TestPerformRefusesWhatIsNotAllowed(t *testing.T) {
	ran := false
	p := run.NewPerformer(run.Config{Tools: map[string]tool.Tool{"pay": {Func: func(context.Context, []engine.Arg) (tool.Observation, error) {
		ran = true
		return tool.Observation{}, nil
	}}}})
	for name, e := range map[string]*engine.Tool{
		"never decided": {Name: "pay"},
		"asks":          {Name: "pay", Decision: policy.Decide(policy.Request{Tool: "pay", Flow: policy.Flow{Tainted: true}, Rules: policy.Policies{UntrustedFlow: policy.Ask}})},
		"asks, with an id": {Name: "pay", Approval: "0123", Decision: policy.Decide(policy.Request{Tool: "pay", Flow: policy.Flow{Tainted: true},
			Rules: policy.Policies{UntrustedFlow: policy.Ask}})},
		"halts": {Name: "pay", Decision: policy.Decide(policy.Request{Tool: "pay", Flow: policy.Flow{Tainted: true}})},
	} {
		res, err := p.Perform(context.Background(), e)
		if !errors.Is(err, run.ErrNotAllowed) || res != nil || ran {
			t.Errorf("%s: %v, %v, ran %v", name, res, err, ran)
		}
	}
	if _, err := p.Perform(context.Background(), &engine.Tool{Name: "pay", Decision: policy.Decide(policy.Request{Tool: "pay"})}); err != nil || !ran {
		t.Errorf("an allowed call: %v, ran %v", err, ran)
	}
}

type sink func(receipt.CallID, []fence.Row) error

func (s sink) Receipts(_ context.Context, call receipt.CallID, rows []fence.Row) error {
	return s(call, rows)
}

// The receipt of a call is kept before the model is asked, and a call whose
// receipt cannot be kept is not made.
func TestReceiptComesFirst(t *testing.T) {
	var order []string
	c := config(speaker{produce: func(context.Context, fence.Rendered, llm.Options) (llm.Reply, error) {
		order = append(order, "model")
		return llm.Reply{Text: "x"}, nil
	}})
	c.Options.RunID = "r1"
	c.Receipts = sink(func(call receipt.CallID, rows []fence.Row) error {
		order = append(order, fmt.Sprintf("%s %s %d rows", call.Run, call.Effect, len(rows)))
		return nil
	})
	p := single(t, "structure: s\n    prompt: \"{{x}} {{y}}\"", "when: good")
	in := engine.Inputs{"x": trust.NewValue(value.FromString("1"), trust.From("host:x")), "y": trust.NewValue(value.FromString("2"), trust.From("host:y"))}
	mustRun(t, p, in, c)
	if want := []string{"r1 one/a#1:produce 2 rows", "model", "r1 one/a#1:judge 2 rows"}; !slices.Equal(order, want) {
		t.Errorf("got %q, want %q", order, want)
	}
	order = nil
	c.Receipts = sink(func(receipt.CallID, []fence.Row) error { return errors.New("no space") })
	res := mustRun(t, p, in, c)
	if len(order) != 0 || res.Error != "state-error: receipt: no space" {
		t.Errorf("asked %q, error %q", order, res.Error)
	}
}

type journal func(seq uint64, records []engine.Record) error

func (j journal) Append(_ context.Context, _ string, seq uint64, records []engine.Record) error {
	return j(seq, records)
}

// Records are durable before the effects of the same turn are performed.
func TestRecordsBeforeEffects(t *testing.T) {
	var order []string
	next := uint64(0)
	c := config(speaker{})
	c.Tools = map[string]tool.Tool{"send": {Func: func(context.Context, []engine.Arg) (tool.Observation, error) {
		order = append(order, "sent")
		return tool.Observation{}, nil
	}}}
	c.Journal = journal(func(seq uint64, records []engine.Record) error {
		if seq != next {
			t.Errorf("records from %d, want %d", seq, next)
		}
		next += uint64(len(records))
		for _, r := range records {
			if r.Kind == engine.RecordStarted {
				order = append(order, "started "+r.Tool)
			}
			if r.Kind == engine.RecordResult {
				order = append(order, "result")
			}
		}
		return nil
	})
	p := single(t, "tool: send", "when: otherwise")
	mustRun(t, p, nil, c)
	if want := []string{"started send", "sent", "result"}; !slices.Equal(order, want) {
		t.Errorf("got %q, want %q", order, want)
	}
	if next == 0 {
		t.Error("no records")
	}

	order = nil
	c.Journal = journal(func(uint64, []engine.Record) error { return errors.New("disk gone") })
	res, err := run.Run(context.Background(), p, nil, c)
	if res != nil || err == nil || !strings.Contains(err.Error(), "disk gone") || len(order) != 0 {
		t.Errorf("%v, %v, performed %q", res, err, order)
	}
}

const fanOfCalls = `
machine: outer
entry: m
budget: 100
context: { items: [0, 1, 2, 3, 4, 5, 6, 7] }
states:
  m:
    call: inner
    input: { n: "{{item}}" }
    over: "{{items}}"
    output: outs
    gates: [ { when: otherwise, then: ok, to: END } ]
`

const inner = `
machine: inner
entry: s
budget: 100
context: { n: 0 }
result: got
states:
  s:
    structure: s
    prompt: "inner {{n}}.{{index}}"
    sample: 4
    output: got
    gates: [ { when: otherwise, then: ok, to: e } ]
  e:
    structure: s
    prompt: "end {{n}}"
    output: end
    gates: [ { when: otherwise, then: ok, to: END } ]
`

// gauge counts what runs at the same time.
type gauge struct{ now, most atomic.Int64 }

func (g *gauge) enter() {
	n := g.now.Add(1)
	for {
		m := g.most.Load()
		if n <= m || g.most.CompareAndSwap(m, n) {
			return
		}
	}
}
func (g *gauge) leave() { g.now.Add(-1) }

// MaxWorkers bounds the branches in flight of each fan-out: a nested one has its
// own bound, and a branch that waits for its nested one still counts.
func TestBranchesInFlight(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 5} {
		var mu sync.Mutex
		outer := map[string]int{} // branch of the outer fan-out → calls in flight
		most, mostInner := 0, 0
		c := config(speaker{produce: func(_ context.Context, p fence.Rendered, _ llm.Options) (llm.Reply, error) {
			branch, _, _ := strings.Cut(strings.Fields(strings.ReplaceAll(p.User(), "\n", " "))[1], ".")
			mu.Lock()
			outer[branch]++
			n := 0
			for _, k := range outer {
				mostInner = max(mostInner, k)
				if k > 0 {
					n++
				}
			}
			most = max(most, n)
			mu.Unlock()
			runtime.Gosched()
			time.Sleep(200 * time.Microsecond)
			mu.Lock()
			outer[branch]--
			mu.Unlock()
			return llm.Reply{Text: "t" + branch}, nil
		}})
		c.MaxWorkers = workers
		res := mustRun(t, program(t, fanOfCalls, inner), nil, c)
		if res.Status != run.StatusDone {
			t.Fatal(res.Value().JSON())
		}
		if most > workers || mostInner > workers {
			t.Errorf("%d workers: %d outer branches in flight, %d inner ones of a branch", workers, most, mostInner)
		}
		if workers > 1 && (most < 2 || mostInner < 2) {
			t.Errorf("%d workers: %d outer, %d inner: nothing ran side by side", workers, most, mostInner)
		}
		want := ""
		for i := range 8 {
			want += fmt.Sprintf("%d. 1. t%d\n2. t%d\n3. t%d\n4. t%d\n", i+1, i, i, i, i)
		}
		if got, _ := res.Result.Value().Text(0); got != strings.TrimSuffix(want, "\n") {
			t.Errorf("%d workers: results out of order:\n%s", workers, got)
		}
	}
}

// In sequence, branches run one after another in branch order, each to its end,
// nested ones too: scripted lists are dealt that way.
func TestSequentialIsDepthFirst(t *testing.T) {
	var got []string
	c := config(speaker{produce: func(_ context.Context, p fence.Rendered, _ llm.Options) (llm.Reply, error) {
		got = append(got, p.User())
		return llm.Reply{Text: "x"}, nil
	}})
	c.Sequential = true
	before := runtime.NumGoroutine()
	c.Observer = func(run.Event) {
		if n := runtime.NumGoroutine(); n > before {
			t.Errorf("%d goroutines, started with %d", n, before)
		}
	}
	mustRun(t, program(t, fanOfCalls, inner), nil, c)
	var want []string
	for i := range 8 {
		for j := range 4 {
			want = append(want, fmt.Sprintf("inner %d.%d", i, j))
		}
		want = append(want, fmt.Sprintf("end %d", i))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// A cancelled run halts, what is in flight sees it, and nothing is left behind.
func TestCancel(t *testing.T) {
	for _, fan := range []bool{false, true} {
		before := runtime.NumGoroutine()
		ctx, cancel := context.WithCancel(context.Background())
		var entered, left atomic.Int64
		c := config(speaker{produce: func(ctx context.Context, _ fence.Rendered, _ llm.Options) (llm.Reply, error) {
			entered.Add(1)
			cancel()
			<-ctx.Done()
			left.Add(1)
			return llm.Reply{Usage: engine.Usage{Input: 1}}, &llm.Error{Kind: llm.KindCancelled, Message: "cancelled", Err: ctx.Err()}
		}})
		state := generative
		if fan {
			state += "\n    sample: 50"
		}
		res, err := run.Run(ctx, single(t, state, "when: otherwise"), nil, c)
		if err != nil {
			t.Fatal(err)
		}
		if res.Status != run.StatusHalt || res.Error != "cancelled" {
			t.Errorf("fan %v: %s %q", fan, res.Status, res.Error)
		}
		if entered.Load() != left.Load() || entered.Load() > run.DefaultMaxWorkers {
			t.Errorf("fan %v: %d entered, %d left", fan, entered.Load(), left.Load())
		}
		if res.Usage.Input != int(entered.Load()) {
			t.Errorf("fan %v: %d tokens of %d calls", fan, res.Usage.Input, entered.Load())
		}
		if n := settled(before); n > before {
			t.Errorf("fan %v: %d goroutines, started with %d", fan, n, before)
		}
	}
}

// A state that came to something in spite of the end of the context is kept: the
// run halts at the next loop top, where a checkpoint could be taken.
func TestCancelAtTheNextLoopTop(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c := config(speaker{produce: func(context.Context, fence.Rendered, llm.Options) (llm.Reply, error) {
		cancel()
		return llm.Reply{Text: "done all the same"}, nil
	}})
	p := program(t, `
machine: two
entry: a
budget: 4
states:
  a: { structure: s, prompt: p, output: o, gates: [ { when: otherwise, then: ok, to: b } ] }
  b: { structure: s, prompt: p, output: p, gates: [ { when: otherwise, then: ok, to: END } ] }
`)
	res, err := run.Run(ctx, p, nil, c)
	if err != nil {
		t.Fatal(err)
	}
	if res.Error != "cancelled" || res.At != "b" || len(res.Trace) != 1 || res.Trace[0].Output != "done all the same" {
		t.Error(res.Value().JSON())
	}
}

func settled(want int) int {
	n := runtime.NumGoroutine()
	for i := 0; n > want && i < 100; i++ {
		time.Sleep(time.Millisecond)
		n = runtime.NumGoroutine()
	}
	return n
}

// A turn that is given up waits for what it had started.
func TestGivenUpTurnLeavesNothingRunning(t *testing.T) {
	var inFlight gauge
	c := config(speaker{produce: func(ctx context.Context, _ fence.Rendered, _ llm.Options) (llm.Reply, error) {
		inFlight.enter()
		defer inFlight.leave()
		if inFlight.now.Load() < 3 {
			<-ctx.Done()
		}
		return llm.Reply{}, nil
	}})
	c.Journal = journal(func(seq uint64, _ []engine.Record) error {
		if seq > 0 || inFlight.most.Load() > 0 {
			return errors.New("disk gone")
		}
		return nil
	})
	_, err := run.Run(context.Background(), single(t, generative+"\n    sample: 5", "when: otherwise"), nil, c)
	if err == nil || !strings.Contains(err.Error(), "disk gone") {
		t.Fatalf("%v", err)
	}
	if n := inFlight.now.Load(); n != 0 {
		t.Errorf("%d calls still run", n)
	}
}

func TestObserver(t *testing.T) {
	var got []string
	c := config(speaker{produce: func(_ context.Context, p fence.Rendered, _ llm.Options) (llm.Reply, error) {
		if strings.HasSuffix(p.User(), "1") {
			return llm.Reply{Usage: engine.Usage{Input: 1}}, &llm.Error{Message: "down"}
		}
		return llm.Reply{Text: "x", Usage: engine.Usage{Input: 2, Output: 3}}, nil
	}})
	c.Sequential = true
	c.Observer = func(e run.Event) {
		v := e.Value()
		line := ""
		for _, k := range []string{"type", "machine", "depth", "state", "index", "tokens", "error"} {
			if x, ok := v.Get(k); ok {
				text, _ := x.Text(0)
				line += text + " "
			}
		}
		got = append(got, strings.TrimSpace(line))
		panic("observers cannot affect a run")
	}
	p := program(t, `
machine: top
entry: m
budget: 20
states:
  m: { call: sub, input: { n: "{{index}}" }, sample: 2, output: o, gates: [ { when: otherwise, then: ok, to: x } ] }
  x: { call: nowhere, sample: 2, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
`, `
machine: sub
entry: s
budget: 9
context: { n: "" }
states:
  s: { structure: s, prompt: "p{{index}}", sample: 2, output: o, gates: [ { when: otherwise, then: ok, to: e } ] }
  e: { structure: s, prompt: "p{{n}}", output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
`)
	res := mustRun(t, p, nil, c)
	if res.Status != run.StatusDone {
		t.Fatal(res.Value().JSON())
	}
	const one, two = `{"input_tokens": 1, "output_tokens": 0}`, `{"input_tokens": 2, "output_tokens": 3}`
	var branches []string
	for _, l := range got {
		if strings.HasPrefix(l, "branch-done") {
			branches = append(branches, l)
		}
	}
	wantBranches := []string{
		"branch-done sub 1 s 0 " + two,
		"branch-done sub 1 s 1 " + one + " provider-error: down",
		`branch-done top 0 m 0 {"input_tokens": 5, "output_tokens": 6}`,
		"branch-done sub 1 s 0 " + two,
		"branch-done sub 1 s 1 " + one + " provider-error: down",
		`branch-done top 0 m 1 {"input_tokens": 4, "output_tokens": 3} call-failed: provider-error: down`,
		`branch-done top 0 x 0 {"input_tokens": 0, "output_tokens": 0} state-error: call: unknown machine 'nowhere'`,
		`branch-done top 0 x 1 {"input_tokens": 0, "output_tokens": 0} state-error: call: unknown machine 'nowhere'`,
	}
	if !slices.Equal(branches, wantBranches) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(branches, "\n"), strings.Join(wantBranches, "\n"))
	}
	// A branch's end stands between what happened in it and what followed from it.
	at := func(prefix string) int {
		return slices.IndexFunc(got, func(l string) bool { return strings.HasPrefix(l, prefix) })
	}
	if !(at("branch-done top 0 m 1") < at("state-done top 0 m") && at("run-finished sub 1") < at("branch-done top 0 m 0")) {
		t.Errorf("order:\n%s", strings.Join(got, "\n"))
	}
}

// Approvals get an id and an expiry that the driver draws, once.
func TestApprovals(t *testing.T) {
	c := config(speaker{})
	c.Options.Policies.UntrustedFlow = policy.Ask
	c.Options.FlowTainted = true
	c.Options.Suspendable = true
	c.Clock = func() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }
	var ran atomic.Int64
	c.Tools = map[string]tool.Tool{"pay": {Func: func(context.Context, []engine.Arg) (tool.Observation, error) {
		ran.Add(1)
		return tool.Observation{Value: value.FromString("paid")}, nil
	}}}
	p := single(t, "tool: pay\n    sample: 2\n    input: { n: \"{{index}}\" }", "when: otherwise")
	r, err := run.Start(p, nil, &c)
	if err != nil {
		t.Fatal(err)
	}
	res, err := run.Drive(context.Background(), r, c)
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != run.StatusSuspended || res.Error != "approval-required" || len(res.Approvals) != 2 || ran.Load() != 0 {
		t.Fatalf("%s, ran %d", res.Value().JSON(), ran.Load())
	}
	a, b := res.Approvals[0], res.Approvals[1]
	if len(a.ID) != 32 || len(b.ID) != 32 || a.ID == b.ID || a.Expires != "2030-01-03T03:04:05Z" {
		t.Errorf("%s %s %s", a.ID, b.ID, a.Expires)
	}
	if _, ok := res.Value().Get("approvals"); !ok || len(res.Frames) == 0 {
		t.Error("a suspension without its approvals or frames")
	}
	// Approved calls run, once each; the driver takes the resumed run like any other.
	r, err = run.Resume(p, res.Frames, engine.ResumeOptions{Approve: []string{a.ID, b.ID}}, &c)
	if err != nil {
		t.Fatal(err)
	}
	res, err = run.Drive(context.Background(), r, c)
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != run.StatusDone || ran.Load() != 2 {
		t.Errorf("%s, ran %d", res.Value().JSON(), ran.Load())
	}
}

func TestResultOnTheWire(t *testing.T) {
	c := config(speaker{})
	c.Options.RunID = "r"
	res := mustRun(t, single(t, generative, "when: otherwise"), nil, c)
	const want = `{"status": "done", "error": null, "result": "ok", "usage": {"input_tokens": 0, "output_tokens": 0}, ` +
		`"trace": [{"state": "a", "tier": "balanced", "step": 1, "output": "ok", "gate": "otherwise", "gate_via": "otherwise", "policy": "ok", "to": "END"}], ` +
		`"result_label": {"level": "model", "sources": ["model:a"], "secrecy": []}, "run": "r"}`
	if got := res.Value().JSON(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	res = mustRun(t, program(t, `
machine: loop
entry: a
budget: 2
states:
  a: { structure: s, prompt: p, output: o, gates: [ { when: otherwise, then: ok, to: a } ] }
`), nil, c)
	v := res.Value()
	if k := keys(v); k != "status error result usage trace diagnosis run" {
		t.Errorf("keys of a halt: %s", k)
	}
	c.Options.EscalateSuspend = true
	res = mustRun(t, program(t, `
machine: esc
entry: a
budget: 4
states:
  a: { structure: s, prompt: p, output: o, gates: [ { when: otherwise, escalate: true, ask: "Sure?", to: b } ] }
  b: { structure: s, prompt: p, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
`), nil, c)
	if k := keys(res.Value()); k != "status error result usage trace at ask reply_to run" {
		t.Errorf("keys of a suspension: %s", k)
	}
}

func keys(v value.Value) string {
	var k []string
	for i := range v.Len() {
		k = append(k, v.Key(i))
	}
	return strings.Join(k, " ")
}

// Every call draws its own nonce, and a run id is drawn where none is given.
func TestRandomness(t *testing.T) {
	seen := map[string]bool{}
	c := config(speaker{produce: func(_ context.Context, p fence.Rendered, _ llm.Options) (llm.Reply, error) {
		if p.Nonce() == "" || seen[p.Nonce()] {
			t.Errorf("nonce %q again", p.Nonce())
		}
		seen[p.Nonce()] = true
		return llm.Reply{Text: "x"}, nil
	}})
	c.Sequential = true
	in := engine.Inputs{"x": trust.NewValue(value.FromString("1"), trust.From("host:x"))}
	p := single(t, "structure: s\n    prompt: \"{{x}}\"\n    sample: 300", "when: otherwise")
	a, b := mustRun(t, p, in, c), mustRun(t, p, in, c)
	if len(seen) != 600 {
		t.Errorf("%d nonces", len(seen))
	}
	if len(a.RunID) != 32 || a.RunID == b.RunID {
		t.Errorf("run ids %q, %q", a.RunID, b.RunID)
	}
}
