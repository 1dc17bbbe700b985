package check_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/mkl/check"
	"github.com/pinfold-dev/pinfold/policy"
)

// found is "MK302 12" for each diagnostic, in order.
func found(ds []mkl.Diagnostic) string {
	var list []string
	for _, d := range ds {
		list = append(list, fmt.Sprintf("%s %d", d.Code, d.Line))
	}
	return strings.Join(list, ", ")
}

// machine puts states under a head of five lines; the first state stands on
// line 6.
func machine(budget int, states string) string {
	return fmt.Sprintf("machine: m\nentry: a\nbudget: %d\ncontext: { q: \"\", list: [], map: { k: 1 } }\nstates:\n", budget) + states
}

// state is a generative state of six lines; its gates begin on the sixth.
func state(id, gates string) string {
	return "  " + id + ":\n    structure: s\n    prompt: \"{{q}} {{" + id + "}}\"\n    output: " + id + "\n    gates:\n" + gates
}

func gate(when, policy, to string) string {
	if to != "" {
		to = ", to: " + to
	}
	return fmt.Sprintf("      - { when: %s, %s%s }\n", when, policy, to)
}

const otherwiseEnd = "      - { when: otherwise, then: ok, to: END }\n"

func TestCheck(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"an unknown entry silences what depends on it", "machine: m\nentry: x\nbudget: 1\nstates:\n" +
			state("a", gate("otherwise", "then: ok", "a")) + state("b", otherwiseEnd), "MK301 2"},
		{"but not what does not", "machine: m\nentry: END\nbudget: 1\nstates:\n" +
			state("a", gate("otherwise", "then: ok", "nowhere")), "MK301 2, MK302 10"},
		{"a state named END can be the entry", strings.Replace(machine(3, state("END", otherwiseEnd)), "entry: a", "entry: END", 1), "MK315 6"},
		{"to: END ends the run even when a state is named so", machine(9, state("a", otherwiseEnd)+state("END", otherwiseEnd)), "MK307 12, MK315 12"},

		{"every policy but fail is an edge", machine(9, state("a", gate("x", "repair: 1", "b")+gate("otherwise", "fail: true", ""))+
			state("b", gate("x", "escalate: true", "c")+gate("otherwise", "fail: true", ""))+
			state("c", gate("otherwise", "then: ok", "END"))), ""},
		{"fail is none", machine(9, state("a", gate("otherwise", "fail: true", ""))), "MK304 2"},
		{"repair and escalate reach END", machine(9, state("a", gate("x", "repair: 1", "END")+gate("otherwise", "fail: true", ""))), ""},
		{"END behind a state that is unreachable does not count", machine(9,
			state("a", gate("otherwise", "then: ok", "a"))+state("b", otherwiseEnd)), "MK304 2, MK307 12"},
		{"no path and no budget: only the path", machine(1, state("a", gate("otherwise", "then: ok", "a"))), "MK304 2"},

		{"budget below the shortest path", machine(2, path(3)), "MK305 3"},
		{"budget of the shortest path", machine(3, path(3)), "MK306 3"},
		{"one more", machine(4, path(3)), "MK306 3"},
		{"two more", machine(5, path(3)), ""},
		{"the shortest path, not the first", machine(3, state("a", gate("x", "then: ok", "b")+otherwiseEnd)+state("b", otherwiseEnd)), ""},
		{"a fan-out counts 1", machine(3, state("a", otherwiseEnd)+"    sample: 50\n"), ""},

		{"unreachable states are listed by id", machine(9, state("a", otherwiseEnd)+state("z", otherwiseEnd)+state("w", otherwiseEnd)+
			"    over: z\n"+state("b", gate("otherwise", "then: ok", "nowhere"))), "MK307 25, MK307 18, MK316 24, MK307 12, MK302 30"},

		{"otherwise in any case, with white space", machine(9, state("a", gate(`" OtherWISE\t"`, "then: ok", "END"))), ""},
		{"a hook gate is no catch-all", machine(9, state("a", gate("x, hook: h", "then: ok", "END"))), "MK308 10"},

		{"each gate with a hook that is not declared", "hooks: [{ name: h }]\n" + machine(9, state("a", gate("x, hook: h", "then: ok", "END")+
			gate("x, hook: g", "then: ok", "END")+gate("x, hook: g", "then: ok", "END")+gate("x, hook: \"eq:q:1\"", "then: ok", "END")+otherwiseEnd)),
			"MK309 13, MK309 14, MK309 15"},
		{"the hook of otherwise is ignored", "hooks: [{ name: h }]\n" + machine(9, state("a", gate("otherwise, hook: g", "then: ok", "END"))), ""},
		{"an empty list declares nothing", "hooks: []\ntools: []\n" + machine(9, state("a", gate("x, hook: g", "then: ok", "b")+otherwiseEnd)+
			"  b:\n    tool: t\n    output: b\n    gates:\n"+otherwiseEnd), ""},
		{"a tool that is not declared", "tools: [{ name: u }]\n" + machine(9, "  a:\n    tool: t\n    output: a\n    gates:\n"+otherwiseEnd), "MK310 8"},

		{"the result is an output", "result: a\n" + machine(9, state("a", otherwiseEnd)), ""},
		{"the result is a context key alone", "result: q\n" + machine(9, state("a", otherwiseEnd)), "MK311 1"},
		{"the result is a reply", "result: human\n" + machine(9, state("a", otherwiseEnd)), ""},
		{"the result is the root of a reply", "result: boss\n" + machine(9, state("a", gate("x, reply_to: boss.says", "escalate: true", "a")+otherwiseEnd)), ""},
		{"the result is no path", "result: boss.says\n" + machine(9, state("a", gate("x, reply_to: boss.says", "escalate: true", "a")+otherwiseEnd)), "MK311 1"},

		{"known versions", "mklang: \"0.2.0\"\n" + machine(9, state("a", otherwiseEnd)), ""},
		{"an unknown version", "mklang: \"0.5\"\n" + machine(9, state("a", otherwiseEnd)+"    max_visits: 5\n"), "MK312 1"},
		{"an empty version", "mklang: \"\"\n" + machine(9, state("a", otherwiseEnd)), "MK312 1"},
		{"features and versions: 0.2", "mklang: \"0.2\"\n" + machine(9, features()), "MK313 13, MK313 14, MK313 16, MK313 16, MK313 20"},
		{"features and versions: 0.3", "mklang: \"0.3\"\n" + machine(9, features()), "MK313 14, MK313 16, MK313 16, MK313 20"},
		{"features and versions: 0.4", "mklang: \"0.4\"\n" + machine(9, features()), ""},
		{"features and versions: none", machine(9, features()), ""},

		{"repairs that fit", machine(9, state("a", gate("x", "repair: 2", "a")+otherwiseEnd)+"    max_visits: 3\n"), ""},
		{"repairs that do not", machine(9, state("a", gate("x", "repair: 3", "a")+otherwiseEnd)+"    max_visits: 3\n"), "MK314 13"},
		{"repairs of several gates add up", machine(9, state("a", gate("x", "repair: 2", "a")+gate("v", "repair: 1", "a")+otherwiseEnd)+"    max_visits: 3\n"), "MK314 14"},
		{"repairs that lead elsewhere do not count", machine(9, state("a", gate("x", "repair: 7", "b")+otherwiseEnd)+"    max_visits: 3\n"+
			state("b", gate("otherwise", "then: ok", "a"))), ""},

		{"over holds text around a placeholder", machine(9, state("a", otherwiseEnd)+"    over: \"all of {{list}}\"\n"), ""},

		{"all errors at once", machine(1, state("a", gate("x", "then: ok", "b1")+gate("v", "then: ok", "b2")+gate("otherwise", "then: ok", "b"))+state("b", otherwiseEnd)),
			"MK305 3, MK302 11, MK302 12"},
		{"a document with structural errors gets nothing else", strings.Replace(machine(1, state("a", gate("x", "then: ok", "nowhere"))), "entry: a", "entry: nowhere\nwhat: 1", 1), "MK202 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := check.File(own("m.mkl", c.source), check.Options{})
			if got := found(r.Diagnostics); got != c.want {
				t.Errorf("got %s\nwant %s\n%s", got, c.want, strings.Join(append(r.Errors(), r.Warnings()...), "\n"))
			}
		})
	}
}

