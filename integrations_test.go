package pinfold_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// An integration is a module of its own, so that nobody pays for a framework that he
// does not use; it stands on this module's public packages alone. The go command would
// let it import our internal ones, internal/raw among them, because of its path.
func TestIntegrationsAreApart(t *testing.T) {
	modules, err := filepath.Glob("integrations/*/go.mod")
	if err != nil || len(modules) < 5 {
		t.Fatalf("%v: found %d integrations", err, len(modules))
	}
	modules = append(modules, "receipt/otel/go.mod")
	core, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, framework := range []string{"anthropic-sdk-go", "cloudwego/eino", "firebase/genkit", "tmc/langchaingo", "opentelemetry"} {
		if strings.Contains(string(core), framework) {
			t.Errorf("go.mod requires %s: it belongs to its integration alone", framework)
		}
	}
	for _, mod := range modules {
		text, err := os.ReadFile(mod)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Dir(mod)
		for _, want := range []string{"module " + module + "/" + filepath.ToSlash(dir) + "\n", "replace " + module + " => ../..\n"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: expected %q", mod, want)
			}
		}
		files := 0
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") {
				return err
			}
			files++
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, imp := range f.Imports {
				p, err := strconv.Unquote(imp.Path.Value)
				if err != nil {
					return err
				}
				in, ours := strings.CutPrefix(p, module+"/")
				if ours && (strings.HasPrefix(in, "internal/") || in == "trust/unchecked") || p == "unsafe" || p == "reflect" {
					t.Errorf("%s imports %s: an integration makes nothing the author's own", path, p)
				}
			}
			return nil
		})
		if err != nil || files == 0 {
			t.Errorf("%s: %v, %d files", dir, err, files)
		}
	}
}
