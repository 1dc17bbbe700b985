package mkl

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/mkl/yamltree"
	"github.com/pinfold-dev/pinfold/trust"
)

// small is the least machine there is.
const small = `machine: m
entry: a
budget: 3
states:
  a:
    prompt: p
    structure: s
    output: o
    gates:
      - {when: otherwise, then: ok, to: END}
`

func mustParse(t testing.TB, src string) *Machine {
	t.Helper()
	m, diags := Parse(Source{Name: "test.mkl", Text: []byte(src), Authorship: AuthorshipOperator}, Strict)
	if m == nil {
		t.Fatalf("does not parse: %v\n%s", diags, src)
	}
	return m
}

func everything(t testing.TB) *Machine {
	t.Helper()
	src, err := os.ReadFile("testdata/canonical/everything.mkl")
	if err != nil {
		t.Fatal(err)
	}
	return mustParse(t, string(src))
}

func TestParse(t *testing.T) {
	m := everything(t)
	eq := func(what string, got, want any) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	eq("head", []any{m.File, m.Name, m.Entry, m.Budget, m.Version, m.DefaultTier, m.Result, m.HasResult}, []any{"test.mkl", "everything", "ask", 40, "0.4", Fast, "answer", true})
	eq("places", []any{m.Pos, m.NamePos, m.EntryPos, m.BudgetPos, m.VersionPos, m.ResultPos}, "[{2 1} {3 10} {4 8} {5 9} {2 9} {7 9}]")
	eq("tools", m.Tools, []Declaration{{"search", "looks things up", Pos{13, 5}}})
	eq("hooks", m.Hooks, []Declaration{{"vip", "", Pos{16, 5}}})

	eq("context", len(m.Context), 3)
	for i, want := range []string{`question ""`, `limits {"most": 3, "least": 1.0, "on": "yes", "none": null, "big": 123456789012345678901234567890}`, "notes []"} {
		b := m.Context[i]
		eq("context", b.Key+" "+b.Value.Value().JSON(), want)
		if b.Template != nil {
			t.Errorf("%s has a template: context is never interpolated", b.Key)
		}
	}
	eq("context places", []any{m.Context[1].Pos, m.Context[1].ValuePos}, "[{10 3} {10 11}]")

	var ids []string
	for i := range m.States {
		s, ok := m.State(m.States[i].ID)
		if !ok || s != &m.States[i] {
			t.Errorf("State does not find %s", m.States[i].ID)
		}
		ids = append(ids, fmt.Sprint(s.ID, " ", s.Kind, " ", s.Pos))
	}
	eq("states", ids, "[ask generative {18 3} look tool {43 3} child call {58 3}]")
	if _, ok := m.State("END"); ok {
		t.Error("found a state that is not there")
	}
	if s, ok := (&Machine{States: m.States}).State("look"); !ok || s.ID != "look" {
		t.Error("a machine made by hand has no states")
	}

	ask := m.States[0]
	eq("prompt", ask.Prompt.Source, "Answer {{question}}, {{ limits.most }} words at most. {{{not}}} {{a-b}}\n")
	eq("ask", []any{ask.Structure, ask.Execution, ask.HasExecution, ask.Tier, ask.Reason, ask.Parse == ParseList, ask.Accumulate, ask.MaxVisits, ask.Sample, ask.Output}, "[one line invent nothing true reasoning true true true 3 0 answer]")
	path, ok := ask.Over.Single()
	eq("over", []any{path, ok}, "[[notes] true]")
	eq("place of a key", ask.KeyPos.At("max_visits"), "{28 5}")

	if at := ask.KeyPos.At("sample"); at != (Pos{}) {
		t.Errorf("a key that is not there is at %v", at)
	}

	g := ask.Gates
	eq("gate 1", []any{g[0].When, g[0].HasHook, g[0].Policy, g[0].To, g[0].HasTo, g[0].Otherwise()}, "[the answer is complete false ok look true false]")
	eq("gate 2", []any{g[1].When.Len(), g[1].Hook, g[1].HasHook, g[1].Policy, g[1].Repair, g[1].To}, "[0 vip true repair 2 ask]")
	eq("gate 3", []any{g[2].When, g[2].Policy, g[2].Otherwise(), g[2].Ask, g[2].HasAsk, g[2].ReplyTo}, "[  OTHERWISE  escalate true Shall we go on? true human.answer]")
	eq("gate places", []any{g[0].Pos, g[0].KeyPos.At("then")}, "[{31 9} {32 9}]")

	look := m.States[1]
	eq("look", []any{look.Tool, look.Sample, len(look.Input), look.Gates[1].Policy, look.Gates[1].HasTo, look.Gates[0].ReplyTo}, "[search 2 4 fail false ]")
	path, ok = look.Input[0].Template.Single()
	eq("a single placeholder", []any{path, ok}, "[[question] true]")
	if _, ok := look.Input[1].Template.Single(); ok || look.Input[1].Template == nil {
		t.Error("text with two placeholders")
	}
	if look.Input[2].Template != nil || look.Input[3].Template != nil {
		t.Error("a list and null have no template")
	}
	eq("child", []any{m.States[2].Callee, m.States[2].Input[0].Value.Value().JSON()}, `[helper "{{answer}}"]`)

	var prose []string
	for _, s := range ask.Prose {
		prose = append(prose, fmt.Sprintf("%s/%d/%v/%v", s.Key, s.Gate, s.Plain, s.Pos))
	}
	eq("prose", prose, "[prompt/-1/false/{19 13} structure/-1/true/{21 16} execution/-1/true/{22 16} when/0/true/{31 15} when/1/false/{34 15} when/2/false/{38 15} ask/2/true/{41 14}]")
}

