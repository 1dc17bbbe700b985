package policy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/pinfold-dev/pinfold/value"
)

// Declaration is what somebody said about a tool: the keys of LANGUAGE.md §12.1,
// nil where nothing was said.
type Declaration struct {
	Class     *Class
	Sensitive *[]string
	Yields    *[]string
	MayCarry  *[]string
	Labelled  *bool
	Egress    *bool
}

// keys in the order in which errors list them.
const keys = "class, sensitive, yields, may_carry, labelled, egress"

// ParseDeclaration reads a declaration: the word read or effect, or a map of the
// keys of LANGUAGE.md §12.1. The error joins one for every key that is wrong, each
// saying what was found and what is valid.
func ParseDeclaration(v value.Value) (Declaration, error) {
	var d Declaration
	switch v.Kind() {
	case value.String:
		word, _ := v.AsString()
		class, err := ParseClass(word)
		if err != nil {
			return Declaration{}, err
		}
		d.Class = &class
		return d, nil
	case value.Map:
	default:
		return Declaration{}, fmt.Errorf("expected read, effect, or a map of %s; found %s", keys, foundValue(v))
	}
	var faults []error
	for i := range v.Len() {
		if err := d.set(v.Key(i), v.At(i)); err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) > 0 {
		return Declaration{}, errors.Join(faults...)
	}
	return d, nil
}

func (d *Declaration) set(key string, v value.Value) (err error) {
	switch key {
	case "class":
		word, ok := v.AsString()
		if !ok {
			return fmt.Errorf("class: expected read or effect, found %s", foundValue(v))
		}
		class, err := ParseClass(word)
		if err != nil {
			return fmt.Errorf("class: %w", err)
		}
		d.Class = &class
	case "sensitive":
		d.Sensitive, err = names(key, "parameter names", v)
	case "yields":
		d.Yields, err = names(key, "tags", v)
	case "may_carry":
		d.MayCarry, err = names(key, "tags", v)
	case "labelled":
		d.Labelled, err = flag(key, v)
	case "egress":
		d.Egress, err = flag(key, v)
	default:
		return fmt.Errorf("unknown key %s: expected one of %s", found(key), keys)
	}
	return err
}

func names(key, what string, v value.Value) (*[]string, error) {
	if v.Kind() != value.List {
		return nil, fmt.Errorf("%s: expected a list of %s, found %s", key, what, foundValue(v))
	}
	list := make([]string, v.Len())
	for i := range list {
		s, _ := v.At(i).AsString()
		if s == "" {
			return nil, fmt.Errorf("%s: expected a list of %s, found %s at %d", key, what, foundValue(v.At(i)), i)
		}
		list[i] = s
	}
	return &list, nil
}

func flag(key string, v value.Value) (*bool, error) {
	b, ok := v.AsBool()
	if !ok {
		return nil, fmt.Errorf("%s: expected true or false, found %s", key, foundValue(v))
	}
	return &b, nil
}

// Merge is base with what d says put over it, key by key; a list replaces a list.
func Merge(base Tool, d Declaration) Tool {
	t := base.clone()
	if d.Class != nil {
		t.Class = *d.Class
	}
	if d.Sensitive != nil {
		t.Sensitive = slices.Clone(*d.Sensitive)
	}
	if d.Yields != nil {
		t.Yields = slices.Clone(*d.Yields)
	}
	if d.MayCarry != nil {
		t.MayCarry = slices.Clone(*d.MayCarry)
	}
	if d.Labelled != nil {
		t.Labelled = *d.Labelled
	}
	if d.Egress != nil {
		t.Local, t.follows = !*d.Egress, false
	} else if t.follows {
		t.Local = !t.effect()
	}
	return t
}

// Tighten is base with that part of d which makes it stricter (TRUST.md §5, who
// may open): class effect, further sensitive names, further tags that it yields,
// egress true. The rest of d is ignored.
func Tighten(base Tool, d Declaration) Tool {
	var only Declaration
	if d.Class != nil && *d.Class != Read {
		only.Class = d.Class
	}
	if d.Egress != nil && *d.Egress {
		only.Egress = d.Egress
	}
	t := Merge(base, only)
	if d.Sensitive != nil {
		t.Sensitive = union(t.Sensitive, *d.Sensitive)
	}
	if d.Yields != nil {
		t.Yields = union(t.Yields, *d.Yields)
	}
	return t
}

func union(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// found shows a word that was not expected: quoted, in ASCII, short.
func found(s string) string {
	const most = 40
	if runes := []rune(s); len(runes) > most {
		return strconv.QuoteToASCII(string(runes[:most])) + "…"
	}
	return strconv.QuoteToASCII(s)
}

func foundValue(v value.Value) string {
	switch v.Kind() {
	case value.String:
		s, _ := v.AsString()
		return found(s)
	case value.Null:
		return "nothing"
	case value.Bool, value.Int, value.Float:
		text, _ := v.Text(60)
		return v.Kind().String() + " " + text
	}
	return "a " + v.Kind().String()
}
