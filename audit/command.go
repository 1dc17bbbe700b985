package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/alecthomas/kong"
)

// Command is `pinfold audit`, in the form that kong reads. Exit codes: 0, 1 for
// findings that --fail-on names, 2 for an audit that could not run.
type Command struct {
	Packages      []string `arg:"" optional:"" help:"Packages as the go command names them. Default: ./..."`
	Dir           string   `short:"C" help:"Run as if started in this directory." placeholder:"DIR"`
	Format        Format   `enum:"text,markdown,json,sarif,html" default:"text" help:"text, markdown, json, sarif or html."`
	Output        string   `short:"o" help:"Write the report to this file." placeholder:"FILE"`
	Baseline      string   `help:"Findings in this file are accepted." placeholder:"FILE"`
	WriteBaseline bool     `help:"Write the findings to the baseline file and exit."`
	FailOn        string   `enum:"none,unfenced,unknown,any" default:"none" help:"Exit 1 on: unfenced (a finding nobody answered), unknown (those and slots not followed), any (those and ignore comments that are unused)."`
	Tests         bool     `help:"Read test files too."`
	Tags          string   `help:"Build tags, comma-separated."`
	Deps          bool     `help:"Read the source of every dependency and walk through it."`
	Cold          bool     `help:"Do not compile dependencies first: read their declarations. Faster where the build cache is empty."`
	Config        string   `help:"Configuration file." placeholder:"FILE"`
	Stats         bool     `help:"Print time and memory to standard error."`
}

// Main parses args and runs the command.
func Main(args []string, stdout, stderr io.Writer) int {
	var c Command
	exit := -1
	k, err := kong.New(&c, kong.Name("audit"), kong.Description("Find every value that reaches a model's input, and who can write it."),
		kong.Writers(stdout, stderr), kong.Exit(func(n int) {
			if exit < 0 {
				exit = n
			}
		}))
	if err != nil {
		fmt.Fprintln(stderr, "audit:", err)
		return 2
	}
	_, err = k.Parse(args)
	if exit >= 0 { // --help
		return exit
	}
	if err != nil {
		fmt.Fprintln(stderr, "audit:", err)
		return 2
	}
	return c.Execute(context.Background(), stdout, stderr)
}

// Execute runs the command and returns its exit code.
func (c *Command) Execute(ctx context.Context, stdout, stderr io.Writer) int {
	fail := func(err error) int {
		fmt.Fprintln(stderr, "audit:", err)
		return 2
	}
	if err := c.enter(); err != nil {
		return fail(err)
	}
	name := c.Config
	if name == "" {
		name = filepath.Join(c.Dir, "pinfold.yaml")
	} else if _, err := os.Stat(name); err != nil {
		return fail(err)
	}
	conf, err := ReadConfig(name)
	if err != nil {
		return fail(err)
	}
	r, err := Run(ctx, Options{Dir: c.Dir, Patterns: c.Packages, Tests: c.Tests, Tags: c.Tags, Deps: c.Deps, Cold: c.Cold, Config: conf})
	if err != nil {
		return fail(err)
	}
	if c.WriteBaseline {
		if c.Baseline == "" {
			return fail(fmt.Errorf("--write-baseline needs --baseline FILE"))
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(r.Baseline()); err != nil {
			return fail(err)
		}
		if err := os.WriteFile(c.Baseline, b.Bytes(), 0o644); err != nil {
			return fail(err)
		}
		return 0
	}
	if c.Baseline != "" {
		b, err := ReadBaseline(c.Baseline)
		if err != nil {
			return fail(err)
		}
		r.Accept(b)
	}
	var b bytes.Buffer
	if err := Write(&b, c.Format, r); err != nil {
		return fail(err)
	}
	if c.Output != "" {
		if err := os.WriteFile(c.Output, b.Bytes(), 0o644); err != nil {
			return fail(err)
		}
	} else if _, err := stdout.Write(b.Bytes()); err != nil {
		return fail(err)
	}
	if c.Stats {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		fmt.Fprintf(stderr, "%d lines, load %.2fs, analyse %.2fs, %d MB from the system\n", r.Lines, r.LoadTime.Seconds(), r.AnalyseTime.Seconds(), m.Sys>>20)
	}
	return r.exit(c.FailOn)
}

// exit is the exit code of a report under a --fail-on.
func (r *Report) exit(on string) int {
	open := false
	for _, f := range r.Findings {
		open = open || f.Open()
	}
	bad := false
	switch on {
	case "unfenced":
		bad = open
	case "unknown":
		bad = open || r.Counts().Unknown > 0
	case "any":
		bad = open || r.Counts().Unknown > 0 || len(r.Suppress) > 0 || len(r.Failed) > 0
	}
	if bad {
		return 1
	}
	return 0
}

// enter moves into the module that the packages belong to, where they are named by
// directory and that is not the module of the working directory: the go command
// would refuse them.
func (c *Command) enter() error {
	here, _ := moduleRoot(c.Dir)
	root := ""
	for _, p := range c.Packages {
		if p != "." && !strings.HasPrefix(p, "./") && !strings.HasPrefix(p, "../") && !filepath.IsAbs(p) {
			return nil
		}
		dir := strings.TrimSuffix(strings.TrimSuffix(p, "..."), "/")
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(c.Dir, dir)
		}
		r, ok := moduleRoot(dir)
		if !ok || r == here {
			return nil
		}
		if root != "" && root != r {
			return fmt.Errorf("the packages belong to more than one module: %s, %s", root, r)
		}
		root = r
	}
	if root == "" {
		return nil
	}
	for i, p := range c.Packages {
		dir := strings.TrimSuffix(strings.TrimSuffix(p, "..."), "/")
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(c.Dir, dir)
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, abs)
		if err != nil {
			return err
		}
		rel = "./" + filepath.ToSlash(rel)
		if strings.HasSuffix(p, "...") {
			rel = strings.TrimSuffix(rel, "/.") + "/..."
		}
		c.Packages[i] = rel
	}
	c.Dir = root
	return nil
}

// moduleRoot is the directory of the go.mod that governs dir.
func moduleRoot(dir string) (string, bool) {
	d, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	for {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return d, true
		}
		if up := filepath.Dir(d); up != d {
			d = up
			continue
		}
		return "", false
	}
}
