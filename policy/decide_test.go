package policy_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/trust"
)

var (
	outside = trust.From("host:question")
	model   = trust.ModelLabel("model:draft")
	pii     = trust.From("tool:crm").WithSecrecy("pii")
)

// table has one tool of every sort that the rules tell apart.
func table() policy.Table {
	return policy.Table{
		"pay":    {Class: policy.Effect, Sensitive: []string{"payee", "account"}},
		"log":    {Class: policy.Effect, Local: true, Sensitive: []string{"payee"}},
		"web":    {Class: policy.Read, Sensitive: []string{"payee"}},
		"calc":   {Class: policy.Read, Local: true, Sensitive: []string{"payee"}},
		"crm":    {Class: policy.Read, MayCarry: []string{"billing", "pii", "pii"}},
		"broken": {Class: policy.Class(9), Local: true},
	}
}

func rules(d policy.Decision) string {
	var b strings.Builder
	for _, r := range d.Reasons {
		fmt.Fprintf(&b, "%d:%s%v ", r.Rule, r.Action, r.Names)
	}
	return strings.TrimSpace(b.String())
}

func TestDecideRules(t *testing.T) {
	tainted := policy.Flow{Tainted: true, By: "main/route"}
	payee := policy.Arg{Name: "payee", Label: outside}
	secret := policy.Arg{Name: "note", Label: pii}
	for _, c := range []struct {
		name, tool string
		flow       policy.Flow
		args       []policy.Arg
		want       string
	}{
		{"nothing holds", "pay", policy.Flow{}, nil, ""},
		{"1 on an effect", "pay", tainted, nil, "1:halt[]"},
		{"1 on a local effect", "log", tainted, nil, "1:halt[]"},
		{"1 not on a read", "web", tainted, nil, ""},
		{"1 on a tool nobody declared", "new", tainted, nil, "1:halt[]"},
		{"1 on a class that is none", "broken", tainted, nil, "1:halt[]"},
		{"1 by a step without a name", "pay", policy.Flow{Tainted: true}, nil, "1:halt[]"},
		{"a name without the flag is no flag", "pay", policy.Flow{By: "main/route"}, nil, ""},
		{"2 on External", "pay", policy.Flow{}, []policy.Arg{payee}, "2:halt[payee]"},
		{"2 on the zero label", "pay", policy.Flow{}, []policy.Arg{{Name: "payee"}}, "2:halt[payee]"},
		{"2 not on Model", "pay", policy.Flow{}, []policy.Arg{{Name: "payee", Label: model}}, ""},
		{"2 not on another parameter", "pay", policy.Flow{}, []policy.Arg{{Name: "Payee", Label: outside}}, ""},
		{"2 not on a read", "web", policy.Flow{}, []policy.Arg{payee}, ""},
		{"2 sorted, once", "pay", policy.Flow{}, []policy.Arg{payee, {Name: "account", Label: outside}, payee}, "2:halt[account payee]"},
		{"3 on an effect", "pay", policy.Flow{}, []policy.Arg{secret}, "3:halt[pii]"},
		{"3 on a local effect", "log", policy.Flow{}, []policy.Arg{secret}, "3:halt[pii]"},
		{"3 on a read that sends", "web", policy.Flow{}, []policy.Arg{secret}, "3:halt[pii]"},
		{"3 not on a local read", "calc", policy.Flow{}, []policy.Arg{secret}, ""},
		{"3 not what it may carry", "crm", policy.Flow{}, []policy.Arg{secret}, ""},
		{"3 what it may not carry of several", "crm", policy.Flow{}, []policy.Arg{{Name: "x", Label: pii.WithSecrecy("health")}}, "3:halt[health]"},
		{"3 on Model data too", "web", policy.Flow{}, []policy.Arg{{Name: "x", Label: model.WithSecrecy("pii")}}, "3:halt[pii]"},
		{"3 union over arguments", "web", policy.Flow{}, []policy.Arg{secret, {Name: "y", Label: pii.WithSecrecy("a")}}, "3:halt[a pii]"},
		{"3 the unknown tag", "crm", policy.Flow{}, []policy.Arg{{Name: "x", Label: outside.WithSecrecy("")}}, "3:halt[]"},
		{"all three", "pay", tainted, []policy.Arg{secret, payee}, "1:halt[] 2:halt[payee] 3:halt[pii]"},
	} {
		d := policy.Decide(policy.Request{Tool: c.tool, Args: c.args, Flow: c.flow, Table: table()})
		if got := rules(d); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if d.Allowed() != (c.want == "") || d.Asks() {
			t.Errorf("%s: allowed %v, asks %v", c.name, d.Allowed(), d.Asks())
		}
	}
}

