// Package unchecked holds the written escapes: the only way, outside the readers of
// the author's own documents, for something to become LevelAuthor.
//
// Importing it is what an audit lists. Every function takes the reason why the
// thing may be believed. Where the reason is in Go source it is a compile-time
// constant, so that it can be found and read beside the call; an empty one is a bug
// of the program and panics. Where an operator writes it in a configuration it is
// a string, and a blank one is an error.
//
// A vouch says that nobody outside could have chosen these characters. It is not
// for text that looks harmless, and never for what a model wrote.
//
//	plan := unchecked.Vouch(row.Plan, "plans.tier is an enum our billing service writes")
package unchecked

import (
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/raw"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// constant fits untyped constants and nothing else outside this package.
type constant string

// ClockOrigin is the source of what pinfold's own clock filled (TRUST.md §2).
const ClockOrigin = "host:clock"

func answered(function string, reason constant) raw.Text {
	if blank(string(reason)) {
		panic("unchecked." + function + ": the reason is empty: write why nobody outside can have chosen this")
	}
	return raw.Of(string(reason))
}

func blank(reason string) bool { return strings.TrimSpace(reason) == "" }

// Vouch makes text the author's own.
func Vouch(text string, reason constant) trust.Text {
	answered("Vouch", reason)
	return trust.FromRaw(raw.Of(text))
}

// VouchValue makes v Author, from origin.
func VouchValue(v value.Value, origin string, reason constant) trust.Value {
	return trust.FromRawValue(answered("VouchValue", reason), v).WithSources(origin)
}

// Declared makes v Author because an operator's configuration vouches for this key
// of this machine (TRUST.md §5, Who may open). Its source is vouch:machine/key, which
// is how receipts and traces record it. A blank machine, key or reason is an error.
// The caller answers for the configuration being the operator's, and for v not
// having come over MCP or HTTP.
func Declared(v value.Value, machine, key, reason string) (trust.Value, error) {
	switch {
	case blank(machine) || blank(key):
		return trust.Value{}, fmt.Errorf("vouch for key %q of machine %q: expected the name of one machine and one key", key, machine)
	case blank(reason):
		return trust.Value{}, fmt.Errorf("vouch for key %q of machine %q: expected a written reason, found none", key, machine)
	}
	return trust.FromRawValue(raw.Of(reason), v).WithSources("vouch:" + machine + "/" + key), nil
}

// Clock makes v Author, from host:clock. It is for what pinfold's own clock filled
// in, which carries no instruction; a date that came in as an input is External.
func Clock(v value.Value) trust.Value {
	return trust.FromRawValue(raw.Of("filled by pinfold's own clock"), v).WithSources(ClockOrigin)
}

// Restore gives v exactly the label l, because a checkpoint recorded it. The caller
// answers for the checkpoint being one that it wrote.
func Restore(v value.Value, l trust.Label, reason constant) trust.Value {
	return trust.FromRawLabel(answered("Restore", reason), v, l)
}

// Index is an Author integer: the number of a fan-out's branch, which its place in
// the list chose and no content of it.
func Index(i int, reason constant) trust.Value {
	return trust.FromRawValue(answered("Index", reason), value.FromInt(int64(i)))
}

// Believed says that the labels which a document records are taken as they stand.
// The zero Believed believes nothing: who reads labels under it gets External.
type Believed struct{ made bool }

// Believe is for a checkpoint of our own: whoever can write it can raise labels, so
// the caller answers for who can (SECURITY.md, Limits).
func Believe(reason constant) Believed {
	answered("Believe", reason)
	return Believed{true}
}

// Made says whether Believe made it.
func (b Believed) Made() bool { return b.made }
