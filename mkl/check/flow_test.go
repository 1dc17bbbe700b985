package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/mkl/check"
)

// send is an effectful tool state of one line.
func send(id, to string) string {
	return fmt.Sprintf("  %s: { tool: send_reply, output: %s, gates: [{ when: otherwise, then: ok, to: %s }] }\n", id, id, to)
}

// quick is a generative state of one line with the gates given.
func quick(id string, gates ...string) string {
	return fmt.Sprintf("  %s: { structure: s, prompt: p, output: %s, gates: [%s] }\n", id, id, strings.Join(gates, ", "))
}

func byJudge(to string) string   { return "{ when: x, then: ok, to: " + to + " }" }
func byHook(to string) string    { return "{ when: x, hook: h, then: ok, to: " + to + " }" }
func byDefault(to string) string { return "{ when: otherwise, then: ok, to: " + to + " }" }

func TestStaticFlow(t *testing.T) {
	for _, c := range []struct {
		name, states string
		want         []string // states noted, with the state whose judge decides
	}{
		{"a prose gate", quick("a", byJudge("t"), byDefault("END")) + send("t", "END"), []string{"t by a"}},
		{"none of these is a verdict", quick("a", byJudge("END"), byDefault("t")) + send("t", "END"), []string{"t by a"}},
		{"a default without a judge", quick("a", byHook("END"), byDefault("t")) + send("t", "END"), nil},
		{"a hook gate", quick("a", byJudge("END"), byHook("t"), byDefault("END")) + send("t", "END"), nil},
		{"a default of a judged state", quick("a", byJudge("b"), byDefault("END")) + quick("b", byDefault("c")) + quick("c", byDefault("t")) + send("t", "END"), []string{"t by a"}},
		{"a hook of a judged state passes nothing on", quick("a", byJudge("b"), byDefault("END")) + quick("b", byHook("t"), byDefault("END")) + send("t", "END"), nil},
		{"and removes nothing", quick("a", byJudge("t"), byHook("t"), byDefault("END")) + send("t", "END"), []string{"t by a"}},
		{"a tool state passes it on", quick("a", byJudge("t"), byDefault("END")) + send("t", "u") + send("u", "END"), []string{"t by a", "u by a"}},
		{"a circle", quick("a", byHook("t"), byDefault("b")) + quick("b", byJudge("a"), byDefault("END")) + send("t", "a"), nil},
		{"a circle through a default", quick("a", byDefault("t")) + send("t", "b") + quick("b", byJudge("a"), byDefault("END")), []string{"t by b"}},
		{"a repair and an escalation are gates", quick("a", "{ when: x, repair: 1, to: t }", "{ when: v, escalate: true, to: u }", byDefault("END")) + send("t", "END") + send("u", "END"), []string{"t by a", "u by a"}},
		{"the hook of a catch-all is ignored", quick("a", byJudge("END"), "{ when: otherwise, hook: h, then: ok, to: t }") + send("t", "END"), []string{"t by a"}},
		{"a read tool", quick("a", byJudge("t"), byDefault("END")) + "  t: { tool: search, output: t, gates: [{ when: otherwise, then: ok, to: END }] }\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, d := range lint(t, machine(9, c.states), check.Options{}) {
				if d.Code == "MK408" {
					_, by, _ := strings.Cut(d.Message, "in state ‹")
					got = append(got, d.State+" by "+strings.TrimSuffix(by, "›"))
				}
			}
			if strings.Join(got, ", ") != strings.Join(c.want, ", ") {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestFlowIntoCalls(t *testing.T) {
	judged := func(callee string) string {
		return quick("a", byJudge("c"), byDefault("END")) + calls("c", callee, "END")
	}
	shelf := shelfOf(t, []string{
		named("acts", machine(9, send("a", "END"))),
		named("reads", machine(9, "  a: { tool: search, output: a, gates: [{ when: otherwise, then: ok, to: END }] }\n")),
		named("through", machine(9, calls("a", "middle", "END"))),
		named("middle", machine(9, calls("a", "acts", "b")+calls("b", "through", "END"))),
		named("unreached", machine(9, quick("a", byDefault("END"))+send("b", "END"))),
		named("unreached_call", machine(9, quick("a", byDefault("END"))+calls("b", "acts", "END"))),
		named("no_entry", strings.Replace(machine(9, send("a", "END")), "entry: a", "entry: x", 1)),
	})
	for _, c := range []struct {
		name, states string
		want         string
	}{
		{"a machine that acts", judged("acts"), "MK409 8"},
		{"not on a hook", quick("a", byHook("c"), byDefault("END")) + calls("c", "acts", "END"), ""},
		{"a machine that reads", judged("reads"), ""},
		{"through two more, in a circle", judged("through"), "MK409 8"},
		{"a tool that no gate leads to", judged("unreached"), ""},
		{"a call that no gate leads to", judged("unreached_call"), ""},
		{"a machine without an entry does nothing", judged("no_entry"), ""},
		{"a machine that is missing", judged("missing"), ""},
		{"itself", judged("m") + send("t", "END"), ""},
		{"itself, acting", quick("a", byJudge("c"), byHook("t"), byDefault("END")) + calls("c", "m", "END") + send("t", "END"), "MK409 8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			only := func(ds []mkl.Diagnostic) string {
				var kept []mkl.Diagnostic
				for _, d := range ds {
					if d.Code == "MK409" {
						kept = append(kept, d)
					}
				}
				return found(kept)
			}
			if got := only(lint(t, machine(9, c.states), check.Options{Registry: shelf})); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := only(lint(t, machine(9, c.states), check.Options{})); got != "" {
				t.Errorf("without a registry: %q", got)
			}
		})
	}
}

// TestOutside is what "can be External" means for MK416 and MK417, by what
// stands in k when state z asks.
func TestOutside(t *testing.T) {
	shelf := shelfOf(t, []string{
		named("pure", machine(9, quick("a", byDefault("END")))),
		named("pure_caller", machine(9, calls("a", "pure", "END"))),
		named("uses_tool", machine(9, quick("a", byDefault("END"))+"  b: { tool: search, output: a, gates: [{ when: otherwise, then: ok, to: END }] }\n")),
		named("calls_tool", machine(9, quick("a", byDefault("END"))+calls("b", "uses_tool", "END"))),
		named("fans", machine(9, quick("a", byDefault("END"))+"    \n"+"  b: { structure: s, prompt: p, sample: 2, output: a, gates: [{ when: otherwise, then: ok, to: END }] }\n")),
		named("asks", machine(9, quick("a", "{ when: otherwise, escalate: true, to: END }"))),
	})
	gen := func(id, keys, output string) string {
		return fmt.Sprintf("  %s: { structure: s, %s, output: %s, gates: [{ when: otherwise, then: ok, to: z }] }\n", id, keys, output)
	}
	call := func(callee, input string) string {
		return fmt.Sprintf("  a: { call: %s, input: { x: %s }, output: k, gates: [{ when: otherwise, then: ok, to: z }] }\n", callee, input)
	}
	for _, c := range []struct {
		name, states string
		outside      bool
		why          string
	}{
		{"a tool's answer", "  a: { tool: calc, output: k, gates: [{ when: otherwise, then: ok, to: z }] }\n", true, "tool ‹calc›"},
		{"a model's text over nothing", gen("a", "prompt: p", "k"), false, ""},
		{"a model's text over the context", gen("a", "prompt: \"{{q}}\"", "k"), true, "state ‹a› makes it from ‹q›"},
		{"a model's text over a model's text", gen("a", "prompt: p", "j") + gen("b", "prompt: \"{{j}}\"", "k"), false, ""},
		{"a model's text over a tool's, whatever the order", gen("b", "prompt: \"{{j}}\"", "k") + "  t: { tool: calc, output: j, gates: [{ when: otherwise, then: ok, to: b }] }\n" + gen("a", "prompt: p", "i"), true, "state ‹b› makes it from ‹j›"},
		{"structure is not filled in", strings.Replace(gen("a", "prompt: p", "k"), "structure: s", "structure: \"{{q}}\"", 1), false, ""},
		{"an unknown root is nothing", gen("a", "prompt: \"{{nobody}}\"", "k"), false, ""},
		{"two writers, one of them a tool", gen("a", "prompt: p", "k") + "  b: { tool: calc, output: k, gates: [{ when: otherwise, then: ok, to: z }] }\n", true, "tool ‹calc›"},
		{"a fan-out", gen("a", "prompt: p, sample: 2", "k"), true, "failed branch of state ‹a›"},
		{"index is the author's; the branches are not", gen("a", "prompt: \"{{index}}\", sample: 2", "k"), true, "failed branch"},
		{"item is what over leads to", gen("a", "prompt: \"{{item}}\", over: \"{{list}}\"", "k"), true, "state ‹a› makes it from ‹list›"},
		{"over a list that the prompt does not mention", gen("a", "prompt: p, over: \"{{list}}\"", "k"), true, "state ‹a› makes it from ‹list›"},
		{"a pure call", call("pure", "1"), false, ""},
		{"a pure call of a pure call", call("pure_caller", "\"{{nobody}}\""), false, ""},
		{"a pure call that is given the context", call("pure", "\"{{q}}\""), true, "state ‹a› makes it from ‹q›"},
		{"a call that uses a tool, reached or not", call("uses_tool", "1"), true, "machine ‹uses_tool› uses tool ‹search›"},
		{"a call of a call that uses a tool", call("calls_tool", "1"), true, "machine ‹uses_tool› uses tool ‹search›"},
		{"a call with a fan-out", call("fans", "1"), true, "failed branch of a fan-out in machine ‹fans›"},
		{"a call that asks", call("asks", "1"), true, "reply from outside"},
		{"a call of nothing", call("none", "1"), true, "not looked at"},
		{"a reply", "  a: { structure: s, prompt: p, output: j, gates: [{ when: otherwise, escalate: true, reply_to: k.says, to: z }] }\n", true, "a reply is written there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			// z reads k in a hook of its own and hands it to a sensitive parameter.
			source := machine(20, c.states+
				"  z: { structure: s, prompt: p, output: z, gates: [{ when: x, hook: \"eq:k.deep:1\", then: ok, to: END }, { when: otherwise, then: ok, to: zz }] }\n"+
				"  zz: { tool: send_reply, input: { to: \"{{k}}\" }, output: zz, gates: [{ when: otherwise, then: ok, to: END }] }\n")
			source = strings.Replace(source, "entry: a", "entry: z", 1)
			said := map[string]string{}
			for _, d := range lint(t, source, check.Options{Registry: shelf}) {
				if d.Code == "MK416" || d.Code == "MK417" {
					said[d.Code] += d.Message
				}
			}
			for _, code := range []string{"MK416", "MK417"} {
				if got := said[code] != ""; got != c.outside {
					t.Errorf("%s: %v, want %v: %s", code, got, c.outside, said[code])
				}
				if !strings.Contains(said[code], c.why) {
					t.Errorf("%s says %q, want %q in it", code, said[code], c.why)
				}
			}
		})
	}
}

