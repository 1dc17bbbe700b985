package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/hook"
	hooks "github.com/pinfold-dev/pinfold/hook/builtin"
	"github.com/pinfold-dev/pinfold/llm"
	"github.com/pinfold-dev/pinfold/llm/scripted"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/run"
	"github.com/pinfold-dev/pinfold/tool"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// scriptedModel is what every tier maps to (LANGUAGE.md §19).
const scriptedModel = "m"

// runID makes scenario runs the same every time: approvals carry it.
const runID = "scenario"

// Report is what came of a case.
type Report struct {
	// Mismatches are what was not as expected, one line each; none is a pass.
	Mismatches []string
	// Result is nil where the case did not run.
	Result *run.Result
}

// Pass says that the case ran and everything was as expected.
func (r *Report) Pass() bool { return r.Result != nil && len(r.Mismatches) == 0 }

// Run plays the case once, in sequence, and compares. The error means that the
// run could not be driven; everything that is the case's own is in the Report.
func (c *Case) Run(ctx context.Context) (*Report, error) {
	if len(c.Problems) > 0 {
		rep := &Report{}
		for _, p := range c.Problems {
			rep.Mismatches = append(rep.Mismatches, p.mismatch())
		}
		return rep, nil
	}
	p, err := c.Play()
	var mismatch *engine.MismatchError
	if errors.As(err, &mismatch) {
		res := run.Mismatched(mismatch)
		return &Report{Mismatches: c.Compare(res), Result: res}, nil
	}
	if err != nil {
		return nil, err
	}
	res, err := run.Drive(ctx, p.Run, p.Config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	return &Report{Mismatches: append(p.Faults(), c.Compare(res)...), Result: res}, nil
}

// Play is one playing of a case: a run at its beginning and a driver's
// configuration that answers from a fresh copy of the script.
type Play struct {
	Program *engine.Program
	Run     *engine.Run
	Config  run.Config

	faults *faults
}

// Faults are the places where the script had no answer. Each fails the scenario,
// wherever it went in the run: a marker in a list would hide it.
func (p *Play) Faults() []string {
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	return slices.Clone(p.faults.lines)
}

type faults struct {
	mu    sync.Mutex
	lines []string
}

func (f *faults) add(line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.lines, line) {
		f.lines = append(f.lines, line)
	}
}

