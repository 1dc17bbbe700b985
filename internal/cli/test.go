package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/registry"
	"github.com/pinfold-dev/pinfold/scenario"
	"github.com/pinfold-dev/pinfold/value"
)

type testCmd struct {
	Machine string `arg:"" help:"A machine, or a directory of machines with their scripts beside them."`
	Script  string `placeholder:"FILE" help:"The scenarios; NAME.test.yaml beside the machine where none is named."`
}

// scriptExt is the ending of a machine's scenarios.
const scriptExt = ".test.yaml"

func (c *testCmd) run(a *app) int {
	files, f := machines([]string{c.Machine})
	if f != nil {
		return a.fail(f)
	}
	dir := len(files) != 1 || files[0] != c.Machine
	if dir && c.Script != "" {
		return a.fail(&failure{code: "invalid-input", message: "--script names the scenarios of one machine, and '" + c.Machine + "' is a directory", hint: "name the machine, or leave --script out"})
	}
	t := tally{a: a}
	ran := false
	for _, file := range files {
		script := c.Script
		if script == "" {
			script = strings.TrimSuffix(file, registry.Ext) + scriptExt
			if _, err := os.Stat(script); err != nil && dir {
				continue
			}
		}
		ran = true
		if f := a.scenarios(file, script, &t); f != nil {
			return a.fail(f)
		}
	}
	if !ran {
		return a.fail(&failure{code: "invalid-input", path: c.Machine, message: "no machine in the directory has a *" + scriptExt + " beside it"})
	}
	return t.end("test: passed=" + itoa(t.passed) + " · failed=" + itoa(t.failed))
}

// scenarios plays a script against a machine, which is read strictly and not
// checked (LANGUAGE.md §19).
func (a *app) scenarios(file, script string, t *tally) *failure {
	m, reg, f := a.machine(file)
	if f != nil {
		return f
	}
	if faults := reg.Reach(m); len(faults) > 0 {
		return unreadable(faults[0].File, faults)
	}
	src, err := registry.ReadFile(script)
	if err != nil {
		return &failure{code: "prepare-load", path: script, message: "cannot read the scenarios: " + err.Error(), hint: "name them with --script"}
	}
	cases, err := scenario.Load(script, src)
	if err != nil {
		return fileFailure("prepare-load", err)
	}
	for _, c := range cases {
		c.Machine, c.Registry = m, reg
		t.play(c, c.Name)
	}
	return nil
}

// machine reads the machine that a person named, strictly.
func (a *app) machine(file string) (*mkl.Machine, *registry.Registry, *failure) {
	src, err := registry.ReadFile(file)
	if err != nil {
		return nil, nil, &failure{code: "prepare-load", path: file, message: "cannot read the machine: " + err.Error()}
	}
	m, diags := mkl.Parse(mkl.Source{Name: file, Text: src, Authorship: mkl.AuthorshipOperator}, mkl.Strict)
	if m == nil {
		return nil, nil, unreadable(file, diags)
	}
	reg := a.scope(file)
	reg.SetTarget(m)
	return m, reg, nil
}

// unreadable is the failure of a document that has errors.
func unreadable(file string, diags []mkl.Diagnostic) *failure {
	f := &failure{code: "prepare-load", path: file, message: "the machine cannot be read"}
	for i := range diags {
		if d := &diags[i]; d.Severity == mkl.Error {
			f.also = append(f.also, diagnostic{severity: "error", message: d.String(), code: d.Code, hint: d.Hint})
		}
	}
	return f
}

// fileFailure takes the errors of a scenario file.
func fileFailure(code string, err error) *failure {
	var many scenario.Errors
	if !errors.As(err, &many) || len(many) == 0 {
		return &failure{code: code, message: err.Error()}
	}
	f := &failure{code: code, message: many[0].Error()}
	for _, e := range many[1:] {
		f.also = append(f.also, diagnostic{severity: "error", message: e.Error()})
	}
	return f
}

// tally counts cases that passed and failed, and shows them.
type tally struct {
	a              *app
	passed, failed int
	onlyFailed     bool
	items          []value.Value
	notes          []diagnostic
}

// note keeps a remark about the whole suite: for the envelope, or on stderr at once.
func (t *tally) note(d diagnostic) {
	t.notes = append(t.notes, d)
	if !t.a.json() {
		t.a.err.print(t.a.err.paint("ERROR"), " ", t.a.err.safe(where(d.path, d.message)), "\n")
		if d.hint != "" {
			t.a.err.print("  hint: ", t.a.err.safe(d.hint), "\n")
		}
	}
}

func (t *tally) play(c *scenario.Case, name string) {
	rep, err := c.Run(t.a.ctx)
	var mismatches []string
	if err != nil {
		mismatches = []string{err.Error()}
	} else {
		mismatches = rep.Mismatches
	}
	t.add(name, mismatches)
}

func (t *tally) add(name string, mismatches []string) {
	status := "pass"
	if len(mismatches) == 0 {
		t.passed++
	} else {
		t.failed++
		status = "fail"
	}
	if t.a.json() {
		t.items = append(t.items, obj(kstr("scenario", name), kstr("status", status), kstrs("mismatches", mismatches)))
		return
	}
	if status == "pass" && t.onlyFailed {
		return
	}
	out := &t.a.out
	out.print(out.paint(strings.ToUpper(status)), " ", out.safe(name), "\n")
	for _, m := range mismatches {
		out.print("  mismatch: ", out.safe(m), "\n")
	}
}

// end writes the summary. A suite that found no case fails.
func (t *tally) end(line string) int {
	ok := t.failed == 0 && t.passed > 0
	if t.a.json() {
		t.a.out.json(envelope(t.a.command, ok, t.items, t.notes, obj(kint("passed", t.passed), kint("failed", t.failed))))
	} else {
		t.a.out.print(line, "\n")
	}
	if !ok {
		return exitHalt
	}
	return exitOK
}

type conformanceCmd struct {
	Dir string `arg:"" help:"A directory of cases (*.yaml)."`
}

func (c *conformanceCmd) run(a *app) int {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return a.fail(&failure{code: "invalid-input", path: c.Dir, message: "cannot read the directory: " + err.Error(), hint: "name a directory that holds cases (*.yaml)"})
	}
	t := tally{a: a, onlyFailed: true}
	for _, e := range entries { // by name
		if e.IsDir() || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(e.Name())) {
			continue
		}
		file := filepath.Join(c.Dir, e.Name())
		src, err := registry.ReadFile(file)
		if err == nil {
			var cs *scenario.Case
			if cs, err = scenario.LoadCase(file, src); err == nil {
				t.play(cs, cs.Name)
				continue
			}
		}
		var many scenario.Errors
		if errors.As(err, &many) {
			lines := make([]string, len(many))
			for i, e := range many {
				lines[i] = e.Error()
			}
			t.add(file, lines)
		} else {
			t.add(file, []string{err.Error()})
		}
	}
	if t.passed+t.failed == 0 {
		t.note(diagnostic{severity: "error", code: "invalid-input", path: c.Dir, message: "no cases (*.yaml) in the directory", hint: "a suite that finds no case fails"})
	}
	return t.end(itoa(t.passed) + " passed, " + itoa(t.failed) + " failed")
}
