//go:build unix

package durable_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/llm"
	"github.com/pinfold-dev/pinfold/run"
	"github.com/pinfold-dev/pinfold/run/durable"
	"github.com/pinfold-dev/pinfold/tool"
	"github.com/pinfold-dev/pinfold/value"
)

// The test binary is also the process that is killed: it drives a run over a store
// in a directory and ends itself at one point, without any chance to tidy up.
func TestMain(m *testing.M) {
	if dir := os.Getenv("PINFOLD_TEST_KILLED"); dir != "" {
		killed(dir, os.Getenv("PINFOLD_TEST_POINT"))
	}
	os.Exit(m.Run())
}

const payOnce = `
machine: once
entry: send
budget: 5
context: { to: customer }
states:
  send: { tool: pay, input: { to: "{{to}}" }, output: sent, gates: [ { when: otherwise, then: ok, to: after } ] }
  after: { structure: s, prompt: "{{sent}}", output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
`

// payInto is a tool that a file sees: a line for every payment.
func payInto(dir string, before, after func()) map[string]tool.Tool {
	return map[string]tool.Tool{"pay": {Name: "pay", Func: func(context.Context, []engine.Arg) (tool.Observation, error) {
		before()
		f, err := os.OpenFile(filepath.Join(dir, "paid"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return tool.Observation{}, err
		}
		defer f.Close()
		if _, err := f.WriteString("paid\n"); err != nil {
			return tool.Observation{}, err
		}
		after()
		return tool.Observation{Value: value.FromString("paid")}, nil
	}}}
}

func die() { syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }

func nothing() {}

func killed(dir, point string) {
	tb := &testing.T{}
	st, err := open(dir, os.Getenv("PINFOLD_TEST_STORE"))
	if err != nil {
		panic(err)
	}
	c := config(&till{})
	c.Options.RunID = "r"
	before, after, model := nothing, nothing, nothing
	switch point {
	case "before":
		before = die
	case "after":
		after = die
	case "saved":
		model = die
	}
	c.Tools = payInto(dir, before, after)
	c.Model = blocking{c.Model, model}
	k := &durable.Keeper{Store: st, By: strconv.Itoa(os.Getpid())}
	_, err = k.Run(context.Background(), program(tb, payOnce), nil, c, about())
	panic(err)
}

// gone is a Keeper's Gone for claims that are process numbers.
func gone(by string) bool {
	n, err := strconv.Atoi(by)
	return err == nil && syscall.Kill(n, 0) == syscall.ESRCH
}

// A process that is killed before, after and past the save of a call that acts: what
// happened is never done twice in silence, and what nobody knows is a person's to
// decide [C64].
func TestKilledProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	for _, name := range []string{"file before", "file after", "file saved", "sqlite before", "sqlite after", "sqlite saved"} {
		kind, point, _ := strings.Cut(name, " ")
		unknown := point != "saved"
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "PINFOLD_TEST_KILLED="+dir, "PINFOLD_TEST_POINT="+point, "PINFOLD_TEST_STORE="+kind)
			out, err := cmd.CombinedOutput()
			var ended *exec.ExitError
			if !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("the process was not killed: %v\n%s", err, out)
			}
			paid := func() int {
				b, _ := os.ReadFile(filepath.Join(dir, "paid"))
				return strings.Count(string(b), "\n")
			}
			done := paid()
			st, err := open(dir, kind)
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			k := &durable.Keeper{Store: st, By: "test", Gone: gone}
			c := config(&till{})
			c.Model = blocking{llm.Model(steady{}), nothing}
			c.Tools = payInto(dir, nothing, nothing)
			resume := func(force bool) (*durable.Outcome, error) {
				parked, err := k.Open(context.Background(), "r", force)
				if err != nil {
					return nil, err
				}
				defer parked.Close()
				return parked.Resume(context.Background(), program(t, payOnce), c, about(), durable.Request{Force: force})
			}
			res, err := resume(false)
			if !unknown {
				if err != nil || res.Status != run.StatusDone || paid() != 1 {
					t.Fatalf("%v, paid %d times", err, paid())
				}
				return
			}
			var refused *durable.OutcomeUnknownError
			if !errors.As(err, &refused) || refused.Error() != "effect-outcome-unknown: pay at send" || paid() != done {
				t.Fatalf("got %v, paid %d times", err, paid())
			}
			res, err = resume(true)
			if err != nil || res.Status != run.StatusDone || paid() != done+1 {
				t.Fatalf("by force: %v, paid %d times", err, paid())
			}
			if trace := engine.Steps(res.Trace).JSON(); !strings.Contains(trace, `"resume_forced": ["effect-repeated"]`) {
				t.Errorf("nothing in the trace says that the effect was repeated: %s", trace)
			}
		})
	}
}
