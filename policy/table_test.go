package policy_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/value"
)

func TestWordsAreExact(t *testing.T) {
	for _, a := range []policy.Action{policy.Halt, policy.Ask, policy.Report} {
		if got, err := policy.ParseAction(a.String()); got != a || err != nil {
			t.Errorf("%v: %v, %v", a, got, err)
		}
	}
	for _, c := range []policy.Class{policy.Effect, policy.Read} {
		if got, err := policy.ParseClass(c.String()); got != c || err != nil {
			t.Errorf("%v: %v, %v", c, got, err)
		}
	}
	for _, s := range []string{"", "Halt", "HALT", " halt", "halt ", "halt\n", "allow", "reportt", "0"} {
		a, err := policy.ParseAction(s)
		if a != policy.Halt || err == nil || !strings.Contains(err.Error(), "halt, ask or report") {
			t.Errorf("ParseAction(%q): %v, %v", s, a, err)
		}
	}
	for _, s := range []string{"", "Read", " read", "reads", "write", "readonly"} {
		c, err := policy.ParseClass(s)
		if c != policy.Effect || err == nil || !strings.Contains(err.Error(), "read or effect") {
			t.Errorf("ParseClass(%q): %v, %v", s, c, err)
		}
	}
}

// TestBuiltinTable is LANGUAGE.md §12.2 and the egress row of §12.1.
func TestBuiltinTable(t *testing.T) {
	want := map[string]string{ // class, egress, sensitive
		"calc": "read local", "search": "read egress", "search_kb": "read local",
		"list_files": "read local", "read_file": "read local",
		"list_machines": "read local", "describe_machine": "read local", "read_machine": "read local",
		"check_machine": "read local", "list_workspace": "read local", "read_workspace_file": "read local",
		"search_workspace": "read local", "ask_user": "read local",
		"write_file": "effect egress path", "send_reply": "effect egress to",
		"write_machine": "effect egress", "run_machine": "effect egress", "update_task": "effect egress",
	}
	got := policy.Builtin()
	for name, tool := range got {
		words := []string{tool.Class.String(), "local"}
		if tool.Egress() {
			words[1] = "egress"
		}
		words = append(words, tool.Sensitive...)
		if s := strings.Join(words, " "); s != want[name] {
			t.Errorf("%s: %s, want %s", name, s, want[name])
		}
		if len(tool.MayCarry)+len(tool.Yields) > 0 || tool.Labelled {
			t.Errorf("%s: %+v", name, tool)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d tools, want %d", len(got), len(want))
	}
	got["calc"] = policy.Tool{}
	if policy.Builtin()["calc"].Class != policy.Read {
		t.Error("two tables are one")
	}
}

func declaration(t *testing.T, json string) policy.Declaration {
	t.Helper()
	v, err := value.ParseJSON([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	d, err := policy.ParseDeclaration(v)
	if err != nil {
		t.Fatalf("%s: %v", json, err)
	}
	return d
}

func TestDeclareKeyByKey(t *testing.T) {
	table := policy.Builtin()
	table["http"] = policy.Tool{Class: policy.Effect} // registered, and said by its registration to send
	for _, c := range []struct {
		tool, json string
		class      policy.Class
		egress     bool
		sensitive  string
	}{
		{"send_reply", `{}`, policy.Effect, true, "to"},
		{"send_reply", `"read"`, policy.Read, true, "to"}, // it sends whatever its class
		{"send_reply", `{"sensitive": ["to", "body"]}`, policy.Effect, true, "to body"},
		{"send_reply", `{"sensitive": []}`, policy.Effect, true, ""},
		{"send_reply", `{"egress": false}`, policy.Effect, false, "to"},
		{"search", `"effect"`, policy.Effect, true, ""},
		{"search", `{"class": "read"}`, policy.Read, true, ""},
		{"http", `"read"`, policy.Read, true, ""}, // lowering a class says nothing of where it sends
		{"write_file", `"read"`, policy.Read, false, "path"},
		{"write_file", `{"egress": false}`, policy.Effect, false, "path"},
		{"calc", `"effect"`, policy.Effect, true, ""}, // an effect that does not say otherwise
		{"calc", `{"class": "effect", "egress": false}`, policy.Effect, false, ""},
		{"calc", `{"egress": true}`, policy.Read, true, ""},
		{"new", `{}`, policy.Effect, true, ""},
		{"new", `"effect"`, policy.Effect, true, ""},
		{"new", `"read"`, policy.Read, false, ""},
		{"new", `{"class": "read", "egress": true}`, policy.Read, true, ""},
		{"new", `{"egress": false}`, policy.Effect, false, ""},
	} {
		t2 := table.Clone()
		t2.Declare(c.tool, declaration(t, c.json))
		got := t2[c.tool]
		if got.Class != c.class || got.Egress() != c.egress || strings.Join(got.Sensitive, " ") != c.sensitive {
			t.Errorf("%s %s: %v, egress %v, sensitive %v", c.tool, c.json, got.Class, got.Egress(), got.Sensitive)
		}
	}
	table.Declare("layers", declaration(t, `{"class": "read", "yields": ["pii"]}`))
	table.Declare("layers", declaration(t, `{"class": "effect", "may_carry": ["pii"], "labelled": true}`))
	got := table["layers"]
	if got.Class != policy.Effect || !got.Egress() || !slices.Equal(got.Yields, []string{"pii"}) ||
		!slices.Equal(got.MayCarry, []string{"pii"}) || !got.Labelled {
		t.Errorf("two layers: %+v", got)
	}
}

func TestMergeLeavesTheBaseAlone(t *testing.T) {
	base := policy.Tool{Sensitive: make([]string, 1, 4), Yields: make([]string, 1, 4)}
	base.Sensitive[0], base.Yields[0] = "a", "t"
	d := declaration(t, `{"sensitive": ["b"], "yields": ["u"], "egress": true, "class": "effect"}`)
	x, y := policy.Tighten(base, d), policy.Merge(base, d)
	x.Sensitive[0], y.Sensitive[0] = "changed", "changed"
	if base.Sensitive[0] != "a" || (*d.Sensitive)[0] != "b" || base.Sensitive[:2][1] != "" {
		t.Errorf("base %v, declaration %v", base.Sensitive[:2], *d.Sensitive)
	}
}

func TestParseDeclarationRefuses(t *testing.T) {
	for _, c := range []struct {
		json string
		want []string
	}{
		{`"Read"`, []string{`"Read"`, "read or effect"}},
		{`"read "`, []string{`"read "`, "read or effect"}},
		{`true`, []string{"boolean true", "class, sensitive"}},
		{`null`, []string{"nothing"}},
		{`["read"]`, []string{"a list"}},
		{`{"class": true}`, []string{"class: ", "boolean true", "read or effect"}},
		{`{"class": null}`, []string{"class: ", "nothing"}},
		{`{"class": "write"}`, []string{"class: ", `"write"`}},
		{`{"Class": "read"}`, []string{`unknown key "Class"`, "class, sensitive, yields, may_carry, labelled, egress"}},
		{`{"sensitve": ["to"]}`, []string{`"sensitve"`}},
		{`{"sensitive": "to"}`, []string{"sensitive: ", "list of parameter names", `"to"`}},
		{`{"sensitive": ["to", 1]}`, []string{"sensitive: ", "integer 1", "at 1"}},
		{`{"yields": [""]}`, []string{"yields: ", `""`}},
		{`{"may_carry": {"pii": true}}`, []string{"may_carry: ", "a map"}},
		{`{"labelled": "yes"}`, []string{"labelled: ", "true or false", `"yes"`}},
		{`{"egress": 0}`, []string{"egress: ", "integer 0"}},
		{`{"egress": 0, "class": 1}`, []string{"egress: ", "class: "}},
		{`{"\u202e\n": 0}`, []string{`"\u202e\n"`}},
	} {
		v, err := value.ParseJSON([]byte(c.json))
		if err != nil {
			t.Fatal(err)
		}
		d, err := policy.ParseDeclaration(v)
		if err == nil {
			t.Errorf("%s: accepted", c.json)
			continue
		}
		if d != (policy.Declaration{}) {
			t.Errorf("%s: an error and a declaration", c.json)
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not say %q", c.json, err, w)
			}
		}
	}
}

// TestTightenNeverOpens: whatever a declaration says, Tighten leaves a tool to
// which every rule applies that applied before, for no fewer arguments and tags.
func TestTightenNeverOpens(t *testing.T) {
	word := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		base := policy.Merge(policy.Tool{}, drawDeclaration(t, word))
		if rapid.Bool().Draw(t, "built in") {
			base = policy.Builtin()[rapid.SampledFrom([]string{"calc", "search", "write_file", "send_reply"}).Draw(t, "tool")]
		}
		got := policy.Tighten(base, drawDeclaration(t, word))
		if base.Class == policy.Effect && got.Class != policy.Effect || base.Egress() && !got.Egress() {
			t.Fatalf("%+v became %+v", base, got)
		}
		for _, s := range base.Sensitive {
			if !slices.Contains(got.Sensitive, s) {
				t.Fatalf("lost sensitive %s", s)
			}
		}
		for _, s := range base.Yields {
			if !slices.Contains(got.Yields, s) {
				t.Fatalf("lost yields %s", s)
			}
		}
		if !slices.Equal(got.MayCarry, base.MayCarry) || got.Labelled != base.Labelled {
			t.Fatalf("%+v became %+v", base, got)
		}
	})
	table := policy.Builtin()
	table.Tighten("calc", declaration(t, `"effect"`))
	table.Tighten("search", declaration(t, `{"class": "read", "egress": false, "sensitive": ["query"]}`))
	if table["calc"].Class != policy.Effect || !table["calc"].Egress() {
		t.Errorf("calc: %+v", table["calc"])
	}
	if s := table["search"]; !s.Egress() || !slices.Equal(s.Sensitive, []string{"query"}) {
		t.Errorf("search: %+v", s)
	}
	table.Tighten("new", declaration(t, `"read"`))
	if s := table["new"]; s.Class != policy.Effect || !s.Egress() {
		t.Errorf("a tool that only a found file calls read: %+v", s)
	}
}

