package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/mkl/check"
)

// lint is the findings and notes alone; what check says is another test's.
func lint(t *testing.T, source string, o check.Options) []mkl.Diagnostic {
	t.Helper()
	m, ds := mkl.Parse(own("m.mkl", source), mkl.Strict)
	if m == nil {
		t.Fatalf("%v\n%s", ds, source)
	}
	return check.Lint(m, o)
}

func TestLint(t *testing.T) {
	const toEnd = otherwiseEnd
	cut := func(key, text string) string {
		return machine(9, strings.Replace(state("a", toEnd), "    "+key+": s\n", "    "+key+": "+text+"\n", 1))
	}
	for _, c := range []struct{ name, source, want string }{
		// MK401, CASES 68
		{"a comment cuts a condition", machine(9, state("a", "      - when: reply starts with # Summary\n        then: ok\n        to: END\n"+toEnd)), "MK401 11"},
		{"otherwise is exempt", machine(9, state("a", "      - when: otherwise # note\n        then: ok\n        to: END\n")), ""},
		{"Otherwise is exempt", machine(9, state("a", "      - when: OTHERWISE   # note\n        then: ok\n        to: END\n")), ""},
		{"quotes are a cure", machine(9, state("a", "      - when: \"starts with # x\" # note\n        then: ok\n        to: END\n"+toEnd)), ""},
		{"# inside a word is none", machine(9, state("a", "      - when: it names issue#3\n        then: ok\n        to: END\n"+toEnd)), ""},
		{"a structure is cut", cut("structure", "a list # of words"), "MK401 7"},
		{"an ask is cut", machine(9, state("a", "      - when: x\n        escalate: true\n        ask: Order #4 # is it right?\n        to: a\n"+toEnd)), "MK407 11, MK401 13"},
		{"a hook is no prose", machine(9, state("a", "      - when: x\n        hook: h # yes\n        then: ok\n        to: a\n"+toEnd)), ""},
		{"a block scalar keeps its #", cut("structure", "|\n      a list # of words"), ""},

		// MK402 to MK405
		{"gates after otherwise", machine(9, state("a", toEnd+gate("x", "then: ok", "END")+toEnd)), "MK402 12"},
		{"gates after an otherwise that can be spent", machine(9, state("a", gate("otherwise", "repair: 1", "a")+gate("x", "then: ok", "END")+toEnd)), ""},
		{"only repairs", machine(9, state("a", gate("x", "repair: 1", "END")+gate("v", "repair: 1", "a"))), "MK403 10"},
		{"only repairs, one of them otherwise", machine(9, state("a", gate("x", "repair: 1", "END")+gate("otherwise", "repair: 1", "a"))), "MK403 10, MK405 10"},
		{"no catch-all", machine(9, state("a", gate("x", "repair: 1", "END")+gate("v", "then: ok", "a"))), "MK404 10"},
		{"the only catch-all is a repair", machine(9, state("a", gate("x", "then: ok", "END")+gate("otherwise", "repair: 1", "a"))), "MK405 10"},
		{"a second catch-all", machine(9, state("a", gate("otherwise", "repair: 1", "a")+toEnd)), ""},

		// MK406
		{"read nowhere", machine(9, writer("draft", hop)+state("b", toEnd)), "MK406 9"},
		{"read by a prompt", machine(9, writer("b", hop)+state("b", toEnd)), ""},
		{"read under a path", machine(9, writer("q", hop)+reader("prompt: \"{{q.x}}\"\n    structure: s")), ""},
		{"read by structure", machine(9, writer("draft", hop)+reader("prompt: p\n    structure: \"like {{draft}}\"")), ""},
		{"read by execution", machine(9, writer("draft", hop)+reader("prompt: p\n    structure: s\n    execution: \"like {{draft}}\"")), ""},
		{"read by over", machine(9, writer("draft", hop)+reader("prompt: p\n    structure: s\n    over: \"{{draft}}\"")), ""},
		{"read by an input", machine(9, writer("draft", hop)+reader("tool: calc\n    input: { expr: \"1 + {{draft}}\" }")), ""},
		{"not read by an input that stays literal", machine(9, writer("draft", hop)+reader("tool: calc\n    input: { expr: [\"{{draft}}\"] }")), "MK406 9, MK413 14"},
		{"read as the result", "result: draft\n" + machine(9, writer("draft", hop)+reader("prompt: p\n    structure: s")), ""},
		{"not read by the branch variable", machine(9, writer("item", hop)+reader("prompt: \"{{item}}\"\n    structure: s\n    over: \"{{list}}\"")), "MK406 9"},
		{"read by eq", machine(9, writer("draft", gate("x, hook: \"eq:draft:1\"", "then: ok", "b")+hop)+reader("prompt: p\n    structure: s")), ""},
		{"read by neq under a path, elsewhere", machine(9, writer("draft", hop)+reader("prompt: p\n    structure: s", gate("x, hook: \"neq:draft.a.b:1\"", "then: ok", "END"))), ""},
		{"read by eq under a name with a dot", machine(9, writer("a.b", gate("x, hook: \"eq:a.b:1\"", "then: ok", "b")+hop)+reader("prompt: p\n    structure: s")), ""},
		{"a gate to END makes it the result", machine(9, writer("draft", gate("x, hook: h", "then: ok", "END")+hop)+reader("prompt: p\n    structure: s")), ""},
		{"a judge reads it", machine(9, writer("draft", gate("x", "then: ok", "b")+hop)+reader("prompt: p\n    structure: s")), ""},
		{"a judge of another state does not", machine(9, writer("draft", hop)+reader("prompt: p\n    structure: s", gate("x", "then: ok", "END"))), "MK406 9"},
		{"a plain hook does not", machine(9, writer("draft", gate("x, hook: h", "then: ok", "b")+hop)+reader("prompt: p\n    structure: s")), "MK406 9"},
		{"a hook that names it", machine(9, writer("draft", gate("x, hook: \"has:draft\"", "then: ok", "b")+hop)+reader("prompt: p\n    structure: s")), ""},
		{"a hook that names it in a list", machine(9, writer("draft", hop)+reader("prompt: p\n    structure: s", gate("x, hook: \"has:a,draft.x,b\"", "then: ok", "END"))), ""},
		{"a hook that begins with it", machine(9, writer("draft", gate("x, hook: \"draft:x\"", "then: ok", "b")+hop)+reader("prompt: p\n    structure: s")), "MK406 9"},
		{"a hook that holds it in a word", machine(9, writer("draft", gate("x, hook: \"has:drafts,xdraft,x.draft\"", "then: ok", "b")+hop)+reader("prompt: p\n    structure: s")), "MK406 9"},
		{"a hook that names a key with a separator", machine(9, writer("x.y", gate("x, hook: \"has:x.y\"", "then: ok", "b")+hop)+reader("prompt: p\n    structure: s")), ""},
		{"a hook that names a longer one", machine(9, writer("x.y", gate("x, hook: \"has:x.yz,ax.y\"", "then: ok", "b")+hop)+reader("prompt: p\n    structure: s")), "MK406 9"},
		{"the hook of a catch-all is ignored", machine(9, writer("draft", gate("otherwise, hook: \"has:draft\"", "then: ok", "b"))+reader("prompt: p\n    structure: s")), "MK406 9"},

		// MK407
		{"escalations, once", machine(9, state("a", gate("x", "escalate: true", "b")+toEnd)+state("b", gate("x", "escalate: true", "a")+toEnd)), "MK407 11"},
		{"an escalation after a misplaced otherwise", machine(9, state("a", toEnd+gate("x", "escalate: true", "a"))), "MK402 12"},
		{"a catch-all that escalates", machine(9, state("a", gate("otherwise", "escalate: true", "END"))), "MK407 11"},

		// MK410 to MK414
		{"an unknown root, once a root and state", machine(9, state("a", toEnd)+strings.Replace(state("b", toEnd), "{{q}}", "{{x}} {{x.y}} {{z}}", 1)+
			strings.Replace(state("c", toEnd), "{{q}}", "{{x}}", 1)), "MK410 14, MK410 14, MK410 20"},
		{"an unknown root in structure", machine(9, strings.Replace(state("a", toEnd), "structure: s", "structure: \"{{x}}\"", 1)), "MK410 7"},
		{"an empty root", machine(9, strings.Replace(state("a", toEnd), "{{q}}", "{{.q}}", 1)), "MK410 8"},
		{"replies are known", machine(9, strings.Replace(state("a", gate("x, reply_to: boss.says", "escalate: true", "a")+toEnd), "{{q}}", "{{human.reply}} {{boss}}", 1)), "MK407 11"},
		{"an unknown root in an input", machine(9, "  a: { tool: calc, input: { expr: \"{{x}}\" }, output: a, gates: [{ when: otherwise, then: ok, to: END }] }\n"), "MK410 6"},
		{"a placeholder in a condition is none", machine(9, state("a", gate("\"it is {{x}}\"", "then: ok", "END")+toEnd)), ""},

		{"item outside a fan-out", machine(9, strings.Replace(state("a", toEnd), "{{q}}", "{{item}} {{item.x}} {{index}}", 1)), "MK411 8, MK411 8"},
		{"item in a sample state", machine(9, strings.Replace(state("a", toEnd), "{{q}}", "{{item}} {{index}}", 1)+"    sample: 2\n"), "MK411 8"},
		{"item over a list", machine(9, strings.Replace(state("a", toEnd), "{{q}}", "{{item.x}} {{index}}", 1)+"    over: \"{{list}}\"\n"), ""},
		{"item in over itself", machine(9, state("a", toEnd)+"    over: \"{{item}}\"\n"), "MK411 12"},
		{"item of the blackboard", machine(9, writer("item", hop)+reader("prompt: \"{{item}}\"\n    structure: s")), ""},

		{"a key that the map does not have", machine(9, strings.Replace(state("a", toEnd), "{{q}}", "{{map.k}} {{map.x}} {{map.x.y}} {{map.z}} {{map}}", 1)), "MK412 8, MK412 8"},
		{"the third segment is not looked at", machine(9, strings.Replace(state("a", toEnd), "{{q}}", "{{map.k.z}}", 1)), ""},
		{"a value that is no map", machine(9, strings.Replace(state("a", toEnd), "{{q}}", "{{q.x}} {{list.0}}", 1)), ""},
		{"a map that a state replaces", machine(9, writer("map", hop)+reader("prompt: \"{{map.x}}\"\n    structure: s")), ""},
		{"a map that a reply goes into", machine(9, strings.Replace(state("a", gate("x, reply_to: map.says", "escalate: true", "a")+toEnd), "{{q}}", "{{map.says}}", 1)), "MK407 11"},

		{"literal placeholders under input, once a key", machine(9, "  a: { tool: calc, input: { expr: { x: [1, \"{{q}}\"], z: \"{{q}}\" }, other: [\"{{ \"], third: [[\"{{q.r}}\"]] }, output: a, gates: [{ when: otherwise, then: ok, to: END }] }\n"), "MK413 6, MK413 6"},
		{"what looks like a placeholder", machine(9, strings.Replace(state("a", toEnd), "{{q}}", "{{a-b}} {{ }}", 1)), "MK414 8"},
		{"CASES 23: over-braced", machine(9, strings.Replace(state("a", toEnd), "{{q}}", "{{{{q}}}}", 1)), "MK414 8"},
		{"three braces are a placeholder in braces", machine(9, strings.Replace(state("a", toEnd), "{{q}}", "{{{q}}}", 1)), ""},
		{"CASES 23: unclosed", machine(9, strings.Replace(state("a", toEnd), "{{q}}", "{{x", 1)), "MK414 8"},
		{"in over and input", machine(9, "  a: { tool: calc, input: { expr: \"{{a b}}\" }, over: \"{{list}} {{!}}\", output: a, gates: [{ when: otherwise, then: ok, to: END }] }\n"), "MK414 6, MK414 6"},
		{"braces in structure are text", machine(9, strings.Replace(state("a", toEnd), "structure: s", "structure: \"{{a-b}}\"", 1)), ""},

		// MK415
		{"True", machine(9, state("a", gate("x, hook: \"neq:zz: True \"", "then: ok", "END")+toEnd)), "MK415 11"},
		{"None and False", machine(9, state("a", gate("x, hook: \"eq:zz:None\"", "then: ok", "END")+gate("x, hook: \"eq:zz:False\"", "then: ok", "END")+toEnd)), "MK415 11, MK415 12"},
		{"true, none, trueish", machine(9, state("a", gate("x, hook: \"eq:zz:true\"", "then: ok", "END")+gate("x, hook: \"eq:zz:none\"", "then: ok", "END")+
			gate("x, hook: \"eq:zz:True:\"", "then: ok", "END")+gate("x, hook: \"eq:True:1\"", "then: ok", "END")+gate("x, hook: \"EQ:zz:True\"", "then: ok", "END")+toEnd)), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ds := lint(t, c.source, check.Options{})
			if got := found(ds); got != c.want {
				t.Errorf("got %s\nwant %s\n%v\n%s", got, c.want, ds, c.source)
			}
		})
	}
}

