package cli

import (
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/pinfold-dev/pinfold/config"
	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/policy/cedar"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// hostRules reads the rules that a configuration names. A file that cannot be read
// is an error: a rule that is not there forbids nothing.
func hostRules(paths []string) (*cedar.Rules, *failure) {
	docs := make([]cedar.Document, len(paths))
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, &failure{code: "prepare-config", path: path, message: "policy.rules: " + err.Error()}
		}
		docs[i] = cedar.Document{Name: path, Text: text}
	}
	r, err := cedar.Parse(docs...)
	if err != nil {
		return nil, &failure{code: "prepare-config", message: "policy.rules: " + err.Error()}
	}
	return r, nil
}

// undeclared says of which tools the configuration speaks though nothing registers
// them: most likely the name is misspelt, and the tool that was meant unprotected.
func undeclared(r *config.Resolved, registered func(string) bool) []string {
	var out []string
	for _, list := range [][]config.Declared{r.Declarations, r.Tightened} {
		for _, d := range list {
			line := "tools." + d.Tool + ": declared, and nothing registers a tool of this name"
			if _, known := policy.Builtin()[d.Tool]; !known && !registered(d.Tool) && !slices.Contains(out, line) {
				out = append(out, line)
			}
		}
	}
	return out
}

type policyCmd struct {
	Check   policyCheckCmd   `cmd:"" help:"Check a configuration's policies and the host's own rules."`
	Explain policyExplainCmd `cmd:"" help:"Say what would happen to a machine's calls of a tool, and why."`
}

type policyCheckCmd struct {
	Rules  []string `arg:"" optional:"" help:"Files of Cedar policies; those of the configuration without any."`
	Config string   `placeholder:"FILE" help:"The configuration: pinfold.yaml or runtime.yaml."`
}

func (c *policyCheckCmd) run(a *app) int {
	files, from := c.Rules, (*config.Resolved)(nil)
	if len(files) == 0 {
		r, err := config.Load(a.sys, config.Request{Explicit: c.Config, Accepted: a.accepted})
		if err != nil {
			return a.fail(configFailure(err))
		}
		for _, w := range r.Warnings {
			a.warn(w)
		}
		files, from = r.Rules, r
	}
	rules, f := hostRules(files)
	if f != nil {
		return a.fail(f)
	}
	if a.json() {
		items := []value.Value{}
		for _, name := range rules.Names() {
			items = append(items, obj(kstr("rule", name)))
		}
		a.out.json(envelope(a.command, true, items, nil, obj(kint("files", len(files)), kint("rules", len(items)))))
		return exitOK
	}
	if from != nil {
		p := from.Policies
		a.out.print("untrusted-flow ", p.UntrustedFlow.String(), " · untrusted-argument ", p.UntrustedArgument.String(), " · secret-egress ", p.SecretEgress.String(), "\n")
	}
	for _, name := range rules.Names() {
		a.out.print("rule ", a.out.safe(name), "\n")
	}
	a.out.print(a.out.paint("OK"), " files=", itoa(len(files)), " · rules=", itoa(len(rules.Names())), "\n")
	return exitOK
}

type policyExplainCmd struct {
	Machine string `arg:"" help:"A machine's file, or the name of one that can be found from here."`
	Tool    string `arg:"" help:"The name of a tool."`
	modelFlags
	turnFlags
}

