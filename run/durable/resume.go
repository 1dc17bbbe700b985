package durable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/checkpoint"
	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/run"
	"github.com/pinfold-dev/pinfold/store"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// Parked is a run that this driver has claimed and may resume once. Close gives
// the claim back where nothing was run.
type Parked struct {
	Envelope *checkpoint.Envelope

	claimed  *store.ClaimedError // the claim was another's and was overridden
	release  func(context.Context) error
	resumed  bool
	warnings []string

	// of a file
	path string

	// of a store
	k    *Keeper
	info store.RunInfo
	at   store.Location
	past *history
}

// Info is what the store knows of the run; zero for a file.
func (p *Parked) Info() store.RunInfo { return p.info }

// Close gives the claim back unless a turn was run.
func (p *Parked) Close() error {
	if p.resumed || p.release == nil {
		return nil
	}
	f := p.release
	p.release = nil
	return f(context.Background())
}

// OpenFile reads and claims the checkpoint in a file. A claimed one is opened only
// by force.
func OpenFile(path, by string, at time.Time, force bool) (*Parked, error) {
	b, err := checkpoint.Read(path)
	if err != nil {
		return nil, err
	}
	e, err := checkpoint.Parse(b)
	if err != nil {
		return nil, err
	}
	p := &Parked{Envelope: e, path: path}
	var claimed *store.ClaimedError
	switch err := checkpoint.Claim(path, e, b, by, at); {
	case err == nil:
		p.release = func(context.Context) error { return checkpoint.Release(path, e, b, by) }
	case errors.As(err, &claimed) && force:
		p.claimed = claimed
	default:
		return nil, err
	}
	return p, nil
}

// Find is what the index knows of a run; an error that matches store.ErrNotFound
// where it knows nothing.
func (k *Keeper) Find(ctx context.Context, id store.RunID) (store.RunInfo, error) {
	for info, err := range k.Store.List(ctx, store.Query{Run: id, Limit: 1}) {
		return info, err
	}
	return store.RunInfo{}, fmt.Errorf("run %s: %w", id, store.ErrNotFound)
}

