package run_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/hook"
	"github.com/pinfold-dev/pinfold/hook/builtin"
	"github.com/pinfold-dev/pinfold/llm/scripted"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/run"
	"github.com/pinfold-dev/pinfold/tool"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// The workloads of a whole run: driver, core, renderer, nonces from the operating
// system, scripted model. A unit (a step, a branch, a call, a run) is everything
// that it costs except a model.

const benchLoop = `
machine: loop
entry: a
budget: 1001
result: ob
context: { task: benchmark }
states:
  a:
    structure: one short line
    prompt: "Step for {{task}}; last was {{ob}}."
    output: oa
    gates: [ %s { when: otherwise, then: ok, to: b } ]
  b:
    %s
    output: ob
    gates: [ { when: more to do, hook: more, then: ok, to: a }, { when: otherwise, then: ok, to: END } ]
`

const benchGenerative = `structure: one short line
    prompt: "Follow up on {{oa}} for {{task}}."`

const benchFan = `
machine: fan
entry: m
budget: 2002
context: { items: [] }
states:
  m:
    structure: one line
    prompt: "Handle {{item}} ({{index}})."
    over: "{{items}}"
    output: outs
    gates: [ { when: otherwise, then: ok, to: END } ]
`

func benchCall(i int) string {
	if i == 8 {
		return `
machine: m8
entry: s
budget: 3
context: { x: "" }
states:
  s: { structure: one line, prompt: "Leaf {{x}}.", output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
`
	}
	budget, gates := 3, ""
	if i == 0 {
		budget, gates = 101, "{ when: more, hook: more, then: ok, to: s },"
	}
	return fmt.Sprintf(`
machine: m%d
entry: s
budget: %d
result: o
context: { x: seed }
states:
  s: { call: m%d, input: { x: "{{x}}" }, output: o, gates: [ %s { when: otherwise, then: ok, to: END } ] }
`, i, budget, i+1, gates)
}

const benchSmall = `
machine: small
entry: classify
budget: 10
result: reply
context: { ticket: "", policy: be kind }
states:
  classify:
    structure: one of bug, billing, other
    prompt: "Classify: {{ticket}}"
    tier: fast
    output: category
    gates:
      - { when: the category is bug, then: ok, to: lookup }
      - { when: the category is billing, then: ok, to: lookup }
      - { when: otherwise, then: ok, to: lookup }
  lookup:
    tool: look
    input: { query: "{{category}}: {{ticket}}" }
    output: facts
    gates: [ { when: otherwise, then: ok, to: draft } ]
  draft:
    structure: a reply
    prompt: "Reply to {{ticket}} with {{facts}}. Policy: {{policy}}"
    tier: reasoning
    output: reply
    gates:
      - { when: the reply resolves the request, then: ok, to: END }
      - { when: the reply has gaps, repair: 2, to: draft }
      - { when: otherwise, escalate: true, to: human }
  human: { structure: handoff, prompt: "Hand off {{ticket}}", output: reply, gates: [ { when: otherwise, then: ok, to: END } ] }
`

type workload struct {
	name     string
	docs     []string
	units    int
	unit     string
	more     int // how often the hook says true
	inputs   map[string]value.Value
	verdicts []scripted.Verdict
}

func workloads() []workload {
	items := make([]value.Value, 1000)
	for i := range items {
		items[i] = value.FromString(fmt.Sprintf("item %d", i))
	}
	var chain []string
	for i := range 9 {
		chain = append(chain, benchCall(i))
	}
	return []workload{
		{name: "otherwise", docs: []string{fmt.Sprintf(benchLoop, "", benchGenerative)}, units: 1000, unit: "step", more: 499},
		{name: "prose", docs: []string{fmt.Sprintf(benchLoop, "{ when: the step is complete and correct, then: ok, to: b },", benchGenerative)}, units: 1000, unit: "step", more: 499},
		{name: "tool", docs: []string{fmt.Sprintf(benchLoop, "", `tool: look
    input: { q: "{{oa}}" }`)}, units: 1000, unit: "step", more: 499},
		{name: "fan", docs: []string{benchFan}, units: 1000, unit: "branch", inputs: map[string]value.Value{"items": value.FromList(items...)}},
		{name: "call", docs: chain, units: 800, unit: "call", more: 99},
		{name: "small", docs: []string{benchSmall}, units: 1, unit: "run",
			inputs:   map[string]value.Value{"ticket": value.FromString("My login fails with a 500 since Monday.")},
			verdicts: []scripted.Verdict{scripted.Index(0), scripted.Index(1), scripted.Index(0)}},
	}
}

