// Package cedar makes rules of a host out of Cedar policies: over the tool, its
// class, the arguments with their labels, the flow, the run and the machine.
//
// The rules can only tighten (TRUST.md §5). Every call is permitted to begin with,
// as far as these rules go: a document says what is forbidden, and a permit in it
// is an error when it is read, since it could not do anything. A policy annotated
// @on("ask") suspends the run until a person approves the call; any other forbid
// refuses it. A policy that errors denies: Cedar itself would leave it out, and a
// rule that a strange value can switch off is none.
//
// The package reads no file and no clock. What a policy sees:
//
//	principal   Machine::"triage"
//	action      Action::"call"
//	resource    Tool::"send_reply", with class, egress, sensitive, may_carry
//	context     run, machine, state, tool, class, egress,
//	            flow   { tainted, by? }
//	            args   { NAME: { text, value?, level, sources, secrecy, sensitive } }
//
// level is "author", "model" or "external"; text is what the tool is given; value
// is there for true, false, integers and strings.
//
//	@id("no_outside_recipient")
//	forbid (principal, action, resource == Tool::"send_reply")
//	when { context.args.to.level == "external" };
//
//	rules, err := cedar.Parse("rules.cedar", text)
//	options.Host = rules.Decide
package cedar

import (
	"fmt"
	"slices"

	cedar "github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/trust"
)

// Rules are the policies of one or more documents. The zero Rules forbid nothing.
// They are safe for concurrent use.
type Rules struct {
	set   *cedar.PolicySet
	rules map[cedar.PolicyID]rule
	names []string
}

type rule struct {
	name   string
	action policy.Action
}

// Document is one text of policies; Name is for messages.
type Document struct {
	Name string
	Text []byte
}