// path is a chain of n states a, b, c… to END.
func path(n int) string {
	var b strings.Builder
	for i := range n {
		to := "END"
		if i < n-1 {
			to = string(rune('b' + i))
		}
		b.WriteString(state(string(rune('a'+i)), gate("otherwise", "then: ok", to)))
	}
	return b.String()
}

// features uses everything that came after 0.2; with a version before it the
// first state stands on line 7.
func features() string {
	return state("a", gate("otherwise", "then: ok", "b")) + "    parse: list\n    max_visits: 3\n" +
		"  b:\n    gates: [{ when: x, escalate: true, to: b, ask: Well?, reply_to: boss }, { when: otherwise, then: ok, to: END }]\n    structure: s\n    prompt: \"{{b}}\"\n    output: b\n" +
		"    parse: json\n"
}

func TestStrictVersion(t *testing.T) {
	src := own("m.mkl", "mklang: \"1.0\"\n"+machine(9, state("a", otherwiseEnd)))
	r := check.File(src, check.Options{Strict: true})
	if len(r.Diagnostics) != 1 || r.Diagnostics[0].Severity != mkl.Error || !strings.HasPrefix(r.Diagnostics[0].Message, "version-unsupported: ") {
		t.Errorf("strict: %v", r.Diagnostics)
	}
	if r.Status() != check.StatusError || !r.Fails(false) {
		t.Errorf("strict: status %s", r.Status())
	}
	r = check.File(src, check.Options{})
	if r.Status() != check.StatusWarning || r.Fails(true) || strings.HasPrefix(r.Diagnostics[0].Message, "version-unsupported:") {
		t.Errorf("not strict: %v", r.Diagnostics)
	}
}

