package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/analyzers/flow"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// module writes a module that needs nothing from outside and audits it.
func module(t *testing.T, conf Config, files map[string]string) *Report {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	r, err := Run(context.Background(), Options{Dir: dir, Config: conf})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if _, ok := files["go.mod"]; !ok {
		files["go.mod"] = "module example.com/app\n\ngo 1.26.0\n"
	}
	if _, ok := files["llm/llm.go"]; !ok {
		files["llm/llm.go"] = "package llm\n\nfunc System(s string) {}\nfunc User(s string)   {}\nfunc Wrap(s string) string { return \"<x>\" + s + \"</x>\" }\n"
	}
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var sinks = Config{Sinks: []SinkRule{{Func: "example.com/app/llm.System", Role: "system"}, {Func: "example.com/app/llm.User", Role: "user"}}}

const handler = `package app

import (
	"net/http"

	"example.com/app/llm"
)

func handle(w http.ResponseWriter, r *http.Request) {
	llm.System("Q: " + r.FormValue("q"))
}
`

// The example is what the project shows first: its numbers are part of it.
func TestExample(t *testing.T) {
	if testing.Short() {
		t.Skip("loads a client library")
	}
	r, err := Run(context.Background(), Options{Dir: "../examples/unfenced-billing"})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Failed) > 0 {
		t.Fatalf("not analysed: %v", r.Failed)
	}
	if got, want := r.Counts().Line(), "slots 14 · cross the boundary 9 · fenced 1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, f := range []Format{Text, Markdown} {
		var b bytes.Buffer
		if err := Write(&b, f, r); err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", "example."+string(f))
		if *update {
			if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s differs from %s (run with -update and read the difference):\n%s", f, golden, b.String())
		}
	}
}

// CASES 99: lines added above change nothing; the same line twice is new.
func TestBaseline(t *testing.T) {
	r := module(t, sinks, map[string]string{"app.go": handler})
	if len(r.Findings) != 1 {
		t.Fatalf("%d findings, want 1", len(r.Findings))
	}
	b := r.Baseline()
	open := func(src string) int {
		r := module(t, sinks, map[string]string{"app.go": src})
		r.Accept(b)
		n := 0
		for _, f := range r.Findings {
			if f.Open() {
				n++
			}
		}
		return n
	}
	if n := open(strings.Replace(handler, "func handle", strings.Repeat("// x\n", 20)+"\nfunc handle", 1)); n != 0 {
		t.Errorf("20 lines above: %d new, want 0", n)
	}
	line := "\tllm.System(\"Q: \" + r.FormValue(\"q\"))\n"
	if n := open(strings.Replace(handler, line, line+line, 1)); n != 1 {
		t.Errorf("an accepted line twice: %d new, want 1", n)
	}
	if n := open(strings.Replace(handler, "System", "User", 1)); n != 1 {
		t.Errorf("another sink: %d new, want 1", n)
	}
}

func TestSuppress(t *testing.T) {
	line := "\tllm.System(\"Q: \" + r.FormValue(\"q\"))\n"
	src := strings.Replace(handler, line, "\t// pinfold:ignore PF001 the form is behind the operator's\n\t// own login\n"+line+
		"\t// pinfold:ignore PF001\n"+line+
		"\t// pinfold:ignore PF001 nothing here\n\t_ = r\n", 1)
	r := module(t, sinks, map[string]string{"app.go": src})
	if len(r.Findings) != 2 || r.Suppressed != 1 {
		t.Fatalf("%d findings, %d suppressed, want 2 and 1", len(r.Findings), r.Suppressed)
	}
	if f := r.Findings[0]; f.Suppressed != "the form is behind the operator's own login" {
		t.Errorf("reason %q", f.Suppressed)
	}
	if len(r.Suppress) != 2 || r.Suppress[0].Wrong != "no reason" || r.Suppress[1].Wrong != "unused" {
		t.Errorf("comments with something wrong: %+v", r.Suppress)
	}
	if r.exit("unfenced") != 1 || r.exit("none") != 0 {
		t.Errorf("exit codes %d %d", r.exit("unfenced"), r.exit("none"))
	}
}

const store = `package app

import (
	"database/sql"
	"net/http"

	"example.com/app/llm"
)

func read(db *sql.DB) {
	var note, tier string
	db.QueryRow("SELECT note, tier FROM customers").Scan(&note, &tier)
	llm.System("note " + note)
	llm.System("tier " + tier)
}

func write(db *sql.DB, r *http.Request) {
	db.Exec("UPDATE customers SET note = ?, tier = 'free'", r.FormValue("note"))
}
`