// Parse reads documents. It is an error when one does not parse, permits anything,
// has an annotation @on with another word than ask or halt, or when two policies
// have one @id.
func Parse(docs ...Document) (*Rules, error) {
	r := &Rules{set: cedar.NewPolicySet(), rules: map[cedar.PolicyID]rule{}}
	base := new(cedar.Policy)
	if err := base.UnmarshalCedar([]byte("permit (principal, action, resource);")); err != nil {
		return nil, fmt.Errorf("cedar: %w", err)
	}
	r.set.Add("pinfold: every call to begin with", base)
	for _, d := range docs {
		list, err := cedar.NewPolicyListFromBytes(d.Name, d.Text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
		for i, p := range list {
			at := p.Position()
			place := fmt.Sprintf("%s:%d:%d", d.Name, at.Line, at.Column)
			if p.Effect() != cedar.Forbid {
				return nil, fmt.Errorf("%s: expected forbid, found permit: rules of a host can only tighten; write forbid … unless", place)
			}
			x := rule{name: fmt.Sprintf("%s#%d", d.Name, i+1)}
			notes := p.Annotations()
			if id, ok := notes["id"]; ok {
				if x.name = string(id); x.name == "" {
					return nil, fmt.Errorf("%s: @id: expected a name", place)
				}
			}
			if slices.Contains(r.names, x.name) {
				return nil, fmt.Errorf("%s: @id(%q): there is another policy of this name", place, x.name)
			}
			switch word, ok := notes["on"]; {
			case !ok, word == "halt":
			case word == "ask":
				x.action = policy.Ask
			default:
				return nil, fmt.Errorf("%s: @on: expected ask or halt, found %q", place, string(word))
			}
			id := cedar.PolicyID(x.name)
			r.set.Add(id, p)
			r.rules[id] = x
			r.names = append(r.names, x.name)
		}
	}
	return r, nil
}

// Names are the names of the policies, in order.
func (r *Rules) Names() []string { return slices.Clone(r.names) }

// Decide is a policy.HostRules: the reasons that speak against a call, by name.
func (r *Rules) Decide(c policy.Call) (reasons []policy.Reason) {
	if r == nil || len(r.rules) == 0 {
		return nil
	}
	defer func() {
		if x := recover(); x != nil { // a fault in the library permits nothing
			reasons = []policy.Reason{{Rule: policy.HostRule, Action: policy.Halt, Names: []string{"cedar"}, By: "the rules could not be evaluated"}}
		}
	}()
	tool := entity("Tool", c.Tool)
	resource := types.Entity{UID: tool, Attributes: cedar.NewRecord(cedar.RecordMap{
		"class": cedar.String(c.Is.Class.String()), "egress": cedar.Boolean(c.Is.Egress()),
		"sensitive": strings(c.Is.Sensitive), "may_carry": strings(c.Is.MayCarry),
	})}
	decision, why := r.set.IsAuthorized(cedar.EntityMap{tool: resource}, cedar.Request{
		Principal: entity("Machine", c.Machine), Action: entity("Action", "call"), Resource: tool, Context: context(&c),
	})
	for _, e := range why.Errors {
		reasons = append(reasons, policy.Reason{Rule: policy.HostRule, Action: policy.Halt, Names: []string{string(e.PolicyID)}, By: "it could not be evaluated: " + e.Message})
	}
	if decision != cedar.Allow {
		for _, x := range why.Reasons {
			reasons = append(reasons, policy.Reason{Rule: policy.HostRule, Action: r.rules[x.PolicyID].action, Names: []string{string(x.PolicyID)}, Sources: sources(c.Args)})
		}
		if len(reasons) == 0 { // nothing permits: no document can bring this about
			reasons = []policy.Reason{{Rule: policy.HostRule, Action: policy.Halt, Names: []string{"cedar"}}}
		}
	}
	slices.SortFunc(reasons, func(a, b policy.Reason) int {
		return slices.Compare(append(a.Names, a.By), append(b.Names, b.By))
	})
	return reasons
}

func entity(kind cedar.EntityType, id string) cedar.EntityUID {
	return cedar.NewEntityUID(kind, cedar.String(id))
}

func strings(list []string) cedar.Set {
	items := make([]cedar.Value, len(list))
	for i, s := range list {
		items[i] = cedar.String(s)
	}
	return cedar.NewSet(items...)
}

// sources are the origins of everything that the call was given.
func sources(args []policy.CallArg) trust.Set {
	var s trust.Set
	for i := range args {
		if l := args[i].Value.Label(); l.Tainted() {
			s = s.Union(l.Sources())
		}
	}
	return s
}

func context(c *policy.Call) cedar.Record {
	flow := cedar.RecordMap{"tainted": cedar.Boolean(c.Flow.Tainted)}
	if c.Flow.By != "" {
		flow["by"] = cedar.String(c.Flow.By)
	}
	args := make(cedar.RecordMap, len(c.Args))
	for i := range c.Args {
		a := &c.Args[i]
		l := a.Value.Label()
		x := cedar.RecordMap{
			"level": cedar.String(l.Level().String()), "sources": strings(l.Sources().Items()), "secrecy": strings(l.Secrecy().Items()),
			"sensitive": cedar.Boolean(slices.Contains(c.Is.Sensitive, a.Name)),
		}
		v := a.Value.Value()
		text := v.JSON()
		if s, ok := v.AsString(); ok {
			text = s
			x["value"] = cedar.String(s)
		} else if b, ok := v.AsBool(); ok {
			x["value"] = cedar.Boolean(b)
		} else if n, ok := v.AsInt(); ok {
			x["value"] = cedar.Long(n)
		}
		x["text"] = cedar.String(text)
		args[cedar.String(a.Name)] = cedar.NewRecord(x)
	}
	return cedar.NewRecord(cedar.RecordMap{
		"run": cedar.String(c.Run), "machine": cedar.String(c.Machine), "state": cedar.String(c.State), "tool": cedar.String(c.Tool),
		"class": cedar.String(c.Is.Class.String()), "egress": cedar.Boolean(c.Is.Egress()),
		"flow": cedar.NewRecord(flow), "args": cedar.NewRecord(args),
	})
}
