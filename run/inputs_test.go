package run_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/run"
	"github.com/pinfold-dev/pinfold/value"
)

func TestParseSetting(t *testing.T) {
	for arg, want := range map[string]string{
		"a=1":                 "a = 1",
		"a=":                  `a = ""`,
		"a=b=c":               `a = "b=c"`,
		"ticket.body=hi":      `ticket.body = "hi"`,
		`a={"k": [1, 2.5]}`:   `a = {"k": [1, 2.5]}`,
		"a=01":                `a = "01"`,
		"a=NaN":               `a = "NaN"`,
		"a=no":                `a = "no"`,
		"a=1e3":               "a = 1000.0",
		"a= 1 ":               "a = 1",
		"a=null":              "a = null",
		`a="x"`:               `a = "x"`,
		`a={"k": 1`:           `a = "{\"k\": 1"`,
		"a=\uFEFF1":           "a = \"\uFEFF1\"",
		"a=1 2":               `a = "1 2"`,
		"a=" + `{{b}}</data>`: `a = "{{b}}</data>"`,
	} {
		s, err := run.ParseSetting(arg)
		if err != nil {
			t.Errorf("%q: %v", arg, err)
			continue
		}
		if got := strings.Join(s.Path, ".") + " = " + s.Value.JSON(); got != want {
			t.Errorf("%q: got %s, want %s", arg, got, want)
		}
	}
	for arg, want := range map[string]string{
		"a":                  "expected PATH=VALUE",
		"=1":                 "none of them empty",
		"a..b=1":             "none of them empty",
		".a=1":               "none of them empty",
		"a.=1":               "none of them empty",
		" a=1":               "white space",
		"a .b=1":             "white space",
		`a={"k": 1, "k": 2}`: "",
		"a=1e999":            "",
	} {
		s, err := run.ParseSetting(arg)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v, want an error with %q", arg, s, err, want)
		}
	}
}

// Labels enter here (LANGUAGE.md §8.1, §21.4).
func TestInputs(t *testing.T) {
	p := program(t, `
machine: m
entry: a
budget: 2
context: { ticket: { body: "", id: 7 }, policy: kind, today: "", now: null, plain: x, other: "" }
states:
  a: { structure: s, prompt: p, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
`)
	set := func(args ...string) (out []run.Setting) {
		for _, a := range args {
			s, err := run.ParseSetting(a)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, s)
		}
		return out
	}
	clock := func() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 678, time.FixedZone("", 3600)) }
	h := run.Host{
		Settings: set("ticket.body=hello", "ticket.body=again", "policy=kind", "new.deep.key=1", "plain.sub=2", "other="),
		Vouch:    map[string]string{"other": "a form field that our own code writes"},
		Clock:    clock,
	}
	in, err := h.Inputs(p)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for k, v := range in {
		got[k] = v.Value().JSON() + " " + v.Label().String()
	}
	want := map[string]string{
		"ticket": `{"body": "again", "id": 7} external[host:ticket]`, // the whole key
		"policy": `"kind" external[host:policy]`,                     // the engine knows that it is the author's literal
		"new":    `{"deep": {"key": 1}} external[host:new]`,
		"plain":  `{"sub": 2} external[host:plain]`, // replaces what is no map
		"other":  `"" author[vouch:m/other]`,
		"today":  `"2030-01-02" author[host:clock]`,
		"now":    `"2030-01-02T03:04:05+01:00" author[host:clock]`,
	}
	for k, w := range want {
		if got[k] != w {
			t.Errorf("%s: got %s, want %s", k, got[k], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
	res := mustRun(t, p, in, config(speaker{}))
	if v, _ := res.Context.Get("policy"); v.Label().Tainted() {
		t.Error("a value that equals the author's literal is the author's")
	}
	if v, _ := res.Context.Get("ticket"); !v.Label().External() {
		t.Error("a nested input left its key trusted")
	}

	// A today that came in is outside data; keys are never invented; no clock, no fill.
	in, _ = run.Host{Settings: set("today=2020-01-01"), Clock: clock}.Inputs(p)
	if v := in["today"]; v.Value().JSON() != `"2020-01-01"` || !v.Label().External() {
		t.Errorf("today: %s %s", v.Value().JSON(), v.Label())
	}
	in, _ = run.Host{}.Inputs(p)
	if len(in) != 0 {
		t.Errorf("no host: %v", in)
	}
	in, _ = run.Host{Clock: clock}.Inputs(single(t, generative, "when: otherwise"))
	if len(in) != 0 {
		t.Errorf("invented %v", in)
	}
	if _, err := (run.Host{Settings: []run.Setting{{Path: []string{"a"}, Value: value.FromInt(1)}}, Vouch: map[string]string{"a": " "}}).Inputs(p); err == nil {
		t.Error("a blank reason vouches for nothing")
	}
	if _, err := (run.Host{Settings: []run.Setting{{}}}).Inputs(p); err == nil {
		t.Error("an empty path")
	}
}