// A column is its writers': declared, verified, unverified, undeclared.
func TestAuthorship(t *testing.T) {
	conf := sinks
	r := module(t, conf, map[string]string{"app.go": store})
	if c := r.Counts(); c.Slots != 2 || c.Cross != 2 {
		t.Errorf("undeclared: %s", c.Line())
	}
	conf.Authorship = map[string]string{"customers.tier": "system"}
	r = module(t, conf, map[string]string{"app.go": store})
	if c := r.Counts(); c.Cross != 1 || len(r.Findings) != 1 {
		t.Errorf("tier is ours and only constants write it: %s, %d findings", c.Line(), len(r.Findings))
	}
	conf.Authorship = map[string]string{"customers.tier": "system", "customers.note": "own"}
	r = module(t, conf, map[string]string{"app.go": store})
	if c := r.Counts(); c.Cross != 0 || len(r.Findings) != 1 || r.Findings[0].Code != "PF009" {
		t.Errorf("a declared column that a form writes: %s, %+v", c.Line(), r.Findings)
	}
	conf.Authorship = map[string]string{"customers.note": "community"}
	r = module(t, conf, map[string]string{"app.go": store})
	if c := r.Counts(); c.Cross != 2 || r.Slots[0].Declared != "community" {
		t.Errorf("an outside class: %s", c.Line())
	}
}

// A package that does not compile is reported and the rest is analysed.
func TestBroken(t *testing.T) {
	r := module(t, sinks, map[string]string{
		"app.go":              handler,
		"broken/broken.go":    "package broken\n\nfunc F() { return 1 }\n",
		"missing/m.go":        "package missing\n\nimport _ \"embed\"\n\n//go:embed nothere.txt\nvar s string\n",
		"cycle/a/a.go":        "package a\n\nimport \"example.com/app/cycle/b\"\n\nvar X = b.X\n",
		"cycle/b/b.go":        "package b\n\nimport \"example.com/app/cycle/a\"\n\nvar X = a.X\n",
		"tagged/tagged.go":    "//go:build never\n\npackage tagged\n\nfunc F() { return 1 }\n",
		"onlytests/x_test.go": "package onlytests\n",
	})
	if c := r.Counts(); c.Slots != 1 || c.Cross != 1 {
		t.Errorf("the rest: %s", c.Line())
	}
	failed := map[string]bool{}
	for _, f := range r.Failed {
		failed[strings.TrimPrefix(f.Package, "example.com/app/")] = true
	}
	for _, want := range []string{"broken", "missing"} {
		if !failed[want] {
			t.Errorf("%s is not reported: %v", want, r.Failed)
		}
	}
	if !failed["cycle/a"] && !failed["cycle/b"] {
		t.Errorf("the import cycle is not reported: %v", r.Failed)
	}
}

func TestNothing(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"app.go": "package app\n\nfunc F() { return 1 }\n"})
	os.RemoveAll(filepath.Join(dir, "llm"))
	if _, err := Run(context.Background(), Options{Dir: dir}); err == nil {
		t.Error("a module of which nothing could be analysed is no clean audit")
	}
	var out, errs bytes.Buffer
	if code := Main([]string{"-C", dir}, &out, &errs); code != 2 || errs.Len() == 0 {
		t.Errorf("exit %d, %q", code, errs.String())
	}
}

// A fence that the configuration names, and a sensitivity beside the trust.
func TestConfig(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"app.go":       strings.Replace(handler, `"Q: " + r.FormValue("q")`, `"Q: " + llm.Wrap(r.FormValue("q"))`, 1),
		"pinfold.yaml": "version: 1\naudit:\n  sinks:\n    - {func: example.com/app/llm.System, arg: 0, role: system}\n  fences: [example.com/app/llm.Wrap]\n  sensitivity: {r.FormValue*: pii}\n",
	})
	var out, errs bytes.Buffer
	if code := Main([]string{"-C", dir, "--fail-on", "unfenced", "--format", "json"}, &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	var got jsonReport
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Slots) != 1 || got.Slots[0].Fenced != "yes" || got.Slots[0].Crosses != "yes" {
		t.Fatalf("%+v", got.Slots)
	}
	if err := os.WriteFile(filepath.Join(dir, "pinfold.yaml"), []byte("audit:\n  sinkz: []\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	errs.Reset()
	if code := Main([]string{"-C", dir}, &out, &errs); code != 2 || !strings.Contains(errs.String(), "pinfold.yaml:2:3") {
		t.Errorf("a misspelt key: exit %d, %q", code, errs.String())
	}
}

// Text of the audited source is data to every format.
func TestEscaping(t *testing.T) {
	r := &Report{Module: "m", Root: "/"}
	o := &flow.Origin{Class: "user:http-request", Detail: "r.FormValue(\"<script>alert(1)</script>|`\")"}
	s := &flow.Slot{Name: "<img src=x onerror=alert(1)>|`", Origins: []*flow.Origin{o}, Sinks: []flow.Sink{{Func: "f", Role: "user"}}}
	r.Slots = []*Row{{Slot: s, N: 1, Verdict: Crosses}}
	r.findings(Config{})
	var b bytes.Buffer
	if err := Write(&b, HTML, r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "<img src=x") || strings.Contains(b.String(), "<script>alert") {
		t.Error("source text is markup in the page")
	}
	if strings.Contains(b.String(), "http://") || strings.Contains(b.String(), "https://") {
		t.Error("the page refers to something outside itself")
	}
	b.Reset()
	if err := Write(&b, Markdown, r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "<img") || strings.Contains(b.String(), ">|`") {
		t.Error("source text is markup in the table")
	}
	b.Reset()
	if err := Write(&b, SARIF, r); err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
}
