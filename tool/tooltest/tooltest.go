// Package tooltest is the suite that every tool must pass (LANGUAGE.md §12).
//
// It calls the tool with arguments that its author did not expect and checks
// what the contract promises: no panic, arguments left alone, an end soon after
// the context's, an observation that has a text, safety under concurrent use,
// and a declaration that opens nothing by accident. It never decides whether
// the answer is right; that is the tool's own test.
//
//	func TestEcho(t *testing.T) {
//		tooltest.Test(t, tooltest.Options{Tool: echo, Input: value.FromEntries(value.Entry{Key: "text", Value: value.FromString("hi")})})
//	}
package tooltest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/tool"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// Options say what is tested.
type Options struct {
	Tool tool.Tool
	// Input is a map of arguments that the tool accepts.
	Input value.Value
	// Builtin adds the rules of §12.3: never a Go error, and, unless Plain, the
	// envelope with its keys in order.
	Builtin bool
	Plain   bool
	// Cancel is how long a call may go on after its context has ended; 0 is 2 s.
	Cancel time.Duration
}

// Envelope is the head of a built-in's observation, in order (§12.3).
func Envelope() []string {
	return []string{"tool", "stub", "error", "status", "retryable", "untrusted"}
}

// Test runs the suite and reports what Check finds.
func Test(t *testing.T, o Options) {
	t.Helper()
	if err := Check(t.Context(), o); err != nil {
		t.Error(err)
	}
}

// Check runs the suite. Its error joins everything that breaks the contract.
func Check(ctx context.Context, o Options) error {
	if o.Cancel == 0 {
		o.Cancel = 2 * time.Second
	}
	if o.Input.Kind() != value.Map {
		return fmt.Errorf("tooltest: Options.Input is %s, expected a map", o.Input.JSON())
	}
	c := &check{Options: o}
	for _, p := range Registration(o.Tool) {
		c.fault("registration: %s", p)
	}
	if o.Tool.Func == nil {
		return errors.Join(c.faults...)
	}

	if obs, ok := c.call(ctx, "accepted input", o.Input, true); ok && c.enveloped() {
		if e, _ := obs.Value.Get("error"); !e.IsNull() {
			c.fault("accepted input: answered with the error %s", e.JSON())
		}
	}
	for _, in := range c.unexpected() {
		c.call(ctx, in.name, in.input, false)
	}

	ended, cancel := context.WithCancel(ctx)
	cancel()
	start := time.Now()
	obs, ok := c.call(ended, "ended context", o.Input, false)
	if d := time.Since(start); d > o.Cancel {
		c.fault("ended context: went on for %v", d)
	}
	if ok && c.enveloped() {
		if e, _ := obs.Value.Get("error"); e.IsNull() {
			c.fault("ended context: acted all the same: %s", obs.Value.JSON())
		}
	}

	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 8 {
				c.call(ctx, "concurrent", o.Input, true)
			}
		})
	}
	wg.Wait()
	return errors.Join(c.faults...)
}

type check struct {
	Options
	mu     sync.Mutex
	faults []error
}

func (c *check) fault(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, fmt.Errorf("tooltest: %s: "+format, append([]any{c.Tool.Name}, args...)...))
}

func (c *check) enveloped() bool { return c.Builtin && !c.Plain }

// Registration lists what is wrong with a registration: a name that cannot be
// written, no description or function, names given twice, a declaration that
// contradicts itself.
func Registration(tl tool.Tool) []string {
	var problems []string
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if tl.Name == "" || strings.ContainsFunc(tl.Name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == ':' }) {
		say("name %q: expected a word without white space, control characters or colons", tl.Name)
	}
	if strings.TrimSpace(tl.Description) == "" {
		say("tool %s has no description", tl.Name)
	}
	if tl.Func == nil {
		say("tool %s has no function", tl.Name)
	}
	for list, names := range map[string][]string{
		"sensitive": tl.Policy.Sensitive, "yields": tl.Policy.Yields, "may_carry": tl.Policy.MayCarry,
	} {
		seen := map[string]bool{}
		for _, n := range names {
			if strings.TrimSpace(n) == "" || seen[n] {
				say("tool %s: %s has %q blank or twice", tl.Name, list, n)
			}
			seen[n] = true
		}
	}
	if tl.Policy.Class == policy.Read && len(tl.Policy.Sensitive) > 0 {
		say("tool %s: sensitive parameters of a read tool bind nothing", tl.Name)
	}
	return problems
}

