package cli

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pinfold-dev/pinfold/llm/llmtest"
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
			"exits":    exits,
			"bytes":    writeBytes,
			"endpoint": endpoint,
			"received": received,
			"ids":      approvalIDs,
			"mode":     fileMode,
			"runid":    runID,
			"append":   appendLine,
			"damage":   damage,
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

// endpoint starts a model's endpoint and writes conf.yaml for it:
//
//	endpoint says TEXT CHOICE…   produces TEXT, judges with each CHOICE in turn, then the last
//	endpoint junk                answers with what is no JSON
//	endpoint refuses             answers every request with status 400
//	endpoint down                nobody listens
func endpoint(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: endpoint says|junk|refuses|down …")
	}
	b := &brain{}
	switch args[0] {
	case "says":
		b.text = args[1]
		for _, c := range args[2:] {
			n, err := strconv.Atoi(c)
			ts.Check(err)
			b.choices = append(b.choices, n)
		}
	case "junk":
		b.always = &llmtest.Behaviour{Body: "<html>not what you asked for</html>", ContentType: "text/html"}
	case "refuses":
		x := llmtest.Status(400, "the model \x1b[31mwent\u202e away")
		b.always = &x
	}
	s := &llmtest.Server{Brain: b}
	ts.Check(s.Start("127.0.0.1:0"))
	url := s.URL()
	ts.Defer(func() { s.Close() })
	if args[0] == "down" {
		s.Close()
	}
	b.server = s
	servers.Store(ts.Getenv("WORK"), s)
	ts.Check(os.WriteFile(ts.MkAbs("conf.yaml"), []byte("active: local\nproviders:\n  local:\n    base_url: "+url+"\n    tiers: { fast: f, balanced: b, reasoning: r }\n"), 0o666))
}

// servers are the endpoints of the scripts that run, by working directory.
var servers sync.Map

type brain struct {
	server  *llmtest.Server
	always  *llmtest.Behaviour
	text    string
	mu      sync.Mutex
	choices []int
}

func (b *brain) Answer(r llmtest.Request) llmtest.Behaviour {
	if b.always != nil {
		return *b.always
	}
	n, judge := r.Choices()
	if !judge {
		return llmtest.Text(b.text)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.choices) > 0 {
		n = b.choices[0]
		if len(b.choices) > 1 {
			b.choices = b.choices[1:]
		}
	}
	return llmtest.Choice(n)
}

// received wants a user message, or with ! none, that matches: received 'who am i'.
func received(ts *testscript.TestScript, neg bool, args []string) {
	x, ok := servers.Load(ts.Getenv("WORK"))
	if !ok || len(args) != 1 {
		ts.Fatalf("usage, after endpoint: received PATTERN")
	}
	re := regexp.MustCompile("(?s)" + args[0])
	found := false
	for _, r := range x.(*llmtest.Server).Requests() {
		found = found || re.MatchString(r.User)
	}
	if found == neg {
		ts.Fatalf("received %q: %v", args[0], found)
	}
}

// approvalIDs reads the ids of the approvals that wait, from a checkpoint or from
// the last output, into ID1, ID2, …: ids kept/run.json, ids stdout.
func approvalIDs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ids FILE|stdout")
	}
	found := regexp.MustCompile(`"id": "([0-9a-f]{32})",\s+"run": "[^"]*",\s+"state"`).FindAllStringSubmatch(ts.ReadFile(args[0]), -1)
	if len(found) == 0 {
		ts.Fatalf("no approval waits in %s", args[0])
	}
	for i, f := range found {
		ts.Setenv("ID"+strconv.Itoa(i+1), f[1])
	}
}

// runID reads the id of the run from a result into RUN: runid stdout.
func runID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: runid FILE|stdout")
	}
	found := regexp.MustCompile(`\n  "run": "([0-9a-f]{32})"`).FindStringSubmatch(ts.ReadFile(args[0]))
	if found == nil {
		ts.Fatalf("no run in %s", args[0])
	}
	ts.Setenv("RUN", found[1])
}

// appendLine adds a line to a file: append FILE LINE.
func appendLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: append FILE LINE")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(ts.ReadFile(args[0])+args[1]+"\n"), 0o666))
}

// damage cuts every checkpoint that a store of files keeps so far: damage DIR.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: damage DIR")
	}
	cut := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(b), `"format": 1`) {
			cut++
			err = os.WriteFile(path, b[:len(b)/2], 0o600)
		}
		return err
	}))
	if cut == 0 {
		ts.Fatalf("no checkpoint in %s", args[0])
	}
}

// fileMode wants the permissions of a file: mode 600 kept/run.json.
func fileMode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode OCTAL FILE")
	}
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := strconv.FormatUint(uint64(info.Mode().Perm()), 8); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
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