// hop leads to b on nobody's decision.
var hop = gate("otherwise", "then: ok", "b")

// writer is state a, lines 6 to 11 and more; its output stands on line 9.
func writer(output, gates string) string {
	return "  a:\n    structure: s\n    prompt: p\n    output: " + output + "\n    gates:\n" + gates
}

// reader is state b with keys of its own.
func reader(keys string, gates ...string) string {
	return "  b:\n    " + keys + "\n    output: b\n    gates:\n" + strings.Join(gates, "") + otherwiseEnd
}

func TestCommentSaysWhatWasLost(t *testing.T) {
	ds := lint(t, machine(9, state("a", "      - when: reply starts with # Summary\n        then: ok\n        to: END\n"+otherwiseEnd)), check.Options{})
	if len(ds) != 1 || !strings.Contains(ds[0].Message, "‹reply starts with›") || !strings.Contains(ds[0].Message, "‹# Summary›") || !strings.Contains(ds[0].Hint, "quotes") {
		t.Errorf("got %v", ds)
	}
}

// TestMergedContentIsSeen: CASES 70.
func TestMergedContentIsSeen(t *testing.T) {
	source := `machine: m
entry: a
budget: 9
context:
  base: &base
    tool: send_reply
    input: { to: "{{nobody}}" }
    output: a
states:
  a:
    <<: *base
    gates: [{ when: x, then: ok, to: b }, { when: otherwise, then: ok, to: b }]
  b:
    output: b
    <<: *base
    gates: [{ when: otherwise, then: ok, to: END }]
`
	ds := lint(t, source, check.Options{})
	var got []string
	for _, d := range ds {
		got = append(got, d.Code+" "+d.State)
	}
	if want := "MK408 b, MK410 a, MK410 b"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s\n%v", strings.Join(got, ", "), want, ds)
	}
}

func TestMessagesAreBounded(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	ds := lint(t, machine(9, strings.Replace(state("a", gate("otherwise, hook: h", "then: ok", long)), "{{q}}", "{{"+long+"}} {{"+long+"-", 1)), check.Options{})
	ds = append(ds, check.File(own("", strings.Replace(machine(9, state("a", gate("otherwise", "then: ok", long))), "entry: a", "entry: "+long, 1)), check.Options{}).Diagnostics...)
	if len(ds) < 4 {
		t.Fatalf("got %v", ds)
	}
	for _, d := range ds {
		if len(d.Message) > 600 || len(d.Hint) > 600 {
			t.Errorf("%s: %d bytes", d.Code, len(d.Message))
		}
	}
	var many strings.Builder
	for i := range 500 {
		fmt.Fprintf(&many, "  s%03d: { tool: calc, output: o, gates: [{ when: x, escalate: true, to: END }] }\n", i)
	}
	for _, d := range lint(t, machine(9, many.String()), check.Options{}) {
		if d.Code == "MK407" && (len(d.Message) > 300 || !strings.Contains(d.Message, "and 492 more")) {
			t.Errorf("got %s", d)
		}
	}
}
