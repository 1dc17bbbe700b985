package cedar_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/policy/cedar"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/trust/unchecked"
	"github.com/pinfold-dev/pinfold/value"
)

func parse(tb testing.TB, text string) *cedar.Rules {
	tb.Helper()
	r, err := cedar.Parse(cedar.Document{Name: "rules.cedar", Text: []byte(text)})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func call() policy.Call {
	own := func(v value.Value) trust.Value {
		return unchecked.VouchValue(v, "test", "a test's own value")
	}
	return policy.Call{
		Run: "r", Machine: "triage", State: "send", Tool: "send_reply", Is: policy.Builtin()["send_reply"],
		Flow: policy.Flow{Tainted: true, By: "triage/draft"},
		Args: []policy.CallArg{
			{Name: "to", Value: trust.NewValue(value.FromString("eve@example.com"), trust.From("host:ticket").WithSecrecy("pii"))},
			{Name: "amount", Value: own(value.FromInt(250))},
			{Name: "rate", Value: own(value.FromList(value.FromInt(1)))},
		},
	}
}

// What each rule over the call comes to.
func TestDecide(t *testing.T) {
	for name, c := range map[string]struct {
		when string
		want string // "" when nothing speaks against the call
	}{
		"tool":             {`resource == Tool::"send_reply"`, "halt x"},
		"another tool":     {`resource == Tool::"pay"`, ""},
		"class":            {`context.class == "effect" && resource.class == "effect"`, "halt x"},
		"egress":           {`context.egress && resource.egress`, "halt x"},
		"level":            {`context.args.to.level == "external"`, "halt x"},
		"level of ours":    {`context.args.amount.level != "author"`, ""},
		"source":           {`context.args.to.sources.contains("host:ticket")`, "halt x"},
		"secrecy":          {`context.args.to.secrecy.contains("pii")`, "halt x"},
		"sensitive":        {`context.args.to.sensitive && !context.args.amount.sensitive`, "halt x"},
		"number":           {`context.args.amount.value > 100`, "halt x"},
		"number below":     {`context.args.amount.value > 1000`, ""},
		"text":             {`context.args.to.text like "*@example.com"`, "halt x"},
		"text of a list":   {`context.args.rate.text == "[1]"`, "halt x"},
		"flow":             {`context.flow.tainted && context.flow.by == "triage/draft"`, "halt x"},
		"machine":          {`principal == Machine::"triage" && context.machine == "triage"`, "halt x"},
		"run and state":    {`context.run == "r" && context.state == "send"`, "halt x"},
		"no such argument": {`context.args.nothing.level == "external"`, "halt x"}, // it errors: denied
		"no value":         {`context.args.rate.value == 1`, "halt x"},
		"a type that isn't": {
			`context.args.to.value > 100`, "halt x"},
		"guarded": {`context.args has nothing && context.args.nothing.level == "external"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := parse(t, `@id("x") forbid (principal, action, resource) when { `+c.when+` };`)
			got := ""
			for _, reason := range r.Decide(call()) {
				got += reason.Action.String() + " " + strings.Join(reason.Names, ",")
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A policy that errors denies, beside others that do not hold, and says so.
func TestAnErrorDenies(t *testing.T) {
	r := parse(t, `
@id("fine") forbid (principal, action, resource) when { false };
@id("asks") @on("ask") forbid (principal, action, resource) when { context.flow.tainted };
@id("broken") @on("ask") forbid (principal, action, resource) when { context.nothing };`)
	reasons := r.Decide(call())
	if len(reasons) != 2 || reasons[0].Names[0] != "asks" || reasons[0].Action != policy.Ask || reasons[1].Names[0] != "broken" || reasons[1].Action != policy.Halt {
		t.Fatalf("got %+v", reasons)
	}
	if s := reasons[1].String(); !strings.Contains(s, "rule of this host: broken: ") || !strings.Contains(s, "could not be evaluated") {
		t.Errorf("got %s", s)
	}
	d := policy.Decide(policy.Request{Tool: "send_reply", Table: policy.Builtin(), Rules: policy.Defaults()})
	if d = d.With(reasons); d.Allowed() || d.Asks() {
		t.Error("a policy that errors let a call through")
	}
}

// The zero Rules and no Rules forbid nothing; nobody can permit anything.
func TestOnlyForbids(t *testing.T) {
	if (&cedar.Rules{}).Decide(call()) != nil || (*cedar.Rules)(nil).Decide(call()) != nil || parse(t, "").Decide(call()) != nil {
		t.Error("no rules forbid something")
	}
	for text, want := range map[string]string{
		`permit (principal, action, resource);`:                                    "rules.cedar:1:1: expected forbid, found permit",
		`@on("Ask") forbid (principal, action, resource);`:                         `@on: expected ask or halt, found "Ask"`,
		`@id("") forbid (principal, action, resource);`:                            "@id: expected a name",
		`forbid (principal, action, resource)`:                                     "rules.cedar: ",
		`forbid (principal, action, resource) when { context.args.to.level = 1 };`: "rules.cedar: ",
		`@id("a") forbid (principal, action, resource);
@id("a") forbid (principal, action, resource);`: `rules.cedar:2:1: @id("a"): there is another policy of this name`,
	} {
		if _, err := cedar.Parse(cedar.Document{Name: "rules.cedar", Text: []byte(text)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{``, `forbid (principal, action, resource);`, `@id("x") @on("ask") forbid (principal, action, resource) when { context.args.to.level == "external" };`, `permit (`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := cedar.Parse(cedar.Document{Name: "f", Text: []byte(text)})
		if err != nil {
			return
		}
		r.Decide(call())
	})
}

func BenchmarkDecide(b *testing.B) {
	r := parse(b, `forbid (principal, action, resource == Tool::"send_reply") when { context.args.to.level == "external" };`)
	c := call()
	for b.Loop() {
		r.Decide(c)
	}
}

func ExampleParse() {
	rules, err := cedar.Parse(cedar.Document{Name: "rules.cedar", Text: []byte(`
@id("no_outside_recipient")
forbid (principal, action, resource == Tool::"send_reply")
when { context.args.to.level == "external" };`)})
	if err != nil {
		panic(err)
	}
	c := policy.Call{Tool: "send_reply", Args: []policy.CallArg{{Name: "to", Value: trust.NewValue(value.FromString("x"), trust.From("host:to"))}}}
	for _, r := range rules.Decide(c) {
		fmt.Println(r)
	}
	// Output: rule of this host: no_outside_recipient, from host:to
}