// TestAuthorship: literals are the author's only when a person answers for the
// text; prose is program text whoever wrote it (TRUST.md §5).
func TestAuthorship(t *testing.T) {
	src := strings.Replace(small, "states:", "context: {k: v, n: [1]}\nstates:", 1)
	src = strings.Replace(src, "prompt: p\n    structure: s", "tool: t\n    input: {x: lit, y: \"{{k}}\", z: 1}", 1)
	for _, c := range []struct {
		a    Authorship
		want string
	}{
		{AuthorshipOperator, trust.LevelAuthor.String()},
		{AuthorshipModel, trust.LevelExternal.String()},
	} {
		m, diags := Parse(Source{Text: []byte(src), Authorship: c.a}, Strict)
		if m == nil {
			t.Fatal(diags)
		}
		if m.Authorship != c.a {
			t.Errorf("authorship %v became %v", c.a, m.Authorship)
		}
		all := append(append([]Binding(nil), m.Context...), m.States[0].Input...)
		if len(all) != 5 {
			t.Fatalf("%d literals", len(all))
		}
		for _, b := range all {
			l := b.Value.Label()
			if l.Level().String() != c.want {
				t.Errorf("%v: %s has level %v", c.a, b.Key, l.Level())
			}
			if c.a == AuthorshipModel && !l.Sources().Has("machine:m") {
				t.Errorf("%s comes from %v", b.Key, l.Sources().Items())
			}
			if b.Template != nil && b.Template.Authorship != c.a {
				t.Errorf("the template of %s is by %v", b.Key, b.Template.Authorship)
			}
		}
	}
	if (Source{}).Authorship != AuthorshipModel {
		t.Error("the zero Source has somebody who answers for it")
	}
}

// with replaces a line of the small machine, or adds lines to its state.
func with(old, lines string) string {
	if old == "" {
		return strings.Replace(small, "    output: o\n", "    output: o\n"+lines, 1)
	}
	if !strings.Contains(small, old) {
		panic("no " + old)
	}
	return strings.Replace(small, old, lines, 1)
}

func gate(g string) string {
	return with("      - {when: otherwise, then: ok, to: END}\n", "      - "+g+"\n")
}