// Play compiles the machine and starts a run. A case with Problems has none.
func (c *Case) Play() (*Play, error) {
	if len(c.Problems) > 0 {
		return nil, c.Problems[0]
	}
	if c.Machine == nil {
		return nil, fmt.Errorf("%s: no machine", c.Name)
	}
	prog, err := engine.Compile(c.Machine, c.registry())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	f := &faults{}
	cfg := run.Config{
		Model:      &model{Model: scripted.New(&c.script), faults: f},
		Tiers:      map[mkl.Tier]string{mkl.Fast: scriptedModel, mkl.Balanced: scriptedModel, mkl.Reasoning: scriptedModel},
		JudgeModel: c.params.judge,
		TierParams: c.params.tiers,
		Tools:      c.scriptedTools(f),
		Hooks:      c.scriptedHooks(),
		Nonces:     counted(),
		Journal:    c.journal,
		Sequential: true,
		MaxWorkers: c.params.workers,
		Options:    c.params.options,
	}
	cfg.Options.RunID = runID
	cfg.Options.Table = c.table()
	// An id and a time that are the same every time: nothing is approved here.
	ids := 0
	cfg.NewID = func() (string, error) { ids++; return fmt.Sprintf("%032x", ids), nil }
	cfg.Clock = fixedClock

	play := &Play{Program: prog, Config: cfg, faults: f}
	if c.params.resume {
		play.Run, err = run.Resume(prog, c.params.frames, engine.ResumeOptions{}, &play.Config)
	} else {
		host := run.Host{Vouch: c.params.trusted}
		for _, e := range c.inputs {
			host.Settings = append(host.Settings, run.Setting{Path: []string{e.Key}, Value: e.Value})
		}
		var in engine.Inputs
		if in, err = host.Inputs(prog); err == nil {
			play.Run, err = run.Start(prog, in, &play.Config)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	return play, nil
}

// registry is what call: can reach: the given machines and the machine itself,
// which wins over one of its name.
func (c *Case) registry() engine.Registry {
	return withSelf{c.Registry, c.Machine}
}

type withSelf struct {
	engine.Registry
	self *mkl.Machine
}

func (r withSelf) Machine(name string) (*mkl.Machine, bool) {
	if name == r.self.Name {
		return r.self, true
	}
	if r.Registry == nil {
		return nil, false
	}
	return r.Registry.Machine(name)
}

// table holds the built-in declarations under their names, and over them what the
// scenario says.
func (c *Case) table() policy.Table {
	t := policy.Builtin()
	for _, e := range c.params.effects {
		t.Declare(e.name, e.decl)
	}
	return t
}

// model notes every prompt that the script has no text for.
type model struct {
	*scripted.Model
	faults *faults
}

func (m *model) Produce(ctx context.Context, p fence.Rendered, o llm.Options) (llm.Reply, error) {
	reply, err := m.Model.Produce(ctx, p, o)
	var typed *llm.Error
	if errors.As(err, &typed) && typed.Kind == llm.KindScript {
		shown, _ := value.CutText(p.User(), 200)
		m.faults.add(fmt.Sprintf("llm.produce: %s: %s", typed.Message, value.FromString(shown).JSON()))
	}
	return reply, err
}

// counted is a source of nonces that is the same in every playing. It writes only
// letters that the fence's own tag has, so that a key of a produce map matches
// the author's text and not by luck a nonce.
func counted() fence.Nonces {
	var count atomic.Int64
	return func(nonce *[12]byte) error {
		n := count.Add(1)
		for i := range 6 {
			nonce[2*i], nonce[2*i+1] = 'd', 'a'
			if n>>i&1 == 1 {
				nonce[2*i] = 'a'
			}
		}
		return nil
	}
}

// fixedClock makes the expiry of approvals the same in every playing.
func fixedClock() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

func (c *Case) scriptedTools(f *faults) map[string]tool.Tool {
	tools, declared := make(map[string]tool.Tool, len(c.tools)), c.table()
	for i := range c.tools {
		t := &c.tools[i]
		tools[t.name] = tool.Tool{Name: t.name, Policy: declared[t.name], Func: t.play(f)}
	}
	return tools
}

var errNothing = errors.New("the script has no output for it")

// play is the tool from its first output on.
func (t *scriptedTool) play(f *faults) tool.Func {
	var mu sync.Mutex
	next := 0
	return func(_ context.Context, args []engine.Arg) (tool.Observation, error) {
		if t.keyed {
			text := argsText(args)
			for _, m := range t.outs {
				if strings.Contains(text, m.Key) {
					return tool.Observation{Value: value.FromString(m.Text)}, nil
				}
			}
			f.add(fmt.Sprintf("tools.%s: no scripted output matches the input %s", t.name, text))
			return tool.Observation{}, errors.New("no scripted output matches the input")
		}
		mu.Lock()
		defer mu.Unlock()
		if len(t.outs) == 0 {
			return tool.Observation{}, errNothing
		}
		out := t.outs[min(next, len(t.outs)-1)]
		next++
		return tool.Observation{Value: value.FromString(out.Text)}, nil
	}
}

// argsText is the JSON text of a tool's input.
func argsText(args []engine.Arg) string {
	e := make([]value.Entry, len(args))
	for i, a := range args {
		e[i] = value.Entry{Key: a.Name, Value: a.Value.Value()}
	}
	return value.FromEntries(e...).JSON()
}

// scriptedHooks are the scripted answers, and the built-in and parametric hooks
// where the script names none.
func (c *Case) scriptedHooks() run.Hooks {
	own := make(map[string]hook.Func, len(c.hooks))
	for i := range c.hooks {
		own[c.hooks[i].name] = c.hooks[i].play()
	}
	return func(name string) (hook.Func, bool, bool) { return hooks.Resolve(name, own) }
}

func (h *scriptedHook) play() hook.Func {
	var mu sync.Mutex
	next := 0
	return func(context.Context, hook.View, trust.Value) (bool, error) {
		mu.Lock()
		defer mu.Unlock()
		if len(h.answers) == 0 {
			return false, fmt.Errorf("the script has no answer for '%s'", h.name)
		}
		yes := h.answers[min(next, len(h.answers)-1)]
		next++
		return yes, nil
	}
}
