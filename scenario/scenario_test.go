package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

const caseHead = `
case: c
machine:
  machine: m
  entry: a
  budget: 9
  context: { q: "", items: [x, y, z] }
  states:
`

func load(t *testing.T, text string) *Case {
	t.Helper()
	c, err := LoadCase("c.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func play(t *testing.T, text string) *Report {
	t.Helper()
	rep, err := load(t, text).Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func wantMismatches(t *testing.T, rep *Report, want ...string) {
	t.Helper()
	if len(rep.Mismatches) != len(want) {
		t.Errorf("mismatches\n%s\nwant\n%s", strings.Join(rep.Mismatches, "\n"), strings.Join(want, "\n"))
		return
	}
	for i := range want {
		if rep.Mismatches[i] != want[i] {
			t.Errorf("got  %s\nwant %s", rep.Mismatches[i], want[i])
		}
	}
}

const plain = caseHead + `    a: { structure: s, prompt: "do {{q}}", output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
`

// Equality is exact and type-aware, and everything that differs is listed.
func TestEveryMismatchIsListed(t *testing.T) {
	rep := play(t, plain+`
llm: { produce: [x], tokens: [1, 2] }
expect:
  status: halt
  error: no
  error_prefix: state
  result: 1
  at: a
  ask: "?"
  reply_to: human.reply
  context: { o: true, nowhere: 1, q: null }
  trace:
    - { state: a, step: 1.0, gate: null, cost: { output_tokens: 2, input_tokens: 1 }, branches: null }
    - { state: b }
`)
	wantMismatches(t, rep,
		`status: expected "halt", got "done"`,
		`error: expected "no", got null`,
		`result: expected 1, got "x"`,
		`at: expected "a", got null`,
		`ask: expected "?", got null`,
		`reply_to: expected "human.reply", got null`,
		`error_prefix: expected "state", got null`,
		`context.o: expected true, got "x"`,
		`context.nowhere: expected 1, got null`,
		`context.q: expected null, got ""`,
		`trace.length: expected 2, got 1`,
		`trace[0].gate: expected null, got "otherwise"`,
	)
	if rep.Pass() {
		t.Error("a case with mismatches passed")
	}
}

func TestScriptedAnswers(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"a produce list ends in ok for ever", caseHead + `    a: { structure: s, prompt: p, output: o, sample: 3, gates: [ { when: otherwise, then: ok, to: END } ] }
llm: { produce: [1, no] }
expect: { result: ["1", "no", ok] }
`},
		{"a collection is its JSON text", plain + `
llm: { produce: [ { a: [1, é] } ] }
expect: { result: '{"a": [1, "é"]}' }
`},
		{"a produce map takes the first match in file order", plain + `
input: { q: zz }
llm: { produce: { z: first, zz: second } }
expect: { result: first }
`},
		{"input wins over context, wherever it stands", plain + `
input: { q: in }
context: { q: con, items: [] }
llm: { produce: { in: right, con: wrong } }
expect: { result: right, context: { q: in, items: [] } }
`},
		{"tokens and reasoning", caseHead + `    a: { structure: s, prompt: p, reason: true, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
llm: { produce: [x], tokens: [3, 4] }
expect: { trace: [ { reasoning: thought, cost: { input_tokens: 3, output_tokens: 4 } } ] }
`},
		{"the last verdict repeats; without one the last condition", caseHead + `    a: { structure: s, prompt: p, output: o, gates: [ { when: one, then: ok, to: b }, { when: two, fail: true } ] }
    b: { structure: s, prompt: p, output: o, gates: [ { when: one, then: ok, to: c }, { when: two, fail: true } ] }
    c: { structure: s, prompt: p, output: o, gates: [ { when: one, fail: true }, { when: two, then: ok, to: END } ] }
llm: { judge: [0, 0, 1] }
expect: { status: done }
`},
		{"no verdicts at all", caseHead + `    a: { structure: s, prompt: p, output: o, gates: [ { when: one, fail: true }, { when: two, then: ok, to: END } ] }
llm: { judge: [] }
expect: { status: done, trace: [ { gate: two, judge_model: m } ] }
`},
		{"none in any case; an index equal to the number of conditions is no verdict", caseHead + `    a: { structure: s, prompt: p, output: o, gates: [ { when: one, fail: true }, { when: otherwise, then: ok, to: b } ] }
    b: { structure: s, prompt: p, output: o, gates: [ { when: one, fail: true }, { when: otherwise, then: ok, to: END } ] }
llm: { judge: [NONE, 1] }
expect: { status: done, trace: [ { judge_none: 1, judge_fallback: null }, { judge_none: null, judge_fallback: true } ] }
`},
		{"an index beyond any machine word is no verdict", caseHead + `    a: { structure: s, prompt: p, output: o, gates: [ { when: one, fail: true }, { when: otherwise, then: ok, to: END } ] }
llm: { judge: [99999999999999999999] }
expect: { status: done, trace: [ { judge_fallback: true } ] }
`},
		{"unparseable", caseHead + `    a: { structure: s, prompt: p, output: o, gates: [ { when: one, then: ok, to: END } ] }
llm: { judge: unparseable }
expect: { status: halt, error: judge-unparseable, at: a }
`},
		{"a tool list: the last repeats; a tool map: first match in the input's JSON", caseHead + `    a: { tool: t, over: "{{items}}", input: { k: "{{item}}" }, output: o, gates: [ { when: otherwise, then: ok, to: b } ] }
    b: { tool: u, over: "{{items}}", input: { k: "{{item}}" }, output: p, gates: [ { when: otherwise, then: ok, to: END } ] }
tools: { t: [one, { two: 2 }], u: { '{"k": "y"}': why, '"k"': other } }
expect: { context: { o: [one, '{"two": 2}', '{"two": 2}'], p: [other, why, other] } }
`},
		{"an empty list is a tool that fails", caseHead + `    a: { tool: t, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
tools: { t: [] }
expect: { status: halt, error: "state-error: the script has no output for it" }
`},
		{"only scripted tools exist", caseHead + `    a: { tool: calc, input: { expr: "1" }, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
expect: { status: halt, error: "state-error: tool: unknown tool 'calc'" }
`},
		{"hooks: a scripted name wins, the last answer repeats, built-ins stay", caseHead + `    a: { structure: s, prompt: p, output: o, gates: [ { when: x, hook: always_true, fail: true }, { when: y, hook: "eq:q:", then: ok, to: b } ] }
    b: { structure: s, prompt: p, output: o, gates: [ { when: x, hook: h, then: ok, to: b }, { when: y, hook: always_false, fail: true }, { when: otherwise, then: ok, to: END } ] }
hooks: { always_true: [no], h: [yes, on, false] }
expect: { status: done, trace: [ { hook: "eq:q:" }, { hook: h }, { hook: h }, { gate_via: otherwise } ] }
`},
		{"an empty list of answers is a hook that fails", caseHead + `    a: { structure: s, prompt: p, output: o, gates: [ { when: x, hook: h, then: ok, to: END } ] }
hooks: { h: [] }
expect: { status: halt, error: "state-error: hook: the script has no answer for 'h'" }
`},
		{"a machine can call itself by name", caseHead + `    a: { call: m, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
expect: { status: halt, error_prefix: "call-failed: call-failed: " }
`},
		{"run parameters", caseHead + `    a: { structure: s, prompt: "{{q}}", output: o, gates: [ { when: good, then: ok, to: w } ] }
    w: { tool: look, input: { x: "{{o}}" }, output: w, gates: [ { when: otherwise, then: ok, to: END } ] }
input: { q: outside words that go on }
tools: { look: [seen] }
llm: { produce: { "outs…[truncated]": cut, "outside": uncut } }
run:
  delimit: off
  judge: someone
  prompt_value_chars: 16
  trusted_keys: { q: "checked by hand" }
  tool_effects: { look: { class: read } }
  on_untrusted_flow: halt
  on_untrusted_argument: ask
  on_secret_egress: report
  on_truncate: halt
  cost_budget: 100
  max_workers: 2
  judge_lenient: true
  suspendable: no
  escalate_suspend: yes
  flow_tainted: false
  tier_params: { fast: { seed: 1 } }
expect: { status: done, context: { o: cut }, trace: [ { judge_model: someone, decision_tainted: null }, { output: seen } ] }
`},
		{"a resume of frames that fit no machine", plain + `
run: { resume: [] }
expect: { status: halt, error_prefix: "resume-mismatch: ", at: null, trace: [] }
`},
		{"a resume", plain + `
run: { resume: [ { machine: m, state: a, ctx: { q: kept }, steps: 3, total_in: 5, total_out: 6, feedback: "", repair_left: [], trace: [] } ] }
input: { q: ignored }
llm: { produce: { kept: went on, ignored: started anew } }
expect: { status: done, result: went on, trace: [ { step: 4 } ] }
`},
		{"a list of trusted keys, and no clip", plain + `
input: { q: "` + strings.Repeat("long ", 5000) + `end" }
run: { trusted_keys: [q], prompt_value_chars: 0 }
llm: { produce: { "<data-": fenced, "long end": whole } }
expect: { result: whole }
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Twice: scripted lists are copied for every run.
			cs := load(t, c.text)
			for range 2 {
				rep, err := cs.Run(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range rep.Mismatches {
					t.Error(m)
				}
				if !rep.Pass() {
					t.Error("did not pass")
				}
			}
		})
	}
}

// What is wrong with a scenario fails it, with line and what is valid.
func TestProblems(t *testing.T) {
	for text, want := range map[string]string{
		"expect: { status: done, statsu: done }": "line 10: unknown key under expect 'statsu'",
		"expect: {}":                             "line 10: expect: expected a map that names something, found a map",
		"expect: done":                           "line 10: expect: expected a map that names something, found 'done'",
		"llm: {}":                                "line 2: expect is missing: a scenario without it cannot fail",
		"expect: { trace: {} }":                  "line 10: expect.trace: expected a list of steps, found a map",
		"expect: { trace: [1] }":                 "line 10: expect.trace[0]: expected a map, found 1",
		"expect: { status: .nan }":               "line 10: expect.status: ",
		"expct: {}\nexpect: { status: done }":    "line 10: unknown key 'expct'",
		"run: { on_untrusted_flow: Halt }\nexpect: { status: done }":             "line 10: run.on_untrusted_flow: ",
		"run: { on_truncate: cut }\nexpect: { status: done }":                    "line 10: run.on_truncate: 'cut' is no value of it (report, halt)",
		"run: { model: m }\nexpect: { status: done }":                            "line 10: unknown key under run 'model'",
		"run: { cost_budget: -1 }\nexpect: { status: done }":                     "line 10: run.cost_budget: expected at least 0, found -1",
		"run: { max_workers: 0 }\nexpect: { status: done }":                      "line 10: run.max_workers: expected at least 1, found 0",
		"run: { delimit: 1 }\nexpect: { status: done }":                          "line 10: run.delimit: ",
		"run: { tool_effects: { t: reed } }\nexpect: { status: done }":           "line 10: run.tool_effects.t: ",
		"run: { tool_effects: { t: { clas: read } } }\nexpect: { status: done }": "line 10: run.tool_effects.t: ",
		"run: { trusted_keys: { q: ' ' } }\nexpect: { status: done }":            "line 10: run.trusted_keys.q: the reason is blank",
		"run: { tier_params: { quick: {} } }\nexpect: { status: done }":          "line 10: unknown tier under run.tier_params 'quick'",
		"run: { resume: 1 }\nexpect: { status: done }":                           "line 10: run.resume: ",
		"run: [1]\nexpect: { status: done }":                                     "line 10: run: expected a map, found a list",
		"llm: { produce: x }\nexpect: { status: done }":                          "line 10: llm.produce: expected a list or a map, found 'x'",
		"llm: { produce: [ ~ , ]}\nexpect: { status: done }":                     "",
		"llm: { prodcue: [x] }\nexpect: { status: done }":                        "line 10: unknown key under llm 'prodcue'",
		"llm: { tokens: [1] }\nexpect: { status: done }":                         "line 10: llm.tokens: expected [in, out]",
		"llm: { judge: [first] }\nexpect: { status: done }":                      `line 10: llm.judge: expected an index or none, found "first"`,
		"llm: { judge: [1.0] }\nexpect: { status: done }":                        "line 10: llm.judge: expected an index or none, found 1.0",
		"llm: { judge: [true] }\nexpect: { status: done }":                       "line 10: llm.judge: expected an index or none, found true",
		"llm: { judge: maybe }\nexpect: { status: done }":                        "line 10: llm.judge: expected a list of indices, or unparseable, found 'maybe'",
		"hooks: { h: [1] }\nexpect: { status: done }":                            "line 10: hooks.h: ",
		"hooks: { h: true }\nexpect: { status: done }":                           "line 10: hooks.h: expected a list of booleans, found 'true'",
		"tools: { t: x }\nexpect: { status: done }":                              "line 10: tools.t: expected a list or a map, found 'x'",
		"input: [1]\nexpect: { status: done }":                                   "line 10: input: expected a map, found a list",
	} {
		c, err := LoadCase("c.yaml", []byte(plain+text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if want == "" { // read in another way, not wrong as a scenario
			continue
		}
		rep, err := c.Run(context.Background())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if rep.Pass() || rep.Result != nil || len(rep.Mismatches) == 0 || !strings.HasPrefix(rep.Mismatches[0], want) {
			t.Errorf("%s:\ngot  %q\nwant %q", text, rep.Mismatches, want)
		}
	}
}

// A map without a match fails the scenario wherever it went in the run: as a
// marker in a list nobody would see it.
func TestNoMatchFailsTheScenario(t *testing.T) {
	rep := play(t, caseHead+`    a: { structure: s, prompt: "do {{item}}", over: "{{items}}", output: o, gates: [ { when: otherwise, then: ok, to: b } ] }
    b: { tool: t, over: "{{items}}", input: { k: "{{item}}" }, output: p, gates: [ { when: otherwise, then: ok, to: END } ] }
llm: { produce: { do x: fine, do z: fine } }
tools: { t: { x: fine, y: fine } }
expect: { status: done }
`)
	wantMismatches(t, rep,
		`llm.produce: no scripted text matches the prompt: "do y"`,
		`tools.t: no scripted output matches the input {"k": "z"}`)
	if rep.Result == nil || rep.Pass() {
		t.Error("it ran and must have failed")
	}
}

func TestFilesThatAreNoScenarios(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"[1]":                     "expected a map",
		"case: x":                 "c.yaml:1:1: a conformance case needs a machine",
		"machine: [":              "c.yaml:",
		"case: a\ncase: b":        "c.yaml:2:1: ",
		"machine: { machine: m }": "MK201",
		plain + "registry: [1]":   "registry: expected a map of machines",
		plain + "registry: { x: { machine: x } }": "registry.x: MK201",
	} {
		c, err := LoadCase("c.yaml", []byte(text))
		var many Errors
		if c != nil || !errors.As(err, &many) || len(many) == 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", text, c, err)
		}
	}
	for text, want := range map[string]string{
		"cases: []":      "no scenarios:",
		"scenarios: {}":  "expected a list",
		"scenarios: []":  "the list is empty",
		"scenarios: [x]": "scenarios[0]: expected a map, found 'x'",
		"scenarios: [ { expect: { status: done } } ]\nmore: 1": "unknown key 'more'",
	} {
		cs, err := Load("m.test.yaml", []byte(text))
		if cs != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", text, cs, err)
		}
	}
}

// The context of an expectation is the top run's, whatever a child did.
func TestChildrenDoNotShow(t *testing.T) {
	rep := play(t, caseHead+`    a: { call: sub, input: { q: seen }, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
registry:
  sub: { machine: sub, entry: s, budget: 2, context: { q: "" }, states: { s: { structure: s, prompt: "{{q}}", output: q, gates: [ { when: otherwise, then: ok, to: END } ] } } }
llm: { produce: { seen: answer } }
expect: { result: answer, context: { q: "", o: answer } }
`)
	wantMismatches(t, rep)
}

func ExampleCase_Run() {
	c, err := LoadCase("greet.yaml", []byte(`
case: greet
machine:
  machine: greet
  entry: a
  budget: 2
  states:
    a: { structure: one word, prompt: greet, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
llm: { produce: [hello] }
expect: { status: done, result: hallo }
`))
	if err != nil {
		panic(err)
	}
	rep, err := c.Run(context.Background())
	if err != nil {
		panic(err)
	}
	for _, m := range rep.Mismatches {
		fmt.Println(m)
	}
	// Output: result: expected "hallo", got "hello"
}
