package builtin

import (
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
	"pgregory.net/rapid"
)

type keys map[string]value.Value

func (k keys) Get(key string) (trust.Value, bool) {
	v, ok := k[key]
	return trust.NewValue(v), ok
}

func js(t testing.TB, s string) value.Value {
	t.Helper()
	v, err := value.ParseJSON([]byte(s))
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return v
}

func board1(t testing.TB, s string) keys {
	t.Helper()
	v := js(t, s)
	k := keys{}
	for i := range v.Len() {
		k[v.Key(i)] = v.At(i)
	}
	return k
}

func TestNamed(t *testing.T) {
	for _, c := range []struct {
		hook, board, output string
		want                bool
	}{
		{"always_true", `{}`, `null`, true},
		{"always_false", `{}`, `null`, false},

		{"amount_le_100", `{"amount": 100}`, `null`, true},
		{"amount_le_100", `{"amount": 101}`, `null`, false},
		{"amount_le_100", `{"amount": 100.0}`, `null`, true},
		{"amount_le_100", `{"amount": 100.00000000000001}`, `null`, false}, // the next float
		{"amount_le_100", `{"amount": -1e300}`, `null`, true},
		{"amount_le_100", `{"amount": 100000000000000000000000000000}`, `null`, false},
		{"amount_le_100", `{"amount": -100000000000000000000000000000}`, `null`, true},
		{"amount_le_100", `{"amount": "100"}`, `null`, true},
		{"amount_le_100", `{"amount": " 99.5\n"}`, `null`, true},
		{"amount_le_100", `{"amount": "1e2"}`, `null`, true},
		{"amount_le_100", `{"amount": "100.000000000000000000001"}`, `null`, false}, // its nearest float is 100
		{"amount_le_100", `{"amount": "100.000000000000000000000"}`, `null`, true},
		{"amount_le_100", `{"amount": "0.00000000000000000001e22"}`, `null`, true},
		{"amount_le_100", `{"amount": "+5"}`, `null`, true},
		{"amount_le_100", `{"amount": ".5"}`, `null`, true},
		{"amount_le_100", `{"amount": "5."}`, `null`, true},
		{"amount_le_100", `{"amount": "-1e999"}`, `null`, false}, // no number of the language
		{"amount_le_100", `{"amount": "nan"}`, `null`, false},
		{"amount_le_100", `{"amount": "-inf"}`, `null`, false},
		{"amount_le_100", `{"amount": "0x10"}`, `null`, false},
		{"amount_le_100", `{"amount": "1_0"}`, `null`, false},
		{"amount_le_100", `{"amount": "5 EUR"}`, `null`, false},
		{"amount_le_100", `{"amount": "."}`, `null`, false},
		{"amount_le_100", `{"amount": "1e"}`, `null`, false},
		{"amount_le_100", `{"amount": ""}`, `null`, false},
		{"amount_le_100", `{"amount": true}`, `null`, false},
		{"amount_le_100", `{"amount": null}`, `null`, false},
		{"amount_le_100", `{"amount": [1]}`, `null`, false},
		{"amount_le_100", `{}`, `null`, false},
		{"amount_le_100", `{"amount": "` + strings.Repeat("0", maxNumeral) + `1"}`, `null`, false}, // too long to compare

		{"has_receipt", `{"has_receipt": true}`, `null`, true},
		{"has_receipt", `{"has_receipt": "false"}`, `null`, true},
		{"has_receipt", `{"has_receipt": false}`, `null`, false},
		{"has_receipt", `{"has_receipt": 0}`, `null`, false},
		{"has_receipt", `{"has_receipt": ""}`, `null`, false},
		{"has_receipt", `{}`, `null`, false},

		{"auto_approve_ok", `{"amount": 5, "has_receipt": true}`, `null`, true},
		{"auto_approve_ok", `{"amount": 500, "has_receipt": true}`, `null`, false},
		{"auto_approve_ok", `{"amount": 5, "has_receipt": false}`, `null`, false},
		{"auto_approve_ok", `{"amount": true, "has_receipt": true}`, `null`, false},

		{"write_failed", `{}`, `{"error": "no"}`, true},
		{"write_failed", `{}`, `{"error": false}`, true}, // not null
		{"write_failed", `{}`, `{"error": null, "written": true}`, false},
		{"write_failed", `{}`, `{"error": null, "written": false}`, true},
		{"write_failed", `{}`, `{"written": 0}`, false}, // exactly false
		{"write_failed", `{}`, `{}`, false},
		{"write_failed", `{}`, `"{\"error\": \"no\"}"`, true},
		{"write_failed", `{}`, `" {\"written\": false}\n"`, true},
		{"write_failed", `{}`, `"{\"written\": false} "`, true},
		{"write_failed", `{}`, `"{\"written\": false, \"written\": true}"`, false}, // no JSON text of the language
		{"write_failed", `{}`, `"written: false"`, false},
		{"write_failed", `{}`, `[{"error": "no"}]`, false},
		{"write_failed", `{}`, `null`, false},

		{"console_workspace_ready", `{}`, `null`, true},
		{"console_workspace_ready", `{"workspace_required": false}`, `null`, true},
		{"console_workspace_ready", `{"workspace_required": true}`, `null`, false},
		{"console_workspace_ready", `{"workspace_required": true, "workspace_brief": "b", "observation": []}`, `null`, false},
		{"console_workspace_ready", `{"workspace_required": true, "workspace_brief": "b", "observation": ["x", "{\"tool\": \"calc\"}", "{\"tool\": \"read_workspace_file\"}"]}`, `null`, true},
		{"console_workspace_ready", `{"workspace_required": true, "workspace_brief": "b", "observation": ["{\"tool\": \"list_workspace\"}"]}`, `null`, true},
		{"console_workspace_ready", `{"workspace_required": true, "workspace_brief": "b", "observation": ["{\"tool\": \"search_workspace\"}"]}`, `null`, true},
		{"console_workspace_ready", `{"workspace_required": true, "workspace_brief": "", "observation": ["{\"tool\": \"list_workspace\"}"]}`, `null`, false},
		{"console_workspace_ready", `{"workspace_required": true, "workspace_brief": "b", "observation": "{\"tool\": \"list_workspace\"}"}`, `null`, false},
		{"console_workspace_ready", `{"workspace_required": true, "workspace_brief": "b", "observation": ["{\"tool\": \"calc\"}"]}`, `null`, false},
	} {
		p, ok := named(c.hook)
		if !ok {
			t.Fatalf("no hook %s", c.hook)
		}
		if got := p(board1(t, c.board), js(t, c.output)); got != c.want {
			t.Errorf("%s over %s, output %s: %v", c.hook, c.board, c.output, got)
		}
	}
}

