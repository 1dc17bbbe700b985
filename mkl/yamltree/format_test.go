package yamltree

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// machineLayout is enough of mkl's for the tests here.
func machineLayout() *Layout {
	free := &Layout{Position: Free}
	free.Rest, free.Items = free, free
	text, boolean, integer := &Layout{Position: String}, &Layout{Position: Bool}, &Layout{Position: Int}
	gate := &Layout{Rest: text, Keys: map[string]*Layout{"escalate": boolean, "repair": integer}}
	state := &Layout{Rest: text, Keys: map[string]*Layout{"reason": boolean, "accumulate": boolean, "max_visits": integer, "input": free, "gates": {Items: gate}}}
	return &Layout{Rest: text, Keys: map[string]*Layout{"budget": integer, "context": free, "tools": {Items: &Layout{Rest: text}}, "states": {Rest: state}}}
}

func layouts() map[string]*Layout {
	free := &Layout{Position: Free}
	free.Rest, free.Items = free, free
	text := &Layout{Position: String}
	text.Rest, text.Items = text, text
	return map[string]*Layout{"free": free, "text": text, "machine": machineLayout(), "unknown": nil}
}

func TestFormatGolden(t *testing.T) {
	in, err := os.ReadFile("testdata/format/machine.in")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Format(in, machineLayout())
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/format/machine.out"
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
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if again, err := Format(got, machineLayout()); err != nil || !bytes.Equal(again, got) {
		t.Errorf("%v, not the same again:\n%s", err, again)
	}
}

func TestFormatTable(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"indentation", "a:\n- b\n-   c: 1\n    d: 2\ne:\n      f: 1\n", "a:\n  - b\n  - c: 1\n    d: 2\ne:\n  f: 1\n"},
		{"one blank line at most", "\n\na: 1\n\n\n\nb: 2\nc: 3\n\n\n", "a: 1\n\nb: 2\nc: 3\n"},
		{"flow on one line stays", "a: {b: 1,c: [2,3] }\nd: [ ]\ne: {  }\nf: [g: 1]\n", "a: { b: 1, c: [2, 3] }\nd: []\ne: {}\nf: [{ g: 1 }]\n"},
		{"flow over lines becomes block", "a: {b: 1,\n  c: [2,\n 3]}\n", "a:\n  b: 1\n  c:\n    - 2\n    - 3\n"},
		{"comments move with what they are about", "a: 1 # one\n#   two\nb: # three\n# four\n    c: 2\n    # five\n# six\nd: [ # seven\n  3, # eight\n  # nine\n] # ten\n", "a: 1  # one\n#   two\nb:  # three\n  # four\n  c: 2\n  # five\n# six\nd:  # seven\n  - 3  # eight\n  # nine\n# ten\n"},
		{"a comment inside an item goes before it", "a:\n-\n  # x\n  b: 1\n- # y\n  c: 2\n", "a:\n  # x\n  - b: 1\n  -  # y\n    c: 2\n"},
		{"a comment behind a closing bracket", "a: [1,\n2] # x\nb: 1\n", "a:  # x\n  - 1\n  - 2\nb: 1\n"},
		{"plain text of lines", "a: one\n  two\n\n  three\n", "a: >-\n  one\n  two\n\n  three\n"},
		{"plain text that a comment ended", "a: one\n      two # three\nb: x # y\n", "a: one\n  two  # three\nb: x  # y\n"},
		{"quoted text of lines", "a: 'one\n\n  two'\nb: \"one\\ntwo\\n\"\nc: 'one\n  two'\nd: \"x\\n\"\n", "a: |-\n  one\n  two\nb: |\n  one\n  two\nc: >-\n  one two\nd: \"x\\n\"\n"},
		{"text that a block cannot hold", "a: 'one\n\n  two\u2028'\nb: \"one\\n\\x07\"\n", "a: \"one\\ntwo\\u2028\"\nb: \"one\\n\\x07\"\n"},
		{"text that begins with white space", "a: \" one\\ntwo\"\nb: \"\\n\\n  x\\ny\\n\\n\"\n", "a: |2-\n   one\n  two\nb: |2+\n\n\n    x\n  y\n\n"},
		{"block text keeps its lines", "a:   >1-\n  x\n   y\nb: |+\n    z\n\n\nc: 1\n", "a: >2-\n   x\n    y\nb: |+\n  z\n\n\nc: 1\n"},
		{"no line end at the end", "a: |\n  x", "a: |-\n  x\n"},
		{"explicit keys", "? a\n: 1\n? |\n  b\n  c\n: 2\n? on\n: 3\n", "a: 1\n\"b\\nc\\n\": 2\n\"on\": 3\n"},
		{"anchors, tags and merges", "a: &x   !!map\n    b: !!str 1\nc: *x\n<<:   *x\n*y : {}\nd: &y z\n", ""},
		{"anchors, tags and merges in order", "d: &y z\na: &x   !!map\n    b: !!str 1\nc: *x\n<<:   *x\n*y : {*y : 1}\n", "d: &y z\na: &x !!map\n  b: !!str 1\nc: *x\n<<: *x\n*y : { *y : 1 }\n"},
		{"markers, directives, BOM, CRLF", "\ufeff%YAML 1.1\r\n--- # x\r\na: 1\r\n...\r\n# y\r\n", "# x\na: 1\n# y\n"},
		{"root in braces", "{a: 1, b: [2]} # x\n", "a: 1\nb: [2]\n# x\n"},
		{"empty root", "# x\n{} # y\n", "# x\n{}  # y\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Format([]byte(c.in), layouts()["free"])
			if c.want == "" {
				if err == nil {
					t.Fatalf("%q formats to %q", c.in, got)
				}
				return
			}
			if err != nil || string(got) != c.want {
				t.Errorf("%q, %v\n got %q\nwant %q", c.in, err, got, c.want)
			}
		})
	}
}

