package check_test

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/mkl/check"
)

var update = flag.Bool("update", false, "rewrite docs/codes from the documentation of the codes")

// shelf is a registry of documents, read as strictly as the one at hand.
type shelf map[string]mkl.Source

func shelfOf(t testing.TB, documents []string) shelf {
	r := make(shelf)
	for _, text := range documents {
		_, rest, ok := strings.Cut(text, "machine: ")
		name, _, _ := strings.Cut(rest, "\n")
		if !ok || name == "" {
			t.Fatalf("a machine of the registry has no name:\n%s", text)
		}
		r[name] = mkl.Source{Name: name + ".mkl", Text: []byte(text), Authorship: mkl.AuthorshipOperator}
	}
	return r
}

func (r shelf) Lookup(name string) (*mkl.Machine, *mkl.Diagnostic, bool) {
	src, ok := r[name]
	if !ok {
		return nil, nil, false
	}
	m, ds := mkl.Parse(src, mkl.Strict)
	for i := range ds {
		if ds[i].Severity == mkl.Error {
			return nil, &ds[i], true
		}
	}
	return m, nil, true
}

func own(name, text string) mkl.Source {
	return mkl.Source{Name: name, Text: []byte(text), Authorship: mkl.AuthorshipOperator}
}

// try runs an example the way its reader would.
func try(t testing.TB, e check.Example) []mkl.Diagnostic {
	t.Helper()
	if e.Missing {
		return check.Unreadable("machine.mkl", errors.New("no such file or directory")).Diagnostics
	}
	o := check.Options{Lint: true}
	if e.Machines != nil {
		o.Registry = shelfOf(t, e.Machines)
	}
	r := check.File(own("machine.mkl", e.Source), o)
	if e.Host != nil {
		if r.Machine == nil {
			t.Fatalf("a machine to prepare has errors: %v", r.Errors())
		}
		r.Diagnostics = append(r.Diagnostics, check.Prepare(r.Machine, *e.Host)...)
	}
	return r.Diagnostics
}

func codesOf(ds []mkl.Diagnostic) []string {
	var codes []string
	for _, d := range ds {
		codes = append(codes, d.Code)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

func TestExamples(t *testing.T) {
	if len(check.Codes()) == 0 {
		t.Fatal("no codes")
	}
	for _, doc := range check.Codes() {
		t.Run(doc.Code, func(t *testing.T) {
			found := try(t, doc.Triggers)
			want := append([]string{doc.Code}, doc.Triggers.Also...)
			slices.Sort(want)
			if got := codesOf(found); !slices.Equal(got, want) {
				t.Errorf("the example that triggers gives %v, want %v\n%v\n%s", got, want, found, doc.Triggers.Source)
			}
			for _, d := range found {
				if d.Code == doc.Code && d.Severity != doc.Severity {
					t.Errorf("severity is %s, documented is %s", check.SeverityName(d.Severity), check.SeverityName(doc.Severity))
				}
				if d.Message == "" || strings.Contains(d.Message, "%!") {
					t.Errorf("message %q", d.Message)
				}
				if d.Line == 0 && d.Code != "MK101" && d.Code != "MK102" {
					t.Errorf("%s has no place", d)
				}
				if d.File != "machine.mkl" {
					t.Errorf("%s has file %q", d, d.File)
				}
			}
			if found := try(t, doc.Quiet); len(found) > 0 {
				t.Errorf("something is said about the example that should be quiet: %v\n%s", found, doc.Quiet.Source)
			}
		})
	}
}

func TestCodesAreWellFormed(t *testing.T) {
	codes := check.Codes()
	for i, doc := range codes {
		if !regexp.MustCompile(`^MK[1-4]\d\d$`).MatchString(doc.Code) {
			t.Errorf("code %q", doc.Code)
		}
		if i > 0 && codes[i-1].Code >= doc.Code {
			t.Errorf("%s stands after %s", doc.Code, codes[i-1].Code)
		}
		if doc.Title == "" || strings.Contains(doc.Title, "\n") || len(doc.Why) < 40 {
			t.Errorf("%s is not documented: %q, %q", doc.Code, doc.Title, doc.Why)
		}
		found, ok := check.Doc(strings.ToLower(doc.Code))
		if !ok || found.Code != doc.Code {
			t.Errorf("Doc(%s) finds %q, %v", doc.Code, found.Code, ok)
		}
	}
	if doc, ok := check.Doc("MK999"); ok {
		t.Errorf("there is documentation of MK999: %v", doc)
	}
}

// emitted lists the codes that the sources of the language's packages name, by
// reading their string literals, the tables of documentation apart.
func emitted(t *testing.T, dirs ...string) map[string][]string {
	t.Helper()
	code := regexp.MustCompile(`\bMK\d{3}\b`)
	where := make(map[string][]string)
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no sources in %s: %v", dir, err)
		}
		for _, file := range files {
			base := filepath.Base(file)
			if strings.HasSuffix(base, "_test.go") || strings.HasPrefix(base, "codes_") {
				continue
			}
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					for _, c := range code.FindAllString(text, -1) {
						where[c] = append(where[c], base)
					}
				}
				return true
			})
		}
	}
	return where
}