func TestOutsideDetails(t *testing.T) {
	const z = "  zz: { tool: send_reply, input: { to: %s }, output: zz, gates: [{ when: otherwise, then: ok, to: END }] }\n"
	own := func(prompt, keys, hook string) string {
		return fmt.Sprintf("  a: { structure: s, prompt: %q, output: q%s, gates: [{ when: x, hook: %q, then: ok, to: END }, { when: otherwise, fail: true }] }\n", prompt, keys, hook)
	}
	for _, c := range []struct{ name, states, want string }{
		{"a literal parameter", fmt.Sprintf(z, "boss"), ""},
		{"a parameter of several parts", fmt.Sprintf(z, `"Mr {{zz}} {{q}}"`), "MK416 6"},
		{"a parameter under a path", fmt.Sprintf(z, `"{{map.k}}"`), "MK416 6"},
		{"item of a fan-out", fmt.Sprintf(strings.Replace(z, "output", "over: \"{{list}}\", output", 1), `"{{item}}"`), "MK416 6"},
		{"index of a fan-out", fmt.Sprintf(strings.Replace(z, "output", "over: \"{{list}}\", output", 1), `"{{index}}"`), ""},
		{"another parameter", strings.Replace(fmt.Sprintf(z, `"{{q}}"`), "to:", "body:", 1), ""},

		// q is a key of context: a host may set it, unless the state that asks
		// has just written it.
		{"a hook on what the state has just written", own("p", "", "eq:q:1"), ""},
		{"on what it has just made from outside text", own("{{list}}", "", "eq:q:1"), "MK417 6"},
		{"on what it adds to", own("p", ", accumulate: true", "eq:q:1"), "MK417 6"},
		{"on another key", own("p", "", "neq:list:1"), "MK417 6"},
		{"on a key that does not exist", own("p", "", "eq:nobody:1"), ""},
		{"a plain hook", own("p", "", "h"), ""},
		{"a hook that is no comparison", own("p", "", "eq:list"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var notes []mkl.Diagnostic
			for _, d := range lint(t, machine(9, c.states), check.Options{}) {
				if d.Code == "MK416" || d.Code == "MK417" {
					notes = append(notes, d)
				}
			}
			if got := found(notes); got != c.want {
				t.Errorf("got %s, want %s: %v", got, c.want, notes)
			}
		})
	}

	// A reply says more than that a host may set the key.
	replied := "  a: { structure: s, prompt: p, output: a, gates: [{ when: x, hook: \"eq:q.says:yes\", then: ok, to: END }, { when: otherwise, escalate: true, reply_to: q.says, to: a }] }\n"
	if ds := lint(t, machine(9, replied), check.Options{}); len(ds) != 2 || !strings.Contains(ds[0].Message+ds[1].Message, "a reply is written there") {
		t.Errorf("a reply: %v", ds)
	}

	// The text of a machine that nobody answers for is outside text itself.
	src := mkl.Source{Text: []byte(machine(9, fmt.Sprintf(z, `"{{q}}"`)))}
	said := false
	for _, d := range check.File(src, check.Options{Lint: true}).Diagnostics {
		said = said || d.Code == "MK416" && strings.Contains(d.Message, "nobody answers")
	}
	if !said {
		t.Error("a machine that nobody answers for: no note")
	}
}
