package mkl

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// segments writes a template in one line: literals quoted, paths in angle brackets.
func segments(t Template) string {
	var b strings.Builder
	for _, s := range t.Segments {
		if s.Path == nil {
			fmt.Fprintf(&b, "%q", s.Text)
		} else {
			fmt.Fprintf(&b, "<%s>", strings.Join(s.Path, "|"))
		}
	}
	return b.String()
}

// TestScanTemplate: what is a placeholder and what stays as written [CASES 23].
func TestScanTemplate(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"", ""},
		{"plain", `"plain"`},
		{"{{a}}", "<a>"},
		{"{{ a.b.c }}", "<a|b|c>"},
		{"x {{a}} y {{b}}z", `"x "<a>" y "<b>"z"`},
		{"{{a}}{{b}}", "<a><b>"},
		{"{{\t\n a \u2003}}", "<a>"},
		{"{{étape_2.Größe.²}}", "<étape_2|Größe|²>"},
		{"{{{n}}}", `"{"<n>"}"`},
		{"{{{{x}}}}", `"{{"<x>"}}"`},
		{"{{{{{{x}}", `"{{{{"<x>`},
		{"{{a}}}", `<a>"}"`},
		{"{{kb_answr}}", "<kb_answr>"},
		{"{{x", `"{{x"`},
		{"{{x}", `"{{x}"`},
		{"{{x}}y}}", `<x>"y}}"`},
		{"{{}}", `"{{}}"`},
		{"{{ }}", `"{{ }}"`},
		{"{{a-b}}", `"{{a-b}}"`},
		{"{{a b}}", `"{{a b}}"`},
		{"{{a b {{c}}", `"{{a b "<c>`},
		{"{ {a}}", `"{ {a}}"`},
		{"{{a{{b}}", `"{{a"<b>`},
		{"{{.}}", "<|>"},
		{"{{a..b}}", "<a||b>"},
		{"{{.a.}}", "<|a|>"},
		{"{{n\u0303}}", "\"{{n\u0303}}\""}, // a combining mark is neither letter nor number
		{"{{a\u200b}}", `"{{a\u200b}}"`},
		{"{total} {{S::}} $1", `"{total} {{S::}} $1"`},
	} {
		for _, a := range []Authorship{AuthorshipModel, AuthorshipOperator} {
			got := scanTemplate(c.src, a)
			if s := segments(got); s != c.want {
				t.Errorf("%q: got %s, want %s", c.src, s, c.want)
			}
			if got.Source.String() != c.src || got.Authorship != a {
				t.Errorf("%q: source %q by %v", c.src, got.Source, got.Authorship)
			}
		}
	}
}

func TestSingleAndFirst(t *testing.T) {
	for _, c := range []struct{ src, single, first string }{
		{"{{a.b}}", "a.b", "a.b"},
		{" \n{{a}}\t", "a", "a"},
		{"{{a}}.", "", "a"},
		{"x{{a}}", "", "a"},
		{"{{a}}{{b}}", "", "a"},
		{" {{a}} {{b}} ", "", "a"},
		{"none", "", ""},
		{"  ", "", ""},
		{"", "", ""},
	} {
		tpl := scanTemplate(c.src, AuthorshipOperator)
		single, ok := tpl.Single()
		if got := strings.Join(single, "."); got != c.single || ok != (c.single != "") {
			t.Errorf("%q: single %q, %v", c.src, got, ok)
		}
		first, ok := tpl.First()
		if got := strings.Join(first, "."); got != c.first || ok != (c.first != "") {
			t.Errorf("%q: first %q, %v", c.src, got, ok)
		}
	}
	var none *Template
	if _, ok := none.Single(); ok {
		t.Error("no template has a placeholder")
	}
	if _, ok := none.First(); ok {
		t.Error("no template has a placeholder")
	}
}

// scanned checks what holds for every template.
func scanned(t interface{ Fatalf(string, ...any) }, src string) {
	tpl := scanTemplate(src, AuthorshipOperator)
	if !utf8.ValidString(src) {
		return // no document holds it, and a trust.Text does not either
	}
	var b strings.Builder
	literal := false
	for _, s := range tpl.Segments {
		text := s.Text.String()
		b.WriteString(text)
		if s.Path == nil {
			if text == "" || literal {
				t.Fatalf("%q: an empty literal, or two in a row: %s", src, segments(tpl))
			}
			literal = true
			continue
		}
		literal = false
		inner := strings.TrimSuffix(strings.TrimPrefix(text, "{{"), "}}")
		if !strings.HasPrefix(text, "{{") || !strings.HasSuffix(text, "}}") || strings.TrimSpace(inner) != strings.Join(s.Path, ".") || strings.ContainsAny(inner, "{}") {
			t.Fatalf("%q: %q is no placeholder of %q", src, text, s.Path)
		}
		if again := scanTemplate(text, AuthorshipOperator); len(again.Segments) != 1 || again.Segments[0].Path == nil {
			t.Fatalf("%q: %q scans as %s", src, text, segments(again))
		}
	}
	if b.String() != src {
		t.Fatalf("%q: the segments make %q", src, b.String())
	}
}

func TestScanTemplateProperties(t *testing.T) {
	part := rapid.SampledFrom([]string{"{", "{{", "}", "}}", "a", "b.c", ".", "_", " ", "\n", "é", "-", "{{x}}", "{{ y.z }}", "\u00a0", "٣", "\xff"})
	rapid.Check(t, func(t *rapid.T) {
		scanned(t, strings.Join(rapid.SliceOf(part).Draw(t, "parts"), ""))
	})
}

// TestScanTemplateLinear: a quadratic scanner needs minutes for these.
func TestScanTemplateLinear(t *testing.T) {
	const size = 4 << 20
	for _, part := range []string{"{", "{{", "{{ ", "{{a", "{{ a ", "{{a.", "{{\u2003", "{{a}", "{{a}}", "}}{{"} {
		src := strings.Repeat(part, size/len(part))
		start := time.Now()
		scanTemplate(src, AuthorshipOperator)
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%q: %v", part, d)
		}
		long := "{{" + strings.Repeat(strings.TrimLeft(part, "{"), size/len(part))
		start = time.Now()
		scanTemplate(long, AuthorshipOperator)
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("one {{ and %q: %v", part, d)
		}
	}
}

func templateSeeds() []string {
	return []string{
		"", "{{a}}", "{{{n}}}", "{{{{x}}}}", "{{ a.b }} and {{c", "{{a-b}}", "{{ }}", "{{\n é_2.x\t}}", "}}{{", "{{.}}", "{{a}}{{b}}", "{{\xff}}", "{ {a} }", "$1 {x} %s", "{{n\u0303}}",
	}
}

func TestTemplateSeeds(t *testing.T) {
	if n := len(templateSeeds()); n < 15 {
		t.Fatalf("the fuzzer begins with %d templates", n)
	}
}

func FuzzScanTemplate(f *testing.F) {
	for _, s := range templateSeeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) { scanned(t, src) })
}