func TestNamesAreAllOfThem(t *testing.T) {
	for _, n := range Names() {
		if _, ok := named(n); !ok {
			t.Errorf("%s is listed and does not resolve", n)
		}
	}
	if len(Names()) != 7 {
		t.Errorf("%d names", len(Names()))
	}
}

func TestParametric(t *testing.T) {
	for _, c := range []struct {
		hook, board string
		want        bool
	}{
		{"eq:k:full", `{"k": "full"}`, true},
		{"eq:k:full", `{"k": " full\n"}`, true},
		{"eq:k: full ", `{"k": "full"}`, true},
		{"eq:k:full", `{"k": "Full"}`, false}, // exact
		{"eq:k:full", `{"k": "fully"}`, false},
		{"neq:k:full", `{"k": "full"}`, false},
		{"neq:k:full", `{"k": "half"}`, true},
		{"eq:k:true", `{"k": true}`, true},
		{"eq:k:True", `{"k": true}`, true},
		{"eq:k:TRUE", `{"k": true}`, false},
		{"eq:k:1", `{"k": true}`, false},
		{"neq:k:True", `{"k": true}`, false},
		{"neq:k:False", `{"k": false}`, false},
		{"neq:k:None", `{"k": null}`, false},
		{"eq:k:false", `{"k": false}`, true},
		{"eq:k:null", `{"k": null}`, true},
		{"eq:k:None", `{"k": null}`, true},
		{"eq:k:", `{"k": null}`, false}, // the text of null is not empty
		{"eq:k:", `{"k": ""}`, true},
		{"eq:k:", `{"k": "  "}`, true},
		{"eq:k:", `{}`, true},
		{"neq:k:x", `{}`, true},
		{"eq:k:1.0", `{"k": 1.0}`, true},
		{"eq:k:1", `{"k": 1.0}`, false},
		{"eq:k:1", `{"k": 1}`, true},
		{"eq:k:1", `{"k": "1"}`, true},
		{`eq:k:["x"]`, `{"k": ["x"]}`, true},
		{`eq:k:["x", 1]`, `{"k": ["x", 1]}`, true},
		{`eq:k:["x",1]`, `{"k": ["x", 1]}`, false}, // the text of §1 has a space
		{`eq:k:x`, `{"k": ["x"]}`, false},
		{`eq:k:{"a": 1}`, `{"k": {"a": 1}}`, true},
		{"eq:k:a:b", `{"k": "a:b"}`, true}, // VALUE keeps its colons
		{"eq:a.b:x", `{"a": {"b": "x"}}`, true},
		{"eq:a.b:x", `{"a.b": "x", "a": {"b": "y"}}`, true}, // the key of that name first
		{"eq:a.b:y", `{"a.b": "x", "a": {"b": "y"}}`, false},
		{"eq:a.b:", `{"a": "text"}`, true}, // a step through anything but a map is missing
		{"eq:a.0:x", `{"a": ["x"]}`, false},
		{"eq:a..b:x", `{"a": {"": {"b": "x"}}}`, false}, // an empty segment is missing
		{"eq:.a:x", `{"": {"a": "x"}}`, false},
		{"eq:é:ü", `{"é": "ü"}`, true},
	} {
		p, ok := parse(c.hook)
		if !ok {
			t.Fatalf("%s is not parametric", c.hook)
		}
		if got := p.equal(board1(t, c.board)) != p.negate; got != c.want {
			t.Errorf("%s over %s: %v", c.hook, c.board, got)
		}
	}
	for _, name := range []string{"", "eq", "eq:", "eq:k", "neq:k", "eq::v", "EQ:k:v", "Neq:k:v", " eq:k:v", "ne:k:v"} {
		if _, ok := parse(name); ok {
			t.Errorf("%q is read as parametric", name)
		}
	}
}