// TestDiagnostics has every code of the structure. lenient is what the lenient
// reader says: "" that the machine loads, "=" the same as the strict one.
func TestDiagnostics(t *testing.T) {
	for _, c := range []struct{ name, src, strict, lenient string }{
		{"valid", small, "", ""},
		{"MK102", "machine: \xff", "MK102 1:10 not UTF-8 (byte 0xff) at byte 9", "="},
		{"MK103", "machine: [", "MK103 1:11 expected ']' for what was opened at 1:10, found the end of the document", "="},
		{"MK105", "- a\n", "MK105 1:1 the root is a list: expected a mapping", "="},
		{"MK106", small + "budget: 4\nentry: b\n", "MK106 11:1 duplicate key ‹budget› on line 11: it stands on line 3 already|MK106 12:1 duplicate key ‹entry› on line 12: it stands on line 2 already", "="},
		{"MK106, two gates", with("", "    gates: []\n"), "MK106 10:5 duplicate key ‹gates› on line 10: it stands on line 9 already", "="},
		{"MK107", "a: *b\n", "MK107 1:4 no anchor &b before this alias", "="},
		{"MK109", "machine: !x y\n", "MK109 1:10 the tag !x is not one of YAML's core tags", "="},
		{"MK110", with("entry: a", "entry: on"), "MK110 2:8 a YAML 1.1 reader takes ‹on› for the boolean true (quote it)", ""},
		{"MK110, a key", with("  a:\n", "  1:\n"), "MK110 5:3 [1] a YAML 1.1 reader takes ‹1› for the integer 1 (quote it)", ""},
		{"MK110, a version", small + "mklang: 0.4\n", "MK110 11:9 a YAML 1.1 reader takes ‹0.4› for a float (quote it)", ""},
		{"MK110, an integer", with("budget: 3", "budget: 1e1"), "MK110 3:9 a YAML 1.1 reader takes ‹1e1› for a string (quote it)", ""},
		{"MK110, free values", small + "context: {on: {n: [017]}, quoted: 'yes'}\n", "MK110 11:11 a YAML 1.1 reader takes ‹on› for the boolean true (quote it)|MK110 11:16 a YAML 1.1 reader takes ‹n› for the boolean false (quote it)|MK110 11:20 a YAML 1.1 reader takes ‹017› for the integer 15 (quote it)", ""},
		{"MK110, once for what an alias repeats", small + "context: {a: &a [yes], b: *a}\n", "MK110 11:18 a YAML 1.1 reader takes ‹yes› for the boolean true (quote it)", ""},
		{"MK111", small + "context: {a: .inf, b: [.nan]}\n", "MK111 11:14 ‹.inf› is not a finite number: put quotes around it if it is a text|MK111 11:24 ‹.nan› is not a finite number: put quotes around it if it is a text", "="},

		{"MK201", "{}\n", "MK201 1:1 machine: the key ‹machine› is missing|MK201 1:1 machine: the key ‹entry› is missing|MK201 1:1 machine: the key ‹budget› is missing|MK201 1:1 machine: the key ‹states› is missing", "="},
		{"MK201, state", with("    structure: s\n    output: o\n", ""), "MK201 5:3 [a] generative state: the key ‹structure› is missing|MK201 5:3 [a] generative state: the key ‹output› is missing", "="},
		{"MK201, gates", "machine: m\nentry: a\nbudget: 1\nstates: {a: {tool: t, output: o}}\n", "MK201 4:10 [a] tool state: the key ‹gates› is missing", "="},
		{"MK201, gate", gate("{then: ok, to: END}"), "MK201 10:9 [a] gate 1: the key ‹when› is missing", "="},
		{"MK201, declaration", small + "tools:\n- description: d\n", "MK201 12:3 tools[0]: the key ‹name› is missing", "="},
		{"MK202", with("budget: 3", "budgte: 3"), "MK201 1:1 machine: the key ‹budget› is missing|MK202 3:1 machine: unknown key ‹budgte› (did you mean ‹budget›?)", "MK201 1:1 machine: the key ‹budget› is missing"},
		{"MK202, state", with("", "    promt: p\n    xyzzy: 1\n"), "MK202 9:5 [a] generative state: unknown key ‹promt› (did you mean ‹prompt›?)|MK202 10:5 [a] generative state: unknown key ‹xyzzy›", ""},
		{"MK202, gate", gate("{when: otherwise, then: ok, to: END, replyto: x}"), "MK202 10:46 [a] gate 1: unknown key ‹replyto› (did you mean ‹reply_to›?)", ""},
		{"MK202, declaration", small + "hooks: [{name: h, desc: d}]\n", "MK202 11:19 hooks[0]: unknown key ‹desc›", ""},
		{"MK203", "machine: [m]\nentry: {}\nbudget: many\nstates: []\ncontext:\ntools: {}\nresult:\n", "MK203 1:10 machine: expected a string, found a list|MK203 2:8 entry: expected a string, found a mapping|MK203 3:9 budget: expected an integer, found ‹many›|MK203 4:9 states: expected a mapping, found a list|MK203 5:9 context: expected a mapping, found nothing|MK203 6:8 tools: expected a list, found a mapping|MK203 7:8 result: expected a string, found nothing", "="},
		{"MK203, leading zero", with("budget: 3", "budget: 03"), "MK203 3:9 budget: expected an integer (readers disagree about a leading zero), found ‹03›", "="},
		{"MK203, state", "machine: m\nentry: a\nbudget: 1\nstates:\n  a: x\n  b:\n", "MK203 5:6 [a] state: expected a mapping, found ‹x›|MK203 6:5 [b] state: expected a mapping, found nothing", "="},
		{"MK203, values", with("", "    reason: 1\n    max_visits: x\n    over:\n    tier: []\n"), "MK203 9:13 [a] reason: expected a boolean (true or false), found ‹1›|MK203 10:17 [a] max_visits: expected an integer, found ‹x›|MK203 11:10 [a] over: expected a string, found nothing|MK203 12:11 [a] tier: expected a string, found a list", "="},
		{"MK203, gates", gate("end"), "MK203 10:9 [a] gate 1: expected a mapping, found ‹end›", "="},
		{"MK203, gate", gate("{when: , hook: [], repair: x, to: {}}"), "MK203 10:16 [a] gate 1: when: expected a string, found nothing|MK203 10:24 [a] gate 1: hook: expected a string, found a list|MK203 10:36 [a] gate 1: repair: expected an integer, found ‹x›|MK203 10:43 [a] gate 1: to: expected a string, found a mapping", "="},
		{"MK203, input", "machine: m\nentry: a\nbudget: 1\nstates: {a: {call: c, output: o, input: , gates: [{when: otherwise, fail: true}]}}\n", "MK203 4:41 [a] input: expected a mapping, found nothing", "="},
		{"MK203, merge", "a: {<<: 1}\n", "MK203 1:9 << wants a mapping or a list of mappings, found ‹1›", "="},
		{"MK204, minima", with("budget: 3", "budget: 0"), "MK204 3:9 budget: 0 is not allowed: at least 1", "="},
		{"MK204, sample", with("", "    sample: 1\n    max_visits: -1\n"), "MK204 9:13 [a] sample: 1 is not allowed: at least 2|MK204 10:17 [a] max_visits: -1 is not allowed: at least 1", "="},
		{"MK204, words", with("", "    tier: fats\n    parse: yaml\n"), "MK204 9:11 [a] tier: ‹fats› is not allowed: fast, balanced or reasoning (did you mean ‹fast›?)|MK204 10:12 [a] parse: ‹yaml› is not allowed: list or json (allowed: list, json)", "="},
		{"MK204, default tier", small + "default_tier: Fast\n", "MK204 11:15 default_tier: ‹Fast› is not allowed: fast, balanced or reasoning (did you mean ‹fast›?)", "="},
		{"MK204, then", gate("{when: otherwise, then: yes, to: END}"), "MK110 10:33 [a] a YAML 1.1 reader takes ‹yes› for the boolean true (quote it)|MK204 10:33 [a] gate 1: then: ‹yes› is not allowed: ok (allowed: ok)", "MK204 10:33 [a] gate 1: then: ‹yes› is not allowed: ok (allowed: ok)"},
		{"MK204, repair", gate("{when: otherwise, repair: 0, to: a}"), "MK204 10:35 [a] gate 1: repair: 0 is not allowed: at least 1", ""},
		{"MK203, repair without a budget", gate("{when: otherwise, repair: , to: a}"), "MK203 10:35 [a] gate 1: repair: expected an integer, found nothing", ""},
		{"MK204, false", gate("{when: otherwise, escalate: no, to: END}"), "MK204 10:37 [a] gate 1: escalate: false is not allowed: only true; a gate without this policy leaves the key out", "="},
		{"MK205, none", with("    prompt: p\n", ""), "MK205 5:3 [a] a state has exactly one of prompt, call and tool: found none", "MK201 5:3 [a] generative state: the key ‹prompt› is missing"},
		{"MK205, several", with("", "    tool: t\n    call: c\n"), "MK205 5:3 [a] a state has exactly one of prompt, call and tool: found tool, call and prompt", ""},
		{"MK206", with("    prompt: p\n", "    tool: t\n    tier: fast\n"), "MK206 7:5 [a] a tool state has no key ‹tier›|MK206 8:5 [a] a tool state has no key ‹structure›", ""},
		{"MK206, input", with("", "    input: 5\n"), "MK206 9:5 [a] a generative state has no key ‹input›", ""},
		{"MK207", with("", "    sample: 2\n    over: \"{{x}}\"\n"), "MK207 10:5 [a] sample and over exclude each other", ""},
		{"MK208, none", gate("{when: otherwise, to: END}"), "MK208 10:9 [a] gate 1 has no policy: expected one of then, repair, escalate or fail", "="},
		{"MK208, several", gate("{when: otherwise, fail: true, then: ok, to: END}"), "MK208 10:9 [a] gate 1 has several policies: then and fail", ""},
		{"MK209, missing", gate("{when: otherwise, then: ok}"), "MK209 10:9 [a] gate 1: ‹to› is missing: a gate with ‹then› leads to a state or to END", ""},
		{"MK209, fail", gate("{when: otherwise, fail: true, to: END}"), "MK209 10:39 [a] gate 1: a fail gate leads nowhere: ‹to› is not allowed", ""},
		{"MK210", gate("{when: otherwise, then: ok, to: END, ask: q, reply_to: a.b}"), "MK210 10:46 [a] gate 1: ‹ask› belongs to an escalate gate, this one is ok|MK210 10:54 [a] gate 1: ‹reply_to› belongs to an escalate gate, this one is ok", ""},
		{"MK210, malformed", gate("{when: otherwise, escalate: true, to: END, reply_to: a..b}"), "MK210 10:62 [a] gate 1: reply_to is ‹a..b›: expected non-empty names joined by dots", "="},
		{"MK210, empty", gate("{when: otherwise, escalate: true, to: END, reply_to: ''}"), "MK210 10:62 [a] gate 1: reply_to is ‹›: expected non-empty names joined by dots", "="},
		{"MK211", "machine: m\nentry: a\nbudget: 1\nstates: {}\n", "MK211 4:9 states is empty: expected at least one state", "="},
		{"MK211, gates", "machine: m\nentry: a\nbudget: 1\nstates: {a: {tool: t, output: o, gates: []}}\n", "MK211 4:41 [a] gates is empty: expected at least one gate", "="},
		{"what a merge brings in is seen", with("states:\n", "context: {b: &b {tool: t}}\nstates:\n") + "    <<: *b\n", "MK205 6:3 [a] a state has exactly one of prompt, call and tool: found tool and prompt", ""},
		{"by line, not by key", with("    prompt: p\n", "    tier: x\n    prompt:\n"), "MK204 6:11 [a] tier: ‹x› is not allowed: fast, balanced or reasoning (allowed: fast, balanced, reasoning)|MK203 7:12 [a] prompt: expected a string, found nothing", "="},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.lenient == "=" {
				c.lenient = c.strict
			}
			for mode, want := range map[Mode]string{Strict: c.strict, Lenient: c.lenient} {
				m, diags := Parse(Source{Name: "x.mkl", Text: []byte(c.src)}, mode)
				var got []string
				errors := false
				for _, d := range diags {
					s := d.String()
					if d.State != "" {
						place, message, _ := strings.Cut(strings.TrimPrefix(s, d.Code+" "), " ")
						s = d.Code + " " + place + " [" + d.State + "] " + message
					}
					if d.Hint != "" {
						s += " (" + d.Hint + ")"
					}
					got = append(got, s)
					errors = errors || d.Severity == Error
					if d.File != "x.mkl" || d.Severity != Error && d.Code != "MK110" {
						t.Errorf("%#v", d)
					}
				}
				if s := strings.Join(got, "|"); s != want {
					t.Errorf("mode %d\n got %s\nwant %s", mode, strings.ReplaceAll(s, "|", "\n     "), strings.ReplaceAll(want, "|", "\n     "))
				}
				if (m == nil) != errors {
					t.Errorf("mode %d: machine %v with errors %v", mode, m != nil, errors)
				}
			}
		})
	}
}

