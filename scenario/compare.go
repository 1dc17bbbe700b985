package scenario

import (
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/run"
	"github.com/pinfold-dev/pinfold/value"
)

// Compare lists everything in which a result is not as the case expects it, one
// line each: ‹key›: expected ‹JSON›, got ‹JSON›. Equality is the language's own,
// exact and type-aware; a key that is absent equals null.
func (c *Case) Compare(res *run.Result) []string {
	var out []string
	differ := func(key string, want, got value.Value) {
		if !value.Equal(want, got) {
			out = append(out, fmt.Sprintf("%s: expected %s, got %s", key, want.JSON(), got.JSON()))
		}
	}
	wire := res.Value()
	for _, e := range c.expect.plain {
		got, _ := wire.Get(e.Key)
		differ(e.Key, e.Value, got)
	}
	if c.expect.hasPfx {
		if got, _ := wire.Get("error"); got.IsNull() || !strings.HasPrefix(res.Error, c.expect.prefix) {
			out = append(out, fmt.Sprintf("error_prefix: expected %s, got %s", value.FromString(c.expect.prefix).JSON(), got.JSON()))
		}
	}
	for _, e := range c.expect.context {
		var got value.Value
		if !res.Unstarted { // else there is no blackboard
			v, _ := res.Context.Get(e.Key)
			got = v.Value()
		}
		differ("context."+e.Key, e.Value, got)
	}
	if c.expect.hasTr {
		if len(c.expect.trace) != len(res.Trace) {
			differ("trace.length", value.FromInt(int64(len(c.expect.trace))), value.FromInt(int64(len(res.Trace))))
		}
		for i, want := range c.expect.trace {
			if i >= len(res.Trace) {
				break
			}
			step := res.Trace[i].Value()
			for j := range want.Len() {
				got, _ := step.Get(want.Key(j))
				differ(fmt.Sprintf("trace[%d].%s", i, want.Key(j)), want.At(j), got)
			}
		}
	}
	return out
}
