// Package cli is the command pinfold: its flags, the order in which it works, its
// texts and its exit codes (LANGUAGE.md §20).
//
// It is a surface: it holds no rule of its own. What a machine means, what is
// untrusted and what may happen is decided below it; here are files, terminals
// and words. Text that pinfold did not write itself goes to a terminal through
// package display and nowhere around it.
//
//	func main() { os.Exit(cli.Main()) }
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/pinfold-dev/pinfold/config"
)

// Version of pinfold.
const Version = "0.1.0"

// Exit codes (LANGUAGE.md §20).
const (
	exitOK          = 0
	exitHalt        = 1 // a halt, errors found, failing scenarios
	exitUsage       = 2 // usage, bad input, preparation failure, internal error
	exitSuspended   = 3
	exitInterrupted = 130
)

// Env is the process as the command sees it. The zero value of a field is that of
// the real process.
type Env struct {
	Args   []string // without the program's name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Lookup func(name string) (string, bool) // environment variables
	Clock  func() time.Time

	terminal bool // tests: both streams are one
}

// Main runs the command of this process and gives its exit code.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	go func() {
		<-ctx.Done()
		stop() // a second interrupt ends the process at once
	}()
	return Run(ctx, Env{Args: os.Args[1:]})
}

// Run runs one command. It never panics and never exits.
func Run(ctx context.Context, env Env) (code int) {
	if env.Stdin == nil {
		env.Stdin = os.Stdin
	}
	if env.Stdout == nil {
		env.Stdout = os.Stdout
	}
	if env.Stderr == nil {
		env.Stderr = os.Stderr
	}
	if env.Lookup == nil {
		env.Lookup = os.LookupEnv
	}
	if env.Clock == nil {
		env.Clock = time.Now
	}
	a := &app{env: env, ctx: ctx, command: "pinfold", sys: config.OS()}
	a.sys.LookupEnv = env.Lookup
	a.out, a.err = a.stream(env.Stdout), a.stream(env.Stderr)
	defer func() {
		if x := recover(); x != nil {
			f := failure{code: "unexpected-error", message: fmt.Sprint("internal error: ", x), hint: "this is a fault of pinfold; PINFOLD_DEBUG=1 shows where"}
			if v, _ := a.sys.Env("DEBUG"); v == "1" {
				f.stack = string(debug.Stack())
			}
			code = a.fail(&f)
		}
	}()
	return a.main()
}

// app is one invocation.
type app struct {
	env     Env
	ctx     context.Context
	sys     config.System
	command string
	flags   grammar
	out     stream
	err     stream
	log     *slog.Logger
	driver  string // this process's name in claims
}

// grammar is the command line.
type grammar struct {
	Format   string `enum:"auto,text,json" default:"auto" help:"Output: auto, text or json. auto is json for run and resume when stdout is no terminal, else text."`
	Color    string `enum:"auto,always,never" default:"auto" help:"Colour: auto, always or never (NO_COLOR is honoured)."`
	LogLevel string `enum:",debug,info,warning,error" default:"" placeholder:"LEVEL" help:"debug, info, warning or error; logs are lines on stderr."`
	Show     bool   `name:"version" help:"Print the version."`

	Run         runCmd         `cmd:"" help:"Run a machine."`
	Resume      resumeCmd      `cmd:"" help:"Go on with a suspended or interrupted run."`
	Runs        runsCmd        `cmd:"" help:"List the runs that are kept."`
	Approvals   approvalsCmd   `cmd:"" help:"Show and answer what runs wait for."`
	Policy      policyCmd      `cmd:"" help:"Check policies, and explain what they do to a machine's calls."`
	Trust       trustCmd       `cmd:"" help:"Accept a project's configuration or a machine as your own, until it changes."`
	Check       checkCmd       `cmd:"" help:"Check machines: errors and warnings."`
	Lint        lintCmd        `cmd:"" help:"Check machines and report what is probably not meant."`
	Fmt         fmtCmd         `cmd:"" help:"Print machines in the standard layout, or rewrite them."`
	Test        testCmd        `cmd:"" help:"Run a machine's scenarios."`
	Conformance conformanceCmd `cmd:"" help:"Run every conformance case of a directory."`
	Audit       auditCmd       `cmd:"" help:"Find, in any Go code, every value that reaches a prompt and who can write it."`
	Demo        demoCmd        `cmd:"" help:"Show what pinfold is about, offline."`
	Gen         genCmd         `cmd:"" help:"Write Go code for files that a program embeds."`
	Lanes       lanesCmd       `cmd:"" help:"Check, show, explain and format lane files."`
	Receipts    receiptsCmd    `cmd:"" help:"Show receipts, and what they come to."`
	Version     versionCmd     `cmd:"" help:"Print the version."`
}