func drawDeclaration(t *rapid.T, word *rapid.Generator[[]string]) policy.Declaration {
	var d policy.Declaration
	if rapid.Bool().Draw(t, "class?") {
		c := policy.Class(rapid.IntRange(0, 1).Draw(t, "class"))
		d.Class = &c
	}
	for _, list := range []**[]string{&d.Sensitive, &d.Yields, &d.MayCarry} {
		if rapid.Bool().Draw(t, "list?") {
			l := word.Draw(t, "list")
			*list = &l
		}
	}
	for _, flag := range []**bool{&d.Labelled, &d.Egress} {
		if rapid.Bool().Draw(t, "flag?") {
			b := rapid.Bool().Draw(t, "flag")
			*flag = &b
		}
	}
	return d
}

func TestPoliciesTighten(t *testing.T) {
	p := policy.Policies{UntrustedFlow: policy.Report, UntrustedArgument: policy.Ask, SecretEgress: policy.Halt}
	q := policy.Policies{UntrustedFlow: policy.Ask, UntrustedArgument: policy.Report, SecretEgress: policy.Report}
	want := policy.Policies{UntrustedFlow: policy.Ask, UntrustedArgument: policy.Ask, SecretEgress: policy.Halt}
	if p.Tighten(q) != want || q.Tighten(p) != want {
		t.Errorf("%v, %v, want %v", p.Tighten(q), q.Tighten(p), want)
	}
	if !p.Looser(q) || !q.Looser(p) || want.Looser(p) || want.Looser(q) || !p.Looser(want) || p.Looser(p) {
		t.Error("Looser is wrong")
	}
	if (policy.Policies{}).Looser(p) || !p.Looser(policy.Policies{}) {
		t.Error("the zero Policies is not the strictest")
	}
	if d := policy.Defaults(); d.UntrustedFlow != policy.Report || d.UntrustedArgument != policy.Report || d.SecretEgress != policy.Halt {
		t.Errorf("defaults: %v", d)
	}
}