// Open claims the last checkpoint of a run and reads its journal. The claim of a
// driver that is gone is taken over: what it did is in the journal.
func (k *Keeper) Open(ctx context.Context, id store.RunID, force bool) (*Parked, error) {
	info, err := k.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	if info.Status == "done" || info.Status == "halt" {
		return nil, &EndedError{id, info.Status}
	}
	p := &Parked{k: k, info: info, at: info.Checkpoint}
	if err := k.claim(ctx, p, force); err != nil {
		return nil, err
	}
	if err := p.read(ctx); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (k *Keeper) claim(ctx context.Context, p *Parked, force bool) error {
	blobs := k.Store.Blobs()
	err := blobs.Claim(ctx, p.at, k.By)
	var claimed *store.ClaimedError
	if errors.As(err, &claimed) && k.Gone != nil && k.Gone(claimed.By) {
		// Of two that take it over, one finds it released already, or claimed.
		if err = blobs.Release(ctx, p.at, claimed.By); err == nil {
			err = blobs.Claim(ctx, p.at, k.By)
		} else {
			err = claimed
		}
	}
	switch {
	case err == nil:
		p.release = func(ctx context.Context) error { return blobs.Release(ctx, p.at, k.By) }
	case errors.As(err, &claimed) && force:
		p.claimed = claimed
	default:
		return err
	}
	return nil
}

func (p *Parked) read(ctx context.Context) error {
	// Between the look into the index and the claim another may have gone on.
	info, err := p.k.Find(ctx, p.info.Run)
	if err != nil {
		return err
	}
	if info.Checkpoint != p.at {
		return &store.ClaimedError{By: "another resume", At: info.Updated}
	}
	p.info = info
	b, err := p.k.Store.Blobs().Get(ctx, p.at)
	if err != nil {
		return fmt.Errorf("checkpoint of run %s: %w", p.info.Run, err)
	}
	if p.Envelope, err = checkpoint.Parse(b); err != nil {
		return fmt.Errorf("checkpoint of run %s: %w", p.info.Run, err)
	}
	if p.Envelope.Run != string(p.info.Run) {
		return fmt.Errorf("checkpoint of run %s: it is of run %s", p.info.Run, p.Envelope.Run)
	}
	p.past, err = read(ctx, p.k.Store, p.info.Run, p.Envelope.Journal)
	return err
}

// Resume goes on from the checkpoint (LANGUAGE.md §18.3). Everything is checked
// before anything moves: a ChangedError, LoosenedError, OutcomeUnknownError,
// ErrMidTurn, engine.ApprovalError, engine.MismatchError or store.SequenceError has
// run nothing, and Close gives the claim back.
func (p *Parked) Resume(ctx context.Context, prog *engine.Program, c run.Config, about About, req Request) (*Outcome, error) {
	if p.resumed {
		return nil, errors.New("resume: this checkpoint was resumed already")
	}
	e := p.Envelope
	x, err := p.plan(prog, &about, &req, now(c.Clock))
	if err != nil {
		return nil, err
	}
	c.Options.RunID = e.Run
	c.Options.Policies, c.Options.OnTruncate = x.policies.Policies, x.policies.OnTruncate
	c.Options.Suspendable = true
	c.Options.EscalateSuspend = e.HITL || req.HITL
	c.Options.CostBudget, c.Options.HasCostBudget = e.CostBudget, e.HasBudget
	if req.CostBudget != nil {
		c.Options.CostBudget, c.Options.HasCostBudget = *req.CostBudget, true
	}
	if about.Metadata.IsNull() {
		about.Metadata = e.Metadata
	}
	t := turn{k: p.k, p: prog, about: about, info: p.info}
	if p.k != nil {
		t.j = &journal{log: p.k.Store, seq: p.past.total}
		c.Journal = t.j
	}
	clock := c.Clock
	if x.middle { // what was good when the turn began is good in its fold
		began, err := time.Parse(time.RFC3339, e.Created)
		if err != nil {
			return nil, &checkpoint.Error{Message: "bad checkpoint: key 'created': expected a time"}
		}
		c.Clock = func() time.Time { return began }
	}
	t.r, err = run.Resume(prog, e.Frames, x.options(), &c)
	if err != nil {
		return nil, err
	}
	c.Clock = clock
	t.c = c
	if s, ok := t.r.Ready().Outcome.(engine.Suspended); ok && s.Reason == "cost-exhausted" {
		u := t.r.Usage()
		p.warn("the token budget of %d is not above what was spent, %d: the run waits for a larger one", c.Options.CostBudget, u.Input+u.Output)
	}
	switch {
	case p.k == nil:
		return p.driveFile(ctx, &t, req.To)
	case x.middle:
		err = p.foldTurn(ctx, &t, x)
	default:
		err = p.beginTurn(ctx, &t, x)
	}
	if err != nil {
		return nil, err
	}
	p.resumed = true
	return p.told(t.drive(ctx))
}

func (p *Parked) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
}

func (p *Parked) told(out *Outcome, err error) (*Outcome, error) {
	if out != nil {
		out.Warnings = append(p.warnings, out.Warnings...)
	}
	return out, err
}

// Warnings are what is worth saying of a resume that was refused.
func (p *Parked) Warnings() []string { return p.warnings }

// beginTurn keeps how a new turn begins. The record in the journal comes first: of
// two drivers that believe that they hold the run, one finds its place taken.
func (p *Parked) beginTurn(ctx context.Context, t *turn, x *planned) error {
	mark := engine.Record{Kind: engine.RecordResumed, ID: place(t.p), By: p.k.By}
	if err := t.j.append(ctx, p.Envelope.Run, []engine.Record{mark}); err != nil {
		return err
	}
	return t.begin(ctx, &x.how, p.Envelope.Frames...)
}

// foldTurn brings a turn that was interrupted to where its journal ends.
func (p *Parked) foldTurn(ctx context.Context, t *turn, x *planned) error {
	t.j.kept = p.past.records
	if err := t.j.fold(ctx, t.r, p.Envelope.Run, p.past.events); err != nil {
		return err
	}
	mark := engine.Record{Kind: engine.RecordResumed, ID: place(t.p), By: p.k.By, Forced: x.forced}
	if err := t.j.append(ctx, p.Envelope.Run, []engine.Record{mark}); err != nil {
		return err
	}
	t.r.Force(x.forced...)
	t.held = p.at
	return nil
}

// driveFile drives a run whose checkpoint is a file. A suspension goes back to the
// file, or to another; the claim on what the file held before stays.
func (p *Parked) driveFile(ctx context.Context, t *turn, to string) (*Outcome, error) {
	p.resumed = true
	res, err := run.Drive(ctx, t.r, t.c)
	if err != nil {
		return nil, err
	}
	out := &Outcome{Result: res}
	if res.Status == run.StatusSuspended {
		e, err := Envelope(t.p, t.about, t.c, res)
		if err != nil {
			return nil, err
		}
		if to == "" {
			to = p.path
		}
		if err := checkpoint.Write(to, e.Encode()); err != nil {
			return nil, fmt.Errorf("the suspended run could not be written: %w", err)
		}
		out.Kept = true
	}
	return p.told(out, nil)
}

