package pinfold_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/config"
	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/lane"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/mkl/check"
	"github.com/pinfold-dev/pinfold/scenario"
)

// A citation may be broken over two lines of a comment.
var (
	citedSection = regexp.MustCompile(`(LANGUAGE|TRUST)(?:\.md)?(?:\s|//)*§((?:\s|//)*[0-9]+(?:\.[0-9]+)*(?:(?:\s|//)*(?:[–,-]|and|to)(?:\s|//)*§?[0-9]+(?:\.[0-9]+)*)*)`)
	loneSection  = regexp.MustCompile(`§([0-9]+(?:\.[0-9]+)*)`)
	citedCases   = regexp.MustCompile(`(?:CASES(?:\.md)?|\([Cc]ases?|\[C)(?:\s|//)*([0-9]+(?:(?:\s|//)*(?:[–,-]|and)(?:\s|//)*C?[0-9]+)*)`)
	citedPage    = regexp.MustCompile(`\b(LANGUAGE|TRUST|PROMPTS-AND-LANES|CASES)\.md\b`)
	number       = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)*`)
	caseRange    = regexp.MustCompile(`([0-9]+)(?:\s|//)*[–-](?:\s|//)*([0-9]+)`)
)

// Whatever Go files cite of the documents is there.
func TestCitationsResolve(t *testing.T) {
	sections := map[string]map[string]bool{}
	for _, page := range []string{"LANGUAGE", "TRUST"} {
		sections[page] = found(t, page, regexp.MustCompile(`(?m)^#{2,3} ([0-9]+(?:\.[0-9]+)*)\.? `))
	}
	cases := found(t, "CASES", regexp.MustCompile(`(?m)^\| ([0-9]+) \|`))
	found(t, "PROMPTS-AND-LANES", regexp.MustCompile(`(?m)^## (.+)$`))

	cited := map[string]int{}
	walkGo(t, func(path, src string) {
		for _, m := range citedPage.FindAllStringSubmatch(src, -1) {
			cited["page "+m[1]]++
		}
		for _, m := range citedSection.FindAllStringSubmatch(src, -1) {
			for _, n := range number.FindAllString(m[2], -1) {
				cited[m[1]]++
				if !sections[m[1]][n] {
					t.Errorf("%s cites %s.md §%s, which docs/%s.md does not have", path, m[1], n, m[1])
				}
			}
		}
		for _, m := range loneSection.FindAllStringSubmatch(src, -1) {
			cited["§"]++
			if !sections["LANGUAGE"][m[1]] && !sections["TRUST"][m[1]] {
				t.Errorf("%s cites §%s, which no page has", path, m[1])
			}
		}
		for _, m := range citedCases.FindAllStringSubmatch(src, -1) {
			for _, n := range spread(m[1]) {
				cited["CASES"]++
				if !cases[n] {
					t.Errorf("%s cites case %s, which docs/CASES.md does not list", path, n)
				}
			}
		}
	})
	for what, least := range map[string]int{
		"LANGUAGE": 50, "TRUST": 20, "§": 50, "CASES": 20,
		"page LANGUAGE": 50, "page TRUST": 20, "page PROMPTS-AND-LANES": 1,
	} {
		if cited[what] < least {
			t.Errorf("found %d citations of %s, expected at least %d: the test does not see them", cited[what], what, least)
		}
	}
}

