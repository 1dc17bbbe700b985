package mkl_test

import (
	"fmt"

	"github.com/pinfold-dev/pinfold/mkl"
)

func ExampleParse() {
	m, diags := mkl.Parse(mkl.Source{Name: "greet.mkl", Authorship: mkl.AuthorshipOperator, Text: []byte(`
machine: greet
entry: write
budget: 3
states:
  write:
    prompt: Greet {{name}}.
    structure: one line
    output: greeting
    gates:
      - {when: otherwise, then: ok, to: END}
`)}, mkl.Strict)
	if m == nil {
		fmt.Println(diags)
		return
	}
	s, _ := m.State(m.Entry)
	path, _ := s.Prompt.First()
	fmt.Println(m.Name, s.Kind, path)
	// Output: greet generative [name]
}

func ExampleParse_errors() {
	_, diags := mkl.Parse(mkl.Source{Name: "x.mkl", Text: []byte("machine: x\nentry: a\nbudgte: 3\nstates: {}\n")}, mkl.Strict)
	for _, d := range diags {
		fmt.Println(d)
		if d.Hint != "" {
			fmt.Println("  hint:", d.Hint)
		}
	}
	// Output:
	// MK201 1:1 machine: the key ‹budget› is missing
	// MK202 3:1 machine: unknown key ‹budgte›
	//   hint: did you mean ‹budget›?
	// MK211 4:9 states is empty: expected at least one state
}