func (w *workload) config(n *int) run.Config {
	more := func(context.Context, hook.View, trust.Value) (bool, error) { *n++; return *n <= w.more, nil }
	host := map[string]hook.Func{"more": more}
	c := config(nil)
	c.Sequential = true
	c.Options.RunID = "bench"
	c.Hooks = func(name string) (hook.Func, bool, bool) { return builtin.Resolve(name, host) }
	c.Tools = map[string]tool.Tool{"look": {Name: "look", Policy: policy.Tool{Class: policy.Read, Local: true},
		Func: func(context.Context, []engine.Arg) (tool.Observation, error) {
			return tool.Observation{Value: value.FromString("retry after 60 s")}, nil
		}}}
	c.Options.Table = run.Table(c.Tools)
	return c
}

func (w *workload) script() *scripted.Script {
	v := w.verdicts
	if v == nil {
		v = []scripted.Verdict{scripted.Index(0)}
	}
	return &scripted.Script{Verdicts: v, Input: 10, Output: 5}
}

func (w *workload) labelled() engine.Inputs {
	in := engine.Inputs{}
	for k, v := range w.inputs {
		in[k] = trust.NewValue(v, trust.From("host:"+k))
	}
	return in
}

func BenchmarkRun(b *testing.B) {
	for _, w := range workloads() {
		b.Run(w.name, func(b *testing.B) {
			p, script, in := program(b, w.docs...), w.script(), w.labelled()
			n := 0
			c := w.config(&n)
			b.ReportAllocs()
			for b.Loop() {
				n = 0
				c.Model = scripted.New(script)
				res, err := run.Run(context.Background(), p, in, c)
				if err != nil || res.Status != run.StatusDone {
					b.Fatal(err, res.Value().JSON())
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(w.units), "ns/"+w.unit)
		})
	}
}

// The concurrent path costs goroutines: what a fan-out pays for a model that waits.
func BenchmarkConcurrentFan(b *testing.B) {
	w := workloads()[3]
	p, script, in := program(b, w.docs...), w.script(), w.labelled()
	n := 0
	c := w.config(&n)
	c.Sequential = false
	for b.Loop() {
		c.Model = scripted.New(script)
		if _, err := run.Run(context.Background(), p, in, c); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/branch")
}

func BenchmarkSmallParallel(b *testing.B) {
	w := workloads()[5]
	p, script, in := program(b, w.docs...), w.script(), w.labelled()
	b.RunParallel(func(pb *testing.PB) {
		n := 0
		c := w.config(&n)
		for pb.Next() {
			c.Model = scripted.New(script)
			if _, err := run.Run(context.Background(), p, in, c); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

// What the benchmarks measure is a run that ends as it should, of the length that
// their unit says.
func TestWorkloads(t *testing.T) {
	for _, w := range workloads() {
		n := 0
		c := w.config(&n)
		c.Model = scripted.New(w.script())
		res := mustRun(t, program(t, w.docs...), w.labelled(), c)
		want := map[string]int{"otherwise": 1000, "prose": 1000, "tool": 1000, "fan": 1000, "call": 100, "small": 4}[w.name]
		if res.Status != run.StatusDone || res.Steps != want {
			t.Errorf("%s: %s %q, %d steps, want %d", w.name, res.Status, res.Error, res.Steps, want)
		}
	}
}
