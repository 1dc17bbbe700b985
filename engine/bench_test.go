package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/hook"
	"github.com/pinfold-dev/pinfold/hook/builtin"
	"github.com/pinfold-dev/pinfold/llm/scripted"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/run"
	"github.com/pinfold-dev/pinfold/tool"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// The benchmarks run whole machines through the in-process driver, the renderer
// and the scripted model: a step is everything that a step costs except a model.

const loopTwo = `
machine: loop
entry: a
budget: %d
result: ob
context: {task: benchmark}
states:
  a:
    structure: one short line
    prompt: "Step for {{task}}; last was {{ob}}."
    output: oa
    gates:
      %s
      - {when: otherwise, then: ok, to: b}
  b:
    %s
    output: ob
    gates:
      - {when: more to do, hook: more, then: ok, to: a}
      - {when: otherwise, then: ok, to: END}
`

const generativeB = "structure: one short line\n    prompt: \"Follow up on {{oa}} for {{task}}.\""

type world struct {
	p     *engine.Program
	in    engine.Inputs
	c     run.Config
	steps int
	hooks int
}

func load(tb testing.TB, docs ...string) *engine.Program {
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

// config is what every benchmark runs under. more answers true n times and then
// false, and starts over.
func (w *world) config(script *scripted.Script, n int) {
	asked := 0
	more := func(context.Context, hook.View, trust.Value) (bool, error) {
		asked++
		if asked > n {
			asked = 0
			return false, nil
		}
		return true, nil
	}
	host := map[string]hook.Func{"more": more}
	w.c = run.Config{
		Tiers: map[mkl.Tier]string{mkl.Fast: "m", mkl.Balanced: "m", mkl.Reasoning: "m"},
		Hooks: func(name string) (hook.Func, bool, bool) { return builtin.Resolve(name, host) },
		Tools: map[string]tool.Tool{"look": {Name: "look", Policy: policy.Tool{Class: policy.Read, Local: true},
			Func: func(context.Context, []engine.Arg) (tool.Observation, error) {
				return tool.Observation{Value: value.FromString("a line that a tool saw")}, nil
			}}},
		Sequential: true,
		Options: engine.Options{RunID: "bench", OnTruncate: engine.TruncateReport,
			Policies: policy.Policies{UntrustedFlow: policy.Report, UntrustedArgument: policy.Report}},
		Model: scripted.New(script),
	}
	w.c.Options.Table = run.Table(w.c.Tools)
}

// drive runs the machine until b.N steps are done and reports one of them.
func (w *world) drive(b *testing.B, script *scripted.Script, unit string) {
	b.Helper()
	b.ReportAllocs()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := processor(b)
	b.ResetTimer()
	for range b.N {
		w.c.Model = scripted.New(script)
		res, err := run.Run(context.Background(), w.p, w.in, w.c)
		if err != nil {
			b.Fatal(err)
		}
		if res.Status != "done" {
			b.Fatal(res.Value().JSON())
		}
	}
	b.StopTimer()
	used := processor(b) - start
	runtime.ReadMemStats(&after)
	per := float64(b.N) * float64(w.steps)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/per, "ns/"+unit)
	b.ReportMetric(float64(used.Nanoseconds())/per, "cpu-ns/"+unit)
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/per, "allocs/"+unit)
}

// processor is the processor time of this process: on a machine that others use
// too it says more than the wall clock.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func tokens() *scripted.Script {
	return &scripted.Script{Verdicts: []scripted.Verdict{scripted.Index(0)}, Input: 10, Output: 5}
}

func BenchmarkOtherwise(b *testing.B) {
	w := &world{p: load(b, fmt.Sprintf(loopTwo, 1001, "", generativeB)), steps: 1000}
	w.config(tokens(), 499)
	w.drive(b, tokens(), "step")
}

func BenchmarkProse(b *testing.B) {
	w := &world{p: load(b, fmt.Sprintf(loopTwo, 1001, "- {when: the step is complete and correct, then: ok, to: b}", generativeB)), steps: 1000}
	w.config(tokens(), 499)
	w.drive(b, tokens(), "step")
}

