package check_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/mkl/check"
)

// edge is a gate of a generated machine.
type edge struct {
	from, to int // -1 is END, -2 is nowhere (fail)
	by       string
}

// graph draws a machine of tool states, all effectful, and its edges.
func graph(t *rapid.T) (source string, n, budget int, edges []edge) {
	n = rapid.IntRange(1, 7).Draw(t, "states")
	budget = rapid.IntRange(1, 9).Draw(t, "budget")
	var states strings.Builder
	for i := range n {
		var gates []string
		for range rapid.IntRange(1, 4).Draw(t, "gates") {
			e := edge{from: i, to: rapid.IntRange(-2, n-1).Draw(t, "to"), by: rapid.SampledFrom([]string{"judge", "hook", "default"}).Draw(t, "by")}
			edges = append(edges, e)
			when := map[string]string{"judge": "x", "hook": "x, hook: h", "default": "Otherwise"}[e.by]
			to := "END"
			if e.to >= 0 {
				to = fmt.Sprintf("s%d", e.to)
			}
			policy := rapid.SampledFrom([]string{"then: ok", "repair: 2", "escalate: true"}).Draw(t, "policy")
			if e.to == -2 {
				gates = append(gates, fmt.Sprintf("{ when: %s, fail: true }", when))
			} else {
				gates = append(gates, fmt.Sprintf("{ when: %s, %s, to: %s }", when, policy, to))
			}
		}
		fmt.Fprintf(&states, "  s%d: { tool: act, output: s%d, gates: [%s] }\n", i, i, strings.Join(gates, ", "))
	}
	return strings.Replace(machine(budget, states.String()), "entry: a", "entry: s0", 1), n, budget, edges
}

// TestPathsAreShortest holds reachability and budgets against relaxing every
// edge until nothing changes.
func TestPathsAreShortest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source, n, budget, edges := graph(t)
		const far = 1 << 20
		distance := slices.Repeat([]int{far}, n)
		distance[0] = 1
		for range n {
			for _, e := range edges {
				if e.to >= 0 {
					distance[e.to] = min(distance[e.to], distance[e.from]+1)
				}
			}
		}
		shortest := far
		for _, e := range edges {
			if e.to == -1 {
				shortest = min(shortest, distance[e.from])
			}
		}
		want := map[string]bool{
			"MK304": shortest == far,
			"MK305": shortest < far && budget < shortest,
			"MK306": shortest < far && budget >= shortest && budget < shortest+2,
		}
		for i := range n {
			want[fmt.Sprintf("MK307 s%d", i)] = distance[i] >= far
		}
		got := map[string]bool{}
		for _, d := range check.File(own("", source), check.Options{}).Diagnostics {
			if d.Code == "MK307" {
				got["MK307 "+d.State] = true
			}
			got[d.Code] = true
		}
		for what, should := range want {
			if got[what] != should {
				t.Fatalf("%s: %v, want %v\n%s", what, got[what], should, source)
			}
		}
	})
}

// TestFlowIsTheFixedPoint holds the static flow rule against its words.
func TestFlowIsTheFixedPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source, n, _, edges := graph(t)
		judge := make([]bool, n)
		for _, e := range edges {
			judge[e.from] = judge[e.from] || e.by == "judge"
		}
		judged := make([]bool, n)
		for range n + 1 {
			for _, e := range edges {
				if e.to >= 0 && (e.by == "judge" || e.by == "default" && (judge[e.from] || judged[e.from])) {
					judged[e.to] = true
				}
			}
		}
		got := make([]bool, n)
		for _, d := range check.File(own("", source), check.Options{Lint: true}).Diagnostics {
			if d.Code == "MK408" {
				var i int
				if _, err := fmt.Sscanf(d.State, "s%d", &i); err != nil {
					t.Fatal(err)
				}
				got[i] = true
			}
		}
		if !slices.Equal(got, judged) {
			t.Fatalf("got %v, want %v\n%s", got, judged, source)
		}
	})
}

// orderly holds for every report: sorted by line, MK307 among itself by id,
// each with what a surface shows, and the same when asked again.
func orderly(t interface {
	Fatalf(string, ...any)
	Helper()
}, src mkl.Source, o check.Options) {
	t.Helper()
	r := check.File(src, o)
	line, unreachable := 0, ""
	for _, d := range r.Diagnostics {
		if d.Code == "MK307" {
			if d.State < unreachable {
				t.Fatalf("%s stands after %s", d.State, unreachable)
			}
			unreachable = d.State
		} else if d.Line < line {
			t.Fatalf("line %d stands after line %d", d.Line, line)
		} else {
			line = d.Line
		}
		doc, ok := check.Doc(d.Code)
		if !ok || d.Message == "" || d.File != src.Name {
			t.Fatalf("%+v", d)
		}
		if doc.Severity != d.Severity {
			t.Fatalf("%s has severity %d", d, d.Severity)
		}
		if structural := d.Code < "MK3" && d.Severity == mkl.Error; structural != (r.Machine == nil) && structural {
			t.Fatalf("%s and yet a machine", d)
		} else if d.Code >= "MK3" && r.Machine == nil {
			t.Fatalf("%s about no machine", d)
		}
	}
	if again := check.File(src, o); !reflect.DeepEqual(again.Diagnostics, r.Diagnostics) {
		t.Fatalf("asked twice:\n%v\n%v", r.Diagnostics, again.Diagnostics)
	}
}