func TestDecideSaysWhatCausedIt(t *testing.T) {
	d := policy.Decide(policy.Request{
		Tool: "pay",
		Args: []policy.Arg{
			{Name: "payee", Label: trust.From("tool:mail")},
			{Name: "account", Label: trust.From("host:question")},
			{Name: "amount", Label: trust.From("tool:other")},
			{Name: "note", Label: trust.ModelLabel("model:draft").WithSecrecy("pii")},
		},
		Flow:  policy.Flow{Tainted: true, By: "main/route"},
		Table: table(),
		Rules: policy.Policies{UntrustedFlow: policy.Report, UntrustedArgument: policy.Ask, SecretEgress: policy.Halt},
	})
	want := []struct {
		action  policy.Action
		names   []string
		sources []string
		by      string
	}{
		{policy.Report, nil, nil, "main/route"},
		{policy.Ask, []string{"account", "payee"}, []string{"host:question", "tool:mail"}, ""},
		{policy.Halt, []string{"pii"}, []string{"model:draft"}, ""},
	}
	if len(d.Reasons) != len(want) {
		t.Fatalf("%d reasons: %v", len(d.Reasons), d.Reasons)
	}
	for i, w := range want {
		r := d.Reasons[i]
		if r.Rule != policy.Rule(i+1) || r.Action != w.action || !slices.Equal(r.Names, w.names) ||
			!slices.Equal(r.Sources.Items(), w.sources) || r.By != w.by {
			t.Errorf("reason %d: %+v, want %+v", i+1, r, w)
		}
	}
	if r, ok := d.Halting(); r != policy.SecretEgress || !ok {
		t.Errorf("halting: %v, %v", r, ok)
	}
}

// TestOutcomeIsTheStrictest goes through all 27 policies with all 8 sets of rules
// that can hold.
func TestOutcomeIsTheStrictest(t *testing.T) {
	actions := []policy.Action{policy.Halt, policy.Ask, policy.Report}
	for holds := range 8 {
		r := policy.Request{Tool: "pay", Table: table()}
		if holds&1 != 0 {
			r.Flow.Tainted = true
		}
		if holds&2 != 0 {
			r.Args = append(r.Args, policy.Arg{Name: "payee", Label: outside})
		}
		if holds&4 != 0 {
			r.Args = append(r.Args, policy.Arg{Name: "note", Label: pii})
		}
		for p := range 27 {
			each := [3]policy.Action{actions[p%3], actions[p/3%3], actions[p/9]}
			r.Rules = policy.Policies{UntrustedFlow: each[0], UntrustedArgument: each[1], SecretEgress: each[2]}
			d := policy.Decide(r)
			var halts, asks, reasons int
			lowest := policy.Rule(0)
			for i, a := range each {
				if holds>>i&1 == 0 {
					continue
				}
				reasons++
				if a == policy.Halt {
					if halts++; lowest == 0 {
						lowest = policy.Rule(i + 1)
					}
				}
				if a == policy.Ask {
					asks++
				}
			}
			if len(d.Reasons) != reasons {
				t.Fatalf("holds %03b under %v: %d reasons", holds, each, len(d.Reasons))
			}
			if d.Allowed() != (halts+asks == 0) || d.Asks() != (halts == 0 && asks > 0) {
				t.Errorf("holds %03b under %v: allowed %v, asks %v", holds, each, d.Allowed(), d.Asks())
			}
			if rule, ok := d.Halting(); ok != (halts > 0) || rule != lowest {
				t.Errorf("holds %03b under %v: halting %v %v, want %v", holds, each, rule, ok, lowest)
			}
			if a := d.Approve(); a.Allowed() != (halts == 0) || a.Asks() || len(a.Reasons) != reasons {
				t.Errorf("holds %03b under %v: approved: allowed %v, asks %v", holds, each, a.Allowed(), a.Asks())
			}
		}
	}
}