// command is what a command of the grammar does.
type command interface{ run(a *app) int }

func (a *app) main() int {
	if len(a.env.Args) == 0 {
		a.out.print(guide)
		return exitOK
	}
	if a.env.Args[0] == "audit" {
		return a.audit(a.env.Args[1:])
	}
	exited := -1
	parser, err := kong.New(&a.flags,
		kong.Name("pinfold"),
		kong.Description("Trust boundaries through LLM programs."),
		kong.Writers(a.env.Stdout, a.env.Stderr),
		kong.Exit(func(code int) { exited = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
	if err != nil {
		panic(err)
	}
	a.peek()
	parsed, err := parser.Parse(a.env.Args)
	if exited >= 0 { // --help
		return exited
	}
	if a.flags.Show {
		return a.flags.Version.run(a)
	}
	if err != nil {
		f := &failure{code: "invalid-input", message: err.Error(), hint: "pinfold --help lists the commands and flags"}
		var pe *kong.ParseError
		if errors.As(err, &pe) && pe.Context != nil {
			if node := pe.Context.Selected(); node != nil {
				a.command = words(node.Path())
				f.hint = a.commandLine() + " --help lists its flags"
			}
		}
		return a.fail(f)
	}
	node := parsed.Selected()
	a.command = words(node.Path())
	a.settle()
	if err := a.logger(); err != nil {
		return a.fail(&failure{code: "invalid-input", message: err.Error()})
	}
	return node.Target.Addr().Interface().(command).run(a)
}

// words is a command's path without the program's name and its arguments.
func words(path string) string {
	var out []string
	for _, w := range strings.Fields(path) {
		if w != "pinfold" && !strings.HasPrefix(w, "<") && !strings.HasPrefix(w, "[") {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

func (a *app) commandLine() string { return strings.TrimSpace("pinfold " + a.command) }

// peek finds the output flags before the grammar is read: how a usage error is
// written depends on them.
func (a *app) peek() {
	a.flags.Format, a.flags.Color = "auto", "auto"
	for i, arg := range a.env.Args {
		for name, to := range map[string]*string{"--format": &a.flags.Format, "--color": &a.flags.Color} {
			if v, ok := strings.CutPrefix(arg, name+"="); ok {
				*to = v
			} else if arg == name && i+1 < len(a.env.Args) {
				*to = a.env.Args[i+1]
			}
		}
	}
	a.settle()
}

// settle fixes how the streams are written.
func (a *app) settle() {
	plain, _ := a.env.Lookup("NO_COLOR")
	for _, s := range []*stream{&a.out, &a.err} {
		s.colour = a.flags.Color == "always" || a.flags.Color != "never" && s.terminal && plain == ""
	}
}

func (a *app) logger() error {
	level := a.flags.LogLevel
	from := "--log-level"
	if level == "" {
		level, from = "", "PINFOLD_LOG_LEVEL"
		if v, ok := a.sys.Env("LOG_LEVEL"); ok {
			level = strings.ToLower(v)
		}
	}
	var l slog.Level
	switch level {
	case "debug":
		l = slog.LevelDebug
	case "info":
		l = slog.LevelInfo
	case "warning", "":
		l = slog.LevelWarn
	case "error":
		l = slog.LevelError
	default:
		return fmt.Errorf("%s is '%s': expected debug, info, warning or error", from, level)
	}
	a.log = slog.New(slog.NewTextHandler(a.env.Stderr, &slog.HandlerOptions{Level: l}))
	return nil
}

// json says whether results are written as JSON. Some commands are read by
// programs more often than not: they write JSON where stdout is no terminal.
func (a *app) json() bool {
	switch a.flags.Format {
	case "json":
		return true
	case "text":
		return false
	}
	return (a.command == "run" || a.command == "resume") && !a.out.terminal
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
