package policy

import (
	"fmt"
	"slices"
)

// Class of a tool. The zero Class is Effect: silence is not a safety claim. A
// number that is neither is read as Effect.
type Class uint8

const (
	Effect Class = iota // can change the world
	Read                // cannot
)

// ParseClass reads read or effect, exactly so written.
func ParseClass(s string) (Class, error) {
	switch s {
	case "effect":
		return Effect, nil
	case "read":
		return Read, nil
	}
	return Effect, fmt.Errorf("expected a class: read or effect; found %s", found(s))
}

// String is the word that ParseClass reads.
func (c Class) String() string {
	if c == Read {
		return "read"
	}
	return "effect"
}

// Tool is what the table knows about one tool. The zero Tool is an effect that
// sends its arguments off this host and may carry nothing secret.
type Tool struct {
	Class     Class
	Sensitive []string // parameter names, rule 2
	Yields    []string // secrecy tags its observation carries
	MayCarry  []string // secrecy tags it may be given
	Labelled  bool     // returns parts with their own sources and secrecy
	Local     bool     // its arguments stay on this host: egress: false

	// follows means that nobody said whether arguments leave: Local is what
	// LANGUAGE.md §12.1 makes of the class, and changes with it.
	follows bool
}

func (t Tool) effect() bool { return t.Class != Read }

// Egress reports whether arguments leave this host.
func (t Tool) Egress() bool { return !t.Local }

// Table maps tool names to declarations. A name that is not in it is the zero Tool.
type Table map[string]Tool

// Builtin is a new table of the tools of LANGUAGE.md §12.2. Registrations of
// other tools are added to it.
func Builtin() Table {
	t := Table{
		"search": {Class: Read},
		"write_file": {Class: Effect, follows: true,
			Sensitive: []string{"path"}},
		"send_reply": {Class: Effect,
			Sensitive: []string{"to"}},
	}
	for _, name := range []string{
		"calc", "search_kb", "list_files", "read_file",
		"list_machines", "describe_machine", "read_machine", "check_machine",
		"list_workspace", "read_workspace_file", "search_workspace", "ask_user",
	} {
		t[name] = Tool{Class: Read, Local: true, follows: true}
	}
	for _, name := range []string{"write_machine", "run_machine", "update_task"} {
		t[name] = Tool{Class: Effect, follows: true}
	}
	return t
}

// Declare puts d over what the table says of the tool, key by key. A tool that
// the table does not have is d alone: an effect unless d says read, and with
// egress unless d says otherwise or says read (LANGUAGE.md §12.1).
func (t Table) Declare(name string, d Declaration) {
	base, ok := t[name]
	if !ok {
		base = Tool{follows: true}
	}
	t[name] = Merge(base, d)
}

// Tighten is Declare for a source that may only tighten.
func (t Table) Tighten(name string, d Declaration) {
	t[name] = Tighten(t[name], d)
}

// Clone is a table of its own.
func (t Table) Clone() Table {
	c := make(Table, len(t))
	for name, tool := range t {
		c[name] = tool.clone()
	}
	return c
}

func (t Tool) clone() Tool {
	t.Sensitive, t.Yields, t.MayCarry = slices.Clone(t.Sensitive), slices.Clone(t.Yields), slices.Clone(t.MayCarry)
	return t
}