// run weighs the calls that the machine can make with the decision that a run would
// weigh them with, at the worst: after a choice that outside text had a part in, and
// with outside text wherever the machine puts a value.
func (c *policyExplainCmd) run(a *app) int {
	flags, f := c.chosen()
	if f != nil {
		return a.fail(f)
	}
	path, f := a.locate(c.Machine)
	if f != nil {
		return a.fail(f)
	}
	l, f := a.program(path, nil, c.modelFlags, false)
	if f != nil {
		return a.fail(f)
	}
	l.h.options(&runCmd{turnFlags: c.turnFlags}, flags)
	o := &l.h.config.Options
	decl, known := o.Table[c.Tool]
	var items []value.Value
	if !a.json() {
		a.explainTool(c.Tool, decl, known, o)
	}
	for _, m := range l.prog.Reachable() {
		for i := range m.States {
			s := &m.States[i]
			if s.Kind != mkl.Tool || s.Tool != c.Tool {
				continue
			}
			d := worst(m, s, o)
			if a.json() {
				items = append(items, explained(m, s, d))
			} else {
				a.explainState(m, s, d)
			}
		}
	}
	if a.json() {
		a.out.json(envelope(a.command, true, items, nil, obj(kstr("tool", c.Tool), kstr("class", decl.Class.String()), kbool("egress", decl.Egress()),
			kstrs("sensitive", decl.Sensitive), kstrs("may_carry", decl.MayCarry), kbool("declared", known), kint("states", len(items)))))
	}
	return exitOK
}

// worst is the decision on a state's call at the worst. A literal that the machine's
// author wrote stays the author's.
func worst(m *mkl.Machine, s *mkl.State, o *engine.Options) policy.Decision {
	flow := policy.Flow{Tainted: true}
	req := policy.Request{Tool: s.Tool, Flow: flow, Table: o.Table, Rules: o.Policies}
	call := policy.Call{Run: "explain", Machine: m.Name, State: s.ID, Tool: s.Tool, Is: o.Table[s.Tool], Flow: flow}
	for _, in := range s.Input {
		v := in.Value
		if in.Template != nil {
			for _, seg := range in.Template.Segments {
				if len(seg.Path) == 0 {
					continue
				}
				from := trust.From(seg.Path[0]).WithSecrecy(o.Secrecy[seg.Path[0]]...)
				v = trust.NewValue(v.Value(), v.Label().Join(from))
			}
		}
		req.Args = append(req.Args, policy.Arg{Name: in.Key, Label: v.Label()})
		call.Args = append(call.Args, policy.CallArg{Name: in.Key, Value: v})
	}
	d := policy.Decide(req)
	if o.Host != nil {
		d = d.With(o.Host(call))
	}
	return d
}

func outcome(d policy.Decision) string {
	switch rule, halts := d.Halting(); {
	case halts:
		return "halt (" + rule.String() + ")"
	case d.Asks():
		return "ask"
	case len(d.Reasons) > 0:
		return "report"
	}
	return "run"
}

func (a *app) explainTool(name string, t policy.Tool, known bool, o *engine.Options) {
	out := &a.out
	list := func(ss []string) string {
		if len(ss) == 0 {
			return "nothing"
		}
		sorted := slices.Clone(ss)
		sort.Strings(sorted)
		return out.safe(strings.Join(sorted, ", "))
	}
	out.print("tool ", out.safe(name), ": ", t.Class.String(), " · egress ", fmt.Sprint(t.Egress()), " · sensitive ", list(t.Sensitive), " · may carry ", list(t.MayCarry))
	if !known {
		out.print(" (nobody declared it: silence is an effect)")
	}
	out.print("\nuntrusted-flow ", o.Policies.UntrustedFlow.String(), " · untrusted-argument ", o.Policies.UntrustedArgument.String(), " · secret-egress ", o.Policies.SecretEgress.String(), "\n")
}

func (a *app) explainState(m *mkl.Machine, s *mkl.State, d policy.Decision) {
	out := &a.out
	out.print("at ", out.safe(m.Name+"/"+s.ID), ", at the worst: ", outcome(d), "\n")
	for _, r := range d.Reasons {
		out.print("  ", r.Action.String(), ": ", out.safe(r.String()), "\n")
	}
}

func explained(m *mkl.Machine, s *mkl.State, d policy.Decision) value.Value {
	reasons := make([]value.Value, len(d.Reasons))
	for i, r := range d.Reasons {
		reasons[i] = obj(kstr("rule", r.Rule.String()), kstr("action", r.Action.String()), kstrs("names", r.Names), kstr("text", r.String()))
	}
	return obj(kstr("machine", m.Name), kstr("state", s.ID), kstr("outcome", outcome(d)), kv("reasons", value.FromList(reasons...)))
}