// TestLenientChoices: kind and policy by the first key present (LANGUAGE.md §2).
func TestLenientChoices(t *testing.T) {
	for _, c := range []struct {
		src  string
		kind Kind
	}{
		{"{prompt: p, structure: s, tool: t, call: c, output: o, gates: [{when: x, fail: true}]}", Tool},
		{"{prompt: p, call: c, output: o, gates: [{when: x, fail: true}]}", Call},
		{"{prompt: p, structure: s, output: o, input: 7, gates: [{when: x, fail: true}]}", Generative},
	} {
		m, diags := Parse(Source{Text: []byte("machine: m\nentry: a\nbudget: 1\nstates: {a: " + c.src + "}\n")}, Lenient)
		if m == nil {
			t.Fatalf("%s: %v", c.src, diags)
		}
		s := m.States[0]
		if s.Kind != c.kind || (s.Prompt != nil) != (c.kind == Generative) || len(s.Input) != 0 {
			t.Errorf("%s: kind %v, prompt %v", c.src, s.Kind, s.Prompt)
		}
	}
	for src, want := range map[string]string{
		"fail: true, escalate: true, repair: 1, then: ok, to: END": "ok END",
		"fail: true, escalate: true, repair: 4, to: b":             "repair b",
		"fail: true, escalate: true, to: b, ask: q":                "escalate b",
		"fail: true, to: b, reply_to: ..":                          "fail ",
		"then: ok":                                                 "ok ",
	} {
		m, diags := Parse(Source{Text: []byte(gate("{when: x, " + src + "}"))}, Lenient)
		if m == nil {
			t.Fatalf("%s: %v", src, diags)
		}
		g := m.States[0].Gates[0]
		if got := g.Policy.String() + " " + g.To; got != want || (g.Repair != 0) != (g.Policy == PolicyRepair) || g.HasAsk != (g.Policy == PolicyEscalate) {
			t.Errorf("%s: got %s of %+v", src, got, g)
		}
	}
}

