package schema_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/pinfold-dev/pinfold/lane"
	"github.com/pinfold-dev/pinfold/schema"
)

// asTOML is a lane file as an editor of TOML gives it to its validator.
func asTOML(t testing.TB, text string) any {
	t.Helper()
	var v map[string]any
	if err := toml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	x, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// The schema accepts what the loader accepts, and of what the loader refuses it refuses
// all but what is said below.
func TestLanesAgainstTheLoader(t *testing.T) {
	s := compile(t, schema.Lanes())
	// What a schema cannot know: which classes a file has, a float that is a whole number;
	// and what is not TOML at all.
	blind := []string{"trust_misspelt.toml", "trust_case.toml", "trust_of_ours_too.toml", "budget_float.toml"}
	syntax := []string{"key_twice.toml", "lane_twice.toml", "lane_twice_as_dots.toml", "class_twice.toml", "integer_leading_zero.toml", "integer_overflow.toml", "syntax_string.toml", "syntax_no_value.toml", "not_utf8.toml", "inline_table_extended.toml", "lane_dots_then_header.toml", "lane_inline_then_header.toml", "bom_crlf_unknown.toml"}
	broken, err := filepath.Glob("../testdata/lanes/broken/*.toml")
	if err != nil || len(broken) < 45 {
		t.Fatalf("found %d broken files, expected many (%v)", len(broken), err)
	}
	for _, path := range broken {
		name := filepath.Base(path)
		if slices.Contains(syntax, name) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(asTOML(t, string(text))); (err != nil) == slices.Contains(blind, name) {
			t.Errorf("%s: the schema says %v", name, err)
		}
	}
	for _, path := range []string{"../testdata/lanes/25.toml", "../lane/testdata/lanes.toml", "../examples/lanes-assistant/lanes.toml"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(asTOML(t, string(text))); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	head := "version = 1\n"
	stanza := "[lane.a]\ntrust = \"tool\"\nbudget = 1\n"
	for _, text := range []string{
		head + "[lane]\n", head + stanza, head + "[lane.A-b_9]\ntrust = 'owner'\nbudget.tokens = 0\norder = -1\nkeep = 'both'\nshare = 1000000\n",
		head + "[trust.owner]\nauthoritative = true\n" + stanza, head + "[trust.owner]\nauthoritative = true\norigins = []\nbanner = 'x'\n" + stanza,
		head + "[trust.x]\nauthoritative = false\nbanner = \"a\\nb\"\n" + stanza, head + "[trust]\n" + stanza,
	} {
		if _, err := lane.Declared("f", []byte(text)); err != nil {
			t.Errorf("the loader refuses %q: %v", text, err)
		}
		if err := s.Validate(asTOML(t, text)); err != nil {
			t.Errorf("the schema refuses %q: %v", text, err)
		}
	}
}

// The keys and words of the schema are those that the loader says it expects.
func TestLanesSchemaKeys(t *testing.T) {
	var s struct {
		Properties  map[string]any
		Definitions map[string]struct {
			Properties map[string]struct{ Enum []string }
		}
	}
	if err := json.Unmarshal([]byte(schema.Lanes()), &s); err != nil {
		t.Fatal(err)
	}
	expects := func(text, what string, keys []string) {
		t.Helper()
		_, err := lane.Declared("f", []byte(text))
		if err == nil {
			t.Fatalf("%q is accepted", text)
		}
		_, list, ok := strings.Cut(err.Error(), what+": expected one of ")
		list, _, _ = strings.Cut(list, "\n")
		list, _, _ = strings.Cut(list, ";")
		got := strings.Split(list, ", ")
		slices.Sort(got)
		slices.Sort(keys)
		if !ok || !slices.Equal(got, keys) {
			t.Errorf("the loader expects %v, the schema has %v", got, keys)
		}
	}
	expects("version = 1\nnone = 1\n[lane]\n", `unknown key "none"`, keysOf(s.Properties))
	expects("version = 1\n[lane.a]\ntrust = 'tool'\nbudget = 1\nnone = 1\n", `unknown key "none"`, keysOf(s.Definitions["lane"].Properties))
	expects("version = 1\n[trust.a]\nbanner = 'x'\nnone = 1\n[lane]\n", `unknown key "none"`, keysOf(s.Definitions["class"].Properties))
	expects("version = 1\n[lane.a]\ntrust = 'tool'\nbudget = 1\nkeep = 'none'\n", `keep "none"`, s.Definitions["lane"].Properties["keep"].Enum)
}

func keysOf[V any](m map[string]V) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	return all
}

// What taplo does not read (it knows up to draft 7) is not in the schema.
func TestLanesSchemaIsDraft7(t *testing.T) {
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, sub := range v {
				if slices.Contains([]string{"$defs", "unevaluatedProperties", "dependentRequired", "dependentSchemas", "prefixItems", "$dynamicRef", "minContains"}, k) {
					t.Errorf("%s/%s is newer than draft 7", path, k)
				}
				walk(path+"/"+k, sub)
			}
		case []any:
			for i, sub := range v {
				walk(fmt.Sprint(path, "/", i), sub)
			}
		}
	}
	var v any
	if err := json.Unmarshal([]byte(schema.Lanes()), &v); err != nil {
		t.Fatal(err)
	}
	if v.(map[string]any)["$schema"] != "http://json-schema.org/draft-07/schema#" {
		t.Error("not draft 7")
	}
	walk("", v)
}
