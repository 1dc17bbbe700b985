package durable

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/pinfold-dev/pinfold/checkpoint"
	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/run"
	"github.com/pinfold-dev/pinfold/store"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// About is what a checkpoint says of the program beside the frames.
type About struct {
	Version  string // of pinfold
	Path     string // machine_path, as given; checkpoint.Inline without a file
	Found    string // where the file is for a resume from elsewhere; "" is Path
	File     []byte // the machine file's bytes; nil without a file
	Source   string // of an inline machine
	Inlined  bool
	Metadata value.Value
}

// Keeper keeps runs in a store. By names this driver: no other has the same. Gone
// says of another driver's name that it is certain to run no more; nil is certain
// of nobody.
type Keeper struct {
	Store store.Store
	By    string
	Gone  func(by string) bool
	Clock func() time.Time // nil: time.Now
}

func now(clock func() time.Time) time.Time {
	if clock == nil {
		return time.Now()
	}
	return clock()
}

// Outcome is what a turn came to and where it is kept.
type Outcome struct {
	*run.Result
	Kept     bool // the run can be resumed under its id, or from its file
	Warnings []string
}

// Run is run.Run with the run kept from its start.
func (k *Keeper) Run(ctx context.Context, p *engine.Program, in engine.Inputs, c run.Config, about About) (*Outcome, error) {
	j := &journal{log: k.Store}
	c.Journal = j
	r, err := run.Start(p, in, &c)
	if err != nil {
		return nil, err
	}
	t := turn{k: k, p: p, r: r, c: c, about: about, j: j}
	t.info = store.RunInfo{Run: store.RunID(c.Options.RunID), Machine: p.Machine().Name, Path: about.Path, Created: now(k.Clock)}
	if about.Found != "" {
		t.info.Path = about.Found
	}
	if err := t.begin(ctx, &checkpoint.Turn{}); err != nil {
		return nil, err
	}
	return t.drive(ctx)
}

// turn is one turn of a run that a store keeps.
type turn struct {
	k     *Keeper
	p     *engine.Program
	r     *engine.Run
	c     run.Config
	about About
	j     *journal
	info  store.RunInfo
	held  store.Location // the checkpoint that this turn goes on from, claimed
}

// begin keeps where the turn starts, before anything is performed.
func (t *turn) begin(ctx context.Context, how *checkpoint.Turn, frames ...engine.Frame) error {
	if frames == nil {
		frames = t.r.Snapshot().Frames
	}
	if frames == nil { // ended before it asked for anything
		return nil
	}
	e, err := envelope(t.p, t.about, t.c, frames, "", t.k.Clock)
	if err != nil {
		return err
	}
	e.Turn, e.Journal = how, t.j.seq
	at, err := t.k.Store.Blobs().Put(ctx, string(t.info.Run), e.Encode())
	if err != nil {
		return fmt.Errorf("keeping the run: %w", err)
	}
	if err := t.k.Store.Blobs().Claim(ctx, at, t.k.By); err != nil {
		return fmt.Errorf("keeping the run: %w", err)
	}
	t.held = at
	t.info.Status, t.info.Reason, t.info.At, t.info.Approvals = "running", "", "", nil
	return t.index(ctx, at)
}

func (t *turn) index(ctx context.Context, at store.Location) error {
	t.info.Checkpoint, t.info.Updated = at, now(t.k.Clock)
	if err := t.k.Store.Put(ctx, t.info); err != nil {
		return fmt.Errorf("keeping the run: %w", err)
	}
	return nil
}

// drive drives the turn and keeps what it came to. A turn that could not be driven
// to its end gives its claim back: nothing of it is in flight any more.
func (t *turn) drive(ctx context.Context) (*Outcome, error) {
	res, err := run.Drive(ctx, t.r, t.c)
	// What the run came to is kept though the caller's context has ended.
	after := context.WithoutCancel(ctx)
	if err == nil {
		err = t.end(after, res)
	}
	if err != nil {
		if t.held != "" {
			t.k.Store.Blobs().Release(after, t.held, t.k.By)
		}
		return nil, err
	}
	return &Outcome{Result: res, Kept: res.Status == run.StatusSuspended}, nil
}

func (t *turn) end(ctx context.Context, res *run.Result) error {
	t.info.Status, t.info.Reason, t.info.At, t.info.Approvals = string(res.Status), res.Error, res.At, nil
	if res.Status != run.StatusSuspended {
		return t.index(ctx, t.held)
	}
	for i := range res.Approvals {
		a := &res.Approvals[i]
		until, _ := time.Parse(time.RFC3339, a.Expires)
		t.info.Approvals = append(t.info.Approvals, store.ApprovalInfo{ID: a.ID, State: a.State, Tool: a.Tool, Digest: a.Digest, Expires: until})
	}
	e, err := envelope(t.p, t.about, t.c, res.Frames, res.Error, t.k.Clock)
	if err != nil {
		return err
	}
	e.Journal = t.j.seq
	at, err := t.k.Store.Blobs().Put(ctx, string(t.info.Run), e.Encode())
	if err != nil {
		return fmt.Errorf("keeping the suspended run: %w", err)
	}
	return t.index(ctx, at)
}

// Envelope is the portable form of a suspended run, for a file.
func Envelope(p *engine.Program, about About, c run.Config, res *run.Result) (*checkpoint.Envelope, error) {
	c.Options.RunID = res.RunID
	return envelope(p, about, c, res.Frames, res.Error, c.Clock)
}

func envelope(p *engine.Program, about About, c run.Config, f engine.Frames, reason string, clock func() time.Time) (*checkpoint.Envelope, error) {
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, fmt.Errorf("drawing a checkpoint id: %w", err)
	}
	o := &c.Options
	e := &checkpoint.Envelope{
		Version: about.Version, Created: now(clock).UTC().Format("2006-01-02T15:04:05Z"), ID: hex.EncodeToString(id[:]), Run: o.RunID,
		Path: about.Path, Source: about.Source, Inlined: about.Inlined, Metadata: about.Metadata,
		Reason: reason, CostBudget: o.CostBudget, HasBudget: o.HasCostBudget, HITL: o.EscalateSuspend,
		Policy: checkpoint.Policy{Policies: o.Policies, OnTruncate: o.OnTruncate}, HasPolicy: true,
		Frames: f,
	}
	e.Pin(p, about.File)
	return e, nil
}

// Request is what a resume asks for. The zero Request goes on as it was.
type Request struct {
	Inject map[string]trust.Value
	// Unconfirmed says that whoever injects may be a model: nothing is confirmed.
	Unconfirmed   bool
	Approve, Deny []string

	Policies   [3]*policy.Action // flow, argument, egress; nil asks for nothing
	OnTruncate *engine.Truncate
	CostBudget *int
	HITL       bool
	Force      bool
	To         string // of a file: where a suspension goes; "" is back to the file
}