// TestLenientRepair: a budget that is none reads as none, never as a negative one.
func TestLenientRepair(t *testing.T) {
	for budget, want := range map[string]int{"": 0, "0": 0, "-3": 0, "2": 2} {
		m, diags := Parse(Source{Text: []byte(gate("{when: x, repair: " + budget + ", to: a}"))}, Lenient)
		if m == nil {
			t.Fatalf("%q: %v", budget, diags)
		}
		if g := m.States[0].Gates[0]; g.Policy != PolicyRepair || g.Repair != want {
			t.Errorf("%q: got %v %d", budget, g.Policy, g.Repair)
		}
	}
}

// TestWordsStayWords: states named like booleans, numbers and null [CASES 69].
func TestWordsStayWords(t *testing.T) {
	names := []string{"on", "no", "y", "null", "1", "~", "2024-01-02", "END", "0.5", "="}
	var b strings.Builder
	b.WriteString("machine: yes\nentry: no\nbudget: 9\nresult: off\nstates:\n")
	for i, n := range names {
		fmt.Fprintf(&b, "  %s: {tool: %s, output: %s, gates: [{when: %s, then: ok, to: %s}]}\n", n, n, n, n, names[(i+1)%len(names)])
	}
	m := mustParse(t, b.String())
	if m.Name != "yes" || m.Entry != "no" || m.Result != "off" {
		t.Errorf("got %q %q %q", m.Name, m.Entry, m.Result)
	}
	for i, n := range names {
		s := m.States[i]
		g := s.Gates[0]
		if s.ID != n || s.Tool != n || s.Output != n || g.When.String() != n || g.To != names[(i+1)%len(names)] {
			t.Errorf("%s: got %q %q %q %q %q", n, s.ID, s.Tool, s.Output, g.When, g.To)
		}
	}
}

