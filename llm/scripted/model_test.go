package scripted_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/llm"
	"github.com/pinfold-dev/pinfold/llm/llmtest"
	"github.com/pinfold-dev/pinfold/llm/scripted"
	"github.com/pinfold-dev/pinfold/trust"
)

func prompt(t testing.TB, judge bool) fence.Rendered {
	t.Helper()
	p, err := llmtest.Prompt(judge)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestModel(t *testing.T) {
	m := scripted.New(&scripted.Script{
		Keyed: true, Matches: []scripted.Match{{Key: "<data-", Text: "fenced"}, {Key: "Summarise", Text: "bare"}},
		Verdicts: []scripted.Verdict{scripted.Index(1), scripted.None(), scripted.Index(2)},
	})
	r, err := m.Produce(t.Context(), prompt(t, false), llm.Options{Reason: true})
	if err != nil || r.Text != "fenced" || r.Reasoning != "thought" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = m.Produce(t.Context(), prompt(t, false), llm.Options{}); err != nil || r.Reasoning != "" {
		t.Errorf("%+v, %v", r, err)
	}
	for _, want := range []string{`{"choice": 2}`, `{"choice": 3}`, "the script's index is out of range", "the script's index is out of range"} {
		if r, err := m.Judge(t.Context(), prompt(t, true), llm.Options{}); err != nil || r.Text != want {
			t.Errorf("%+v, %v; want %s", r, err, want)
		}
	}
}

func kind(err error) string {
	var e *llm.Error
	if !errors.As(err, &e) {
		return fmt.Sprint(err)
	}
	return e.Kind.String()
}

func TestModelFails(t *testing.T) {
	m := scripted.New(&scripted.Script{Keyed: true})
	if _, err := m.Produce(t.Context(), prompt(t, false), llm.Options{}); kind(err) != "script" {
		t.Error(err)
	}
	// A prompt that is no judge call does not say how many conditions there are.
	if _, err := m.Judge(t.Context(), prompt(t, false), llm.Options{}); kind(err) != "script" {
		t.Error(err)
	}
	if _, err := m.Judge(t.Context(), fence.Rendered{}, llm.Options{}); kind(err) != "script" {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Produce(ctx, prompt(t, false), llm.Options{}); kind(err) != "cancelled" || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := m.Judge(ctx, prompt(t, true), llm.Options{}); kind(err) != "cancelled" {
		t.Error(err)
	}
}

// Concurrent callers get every text of a list once.
func TestModelConcurrently(t *testing.T) {
	s := &scripted.Script{Verdicts: []scripted.Verdict{scripted.None()}}
	for i := range 64 {
		s.Texts = append(s.Texts, fmt.Sprint(i))
	}
	m := scripted.New(s)
	produce, judge := prompt(t, false), prompt(t, true)
	var mu sync.Mutex
	seen := map[string]int{}
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			r, err := m.Produce(t.Context(), produce, llm.Options{})
			j, jerr := m.Judge(t.Context(), judge, llm.Options{})
			if err != nil || jerr != nil || j.Text != `{"choice": 3}` {
				t.Error(err, jerr, j.Text)
			}
			mu.Lock()
			defer mu.Unlock()
			seen[r.Text]++
		})
	}
	wg.Wait()
	for text, n := range seen {
		if n != 1 {
			t.Errorf("%s came %d times", text, n)
		}
	}
	if len(seen) != 64 {
		t.Errorf("%d texts", len(seen))
	}
}

func Example() {
	s := scripted.Script{Texts: []string{"a draft"}, Verdicts: []scripted.Verdict{scripted.Index(0), scripted.None()}}
	c := s.Cursor()
	first, err := c.ProduceText("")
	if err != nil {
		panic(err)
	}
	second, err := c.ProduceText("")
	if err != nil {
		panic(err)
	}
	fmt.Println(first.Text, "|", second.Text, "|", c.JudgeN(2).Text, "|", c.JudgeN(2).Text)
	// Output: a draft | ok | {"choice": 1} | {"choice": 3}
}

// A judge prompt of any size costs the same: it is not built to be read.
func BenchmarkModelJudge(b *testing.B) {
	for _, size := range []int{1 << 10, 200 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			var p fence.Prompt
			p.User.Data("output", trust.External("host:q", strings.Repeat("x", size)))
			p.User.Text(trust.Const("\n1. a\n2. none\n\nAnswer with {\"choice\": k}, k from 1 to 2."))
			r, _, err := fence.Render(p, func(n *[12]byte) error { copy(n[:], "0123456789ab"); return nil })
			if err != nil {
				b.Fatal(err)
			}
			m := scripted.New(&scripted.Script{})
			b.ReportAllocs()
			for b.Loop() {
				if r, err := m.Judge(b.Context(), r, llm.Options{}); err != nil || r.Text != `{"choice": 1}` {
					b.Fatal(r, err)
				}
			}
		})
	}
}