// TestFormatLegacy: what a YAML 1.1 reader takes for something else is written
// so that it does not, and means the same to us.
func TestFormatLegacy(t *testing.T) {
	for _, c := range []struct{ in, free, text, integer string }{
		{"yes", `"yes"`, `"yes"`, "yes"},
		{"true", "true", `"true"`, "true"},
		{"017", "17", `"017"`, "017"},
		{"0o17", "15", `"0o17"`, "15"},
		{"1e3", "1000.0", `"1e3"`, "1000"},
		{"1e30", "1.0e+30", `"1e30"`, "1e30"},
		{"-.5", "-0.5", `"-.5"`, "-.5"},
		{"1_000", `"1_000"`, `"1_000"`, "1_000"},
		{"2024-01-02", `"2024-01-02"`, `"2024-01-02"`, "2024-01-02"},
		{"0.4", "0.4", `"0.4"`, "0.4"},
		{"7", "7", `"7"`, "7"},
		{"hello", "hello", "hello", "hello"},
		{"=", `"="`, `"="`, "="},
		{"'no'", "'no'", "'no'", "'no'"},
		{".inf", ".inf", `".inf"`, ".inf"},
	} {
		for name, x := range map[Position]string{Free: c.free, String: c.text, Int: c.integer, Bool: c.in} {
			l := &Layout{Rest: &Layout{Position: name}}
			got, err := Format([]byte("k: "+c.in+"\n"), l)
			if err != nil || string(got) != "k: "+x+"\n" {
				t.Errorf("%s in position %d: got %q, %v, want %q", c.in, name, got, err, x)
			}
		}
		if got, err := Format([]byte("k: "+c.in+"\n"), nil); err != nil || string(got) != "k: "+c.in+"\n" {
			t.Errorf("%s in a place unknown: got %q, %v", c.in, got, err)
		}
	}
}

func TestFormatErrors(t *testing.T) {
	_, err := Format([]byte("a: 1\na: 2\nb: 3\nb: 4\n"), nil)
	if err == nil || strings.Count(err.Error(), "MK106") != 2 {
		t.Errorf("got %v", err)
	}
	// Flow that is written as block grows; what it grows to must still be readable.
	wide := "a: " + strings.Repeat("[", 98) + "\n" + strings.Repeat("x,", 40_000) + strings.Repeat("]", 98) + "\n"
	if _, err := Format([]byte(wide), nil); err == nil || !strings.Contains(err.Error(), "bytes after formatting") {
		t.Errorf("got %v", err)
	}
}

// formatted checks every property of Format on one document: it reads the same
// (Format looks), again gives the same, and no comment is lost or invented.
func formatted(t interface {
	Helper()
	Fatalf(string, ...any)
}, src string) (ok bool) {
	t.Helper()
	if n, _ := Read([]byte(src)); n == nil {
		return false
	}
	for name, l := range layouts() {
		once, err := Format([]byte(src), l)
		if err != nil {
			t.Fatalf("%q as %s: %v", src, name, err)
		}
		twice, err := Format(once, l)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q as %s: %v\nonce\n%s\ntwice\n%s", src, name, err, once, twice)
		}
		before, _, _ := rawRead(src)
		after, _, _ := rawRead(string(once))
		have := map[string]int{}
		for _, c := range before.comments {
			have[c.text]++
		}
		for _, c := range after.comments {
			have[c.text]--
		}
		for text, n := range have {
			if n != 0 {
				t.Fatalf("%q as %s: comment %q lost or invented (%+d)\n%s", src, name, text, -n, once)
			}
		}
	}
	return true
}

func TestFormatProperties(t *testing.T) {
	read := 0
	rapid.Check(t, func(t *rapid.T) {
		if formatted(t, documentGen().Draw(t, "document")) {
			read++
		}
		if formatted(t, commentedGen().Draw(t, "commented")) {
			read++
		}
	})
	if read == 0 {
		t.Fatal("no document was formatted")
	}
}