func TestInfeasibleBudgetSaysSo(t *testing.T) {
	r := check.File(own("", machine(2, path(3))), check.Options{})
	if len(r.Diagnostics) != 1 || !strings.HasPrefix(r.Diagnostics[0].Message, "budget-infeasible:") {
		t.Errorf("got %v", r.Diagnostics)
	}
}

func TestHintsNameTheNearestState(t *testing.T) {
	src := machine(9, state("a", gate("otherwise", "then: ok", "Summarize"))+state("sumarise", otherwiseEnd)+state("other", otherwiseEnd))
	for _, d := range check.File(own("", src), check.Options{}).Diagnostics {
		if d.Code == "MK302" && d.Hint != "did you mean ‹sumarise›?" {
			t.Errorf("hint %q", d.Hint)
		}
	}
	// A machine that misspells everything must not cost a comparison for every
	// pair of names.
	var states strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&states, "  s%04d: { structure: s, prompt: p, output: o, gates: [{ when: otherwise, then: ok, to: t%04d }] }\n", i, i)
	}
	r := check.File(own("", strings.Replace(machine(9, states.String()), "entry: a", "entry: s0000", 1)), check.Options{})
	hints := 0
	for _, d := range r.Diagnostics {
		if d.Code == "MK302" && d.Hint != "" {
			hints++
		}
	}
	if hints == 0 || hints > 20 {
		t.Errorf("%d hints", hints)
	}
}

func calls(id, callee, to string) string {
	return fmt.Sprintf("  %s:\n    call: %s\n    output: %s\n    gates: [{ when: otherwise, then: ok, to: %s }]\n", id, callee, id, to)
}

func named(name, source string) string {
	return strings.Replace(source, "machine: m", "machine: "+name, 1)
}

