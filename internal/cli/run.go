package cli

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/mkl/check"
	"github.com/pinfold-dev/pinfold/receipt/jsonl"
	"github.com/pinfold-dev/pinfold/registry"
	"github.com/pinfold-dev/pinfold/run"
	"github.com/pinfold-dev/pinfold/value"
)

type runCmd struct {
	Machine string   `arg:"" help:"A machine's file, or the name of one that can be found from here."`
	Set     []string `sep:"none" placeholder:"PATH=VALUE" help:"A host input; PATH is keys joined by dots, VALUE is JSON or else text. Repeatable; later ones win."`

	Config    string `placeholder:"FILE" help:"The configuration: pinfold.yaml or runtime.yaml."`
	Provider  string `placeholder:"NAME" help:"One of the configuration's providers."`
	MaxTokens string `placeholder:"N" help:"Tokens that the run may spend, at least 1."`

	Checkpoint string `placeholder:"PATH" help:"Where a suspended run is written."`
	Hitl       bool   `help:"An escalation suspends the run until a person answers."`
	Strict     bool   `help:"An unsupported language version is an error."`
	Receipts   string `placeholder:"FILE" help:"Append a receipt of everything that reaches a model, as JSON Lines."`

	OnTruncate        string `placeholder:"report|halt" help:"What an answer causes that was cut off at a length limit."`
	UntrustedFlow     string `placeholder:"report|ask|halt" help:"What happens when outside text had a part in the choice to act."`
	UntrustedArgument string `placeholder:"report|ask|halt" help:"What happens when outside text chose a sensitive argument."`
	SecretEgress      string `placeholder:"report|ask|halt" help:"What happens when a secret would leave this host."`
}

// run works in the order of LANGUAGE.md §20.1: what the caller typed, then the
// machine, then the configuration, and only then anything that costs something.
func (c *runCmd) run(a *app) int {
	var settings []run.Setting
	for _, arg := range c.Set {
		s, err := run.ParseSetting(arg)
		if err != nil {
			return a.fail(&failure{code: "invalid-input", message: "--set: " + err.Error(), hint: "--set ticket.body='some text'"})
		}
		settings = append(settings, s)
	}
	flags, f := c.chosen()
	if f != nil {
		return a.fail(f)
	}

	path, f := a.locate(c.Machine)
	if f != nil {
		return a.fail(f)
	}
	src, err := registry.ReadFile(path)
	if err != nil {
		return a.fail(&failure{code: "prepare-load", path: path, message: "cannot read the machine: " + err.Error()})
	}
	reg := a.scope(path)
	doc := mkl.Source{Name: path, Text: src, Authorship: mkl.AuthorshipOperator}
	rep := check.File(doc, check.Options{Registry: &scope{Registry: reg, src: doc}, Strict: c.Strict})
	if f := prepared(path, rep); f != nil {
		return a.fail(f)
	}
	reg.SetTarget(rep.Machine)

	h, f := a.host(c.Config, c.Provider, path)
	if f != nil {
		return a.fail(f)
	}
	h.options(c, flags)
	missing := check.Prepare(rep.Machine, h.prepare())
	for i := range missing {
		if missing[i].Severity == mkl.Error {
			return a.fail(prepared(path, check.Report{Diagnostics: missing}))
		}
	}
	a.preparationWarnings(rep.Diagnostics, missing, append(reg.Warnings(), h.from.Warnings...))

	if f := h.connect(a); f != nil {
		return a.fail(f)
	}

	prog, err := engine.Compile(rep.Machine, reg)
	if err != nil {
		return a.fail(&failure{code: "prepare-semantic", path: path, message: err.Error()})
	}
	vouch := h.from.Vouch[rep.Machine.Name]
	for key, reason := range vouch {
		a.log.Info("a key is vouched for", "machine", rep.Machine.Name, "key", key, "reason", reason)
	}
	in, err := run.Host{Settings: settings, Vouch: vouch, Clock: a.env.Clock}.Inputs(prog)
	if err != nil {
		return a.fail(&failure{code: "prepare-config", message: err.Error()})
	}
	cfg := h.config
	if c.Receipts != "" {
		sink, err := jsonl.Open(c.Receipts, a.env.Clock)
		if err != nil {
			return a.fail(&failure{code: "invalid-input", message: err.Error(), hint: "--receipts names a file that can be written"})
		}
		defer sink.Close()
		cfg.Receipts = sink
	}
	if !a.json() {
		a.banner(prog, h, cfg.Options)
	}
	r, err := run.Start(prog, in, &cfg)
	if err != nil {
		return a.fail(&failure{code: "unexpected-error", message: err.Error()})
	}
	res, err := run.Drive(a.ctx, r, cfg)
	if err != nil {
		return a.fail(&failure{code: "unexpected-error", message: err.Error()})
	}

	kept := ""
	if res.Status == run.StatusSuspended {
		if c.Checkpoint == "" {
			a.warn("the suspended run is not kept: name a file with --checkpoint")
		} else if err := writeCheckpoint(c.Checkpoint, envelopeOf(res, prog, path, src, cfg.Options, a.env.Clock())); err != nil {
			return a.fail(&failure{code: "unexpected-error", path: c.Checkpoint, message: "the suspended run could not be written: " + err.Error()})
		} else {
			kept = c.Checkpoint
		}
	}
	if a.json() {
		v := res.Value()
		if kept != "" {
			v = v.With("checkpoint", value.FromString(kept))
		}
		a.out.json(v)
	} else {
		a.printResult(res, prog, h.from.Provider, kept)
	}
	if strings.Contains(res.Error, "provider-error: ") {
		a.err.print("  hint: ", a.err.safe("provider "+h.from.Provider+" is asked at "+shownURL(h.from.BaseURL)+", as "+h.from.Where()+" says"), "\n")
	}
	switch {
	case a.ctx.Err() != nil:
		return exitInterrupted
	case res.Status == run.StatusDone:
		return exitOK
	case res.Status == run.StatusSuspended:
		return exitSuspended
	}
	return exitHalt
}

