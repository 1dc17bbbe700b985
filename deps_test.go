package pinfold_test

import (
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The house as data (DESIGN.md, "Floors"): a package imports lower floors; on its
// own floor only a parent, or what is noted here with the reason. This table is
// policy. It is not a thing to edit until the build is green.

const module = "github.com/pinfold-dev/pinfold"

type room struct {
	floor int
	also  []string // rooms of the same floor, or walls opened on purpose
	why   string
}

var house = map[string]room{
	// 0 values
	"value":           {floor: 0},
	"trust":           {floor: 0, also: []string{"value", "internal/raw"}, why: "a labelled value is a value with a label"},
	"trust/unchecked": {floor: 0, also: []string{"value", "internal/raw"}, why: "an escape makes what trust holds"},
	"tokens":          {floor: 0},
	"display":         {floor: 0},
	"fence":           {floor: 0, also: []string{"trust", "tokens", "display"}, why: "a fence is drawn by label; budgets count tokens; receipts count invisible characters"},
	// 1 languages and decisions
	"mkl":          {floor: 1, also: []string{"mkl/yamltree", "internal/raw"}, why: "the parser reads the YAML front; a program's text is its author's"},
	"mkl/yamltree": {floor: 1},
	"mkl/check":    {floor: 1, also: []string{"mkl", "policy"}, why: "lint knows which tools act"},
	"policy":       {floor: 1},
	"schema":       {floor: 1, also: []string{"mkl"}, why: "the schema is held against the parser's key tables"},
	"prompt":       {floor: 1, also: []string{"internal/raw", "mkl/yamltree"}, why: "a template's text is its author's; the front matter of a .prompt file is YAML"},
	"lane":         {floor: 1, also: []string{"internal/raw"}, why: "a banner is the registry's text"},
	// 2 the core
	"engine":            {floor: 2},
	"engine/enginetest": {floor: 2, also: []string{"engine"}},
	"prove":             {floor: 2, also: []string{"engine"}, why: "explores the core by forking it"},
	// 3 contracts
	"llm":                 {floor: 3},
	"llm/llmtest":         {floor: 3, also: []string{"llm"}},
	"tool":                {floor: 3},
	"tool/tooltest":       {floor: 3, also: []string{"tool"}},
	"hook":                {floor: 3},
	"hook/hooktest":       {floor: 3, also: []string{"hook"}},
	"receipt":             {floor: 3},
	"receipt/receipttest": {floor: 3, also: []string{"receipt"}},
	"store":               {floor: 3},
	"store/storetest":     {floor: 3, also: []string{"store"}},
	// 4 implementations and drivers
	"llm/openai":    {floor: 4},
	"llm/scripted":  {floor: 4},
	"tool/builtin":  {floor: 4},
	"hook/builtin":  {floor: 4},
	"receipt/jsonl": {floor: 4},
	"receipt/slog":  {floor: 4},
	"config":        {floor: 4},
	"registry":      {floor: 4},
	"store/file":    {floor: 4},
	"store/sqlite":  {floor: 4},
	"policy/cedar":  {floor: 4},
	"checkpoint":    {floor: 4},
	"run":           {floor: 4, also: []string{"hook/builtin"}, why: "hooks resolve host → built-in → parametric"},
	"run/durable":   {floor: 4, also: []string{"run", "checkpoint"}, why: "a run that is kept is a run with a journal and checkpoints"},
	"run/replay":    {floor: 4, also: []string{"run"}},
	"scenario":      {floor: 4, also: []string{"run", "llm/scripted", "hook/builtin", "tool/builtin"}, why: "a scenario is a run with scripted parts"},
	"audit":         {floor: 4, also: []string{"analyzers/", "config"}, why: "the audit is the analyzers over a whole program"},
	"analyzers":     {floor: 4, also: []string{"analyzers/"}, why: "the list of all analyzers"},
	// 5 surfaces: nothing imports these
	"cmd/pinfold":    {floor: 5, also: []string{"internal/cli"}},
	"cmd/pinfoldvet": {floor: 5},
	"internal/cli":   {floor: 5},
	// beside
	"internal/raw": {floor: -1},
}

// rawDoor is who may turn text into the author's own (ARCHITECTURE: the door).
var rawDoor = []string{"trust", "trust/unchecked", "mkl", "prompt", "lane"}

// outside is what floors 0–2 may import beyond the module: no clock, randomness,
// goroutine, network, file or logger; types of package time are fine.
var forbiddenBelow3 = []string{
	"os", "os/exec", "os/signal", "net", "net/http", "net/netip", "log", "log/slog", "math/rand", "math/rand/v2",
	"crypto/rand", "sync", "syscall", "io/ioutil", "path/filepath", "plugin", "unsafe", "context", "testing", "embed",
}

var allowedBelow3 = map[string][]string{
	"schema":            {"embed"},   // the schema files are part of the program
	"prompt":            {"embed"},   // a template's file is part of the program, or it is no template
	"engine/enginetest": {"testing"}, // an environment for tests
	"mkl/yamltree":      {},
	"lane":              {"embed", "sync"}, // a lane file is part of the program; producers on many goroutines put into one Assembler, which starts none
	"fence":             {"sync"},          // Rendered materialises once for any number of readers
}

var thirdPartyBelow3 = map[string][]string{
	"mkl":          {"go.yaml.in/yaml/v4"},
	"mkl/yamltree": {"go.yaml.in/yaml/v4"},
	"lane":         {"github.com/pelletier/go-toml/v2", "github.com/pelletier/go-toml/v2/unstable"}, // the syntax tree knows the places of values
}

func packages(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			return nil
		}
		base := d.Name()
		if path != "." && (base == "testdata" || base == "examples" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != "." {
			return filepath.SkipDir // a module of its own
		}
		p, err := build.ImportDir(path, 0)
		if err != nil {
			if _, none := err.(*build.NoGoError); none {
				return nil
			}
			return err
		}
		if len(p.GoFiles)+len(p.CgoFiles) > 0 {
			found[filepath.ToSlash(path)] = p.Imports
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 10 {
		t.Fatalf("found %d packages, expected the whole house", len(found))
	}
	return found
}

func roomOf(pkg string) (room, bool) {
	if r, ok := house[pkg]; ok {
		return r, true
	}
	if strings.HasPrefix(pkg, "analyzers/") {
		return room{floor: 4, also: []string{"analyzers/"}, why: "analyzers share the flow walk"}, true
	}
	if strings.HasPrefix(pkg, "audit/") {
		return room{floor: 4, also: []string{"audit", "analyzers/"}}, true
	}
	return room{}, false
}

func TestFloors(t *testing.T) {
	for pkg, imports := range packages(t) {
		if pkg == "." {
			continue
		}
		r, ok := roomOf(pkg)
		if !ok {
			t.Errorf("%s: not in the house: give it a floor and a reason", pkg)
			continue
		}
		for _, imp := range imports {
			in, ours := strings.CutPrefix(imp, module+"/")
			if !ours {
				continue
			}
			to, ok := roomOf(in)
			switch {
			case !ok:
				t.Errorf("%s imports %s, which is not in the house", pkg, in)
			case in == "internal/raw":
				if !slices.Contains(rawDoor, pkg) {
					t.Errorf("%s imports internal/raw: only %v may make text the author's own", pkg, rawDoor)
				}
			case to.floor == 5 && !slices.Contains(r.also, in):
				t.Errorf("%s imports the surface %s: nothing imports a surface", pkg, in)
			case to.floor < r.floor:
			case to.floor > r.floor:
				t.Errorf("%s (floor %d) imports %s (floor %d)", pkg, r.floor, in, to.floor)
			case strings.HasPrefix(pkg, in+"/"): // a parent
			case slices.ContainsFunc(r.also, func(a string) bool {
				return a == in || strings.HasSuffix(a, "/") && strings.HasPrefix(in+"/", a)
			}):
			default:
				t.Errorf("%s imports %s on its own floor %d without a note", pkg, in, r.floor)
			}
		}
	}
}

// The core has no clock, randomness, goroutine, network, file or logger, and a
// known list of libraries.
func TestCoreIsPure(t *testing.T) {
	for pkg, imports := range packages(t) {
		r, ok := roomOf(pkg)
		if !ok || r.floor > 2 {
			continue
		}
		for _, imp := range imports {
			if slices.Contains(forbiddenBelow3, imp) && !slices.Contains(allowedBelow3[pkg], imp) {
				t.Errorf("%s (floor %d) imports %s", pkg, r.floor, imp)
			}
			first, _, _ := strings.Cut(imp, "/")
			if strings.Contains(first, ".") && !strings.HasPrefix(imp, module) && !slices.Contains(thirdPartyBelow3[pkg], imp) {
				t.Errorf("%s (floor %d) imports %s, which no note allows", pkg, r.floor, imp)
			}
		}
	}
}

// The core starts no goroutine and reads no clock, whatever it imports.
func TestCoreSource(t *testing.T) {
	banned := []string{"\tgo func", "\tgo ", "time.Now(", "time.Sleep(", "time.After("}
	files := 0
	for pkg := range packages(t) {
		r, ok := roomOf(pkg)
		if !ok || r.floor > 2 {
			continue
		}
		matches, err := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range matches {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			files++
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(src), "\n") {
				code, _, _ := strings.Cut(line, "//")
				for _, b := range banned {
					if strings.Contains(code, b) && !strings.Contains(code, "\"") {
						t.Errorf("%s:%d: %s on floor %d", name, i+1, strings.TrimSpace(b), r.floor)
					}
				}
			}
		}
	}
	if files < 20 {
		t.Fatalf("read %d files, expected the core", files)
	}
}