func BenchmarkTool(b *testing.B) {
	w := &world{p: load(b, fmt.Sprintf(loopTwo, 1001, "", "tool: look\n    input: {query: \"{{oa}}\"}")), steps: 1000}
	w.config(tokens(), 499)
	w.drive(b, tokens(), "step")
}

func BenchmarkAccumulate(b *testing.B) {
	w := &world{p: load(b, fmt.Sprintf(loopTwo, 1001, "", generativeB+"\n    accumulate: true")), steps: 1000}
	w.config(tokens(), 499)
	w.drive(b, tokens(), "step")
}

func BenchmarkRepair(b *testing.B) {
	w := &world{p: load(b, `
machine: repair
entry: a
budget: 1001
states:
  a:
    structure: one line
    prompt: "Write it."
    output: o
    gates:
      - {when: it is right, then: ok, to: END}
      - {when: it is wrong, repair: 999, to: a}
      - {when: otherwise, then: ok, to: END}
`), steps: 1000}
	s := tokens()
	s.Verdicts = []scripted.Verdict{scripted.Index(1)}
	w.config(s, 0)
	w.drive(b, s, "attempt")
}

const fan = `
machine: fan
entry: m
budget: 2002
result: outs
context: {items: %s}
states:
  m:
    over: "{{items}}"
    structure: one line
    prompt: "Handle {{item}} ({{index}})."
    output: outs
    gates: [{when: otherwise, then: ok, to: END}]
`

func items(n int) value.Value {
	out := make([]value.Value, n)
	for i := range out {
		out[i] = value.FromString(fmt.Sprintf("item number %04d", i))
	}
	return value.FromList(out...)
}

func BenchmarkFanTrusted(b *testing.B) {
	w := &world{p: load(b, fmt.Sprintf(fan, items(1000).JSON())), steps: 1000}
	w.config(tokens(), 0)
	w.drive(b, tokens(), "branch")
}

func BenchmarkFanTainted(b *testing.B) {
	w := &world{p: load(b, fmt.Sprintf(fan, "[]")), steps: 1000}
	w.in = engine.Inputs{"items": trust.NewValue(items(1000), trust.From("host:items"))}
	w.config(tokens(), 0)
	w.drive(b, tokens(), "branch")
}

func BenchmarkCall(b *testing.B) {
	docs := []string{`
machine: root
entry: c
budget: 101
result: o
context: {x: seed}
states:
  c:
    call: m1
    input: {x: "{{x}}"}
    output: o
    gates:
      - {when: more, hook: more, then: ok, to: c}
      - {when: otherwise, then: ok, to: END}
`}
	for i := 1; i < 8; i++ {
		docs = append(docs, fmt.Sprintf(`
machine: m%d
entry: c
budget: 3
result: o
context: {x: ""}
states:
  c:
    call: m%d
    input: {x: "{{x}}"}
    output: o
    gates: [{when: otherwise, then: ok, to: END}]
`, i, i+1))
	}
	docs = append(docs, `
machine: m8
entry: s
budget: 3
result: o
context: {x: ""}
states:
  s:
    structure: one line
    prompt: "Leaf {{x}}."
    output: o
    gates: [{when: otherwise, then: ok, to: END}]
`)
	w := &world{p: load(b, docs...), steps: 800}
	w.config(tokens(), 99)
	w.drive(b, tokens(), "call")
}

const small = `
machine: small
entry: classify
budget: 10
result: reply
context: {ticket: "", policy: be kind}
states:
  classify:
    structure: one of bug, billing, other
    prompt: "Classify: {{ticket}}"
    tier: fast
    output: category
    gates:
      - {when: the category is bug, then: ok, to: lookup}
      - {when: the category is billing, then: ok, to: lookup}
      - {when: otherwise, then: ok, to: lookup}
  lookup:
    tool: look
    input: {query: "{{category}}: {{ticket}}"}
    output: facts
    gates: [{when: otherwise, then: ok, to: draft}]
  draft:
    structure: a reply
    prompt: "Reply to {{ticket}} with {{facts}}. Policy: {{policy}}"
    tier: reasoning
    output: reply
    gates:
      - {when: the reply resolves the request, then: ok, to: END}
      - {when: the reply has gaps, repair: 2, to: draft}
      - {when: otherwise, escalate: true, to: human}
  human:
    structure: handoff
    prompt: "Hand off {{ticket}}"
    output: reply
    gates: [{when: otherwise, then: ok, to: END}]
`

