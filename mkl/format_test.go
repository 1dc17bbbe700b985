package mkl

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// sameAfter formats a machine and holds the result to what Format promises.
func sameAfter(t interface{ Fatalf(string, ...any) }, src []byte) []byte {
	m, _ := Parse(Source{Text: src}, Lenient)
	once, err := Format(src)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	twice, err := Format(once)
	if err != nil || !bytes.Equal(once, twice) {
		t.Fatalf("not idempotent, %v\n%s\nthen\n%s", err, once, twice)
	}
	again, diags := Parse(Source{Text: once}, Lenient)
	if (m == nil) != (again == nil) {
		t.Fatalf("loads before: %v, after: %v\n%s\n%v", m != nil, again != nil, src, diags)
	}
	if m != nil && !bytes.Equal(Canonical(m), Canonical(again)) {
		t.Fatalf("means\n%s\nand then\n%s", Canonical(m), Canonical(again))
	}
	_, diags = Parse(Source{Text: once}, Strict)
	for _, d := range diags {
		if d.Code == "MK110" {
			t.Fatalf("still takes two readings: %v\n%s", d, once)
		}
	}
	return once
}

// TestFormat has one golden file for each machine of testdata/format.
func TestFormat(t *testing.T) {
	files, err := filepath.Glob("testdata/format/*.in")
	if err != nil || len(files) == 0 {
		t.Fatalf("no machines: %v", err)
	}
	for _, file := range files {
		in, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := sameAfter(t, in)
		golden := file[:len(file)-len("in")] + "mkl"
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
		}
	}
	if _, err := Format([]byte("a: [")); err == nil {
		t.Error("formats what is no document")
	}
	if out, err := Format([]byte("budget: many\n")); err != nil || string(out) != "budget: many\n" {
		t.Errorf("a document that is no machine: %q, %v", out, err)
	}
}

// TestFormatProperties draws machines in every style and with words that
// readers disagree about, and holds Format to its promises.
func TestFormatProperties(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "no", "yes", "on", "1", "017", "null", "0.4", "1e3", "x y", "'q'", "\"two\\nlines\"", "|\n        block\n        text", ">-\n        folded\n        text", "plain\n        lines", "2024-01-02", "1:30", "=", "a {{a}} b"})
	name := rapid.SampledFrom([]string{"a", "no", "1", "'x y'", "null", "é"})
	free := rapid.SampledFrom([]string{"yes", "017", "0o17", "1e3", "1e30", "-.5", "1_000", "~", "", "null", "Null", "[1, on]", "{n: 08}", "[a,\n      # c\n      yes]", "'1'", "!!str 1", "0x1F", "true"})
	comment := rapid.SampledFrom([]string{"", "", " # c", "\n# own", "\n\n    # in"})
	loaded := 0
	rapid.Check(t, func(t *rapid.T) {
		n := func() string { return name.Draw(t, "name") }
		c := func() string { return comment.Draw(t, "comment") }
		src := "machine: " + n() + c() + "\nentry: " + n() + "\nbudget: " + rapid.SampledFrom([]string{"3", "0o17", "1e1", "0x10"}).Draw(t, "budget") +
			"\ncontext:" + c() + "\n    k: " + free.Draw(t, "free") + "\n    on: " + free.Draw(t, "free") + c() +
			"\nstates:" + c() + "\n  " + n() + ":" + c() + "\n    prompt: " + word.Draw(t, "prompt") + "\n    structure: s" + c() + "\n    output: " + n() +
			"\n    reason: " + rapid.SampledFrom([]string{"yes", "TRUE", "off"}).Draw(t, "bool") +
			"\n    gates:" + c() + "\n    - when: " + rapid.SampledFrom([]string{"otherwise", "no", "''", "a b # cut"}).Draw(t, "when") + "\n      then: ok\n      to: " + n() + c() +
			"\n    - {when: " + n() + ", repair: 0x2, to: " + n() + "}" + c() + "\n"
		sameAfter(t, []byte(src))
		if m, _ := Parse(Source{Text: []byte(src)}, Strict); m != nil {
			loaded++
		}
	})
	if loaded == 0 {
		t.Fatal("no machine loaded")
	}
}
