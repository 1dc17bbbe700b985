package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type output struct {
	code     int
	out, err string
}

// pinfold runs the command in this process.
func pinfold(t *testing.T, terminal bool, args ...string) output {
	t.Helper()
	var out, err bytes.Buffer
	code := Run(context.Background(), Env{Args: args, Stdout: &out, Stderr: &err, Stdin: strings.NewReader(""), Lookup: lookup(t), terminal: terminal})
	return output{code, out.String(), err.String()}
}

// lookup is an environment with nothing in it but a state directory of the test's own.
func lookup(t *testing.T) func(string) (string, bool) {
	dir := t.TempDir()
	return func(name string) (string, bool) {
		if name == "PINFOLD_STATE_DIR" {
			return dir, true
		}
		return "", false
	}
}

// nasty holds one of each kind of character that a terminal would act on or hide.
const nasty = "a\x1b[31mred\u202eevil\u200b\u2028\U000E0041\x9b"

// Text that pinfold did not write itself never reaches a stream raw [C5, C11, C15,
// C17]: file names, messages from outside, texts of scenarios.
func TestOutsideTextIsEscaped(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x\x1b[31m\u202e.mkl")
	doc := "machine: m\nentry: a\nbudget: 4\nstates:\n  a: { structure: s, prompt: p, output: o, gates: [ { when: otherwise, then: ok, to: \"no\u202e\u200bwhere\" } ] }\n"
	if err := os.WriteFile(name, []byte(doc), 0o666); err != nil {
		t.Skip(err)
	}
	script := filepath.Join(dir, "s.yaml")
	if err := os.WriteFile(script, []byte("scenarios:\n  - name: \"n\\e[31m\\u202e\"\n    llm: { produce: [\"r\\e]0;title\\a\\u200b\"] }\n    expect: { result: x }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	good := filepath.Join(dir, "g.mkl")
	if err := os.WriteFile(good, []byte(strings.Replace(doc, "no\u202e\u200bwhere", "END", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"check", name},
		{"lint", name},
		{"check", "missing\x1b[2K\u202e.mkl"},
		{"test", good, "--script", script},
		{"test", "missing\x1b[2K\u202e.mkl"},
		{"conformance", "missing\x1b[2K\u202e"},
		{"fmt", "missing\x1b[2K\u202e"},
		{"run", "missing\x1b[2K\u202e"},
		{"check", "--frm\x1b[2K\u202eat"},
		{"\x1b[2K\u202e"},
	} {
		for _, format := range []string{"text", "json"} {
			o := pinfold(t, true, append(args, "--format", format, "--color", "never")...)
			if all := o.out + o.err; strings.ContainsAny(all, "\x1b\x07\u202e\u200b\u2028") {
				t.Errorf("%q %s: raw characters in %q", args, format, all)
			} else if !strings.Contains(all, "202e") {
				t.Errorf("%q %s: not shown at all: %q", args, format, all)
			}
		}
	}
	// JSON elsewhere is exact.
	if o := pinfold(t, false, "check", "--format", "json", name); !strings.Contains(o.out, "\u202e") {
		t.Errorf("JSON into a pipe was changed: %q", o.out)
	}
}

// Colour is asked for, or a terminal without NO_COLOR.
func TestColour(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "none.mkl")
	for _, c := range []struct {
		terminal bool
		args     []string
		want     bool
	}{
		{true, nil, true},
		{false, nil, false},
		{true, []string{"--color", "never"}, false},
		{false, []string{"--color=always"}, true},
	} {
		o := pinfold(t, c.terminal, append([]string{"check", file}, c.args...)...)
		if got := strings.Contains(o.out, "\x1b[31mERROR\x1b[39m"); got != c.want {
			t.Errorf("terminal %v, %q: colour %v", c.terminal, c.args, got)
		}
	}
	var out bytes.Buffer
	Run(context.Background(), Env{Args: []string{"check", file}, Stdout: &out, Stderr: &out, terminal: true,
		Lookup: func(k string) (string, bool) { return "1", k == "NO_COLOR" }})
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("NO_COLOR: %q", out.String())
	}
}

// fmt is a filter: exact into a pipe, shown on a screen.
func TestFormatOnAScreen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.mkl")
	if err := os.WriteFile(file, []byte("machine: m\nentry: a\nbudget: 4\nstates:\n  a: {structure: \"s\u202e\", prompt: p, output: o, gates: [{when: otherwise, then: ok, to: END}]}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if o := pinfold(t, false, "fmt", file); !strings.Contains(o.out, "\u202e") {
		t.Errorf("a pipe: %q", o.out)
	}
	if o := pinfold(t, true, "fmt", "--color", "never", file); strings.Contains(o.out, "\u202e") || !strings.Contains(o.out, `\u{202e}`) {
		t.Errorf("a screen: %q", o.out)
	}
}

// A fault of pinfold's own is one message and exit 2, never a crash.
func TestInternalFault(t *testing.T) {
	var err bytes.Buffer
	calls := 0
	code := Run(context.Background(), Env{Args: []string{"version"}, Stdout: &bytes.Buffer{}, Stderr: &err, Lookup: func(k string) (string, bool) {
		if k == "PINFOLD_LOG_LEVEL" {
			if calls++; calls == 1 {
				panic("boom")
			}
		}
		return "", false
	}})
	if code != 2 || !strings.HasPrefix(err.String(), "ERROR internal error: boom\n  hint: ") || strings.Contains(err.String(), "goroutine") {
		t.Errorf("exit %d, %q", code, err.String())
	}
}
