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

// Test runs the suite. It fails t where the tool breaks the contract.
func Test(t *testing.T, o Options) {
	t.Helper()
	if o.Cancel == 0 {
		o.Cancel = 2 * time.Second
	}
	if o.Input.Kind() != value.Map {
		t.Fatalf("tooltest: Options.Input is %v, expected a map", o.Input.JSON())
	}
	t.Run("registration", func(t *testing.T) {
		for _, p := range Registration(o.Tool) {
			t.Error(p)
		}
	})
	t.Run("accepted input", func(t *testing.T) {
		obs, err := o.call(t, t.Context(), o.Input)
		if err != nil {
			t.Fatalf("an input that the tool accepts: %v", err)
		}
		o.observation(t, obs)
		if o.Builtin && !o.Plain {
			if e, _ := obs.Value.Get("error"); !e.IsNull() {
				t.Errorf("an input that the tool accepts is answered with the error %s", e.JSON())
			}
		}
	})
	t.Run("unexpected input", func(t *testing.T) {
		for name, in := range o.unexpected() {
			t.Run(name, func(t *testing.T) {
				obs, err := o.call(t, t.Context(), in)
				if err == nil {
					o.observation(t, obs)
					return
				}
				if o.Builtin {
					t.Errorf("a built-in failed with a Go error: %v", err)
				}
				if strings.TrimSpace(err.Error()) == "" {
					t.Error("an error without a message")
				}
			})
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		start := time.Now()
		obs, err := o.call(t, ctx, o.Input)
		if d := time.Since(start); d > o.Cancel {
			t.Errorf("went on for %v after its context had ended", d)
		}
		if o.Builtin && err != nil {
			t.Errorf("a built-in failed with a Go error: %v", err)
		}
		if o.Builtin && !o.Plain && err == nil {
			if e, _ := obs.Value.Get("error"); e.IsNull() {
				t.Errorf("acted after its context had ended: %s", obs.Value.JSON())
			}
		}
	})
	t.Run("concurrent", func(t *testing.T) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 8 {
					if _, err := o.call(t, t.Context(), o.Input); err != nil {
						t.Errorf("concurrent call: %v", err)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

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

// call calls the tool and turns a panic, and arguments that it changed, into
// failures.
func (o *Options) call(t *testing.T, ctx context.Context, in value.Value) (obs tool.Observation, err error) {
	t.Helper()
	args := make([]engine.Arg, in.Len())
	for i := range args {
		args[i] = engine.Arg{Name: in.Key(i), Value: trust.NewValue(in.At(i), trust.From("host:"+in.Key(i)))}
	}
	defer func() {
		t.Helper()
		if r := recover(); r != nil {
			t.Errorf("panic: %v", r)
			err = fmt.Errorf("panic: %v", r)
		}
		for i := range args {
			if args[i].Name != in.Key(i) || !value.Equal(args[i].Value.Value(), in.At(i)) {
				t.Errorf("the tool changed its argument %s", in.Key(i))
			}
		}
	}()
	return o.Tool.Func(ctx, args)
}

func (o *Options) observation(t *testing.T, obs tool.Observation) {
	t.Helper()
	if !o.Builtin {
		return
	}
	if o.Plain {
		if obs.Value.Kind() != value.String {
			t.Errorf("expected text, found %s", obs.Value.JSON())
		}
		return
	}
	v := obs.Value
	for i, key := range Envelope() {
		if i >= v.Len() || v.Key(i) != key {
			t.Fatalf("key %d of the envelope: expected %s, found %s", i, key, v.JSON())
		}
	}
	get := func(key string) value.Value { x, _ := v.Get(key); return x }
	if name, _ := get("tool").AsString(); name != o.Tool.Name {
		t.Errorf("tool: expected %q, found %q", o.Tool.Name, name)
	}
	fault := get("error")
	if fault.Kind() != value.String && !fault.IsNull() {
		t.Errorf("error: expected null or text, found %s", fault.JSON())
	}
	want := "ok"
	if !fault.IsNull() {
		want = "error"
	}
	if status, _ := get("status").AsString(); status != want {
		t.Errorf("status: expected %q beside error %s, found %q", want, fault.JSON(), status)
	}
	for key, want := range map[string]bool{"retryable": false, "untrusted": true} {
		if b, ok := get(key).AsBool(); !ok || b != want {
			t.Errorf("%s: expected %v, found %s", key, want, get(key).JSON())
		}
	}
	if _, ok := get("stub").AsBool(); !ok {
		t.Errorf("stub: expected a boolean, found %s", get("stub").JSON())
	}
}

// unexpected are inputs that the tool's author may not have thought of: no
// arguments, foreign ones, and each accepted argument replaced in turn.
func (o *Options) unexpected() map[string]value.Value {
	inputs := map[string]value.Value{
		"no arguments":       value.FromEntries(),
		"a foreign argument": o.Input.With("\u0000 no such parameter", value.FromBool(true)),
	}
	long := value.FromString(strings.Repeat("long ", 200_000))
	nested := value.FromInt(1)
	for range 50 {
		nested = value.FromList(nested)
	}
	odd := map[string]value.Value{
		"null":      {},
		"empty":     value.FromString(""),
		"blank":     value.FromString(" \t\n"),
		"boolean":   value.FromBool(true),
		"negative":  value.FromInt(-1),
		"list":      value.FromList(value.FromString("a"), value.FromInt(2)),
		"map":       value.FromEntries(value.Entry{Key: "a", Value: value.FromString("b")}),
		"nested":    nested,
		"long":      long,
		"NUL":       value.FromString("a\x00b"),
		"bad UTF-8": value.FromString("a\xffb"),
		"markers":   value.FromString("</data-ab12ab12ab12>\n{{x}} ${y} %s ‮"),
		"quotes":    value.FromString(`'"` + "`" + `\`),
	}
	for i := range o.Input.Len() {
		key := o.Input.Key(i)
		for name, v := range odd {
			inputs[key+"="+name] = o.Input.With(key, v)
		}
	}
	return inputs
}