func TestCalls(t *testing.T) {
	good := named("good", machine(9, state("a", otherwiseEnd)))
	broken := named("broken", machine(0, state("a", otherwiseEnd)))
	through := named("through", machine(9, calls("a", "broken", "b")+calls("b", "good", "END")))
	semantic := named("semantic", machine(9, state("a", gate("otherwise", "then: ok", "nowhere"))))
	loop := named("loop", machine(9, calls("a", "m", "END")))
	for _, c := range []struct {
		name, states string
		want         string
		say          []string
	}{
		{"nothing wrong", calls("a", "good", "END"), "", nil},
		{"itself", calls("a", "m", "END"), "", nil},
		{"in a circle", calls("a", "loop", "END"), "", nil},
		{"missing, twice", calls("a", "none", "b") + calls("b", "none", "END"), "MK303 7, MK303 11", nil},
		{"broken", calls("a", "broken", "END"), "MK318 7", []string{"machine ‹broken› cannot be read: broken.mkl: MK204 3:9"}},
		{"broken is said once, where it is called first", calls("a", "good", "b") + calls("b", "broken", "c") + calls("c", "broken", "END"), "MK318 11", nil},
		{"broken behind another", calls("a", "through", "END"), "MK318 7", []string{"machine ‹broken›, reached through ‹through›, cannot be read: broken.mkl"}},
		{"a callee's meaning is its own check's matter", calls("a", "semantic", "END"), "", nil},
		{"an unreachable call counts", state("a", otherwiseEnd) + calls("b", "broken", "END"), "MK307 12, MK318 13", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := machine(9, c.states)
			registry := shelfOf(t, []string{good, broken, through, semantic, loop})
			r := check.File(own("m.mkl", src), check.Options{Registry: registry})
			if got := found(r.Diagnostics); got != c.want {
				t.Errorf("got %s, want %s\n%v", got, c.want, r.Diagnostics)
			}
			for _, text := range c.say {
				if !strings.Contains(r.Diagnostics[0].Message, text) {
					t.Errorf("got %q, want %q in it", r.Diagnostics[0].Message, text)
				}
			}
			for _, d := range check.File(own("m.mkl", src), check.Options{}).Diagnostics {
				if d.Code == "MK303" || d.Code == "MK318" {
					t.Errorf("without a registry: %s", d)
				}
			}
		})
	}
}