func place(p *engine.Program) engine.EffectID {
	return engine.EffectID{Path: p.Machine().Name, Branch: -1}
}

// planned is a resume that nothing speaks against before the core is asked.
type planned struct {
	policies checkpoint.Policy
	how      checkpoint.Turn
	middle   bool     // of a turn that was interrupted
	forced   []string // overridden now; in a new turn they are in how as well
}

func (x *planned) options() engine.ResumeOptions {
	o := engine.ResumeOptions{
		Unconfirmed: x.how.Unconfirmed, Approve: x.how.Approve, Deny: x.how.Deny, Expired: x.how.Expired,
		DropApprovals: x.how.DropApprovals, Forced: x.how.Forced,
		Inject: make(map[string]trust.Value, len(x.how.Inject)),
	}
	for path, v := range x.how.Inject {
		root, _, _ := strings.Cut(path, ".")
		o.Inject[path] = trust.NewValue(v, trust.From("host:"+root))
	}
	return o
}

func (p *Parked) plan(prog *engine.Program, about *About, req *Request, at time.Time) (*planned, error) {
	e := p.Envelope
	x := &planned{middle: e.Turn != nil}
	force := func(word, warning string) {
		x.forced = append(x.forced, word)
		p.warn("%s", warning)
	}
	if p.claimed != nil {
		force("claimed", p.claimed.Error()+": resumed again by force")
	}
	if x.middle {
		if p.k == nil {
			return nil, &checkpoint.Error{Message: "bad checkpoint: key 'turn': its journal is in a store, and this is a file"}
		}
		if len(req.Inject)+len(req.Approve)+len(req.Deny) > 0 {
			return nil, ErrMidTurn
		}
		x.how = *e.Turn
	}

	if e.Unpinned() {
		p.warn("the checkpoint records no hashes of the machines: what changed since is not known")
	}
	if names := e.Changed(prog, about.File); len(names) > 0 {
		err := &ChangedError{names}
		if !req.Force {
			return nil, err
		}
		force("machine-changed", err.Error()+": resumed by force, and its approvals are dropped")
		x.how.DropApprovals = true
	}

	x.policies = e.Policy
	if !e.HasPolicy {
		p.warn("the checkpoint records no policies: everything halts that no flag says otherwise of")
	}
	loosened, err := req.tighten(&x.policies, !e.HasPolicy)
	if err != nil {
		return nil, err
	}
	if loosened {
		force("policy-loosened", "the policies are looser than those that the run started with, by force")
	}

	if x.middle && len(p.past.started) > 0 {
		err := &OutcomeUnknownError{p.past.started[0].Tool, p.past.started[0].ID.State}
		if !req.Force {
			return nil, err
		}
		force("effect-repeated", err.Error()+": performed again by force")
	}
	if !x.middle {
		p.answer(x, req, at)
		x.how.Forced = x.forced
	}
	return x, nil
}

// answer fills in what a new turn brings: values, and the answers of the request
// with those of the journal. An answer of the journal whose approval has expired
// since counts no more, and the run asks anew; one given now is refused by the core.
func (p *Parked) answer(x *planned, req *Request, at time.Time) {
	how := &x.how
	how.Unconfirmed = req.Unconfirmed
	if len(req.Inject) > 0 {
		how.Inject = make(map[string]value.Value, len(req.Inject))
		for path, v := range req.Inject {
			how.Inject[path] = v.Value()
		}
	}
	how.Approve, how.Deny = slices.Clone(req.Approve), slices.Clone(req.Deny)
	how.Expired = p.Envelope.Expired(at)
	if p.past == nil || how.DropApprovals {
		return
	}
	pending := p.Envelope.Pending()
	for _, id := range p.past.answered {
		switch {
		case slices.Contains(req.Approve, id), slices.Contains(req.Deny, id): // the core sees it once
		case !slices.ContainsFunc(pending, func(a engine.Approval) bool { return a.ID == id }):
		case !p.past.answers[id]:
			how.Deny = append(how.Deny, id)
		case slices.Contains(how.Expired, id):
			p.warn("approval %s expired before the run was resumed: it is asked for anew", id)
		default:
			how.Approve = append(how.Approve, id)
		}
	}
}
