package mkl

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/value"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestCanonicalGolden: the form and the hash cannot drift unseen. Checkpoints
// and acceptances hold hashes: when this test must change, canonicalVersion must.
func TestCanonicalGolden(t *testing.T) {
	m := everything(t)
	got := append(Canonical(m), '\n')
	const golden = "testdata/canonical/everything.json"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	const everythingHash = "07b54d59ce4d2d98e729c00aed3e3aa2447059f7bf8be943ec0206a295156a40"
	const smallHash = "7ec5a5c42bc5a506013a70d3a3398b6ffb88fa6111b107fbb62f55e1f0b4c270"
	if h := Hash(m); h != everythingHash {
		t.Errorf("everything hashes to %s", h)
	}
	if h := Hash(mustParse(t, small)); h != smallHash {
		t.Errorf("the small machine hashes to %s", h)
	}
	if _, err := value.ParseJSON(Canonical(m)); err != nil {
		t.Errorf("the form is no JSON: %v", err)
	}
}

// TestCanonicalSame: what does not touch a run does not touch the form.
func TestCanonicalSame(t *testing.T) {
	src, err := os.ReadFile("testdata/canonical/everything.mkl")
	if err != nil {
		t.Fatal(err)
	}
	want := Hash(mustParse(t, string(src)))
	edit := func(name string, pairs ...string) {
		t.Helper()
		changed := string(src)
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(changed, pairs[i]) {
				t.Fatalf("%s: no %q", name, pairs[i])
			}
			changed = strings.Replace(changed, pairs[i], pairs[i+1], 1)
		}
		if got := Hash(mustParse(t, changed)); got != want {
			t.Errorf("%s: the hash changed", name)
		}
	}
	edit("comments", "entry: ask", "entry: ask # here", "states:\n", "states:\n\n# first\n")
	edit("quoting", "entry: ask", "entry: 'ask'", "structure: one line", "structure: \"one\\x20line\"")
	edit("flow and block", "input: {task: \"{{answer}}\"}", "input:\n      task: '{{answer}}'")
	edit("order of keys", "machine: everything\nentry: ask\n", "entry: ask\nmachine: everything\n", "    tier: reasoning\n    reason: true\n", "    reason: true\n    tier: reasoning\n")
	edit("numbers written otherwise", "budget: 40", "budget: 0x28", "max_visits: 3", "max_visits: 3.0")
	edit("booleans written otherwise", "reason: true", "reason: yes", "fail: true", "fail: on")
	edit("defaults written out", "    sample: 2\n", "    sample: 2\n    accumulate: false\n", "    call: helper\n", "    call: helper\n    tier: fast\n", "escalate: true\n        to: END", "escalate: true\n        to: END\n        reply_to: human.reply")
	edit("version and declarations", "mklang: \"0.4\"", "mklang: \"0.3\"", "  - name: vip\n", "  - name: vip\n    description: important\n")
	edit("merge", "    tool: search\n", "    <<: {tool: search}\n")

	// The order of states: the last first.
	head, states, _ := strings.Cut(string(src), "states:\n")
	i := strings.Index(states, "  child:")
	if got := Hash(mustParse(t, head+"states:\n"+states[i:]+states[:i])); got != want {
		t.Error("the order of states is in the hash")
	}
	m, _ := Parse(Source{Name: "elsewhere", Text: src, Authorship: AuthorshipModel}, Lenient)
	if got := Hash(m); got != want {
		t.Error("the file's name or its authorship is in the hash")
	}
}

// TestCanonicalDiffers: everything that a run depends on is in the form.
func TestCanonicalDiffers(t *testing.T) {
	src, err := os.ReadFile("testdata/canonical/everything.mkl")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{Hash(mustParse(t, string(src))): "the machine as it is"}
	for _, c := range [][2]string{
		{"machine: everything", "machine: Everything"},
		{"entry: ask", "entry: look"},
		{"budget: 40", "budget: 41"},
		{"default_tier: fast", "default_tier: reasoning"},
		{"result: answer", "result: found"},
		{"result: answer\n", ""},
		{"question: \"\"", "question: \" \""},
		{"question: \"\"", "Question: \"\""},
		{"question: \"\"\n  limits: {most: 3, least: 1.0, \"on\": yes, none: null, big: 123456789012345678901234567890}", "limits: {most: 3, least: 1.0, \"on\": yes, none: null, big: 123456789012345678901234567890}\n  question: \"\""},
		{"most: 3, least: 1.0", "least: 1.0, most: 3"},
		{"least: 1.0", "least: 1"},
		{"none: null", "none: 'null'"},
		{"567890}", "567891}"},
		{"Answer {{question}}", "Answer  {{question}}"},
		{"structure: one line", "structure: two lines"},
		{"execution: invent nothing", "execution: ''"},
		{"    execution: invent nothing\n", ""},
		{"    tier: reasoning\n", ""},
		{"    reason: true\n", ""},
		{"parse: list", "parse: json"},
		{"    parse: list\n", ""},
		{"over: \"{{notes}}\"", "over: \"{{limits}}\""},
		{"    over: \"{{notes}}\"\n", ""},
		{"    accumulate: true\n", ""},
		{"max_visits: 3", "max_visits: 4"},
		{"output: answer\n", "output: found\n"},
		{"when: the answer is complete", "when: the answer is done"},
		{"then: ok\n        to: look", "then: ok\n        to: child"},
		{"hook: vip", "hook: other"},
		{"        hook: vip\n", ""},
		{"hook: vip", "hook: ''"},
		{"repair: 2", "repair: 3"},
		{"repair: 2", "then: ok"},
		{"OTHERWISE", "otherwise"},
		{"ask: Shall we go on?", "ask: ''"},
		{"        ask: Shall we go on?\n", ""},
		{"reply_to: human.answer", "reply_to: human.reply"},
		{"tool: search", "tool: find"},
		{"tool: search\n", "call: search\n"},
		{"query: \" {{question}} \"", "query: \"{{question}}\""},
		{"deep: [1, \"{{question}}\"]\n      nothing: null", "nothing: null\n      deep: [1, \"{{question}}\"]"},
		{"sample: 2", "sample: 3"},
		{"fail: true", "then: ok\n        to: END"},
		{"call: helper", "call: help"},
		{"task: \"{{answer}}\"", "task: \"{{ answer }}\""},
		{"  child:\n", "  kid:\n"},
	} {
		if !strings.Contains(string(src), c[0]) {
			t.Fatalf("no %q", c[0])
		}
		name := c[0] + " → " + c[1]
		h := Hash(mustParse(t, strings.Replace(string(src), c[0], c[1], 1)))
		if other, dup := seen[h]; dup {
			t.Errorf("%q hashes like %q", name, other)
		}
		seen[h] = name
	}
	gates := "      - when: it is enough\n        escalate: true\n        to: END\n"
	rest := "      - when: otherwise\n        fail: true\n"
	if h := Hash(mustParse(t, strings.Replace(string(src), gates+rest, rest+gates, 1))); seen[h] != "" {
		t.Error("the order of gates is not in the hash")
	}
}
