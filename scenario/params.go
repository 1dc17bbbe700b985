package scenario

import (
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/mkl/yamltree"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/trust/unchecked"
	"github.com/pinfold-dev/pinfold/value"
)

// params are the run parameters of LANGUAGE.md §14 that a scenario may set.
type params struct {
	options engine.Options // without the table
	effects []toolEffect   // in file order
	judge   string
	tiers   map[mkl.Tier]map[string]any
	workers int
	trusted map[string]string // key → reason
	frames  engine.Frames     // of resume
	resume  bool
}

// toolEffect is one entry of tool_effects: what it says about a tool, each key
// merged over what is known already.
type toolEffect struct {
	name string
	decl policy.Declaration
}

var paramKeys = []string{
	"cost_budget", "delimit", "escalate_suspend", "flow_tainted", "judge", "judge_lenient", "max_workers",
	"on_secret_egress", "on_truncate", "on_untrusted_argument", "on_untrusted_flow", "prompt_value_chars",
	"resume", "suspendable", "tier_params", "tool_effects", "trusted_keys",
}

// language defaults of §14: what a surface sets by name.
func defaults() params {
	return params{options: engine.Options{
		Policies:   policy.Policies{UntrustedFlow: policy.Report, UntrustedArgument: policy.Report, SecretEgress: policy.Halt},
		OnTruncate: engine.TruncateReport,
	}}
}

func (l *loader) params(c *Case, n *yamltree.Node) {
	p := &c.params
	o := &p.options
	l.each(n, "run", func(name string, v *yamltree.Node) {
		where := "run." + name
		switch name {
		case "cost_budget":
			o.CostBudget, o.HasCostBudget = l.count(v, where, 0), true
		case "delimit":
			o.Undelimited = !l.boolean(v, where)
		case "escalate_suspend":
			o.EscalateSuspend = l.boolean(v, where)
		case "flow_tainted":
			o.FlowTainted = l.boolean(v, where)
		case "judge":
			p.judge = l.str(v, where)
		case "judge_lenient":
			o.JudgeLenient = l.boolean(v, where)
		case "max_workers":
			p.workers = l.count(v, where, 1)
		case "on_secret_egress":
			o.Policies.SecretEgress = l.action(v, where)
		case "on_untrusted_argument":
			o.Policies.UntrustedArgument = l.action(v, where)
		case "on_untrusted_flow":
			o.Policies.UntrustedFlow = l.action(v, where)
		case "on_truncate":
			switch s := l.str(v, where); s {
			case "report":
				o.OnTruncate = engine.TruncateReport
			case "halt":
				o.OnTruncate = engine.TruncateHalt
			default:
				l.problem(v, "%s: '%s' is no value of it (report, halt)", where, s)
			}
		case "prompt_value_chars":
			i, err := v.AsInt()
			switch {
			case err != nil:
				l.problem(v, "%s: %s", where, err.Message)
			case i <= 0:
				o.PromptValueChars = -1
			default:
				o.PromptValueChars = i
			}
		case "resume":
			frames, err := engine.FramesOf(l.free(v, where), unchecked.Believe("a scenario is a test: nothing that it runs acts on the world"))
			if err != nil {
				l.problem(v, "%s: %s", where, err)
			}
			p.frames, p.resume = frames, true
		case "suspendable":
			o.Suspendable = l.boolean(v, where)
		case "tier_params":
			l.tierParams(p, v, where)
		case "tool_effects":
			l.each(v, where, func(tool string, v *yamltree.Node) {
				p.effects = append(p.effects, toolEffect{tool, l.declaration(v, where+"."+tool)})
			})
		case "trusted_keys":
			p.trusted = l.trusted(v, where)
		default:
			l.problem(v, "%s", unknown("key under run", name, paramKeys))
		}
	})
}

func (l *loader) action(n *yamltree.Node, where string) policy.Action {
	s := l.str(n, where)
	a, err := policy.ParseAction(s)
	if err != nil {
		l.problem(n, "%s: %s", where, err)
	}
	return a
}

func (l *loader) tierParams(p *params, n *yamltree.Node, where string) {
	p.tiers = map[mkl.Tier]map[string]any{}
	l.each(n, where, func(name string, v *yamltree.Node) {
		t := mkl.Tier(name)
		if t != mkl.Fast && t != mkl.Balanced && t != mkl.Reasoning {
			l.problem(v, "%s", unknown("tier under "+where, name, []string{"fast", "balanced", "reasoning"}))
			return
		}
		x := l.free(v, where+"."+name)
		m, ok := x.Any().(map[string]any)
		if !ok {
			l.problem(v, "%s.%s: expected a map, found %s", where, name, kind(v))
			return
		}
		p.tiers[t] = m
	})
}

// declaration reads a class by itself, or a map of the keys of §12.1.
func (l *loader) declaration(n *yamltree.Node, where string) policy.Declaration {
	d, err := policy.ParseDeclaration(l.free(n, where))
	if err != nil {
		l.problem(n, "%s: %s", where, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return d
}

// trusted reads keys with their reasons. A list is taken with the reason
// "scenario": in scenarios only, and nowhere else.
func (l *loader) trusted(n *yamltree.Node, where string) map[string]string {
	out := map[string]string{}
	if n.Kind == yamltree.Sequence {
		for _, key := range l.strings(n, where) {
			out[key] = "scenario"
		}
		return out
	}
	l.each(n, where, func(key string, v *yamltree.Node) {
		reason := l.str(v, where+"."+key)
		if strings.TrimSpace(reason) == "" {
			l.problem(v, "%s.%s: the reason is blank", where, key)
		}
		out[key] = reason
	})
	return out
}

// expect is what a scenario expects of its run.
type expect struct {
	line    int
	plain   []value.Entry // status, error, result, at, ask, reply_to
	prefix  string        // error_prefix
	hasPfx  bool
	context []value.Entry
	trace   []value.Value
	hasTr   bool
}

var (
	plainKeys  = []string{"status", "error", "result", "at", "ask", "reply_to"}
	expectKeys = append(slices.Clone(plainKeys), "error_prefix", "context", "trace")
)

func (l *loader) expect(c *Case, n *yamltree.Node) {
	x := &c.expect
	x.line = n.Line
	if n.Kind != yamltree.Mapping || len(n.Keys) == 0 {
		l.problem(n, "expect: expected a map that names something, found %s", kind(n))
		return
	}
	for i, k := range n.Keys {
		v := n.Values[i]
		where := "expect." + k.Text
		switch {
		case slices.Contains(plainKeys, k.Text):
			x.plain = append(x.plain, value.Entry{Key: k.Text, Value: l.free(v, where)})
		case k.Text == "error_prefix":
			x.prefix, x.hasPfx = l.str(v, where), true
		case k.Text == "context":
			l.each(v, where, func(name string, v *yamltree.Node) {
				x.context = append(x.context, value.Entry{Key: name, Value: l.free(v, where+"."+name)})
			})
		case k.Text == "trace":
			list := l.free(v, where)
			if list.Kind() != value.List {
				l.problem(v, "%s: expected a list of steps, found %s", where, kind(v))
				continue
			}
			x.hasTr = true
			for i := range list.Len() {
				step := list.At(i)
				if step.Kind() != value.Map {
					l.problem(v, "%s[%d]: expected a map, found %s", where, i, step.JSON())
				}
				x.trace = append(x.trace, step)
			}
		default:
			l.problem(k, "%s", unknown("key under expect", k.Text, expectKeys))
		}
	}
}
