package prompt

import (
	"errors"
	"strconv"
	"strings"
)

// What can be wrong with a call of Render. Every one comes in an *Error that names
// slot and line.
var (
	ErrMissing  = errors.New("no value")
	ErrLeftover = errors.New("a value that no slot takes")
	ErrSwapped  = errors.New("a value of the other trust")
	ErrBare     = errors.New("a value of unknown making")
	ErrOrigin   = errors.New("an origin that the slot does not admit")
	ErrInline   = errors.New("a value that does not fit into a sentence")
)

// Error is one thing wrong with a template, or with what it was filled with. It never
// holds the text of a value.
type Error struct {
	File   string // "" for a template that is a constant
	Line   int    // in the file or the constant, from 1; 0 when it has no such place
	Column int    // from 1; 0 when only the line is known
	Slot   string // "" when it is about no slot
	Err    error
}

// Error gives "prompt: answer.prompt:12: slot question: …", or "prompt: line 3: …"
// for a constant.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("prompt: ")
	switch {
	case e.File != "":
		b.WriteString(e.File)
		for _, n := range []int{e.Line, e.Column} {
			if n > 0 {
				b.WriteString(":" + strconv.Itoa(n))
			}
		}
		b.WriteString(": ")
	case e.Line > 0:
		b.WriteString("line " + strconv.Itoa(e.Line) + ": ")
	}
	if e.Slot != "" {
		b.WriteString("slot " + shown(e.Slot) + ": ")
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap gives Err.
func (e *Error) Unwrap() error { return e.Err }

// shown is a name as errors write it: bare when it is a plain one, else quoted, and
// never long.
func shown(name string) string {
	const most = 60
	if isName(name) && len(name) <= most {
		return name
	}
	if len(name) > most {
		return strconv.QuoteToASCII(strings.ToValidUTF8(name[:most], "")) + "…"
	}
	return strconv.QuoteToASCII(name)
}

// names lists names for an error, the first few of many.
func names(all []string) string {
	const most = 8
	if len(all) == 0 {
		return "none"
	}
	rest := ""
	if len(all) > most {
		rest = ", … (" + strconv.Itoa(len(all)) + " in all)"
		all = all[:most]
	}
	var b strings.Builder
	for i, name := range all {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(shown(name))
	}
	return b.String() + rest
}
