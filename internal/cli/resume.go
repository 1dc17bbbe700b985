package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/checkpoint"
	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/run"
	"github.com/pinfold-dev/pinfold/run/durable"
	"github.com/pinfold-dev/pinfold/store"
	"github.com/pinfold-dev/pinfold/trust"
)

type resumeCmd struct {
	Run     string   `arg:"" help:"The id of a run that the store keeps, or a checkpoint's file."`
	Set     []string `sep:"none" placeholder:"PATH=VALUE" help:"A value for the run, as the answer to what it asked. Repeatable."`
	Approve []string `sep:"none" placeholder:"ID" help:"Approve exactly this pending call, once. Repeatable."`
	Deny    []string `sep:"none" placeholder:"ID" help:"Deny this pending call: the run halts. Repeatable."`

	modelFlags
	Machine    string `placeholder:"PATH" help:"Where the machine is now."`
	Checkpoint string `placeholder:"PATH" help:"Write the next suspension of a checkpoint file here instead of back to it."`
	Force      bool   `help:"Resume all the same: a claimed checkpoint, a changed machine, a looser policy, a call of unknown outcome. The run records it."`
	turnFlags
}

// run checks everything before anything of the run is touched (LANGUAGE.md §18.3,
// §20.2). A resume that is refused gives the claim back.
func (c *resumeCmd) run(a *app) int {
	settings, f := parseSettings(c.Set)
	if f != nil {
		return a.fail(f)
	}
	flags, f := c.chosen()
	if f != nil {
		return a.fail(f)
	}
	parked, k, f := c.open(a)
	if f != nil {
		return a.fail(f)
	}
	if k != nil {
		defer k.Store.Close()
	}
	defer func() {
		if err := parked.Close(); err != nil {
			a.warn("the claim on the checkpoint could not be given back: " + err.Error())
		}
	}()
	l, f := c.load(a, parked)
	if f != nil {
		return a.fail(f)
	}
	done, f := c.receipts(a, l.h)
	if f != nil {
		return a.fail(f)
	}
	defer done()
	req := durable.Request{
		Inject: inject(settings), Approve: c.Approve, Deny: c.Deny,
		Policies: flags.actions, OnTruncate: flags.truncate, HITL: c.Hitl, Force: c.Force, To: c.Checkpoint,
	}
	if flags.maxTokens > 0 {
		req.CostBudget = &flags.maxTokens
	}
	out, err := parked.Resume(a.ctx, l.prog, l.h.config, l.about(), req)
	var mismatch *engine.MismatchError
	switch {
	case errors.As(err, &mismatch):
		out = &durable.Outcome{Result: run.Mismatched(mismatch), Warnings: parked.Warnings()}
	case err != nil:
		for _, w := range parked.Warnings() {
			a.warn(w)
		}
		return a.fail(resumeFailure(err))
	}
	file := ""
	if k == nil {
		if file = c.Checkpoint; file == "" {
			file = c.Run
		}
	}
	return a.finish(l, out, file)
}

// open claims what is to be resumed: a file where there is one of that name, else
// a run of the store.
func (c *resumeCmd) open(a *app) (*durable.Parked, *durable.Keeper, *failure) {
	if exists(c.Run) {
		parked, err := durable.OpenFile(c.Run, a.me(), a.env.Clock(), c.Force)
		if err != nil {
			f := resumeFailure(err)
			f.path = c.Run
			return nil, nil, f
		}
		return parked, nil, nil
	}
	if c.Checkpoint != "" {
		return nil, nil, &failure{code: "invalid-input", message: "--checkpoint goes with a checkpoint's file: a run of the store is kept there"}
	}
	k, f := a.storeFor(c.Config)
	if f != nil {
		return nil, nil, f
	}
	parked, err := k.Open(a.ctx, store.RunID(c.Run), c.Force)
	if err != nil {
		k.Store.Close()
		f := resumeFailure(err)
		if errors.Is(err, store.ErrNotFound) {
			f.message, f.hint = fmt.Sprintf("no checkpoint file and no run '%s'", c.Run), "pinfold runs lists the runs"
		}
		return nil, nil, f
	}
	return parked, k, nil
}

func (c *resumeCmd) load(a *app, p *durable.Parked) (*loaded, *failure) {
	e := p.Envelope
	switch {
	case c.Machine != "":
		return a.load(c.Machine, nil, c.modelFlags, false)
	case e.Inlined:
		return a.load(checkpoint.Inline, []byte(e.Source), c.modelFlags, false)
	case e.Path == checkpoint.Inline:
		return nil, &failure{code: "bad-checkpoint", message: "the checkpoint has no 'machine_source', and its machine no file", hint: "--machine says where the machine is"}
	}
	path := e.Path
	if found := p.Info().Path; found != "" {
		path = found
	} else {
		path = machineOf(path, c.Run)
	}
	l, f := a.load(path, nil, c.modelFlags, false)
	if f != nil && f.hint == "" && !exists(path) {
		f.hint = "--machine says where the machine is now"
	}
	return l, f
}

// inject is what --set gives a resume: outside data, whatever it is.
func inject(settings []run.Setting) map[string]trust.Value {
	in := make(map[string]trust.Value, len(settings))
	for _, s := range settings {
		in[strings.Join(s.Path, ".")] = trust.NewValue(s.Value, trust.From("host:"+s.Path[0]))
	}
	return in
}