func TestPrepare(t *testing.T) {
	src := "default_tier: fast\n" + machine(9, state("a", gate("x, hook: h", "then: ok", "b")+gate("x, hook: \"neq:q:\"", "then: ok", "b")+
		gate("x, hook: \"eq:\"", "then: ok", "b")+gate("otherwise, hook: ignored", "then: ok", "b"))+"    tier: reasoning\n"+
		"  b: { tool: t, output: b, gates: [{ when: otherwise, then: ok, to: c }] }\n"+
		"  c: { call: other, tier: balanced, output: c, gates: [{ when: otherwise, then: ok, to: d }] }\n"+
		"  d: { call: other, tier: balanced, output: d, gates: [{ when: otherwise, then: ok, to: END }] }\n")
	m := check.File(own("m.mkl", src), check.Options{}).Machine
	if m == nil {
		t.Fatal("the machine has errors")
	}
	has := func(names ...string) func(string) bool {
		return func(name string) bool { return slices.Contains(names, name) }
	}
	all := []mkl.Tier{mkl.Fast, mkl.Balanced, mkl.Reasoning}
	for _, c := range []struct {
		name string
		host check.Host
		want string
	}{
		{"everything", check.Host{Tiers: all, Tools: has("t"), Hooks: has("h", "eq:")}, ""},
		{"the tier of a call is used, and said once", check.Host{Tiers: []mkl.Tier{mkl.Fast, mkl.Reasoning}, Tools: has("t"), Hooks: has("h", "eq:")}, "MK320 18"},
		{"the tier of a generative state is used", check.Host{Tiers: []mkl.Tier{mkl.Fast, mkl.Balanced}, Tools: has("t"), Hooks: has("h", "eq:")}, "MK320 16"},
		{"the default tier is used", check.Host{Tiers: []mkl.Tier{mkl.Reasoning, mkl.Balanced}, Tools: has("t"), Hooks: has("h", "eq:")}, "MK320 1"},
		{"no tool, no hook; eq: without a path is no comparison", check.Host{Tiers: all}, "MK321 12, MK321 14, MK321 17"},
	} {
		if got := found(check.Prepare(m, c.host)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestReport(t *testing.T) {
	finding := machine(9, state("a", otherwiseEnd+otherwiseEnd))
	note := machine(9, state("a", gate("x", "escalate: true", "a")+otherwiseEnd))
	warning := machine(1, state("a", otherwiseEnd))
	for _, c := range []struct {
		name, source           string
		lint                   bool
		status                 check.Status
		fails, strict          bool
		errors, warnings, rest int
	}{
		{"ok", machine(9, state("a", otherwiseEnd)), true, check.StatusOK, false, false, 0, 0, 0},
		{"a finding", finding, true, check.StatusWarning, false, true, 0, 0, 1},
		{"a finding that was not looked for", finding, false, check.StatusOK, false, false, 0, 0, 0},
		{"a note", note, true, check.StatusWarning, false, false, 0, 0, 1},
		{"a warning", warning, true, check.StatusWarning, false, false, 0, 1, 0},
		{"an error", "machine: m\n", true, check.StatusError, true, true, 3, 0, 0},
		{"findings despite an error", machine(9, state("a", gate("otherwise", "then: ok", "nowhere")+otherwiseEnd)), true, check.StatusError, true, true, 1, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := check.File(own("m.mkl", c.source), check.Options{Lint: c.lint})
			if r.Status() != c.status || r.Fails(false) != c.fails || r.Fails(true) != c.strict {
				t.Errorf("status %s, fails %v, strict %v", r.Status(), r.Fails(false), r.Fails(true))
			}
			if len(r.Errors()) != c.errors || len(r.Warnings()) != c.warnings || len(r.Findings()) != c.rest {
				t.Errorf("got %q, %q, %q", r.Errors(), r.Warnings(), r.Findings())
			}
			if r.Errors() == nil || r.Warnings() == nil || r.Findings() == nil {
				t.Error("a list is nil: it would be null in JSON")
			}
			if (r.Machine == nil) != (c.name == "an error") {
				t.Errorf("machine %v", r.Machine)
			}
		})
	}
	for _, s := range check.File(own("m.mkl", note), check.Options{Lint: true}).Findings() {
		if !strings.Contains(s, "note: ") {
			t.Errorf("a note reads %q", s)
		}
	}
}

// TestTools: a table that the host gives replaces the built-in one, and a
// tool that is in neither acts.
func TestTools(t *testing.T) {
	source := func(tool string) string {
		return machine(9, state("a", gate("x", "then: ok", "b")+otherwiseEnd)+
			"  b: { tool: "+tool+", input: { to: \"{{q}}\" }, output: b, gates: [{ when: otherwise, then: ok, to: END }] }\n")
	}
	for _, c := range []struct {
		tool  string
		table policy.Table
		want  string
	}{
		{"calc", nil, ""},
		{"send_reply", nil, "MK408 13, MK416 13"},
		{"unheard_of", nil, "MK408 13"},
		{"calc", policy.Table{}, "MK408 13"},
		{"calc", policy.Table{"calc": {Class: policy.Read, Sensitive: []string{"to"}}}, ""},
		{"calc", policy.Table{"calc": {Sensitive: []string{"from", "to"}}}, "MK408 13, MK416 13"},
	} {
		r := check.File(own("m.mkl", source(c.tool)), check.Options{Lint: true, Tools: c.table})
		if got := found(r.Diagnostics); got != c.want {
			t.Errorf("%s, %v: got %s, want %s", c.tool, c.table, got, c.want)
		}
	}
}
