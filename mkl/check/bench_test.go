package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/mkl/check"
)

// chain is the text of a machine of n states in the manner of real ones: four
// lines of prose a state, a judged exit, a repair, a catch-all. Every tenth
// state sends something.
func chain(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "mklang: '0.4'\nmachine: chain\nentry: s000\nbudget: %d\nresult: o%03d\ncontext:\n  task:\n    body: \"\"\nstates:\n", 2*n+2, n-1)
	for i := range n {
		before := "task.body"
		if i > 0 {
			before = fmt.Sprintf("o%03d", i-1)
		}
		to := "END"
		if i < n-1 {
			to = fmt.Sprintf("s%03d", i+1)
		}
		if i%10 == 9 {
			fmt.Fprintf(&b, "  s%03d:\n    tool: send_reply\n    input:\n      to: '{{task.body}}'\n      body: '{{%s}}'\n    output: o%03d\n    gates:\n    - when: otherwise\n      then: ok\n      to: %s\n", i, before, i, to)
			continue
		}
		fmt.Fprintf(&b, `  s%03d:
    structure: One paragraph about stage %d, with the decision in its last sentence.
    prompt: "Order: {{task.body}}

      So far: {{%s}}

      Carry out stage %d."
    execution: Say what is not known. Ask nobody.
    tier: %s
    output: o%03d
    gates:
    - when: stage %d is complete and nothing in it is a guess
      then: ok
      to: %s
    - when: stage %d leaves something open
      repair: 2
      to: s%03d
    - when: otherwise
      then: ok
      to: %s
`, i, i, before, i, []string{"fast", "balanced", "reasoning"}[i%3], i, i, to, i, i, to)
	}
	return b.String()
}

func BenchmarkFile200(b *testing.B) {
	src := own("chain.mkl", chain(200))
	if r := check.File(src, check.Options{}); r.Status() != check.StatusOK {
		b.Fatal(r.Diagnostics)
	}
	b.Run("parse+check+lint", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(src.Text)))
		for b.Loop() {
			check.File(src, check.Options{Lint: true})
		}
	})
	m, _ := mkl.Parse(src, mkl.Strict)
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			mkl.Parse(src, mkl.Strict)
		}
	})
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			check.Check(m, check.Options{})
		}
	})
	b.Run("lint", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			check.Lint(m, check.Options{})
		}
	})
}

// BenchmarkSize shows that time grows with the document and not faster.
func BenchmarkSize(b *testing.B) {
	for _, n := range []int{100, 1000, 5000} {
		m, ds := mkl.Parse(own("chain.mkl", chain(n)), mkl.Strict)
		if m == nil {
			b.Fatal(ds[0])
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				check.Check(m, check.Options{})
				check.Lint(m, check.Options{})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/state")
		})
	}
}
