// Package run is the in-process driver of the engine: it performs what the core
// asks for and gives the results back.
//
// The engine is a synchronous core that touches nothing; this package holds the
// model, the tools, the hooks, the clock, the randomness and the goroutines. Its
// loop is short:
//
//	for {
//		ready := r.Ready()
//		journal.Append(ready.Records)   // durable before anything is performed
//		observe(ready.Events)
//		if ready.Outcome != nil {
//			return
//		}
//		for each effect, bounded: perform it, then r.Step(effect.ID(), result)
//	}
//
// It never decides anything: what an effect's result means, whether a tool may
// run and where the run goes next is the core's. It performs a tool only when
// the effect carries a decision to allow it, and it reaches a model only through
// fence.Render, with the receipt written first.
//
// The shortest correct use:
//
//	res, err := run.Run(ctx, program, nil, run.Config{Model: model, Tiers: tiers})
//
// The zero values of Config are the strict ones: every rule of the effect policy
// halts, no tool and no hook is known, nonces come from the operating system.
package run

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/hook"
	"github.com/pinfold-dev/pinfold/llm"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/receipt"
	"github.com/pinfold-dev/pinfold/tool"
)

// Defaults of Config.
const (
	DefaultMaxWorkers  = 5              // branches in flight per fan-out (LANGUAGE.md §27)
	DefaultApprovalTTL = 24 * time.Hour // life of an approval (LANGUAGE.md §8.4)
)

// Hooks finds the predicate that a gate names. Parametric says that the
// parametric rule (eq:, neq:) answers and not code of the host: the core marks a
// gate that outside text could fire (LANGUAGE.md §8.2). The usual one:
//
//	func(name string) (hook.Func, bool, bool) { return builtin.Resolve(name, own) }
type Hooks func(name string) (f hook.Func, parametric, known bool)

// Journal keeps the records of a run. Append returns only when they are durable:
// the driver performs no effect of a turn whose records are not kept. seq is the
// number of records that the run appended before.
type Journal interface {
	Append(ctx context.Context, run string, seq uint64, records []engine.Record) error
}

// Config is everything a driver needs. The zero Config runs machines of hook-free
// call states and nothing else; what it lacks fails when a run reaches it.
type Config struct {
	// Model is the door to the model; Tiers maps a tier to a model id. A tier
	// that is not in the map fails the state that asks for it.
	Model      llm.Model
	Tiers      map[mkl.Tier]string
	JudgeModel string                      // one model for all judges; "" leaves it to the state's tier
	TierParams map[mkl.Tier]map[string]any // provider parameters, produce only

	// Tools by name. Where Options.Table is nil, it is made from their
	// declarations. Hooks may be nil.
	Tools map[string]tool.Tool
	Hooks Hooks

	Receipts receipt.Sink // nil: rows are dropped
	Nonces   fence.Nonces // safe for concurrent use unless Sequential; nil: the operating system's CSPRNG
	Journal  Journal      // nil: records are dropped

	// Observer sees every event, in order, on the goroutine of Run. It cannot
	// affect the run: its panics are swallowed.
	Observer Observer

	Clock       func() time.Time       // nil: time.Now; used for the expiry of approvals
	NewID       func() (string, error) // nil: 32 hex characters from the CSPRNG; run and approval ids
	ApprovalTTL time.Duration          // 0: DefaultApprovalTTL
	Logger      *slog.Logger           // nil: no log

	// MaxWorkers bounds the branches in flight per fan-out; 0 means
	// DefaultMaxWorkers. Sequential performs one effect at a time on the calling
	// goroutine, the branches of a fan-out one after another, each to its end:
	// what scripted lists and reproducible transcripts need.
	MaxWorkers int
	Sequential bool

	Options engine.Options
}

// Run runs p to the end of its turn. Inputs come from Host.Inputs or from the
// caller's own labels. The error speaks of a run that could not be driven (a
// journal that fails, inputs that do not fit, a broken invariant); a run that
// halts has a Result and no error.
func Run(ctx context.Context, p *engine.Program, in engine.Inputs, c Config) (*Result, error) {
	r, err := Start(p, in, &c)
	if err != nil {
		return nil, err
	}
	return Drive(ctx, r, c)
}

// Start makes the run that Run would drive. It fills in what the driver owes the
// core: a run id, the policy table of the tools, whether records and events are
// wanted. The filled values are written to c, so that Drive and a later resume
// use the same.
func Start(p *engine.Program, in engine.Inputs, c *Config) (*engine.Run, error) {
	if err := c.prepare(); err != nil {
		return nil, err
	}
	r, err := engine.New(p, in, c.Options)
	if err != nil {
		return nil, fmt.Errorf("starting the run: %w", err)
	}
	return r, nil
}

// Resume makes the run that goes on from frames, with c.Options in the place of
// o.Options and the approvals whose time is over added to o.Expired. Drive it with
// the same c.
func Resume(p *engine.Program, f engine.Frames, o engine.ResumeOptions, c *Config) (*engine.Run, error) {
	if err := c.prepare(); err != nil {
		return nil, err
	}
	o.Options = c.Options
	now := time.Now
	if c.Clock != nil {
		now = c.Clock
	}
	o.Expired = append(slices.Clone(o.Expired), f.Expired(now())...)
	r, err := engine.Resume(p, f, o)
	if err != nil {
		return nil, fmt.Errorf("resuming the run: %w", err)
	}
	return r, nil
}

func (c *Config) prepare() error {
	if c.Options.RunID == "" {
		id, err := c.newID()
		if err != nil {
			return fmt.Errorf("drawing a run id: %w", err)
		}
		c.Options.RunID = id
	}
	if c.Options.Table == nil && len(c.Tools) > 0 {
		c.Options.Table = Table(c.Tools)
	}
	c.Options.Journal = c.Journal != nil
	c.Options.Quiet = c.Observer == nil
	return nil
}

// Table is the policy table that the registrations of tools fill (TRUST.md §5).
func Table(tools map[string]tool.Tool) policy.Table {
	t := make(policy.Table, len(tools))
	for name, reg := range tools {
		t[name] = reg.Policy
	}
	return t
}
