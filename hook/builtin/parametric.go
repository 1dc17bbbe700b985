package builtin

import (
	"strings"

	"github.com/pinfold-dev/pinfold/hook"
	"github.com/pinfold-dev/pinfold/value"
)

// comparison is a parsed eq:PATH:VALUE or neq:PATH:VALUE.
type comparison struct {
	path string
	// segments of the path, nil where it has no dot.
	segments []string
	want     string // trimmed
	negate   bool
}

// parse reads a parametric name. The prefix is lower case, PATH goes up to the
// second colon and is not empty, VALUE is everything after.
func parse(name string) (comparison, bool) {
	var c comparison
	rest, ok := strings.CutPrefix(name, "eq:")
	if !ok {
		if rest, ok = strings.CutPrefix(name, "neq:"); !ok {
			return c, false
		}
		c.negate = true
	}
	path, want, ok := strings.Cut(rest, ":")
	if !ok || path == "" {
		return c, false
	}
	c.path, c.want = path, strings.TrimSpace(want)
	if strings.Contains(path, ".") {
		c.segments = strings.Split(path, ".")
	}
	return c, true
}

// IsParametric reports a name that the parametric rule would take, and the
// blackboard keys it may read: the path as a key and the root of the path.
func IsParametric(name string) (path, root string, ok bool) {
	c, ok := parse(name)
	if !ok {
		return "", "", false
	}
	root, _, _ = strings.Cut(c.path, ".")
	return c.path, root, true
}

func (c comparison) hook() hook.Func {
	return predicate(func(b board, _ value.Value) bool { return c.equal(b) != c.negate }).hook()
}

func (c comparison) equal(b board) bool {
	v, ok := c.lookup(b)
	if !ok {
		return c.want == ""
	}
	switch v.Kind() {
	case value.String:
		s, _ := v.AsString()
		return strings.TrimSpace(s) == c.want
	case value.Null:
		return c.want == "null" || c.want == "None"
	case value.Bool:
		// True and False are taken too: a neq: that was written so would
		// otherwise hold, and a hook that fires clears the flow flag.
		if t, _ := v.AsBool(); t {
			return c.want == "true" || c.want == "True"
		}
		return c.want == "false" || c.want == "False"
	case value.List, value.Map:
		if c.want == "" || c.want[0] != '[' && c.want[0] != '{' {
			return false // spares the text of a large value
		}
	}
	return v.JSON() == c.want
}

// lookup prefers a key of exactly the path's name, as a dotted key cannot be
// reached otherwise.
func (c comparison) lookup(b board) (value.Value, bool) {
	if v, ok := b.Get(c.path); ok {
		return v.Value(), true
	}
	if c.segments == nil || c.segments[0] == "" {
		return value.Value{}, false
	}
	v, ok := b.Get(c.segments[0])
	if !ok {
		return value.Value{}, false
	}
	return v.Value().Lookup(c.segments[1:])
}
