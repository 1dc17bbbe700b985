package lane

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is one thing wrong with a lane file.
type Error struct {
	File   string
	Line   int // from 1; 0 when it is about the whole file
	Column int // in characters, from 1
	Err    error
}

// Error gives "lanes.toml:12:9: …".
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Err.Error()
	}
	return e.File + ":" + strconv.Itoa(e.Line) + ":" + strconv.Itoa(e.Column) + ": " + e.Err.Error()
}

// Unwrap gives Err.
func (e *Error) Unwrap() error { return e.Err }

// ErrUnregistered is what an *Unregistered is.
var ErrUnregistered = errors.New("no such lane")

// Unregistered is the error of a put into a lane that the lane file does not declare.
type Unregistered struct{ Name Name }

// Error says what is missing, and how to add it.
func (e *Unregistered) Error() string {
	return "lane `" + plain(string(e.Name)) + "` puts text into a prompt and has no stanza in lanes.toml: add one with `budget` and `trust`"
}

// Is says whether target is ErrUnregistered.
func (e *Unregistered) Is(target error) bool { return target == ErrUnregistered }

// plain is a name on one line of ASCII, and never long: names that no lane can have
// may come from anywhere.
func plain(name string) string {
	const most = 80
	if isName(name) && len(name) <= most {
		return name
	}
	more := ""
	if utf8.RuneCountInString(name) > most {
		n := 0
		for i := range name {
			if n == most {
				name, more = name[:i], "…"
				break
			}
			n++
		}
	}
	q := strconv.QuoteToASCII(name)
	return q[1:len(q)-1] + more
}

// shown is a value as errors quote it.
func shown(s string) string { return `"` + plain(s) + `"` }

// oneOf lists what was expected, the first of many.
func oneOf(all []string) string {
	const most = 20
	if len(all) > most {
		return strings.Join(all[:most], ", ") + ", … (" + strconv.Itoa(len(all)) + " in all)"
	}
	return strings.Join(all, ", ")
}

// inOrder sorts errors by where they stand and joins them.
func inOrder(errs []*Error) error {
	slices.SortStableFunc(errs, func(a, b *Error) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	all := make([]error, len(errs))
	for i, e := range errs {
		all[i] = e
	}
	return errors.Join(all...)
}
