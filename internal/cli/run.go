package cli

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/pinfold-dev/pinfold/checkpoint"
	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/mkl/check"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/receipt/jsonl"
	"github.com/pinfold-dev/pinfold/registry"
	"github.com/pinfold-dev/pinfold/run"
	"github.com/pinfold-dev/pinfold/run/durable"
	"github.com/pinfold-dev/pinfold/value"
)

type runCmd struct {
	Machine string   `arg:"" help:"A machine's file, or the name of one that can be found from here."`
	Set     []string `sep:"none" placeholder:"PATH=VALUE" help:"A host input; PATH is keys joined by dots, VALUE is JSON or else text. Repeatable; later ones win."`

	modelFlags
	Checkpoint string `placeholder:"PATH" help:"Write a suspended run to this file instead of keeping it in the store."`
	Strict     bool   `help:"An unsupported language version is an error."`
	turnFlags
}

// modelFlags say what a run talks to.
type modelFlags struct {
	Config   string `placeholder:"FILE" help:"The configuration: pinfold.yaml or runtime.yaml."`
	Provider string `placeholder:"NAME" help:"One of the configuration's providers."`
}

// turnFlags hold for one turn, of a fresh run or of one that is resumed.
type turnFlags struct {
	MaxTokens string `placeholder:"N" help:"Tokens that the run may spend, at least 1."`
	Hitl      bool   `help:"An escalation suspends the run until a person answers."`
	Receipts  string `placeholder:"FILE" help:"Append a receipt of everything that reaches a model, as JSON Lines."`

	OnTruncate        string `placeholder:"report|halt" help:"What an answer causes that was cut off at a length limit."`
	UntrustedFlow     string `placeholder:"report|ask|halt" help:"What happens when outside text had a part in the choice to act."`
	UntrustedArgument string `placeholder:"report|ask|halt" help:"What happens when outside text chose a sensitive argument."`
	SecretEgress      string `placeholder:"report|ask|halt" help:"What happens when a secret would leave this host."`
}

// run works in the order of LANGUAGE.md §20.1: what the caller typed, then the
// machine, then the configuration, and only then anything that costs something.
func (c *runCmd) run(a *app) int {
	settings, f := parseSettings(c.Set)
	if f != nil {
		return a.fail(f)
	}
	flags, f := c.chosen()
	if f != nil {
		return a.fail(f)
	}
	path, f := a.locate(c.Machine)
	if f != nil {
		return a.fail(f)
	}
	l, f := a.load(path, nil, c.modelFlags, c.Strict)
	if f != nil {
		return a.fail(f)
	}
	l.h.options(c, flags)
	vouch := l.h.from.Vouch[l.prog.Machine().Name]
	for key, reason := range vouch {
		a.log.Info("a key is vouched for", "machine", l.prog.Machine().Name, "key", key, "reason", reason)
	}
	a.warnSettings(l.prog.Machine(), settings)
	in, err := run.Host{Settings: settings, Vouch: vouch, Clock: a.env.Clock}.Inputs(l.prog)
	if err != nil {
		return a.fail(&failure{code: "prepare-config", message: err.Error()})
	}
	done, f := c.receipts(a, l.h)
	if f != nil {
		return a.fail(f)
	}
	defer done()
	if !a.json() {
		a.banner(l.prog, l.h, l.h.config.Options)
	}
	cfg, about := l.h.config, l.about()
	if c.Checkpoint == "" && (cfg.Options.Suspendable || l.acts()) {
		k, f := a.keeper(l.h.from)
		if f == nil {
			defer k.Store.Close()
			out, err := k.Run(a.ctx, l.prog, in, cfg, about)
			if err != nil {
				return a.fail(resumeFailure(err))
			}
			return a.finish(l, out, "")
		}
		if cfg.Options.Suspendable {
			return a.fail(f)
		}
		a.warn(f.message + ": the run is not kept, and could not be resumed after a crash")
	}
	res, err := run.Run(a.ctx, l.prog, in, cfg)
	if err != nil {
		return a.fail(&failure{code: "unexpected-error", message: err.Error()})
	}
	out := &durable.Outcome{Result: res}
	if res.Status == run.StatusSuspended {
		e, err := durable.Envelope(l.prog, about, cfg, res)
		if err == nil {
			err = checkpoint.Write(c.Checkpoint, e.Encode())
		}
		if err != nil {
			return a.fail(&failure{code: "unexpected-error", path: c.Checkpoint, message: "the suspended run could not be written: " + err.Error()})
		}
		out.Kept = true
	}
	return a.finish(l, out, c.Checkpoint)
}

// loaded is a program that may run, with what it stands on.
type loaded struct {
	path string // as given; checkpoint.Inline without a file
	file []byte // nil without a file
	text []byte
	prog *engine.Program
	h    *hosted
}

func (l *loaded) about() durable.About {
	about := durable.About{Version: Version, Path: l.path, File: l.file}
	if l.file == nil {
		about.Source, about.Inlined = string(l.text), true
	} else if abs, err := filepath.Abs(l.path); err == nil {
		about.Found = abs
	}
	return about
}