func TestIsParametricNamesWhatIsRead(t *testing.T) {
	path, root, ok := IsParametric("neq:a.b.c:x")
	if !ok || path != "a.b.c" || root != "a" {
		t.Error(path, root, ok)
	}
	if _, _, ok := IsParametric("always_true"); ok {
		t.Error("a name is no comparison")
	}
}

// For any value, neq is the negation of eq, and eq holds for the value's own text.
func TestEqHoldsForTheValuesOwnText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(
			rapid.Map(rapid.String(), value.FromString),
			rapid.Map(rapid.Int64(), value.FromInt),
			rapid.Map(rapid.Bool(), value.FromBool),
			rapid.Map(rapid.SliceOf(rapid.String()), func(s []string) value.Value {
				var l []value.Value
				for _, x := range s {
					l = append(l, value.FromString(x))
				}
				return value.FromList(l...)
			}),
		).Draw(t, "v")
		text, isText := v.AsString()
		if !isText {
			text = v.JSON()
		}
		b := keys{"k": v}
		eq, ok := parse("eq:k:" + text)
		if !ok || !eq.equal(b) {
			t.Fatalf("eq with its own text does not hold for %s", v.JSON())
		}
		other := rapid.String().Draw(t, "other")
		e, _ := parse("eq:k:" + other)
		n, _ := parse("neq:k:" + other)
		if e.equal(b) == (n.equal(b) != n.negate) {
			t.Fatalf("eq and neq agree about %q", other)
		}
	})
}

func BenchmarkParametric(b *testing.B) {
	bd := keys{"a": value.FromEntries(value.Entry{Key: "b", Value: value.FromString("safe")})}
	c, _ := parse("eq:a.b:safe")
	b.ReportAllocs()
	for b.Loop() {
		if !c.equal(bd) {
			b.Fatal("not equal")
		}
	}
}
