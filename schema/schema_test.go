package schema_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/mkl/check"
	"github.com/pinfold-dev/pinfold/mkl/yamltree"
	"github.com/pinfold-dev/pinfold/schema"
)

// noLoader refuses every reference out of a schema: the library's own loader
// opens files.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) { return nil, fmt.Errorf("no schema at %s", url) }

func compile(t testing.TB, text string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.AssertFormat()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// editor is a document as an editor sees it: YAML 1.2 by its core schema, which
// knows nothing of the position of a value.
func editor(t testing.TB, text string) any {
	t.Helper()
	n, errs := yamltree.Read([]byte(text))
	if len(errs) > 0 {
		t.Fatalf("%v\n%s", errs[0], text)
	}
	v, err := n.AsValue()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	x, bad := jsonschema.UnmarshalJSON(strings.NewReader(v.JSON()))
	if bad != nil {
		t.Fatal(bad)
	}
	return x
}

// TestExamplesOfTheCodes: what the parser takes validates, and what it refuses
// for its shape does not. The examples come from the documentation of the
// codes; those of MK1xx errors are no YAML to validate.
func TestExamplesOfTheCodes(t *testing.T) {
	s := compile(t, schema.Machine())
	valid, invalid := 0, 0
	for _, doc := range check.Codes() {
		for _, e := range []struct {
			check.Example
			refused bool
		}{{doc.Triggers, doc.Severity == mkl.Error && doc.Code < "MK3"}, {doc.Quiet, false}} {
			if e.Missing || e.refused && doc.Code < "MK2" {
				continue
			}
			err := s.Validate(editor(t, e.Source))
			switch {
			case e.refused && err == nil:
				t.Errorf("the schema takes what %s refuses:\n%s", doc.Code, e.Source)
			case !e.refused && err != nil:
				t.Errorf("the schema refuses what the parser takes: %v\n%s", err, e.Source)
			}
			if e.refused {
				invalid++
			} else {
				valid++
			}
		}
	}
	if valid < 80 || invalid != 11 {
		t.Errorf("%d documents that are valid and %d that are not: want 80 and one for each of the 11 MK2xx", valid, invalid)
	}
}

const base = `machine: m
entry: a
budget: 4
states:
  a:
    %s
    output: o
    gates:
      - { when: otherwise, %s }
`

// shapes are the mappings of a machine, each with a document that holds one
// more key in it.
var shapes = []struct {
	name, at string // at leads to the properties in the schema
	source   func(entry string) string
}{
	{"machine", "properties", func(e string) string { return e + "\n" + fmt.Sprintf(base, generative, "then: ok, to: END") }},
	{"generative", "$defs/generative/properties", func(e string) string { return fmt.Sprintf(base, generative+"\n    "+e, "then: ok, to: END") }},
	{"call", "$defs/call/properties", func(e string) string { return fmt.Sprintf(base, "call: other\n    "+e, "then: ok, to: END") }},
	{"tool", "$defs/tool/properties", func(e string) string { return fmt.Sprintf(base, "tool: calc\n    "+e, "then: ok, to: END") }},
	{"ok", "$defs/gate/oneOf/0/properties", func(e string) string { return fmt.Sprintf(base, generative, "then: ok, to: END, "+e) }},
	{"repair", "$defs/gate/oneOf/1/properties", func(e string) string { return fmt.Sprintf(base, generative, "repair: 1, to: END, "+e) }},
	{"escalate", "$defs/gate/oneOf/2/properties", func(e string) string { return fmt.Sprintf(base, generative, "escalate: true, to: END, "+e) }},
	{"fail", "$defs/gate/oneOf/3/properties", func(e string) string { return fmt.Sprintf(base, generative, "fail: true, "+e) }},
	{"declaration", "$defs/declarations/items/properties", func(e string) string {
		return "tools: [{ name: t, " + e + " }]\n" + fmt.Sprintf(base, generative, "then: ok, to: END")
	}},
}

const generative = "structure: s\n    prompt: p"

// values are one of each type that a key may want.
var values = []string{"text", "5", "true", "[]", "{}", "[{ name: n }]", "fast", "list", "ok", "a.b", "{ k: { l: [1] } }"}

// keys are all that the schema knows in any place.
func keys(t *testing.T) (all []string, at map[string]map[string]any) {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal([]byte(schema.Machine()), &root); err != nil {
		t.Fatal(err)
	}
	at = make(map[string]map[string]any)
	for _, s := range shapes {
		var x any = root
		for _, step := range strings.Split(s.at, "/") {
			switch y := x.(type) {
			case map[string]any:
				x = y[step]
			case []any:
				x = y[step[0]-'0']
			}
		}
		properties, ok := x.(map[string]any)
		if !ok {
			t.Fatalf("no properties at %s", s.at)
		}
		at[s.name] = properties
		for k := range properties {
			all = append(all, k)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), at
}

// TestKeysAreTheParsers tries every key that the schema knows in every mapping
// of a machine, with a value of every type: schema and parser take it in the
// same places, with the same values.
func TestKeysAreTheParsers(t *testing.T) {
	s := compile(t, schema.Machine())
	all, at := keys(t)
	tried := 0
	for _, shape := range shapes {
		for _, key := range append(all, "unheard_of") {
			known := false
			for _, v := range values {
				source := shape.source(key + ": " + v)
				m, ds := mkl.Parse(mkl.Source{Text: []byte(source)}, mkl.Strict)
				if has(ds, "MK106") { // the document has this key already
					known = true
					continue
				}
				known = known || !has(ds, "MK202") && !has(ds, "MK206")
				if err := s.Validate(editor(t, source)); (err == nil) != (m != nil) {
					t.Errorf("the parser says %v, the schema %v:\n%s", ds, err, source)
				}
				tried++
			}
			// A key of another policy is known to the parser, which says more
			// than that it is unknown.
			if _, ok := at[shape.name][key]; ok && !known {
				t.Errorf("%s: the schema knows %s, the parser does not", shape.name, key)
			}
		}
	}
	if tried < 2000 {
		t.Errorf("tried %d documents", tried)
	}
}

func has(ds []mkl.Diagnostic, code string) bool {
	return slices.ContainsFunc(ds, func(d mkl.Diagnostic) bool { return d.Code == code })
}

// TestKeysOfTheParser: the parser names the keys it knows when one is not; the
// schema has them all. The lists here are LANGUAGE.md §2, written once more.
func TestKeysOfTheParser(t *testing.T) {
	common := []string{"sample", "over", "accumulate", "max_visits", "output", "gates"}
	want := map[string][]string{
		"machine":     {"machine", "entry", "budget", "states", "mklang", "default_tier", "result", "context", "tools", "hooks"},
		"generative":  append([]string{"prompt", "structure", "execution", "tier", "reason", "parse"}, common...),
		"call":        append([]string{"call", "tier", "input"}, common...),
		"tool":        append([]string{"tool", "input"}, common...),
		"ok":          {"when", "hook", "then", "to"},
		"repair":      {"when", "hook", "repair", "to"},
		"escalate":    {"when", "hook", "escalate", "to", "ask", "reply_to"},
		"fail":        {"when", "hook", "fail"},
		"declaration": {"name", "description"},
	}
	_, at := keys(t)
	for name, properties := range at {
		var got []string
		for k := range properties {
			got = append(got, k)
		}
		slices.Sort(got)
		slices.Sort(want[name])
		if !slices.Equal(got, want[name]) {
			t.Errorf("%s: got %v, want %v", name, got, want[name])
		}
	}
}

// TestPositions: what a scalar means depends on where it stands, and an editor
// that does not know that must not complain.
func TestPositions(t *testing.T) {
	s := compile(t, schema.Machine())
	for _, c := range []struct {
		entry string
		valid bool
	}{
		{"reason: yes", true}, {"reason: Off", true}, {"reason: oN", false}, {"reason: 1", false}, {"reason: \"true\"", false},
		{"max_visits: 3.0", true}, {"max_visits: 0x10", true}, {"max_visits: 3.5", false}, {"max_visits: 0", false}, {"max_visits: many", false},
		{"execution: 0.4", true}, {"execution: true", true}, {"execution: 2024-01-02", true}, {"execution:", false}, {"execution: []", false},
		{"tier: fast", true}, {"tier: Fast", false}, {"tier:", false},
		{"sample: 2", true}, {"sample: 1", false},
	} {
		source := shapes[1].source(c.entry)
		m, ds := mkl.Parse(mkl.Source{Text: []byte(source)}, mkl.Strict)
		if (m != nil) != c.valid {
			t.Errorf("%s: the parser says %v", c.entry, ds)
		}
		if c.entry == "reason: \"true\"" {
			continue // quotes are gone when a schema sees it
		}
		if err := s.Validate(editor(t, source)); (err == nil) != c.valid {
			t.Errorf("%s: the schema says %v", c.entry, err)
		}
	}
}

func TestScenarios(t *testing.T) {
	s := compile(t, schema.Scenarios())
	const expect = "expect: { status: done }"
	one := func(lines ...string) string {
		return "scenarios:\n  - " + strings.Join(append(lines, expect), "\n    ") + "\n"
	}
	for _, c := range []struct {
		source string
		valid  bool
	}{
		{one("name: n", "description: d"), true},
		{one("name: 1"), true},
		{one("names: n"), false},
		{one("machine: {}"), false}, // of a conformance case
		{"scenarios: []\n", false},
		{"scenarios:\n", false},
		{"scenario: []\n", false},
		{"scenarios:\n  - name: n\n", false}, // nothing is expected
		{"scenarios:\n  - expect: {}\n", false},
		{"scenarios:\n  - expect: { state: done }\n", false},
		{"scenarios:\n  - expect: { status: finished }\n", false},
		{"scenarios:\n  - expect: { result: null, error: null, context: { a: 1 }, trace: [{ state: a, to: null }] }\n", true},
		{"scenarios:\n  - expect: { trace: [{ stat: a }] }\n", false},
		{one("llm: { produce: [text, 1, [a], { b: c }], tokens: [1, 2], judge: [0, -1, None] }"), true},
		{one("llm: { produce: { key: text }, judge: unparseable }"), true},
		{one("llm:"), true},
		{one("llm: { produce: text }"), false},
		{one("llm: { tokens: [1] }"), false},
		{one("llm: { judge: [maybe] }"), false},
		{one("llm: { judge: [1.5] }"), false},
		{one("llm: { judges: [] }"), false},
		{one("tools: { calc: [1, { a: b }], search: { key: { a: b } } }"), true},
		{one("tools: { calc: [] }"), false},
		{one("tools: { calc: text }"), false},
		{one("hooks: { h: [yes, false] }"), true},
		{one("hooks: { h: [maybe] }"), false},
		{one("input: { a: null }", "context: { b: [1] }"), true},
		{one("input: [a]"), false},
		{one("run: { cost_budget: 0, max_workers: 1, delimit: no, on_untrusted_flow: halt, on_truncate: report, prompt_value_chars: -1 }"), true},
		{one("run: { tool_effects: { calc: read, post: { class: effect, sensitive: [to], egress: false } }, tier_params: { fast: { seed: 1 } } }"), true},
		{one("run: { trusted_keys: [a] }"), true},
		{one("run: { trusted_keys: { a: the clock } }"), true},
		{one("run: { on_untrusted_flow: hatl }"), false},
		{one("run: { on_truncate: ask }"), false},
		{one("run: { tool_effects: { calc: reads } }"), false},
		{one("run: { max_workers: 0 }"), false},
		{one("run: { model: m }"), false},
		{"case: c\nmachine: { machine: m, unheard_of: 1 }\nregistry: { other: {} }\n" + expect + "\n", true},
		{"case: c\nmachine: m\n" + expect + "\n", false},
		{"case: c\nmachine: {}\n", false},
		{"case: c\nmachine: {}\nscenarios: []\n" + expect + "\n", false},
	} {
		if err := s.Validate(editor(t, c.source)); (err == nil) != c.valid {
			t.Errorf("valid %v, want %v: %v\n%s", err == nil, c.valid, err, c.source)
		}
	}
}

// TestOwnFiles: every machine, scenario and conformance case of the repository
// validates, wherever it stands. Other files under testdata may be wrong on
// purpose.
func TestOwnFiles(t *testing.T) {
	machines, scenarios := compile(t, schema.Machine()), compile(t, schema.Scenarios())
	conformance := filepath.Join("..", "testdata", "conformance")
	cases := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if strings.HasPrefix(name, ".") && name != ".." || name == "testdata" && path != filepath.Dir(conformance) {
				return filepath.SkipDir
			}
			return nil
		}
		var s *jsonschema.Schema
		switch {
		case filepath.Dir(path) == conformance && filepath.Ext(name) == ".yaml":
			cases++
			s = scenarios
		case strings.Contains(path, "testdata"):
			return nil
		case strings.HasSuffix(name, ".test.yaml"):
			s = scenarios
		case filepath.Ext(name) == ".mkl":
			s = machines
		default:
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := s.Validate(editor(t, string(text))); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if cases == 0 {
		t.Errorf("no conformance cases in %s", conformance)
	}
}
