package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/llm"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/receipt"
)

// Temperatures of LANGUAGE.md §7.2; a judge is asked at 0.
const (
	temperature       = 0.4
	temperatureSample = 0.8
)

// ErrNotAllowed is a tool effect without a decision to allow it. The core never
// hands one out; a driver that sees one performs nothing and ends the run.
var ErrNotAllowed = errors.New("tool effect carries no decision to allow it")

// Performer answers effects. It is what Drive uses, for drivers with a loop of
// their own (replay, tests). It is safe for concurrent use when the Config's
// parts are.
type Performer struct {
	c      Config
	nonces fence.Nonces
	random entropy
	tiers  [3]string
}

// NewPerformer prepares c.
func NewPerformer(c Config) *Performer {
	p := &Performer{c: c, nonces: c.Nonces}
	if p.nonces == nil {
		p.nonces = fence.Hex(&p.random)
	}
	for t, model := range c.Tiers {
		if i := tierIndex(t); i >= 0 {
			p.tiers[i] = model
		}
	}
	return p
}

func (p *Performer) log() *slog.Logger {
	if p.c.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return p.c.Logger
}

func tierIndex(t mkl.Tier) int {
	switch t {
	case mkl.Fast:
		return 0
	case mkl.Balanced:
		return 1
	case mkl.Reasoning:
		return 2
	}
	return -1
}

// Perform does what e asks for. A failure of the model, the tool or the hook, a
// panic included, is a result; the error is ErrNotAllowed and nothing else.
func (p *Performer) Perform(ctx context.Context, e engine.Effect) (res engine.Result, err error) {
	defer func() {
		if x := recover(); x != nil {
			res, err = p.panicked(e, x), nil
		}
	}()
	switch e := e.(type) {
	case *engine.Produce:
		return p.produce(ctx, e), nil
	case *engine.Judge:
		return p.judge(ctx, e), nil
	case *engine.Tool:
		if !e.Decision.Allowed() {
			return nil, fmt.Errorf("%w: tool '%s' at %s", ErrNotAllowed, e.Name, e.ID().State)
		}
		return p.tool(ctx, e), nil
	case *engine.Hook:
		return p.hook(ctx, e), nil
	}
	panic(fmt.Sprintf("run: effect of an unknown type %T", e))
}

func (p *Performer) panicked(e engine.Effect, x any) engine.Result {
	p.log().Error("panic while performing an effect", "effect", e.ID().String(), "panic", fmt.Sprint(x), "stack", string(debug.Stack()))
	if h, ok := e.(*engine.Hook); ok {
		return engine.Failed{Kind: engine.FailState, Message: "hook: '" + h.Name + "' panicked"}
	}
	// The text of a panic can carry anything the tool had read: it goes to the
	// log and nowhere else.
	return engine.Failed{Kind: engine.FailInternal, Message: "internal error"}
}

// model is the model id of a tier.
func (p *Performer) model(t mkl.Tier) (string, bool) {
	if i := tierIndex(t); i >= 0 && p.tiers[i] != "" {
		return p.tiers[i], true
	}
	return "", false
}

var noModel = engine.Failed{Kind: engine.FailState, Message: "no model is configured"}

func noTier(t mkl.Tier) engine.Result {
	return engine.Failed{Kind: engine.FailState, Message: "tier '" + string(t) + "' is not configured"}
}

// render is the one way from a Prompt to a model: the nonce is drawn, the fences
// are written, and the receipt of what was done is kept before anything is sent.
func (p *Performer) render(ctx context.Context, e engine.Effect, prompt fence.Prompt) (fence.Rendered, *engine.Failed) {
	rendered, rows, err := fence.Render(prompt, p.nonces)
	if err != nil {
		return fence.Rendered{}, &engine.Failed{Kind: engine.FailState, Message: oneLine("prompt: " + err.Error())}
	}
	if p.c.Receipts != nil {
		call := receipt.CallID{Run: p.c.Options.RunID, Effect: e.ID().String()}
		if err := receipt.Keep(ctx, p.c.Receipts, call, rendered, rows); err != nil {
			// A call whose receipt is not kept would be one nobody can audit.
			return fence.Rendered{}, &engine.Failed{Kind: engine.FailState, Message: oneLine("receipt: " + err.Error())}
		}
	}
	return rendered, nil
}