// TestCutCondition: what a comment took from a condition is there for lint [CASES 68].
func TestCutCondition(t *testing.T) {
	src := with("    prompt: p\n", "    prompt: one\n      two # three\n") + "      - when: reply starts with # Summary\n        escalate: true\n        to: END\n        ask: really # no\n"
	m := mustParse(t, src)
	lost := map[string]string{}
	for _, s := range m.States[0].Prose {
		if s.Lost != "" {
			lost[fmt.Sprint(s.Key, s.Gate)] = s.Text + "|" + s.Lost
		}
	}
	want := map[string]string{"prompt-1": "one two|# three", "when1": "reply starts with|# Summary", "ask1": "really|# no"}
	if fmt.Sprint(lost) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", lost, want)
	}
}

// TestMergedStates: a merge reads like its content written out [CASES 70].
func TestMergedStates(t *testing.T) {
	merged := mustParse(t, `machine: m
entry: a
budget: 3
states:
  a: &base
    prompt: p
    structure: s
    output: o
    gates: &g
      - {when: otherwise, then: ok, to: END}
  b:
    prompt: q
    <<: *base
    output: r
  c: {tool: t, output: o, gates: *g}
`)
	written := mustParse(t, `machine: m
entry: a
budget: 3
states:
  a: {prompt: p, structure: s, output: o, gates: [{when: otherwise, then: ok, to: END}]}
  b: {prompt: q, structure: s, output: r, gates: [{when: otherwise, then: ok, to: END}]}
  c: {tool: t, output: o, gates: [{when: otherwise, then: ok, to: END}]}
`)
	if Hash(merged) != Hash(written) {
		t.Errorf("got\n%s\nwant\n%s", Canonical(merged), Canonical(written))
	}
}

