package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/value"
)

// guard applies the three effect rules on entering a tool state, before the
// charge (LANGUAGE.md §8.3). All branches are decided before any of them runs.
// It says false when the state was refused or the run waits for a person.
func (l *level) guard(e *entry) bool {
	r, name := l.r, e.s.src.Tool
	var halting policy.Rule
	asks := false
	seen := [policy.HostRule + 1]policy.Action{}
	held := [policy.HostRule + 1]bool{}
	hold := func(d policy.Decision) {
		for _, x := range d.Reasons {
			if !held[x.Rule] || x.Action < seen[x.Rule] {
				seen[x.Rule] = x.Action
			}
			held[x.Rule] = true
			switch x.Rule {
			case policy.UntrustedFlow:
				e.untrusted = true
			case policy.UntrustedArgument:
				l.mark().UntrustedArgument = union(l.mark().UntrustedArgument, x.Names)
			case policy.SecretEgress:
				l.mark().SecretEgress = union(l.mark().SecretEgress, x.Names)
			case policy.HostRule:
				l.mark().HostRule = union(l.mark().HostRule, x.Names)
			}
		}
		if rule, ok := d.Halting(); ok && (halting == 0 || rule < halting) {
			halting = rule
		}
	}
	req := policy.Request{Tool: name, Flow: l.flow, Table: r.opt.Table, Rules: r.opt.Policies}
	if e.n == 0 { // an empty fan-out is reached all the same; it has no call that a person could approve
		hold(policy.Decide(req))
	}
	for i := range e.br {
		b := &e.br[i]
		if b.done {
			continue
		}
		args := l.inputs(e, b)
		r.args = r.args[:0]
		for _, a := range args {
			r.args = append(r.args, policy.Arg{Name: a.Name, Label: a.Value.Label()})
		}
		req.Args = r.args
		b.decision = policy.Decide(req)
		if r.opt.Host != nil {
			b.decision = b.decision.With(r.opt.Host(l.asHostSees(e, args)))
		}
		hold(b.decision)
	}
	for rule := policy.UntrustedFlow; rule <= policy.HostRule; rule++ {
		if !held[rule] {
			continue
		}
		ev := Event{Type: EventType(rule.String()), Machine: l.u.m.Name, Depth: l.depth, State: e.s.id, Tool: name, Policy: seen[rule].String()}
		switch rule {
		case policy.UntrustedArgument:
			ev.Names = e.marks.UntrustedArgument
		case policy.SecretEgress:
			ev.Names = e.marks.SecretEgress
		case policy.HostRule:
			ev.Names = e.marks.HostRule
		}
		r.event(ev)
	}
	if halting != 0 {
		l.record(nil, ViaNone, halting.String())
		return l.halt(failure{reason: halting.String(), stop: stopRule}, e.s.id)
	}
	for i := range e.br {
		b := &e.br[i]
		if b.done || !b.decision.Asks() {
			continue
		}
		digest := l.digest(e, b)
		switch verdict := r.answerTo(digest, b); verdict {
		case answerApproved:
			b.decision = b.decision.Approve()
		case answerDenied:
			l.record(nil, ViaNone, "approval-denied")
			return l.halt(failure{reason: "approval-denied", stop: stopDenied}, e.s.id)
		default:
			asks = true
			b.parked = true
			b.ask = l.approval(e, b, digest)
			r.event(Event{Type: EventApprovalRequested, Machine: l.u.m.Name, Depth: l.depth, State: e.s.id, Tool: name, Approval: b.ask})
		}
	}
	if asks && !e.fan {
		return l.suspend(suspension{reason: "approval-required", at: e.s.id})
	}
	return true
}

// asHostSees is a call for the host's own rules.
func (l *level) asHostSees(e *entry, args []Arg) policy.Call {
	name := e.s.src.Tool
	c := policy.Call{Run: l.r.opt.RunID, Machine: l.u.m.Name, State: e.s.id, Tool: name, Is: l.r.opt.Table[name], Flow: l.flow,
		Args: make([]policy.CallArg, len(args))}
	for i, a := range args {
		c.Args[i] = policy.CallArg{Name: a.Name, Value: a.Value}
	}
	return c
}

func union(a, b []string) []string {
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
}

// approval is what a person is asked for one branch. A pending approval of the
// same call that a frame brought is asked again as it is.
func (l *level) approval(e *entry, b *branch, digest string) *Approval {
	a := &Approval{
		Run: l.r.opt.RunID, State: l.statePath(e, b), Tool: e.s.src.Tool, Args: slices.Clone(b.args),
		Digest: digest, Branch: int(b.index),
	}
	for _, x := range b.decision.Reasons {
		a.Rules = append(a.Rules, x.Rule)
		a.Reasons = append(a.Reasons, x.String())
	}
	if old := b.ask; old != nil && old.Run == a.Run && old.Digest == digest && !slices.Contains(l.r.expired, old.ID) {
		a.ID, a.Expires = old.ID, old.Expires
	}
	return a
}

// digest is hex SHA-256 of the canonical JSON of {arguments, run, state, tool}.
func (l *level) digest(e *entry, b *branch) string {
	args := make([]value.Entry, len(b.args))
	for i, a := range b.args {
		args[i] = value.Entry{Key: a.Name, Value: a.Value.Value()}
	}
	call := value.FromEntries(
		value.Entry{Key: "arguments", Value: value.FromEntries(args...)},
		value.Entry{Key: "run", Value: value.FromString(l.r.opt.RunID)},
		value.Entry{Key: "state", Value: value.FromString(l.statePath(e, b))},
		value.Entry{Key: "tool", Value: value.FromString(e.s.src.Tool)},
	)
	sum := sha256.Sum256(call.AppendCanonical(nil))
	return hex.EncodeToString(sum[:])
}

// pathPart escapes what a state path is put together with, so that no two places
// share a path.
func pathPart(s string) string {
	if !strings.ContainsAny(s, "\\/>[") {
		return s
	}
	return strings.NewReplacer("\\", "\\\\", "/", "\\/", ">", "\\>", "[", "\\[").Replace(s)
}

// statePath is machine/state of every level from the outside in, each fan-out
// level with its branch.
func (l *level) statePath(e *entry, b *branch) string {
	here := pathPart(l.u.m.Name) + "/" + pathPart(e.s.id)
	if e.fan {
		here += "[" + strconv.Itoa(int(b.index)) + "]"
	}
	if l.parent == nil {
		return here
	}
	pe := l.parent.e
	return strings.Join([]string{l.parent.statePath(pe, &pe.br[l.slot]), here}, " > ")
}