// TestAnyMachine builds machines out of odd parts.
func TestAnyMachine(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "END", "item", "index", "human", "q", "map", "x.y", "", "ä", "\n"})
	texts := rapid.SampledFrom([]string{"", "{{a}}", "{{item}} {{index}}", "{{map.x}}", "{{.}}", "{{a-b}}", "{{", "otherwise", " OTHERWISE ", "p"})
	hooks := rapid.SampledFrom([]string{"h", "eq:a:True", "neq:x.y:", "eq:", ":a,b.", "eq::", ""})
	quote := func(s string) string { return fmt.Sprintf("%q", s) }
	shelf := shelfOf(t, []string{named("m2", machine(9, calls("a", "m", "END"))), named("bad", machine(0, ""))})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		fmt.Fprintf(&b, "machine: m\nentry: %s\nbudget: %d\nresult: %s\ncontext: { q: 1, map: { k: v }, list: [] }\nstates:\n",
			quote(names.Draw(t, "entry")), rapid.IntRange(1, 5).Draw(t, "budget"), quote(names.Draw(t, "result")))
		for _, id := range rapid.SliceOfNDistinct(names, 1, 4, rapid.ID).Draw(t, "ids") {
			fmt.Fprintf(&b, "  %s:\n    output: %s\n", quote(id), quote(names.Draw(t, "output")))
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				fmt.Fprintf(&b, "    structure: %s\n    prompt: %s\n", quote(texts.Draw(t, "structure")), quote(texts.Draw(t, "prompt")))
			case 1:
				fmt.Fprintf(&b, "    call: %s\n    input: { a: %s, b: [%s] }\n", rapid.SampledFrom([]string{"m", "m2", "bad", "none"}).Draw(t, "call"), quote(texts.Draw(t, "a")), quote(texts.Draw(t, "b")))
			case 2:
				fmt.Fprintf(&b, "    tool: %s\n    input: { to: %s }\n", rapid.SampledFrom([]string{"calc", "send_reply", "other"}).Draw(t, "tool"), quote(texts.Draw(t, "to")))
			}
			switch rapid.IntRange(0, 2).Draw(t, "fan") {
			case 0:
				fmt.Fprintf(&b, "    over: %s\n", quote(texts.Draw(t, "over")))
			case 1:
				b.WriteString("    sample: 2\n    max_visits: 2\n")
			}
			b.WriteString("    gates:\n")
			for range rapid.IntRange(1, 3).Draw(t, "gates") {
				hook := ""
				if rapid.Bool().Draw(t, "hooked") {
					hook = ", hook: " + quote(hooks.Draw(t, "hook"))
				}
				policy := rapid.SampledFrom([]string{"then: ok", "repair: 3", "escalate: true, reply_to: x.y", "fail: true"}).Draw(t, "policy")
				if policy != "fail: true" {
					policy += ", to: " + quote(names.Draw(t, "to"))
				}
				fmt.Fprintf(&b, "      - { when: %s%s, %s }\n", quote(texts.Draw(t, "when")), hook, policy)
			}
		}
		src := own("m.mkl", b.String())
		if r := check.File(src, check.Options{}); r.Machine == nil {
			t.Fatalf("the generator writes what is no machine: %v\n%s", r.Errors(), src.Text)
		}
		orderly(t, src, check.Options{Lint: true, Registry: shelf, Strict: true})
		orderly(t, src, check.Options{Lint: true})
	})
}

// seeds are the example documents of the codes.
func seeds() []string {
	var texts []string
	for _, doc := range check.Codes() {
		for _, e := range []check.Example{doc.Triggers, doc.Quiet} {
			if !e.Missing {
				texts = append(texts, e.Source)
			}
		}
	}
	return texts
}

func TestSeeds(t *testing.T) {
	if n := len(seeds()); n < 100 {
		t.Errorf("%d seeds, want 100", n)
	}
}

func FuzzFile(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		orderly(t, mkl.Source{Name: "f.mkl", Text: text, Authorship: mkl.AuthorshipOperator}, check.Options{Lint: true})
	})
}