// TestFromNode: a machine inside another document keeps that document's places.
func TestFromNode(t *testing.T) {
	src := "case: x\nmachine:\n" + "  " + strings.ReplaceAll(strings.TrimSuffix(small, "\n"), "\n", "\n  ") + "\n"
	root, errs := yamltree.Read([]byte(src))
	if root == nil {
		t.Fatal(errs)
	}
	n, _ := root.Get("machine")
	m, diags := FromNode(n, Source{Name: "case.yaml", Authorship: AuthorshipOperator}, Strict)
	if m == nil || len(diags) > 0 {
		t.Fatal(diags)
	}
	if m.Pos != (Pos{3, 3}) || m.File != "case.yaml" || Hash(m) != Hash(mustParse(t, small)) {
		t.Errorf("got %v %q", m.Pos, m.File)
	}
	n, _ = root.Get("case")
	if m, diags := FromNode(n, Source{}, Lenient); m != nil || len(diags) != 1 || diags[0].String() != "MK203 1:7 machine: expected a mapping, found ‹x›" {
		t.Errorf("got %v", diags)
	}
}

func TestOtherwise(t *testing.T) {
	for when, want := range map[string]bool{
		"otherwise": true, "  OTHERWISE ": true, "Otherwise": true, "\totherwise\n": true,
		"otherwise it is spam": false, "": false, "other wise": false,
	} {
		m := mustParse(t, gate(fmt.Sprintf("{when: %q, then: ok, to: END}", when)))
		if got := m.States[0].Gates[0].Otherwise(); got != want {
			t.Errorf("%q: got %v", when, got)
		}
	}
}

func TestDiagnosticString(t *testing.T) {
	d := Diagnostic{Code: "MK407", Severity: Note, Message: "states a, b", Pos: Pos{3, 8}}
	if got := d.String(); got != "MK407 3:8 note: states a, b" {
		t.Errorf("got %q", got)
	}
	d.Message = "note: once"
	if got := d.String(); got != "MK407 3:8 note: once" {
		t.Errorf("got %q", got)
	}
}

func TestNearest(t *testing.T) {
	keys := stateKeyNames()
	for word, want := range map[string]string{
		"promt": "prompt", "outptu": "output", "gate": "gates", "strucutre": "structure", "max_visit": "max_visits",
		"Prompt": "prompt", "ovre": "over", "x": "", "": "", "description": "", "to": "", strings.Repeat("prompt", 100000): "",
	} {
		if got := nearest(word, keys); got != want {
			t.Errorf("%.20q: got %q, want %q", word, got, want)
		}
	}
}