func TestZeroIsStrict(t *testing.T) {
	var d policy.Decision
	if rule, halts := d.Halting(); d.Allowed() || d.Asks() || d.Approve().Allowed() || !halts || rule != 0 {
		t.Errorf("the zero Decision: allowed %v, asks %v, halting %v %v", d.Allowed(), d.Asks(), rule, halts)
	}
	var p policy.Policies
	for r := range policy.Rule(5) {
		if p.Of(r) != policy.Halt {
			t.Errorf("the zero Policies: %v for rule %d", p.Of(r), r)
		}
	}
	zero := policy.Decide(policy.Request{Flow: policy.Flow{Tainted: true}})
	if zero.Allowed() || zero.Asks() {
		t.Error("a tainted call of an unknown tool under the zero Policies is not refused")
	}
	odd := policy.Policies{UntrustedFlow: 7, UntrustedArgument: 7, SecretEgress: 7}
	if d := policy.Decide(policy.Request{Flow: policy.Flow{Tainted: true}, Rules: odd}); d.Allowed() || d.Asks() || d.Reasons[0].Action != policy.Halt {
		t.Error("an action that is none does not halt")
	}
	var tool policy.Tool
	if tool.Class != policy.Effect || !tool.Egress() || len(tool.MayCarry) > 0 {
		t.Errorf("the zero Tool: %+v", tool)
	}
}

// TestDecideProperties holds Decide against the rules stated over sets.
func TestDecideProperties(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	tags := rapid.SliceOfN(rapid.SampledFrom([]string{"pii", "billing", "health"}), 0, 3)
	action := rapid.Custom(func(t *rapid.T) policy.Action { return policy.Action(rapid.IntRange(0, 2).Draw(t, "action")) })
	rapid.Check(t, func(t *rapid.T) {
		tool := policy.Tool{
			Class:     policy.Class(rapid.IntRange(0, 1).Draw(t, "class")),
			Sensitive: rapid.SliceOfN(names, 0, 3).Draw(t, "sensitive"),
			MayCarry:  tags.Draw(t, "may carry"),
			Local:     rapid.Bool().Draw(t, "local"),
		}
		r := policy.Request{
			Tool:  "x",
			Table: policy.Table{"x": tool},
			Flow:  policy.Flow{Tainted: rapid.Bool().Draw(t, "tainted")},
			Rules: policy.Policies{UntrustedFlow: action.Draw(t, "1"), UntrustedArgument: action.Draw(t, "2"), SecretEgress: action.Draw(t, "3")},
		}
		wantNames, wantTags := map[string]bool{}, map[string]bool{}
		for range rapid.IntRange(0, 5).Draw(t, "n") {
			name, carried := names.Draw(t, "name"), tags.Draw(t, "tags")
			label := model
			if rapid.Bool().Draw(t, "external") {
				label = outside
				if slices.Contains(tool.Sensitive, name) {
					wantNames[name] = true
				}
			}
			r.Args = append(r.Args, policy.Arg{Name: name, Label: label.WithSecrecy(carried...)})
			for _, tag := range carried {
				if !slices.Contains(tool.MayCarry, tag) {
					wantTags[tag] = true
				}
			}
		}
		effect := tool.Class == policy.Effect
		want := map[policy.Rule][]string{}
		if effect && r.Flow.Tainted {
			want[policy.UntrustedFlow] = nil
		}
		if effect && len(wantNames) > 0 {
			want[policy.UntrustedArgument] = slices.Sorted(maps.Keys(wantNames))
		}
		if (effect || !tool.Local) && len(wantTags) > 0 {
			want[policy.SecretEgress] = slices.Sorted(maps.Keys(wantTags))
		}
		d := policy.Decide(r)
		got := map[policy.Rule][]string{}
		strictest := policy.Report
		for i, reason := range d.Reasons {
			if i > 0 && d.Reasons[i-1].Rule >= reason.Rule {
				t.Fatalf("reasons out of order: %v", d.Reasons)
			}
			got[reason.Rule] = reason.Names
			strictest = min(strictest, r.Rules.Of(reason.Rule))
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("reasons %v, want %v", got, want)
		}
		if d.Allowed() != (strictest == policy.Report) || d.Asks() != (strictest == policy.Ask) {
			t.Fatalf("outcome: allowed %v, asks %v, strictest %v", d.Allowed(), d.Asks(), strictest)
		}

		// More taint never opens anything, and the order of arguments is nothing.
		slices.Reverse(r.Args)
		if again := policy.Decide(r); rules(again) != rules(d) {
			t.Fatalf("another order of arguments: %s, %s", rules(again), rules(d))
		}
		r.Flow.Tainted = true
		for i := range r.Args {
			r.Args[i].Label = r.Args[i].Label.Join(pii)
		}
		worse := policy.Decide(r)
		if worse.Allowed() && !d.Allowed() || worse.Asks() && !d.Allowed() && !d.Asks() {
			t.Fatal("a call that knows less is allowed more")
		}
	})
}

