package tooltest_test

import (
	"context"
	"strings"
	"testing"

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
