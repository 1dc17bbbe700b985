package engine_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/engine/enginetest"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/trust/unchecked"
	"github.com/pinfold-dev/pinfold/value"
)

var update = flag.Bool("update", false, "rewrite the golden transcripts")

// golden is one file under testdata: machines, inputs, options, answers and the
// transcript that must come of them.
type golden struct {
	prog    *engine.Program
	inputs  engine.Inputs
	options engine.Options
	answers []answer
	prompts bool
	resume  engine.ResumeOptions
	resumes bool
}

// answer is a line of the answers section: kind, a part of the effect's id or
// name, the result. A line is used once; the last that matches repeats.
type answer struct {
	kind, match string
	result      engine.Result
	used        bool
}

func parseGolden(t *testing.T, a *txtar.Archive) *golden {
	t.Helper()
	g := &golden{inputs: engine.Inputs{}, options: engine.Options{RunID: "run-1", Journal: true, OnTruncate: engine.TruncateReport,
		Policies: policy.Policies{UntrustedFlow: policy.Report, UntrustedArgument: policy.Report}, Table: policy.Builtin()}}
	reg := engine.Machines{}
	var top *mkl.Machine
	for _, f := range a.Files {
		text := string(f.Data)
		switch {
		case f.Name == "machine", strings.HasPrefix(f.Name, "machine/"), f.Name == "machine by a model":
			src := mkl.Source{Text: f.Data, Authorship: mkl.AuthorshipOperator}
			if strings.HasSuffix(f.Name, "by a model") {
				src.Authorship = mkl.AuthorshipModel
			}
			m, diags := mkl.Parse(src, mkl.Lenient)
			if m == nil {
				t.Fatal(diags)
			}
			if top == nil {
				top = m
			}
			reg[m.Name] = m
		case f.Name == "inputs":
			v, err := value.ParseJSON(f.Data)
			if err != nil {
				t.Fatal(err)
			}
			for i := range v.Len() {
				g.inputs[v.Key(i)] = trust.NewValue(v.At(i), trust.From("host:"+v.Key(i)))
			}
		case f.Name == "options":
			for line := range strings.Lines(text) {
				g.option(t, strings.TrimSpace(line))
			}
		case f.Name == "answers":
			for line := range strings.Lines(text) {
				if line = strings.TrimSpace(line); line != "" {
					g.answers = append(g.answers, parseAnswer(t, line))
				}
			}
		case f.Name == "resume":
			g.resumes = true
			g.resume.Inject = map[string]trust.Value{}
			for line := range strings.Lines(text) {
				word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				switch word {
				case "approve":
					g.resume.Approve = append(g.resume.Approve, rest)
				case "deny":
					g.resume.Deny = append(g.resume.Deny, rest)
				case "expired":
					g.resume.Expired = append(g.resume.Expired, rest)
				case "set":
					path, raw, _ := strings.Cut(rest, "=")
					v, err := value.ParseJSON([]byte(raw))
					if err != nil {
						t.Fatal(err)
					}
					g.resume.Inject[path] = trust.NewValue(v)
				case "pool":
					n, err := strconv.Atoi(rest)
					if err != nil {
						t.Fatal(err)
					}
					g.resume.HasCostBudget, g.resume.CostBudget = true, n
				case "":
				default:
					t.Fatalf("resume: unknown word %q", word)
				}
			}
		case f.Name == "want":
		default:
			t.Fatalf("unknown section %q", f.Name)
		}
	}
	p, err := engine.Compile(top, reg)
	if err != nil {
		t.Fatal(err)
	}
	g.prog = p
	return g
}