func TestReasonTextIsOneSafeLine(t *testing.T) {
	evil := "a\u202e\n\x1b[2K"
	for _, r := range []policy.Reason{
		{Rule: policy.UntrustedFlow, By: evil},
		{Rule: policy.UntrustedArgument, Names: []string{evil}, Sources: trust.NewSet(evil)},
		{Rule: policy.SecretEgress, Names: []string{evil}},
		{},
	} {
		text := r.String()
		if text == "" || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' }) {
			t.Errorf("rule %d: %q", r.Rule, text)
		}
	}
}

func three() policy.Request {
	return policy.Request{
		Tool: "pay",
		Args: []policy.Arg{
			{Name: "payee", Label: trust.From("tool:mail")},
			{Name: "account", Label: trust.From("host:question")},
			{Name: "note", Label: pii},
		},
		Flow:  policy.Flow{Tainted: true, By: "main/route"},
		Table: table(),
		Rules: policy.Defaults(),
	}
}

func TestDecideWithoutReasonsAllocatesNothing(t *testing.T) {
	r := three()
	r.Tool = "crm"
	r.Flow = policy.Flow{}
	if n := testing.AllocsPerRun(100, func() {
		if !policy.Decide(r).Allowed() {
			t.Fatal("refused")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDecideNoReason(b *testing.B) {
	r := three()
	r.Tool = "crm"
	b.ReportAllocs()
	for b.Loop() {
		policy.Decide(r)
	}
}

func BenchmarkDecideThreeReasons(b *testing.B) {
	r := three()
	b.ReportAllocs()
	for b.Loop() {
		policy.Decide(r)
	}
}

func ExampleDecide() {
	d := policy.Decide(policy.Request{
		Tool:  "send_reply",
		Args:  []policy.Arg{{Name: "to", Label: trust.From("host:ticket")}},
		Flow:  policy.Flow{Tainted: true, By: "triage/route"},
		Table: policy.Builtin(),
		Rules: policy.Policies{UntrustedFlow: policy.Halt, UntrustedArgument: policy.Ask},
	})
	fmt.Println("allowed:", d.Allowed())
	for _, r := range d.Reasons {
		fmt.Println(r.Action, r)
	}
	// Output:
	// allowed: false
	// halt untrusted control flow: this step was reached by a choice that outside text had a part in, made at triage/route
	// ask untrusted argument: outside text chose to, from host:ticket
}
