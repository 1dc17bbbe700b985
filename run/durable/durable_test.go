package durable_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/checkpoint"
	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/hook"
	"github.com/pinfold-dev/pinfold/hook/builtin"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/run"
	"github.com/pinfold-dev/pinfold/run/durable"
	"github.com/pinfold-dev/pinfold/store"
	"github.com/pinfold-dev/pinfold/tool"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

func program(tb testing.TB, docs ...string) *engine.Program {
	tb.Helper()
	reg := engine.Machines{}
	var top *mkl.Machine
	for i, d := range docs {
		m, diags := mkl.Parse(mkl.Source{Text: []byte(d), Authorship: mkl.AuthorshipOperator}, mkl.Strict)
		if m == nil {
			tb.Fatal(diags)
		}
		if i == 0 {
			top = m
		}
		reg[m.Name] = m
	}
	p, err := engine.Compile(top, reg)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// orders asks, acts, fans out over a child that acts, and acts again.
const orders = `
machine: orders
entry: read
budget: 20
context: { mail: "", items: [1, 2, 3] }
states:
  read:
    structure: s
    prompt: "{{mail}}"
    output: o
    gates: [ { when: it is an order, then: ok, to: book }, { when: otherwise, fail: true } ]
  book:
    tool: pay
    input: { what: "booking {{o}}" }
    output: booked
    gates: [ { when: otherwise, then: ok, to: each } ]
  each:
    call: item
    over: "{{items}}"
    input: { n: "{{item}}" }
    output: done
    gates: [ { when: otherwise, then: ok, to: close } ]
  close:
    tool: pay
    input: { what: closing }
    output: closed
    gates: [ { when: otherwise, then: ok, to: END } ]
`

const item = `
machine: item
entry: a
budget: 5
context: { n: 0 }
states:
  a: { structure: s, prompt: "item {{n}}", output: o, gates: [ { when: otherwise, then: ok, to: b } ] }
  b: { tool: pay, input: { what: "item {{n}}" }, output: p, gates: [ { when: otherwise, then: ok, to: END } ] }
`

// till counts what was paid.
type till struct {
	mu   sync.Mutex
	paid map[string]int
}

func (x *till) tool() map[string]tool.Tool {
	if x.paid == nil {
		x.paid = map[string]int{}
	}
	return map[string]tool.Tool{"pay": {Name: "pay", Func: func(_ context.Context, args []engine.Arg) (tool.Observation, error) {
		what, _ := args[0].Value.Value().AsString()
		x.mu.Lock()
		x.paid[what]++
		x.mu.Unlock()
		return tool.Observation{Value: value.FromString("paid " + what)}, nil
	}}}
}

func config(x *till) run.Config {
	c := run.Config{
		Model: steady{},
		Tiers: map[mkl.Tier]string{mkl.Fast: "f", mkl.Balanced: "b", mkl.Reasoning: "r"},
		Tools: x.tool(),
		Hooks: func(name string) (hook.Func, bool, bool) { return builtin.Resolve(name, nil) },
		Clock: func() time.Time { return noon },
		Options: engine.Options{OnTruncate: engine.TruncateReport,
			Policies: policy.Policies{UntrustedFlow: policy.Report, UntrustedArgument: policy.Report, SecretEgress: policy.Halt}},
	}
	return c
}

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

var outside = engine.Inputs{"mail": trust.NewValue(value.FromString("an order"), trust.From("host:mail"))}

func keeper(m store.Store, by string) *durable.Keeper {
	return &durable.Keeper{Store: m, By: by, Clock: func() time.Time { return noon }}
}

func about() durable.About { return durable.About{Version: "test", Path: "orders.mkl"} }

// A run that stops at any write that a disk can refuse, a process that is killed
// there included, is resumed until it ends as if nothing had happened. No call that
// acts is ever made twice in silence: one whose outcome nobody knows is refused
// [C64].
func TestKilledAtEveryWrite(t *testing.T) {
	p := program(t, orders, item)
	for _, sequential := range []bool{true, false} {
		for _, ask := range []bool{false, true} {
			t.Run(fmt.Sprintf("sequential=%v,ask=%v", sequential, ask), func(t *testing.T) {
				want := ""
				writes, refused, resumes := 0, 0, 0
				for k := 0; ; k++ {
					x := &till{}
					c := config(x)
					c.Sequential = sequential
					if ask {
						c.Options.Policies.UntrustedFlow = policy.Ask
						c.Options.Suspendable = true
					}
					c.Options.RunID = "r"
					m := newMemory()
					m.budget = k
					_, err := keeper(m, "first").Run(context.Background(), p, outside, c, about())
					if err == nil && !ask {
						writes = k
						break
					}
					if errors.Is(err, errFull) == (err == nil) {
						t.Fatal(err)
					}
					if _, err := keeper(m, "x").Find(context.Background(), "r"); errors.Is(err, store.ErrNotFound) {
						if len(x.paid) > 0 {
							t.Fatalf("killed at write %d: something was paid before the run was kept", k)
						}
						continue
					}
					// Others go on, each until its own disk is full, the last without limit.
					out, force := (*durable.Outcome)(nil), false
					for n := 0; ; n++ {
						m.budget = k%7 + n
						if n > 60 {
							t.Fatal("no end")
						}
						kk := keeper(m, fmt.Sprint("other-", n))
						kk.Gone = func(string) bool { return true }
						req := durable.Request{}
						parked, err := kk.Open(context.Background(), "r", false)
						if err == nil {
							for _, a := range parked.Envelope.Pending() {
								req.Approve = append(req.Approve, a.ID)
							}
							if parked.Envelope.Turn != nil {
								req.Approve = nil
							}
							c2 := config(x)
							c2.Sequential = sequential
							req.Force = force
							force = false
							out, err = parked.Resume(context.Background(), p, c2, about(), req)
							resumes++
							m.mu.Lock()
							m.budget = -1 // giving a claim back is not what is tested
							m.mu.Unlock()
							parked.Close()
						}
						var unknown *durable.OutcomeUnknownError
						var claimed *store.ClaimedError
						var ended *durable.EndedError
						switch {
						case errors.As(err, &unknown):
							if unknown.Tool != "pay" || !strings.Contains("book close b", unknown.State) {
								t.Fatal(unknown)
							}
							refused++
							force = true // a person looked
							continue
						case errors.Is(err, errFull), errors.As(err, &claimed):
							continue
						case errors.As(err, &ended):
							t.Fatalf("killed at write %d: ended without an outcome seen: %v", k, err)
						case err != nil:
							t.Fatalf("killed at write %d: %v", k, err)
						}
						if out.Status == run.StatusSuspended {
							continue
						}
						break
					}
					if out.Status != run.StatusDone {
						t.Fatalf("killed at write %d: %s", k, out.Value().JSON())
					}
					for what, n := range x.paid {
						if n != 1 && !strings.Contains(engine.Steps(out.Trace).JSON(), "effect-repeated") {
							t.Errorf("killed at write %d: %s was paid %d times", k, what, n)
						}
					}
					if len(x.paid) != 5 {
						t.Errorf("killed at write %d: paid %v", k, x.paid)
					}
					if !strings.Contains(engine.Steps(out.Trace).JSON(), "effect-repeated") {
						got := withoutIDs(out)
						if want == "" {
							want = got
						} else if got != want {
							t.Fatalf("killed at write %d:\n%s\nwant\n%s", k, got, want)
						}
					}
					if ask && k > 24 {
						writes = k
						break
					}
				}
				if writes < 10 || refused == 0 || resumes < writes {
					t.Errorf("%d writes, %d refusals, %d resumes: the test holds nothing", writes, refused, resumes)
				}
			})
		}
	}
}

// withoutIDs is a result without what is drawn.
func withoutIDs(out *durable.Outcome) string {
	v := out.Value().JSON()
	for i := strings.Index(v, `"approval": "`); i >= 0; i = strings.Index(v, `"approval": "`) {
		v = v[:i] + v[i+len(`"approval": "`)+35:]
	}
	return v
}

// One suspension, many resumes at once: one goes on, and what it does is done once
// [C57].
func TestOneWinner(t *testing.T) {
	x := &till{}
	c := config(x)
	c.Options.Policies.UntrustedFlow, c.Options.Suspendable, c.Options.RunID = policy.Ask, true, "r"
	p := program(t, orders, item)
	m := newMemory()
	out, err := keeper(m, "first").Run(context.Background(), p, outside, c, about())
	if err != nil || !out.Kept || len(out.Approvals) != 1 {
		t.Fatalf("%v %v", out, err)
	}
	id := out.Approvals[0].ID
	var won, lost atomic.Int32
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			parked, err := keeper(m, fmt.Sprint("driver ", i)).Open(context.Background(), "r", false)
			if err == nil {
				defer parked.Close()
				_, err = parked.Resume(context.Background(), p, c, about(), durable.Request{Approve: []string{id}})
			}
			var claimed *store.ClaimedError
			switch {
			case err == nil:
				won.Add(1)
			case errors.As(err, &claimed) && strings.HasPrefix(err.Error(), "checkpoint already resumed: "):
				lost.Add(1)
			default:
				// The winner's next suspension may be opened by a later one: the id is of no use there.
				var bad *engine.ApprovalError
				if !errors.As(err, &bad) {
					t.Error(err)
				}
				lost.Add(1)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 || lost.Load() != 15 || x.paid["booking text"] != 1 {
		t.Errorf("%d won, %d lost, paid %v", won.Load(), lost.Load(), x.paid)
	}
}

// A driver that was given up for dead and is not can append nothing, so it performs
// nothing more.
func TestADriverThatWasTakenOverPerformsNothing(t *testing.T) {
	x := &till{}
	c := config(x)
	c.Options.RunID = "r"
	c.Sequential = true
	p := program(t, orders, item)
	m := newMemory()
	entered, leave := make(chan struct{}), make(chan struct{})
	var once sync.Once
	slow := c
	slow.Hooks = nil
	slow.Model = blocking{c.Model, func() { once.Do(func() { close(entered); <-leave }) }}
	lost := make(chan error)
	go func() {
		_, err := keeper(m, "slow").Run(context.Background(), p, outside, slow, about())
		lost <- err
	}()
	<-entered
	k := keeper(m, "second")
	k.Gone = func(by string) bool { return by == "slow" }
	parked, err := k.Open(context.Background(), "r", false)
	if err != nil {
		t.Fatal(err)
	}
	// The first wakes up before the second has come to anything.
	var again sync.Once
	c.Model = blocking{steady{}, func() {
		again.Do(func() {
			close(leave)
			var sequence *store.SequenceError
			if err := <-lost; !errors.As(err, &sequence) {
				t.Errorf("the first driver: %v", err)
			}
		})
	}}
	out, err := parked.Resume(context.Background(), p, c, about(), durable.Request{})
	if err != nil || out.Status != run.StatusDone {
		t.Fatalf("%v %v", out, err)
	}
	for what, n := range x.paid {
		if n != 1 {
			t.Errorf("%s was paid %d times", what, n)
		}
	}
}

// An approval is answered once, before its time is over, while its run waits.
func TestAnswers(t *testing.T) {
	ctx := context.Background()
	start := func(t *testing.T) (*memory, *durable.Keeper, *till, *engine.Program, run.Config, string) {
		x := &till{}
		c := config(x)
		c.Options.Policies.UntrustedFlow, c.Options.Suspendable, c.Options.RunID = policy.Ask, true, "r"
		p := program(t, orders, item)
		m := newMemory()
		k := keeper(m, "me")
		out, err := k.Run(ctx, p, outside, c, about())
		if err != nil || len(out.Approvals) != 1 {
			t.Fatal(err)
		}
		return m, k, x, p, c, out.Approvals[0].ID
	}
	refused := func(t *testing.T, err error, want string) {
		t.Helper()
		var a *durable.AnswerError
		if !errors.As(err, &a) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	t.Run("approve, then resume", func(t *testing.T) {
		_, k, x, p, c, id := start(t)
		for _, wrong := range []string{"", "yes", "approve", strings.Repeat("0", 32), id[:31], id + "0"} {
			_, err := k.Approval(ctx, wrong)
			refused(t, err, "")
		}
		a, err := k.Approval(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Answer(ctx, a, true, "dana"); err != nil {
			t.Fatal(err)
		}
		// The second answer, from what was seen before and from what is seen now.
		var sequence *store.SequenceError
		if err := k.Answer(ctx, a, false, "eve"); !errors.As(err, &sequence) {
			t.Errorf("got %v", err)
		}
		if a, err = k.Approval(ctx, id); err != nil || !a.Approved {
			t.Fatal(a, err)
		}
		refused(t, k.Answer(ctx, a, false, "eve"), "approved already")
		if len(x.paid) != 0 {
			t.Error("an approval alone runs nothing")
		}
		parked, err := k.Open(ctx, "r", false)
		if err != nil {
			t.Fatal(err)
		}
		out, err := parked.Resume(ctx, p, c, about(), durable.Request{})
		if err != nil || x.paid["booking text"] != 1 || len(x.paid) != 1 || len(out.Approvals) != 3 {
			t.Fatalf("%v %v", x.paid, err)
		}
		_, err = k.Approval(ctx, id)
		refused(t, err, "no run waits")
		// Two of three: a bare yes is nobody's, and the others still wait.
		for i, yes := range []bool{true, true} {
			a, err := k.Approval(ctx, out.Approvals[i].ID)
			if err != nil {
				t.Fatal(err)
			}
			if err := k.Answer(ctx, a, yes, "dana"); err != nil {
				t.Fatal(err)
			}
		}
		parked, err = k.Open(ctx, "r", false)
		if err != nil {
			t.Fatal(err)
		}
		third := out.Approvals[2].ID
		out, err = parked.Resume(ctx, p, c, about(), durable.Request{})
		if err != nil || len(out.Approvals) != 1 || out.Approvals[0].ID != third || x.paid["item 1"] != 1 || x.paid["item 2"] != 1 || x.paid["item 3"] != 0 {
			t.Fatalf("%v %v", x.paid, err)
		}
		// A late answer to the first does not touch the third.
		parked, err = k.Open(ctx, "r", false)
		if err != nil {
			t.Fatal(err)
		}
		_, err = parked.Resume(ctx, p, c, about(), durable.Request{Approve: []string{id}})
		var bad *engine.ApprovalError
		if !errors.As(err, &bad) || x.paid["item 3"] != 0 {
			t.Errorf("got %v", err)
		}
		parked.Close()
		parked, err = k.Open(ctx, "r", false)
		if err != nil {
			t.Fatalf("a refused resume kept the claim: %v", err)
		}
		out, err = parked.Resume(ctx, p, c, about(), durable.Request{Deny: []string{third}})
		if err != nil || !strings.Contains(out.Error, "approval-denied") || x.paid["item 3"] != 0 {
			t.Fatalf("%v %v", out, err)
		}
		if _, err := k.Open(ctx, "r", true); err == nil {
			t.Error("a run that ended was opened")
		}
	})
	t.Run("two answers in the journal", func(t *testing.T) { // of which somebody forced in the second [C65]
		m, k, x, p, c, id := start(t)
		a, err := k.Approval(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Answer(ctx, a, false, "dana"); err != nil {
			t.Fatal(err)
		}
		second := engine.Record{Kind: engine.RecordAnswered, ID: engine.EffectID{Path: "orders", Branch: -1}, Approval: id, Approved: true, By: "eve"}
		if err := m.Append(ctx, "r", uint64(len(m.logs["r"])), []engine.Record{second}); err != nil {
			t.Fatal(err)
		}
		parked, err := k.Open(ctx, "r", false)
		if err != nil {
			t.Fatal(err)
		}
		out, err := parked.Resume(ctx, p, c, about(), durable.Request{})
		if err != nil || out.Error != "approval-denied" || len(x.paid) != 0 {
			t.Fatalf("%v %v %v", out, err, x.paid)
		}
	})
	t.Run("expired", func(t *testing.T) {
		_, k, x, p, c, id := start(t)
		a, err := k.Approval(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Answer(ctx, a, true, "dana"); err != nil {
			t.Fatal(err)
		}
		later := func() time.Time { return noon.Add(24 * time.Hour) }
		c.Clock, k.Clock = later, later
		if a, err = k.Approval(ctx, id); err != nil || !a.Expired {
			t.Fatal(a, err)
		}
		parked, err := k.Open(ctx, "r", false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parked.Resume(ctx, p, c, about(), durable.Request{Approve: []string{id}}); err == nil || !strings.Contains(err.Error(), "expired") {
			t.Errorf("got %v", err)
		}
		parked.Close()
		if parked, err = k.Open(ctx, "r", false); err != nil {
			t.Fatal(err)
		}
		out, err := parked.Resume(ctx, p, c, about(), durable.Request{})
		if err != nil || len(out.Approvals) != 1 || out.Approvals[0].ID == id || len(x.paid) != 0 || len(out.Warnings) != 1 {
			t.Fatalf("%v %v %v", out, err, x.paid)
		}
		k.Clock = func() time.Time { return noon.Add(72 * time.Hour) }
		if a, err = k.Approval(ctx, out.Approvals[0].ID); err != nil {
			t.Fatal(err)
		}
		refused(t, k.Answer(ctx, a, true, "dana"), "expired")
	})
}

// A turn that was killed after an approved call is folded whenever that is: what was
// approved in time is not asked for again, and not done again.
func TestFoldedAfterTheApprovalExpired(t *testing.T) {
	ctx := context.Background()
	x := &till{}
	c := config(x)
	c.Options.Policies.UntrustedFlow, c.Options.Suspendable, c.Options.RunID = policy.Ask, true, "r"
	p := program(t, orders, item)
	m := newMemory()
	out, err := keeper(m, "first").Run(ctx, p, outside, c, about())
	if err != nil {
		t.Fatal(err)
	}
	req := durable.Request{Approve: []string{out.Approvals[0].ID}}
	parked, err := keeper(m, "second").Open(ctx, "r", false)
	if err != nil {
		t.Fatal(err)
	}
	m.budget = 6 // the turn's beginning, the call as started, its result
	if _, err := parked.Resume(ctx, p, c, about(), req); !errors.Is(err, errFull) || x.paid["booking text"] != 1 {
		t.Fatal(err, x.paid)
	}
	m.budget = -1
	k := keeper(m, "third")
	k.Gone = func(string) bool { return true }
	k.Clock = func() time.Time { return noon.Add(72 * time.Hour) }
	c.Clock = k.Clock
	if parked, err = k.Open(ctx, "r", false); err != nil {
		t.Fatal(err)
	}
	out, err = parked.Resume(ctx, p, c, about(), durable.Request{})
	if err != nil || len(out.Approvals) != 3 || x.paid["booking text"] != 1 {
		t.Fatalf("%v %v", err, x.paid)
	}
	if out.Approvals[0].Expires != "2030-01-06T12:00:00Z" {
		t.Errorf("expires %s", out.Approvals[0].Expires)
	}
}

// The policies that a run started with hold; a resume can tighten them.
func TestPoliciesOnlyTighten(t *testing.T) {
	ctx := context.Background()
	p := program(t, orders, item)
	action := func(a policy.Action) *policy.Action { return &a }
	for _, from := range []policy.Action{policy.Halt, policy.Ask, policy.Report} {
		for _, to := range []*policy.Action{nil, action(policy.Halt), action(policy.Ask), action(policy.Report)} {
			for rule := range 3 {
				x := &till{}
				c := config(x)
				c.Options.HasCostBudget, c.Options.Suspendable, c.Options.RunID = true, true, "r"
				set := []*policy.Action{&c.Options.Policies.UntrustedFlow, &c.Options.Policies.UntrustedArgument, &c.Options.Policies.SecretEgress}
				*set[rule] = from
				m := newMemory()
				k := keeper(m, "me")
				if out, err := k.Run(ctx, p, outside, c, about()); err != nil || out.Error != "cost-exhausted" {
					t.Fatal(out, err)
				}
				*set[rule] = policy.Report // what the configuration says now has no say
				for _, force := range []bool{false, true} {
					parked, err := k.Open(ctx, "r", false)
					if err != nil {
						t.Fatal(err)
					}
					req := durable.Request{Force: force}
					req.Policies[rule] = to
					out, err := parked.Resume(ctx, p, c, about(), req)
					parked.Close()
					var loosened *durable.LoosenedError
					loose := to != nil && *to > from
					if loose && !force {
						if !errors.As(err, &loosened) {
							t.Fatalf("from %s to %s: %v", from, *to, err)
						}
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					b, err := m.Blobs().Get(ctx, m.runs["r"].Checkpoint)
					if err != nil {
						t.Fatal(err)
					}
					e, err := checkpoint.Parse(b)
					if err != nil {
						t.Fatal(err)
					}
					got := []policy.Action{e.Policy.UntrustedFlow, e.Policy.UntrustedArgument, e.Policy.SecretEgress}[rule]
					want := from
					if to != nil {
						want = *to
					}
					if got != want || loose != slices.Contains(warned(out.Warnings, "looser"), true) {
						t.Errorf("rule %d from %s: got %s, want %s; %q", rule+1, from, got, want, out.Warnings)
					}
					break
				}
			}
		}
	}
}

func warned(ws []string, word string) []bool {
	out := make([]bool, len(ws))
	for i, w := range ws {
		out[i] = strings.Contains(w, word)
	}
	return out
}