func (g *golden) option(t *testing.T, line string) {
	t.Helper()
	word, rest, _ := strings.Cut(line, " ")
	action := func() policy.Action {
		a, err := policy.ParseAction(rest)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	o := &g.options
	switch word {
	case "":
	case "prompts":
		g.prompts = true
	case "suspendable":
		o.Suspendable = true
	case "escalate-suspend":
		o.EscalateSuspend = true
	case "flow-tainted":
		o.FlowTainted = true
	case "undelimited":
		o.Undelimited = true
	case "halt-truncated":
		o.OnTruncate = engine.TruncateHalt
	case "untrusted-flow":
		o.Policies.UntrustedFlow = action()
	case "untrusted-argument":
		o.Policies.UntrustedArgument = action()
	case "secret-egress":
		o.Policies.SecretEgress = action()
	case "cost-budget":
		n, err := strconv.Atoi(rest)
		if err != nil {
			t.Fatal(err)
		}
		o.HasCostBudget, o.CostBudget = true, n
	case "secrecy":
		key, tag, _ := strings.Cut(rest, " ")
		o.Secrecy = map[string][]string{key: {tag}}
	default:
		t.Fatalf("unknown option %q", word)
	}
}

func parseAnswer(t *testing.T, line string) answer {
	t.Helper()
	kind, rest, _ := strings.Cut(line, " ")
	match, rest, _ := strings.Cut(rest, " ")
	text, tail := rest, ""
	if strings.HasPrefix(rest, `"`) {
		q, err := strconv.QuotedPrefix(rest)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		tail = strings.TrimSpace(rest[len(q):])
		if text, err = strconv.Unquote(q); err != nil {
			t.Fatal(err)
		}
	}
	var u engine.Usage
	if n, err := fmt.Sscanf(tail, "%d+%d", &u.Input, &u.Output); err == nil && n == 2 {
		tail = ""
	}
	a := answer{kind: kind, match: match}
	switch kind {
	case "produce":
		a.result = engine.Produced{Text: text, Usage: u, Truncated: tail == "cut", FinishReason: map[bool]string{true: "length"}[tail == "cut"]}
	case "judge":
		a.result = engine.Judged{Reply: text, Model: "m", Usage: u}
	case "hook":
		a.result = engine.Answered{True: text == "true", Parametric: strings.HasPrefix(match, "eq:") || strings.HasPrefix(match, "neq:")}
	case "tool":
		v, err := value.ParseJSON([]byte(text))
		if err != nil {
			v = value.FromString(text)
		}
		a.result = engine.Observed{Value: v}
	case "provider", "state", "refusal", "internal", "cancelled":
		k := map[string]engine.FailKind{"provider": engine.FailProvider, "state": engine.FailState, "refusal": engine.FailRefusal,
			"internal": engine.FailInternal, "cancelled": engine.FailCancelled}[kind]
		a.kind, a.result = "", engine.Failed{Kind: k, Message: text, Usage: u}
	default:
		t.Fatalf("unknown answer %q", line)
	}
	return a
}

func (g *golden) answer(t *testing.T) enginetest.Answer {
	answers := append([]answer(nil), g.answers...)
	return func(e engine.Effect) engine.Result {
		kind, name := "", ""
		switch e := e.(type) {
		case *engine.Produce:
			kind = "produce"
		case *engine.Judge:
			kind = "judge"
		case *engine.Hook:
			kind, name = "hook", e.Name
		case *engine.Tool:
			kind, name = "tool", e.Name
		}
		last := -1
		for i := range answers {
			a := &answers[i]
			if a.kind != "" && a.kind != kind || !strings.Contains(e.ID().String()+" "+name, a.match) {
				continue
			}
			last = i
			if !a.used {
				a.used = true
				return a.result
			}
		}
		if last >= 0 {
			return answers[last].result
		}
		t.Fatalf("no answer to %s %s", e.ID(), name)
		return nil
	}
}

// run is the transcript of the machine, and of its resume where there is one.
func (g *golden) run(t *testing.T, order enginetest.Order, answer enginetest.Answer) string {
	t.Helper()
	r, err := engine.New(g.prog, g.inputs, g.options)
	if err != nil {
		t.Fatal(err)
	}
	tr := &enginetest.Transcript{Prompts: g.prompts}
	if err := tr.Drive(r, answer, order, nil); err != nil {
		t.Fatal(err)
	}
	out := tr.String()
	if !g.resumes {
		return out
	}
	s, ok := r.Ready().Outcome.(engine.Suspended)
	if !ok {
		t.Fatalf("%sexpected a suspension to resume", out)
	}
	for i, a := range s.Approvals {
		if err := r.SetApproval(a.State, fmt.Sprintf("id-%d", i), "2030-01-01T00:00:00Z"); err != nil {
			t.Fatal(err)
		}
	}
	wire := r.Snapshot().Frames.Value()
	out += "frames\n" + indent(string(wire.AppendIndentJSON(nil, ""))) + "\n"
	frames, err := engine.FramesOf(wire, unchecked.Believe("a test's own frames"))
	if err != nil {
		t.Fatal(err)
	}
	if got := frames.Value().JSON(); got != wire.JSON() {
		t.Errorf("frames read back differ:\n got %s\nwant %s", got, wire.JSON())
	}
	o := g.resume
	pool, has := o.CostBudget, o.HasCostBudget
	o.Options = g.options
	if has {
		o.Options.CostBudget, o.Options.HasCostBudget = pool, has
	}
	r, err = engine.Resume(g.prog, frames, o)
	if err != nil {
		return out + "refused " + err.Error() + "\n"
	}
	tr = &enginetest.Transcript{Prompts: g.prompts}
	if err := tr.Drive(r, answer, order, nil); err != nil {
		t.Fatal(err)
	}
	return out + "resumed\n" + tr.String()
}

func indent(s string) string {
	return "  " + strings.ReplaceAll(s, "\n", "\n  ")
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 10 {
		t.Fatalf("%d golden files, expected 10 at least", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			g := parseGolden(t, a)
			got := g.run(t, enginetest.First, g.answer(t))
			var want *txtar.File
			for i := range a.Files {
				if a.Files[i].Name == "want" {
					want = &a.Files[i]
				}
			}
			if *update {
				if want == nil {
					a.Files = append(a.Files, txtar.File{Name: "want"})
					want = &a.Files[len(a.Files)-1]
				}
				want.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want == nil {
				t.Fatal("no want section: run with -update and read what it wrote")
			}
			if got != string(want.Data) {
				t.Errorf("transcript differs; got:\n%s\nwant:\n%s", got, want.Data)
			}
			// The same results, given back in the opposite order.
			recorded := map[engine.EffectID]engine.Result{}
			first := g.answer(t)
			g.run(t, enginetest.First, func(e engine.Effect) engine.Result {
				res := first(e)
				recorded[e.ID()] = res
				return res
			})
			again := g.run(t, enginetest.Last, func(e engine.Effect) engine.Result {
				res, ok := recorded[e.ID()]
				if !ok {
					t.Fatalf("effect %s was not asked for in order", e.ID())
				}
				return res
			})
			if again != got {
				t.Errorf("backwards the transcript differs; got:\n%s\nwant:\n%s", again, got)
			}
		})
	}
}
