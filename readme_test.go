package pinfold_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/mkl/check"
)

// Identifiers that the documents quote resolve: `package.Name` is exported by
// that package, and a quoted path is there.
func TestDocumentsQuoteWhatExists(t *testing.T) {
	quoted := regexp.MustCompile("`([a-z][a-z/]*)\\.([A-Z][A-Za-z]*)`")
	rooms := regexp.MustCompile("`((?:[a-z]+/)+[a-z]+)`")
	found := 0
	for _, doc := range []string{"README.md", "DESIGN.md", "SECURITY.md"} {
		src, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range quoted.FindAllStringSubmatch(string(src), -1) {
			found++
			if !exported(t, m[1])[m[2]] {
				t.Errorf("%s quotes %s.%s, which does not exist", doc, m[1], m[2])
			}
		}
		for _, m := range rooms.FindAllStringSubmatch(string(src), -1) {
			found++
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s quotes the path %s, which does not exist", doc, m[1])
			}
		}
	}
	if found < 15 {
		t.Fatalf("found %d quoted names, expected many", found)
	}
}

func exported(t *testing.T, pkg string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				names[d.Name.Name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						names[s.Name.Name] = true
					case *ast.ValueSpec:
						for _, n := range s.Names {
							names[n.Name] = true
						}
					}
				}
			}
		}
	}
	return names
}

// The machine that the README shows is one that check and lint accept.
func TestReadmeMachine(t *testing.T) {
	src, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(src), "```yaml\n")
	doc, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatal("the README shows no machine")
	}
	rep := check.File(mkl.Source{Name: "README.md", Text: []byte(doc), Authorship: mkl.AuthorshipOperator}, check.Options{Lint: true})
	for _, d := range rep.Diagnostics {
		if d.Severity != mkl.Note {
			t.Error(d)
		}
	}
}

// The table that the README shows is what the demo prints.
func TestReadmeShowsTheDemo(t *testing.T) {
	src, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "run", "./cmd/pinfold", "demo", "injection").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, line := range []string{"ticket fenced", "model obeyed it", "judge persuaded by", "mail to the attacker"} {
		at := strings.Index(string(src), "\n"+line)
		if at < 0 {
			t.Errorf("the README does not show the line %q", line)
			continue
		}
		shown, _, _ := strings.Cut(string(src)[at+1:], "\n")
		if !strings.Contains(string(out), shown) {
			t.Errorf("the README shows %q, which the demo does not print", shown)
		}
	}
}

// Every command that the documents and the program's own messages name exists.
func TestCommandsNamedExist(t *testing.T) {
	help, err := exec.Command("go", "run", "./cmd/pinfold", "--help").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, help)
	}
	named := regexp.MustCompile("(?:^|[\"`( ])pinfold ((?:[a-z]+)(?: (?:list|show|approve|deny|stats|check|explain|injection|lanes))?)[ \"`)]")
	files := []string{"README.md", "SECURITY.md", "CHANGELOG.md", "DESIGN.md"}
	sources, err := filepath.Glob("internal/cli/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range append(files, sources...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(src)) {
			if strings.HasSuffix(name, ".go") && !strings.Contains(line, `"`) && !strings.Contains(line, "`") {
				continue // a comment's prose
			}
			for _, m := range named.FindAllStringSubmatch(line, -1) {
				word, _, _ := strings.Cut(m[1], " ")
				if word == "is" || word == "draws" { // a sentence
					continue
				}
				if !strings.HasSuffix(name, ".go") && !strings.Contains(line, "`pinfold "+word) && !strings.HasPrefix(line, "pinfold ") {
					continue // a sentence about pinfold
				}
				found++
				if !regexp.MustCompile("(?m)^  " + word + "\\b").Match(help) {
					t.Errorf("%s names pinfold %s, which --help does not list: %s", name, word, strings.TrimSpace(line))
				}
			}
		}
	}
	if found < 8 {
		t.Fatalf("found %d named commands, expected many", found)
	}
}
