package engine

import (
	"strconv"

	"github.com/pinfold-dev/pinfold/value"
)

// String is the phase's name.
func (p Phase) String() string {
	return [...]string{"produce", "tool", "hook", "judge"}[p&3]
}

// String is the effect's canonical text: path/state#visit[branch]:phase.seq.
func (id EffectID) String() string {
	s := id.Path + "/" + id.State + "#" + strconv.Itoa(int(id.Visit))
	if id.Branch >= 0 {
		s += "[" + strconv.Itoa(int(id.Branch)) + "]"
	}
	s += ":" + id.Phase.String()
	if id.Seq > 0 {
		s += "." + strconv.Itoa(int(id.Seq))
	}
	return s
}

// object builds a wire map; absent keys are left out.
type object struct{ entries []value.Entry }

func (o *object) put(key string, v value.Value) {
	o.entries = append(o.entries, value.Entry{Key: key, Value: v})
}
func (o *object) str(key, s string) { o.put(key, value.FromString(s)) }
func (o *object) text(key, s string) {
	if s != "" {
		o.str(key, s)
	}
}
func (o *object) int(key string, n int) { o.put(key, value.FromInt(int64(n))) }
func (o *object) count(key string, n int) {
	if n > 0 {
		o.int(key, n)
	}
}
func (o *object) flag(key string, b bool) {
	if b {
		o.put(key, value.FromBool(true))
	}
}
func (o *object) strings(key string, items []string) {
	if len(items) > 0 {
		o.put(key, stringList(items))
	}
}
func (o *object) nullable(key, s string, has bool) {
	if has {
		o.str(key, s)
	} else {
		o.put(key, value.Value{})
	}
}
func (o *object) value() value.Value { return value.FromEntries(o.entries...) }

func stringList(items []string) value.Value {
	out := make([]value.Value, len(items))
	for i, s := range items {
		out[i] = value.FromString(s)
	}
	return value.FromList(out...)
}

// Value is the wire form {input_tokens, output_tokens, estimated?}.
func (u Usage) Value() value.Value {
	var o object
	o.int("input_tokens", u.Input)
	o.int("output_tokens", u.Output)
	o.flag("estimated", u.Estimated)
	return o.value()
}
