package tooltest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/tool"
	"github.com/pinfold-dev/pinfold/tool/tooltest"
	"github.com/pinfold-dev/pinfold/value"
)

func echo() tool.Tool {
	return tool.Tool{
		Name: "echo", Description: "Gives its text back.",
		Policy: policy.Tool{Class: policy.Read, Local: true},
		Func: func(_ context.Context, args []engine.Arg) (tool.Observation, error) {
			v, _ := tool.Find(args, "text")
			return tool.Observation{Value: v.Value()}, nil
		},
	}
}

func TestAForeignToolPasses(t *testing.T) {
	tooltest.Test(t, tooltest.Options{Tool: echo(), Input: value.FromEntries(value.Entry{Key: "text", Value: value.FromString("hi")})})
}

func TestRegistrationFindsFaults(t *testing.T) {
	if p := tooltest.Registration(echo()); len(p) != 0 {
		t.Errorf("a sound registration: %q", p)
	}
	for want, change := range map[string]func(*tool.Tool){
		"expected a word":     func(tl *tool.Tool) { tl.Name = "a b" },
		"has no description":  func(tl *tool.Tool) { tl.Description = " " },
		"has no function":     func(tl *tool.Tool) { tl.Func = nil },
		"may_carry has":       func(tl *tool.Tool) { tl.Policy.MayCarry = []string{"pii", "pii"} },
		"sensitive has \"\"":  func(tl *tool.Tool) { tl.Policy.Class = policy.Effect; tl.Policy.Sensitive = []string{""} },
		"of a read tool bind": func(tl *tool.Tool) { tl.Policy.Sensitive = []string{"to"} },
	} {
		tl := echo()
		change(&tl)
		if p := tooltest.Registration(tl); len(p) != 1 || !strings.Contains(p[0], want) {
			t.Errorf("expected %q, found %q", want, p)
		}
	}
}

// The suite rejects what breaks the contract.
func TestCheckRejects(t *testing.T) {
	input := value.FromEntries(value.Entry{Key: "text", Value: value.FromString("hi")})
	envelope := func(args []engine.Arg) value.Value {
		var status, fault = "ok", value.Value{}
		if v, _ := tool.Find(args, "text"); v.Value().Kind() != value.String {
			status, fault = "error", value.FromString("text is no text")
		}
		return value.FromEntries(
			value.Entry{Key: "tool", Value: value.FromString("echo")},
			value.Entry{Key: "stub", Value: value.FromBool(true)},
			value.Entry{Key: "error", Value: fault},
			value.Entry{Key: "status", Value: value.FromString(status)},
			value.Entry{Key: "retryable", Value: value.FromBool(false)},
			value.Entry{Key: "untrusted", Value: value.FromBool(true)},
		)
	}
	type call = func(ctx context.Context, args []engine.Arg) (tool.Observation, error)
	for name, c := range map[string]struct {
		want string
		f    call
	}{
		"panics": {"panic", func(_ context.Context, args []engine.Arg) (tool.Observation, error) {
			return tool.Observation{}, []error{nil}[len(args)]
		}},
		"changes its arguments": {"was changed", func(_ context.Context, args []engine.Arg) (tool.Observation, error) {
			for i := range args {
				args[i].Name = "x"
			}
			return tool.Observation{Value: envelope(nil)}, nil
		}},
		"fails with a Go error": {"Go error", func(context.Context, []engine.Arg) (tool.Observation, error) {
			return tool.Observation{}, errors.New("no")
		}},
		"no envelope": {"key 0 of the envelope", func(context.Context, []engine.Arg) (tool.Observation, error) {
			return tool.Observation{Value: value.FromString("hi")}, nil
		}},
		"says ok beside an error": {"status: expected", func(ctx context.Context, args []engine.Arg) (tool.Observation, error) {
			return tool.Observation{Value: envelope(args).With("status", value.FromString("ok"))}, nil
		}},
		"says that it is trusted": {"untrusted: expected true", func(ctx context.Context, args []engine.Arg) (tool.Observation, error) {
			return tool.Observation{Value: envelope(args).With("untrusted", value.FromBool(false))}, nil
		}},
		"another's name": {"tool: expected", func(ctx context.Context, args []engine.Arg) (tool.Observation, error) {
			return tool.Observation{Value: envelope(args).With("tool", value.FromString("calc"))}, nil
		}},
		"acts after its context": {"acted all the same", func(_ context.Context, args []engine.Arg) (tool.Observation, error) {
			return tool.Observation{Value: envelope(args)}, nil
		}},
		"goes on after its context": {"went on for", func(ctx context.Context, args []engine.Arg) (tool.Observation, error) {
			if ctx.Err() != nil {
				time.Sleep(20 * time.Millisecond)
			}
			return tool.Observation{Value: envelope(args)}, nil
		}},
	} {
		tl := echo()
		tl.Func = c.f
		err := tooltest.Check(t.Context(), tooltest.Options{Tool: tl, Input: input, Builtin: true, Cancel: 5 * time.Millisecond})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: expected %q, found %v", name, c.want, err)
		}
	}
	if err := tooltest.Check(t.Context(), tooltest.Options{Tool: echo()}); err == nil {
		t.Error("no input, and nothing is said")
	}
}
