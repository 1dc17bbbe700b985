package check

import (
	"strings"

	"github.com/pinfold-dev/pinfold/mkl"
)

// Documentation is what there is to know about one diagnostic code. Codes are
// stable: a code keeps its meaning, and one that is retired is not used again.
type Documentation struct {
	Code     string // MK301
	Severity mkl.Severity
	Title    string // what is wrong, in one line
	Why      string // why it matters and what to do; paragraphs apart by a blank line
	Triggers Example
	Quiet    Example // the same thought put right; nothing at all is said about it
}

// Example is a document, with what its code needs beside it.
type Example struct {
	Source string
	// Missing stands for a path where there is no file; there is no Source then.
	Missing bool
	// Machines are the documents of the registry.
	Machines []string
	// Host is what the machine is prepared for, for the codes of Prepare.
	Host *Host
	// Also lists other codes that cannot be told apart from this one: whatever
	// triggers the one triggers the others.
	Also []string
}

// Doc finds the documentation of a code, written in any letter case.
func Doc(code string) (Documentation, bool) {
	for _, table := range tables() {
		for i := range table {
			if strings.EqualFold(table[i].Code, code) {
				return table[i], true
			}
		}
	}
	return Documentation{}, false
}

// Codes lists the documentation of every code, in order.
func Codes() []Documentation {
	var all []Documentation
	for _, table := range tables() {
		all = append(all, table...)
	}
	return all
}

// tables are functions and not variables so that nobody can change them.
func tables() [][]Documentation {
	return [][]Documentation{documents(), structure(), semantics(), preparation(), findings()}
}

// SeverityName is the word for a severity: error, warning, finding, note.
func SeverityName(s mkl.Severity) string {
	switch s {
	case mkl.Error:
		return "error"
	case mkl.Warning:
		return "warning"
	case mkl.Finding:
		return "finding"
	}
	return "note"
}

// Pieces that most examples are made of: a machine that there is nothing to say
// about is head + answer.
const (
	head = `machine: example
entry: answer
budget: 4
context:
  question: ""
states:
`
	answer = `  answer:
    structure: One paragraph.
    prompt: "Answer this: {{question}}"
    output: answer
    gates:
      - { when: otherwise, then: ok, to: END }
`
)
