package cli

import (
	"strings"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/hook/builtin"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/run"
	"github.com/pinfold-dev/pinfold/value"
)

// warnMarks says in plain lines what the trace records about trust: to report a
// thing is to tell a person. In JSON the trace says it.
func (a *app) warnMarks(res *run.Result) {
	eachStep(res.Trace, "", func(at string, s *engine.TraceStep) {
		refused := ", and was refused"
		switch s.Policy {
		case policy.UntrustedFlow.String(), policy.UntrustedArgument.String(), policy.SecretEgress.String():
		default:
			refused = ""
		}
		if s.UntrustedControlFlow {
			a.warn("untrusted control flow: the tool state " + at + " was reached on a choice that outside text had a part in" + refused)
		}
		if m := s.Marks; m != nil {
			if len(m.UntrustedArgument) > 0 {
				a.warn("untrusted argument: outside text chose " + strings.Join(m.UntrustedArgument, ", ") + " of the tool at " + at + refused)
			}
			if len(m.SecretEgress) > 0 {
				a.warn("secret egress: " + strings.Join(m.SecretEgress, ", ") + " in what the tool at " + at + " was given" + refused)
			}
			if len(m.ConfirmedOnExternal) > 0 {
				a.warn("confirmed on outside text: the hook " + s.Hook + " at " + at + " reads " + strings.Join(m.ConfirmedOnExternal, ", "))
			}
		}
		if d := s.Detail; d != nil && d.JudgeFallback {
			a.warn("no verdict at " + at + ": the judge's reply could not be read: " + d.JudgeRaw)
		}
	})
	rule := res.Error
	if i := strings.LastIndex(rule, ": "); i >= 0 {
		rule = rule[i+2:]
	}
	for r, hint := range map[string]string{
		policy.UntrustedFlow.String():     "let a hook or a person confirm before the tool, or run with --untrusted-flow ask (a person approves the call) or report",
		policy.UntrustedArgument.String(): "write the argument in the machine, or run with --untrusted-argument ask or report",
		policy.SecretEgress.String():      "declare the tag under may_carry of the tool, or run with --secret-egress ask",
	} {
		if res.Status == run.StatusHalt && rule == r {
			a.err.print("  hint: ", hint, "\n")
		}
	}
}

// eachStep visits the steps of a trace and of the calls in it.
func eachStep(trace []engine.TraceStep, above string, f func(at string, s *engine.TraceStep)) {
	for i := range trace {
		s := &trace[i]
		at := above + s.State
		f(at, s)
		if s.Detail == nil {
			continue
		}
		eachStep(s.Detail.SubTrace, at+" > ", f)
		if s.Detail.Fan != nil {
			for j, sub := range s.Detail.Fan.SubTraces {
				eachStep(sub, at+"["+itoa(j)+"] > ", f)
			}
		}
	}
}

// warnSettings says which --set can't have been meant: nothing reads the path, a map
// of the machine's is replaced, or a text looks like JSON and is none.
func (a *app) warnSettings(m *mkl.Machine, settings []run.Setting) {
	for _, s := range settings {
		path := strings.Join(s.Path, ".")
		literal, known := contextOf(m, s.Path[0])
		switch {
		case !known && !reads(m, s.Path[0]):
			var keys []string
			for i := range m.Context {
				keys = append(keys, m.Context[i].Key)
			}
			a.warn("--set " + path + ": the machine has no context key " + s.Path[0] + " and reads none; its keys are " + strings.Join(keys, ", "))
		case known && len(s.Path) == 1 && literal.Kind() == value.Map && s.Value.Kind() != value.Map:
			a.warn("--set " + path + ": replaces a map; set a key of it, like " + path + "." + firstKey(literal))
		case known && len(s.Path) > 1 && literal.Kind() == value.Map && literal.Len() > 0:
			if _, ok := literal.Get(s.Path[1]); !ok {
				var keys []string
				for i := range literal.Len() {
					keys = append(keys, literal.Key(i))
				}
				a.warn("--set " + path + ": " + s.Path[0] + " has no key " + s.Path[1] + "; it has " + strings.Join(keys, ", "))
			}
		}
		if text, ok := s.Value.AsString(); ok && (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) {
			a.warn("--set " + path + ": the value begins like JSON and is none; it is taken as text")
		}
	}
}

func firstKey(v value.Value) string {
	if v.Len() == 0 {
		return "key"
	}
	return v.Key(0)
}

func contextOf(m *mkl.Machine, key string) (value.Value, bool) {
	for i := range m.Context {
		if m.Context[i].Key == key {
			return m.Context[i].Value.Value(), true
		}
	}
	return value.Value{}, false
}

// reads says whether a placeholder, an over, a hook or the result leads to a key.
func reads(m *mkl.Machine, key string) bool {
	in := func(t *mkl.Template) bool {
		if t == nil {
			return false
		}
		for i := range t.Segments {
			if p := t.Segments[i].Path; p != nil && p[0] == key {
				return true
			}
		}
		return false
	}
	if m.Result == key {
		return true
	}
	for i := range m.States {
		s := &m.States[i]
		if in(s.Prompt) || in(s.Over) {
			return true
		}
		for j := range s.Input {
			if in(s.Input[j].Template) {
				return true
			}
		}
		for j := range s.Gates {
			g := &s.Gates[j]
			if root, _, _ := strings.Cut(g.ReplyTo, "."); root == key {
				return true
			}
			if !g.HasHook {
				continue
			}
			path, root, parametric := builtin.IsParametric(g.Hook)
			if !parametric || path == key || root == key { // a hook of the host's may read anything
				return true
			}
		}
	}
	return false
}