func (p *Performer) produce(ctx context.Context, e *engine.Produce) engine.Result {
	model, ok := p.model(e.Tier)
	if !ok {
		return noTier(e.Tier)
	}
	if err := ctx.Err(); err != nil {
		return engine.Failed{Kind: engine.FailCancelled, Message: err.Error(), Model: model}
	}
	rendered, failed := p.render(ctx, e, e.Prompt)
	if failed != nil {
		return *failed
	}
	o := llm.Options{Model: model, Temperature: temperature, Reason: e.Reason, Params: p.c.TierParams[e.Tier]}
	if e.Sampling {
		o.Temperature = temperatureSample
	}
	if p.c.Model == nil {
		return noModel
	}
	reply, err := p.c.Model.Produce(ctx, rendered, o)
	if len(reply.Dropped) > 0 {
		p.log().Warn("the provider refused parameters", "model", model, "dropped", reply.Dropped)
	}
	if err != nil {
		return failure(ctx, err, reply, model)
	}
	return engine.Produced{
		Text:         reply.Text,
		Reasoning:    reply.Reasoning,
		Usage:        reply.Usage,
		Truncated:    reply.Truncated,
		FinishReason: reply.FinishReason,
	}
}

func (p *Performer) judge(ctx context.Context, e *engine.Judge) engine.Result {
	model := p.c.JudgeModel
	if model == "" {
		var ok bool
		if model, ok = p.model(e.Tier); !ok {
			return noTier(e.Tier)
		}
	}
	if err := ctx.Err(); err != nil {
		return engine.Failed{Kind: engine.FailCancelled, Message: err.Error(), Model: model}
	}
	rendered, failed := p.render(ctx, e, e.Prompt)
	if failed != nil {
		return *failed
	}
	if p.c.Model == nil {
		return noModel
	}
	reply, err := p.c.Model.Judge(ctx, rendered, llm.Options{Model: model, JSON: true})
	if len(reply.Dropped) > 0 {
		p.log().Warn("the provider refused parameters", "model", model, "dropped", reply.Dropped)
	}
	if err != nil {
		return failure(ctx, err, reply, model)
	}
	return engine.Judged{Reply: reply.Text, Truncated: reply.Truncated, Usage: reply.Usage, Model: model, Forced: reply.Forced}
}

// failure is the result of a model call that came to none. Usage comes back with
// errors too: a refused answer was paid for (LANGUAGE.md §7.7).
func failure(ctx context.Context, err error, reply llm.Reply, model string) engine.Result {
	f := engine.Failed{Kind: engine.FailProvider, Usage: reply.Usage, Reasoning: reply.Reasoning, Model: model}
	var typed *llm.Error
	switch {
	case cancelled(ctx, err):
		f.Kind = engine.FailCancelled
	case errors.As(err, &typed):
		switch typed.Kind {
		case llm.KindRefusal:
			f.Kind = engine.FailRefusal
		case llm.KindCancelled:
			f.Kind = engine.FailCancelled
		case llm.KindScript:
			f.Kind = engine.FailState
		}
	}
	f.Message = oneLine(err.Error())
	return f
}

func (p *Performer) tool(ctx context.Context, e *engine.Tool) engine.Result {
	t, ok := p.c.Tools[e.Name]
	if !ok || t.Func == nil {
		return engine.Failed{Kind: engine.FailState, Message: "tool: unknown tool '" + e.Name + "'"}
	}
	if err := ctx.Err(); err != nil {
		return engine.Failed{Kind: engine.FailCancelled, Message: err.Error()}
	}
	obs, err := t.Func(ctx, e.Args)
	if err != nil {
		if cancelled(ctx, err) {
			return engine.Failed{Kind: engine.FailCancelled, Message: oneLine(err.Error())}
		}
		return engine.Failed{Kind: engine.FailState, Message: oneLine(err.Error())}
	}
	return engine.Observed{Value: obs.Value, Label: obs.Label}
}

func (p *Performer) hook(ctx context.Context, e *engine.Hook) engine.Result {
	if p.c.Hooks != nil {
		if f, parametric, ok := p.c.Hooks(e.Name); ok {
			yes, err := f(ctx, e.Board, e.Output)
			if err != nil {
				return engine.Failed{Kind: engine.FailState, Message: oneLine("hook: " + err.Error())}
			}
			return answered[bit(yes)][bit(parametric)]
		}
	}
	return engine.Failed{Kind: engine.FailState, Message: "hook: unknown hook '" + e.Name + "'"}
}

// answered holds the four answers a hook can give, so that giving one allocates
// nothing.
var answered = [2][2]engine.Result{
	{engine.Answered{}, engine.Answered{Parametric: true}},
	{engine.Answered{True: true}, engine.Answered{True: true, Parametric: true}},
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cancelled says whether err is the end of the run's context and not a time-out
// of the callee's own.
func cancelled(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}

// oneLine keeps a message on one line: reasons are an interface (LANGUAGE.md
// §16) that logs and screens print by line.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\r\n\u0085\u2028\u2029") {
		return s
	}
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r == '\r' || r == '\n' || r == '\u0085' || r == '\u2028' || r == '\u2029'
	}), " ")
}