// The patterns see the ways in which comments cite.
func TestCitationPatterns(t *testing.T) {
	for src, want := range map[string]string{
		"// x (LANGUAGE.md §7.5).":                  "7.5",
		"// x (LANGUAGE.md\n\t// §18.3, 2): the":    "18.3 2",
		"// TRUST.md §2–§5 are":                     "2 5",
		"// rules of TRUST.md §5 and LANGUAGE.md §": "5",
	} {
		m := citedSection.FindStringSubmatch(src)
		if m == nil || strings.Join(number.FindAllString(m[2], -1), " ") != want {
			t.Errorf("%q: found %q, expected %s", src, m, want)
		}
	}
	for src, want := range map[string]string{
		"// (CASES 1–3, 5, 7,\n// 11).":      "1 2 3 5 7 11",
		"// (cases 73 and 75).":              "73 75",
		"// [C63].":                          "63",
		"// CASES 9: a":                      "9",
		"// CASES: double click":             "",
		"case 408, 409, 429, 500, 502, 529:": "",
	} {
		got := ""
		if m := citedCases.FindStringSubmatch(src); m != nil {
			got = strings.Join(spread(m[1]), " ")
		}
		if got != want {
			t.Errorf("%q: found %q, expected %q", src, got, want)
		}
	}
}

// spread is every number of a list with ranges.
func spread(list string) []string {
	list = caseRange.ReplaceAllStringFunc(list, func(s string) string {
		m := caseRange.FindStringSubmatch(s)
		from, _ := strconv.Atoi(m[1])
		to, _ := strconv.Atoi(m[2])
		var all []string
		for ; from <= to; from++ {
			all = append(all, strconv.Itoa(from))
		}
		return strings.Join(all, ", ")
	})
	return number.FindAllString(list, -1)
}

func found(t *testing.T, page string, pattern *regexp.Regexp) map[string]bool {
	t.Helper()
	src := document(t, page)
	out := map[string]bool{}
	for _, m := range pattern.FindAllStringSubmatch(src, -1) {
		if out[m[1]] {
			t.Errorf("docs/%s.md has %s twice", page, m[1])
		}
		out[m[1]] = true
	}
	if len(out) == 0 {
		t.Fatalf("docs/%s.md has no section", page)
	}
	return out
}

func document(t *testing.T, page string) string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("docs", page+".md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// walkGo visits the Go files of the repository, but for this one, whose patterns
// would cite themselves.
func walkGo(t *testing.T, visit func(path, src string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || path == "docs_test.go":
			return nil
		}
		src, err := os.ReadFile(path)
		if err == nil {
			visit(path, string(src))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The whole files that the pages show are such files: the machine has no
// finding but notes, its scenarios and the case pass, the configurations load.
func TestDocumentExamples(t *testing.T) {
	shown := map[string][]byte{}
	for _, m := range regexp.MustCompile("<!-- file: ([a-z.]+) -->\n```yaml\n((?s:.*?))```\n").FindAllStringSubmatch(document(t, "LANGUAGE"), -1) {
		shown[m[1]] = []byte(m[2])
	}
	file := func(name string) []byte {
		if shown[name] == nil {
			t.Fatalf("LANGUAGE.md does not show a %s", name)
		}
		return shown[name]
	}

	rep := check.File(mkl.Source{Name: "refund.mkl", Text: file("refund.mkl"), Authorship: mkl.AuthorshipOperator}, check.Options{Lint: true})
	for _, d := range rep.Diagnostics {
		if d.Severity != mkl.Note {
			t.Error(d)
		}
	}
	cases, err := scenario.Load("refund.test.yaml", file("refund.test.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		c.Machine, c.Registry = rep.Machine, engine.Machines{rep.Machine.Name: rep.Machine}
	}
	one, err := scenario.LoadCase("case.yaml", file("case.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range append(cases, one) {
		report, err := c.Run(context.Background())
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		for _, m := range report.Mismatches {
			t.Errorf("%s: %s", c.Name, m)
		}
	}
	_, rest, _ := strings.Cut(document(t, "PROMPTS-AND-LANES"), "```toml\n")
	lanes, _, _ := strings.Cut(rest, "```")
	if d, err := lane.Declared("lanes.toml", []byte(lanes)); err != nil || len(d.Lanes) != 1 {
		t.Errorf("the lane file that PROMPTS-AND-LANES.md shows: %d lanes, %v", len(d.Lanes), err)
	}
	for _, name := range []string{"runtime.yaml", "pinfold.yaml"} {
		if err := config.Check(name, file(name)); err != nil {
			t.Error(err)
		}
	}
}