// call calls the tool and notes a panic, a changed argument, an error that may
// not be, and an observation that has not the right shape.
func (c *check) call(ctx context.Context, name string, in value.Value, accepted bool) (obs tool.Observation, ok bool) {
	args := make([]engine.Arg, in.Len())
	for i := range args {
		args[i] = engine.Arg{Name: in.Key(i), Value: trust.NewValue(in.At(i), trust.From("host:"+in.Key(i)))}
	}
	defer func() {
		if r := recover(); r != nil {
			c.fault("%s: panic: %v", name, r)
			ok = false
		}
		for i := range args {
			if args[i].Name != in.Key(i) || !value.Equal(args[i].Value.Value(), in.At(i)) {
				c.fault("%s: the argument %q was changed", name, in.Key(i))
			}
		}
	}()
	obs, err := c.Tool.Func(ctx, args)
	if err != nil {
		switch {
		case c.Builtin:
			c.fault("%s: a built-in failed with a Go error: %w", name, err)
		case accepted:
			c.fault("%s: %w", name, err)
		case strings.TrimSpace(err.Error()) == "":
			c.fault("%s: an error without a message", name)
		}
		return obs, false
	}
	c.observation(name, obs)
	return obs, true
}

func (c *check) observation(name string, obs tool.Observation) {
	if c.Builtin && c.Plain && obs.Value.Kind() != value.String {
		c.fault("%s: expected text, found %s", name, obs.Value.JSON())
	}
	if !c.enveloped() {
		return
	}
	v := obs.Value
	for i, key := range Envelope() {
		if i >= v.Len() || v.Key(i) != key {
			c.fault("%s: key %d of the envelope: expected %s, found %s", name, i, key, v.JSON())
			return
		}
	}
	get := func(key string) value.Value { x, _ := v.Get(key); return x }
	if own, _ := get("tool").AsString(); own != c.Tool.Name {
		c.fault("%s: tool: expected %q, found %q", name, c.Tool.Name, own)
	}
	fault := get("error")
	if fault.Kind() != value.String && !fault.IsNull() {
		c.fault("%s: error: expected null or text, found %s", name, fault.JSON())
	}
	want := "ok"
	if !fault.IsNull() {
		want = "error"
	}
	if status, _ := get("status").AsString(); status != want {
		c.fault("%s: status: expected %q beside error %s, found %q", name, want, fault.JSON(), status)
	}
	for key, want := range map[string]bool{"retryable": false, "untrusted": true} {
		if b, ok := get(key).AsBool(); !ok || b != want {
			c.fault("%s: %s: expected %v, found %s", name, key, want, get(key).JSON())
		}
	}
	if _, ok := get("stub").AsBool(); !ok {
		c.fault("%s: stub: expected a boolean, found %s", name, get("stub").JSON())
	}
}

type input struct {
	name  string
	input value.Value
}

// unexpected are inputs that the tool's author may not have thought of: no
// arguments, foreign ones, and each accepted argument replaced in turn.
func (c *check) unexpected() []input {
	inputs := []input{
		{"no arguments", value.FromEntries()},
		{"a foreign argument", c.Input.With("\u0000 no such parameter", value.FromBool(true))},
	}
	nested := value.FromInt(1)
	for range 50 {
		nested = value.FromList(nested)
	}
	text := value.FromString
	odd := []input{
		{"null", value.Value{}}, {"empty", text("")}, {"blank", text(" \t\n")},
		{"boolean", value.FromBool(true)}, {"negative", value.FromInt(-1)},
		{"list", value.FromList(text("a"), value.FromInt(2))},
		{"map", value.FromEntries(value.Entry{Key: "a", Value: text("b")})},
		{"nested", nested},
		{"long", text(strings.Repeat("long ", 200_000))},
		{"NUL", text("a\x00b")}, {"bad UTF-8", text("a\xffb")},
		{"markers", text("</data-ab12ab12ab12>\n{{x}} ${y} %s \u202e")},
		{"quotes", text(`'"` + "`" + `\`)},
	}
	for i := range c.Input.Len() {
		key := c.Input.Key(i)
		for _, o := range odd {
			inputs = append(inputs, input{key + "=" + o.name, c.Input.With(key, o.input)})
		}
	}
	return inputs
}