// shownURL is an address without what could be a password.
func shownURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "an address that is no URL"
	}
	return u.Redacted()
}

// locate finds the machine: a path, else a name that can be seen from here.
func (a *app) locate(arg string) (string, *failure) {
	if info, err := os.Stat(arg); err == nil {
		if info.IsDir() {
			return "", &failure{code: "invalid-input", path: arg, message: "is a directory: name one machine"}
		}
		return arg, nil
	}
	reg := a.scope("here" + registry.Ext)
	if path, ok := reg.Path(arg); ok {
		return path, nil
	}
	f := &failure{code: "prepare-load", message: "no file or machine '" + arg + "'"}
	if names := reg.Names(); len(names) > 0 {
		f.hint = "machines found from here: " + strings.Join(names, ", ")
	}
	return "", f
}

// prepared is the failure of a machine that must not run.
func prepared(path string, rep check.Report) *failure {
	f := &failure{code: "prepare-semantic", path: path, message: "the machine has errors"}
	for i := range rep.Diagnostics {
		d := &rep.Diagnostics[i]
		if d.Severity != mkl.Error {
			continue
		}
		if strings.HasPrefix(d.Code, "MK1") || strings.HasPrefix(d.Code, "MK2") {
			f.code = "prepare-load"
		}
		f.also = append(f.also, diagnostic{severity: "error", message: d.String(), code: d.Code, hint: d.Hint})
	}
	if f.also == nil {
		return nil
	}
	return f
}

func (a *app) preparationWarnings(checked, missing []mkl.Diagnostic, lines []string) {
	for _, list := range [][]mkl.Diagnostic{checked, missing} {
		for i := range list {
			if list[i].Severity == mkl.Warning {
				a.warn(list[i].String())
			}
		}
	}
	for _, l := range lines {
		a.warn(l)
	}
}

func (a *app) banner(prog *engine.Program, h *hosted, o engine.Options) {
	truncate := "report"
	if o.OnTruncate == engine.TruncateHalt {
		truncate = "halt"
	}
	tiers := make([]string, 0, 3)
	for _, t := range []mkl.Tier{mkl.Fast, mkl.Balanced, mkl.Reasoning} {
		if m := h.config.Tiers[t]; m != "" {
			tiers = append(tiers, string(t)+"="+m)
		}
	}
	a.err.print("machine ", a.err.safe(prog.Machine().Name), " · provider ", a.err.safe(h.from.Provider), " · ", a.err.safe(strings.Join(tiers, ", ")), "\n")
	a.err.print("untrusted-flow ", o.Policies.UntrustedFlow.String(), " · untrusted-argument ", o.Policies.UntrustedArgument.String(),
		" · secret-egress ", o.Policies.SecretEgress.String(), " · on-truncate ", truncate, "\n")
}

func (a *app) printResult(res *run.Result, prog *engine.Program, provider, kept string) {
	out := &a.out
	status := strings.ToUpper(string(res.Status))
	out.print(out.paint(status), " ", out.safe(prog.Machine().Name), " · provider ", out.safe(provider), "\n")
	if res.Status == run.StatusDone {
		text, ok := res.Result.Value().AsString()
		if !ok {
			text = res.Result.Value().JSON()
		}
		out.print(out.block(text), "\n")
	}
	estimated := ""
	if res.Usage.Estimated {
		estimated = " (estimated)"
	}
	out.print(fmt.Sprintf("tokens %d+%d%s · steps %d\n", res.Usage.Input, res.Usage.Output, estimated, res.Steps))
	if res.Error != "" {
		out.print("error: ", out.safe(res.Error), "\n")
	}
	if res.At != "" {
		out.print("at: ", out.safe(res.At), "\n")
	}
	if d := res.Diagnosis; d != nil {
		out.print("most revisited: ", out.safe(d.State), " ×", itoa(d.Visits), "\n")
	}
	if res.HasAsk {
		out.print("ask: ", out.safe(res.Ask), "\n")
	}
	if res.ReplyTo != "" {
		out.print("reply to: ", out.safe(res.ReplyTo), "\n")
	}
	for i := range res.Approvals {
		a.printApproval(&res.Approvals[i])
	}
	if kept != "" {
		out.print("checkpoint: ", out.safe(kept), "\n")
	}
}

// printApproval shows exactly what would be done: every argument whole, escaped,
// with its length and where it came from [C17].
func (a *app) printApproval(p *engine.Approval) {
	out := &a.out
	out.print("approval: ", out.safe(p.ID), " · ", out.safe(p.Tool), " at ", out.safe(p.State), " · until ", out.safe(p.Expires), "\n")
	for i := range p.Reasons {
		out.print("  ", out.safe(p.Reasons[i]), "\n")
	}
	for _, arg := range p.Args {
		text, ok := arg.Value.Value().AsString()
		if !ok {
			text = arg.Value.Value().JSON()
		}
		out.print("  ", out.safe(arg.Name), " (", itoa(len([]rune(text))), " characters, ", arg.Value.Label().String(), "): ", out.style().Approval(text), "\n")
	}
}
