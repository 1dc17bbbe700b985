package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/pinfold-dev/pinfold/hook"
	"github.com/pinfold-dev/pinfold/hook/builtin"
	"github.com/pinfold-dev/pinfold/hook/hooktest"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

func TestSuite(t *testing.T) {
	keys := map[string][]string{
		"amount_le_100": {"amount"}, "has_receipt": {"has_receipt"}, "auto_approve_ok": {"amount", "has_receipt"},
		"console_workspace_ready": {"workspace_required", "workspace_brief", "observation"},
		"eq:k:full":               {"k"}, "neq:k:full": {"k"}, "eq:a.b.c:": {"a", "a.b.c"}, "eq:k:": {"k"},
	}
	names := append(builtin.Names(), "eq:k:full", "neq:k:full", "eq:a.b.c:", "eq:k:")
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			f, _, ok := builtin.Resolve(name, nil)
			if !ok {
				t.Fatal("does not resolve")
			}
			hooktest.Test(t, f, keys[name]...)
		})
	}
}

var errHost = errors.New("the host's own")

func TestResolutionOrder(t *testing.T) {
	own := func(context.Context, hook.View, trust.Value) (bool, error) { return false, errHost }
	host := map[string]hook.Func{"always_true": own, "eq:k:v": own, "neq:nil:v": nil}
	for _, c := range []struct {
		name           string
		host           bool
		parametric, ok bool
	}{
		{"always_true", true, false, true},
		{"always_false", false, false, true},
		{"eq:k:v", true, false, true}, // the host's own confirms by the host's rule
		{"eq:k:w", false, true, true},
		{"neq:k:", false, true, true},
		{"neq:nil:v", false, false, false}, // a name without a function is no hook, and no other is taken for it
		{"unknown", false, false, false},
		{"eq:k", false, false, false},
		{"", false, false, false},
	} {
		f, parametric, ok := builtin.Resolve(c.name, host)
		if parametric != c.parametric || ok != c.ok {
			t.Errorf("%q: parametric %v, ok %v", c.name, parametric, ok)
		}
		if !ok {
			continue
		}
		_, err := f(t.Context(), hooktest.Board(value.FromEntries()), trust.Value{})
		if errors.Is(err, errHost) != c.host {
			t.Errorf("%q: answered by the wrong one: %v", c.name, err)
		}
	}
}

func ExampleResolve() {
	f, parametric, ok := builtin.Resolve("eq:ticket.state:open", nil)
	board := hooktest.Board(value.FromEntries(value.Entry{
		Key: "ticket", Value: value.FromEntries(value.Entry{Key: "state", Value: value.FromString("open")}),
	}))
	fires, err := f(context.Background(), board, trust.Value{})
	fmt.Println(parametric, ok, fires, err)
	// Output: true true true <nil>
}

func BenchmarkHook(b *testing.B) {
	board := hooktest.Board(value.FromEntries(value.Entry{Key: "k", Value: value.FromString("safe")}))
	f, _, _ := builtin.Resolve("eq:k:safe", nil)
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := f(b.Context(), board, trust.Value{}); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
