package check_test

import (
	"fmt"

	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/mkl/check"
)

func ExampleFile() {
	src := mkl.Source{Name: "reply.mkl", Authorship: mkl.AuthorshipOperator, Text: []byte(`machine: reply
entry: draft
budget: 4
context:
  question: ""
states:
  draft:
    structure: One paragraph.
    prompt: "Answer this: {{qestion}}"
    output: answer
    gates:
      - { when: the answer is complete, then: ok, to: sned }
      - { when: otherwise, then: ok, to: END }
  send:
    tool: send_reply
    input: { body: "{{answer}}" }
    output: sent
    gates:
      - { when: otherwise, then: ok, to: END }
`)}
	report := check.File(src, check.Options{Lint: true})
	fmt.Println(report.Status())
	for _, d := range report.Diagnostics {
		fmt.Println(d.Code, d.Line, d.Message)
		if d.Hint != "" {
			fmt.Println("  hint:", d.Hint)
		}
	}
	// Output:
	// error
	// MK410 9 {{qestion}} in prompt: ‹qestion› is no context key, no state's output and no reply
	// MK302 12 a gate of state ‹draft› leads to ‹sned›, which names no state
	//   hint: did you mean ‹send›?
	// MK307 14 state ‹send› is not reachable from ‹draft›
}

func ExampleDoc() {
	doc, _ := check.Doc("MK402")
	fmt.Println(doc.Title)
	fmt.Println(doc.Why)
	// Output:
	// gates after otherwise
	// Gates are tried in order and `otherwise` always fires, so what stands after it never does. An `otherwise` gate that is a repair is different: once its budget is spent the gates after it have their turn, and they are not reported.
}

func ExamplePrepare() {
	src := mkl.Source{Authorship: mkl.AuthorshipOperator, Text: []byte(`machine: sum
entry: add
budget: 3
default_tier: fast
states:
  add:
    tool: calculator
    input: { expr: "1 + 1" }
    output: sum
    gates:
      - { when: otherwise, then: ok, to: END }
`)}
	machine, _ := mkl.Parse(src, mkl.Strict)
	for _, d := range check.Prepare(machine, check.Host{
		Provider: "local",
		Tiers:    []mkl.Tier{mkl.Fast},
		Tools:    func(name string) bool { return name == "calc" },
	}) {
		fmt.Println(d.Code, d.Message)
	}
	// Output:
	// MK321 tool ‹calculator› is not known here: the run halts when state ‹add› is reached
}
