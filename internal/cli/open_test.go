package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/llm/llmtest"
)

// Who may open (TRUST.md §5): every surface that starts or resumes a run, under every
// policy of every rule, named by everybody who can name one. A flag and a file of the
// operator's say what they say; a file that was merely found makes nothing laxer; a
// resume makes nothing laxer than what the run started with.
func TestWhoMayOpen(t *testing.T) {
	s := &llmtest.Server{Brain: llmtest.Obedient{Text: "text", Choice: 1}}
	if err := s.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	words := []string{"halt", "ask", "report"} // the stricter first
	stricter := func(a, b string) string {
		for _, w := range words {
			if a == w || b == w {
				return w
			}
		}
		return ""
	}
	rules := []struct{ flag, key, standard, halts, gate, input string }{
		{"--untrusted-flow", "untrusted_flow", "report", "untrusted-control-flow", "when: it may be sent", "to: customer, body: x"},
		{"--untrusted-argument", "untrusted_argument", "report", "untrusted-argument", "when: otherwise", `to: "{{who}}", body: x`},
		{"--secret-egress", "secret_egress", "halt", "secret-egress", "when: otherwise", `to: customer, body: "{{secret}}"`},
	}
	cases := 0
	for _, rule := range rules {
		machine := "machine: m\nentry: a\nbudget: 9\ncontext: { who: \"\", secret: \"\" }\nstates:\n" +
			"  a: { structure: s, prompt: \"{{who}}\", output: o, gates: [ { " + rule.gate + ", then: ok, to: send } ] }\n" +
			"  send: { tool: send_reply, input: { " + rule.input + " }, output: sent, gates: [ { when: otherwise, then: ok, to: END } ] }\n"
		conf := func(word string) string {
			c := "active: local\nproviders: { local: { base_url: " + s.URL() + ", tiers: { fast: f, balanced: b, reasoning: r } } }\nsecrecy: { secret: [pii] }\n"
			if word != "" {
				c += "policy: { " + rule.key + ": " + word + " }\n"
			}
			return c
		}
		for _, word := range append(words, "") {
			said := func(args ...string) []string { // the flag, where there is a word
				if word != "" {
					args = append(args, rule.flag, word)
				}
				return args
			}
			orStandard := func(w string) string {
				if w == "" {
					return rule.standard
				}
				return w
			}
			for _, c := range []struct {
				name     string
				mine     string // the operator's configuration
				found    string // the project's
				trust    bool
				recorded string // what the run that is resumed started with; "" is a fresh run
				file     bool   // of a checkpoint file
				args     []string
				want     string
			}{
				{name: "a flag", args: said(), want: orStandard(word)},
				{name: "a file of the operator's", mine: conf(word), want: orStandard(word)},
				{name: "a flag over a file", mine: conf("halt"), args: said(), want: map[bool]string{true: "halt", false: word}[word == ""]},
				{name: "a found file", mine: conf(""), found: conf(word), want: stricter(rule.standard, orStandard(word))},
				{name: "a found file beside a stricter one", mine: conf("halt"), found: conf(word), want: "halt"},
				{name: "an accepted file", mine: conf(""), found: conf(word), trust: true, want: orStandard(word)},
				{name: "a resume of a strict run", recorded: "halt", args: said(), want: map[bool]string{true: "halt", false: "refused"}[word == "" || word == "halt"]},
				{name: "a resume of a run that asks", recorded: "ask", args: said(), want: map[string]string{"": "ask", "ask": "ask", "halt": "halt", "report": "refused"}[word]},
				{name: "a resume of a lax run", recorded: "report", args: said(), want: map[bool]string{true: "report", false: word}[word == ""]},
				{name: "a resume under another file", mine: conf(word), recorded: "ask", want: "ask"},
				{name: "a resume of a strict file", recorded: "halt", file: true, args: said(), want: map[bool]string{true: "halt", false: "refused"}[word == "" || word == "halt"]},
				{name: "a resume of a lax file", recorded: "report", file: true, args: said(), want: map[bool]string{true: "report", false: word}[word == ""]},
			} {
				cases++
				name := fmt.Sprintf("%s/%q/%s", rule.key, word, c.name)
				dir := t.TempDir()
				if c.mine == "" {
					c.mine = conf("")
				}
				write := func(path, text string) {
					path = filepath.Join(dir, path)
					if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				write("user/pinfold.yaml", c.mine)
				write("proj/m.mkl", machine)
				if c.found != "" {
					write("proj/pinfold.yaml", c.found)
				}
				call := func(args ...string) output {
					var out, err bytes.Buffer
					code := Run(context.Background(), Env{Args: args, Stdout: &out, Stderr: &err, Stdin: strings.NewReader(""), Lookup: func(name string) (string, bool) {
						switch name {
						case "PINFOLD_STATE_DIR":
							return filepath.Join(dir, "state"), true
						case "PINFOLD_CONFIG_DIR":
							return filepath.Join(dir, "user"), true
						}
						return "", false
					}})
					return output{code, out.String(), err.String()}
				}
				start := []string{"run", filepath.Join(dir, "proj/m.mkl"), "--set", "who=eve", "--set", "secret=x"}
				var got output
				if c.trust {
					if o := call("trust", filepath.Join(dir, "proj")); o.code != exitOK {
						t.Fatal(name, o.err)
					}
				}
				if c.recorded == "" {
					got = call(append(start, c.args...)...)
				} else {
					file := filepath.Join(dir, "run.json")
					start = append(start, rule.flag, c.recorded, "--max-tokens", "1", "--hitl")
					if c.file {
						start = append(start, "--checkpoint", file)
					}
					o := call(start...)
					if o.code != exitSuspended {
						t.Fatal(name, o)
					}
					what := file
					if !c.file {
						what = regexp.MustCompile(`\n  "run": "(.*)"`).FindStringSubmatch(o.out)[1]
					}
					got = call(append([]string{"resume", what, "--max-tokens", "1000"}, c.args...)...)
				}
				ended := map[int]string{exitOK: "report", exitSuspended: "ask", exitHalt: "halt", exitUsage: "refused"}[got.code]
				reason := map[string]string{"report": `"status": "done"`, "ask": `"approval-required"`, "halt": `"error": "` + rule.halts + `"`, "refused": ""}[ended]
				if ended != c.want || !strings.Contains(got.out, reason) || ended == "refused" && !strings.Contains(got.err, `"policy-loosened"`) {
					t.Errorf("%s: %s, want %s\n%s%s", name, ended, c.want, got.out, got.err)
				}
			}
		}
	}
	if cases != 3*4*12 {
		t.Errorf("%d cases", cases)
	}
}
