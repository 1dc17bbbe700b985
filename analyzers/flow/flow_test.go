package flow

import (
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// analyse loads a package of testdata/src, where stand-ins for the client
// libraries live, in the manner of analysistest.
func analyse(t *testing.T, path string) *Analysis {
	t.Helper()
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	cfg := &packages.Config{
		Mode: packages.LoadSyntax,
		Dir:  dir,
		Fset: token.NewFileSet(),
		Env:  append(os.Environ(), "GO111MODULE=off", "GOPATH="+dir, "GOPROXY=off", "GOFLAGS="),
	}
	pkgs, err := packages.Load(cfg, path)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			t.Fatal(e)
		}
	}
	prog, _ := ssautil.Packages(pkgs, ssa.InstantiateGenerics)
	prog.Build()
	set := ssautil.AllFunctions(prog)
	var funcs []*ssa.Function
	for f := range set {
		funcs = append(funcs, f)
	}
	var sources []Source
	for _, p := range pkgs {
		sources = append(sources, Source{p.Types, p.Syntax, filepath.Dir(p.GoFiles[0])})
	}
	a, err := New(Input{Fset: cfg.Fset, Funcs: funcs, Graph: vta.CallGraph(set, nil), Sources: sources, Read: os.ReadFile})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var want = regexp.MustCompile(`// (slot|fenced) (\S+)`)

func TestCases(t *testing.T) {
	a := analyse(t, "cases")
	type place struct {
		file string
		line int
	}
	wanted := map[place][2]string{}
	files, err := filepath.Glob("testdata/src/cases/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range strings.Split(string(b), "\n") {
			if m := want.FindStringSubmatch(l); m != nil {
				wanted[place{filepath.Base(f), i + 1}] = [2]string{m[1], m[2]}
			}
		}
	}
	if len(wanted) < 25 {
		t.Fatalf("found %d wants: the corpus did not load", len(wanted))
	}
	got := map[place]bool{}
	for _, s := range a.Slots() {
		if !s.Crosses() && !s.Unknown() {
			continue
		}
		p := place{filepath.Base(s.Pos.Filename), s.Pos.Line}
		w, ok := wanted[p]
		if !ok {
			t.Errorf("%s:%d: slot %s is not wanted: %s", p.file, p.line, s.Name, s.Main().Class)
			continue
		}
		found := false
		for _, o := range s.Origins {
			found = found || string(o.Class) == w[1]
		}
		if !found {
			t.Errorf("%s:%d: slot %s: no origin %s, the main one is %s", p.file, p.line, s.Name, w[1], s.Main().Class)
		}
		if outside := Class(w[1]).Authority() != Unknown; outside != s.Crosses() {
			t.Errorf("%s:%d: slot %s: crosses %v, want %v", p.file, p.line, s.Name, s.Crosses(), outside)
		}
		if fenced := s.Fence() == Fenced; fenced && w[0] == "slot" {
			t.Errorf("%s:%d: slot %s is called fenced", p.file, p.line, s.Name)
		} else if !fenced && w[0] == "fenced" {
			t.Errorf("%s:%d: slot %s: fence %s", p.file, p.line, s.Name, s.Fence())
		}
		got[p] = true
	}
	for p, w := range wanted {
		if !got[p] {
			t.Errorf("%s:%d: no slot, want %s", p.file, p.line, w[1])
		}
	}
}
