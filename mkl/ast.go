// Package mkl is the .mkl state-machine language: its syntax tree with places,
// the parser, the formatter and the canonical form that program hashes are made
// of (LANGUAGE.md §2–4, §6).
//
// The shortest correct use names who answers for the text, because that decides
// what the machine's literals are worth:
//
//	m, diags := mkl.Parse(mkl.Source{Name: path, Text: text, Authorship: mkl.AuthorshipOperator}, mkl.Strict)
//	if m == nil {
//		return diags // all of what is wrong with the structure, by line
//	}
//
// A machine that parses has the right shape, and nothing more is said: whether
// its targets exist and its budget suffices is for package check to say.
//
// This package reads bytes and never files, follows no reference out of a
// document, runs nothing, and looks at no text for what it might want. What it
// makes does not change: a [Machine] may be shared by any number of runs. A
// machine holds on to its document's text, of which its own texts are parts.
package mkl

import (
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/trust"
)

// Authorship says who answers for a program's text. The zero value is Model:
// nobody does, so its literals are External (TRUST.md §5).
type Authorship uint8

const (
	AuthorshipModel Authorship = iota
	AuthorshipOperator
)

// Source is a document and who answers for it.
type Source struct {
	Name       string // file name for diagnostics; "" for an inline source
	Text       []byte
	Authorship Authorship
}

// Mode selects one of the two readers of LANGUAGE.md §2. The zero Mode is Strict.
type Mode uint8

const (
	Strict Mode = iota
	Lenient
)

// Pos is a place in a document, both from 1. The zero Pos is no place.
type Pos struct{ Line, Column int }

// Places are those of a mapping's keys. They are few: a search beats a map, and
// a machine has one for every gate.
type Places []Place

// Place is that of one key.
type Place struct {
	Key string
	Pos Pos
}

// At gives the place of a key; the zero Pos when it is not there.
func (p Places) At(key string) Pos {
	for i := range p {
		if p[i].Key == key {
			return p[i].Pos
		}
	}
	return Pos{}
}

// Severity of a Diagnostic.
type Severity uint8

const (
	Error Severity = iota
	Warning
	Finding
	Note
)

// Diagnostic is one thing to say about a document.
type Diagnostic struct {
	Code     string // MK101…
	Severity Severity
	Message  string
	File     string
	Pos
	State string // "" where there is none
	Hint  string
}

// String gives "MK301 3:8 message"; a note's message begins "note: ".
func (d Diagnostic) String() string {
	note := ""
	if d.Severity == Note && !strings.HasPrefix(d.Message, "note:") {
		note = "note: "
	}
	return d.Code + " " + strconv.Itoa(d.Line) + ":" + strconv.Itoa(d.Column) + " " + note + d.Message
}

// Tier of a model.
type Tier string

const (
	Fast      Tier = "fast"
	Balanced  Tier = "balanced"
	Reasoning Tier = "reasoning"
)

// End is the reserved target that ends a run.
const End = "END"

// Machine is one parsed machine. Nobody changes it after it was parsed.
type Machine struct {
	File       string
	Authorship Authorship
	Pos        Pos // of the root mapping

	Name        string
	Entry       string
	Budget      int
	Version     string // the language version claimed, "" when none
	DefaultTier Tier
	Result      string
	HasResult   bool
	Context     []Binding // in author order; Author values when a person answers for the text, else External
	Tools       []Declaration
	Hooks       []Declaration
	States      []State // in author order

	// The places of the values.
	NamePos, EntryPos, BudgetPos, VersionPos, ResultPos Pos

	index map[string]int // id → place in States; a machine not made by the parser has none
}

// State gives the state of that id.
func (m *Machine) State(id string) (*State, bool) {
	if m.index != nil {
		i, ok := m.index[id]
		if !ok {
			return nil, false
		}
		return &m.States[i], true
	}
	for i := range m.States {
		if m.States[i].ID == id {
			return &m.States[i], true
		}
	}
	return nil, false
}

// Declaration names a tool or hook that the document expects of its host.
type Declaration struct {
	Name, Description string
	Pos               Pos
}

// Binding is one key of context: or input:. Template is set for a string under
// input: (context strings are never interpolated). Value is labelled by who
// answers for the text: Author, or External from "machine:‹name›".
type Binding struct {
	Key      string
	Value    trust.Value
	Template *Template
	Pos      Pos // of the key
	ValuePos Pos
}

// Kind of a state.
type Kind uint8

const (
	Generative Kind = iota
	Call
	Tool
)

// String gives generative, call or tool.
func (k Kind) String() string {
	switch k {
	case Call:
		return "call"
	case Tool:
		return "tool"
	}
	return "generative"
}

// ParseMode of a generative state.
type ParseMode uint8

const (
	ParseNone ParseMode = iota
	ParseList
	ParseJSON
)

// State is one state. Fields that its kind does not have are zero.
type State struct {
	ID   string
	Pos  Pos // of the key
	Kind Kind

	Prompt       *Template
	Structure    trust.Text
	Execution    trust.Text
	HasExecution bool
	Tier         Tier // "" when the state names none
	Reason       bool
	Parse        ParseMode

	Callee string // kind Call
	Tool   string // kind Tool
	Input  []Binding

	Sample     int // 0 when absent
	Over       *Template
	Accumulate bool
	MaxVisits  int // 0 when absent
	Output     string
	Gates      []Gate

	KeyPos Places // of the keys that the state has and the reader took
	// Prose holds the texts that lint looks at, as they were written, in the order of the document.
	Prose []Scalar
}

// Scalar is a prose scalar as written: for the finding that a comment cut it.
type Scalar struct {
	Key   string // when, prompt, structure, execution, ask
	Gate  int    // index of the gate, -1 for a key of the state
	Text  string
	Plain bool
	Pos   Pos
	// Lost is the comment, # included, that ended a plain scalar on its last line,
	// "" when none did. On an earlier line it is an error (MK103): text cannot go on behind it.
	Lost string
}

// Policy of a gate.
type Policy uint8

const (
	PolicyOK Policy = iota
	PolicyRepair
	PolicyEscalate
	PolicyFail
)

// String gives the policy as a trace shows it: ok, repair, escalate or fail.
func (p Policy) String() string {
	switch p {
	case PolicyRepair:
		return "repair"
	case PolicyEscalate:
		return "escalate"
	case PolicyFail:
		return "fail"
	}
	return "ok"
}

// Gate is one exit of a state.
type Gate struct {
	Pos     Pos
	When    trust.Text // as written
	Hook    string
	HasHook bool
	Policy  Policy
	Repair  int
	To      string // "" for fail
	HasTo   bool
	Ask     string
	HasAsk  bool
	ReplyTo string // "" when absent: the default is human.reply

	KeyPos Places
}

// Otherwise reports whether the gate is the catch-all: its condition is the
// word otherwise, in any letter case, with white space around it or none.
func (g *Gate) Otherwise() bool {
	return strings.ToLower(strings.TrimSpace(g.When.String())) == "otherwise"
}
