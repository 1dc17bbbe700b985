// Package builtin holds the hooks that every host has: a few named predicates
// and the parametric eq: and neq: (LANGUAGE.md §13).
//
// None of them reads anything but the blackboard and the output, and none of
// them fails: a missing key or a value of another kind is an answer.
//
//	f, parametric, ok := builtin.Resolve("eq:verdict:safe", nil)
package builtin

import (
	"context"
	"math/big"
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/hook"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// Resolve finds a hook by the name that a gate gives it: among the host's own,
// then the built-ins, then as a parametric one. parametric is true only for the
// last, also where the host has a hook of such a name: what the host wrote
// confirms by the host's own rule (TRUST.md §4).
func Resolve(name string, host map[string]hook.Func) (f hook.Func, parametric, ok bool) {
	if f, ok = host[name]; ok {
		return f, false, f != nil
	}
	if p, ok := named(name); ok {
		return p.hook(), false, true
	}
	if c, ok := parse(name); ok {
		return c.hook(), true, true
	}
	return nil, false, false
}

// Names lists the built-in hooks that have a name, sorted.
func Names() []string {
	return []string{
		"always_false", "always_true", "amount_le_100", "auto_approve_ok",
		"console_workspace_ready", "has_receipt", "write_failed",
	}
}

// board is the part of hook.View that the predicates read.
type board interface {
	Get(key string) (trust.Value, bool)
}

type predicate func(b board, output value.Value) bool

func (p predicate) hook() hook.Func {
	return func(_ context.Context, b hook.View, output trust.Value) (bool, error) {
		return p(b, output.Value()), nil
	}
}

func named(name string) (predicate, bool) {
	switch name {
	case "always_true":
		return func(board, value.Value) bool { return true }, true
	case "always_false":
		return func(board, value.Value) bool { return false }, true
	case "amount_le_100":
		return amountAtMost100, true
	case "has_receipt":
		return hasReceipt, true
	case "auto_approve_ok":
		return func(b board, out value.Value) bool { return amountAtMost100(b, out) && hasReceipt(b, out) }, true
	case "write_failed":
		return writeFailed, true
	case "console_workspace_ready":
		return workspaceReady, true
	}
	return nil, false
}

func get(b board, key string) value.Value {
	v, _ := b.Get(key)
	return v.Value()
}

func amountAtMost100(b board, _ value.Value) bool {
	v, ok := b.Get("amount")
	if !ok {
		return false
	}
	switch x := v.Value(); x.Kind() {
	case value.Int:
		n, ok := x.AsBig()
		return ok && n.Cmp(big.NewInt(100)) <= 0
	case value.Float:
		f, ok := x.AsFloat()
		return ok && f <= 100
	case value.String:
		s, _ := x.AsString()
		return numeralAtMost100(strings.TrimSpace(s))
	}
	return false
}

// maxNumeral bounds the text that is read as a number: the exact comparison
// below costs as much as the text is long.
const maxNumeral = 400

// numeralAtMost100 compares exactly: a text a hair above the limit must not pass
// because the nearest float is the limit itself.
func numeralAtMost100(s string) bool {
	if len(s) > maxNumeral || !decimal(s) {
		return false
	}
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil: // beyond any float, of either sign: no number of the language
		return false
	case f != 100:
		return f < 100
	}
	exact, ok := new(big.Rat).SetString(s)
	return ok && exact.Cmp(big.NewRat(100, 1)) <= 0
}

// decimal reports a decimal number: sign, digits with a point somewhere,
// exponent. What ParseFloat takes beyond that (inf, 0x, _) is text.
func decimal(s string) bool {
	digits := func() bool {
		n := 0
		for n < len(s) && '0' <= s[n] && s[n] <= '9' {
			n++
		}
		s = s[n:]
		return n > 0
	}
	sign := func() {
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
	}
	sign()
	whole := digits()
	if strings.HasPrefix(s, ".") {
		s = s[1:]
		if !digits() && !whole {
			return false
		}
	} else if !whole {
		return false
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		sign()
		if !digits() {
			return false
		}
	}
	return s == ""
}

func hasReceipt(b board, _ value.Value) bool { return get(b, "has_receipt").Truthy() }

func writeFailed(_ board, output value.Value) bool {
	m, ok := object(output)
	if !ok {
		return false
	}
	if e, ok := m.Get("error"); ok && !e.IsNull() {
		return true
	}
	w, _ := m.Get("written")
	written, ok := w.AsBool()
	return ok && !written
}

// object is a map, or the map that a JSON text is.
func object(v value.Value) (value.Value, bool) {
	if s, ok := v.AsString(); ok {
		s = strings.TrimSpace(s)
		if !strings.HasPrefix(s, "{") {
			return value.Value{}, false
		}
		var err error
		if v, err = value.ParseJSON([]byte(s)); err != nil {
			return value.Value{}, false
		}
	}
	return v, v.Kind() == value.Map
}

func workspaceReady(b board, _ value.Value) bool {
	if !get(b, "workspace_required").Truthy() {
		return true
	}
	if !get(b, "workspace_brief").Truthy() {
		return false
	}
	seen := get(b, "observation")
	if seen.Kind() != value.List {
		return false
	}
	for i := range seen.Len() {
		item := seen.At(i)
		if item.Kind() != value.String {
			continue
		}
		m, ok := object(item)
		if !ok {
			continue
		}
		name, _ := m.Get("tool")
		switch tool, _ := name.AsString(); tool {
		case "list_workspace", "read_workspace_file", "search_workspace":
			return true
		}
	}
	return false
}
