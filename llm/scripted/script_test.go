package scripted

import (
	"errors"
	"strconv"
	"testing"

	"github.com/pinfold-dev/pinfold/llm"
	"pgregory.net/rapid"
)

func texts(t *testing.T, c *Cursor, users ...string) []string {
	t.Helper()
	var got []string
	for _, u := range users {
		r, err := c.ProduceText(u)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Text)
	}
	return got
}

func equal(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func TestProduceList(t *testing.T) {
	s := Script{Texts: []string{"a", "b"}, Input: 3, Output: 5}
	c := s.Cursor()
	fork := c
	equal(t, texts(t, &c, "", "", "", ""), "a", "b", "ok", "ok")
	equal(t, texts(t, &fork, ""), "a") // a copy is a run of its own
	again := s.Cursor()
	r, err := again.ProduceText("")
	if err != nil || r.Usage.Input != 3 || r.Usage.Output != 5 || r.Usage.Estimated {
		t.Errorf("%+v, %v", r, err)
	}
	var empty Script
	c = empty.Cursor()
	equal(t, texts(t, &c, "", ""), "ok", "ok")
}

func TestProduceMap(t *testing.T) {
	s := Script{Keyed: true, Matches: []Match{{"<data-", "fenced"}, {"plain", "bare"}, {"<data-x", "never"}}}
	c := s.Cursor()
	if !c.NeedsUser() {
		t.Error("a map reads the message")
	}
	equal(t, texts(t, &c, "plain <data-x", "plain", "plain"), "fenced", "bare", "bare")
	_, err := c.ProduceText("nothing of it")
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.KindScript || e.Error() != "no scripted text matches the prompt" {
		t.Errorf("got %v", err)
	}
	none := Script{Keyed: true}
	c = none.Cursor()
	if _, err := c.ProduceText("x"); err == nil {
		t.Error("an empty map matched")
	}
}

func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		s    Script
		n    int
		want []string
	}{
		"omitted: the last condition":          {Script{}, 3, []string{`{"choice": 3}`, `{"choice": 3}`}},
		"in order, the last repeats":           {Script{Verdicts: []Verdict{Index(1), Index(0)}}, 2, []string{`{"choice": 2}`, `{"choice": 1}`, `{"choice": 1}`}},
		"none":                                 {Script{Verdicts: []Verdict{None()}}, 2, []string{`{"choice": 3}`, `{"choice": 3}`}},
		"the number of conditions is not none": {Script{Verdicts: []Verdict{Index(2)}}, 2, []string{outOfRange}},
		"too large":                            {Script{Verdicts: []Verdict{Index(9), Index(1)}}, 2, []string{outOfRange, `{"choice": 2}`}},
		"negative":                             {Script{Verdicts: []Verdict{Index(-1)}}, 2, []string{outOfRange}},
		"unparseable":                          {Script{Unparseable: true, Verdicts: []Verdict{Index(0)}}, 2, []string{unparseable, unparseable}},
		"many":                                 {Script{Verdicts: []Verdict{Index(8), Index(9), None()}}, 11, []string{`{"choice": 9}`, `{"choice": 10}`, `{"choice": 12}`}},
	} {
		cur := c.s.Cursor()
		var got []string
		for range c.want {
			r := cur.JudgeN(c.n)
			if r.Usage.Input != 0 || r.Usage.Output != 0 {
				t.Errorf("%s: judge calls report nothing", name)
			}
			got = append(got, r.Text)
		}
		t.Run(name, func(t *testing.T) { equal(t, got, c.want...) })
	}
}

// The replies without a verdict hold no digit: no reading finds a number there.
func TestNoVerdictHoldsNoDigit(t *testing.T) {
	for _, s := range []string{unparseable, outOfRange} {
		for i := range len(s) {
			if '0' <= s[i] && s[i] <= '9' {
				t.Errorf("%q", s)
			}
		}
	}
}

func TestParseVerdict(t *testing.T) {
	for _, w := range []string{"none", "None", "NONE"} {
		if v, ok := ParseVerdict(w); !ok || v != None() {
			t.Error(w)
		}
	}
	for _, w := range []string{"", "no", "unparseable", "1", " none"} {
		if _, ok := ParseVerdict(w); ok {
			t.Error(w)
		}
	}
}

func TestTailKeepsTheLastNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 5000).Draw(t, "n")
		message := rapid.String().Draw(t, "before") + "\nAnswer with {\"choice\": k}, k from 1 to " + strconv.Itoa(n) + "."
		if rapid.Bool().Draw(t, "newline") {
			message += "\n"
		}
		var tl tail
		for rest := message; rest != ""; { // in pieces of any size
			k := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if rapid.Bool().Draw(t, "bytes") {
				_, _ = tl.Write([]byte(rest[:k]))
			} else {
				_, _ = tl.WriteString(rest[:k])
			}
			rest = rest[k:]
		}
		if got, ok := tl.lastNumber(); !ok || got != n {
			t.Fatalf("%d, %v; want %d", got, ok, n)
		}
	})
	for _, s := range []string{"", "no number", "5\nno number", "1234567"} {
		var tl tail
		_, _ = tl.WriteString(s)
		if got, ok := tl.lastNumber(); ok {
			t.Errorf("%q: %d", s, got)
		}
	}
}

func BenchmarkProduceText(b *testing.B) {
	s := Script{Texts: []string{"a", "b", "c"}}
	b.ReportAllocs()
	c := s.Cursor()
	for b.Loop() {
		if _, err := c.ProduceText(""); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJudgeN(b *testing.B) {
	s := Script{Verdicts: []Verdict{None()}}
	b.ReportAllocs()
	c := s.Cursor()
	for b.Loop() {
		if r := c.JudgeN(2); r.Text != `{"choice": 3}` {
			b.Fatal(r.Text)
		}
	}
}