// TestNoUndocumentedCode refuses a diagnostic without a page, and a page
// without a diagnostic.
func TestNoUndocumentedCode(t *testing.T) {
	where := emitted(t, "..", "../yamltree", ".")
	for code, files := range where {
		if _, ok := check.Doc(code); !ok {
			t.Errorf("%s is reported in %s and not documented", code, strings.Join(files, ", "))
		}
	}
	for _, doc := range check.Codes() {
		if where[doc.Code] == nil {
			t.Errorf("%s is documented and nothing reports it", doc.Code)
		}
	}
}

const pages = "../../docs/codes"

// page is the documentation of one code as people read it.
func page(t *testing.T, doc check.Documentation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n\nSeverity: %s", doc.Code, doc.Title, check.SeverityName(doc.Severity))
	switch doc.Severity {
	case mkl.Error:
		if doc.Triggers.Host != nil {
			b.WriteString(". Nothing runs.\n")
		} else {
			b.WriteString(". `pinfold check` fails.\n")
		}
	case mkl.Warning:
		b.WriteString(".\n")
	case mkl.Finding:
		b.WriteString(", of `pinfold lint`. `--strict` fails on it.\n")
	case mkl.Note:
		b.WriteString(", of `pinfold lint`. It never fails anything.\n")
	}
	fmt.Fprintf(&b, "\n%s\n\n## This is reported\n\n", doc.Why)
	example(&b, doc.Triggers)
	b.WriteString("```text\n")
	for _, d := range try(t, doc.Triggers) {
		fmt.Fprintf(&b, "%s\n", printable(d.String()))
		if d.Hint != "" {
			fmt.Fprintf(&b, "  hint: %s\n", printable(d.Hint))
		}
	}
	b.WriteString("```\n\n## This is not\n\n")
	example(&b, doc.Quiet)
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func example(b *strings.Builder, e check.Example) {
	if e.Missing {
		b.WriteString("A path where there is no file.\n\n")
		return
	}
	fmt.Fprintf(b, "```yaml\n%s```\n\n", printable(e.Source))
	if strings.Contains(printable(e.Source), `\x`) {
		b.WriteString("`\\x..` stands for one byte.\n\n")
	}
	if e.Machines != nil && len(e.Machines) == 0 {
		b.WriteString("There is no other machine.\n\n")
	}
	for _, m := range e.Machines {
		fmt.Fprintf(b, "With this machine beside it:\n\n```yaml\n%s```\n\n", m)
	}
	if h := e.Host; h != nil {
		var tiers []string
		for _, t := range h.Tiers {
			tiers = append(tiers, "`"+string(t)+"`")
		}
		fmt.Fprintf(b, "On a host whose provider has models for %s", strings.Join(tiers, ", "))
		if h.Tools != nil {
			b.WriteString(" and whose one tool is `search_kb`")
		}
		b.WriteString(".\n\n")
	}
}

// printable shows bytes that are no UTF-8 as \x... .
func printable(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, s[0])
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}

func TestPages(t *testing.T) {
	want := map[string]string{}
	var index strings.Builder
	index.WriteString("# Diagnostic codes\n\nGenerated from the tables in `mkl/check`; `go generate ./mkl/check` writes these pages again.\n\n" +
		"Codes are stable. MK1xx are about the text of a document, MK2xx about its shape, MK3xx about what it means (`pinfold check`), MK4xx about what is legal and probably not meant (`pinfold lint`). " +
		"A document that fails MK1xx or MK2xx gets nothing else.\n\n| code | severity | |\n|---|---|---|\n")
	for _, doc := range check.Codes() {
		want[doc.Code+".md"] = page(t, doc)
		fmt.Fprintf(&index, "| [%s](%s.md) | %s | %s |\n", doc.Code, doc.Code, check.SeverityName(doc.Severity), doc.Title)
	}
	want["README.md"] = index.String()

	if *update {
		if err := os.MkdirAll(pages, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			if err := os.WriteFile(filepath.Join(pages, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	have, err := os.ReadDir(pages)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range have {
		if _, ok := want[e.Name()]; !ok {
			t.Errorf("%s is a page of no code", e.Name())
		}
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(pages, name))
		if errors.Is(err, fs.ErrNotExist) || err == nil && string(got) != text {
			t.Errorf("%s is not what the tables say: go generate ./mkl/check, and read what changed", name)
		} else if err != nil {
			t.Error(err)
		}
	}
}
