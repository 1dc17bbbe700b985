//go:build treesitter && cgo

package sourcescan

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var want = regexp.MustCompile(`want(-\d+)? (PF\d+)`)

func TestScan(t *testing.T) {
	for _, dir := range []string{"ts", "py"} {
		root := filepath.Join("..", "..", "testdata", "scan", dir)
		r, err := Scan(root, Options{Lanes: []string{"page_context", "owner"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Partial) > 0 {
			t.Errorf("not parsed whole: %v", r.Partial)
		}
		wanted := map[string]bool{}
		files, err := filepath.Glob(filepath.Join(root, "*"))
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
					off, _ := strconv.Atoi(m[1])
					wanted[fmt.Sprintf("%s:%d %s", filepath.ToSlash(f), i+1+off, m[2])] = true
				}
			}
		}
		if len(wanted) < 8 {
			t.Fatalf("%s: found %d wants: the corpus did not load", dir, len(wanted))
		}
		got := map[string]bool{}
		for _, f := range r.Findings {
			k := fmt.Sprintf("%s:%d %s", f.File, f.Line, f.Code)
			got[k] = true
			if !wanted[k] {
				t.Errorf("not wanted: %s", f)
			}
		}
		for k := range wanted {
			if !got[k] {
				t.Errorf("not found: %s", k)
			}
		}
	}
}

func TestPrefilterSkips(t *testing.T) {
	found, whole, err := File("a.ts", []byte("export const f = (title: string) => `card ${title}`;"), Options{})
	if err != nil || !whole || len(found) > 0 {
		t.Errorf("%v %v %v", found, whole, err)
	}
	if _, _, err := File("a.go", nil, Options{}); err != nil {
		t.Error(err)
	}
}

func TestBrokenFile(t *testing.T) {
	_, whole, err := File("a.py", []byte("prompt = f'Q: {q\ndef ("), Options{})
	if err != nil || whole {
		t.Errorf("a broken file: whole %v, %v", whole, err)
	}
}

func FuzzFile(f *testing.F) {
	for _, n := range []string{"ts/assistant.ts", "ts/view.tsx", "py/assistant.py"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "scan", filepath.FromSlash(n)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(n, b)
	}
	f.Fuzz(func(t *testing.T, name string, src []byte) {
		if len(src) > 1<<16 {
			return
		}
		for _, n := range []string{"a.ts", "a.tsx", "a.js", "a.py"} {
			if _, _, err := File(n, src, Options{All: true, Lanes: []string{}}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func bench(b *testing.B, name string, all bool) {
	src, err := os.ReadFile(filepath.Join("..", "..", "testdata", "scan", filepath.FromSlash(name)))
	if err != nil {
		b.Fatal(err)
	}
	src = bytes.Repeat(append(src, '\n'), 100)
	p, err := newParser(Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.close()
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if all || p.matters(src) {
			p.file(name, Language(name), src)
		}
	}
}

func BenchmarkParsedTypeScript(b *testing.B) { bench(b, "ts/assistant.ts", true) }
func BenchmarkParsedPython(b *testing.B)     { bench(b, "py/assistant.py", true) }

// A tree as trees are: most files have nothing to do with a model.
func BenchmarkTree(b *testing.B) {
	dir := b.TempDir()
	hot, err := os.ReadFile(filepath.Join("..", "..", "testdata", "scan", "ts", "assistant.ts"))
	if err != nil {
		b.Fatal(err)
	}
	cold := []byte(strings.Repeat("export function add(a: number, b: number): number {\n  return a + b;\n}\n", 200))
	total := 0
	for i := range 200 {
		src := cold
		if i%20 == 0 {
			src = bytes.Repeat(hot, 4)
		}
		total += len(src)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.ts", i)), src, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(total))
	for b.Loop() {
		if _, err := Scan(dir, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
