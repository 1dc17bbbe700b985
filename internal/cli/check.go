package cli

import (
	"os"
	"strings"

	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/mkl/check"
	"github.com/pinfold-dev/pinfold/registry"
	"github.com/pinfold-dev/pinfold/value"
)

type checkCmd struct {
	Files  []string `arg:"" name:"file" help:"Machines, or directories of them."`
	Strict bool     `help:"An unsupported language version is an error."`
}

func (c *checkCmd) run(a *app) int {
	return a.checkFiles(c.Files, check.Options{Strict: c.Strict}, nil)
}

type lintCmd struct {
	Files  []string `arg:"" name:"file" help:"Machines, or directories of them."`
	Strict bool     `help:"Findings fail the command, and an unsupported version is an error."`

	LLM      bool   `name:"llm" help:"Ask a model how firmly judged gates hold. Costs tokens, proves nothing, fails nothing."`
	Samples  int    `name:"llm-samples" default:"5" help:"Outputs that are tried for each state, at least 1."`
	Repeats  int    `name:"llm-repeats" default:"3" help:"Judgements of each output, at least 1."`
	Config   string `placeholder:"FILE" help:"The configuration, for --llm."`
	Provider string `placeholder:"NAME" help:"One of the configuration's providers, for --llm."`
}

func (c *lintCmd) run(a *app) int {
	o := check.Options{Strict: c.Strict, Lint: true}
	if !c.LLM {
		return a.checkFiles(c.Files, o, nil)
	}
	if c.Samples < 1 || c.Repeats < 1 {
		return a.fail(&failure{code: "invalid-input", message: "--llm-samples and --llm-repeats: expected at least 1"})
	}
	a.err.print("lint --llm asks a model: it costs tokens and proves nothing\n")
	return a.checkFiles(c.Files, o, c)
}

// machines is the files that arguments name: a directory means every machine in it.
func machines(args []string) ([]string, *failure) {
	var files []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil || !info.IsDir() {
			files = append(files, arg) // one that is not there is reported as a file
			continue
		}
		found, err := registry.Files(arg)
		if err != nil {
			return nil, &failure{code: "invalid-input", path: arg, message: "cannot read the directory: " + err.Error()}
		}
		if len(found) == 0 {
			return nil, &failure{code: "invalid-input", path: arg, message: "no *.mkl files in the directory", hint: "name a machine's file, or a directory that holds some"}
		}
		files = append(files, found...)
	}
	return files, nil
}

// report reads, checks and lints one file in the scope of its path.
func (a *app) report(file string, o check.Options) (check.Report, *registry.Registry) {
	reg := a.scope(file)
	src, err := registry.ReadFile(file)
	if err != nil {
		return check.Unreadable(file, err), reg
	}
	doc := mkl.Source{Name: file, Text: src, Authorship: mkl.AuthorshipOperator}
	o.Registry = &scope{Registry: reg, src: doc}
	return check.File(doc, o), reg
}

// scope is a file's registry in which the file itself stands for its machine
// (LANGUAGE.md §22). It is read a second time only where the machine calls
// something.
type scope struct {
	*registry.Registry
	src  mkl.Source
	read bool
}

func (s *scope) Lookup(name string) (*mkl.Machine, *mkl.Diagnostic, bool) {
	if !s.read {
		s.read = true
		if m, _ := mkl.Parse(s.src, mkl.Strict); m != nil {
			s.SetTarget(m)
		}
	}
	return s.Registry.Lookup(name)
}

// checkFiles reports on every file; ask is not nil where a model is asked too.
func (a *app) checkFiles(args []string, o check.Options, ask *lintCmd) int {
	files, f := machines(args)
	if f != nil {
		return a.fail(f)
	}
	items := make([]value.Value, 0, len(files))
	failed, findings := false, 0
	for _, file := range files {
		rep, reg := a.report(file, o)
		failed = failed || rep.Fails(o.Lint && o.Strict)
		for i := range rep.Diagnostics {
			if s := rep.Diagnostics[i].Severity; s == mkl.Finding || s == mkl.Note {
				findings++
			}
		}
		var asked []string
		if ask != nil && rep.Status() != check.StatusError {
			var f *failure
			if asked, f = a.askModel(ask, file, rep.Machine); f != nil {
				return a.fail(f)
			}
		}
		extra := reg.Warnings()
		if a.json() {
			items = append(items, reportItem(rep, extra, asked, o.Lint))
		} else {
			a.printReport(rep, extra, asked)
		}
	}
	code := exitOK
	if failed {
		code = exitHalt
	}
	if a.json() {
		summary := []value.Entry{kint("files", len(files))}
		if o.Lint {
			summary = append(summary, kint("findings", findings))
		}
		a.out.json(envelope(a.command, !failed, items, nil, obj(summary...)))
		return code
	}
	line := a.command + ": files=" + itoa(len(files))
	if o.Lint {
		line += " · findings=" + itoa(findings)
	}
	a.out.print(line, "\n")
	return code
}

func reportItem(rep check.Report, extra, asked []string, lint bool) value.Value {
	status := rep.Status()
	if status == check.StatusOK && len(extra) > 0 {
		status = check.StatusWarning
	}
	structured := make([]value.Value, len(rep.Diagnostics))
	for i := range rep.Diagnostics {
		structured[i] = diagnosticValue(&rep.Diagnostics[i])
	}
	item := []value.Entry{
		kstr("path", rep.File), kstr("status", string(status)),
		kstrs("errors", rep.Errors()), kstrs("warnings", append(rep.Warnings(), extra...)),
		kv("diagnostics", value.FromList(structured...)),
	}
	if lint {
		item = append(item, kstrs("findings", rep.Findings()), kstrs("llm_findings", asked))
	}
	return obj(item...)
}

func diagnosticValue(d *mkl.Diagnostic) value.Value {
	e := []value.Entry{
		kstr("code", d.Code), kstr("severity", check.SeverityName(d.Severity)), kstr("message", d.Message),
		kint("line", d.Line), kint("column", d.Column),
	}
	if d.State != "" {
		e = append(e, kstr("state", d.State))
	}
	if d.Hint != "" {
		e = append(e, kstr("hint", d.Hint))
	}
	return obj(e...)
}

func (a *app) printReport(rep check.Report, extra, asked []string) {
	status := rep.Status()
	if status == check.StatusOK && len(extra) > 0 {
		status = check.StatusWarning
	}
	a.out.print(a.out.paint(strings.ToUpper(string(status))), " ", a.out.safe(rep.File), "\n")
	a.printDiagnostics(&a.out, rep.Diagnostics)
	for _, w := range extra {
		a.out.print("  warning: ", a.out.safe(w), "\n")
	}
	for _, l := range asked {
		a.out.print("  llm: ", a.out.safe(l), "\n")
	}
}

func (a *app) printDiagnostics(to *stream, list []mkl.Diagnostic) {
	for i := range list {
		d := &list[i]
		kind, text := check.SeverityName(d.Severity), d.String()
		switch d.Severity {
		case mkl.Finding:
			kind = "lint"
		case mkl.Note: // the line's own word says it already
			text = strings.Replace(text, " note: ", " ", 1)
		}
		to.print("  ", kind, ": ", to.safe(text), "\n")
		if d.Hint != "" {
			to.print("    hint: ", to.safe(d.Hint), "\n")
		}
	}
}