// acts says whether the program can reach a tool that may change the world.
func (l *loaded) acts() bool {
	for _, m := range l.prog.Reachable() {
		for i := range m.States {
			if s := &m.States[i]; s.Kind == mkl.Tool && l.h.config.Options.Table[s.Tool].Class != policy.Read {
				return true
			}
		}
	}
	return false
}

// load is a program with the door to its model.
func (a *app) load(path string, text []byte, m modelFlags, strict bool) (*loaded, *failure) {
	l, f := a.program(path, text, m, strict)
	if f == nil {
		f = l.h.connect(a)
	}
	return l, f
}

// program reads, checks and compiles a machine and what it needs: the file at path,
// or the text that a checkpoint brings, for which nobody answers until it is accepted.
func (a *app) program(path string, text []byte, m modelFlags, strict bool) (*loaded, *failure) {
	l := &loaded{path: path, text: text}
	doc := mkl.Source{Name: path, Text: text, Authorship: mkl.AuthorshipOperator}
	if text == nil {
		src, err := registry.ReadFile(path)
		if err != nil {
			return nil, &failure{code: "prepare-load", path: path, message: "cannot read the machine: " + err.Error()}
		}
		l.file, l.text, doc.Text = src, src, src
	} else if !a.accepted(path, text) {
		doc.Authorship = mkl.AuthorshipModel
	}
	reg := a.scope(path)
	rep := check.File(doc, check.Options{Registry: &scope{Registry: reg, src: doc}, Strict: strict})
	if f := prepared(path, rep); f != nil {
		return nil, f
	}
	reg.SetTarget(rep.Machine)
	near := path
	if text != nil {
		near = ""
	}
	h, f := a.host(m.Config, m.Provider, near)
	if f != nil {
		return nil, f
	}
	l.h = h
	missing := check.Prepare(rep.Machine, h.prepare())
	for i := range missing {
		if missing[i].Severity == mkl.Error {
			return nil, prepared(path, check.Report{Diagnostics: missing})
		}
	}
	a.preparationWarnings(rep.Diagnostics, missing, append(reg.Warnings(), h.warnings...))
	var err error
	if l.prog, err = engine.Compile(rep.Machine, reg); err != nil {
		return nil, &failure{code: "prepare-semantic", path: path, message: err.Error()}
	}
	return l, nil
}

func parseSettings(args []string) ([]run.Setting, *failure) {
	var settings []run.Setting
	for _, arg := range args {
		s, err := run.ParseSetting(arg)
		if err != nil {
			return nil, &failure{code: "invalid-input", message: "--set: " + err.Error(), hint: "--set ticket.body='some text'"}
		}
		settings = append(settings, s)
	}
	return settings, nil
}

// receipts opens the receipts that the flag names; the function closes them.
func (c *turnFlags) receipts(a *app, h *hosted) (func(), *failure) {
	if c.Receipts == "" {
		return func() {}, nil
	}
	sink, err := jsonl.Open(c.Receipts, a.env.Clock)
	if err != nil {
		return nil, &failure{code: "invalid-input", message: err.Error(), hint: "--receipts names a file that can be written"}
	}
	h.config.Receipts = sink
	return func() { sink.Close() }, nil
}

// finish prints what a turn came to and gives the exit code. file is where a
// suspended run was written; "" is the store.
func (a *app) finish(l *loaded, out *durable.Outcome, file string) int {
	for _, w := range out.Warnings {
		a.warn(w)
	}
	res := out.Result
	if !out.Kept {
		file = ""
	}
	if a.json() {
		v := res.Value()
		if file != "" {
			v = v.With("checkpoint", value.FromString(file))
		}
		a.out.json(v)
	} else {
		a.printResult(res, l.prog, l.h.from.Provider)
		a.printNext(out, file)
		a.warnMarks(res)
	}
	if strings.Contains(res.Error, "provider-error: ") {
		a.err.print("  hint: ", a.err.safe("provider "+l.h.from.Provider+" is asked at "+shownURL(l.h.from.BaseURL)+", as "+l.h.from.Where()+" says"), "\n")
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

func (a *app) printResult(res *run.Result, prog *engine.Program, provider string) {
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
		printApproval(out, &res.Approvals[i])
	}
}

// printNext says where a suspended run is and how it goes on.
func (a *app) printNext(o *durable.Outcome, file string) {
	if !o.Kept {
		return
	}
	out := &a.out
	what := o.RunID
	if file != "" {
		out.print("checkpoint: ", out.safe(file), "\n")
		what = file
	}
	next := "pinfold resume " + what
	switch {
	case o.HasAsk || o.ReplyTo != "":
		next += " --set " + o.ReplyTo + "=…"
	case len(o.Approvals) > 0 && file == "":
		next = "pinfold approvals approve ID, then " + next
	case len(o.Approvals) > 0:
		next += " --approve ID"
	}
	out.print("resume: ", out.safe(next), "\n")
}
