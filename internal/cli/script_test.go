package cli

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected outputs in the scripts; read the diff")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"pinfold": func() { os.Exit(Main()) },
	})
}

// Every command in scripts: what it prints, where, and how it exits.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(found) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			// Nothing of the machine that the test runs on has a say.
			kept := e.Vars[:0]
			for _, v := range e.Vars {
				if !strings.HasPrefix(v, "PINFOLD_") && !strings.HasPrefix(v, "MKLANG_") && !strings.HasPrefix(v, "XDG_") {
					kept = append(kept, v)
				}
			}
			e.Vars = append(kept, "ROOT="+root, "XDG_CONFIG_HOME="+e.WorkDir+"/xdg/config", "XDG_DATA_HOME="+e.WorkDir+"/xdg/data",
				"XDG_STATE_HOME="+e.WorkDir+"/xdg/state", "NO_COLOR=1")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
			"bytes": writeBytes,
		},
	})
}

// exits runs pinfold and wants exactly this exit code: exits 2 check nowhere.mkl.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE ARG…")
	}
	err := ts.Exec("pinfold", args[1:]...)
	got := "0"
	if err != nil {
		text := err.Error()
		got = strings.TrimPrefix(text, "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("pinfold %s: exit %s, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// writeBytes makes files that no text archive can hold.
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: bytes deep|latin1|huge FILE")
	}
	var content string
	switch args[0] {
	case "deep":
		content = "machine: m\nentry: a\ncontext: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "\n"
	case "latin1":
		content = "machine: caf\xe9\n"
	case "huge":
		content = "machine: m # " + strings.Repeat("x", 4<<20)
	default:
		ts.Fatalf("bytes: unknown content %q", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(content), 0o666))
}
