package mkl

import (
	"fmt"
	"strings"
	"testing"
)

// wide is a machine of n states, with the prose of real ones.
func wide(n int) string {
	var b strings.Builder
	b.WriteString("mklang: '0.4'\nmachine: wide\nentry: s0\nbudget: 500\nresult: o\ncontext:\n  task: {body: benchmark}\nstates:\n")
	for i := range n {
		fmt.Fprintf(&b, `  s%d:
    prompt: |-
      The task is {{task.body}}.
      What was written before is {{o}}.
      Write part %d of the report.
    structure: One paragraph about part %d, without a heading.
    execution: Invent nothing and promise nothing.
    tier: fast
    output: o
    gates:
      - when: part %d is complete and follows from what came before
        then: ok
        to: s%d
      - when: part %d has gaps
        repair: 2
        to: s%d
      - when: otherwise
        then: ok
        to: END
`, i, i, i, i, (i+1)%n, i, i)
	}
	return b.String()
}

func BenchmarkParse(b *testing.B) {
	src := []byte(wide(200))
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if m, diags := Parse(Source{Text: src, Authorship: AuthorshipOperator}, Strict); m == nil {
			b.Fatal(diags)
		}
	}
}

func BenchmarkHash(b *testing.B) {
	m := mustParse(b, wide(200))
	b.ReportAllocs()
	for b.Loop() {
		Hash(m)
	}
}

func BenchmarkFormat(b *testing.B) {
	src := []byte(wide(200))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Format(src); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScanTemplate(b *testing.B) {
	const text = "The task is {{task.body}}.\nWhat was written before is {{ o }}.\nWrite the next part of the report, and nothing else."
	b.ReportAllocs()
	for b.Loop() {
		scanTemplate(text, AuthorshipOperator)
	}
}