func smallScript() *scripted.Script {
	return &scripted.Script{Texts: []string{"bug", "first try", "second try"}, Input: 120, Output: 40,
		Verdicts: []scripted.Verdict{scripted.Index(0), scripted.Index(1), scripted.Index(0)}}
}

func smallWorld(tb testing.TB) *world {
	w := &world{p: load(tb, small), steps: 1}
	w.in = engine.Inputs{"ticket": trust.NewValue(value.FromString("My login fails with a 500 since Monday."), trust.From("host:ticket"))}
	w.config(smallScript(), 0)
	return w
}

// BenchmarkSmall is one run of a realistic machine of four steps.
func BenchmarkSmall(b *testing.B) {
	w := smallWorld(b)
	w.drive(b, smallScript(), "run")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

// BenchmarkSmallParallel shares one program among as many runs as there are processors.
func BenchmarkSmallParallel(b *testing.B) {
	w := smallWorld(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c := w.c
			c.Model = scripted.New(smallScript())
			if _, err := run.Run(context.Background(), w.p, w.in, c); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

// BenchmarkJudgePrompt builds the judge's prompt over a blackboard of 200 KB
// with an output of 2 KB: what it costs to ask.
func BenchmarkJudgePrompt(b *testing.B) {
	p := load(b, `
machine: judged
entry: a
budget: 3
context: {big: "", small: ""}
states:
  a:
    structure: text
    prompt: "Write."
    output: o
    gates:
      - {when: it is fine, then: ok, to: END}
      - {when: otherwise, then: ok, to: END}
`)
	in := engine.Inputs{"big": trust.NewValue(value.FromString(strings.Repeat("some prose of a document ", 8000)), trust.From("host:big"))}
	r, err := engine.New(p, in, engine.Options{RunID: "b", Quiet: true})
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("An output of a model. ", 93)
	id := r.Ready().Effects[0].ID()
	b.ReportAllocs()
	var forks []*engine.Run
	for range b.N {
		if len(forks) == 0 {
			b.StopTimer()
			for range 1024 {
				forks = append(forks, r.Fork())
			}
			b.StartTimer()
		}
		f := forks[len(forks)-1]
		forks = forks[:len(forks)-1]
		if err := f.Step(id, engine.Produced{Text: text}); err != nil {
			b.Fatal(err)
		}
		if _, ok := f.Ready().Effects[0].(*engine.Judge); !ok {
			b.Fatal("no judge was asked")
		}
	}
}

// BenchmarkKept reports what a finished and a suspended run keep in memory.
func BenchmarkKept(b *testing.B) {
	w := smallWorld(b)
	const n = 2000
	b.Run("finished", func(b *testing.B) {
		for range b.N {
			kept := make([]*engine.Run, n)
			b.ReportMetric(heapOf(func() {
				for i := range kept {
					c := w.c
					c.Model = scripted.New(smallScript())
					r, err := run.Start(w.p, w.in, &c)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := run.Drive(context.Background(), r, c); err != nil {
						b.Fatal(err)
					}
					kept[i] = r
				}
			})/n, "B/run")
			runtime.KeepAlive(kept)
		}
	})
	b.Run("suspended", func(b *testing.B) {
		for range b.N {
			kept := make([]*engine.Run, n)
			b.ReportMetric(heapOf(func() {
				for i := range kept {
					c := w.c
					c.Options.Suspendable, c.Options.HasCostBudget, c.Options.CostBudget = true, true, 300
					c.Model = scripted.New(smallScript())
					r, err := run.Start(w.p, w.in, &c)
					if err != nil {
						b.Fatal(err)
					}
					res, err := run.Drive(context.Background(), r, c)
					if err != nil || res.Status != "suspended" {
						b.Fatal(err, res)
					}
					kept[i] = r
				}
			})/n, "B/run")
			runtime.KeepAlive(kept)
		}
	})
}

func heapOf(f func()) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return float64(after.HeapAlloc) - float64(before.HeapAlloc)
}
