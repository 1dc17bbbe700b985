package yamltree

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// shape writes a tree in one line: texts quoted where they are not plain,
// ~ for nothing, tags and shared nodes marked.
func shape(n *Node) string {
	var b strings.Builder
	var walk func(n *Node)
	walk = func(n *Node) {
		if n.Tag != "" {
			b.WriteString(n.Tag + " ")
		}
		if n.FromAlias {
			b.WriteByte('*')
		}
		switch {
		case n.Kind == Mapping:
			b.WriteByte('{')
			for i, k := range n.Keys {
				if i > 0 {
					b.WriteByte(' ')
				}
				walk(k)
				b.WriteByte(':')
				walk(n.Values[i])
			}
			b.WriteByte('}')
		case n.Kind == Sequence:
			b.WriteByte('[')
			for i, item := range n.Items {
				if i > 0 {
					b.WriteByte(' ')
				}
				walk(item)
			}
			b.WriteByte(']')
		case n.Empty:
			b.WriteByte('~')
		case n.Plain && !strings.ContainsAny(n.Text, " \t\n"):
			b.WriteString(n.Text)
		default:
			fmt.Fprintf(&b, "%q", n.Text)
		}
	}
	walk(n)
	return b.String()
}

func mustRead(t testing.TB, src string) *Node {
	t.Helper()
	n, errs := Read([]byte(src))
	if n == nil {
		t.Fatalf("%q does not read: %v", src, errs)
	}
	if len(errs) > 0 {
		t.Fatalf("%q reads with errors: %v", src, errs)
	}
	return n
}

func TestReadShapes(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"scalars as written", "a: 0.4\nb: no\nc: 1:30\nd: 'x'\ne: \"y\"\n", `{a:0.4 b:no c:1:30 d:"x" e:"y"}`},
		{"nothing", "a:\nb: ~\nc: ''\nd: !!str\ne: &x\n", `{a:~ b:~ c:"" d:!!str "" e:~}`},
		{"lists under a key, indented or not", "a:\n- 1\n- 2\nb:\n  - 3\n", `{a:[1 2] b:[3]}`},
		{"compact collections", "a:\n- b: 1\n  c: 2\n- - x\n  - y\n-\n  d: 3\n", `{a:[{b:1 c:2} [x y] {d:3}]}`},
		{"empty items", "a:\n-\n- \n- x\n", `{a:[~ ~ x]}`},
		{"flow", "a: [1, [2], {b: 3, c: , d}, ]\ne: {}\nf: []\n", `{a:[1 [2] {b:3 c:~ d:~}] e:{} f:[]}`},
		{"flow over lines", "a: [ # one\n  1,\n  x y\n  z, # two\n]\nb: {\n k: v }\n", `{a:[1 "x y z"] b:{k:v}}`},
		{"single pairs", "a: [b: 1, \"c\":2, ? d : 3, e: ]\n", `{a:[{b:1} {"c":2} {d:3} {e:~}]}`},
		{"json", `{"a":{"b":[1,"x",null]},"c":"\u00e9\ud83d\ude00\/"}`, `{"a":{"b":[1 "x" null]} "c":"é😀/"}`},
		{"explicit keys", "? a\n: 1\n? b\n? 'c d'\n: - x\n", `{a:1 b:~ "c d":[x]}`},
		{"plain over lines", "a: one\n  two\n\n  three\nb: x\n", `{a:"one two\nthree" b:x}`},
		{"plain on the next line", "a:\n  b c\n", `{a:"b c"}`},
		{"indicators inside plain text", "a: x:y -z ?q #no\nb: a#b [c] {d}, e\nc: -x\nd: ?x\ne: :x\n", `{a:"x:y -z ?q" b:"a#b [c] {d}, e" c:-x d:?x e::x}`},
		{"single quotes", "a: 'it''s'\nb: 'one\n  two\n\n  three '\n", `{a:"it's" b:"one two\nthree "}`},
		{"double quotes", "a: \"t\\tn\\n\\x41\\u00e9\\U0001f600\\\\\\\"\\0\"\nb: \"one \\\n   two\n  three\\n \n  four\"\n", `{a:"t\tn\nAé😀\\\"\x00" b:"one two three\n four"}`},
		{"literal", "a: |\n  one\n   two\n\n  three\n\nb: |-\n  x\nc: |+\n  y\n\nd: z\n", `{a:"one\n two\n\nthree\n" b:"x" c:"y\n\n" d:z}`},
		{"literal, indicator", "a: |1-\n  x\nb: |2\n   y\n", `{a:" x" b:" y\n"}`},
		{"literal with # and :", "a: |\n  # not a comment\n  k: v\n", `{a:"# not a comment\nk: v\n"}`},
		{"folded", "a: >\n  one\n  two\n\n  three\n    more\n  four\n", `{a:"one two\nthree\n  more\nfour\n"}`},
		{"block text in a list", "a:\n- |\n x\n- >-\n  y\n  z\n", `{a:["x\n" "y z"]}`},
		{"block text without text", "a: |\nb: >+\n\nc: |-\n", `{a:"" b:"\n" c:""}`},
		{"no line end at the end", "a: |\n  x", `{a:"x"}`},
		{"aliases", "a: &x {k: 1}\nb: *x\nc: [*x, &y z, *y]\n*y : 1\n", `{a:{k:1} b:*{k:1} c:[*{k:1} z *z] *z:1}`},
		{"an anchor again", "a: &x 1\nb: *x\nc: &x 2\nd: *x\n", `{a:1 b:*1 c:2 d:*2}`},
		{"properties on their own line", "a: &x\n  b: 1\nc: !!map\n  d: *x\ne: &m\n  &k f: 1\n", `{a:{b:1} c:!!map {d:*{b:1}} e:{f:1}}`},
		{"properties before a key", "&k a: 1\nb: *k\n", `{a:1 b:*a}`},
		{"core tags", "a: !!str 1\nb: !!int '2'\nc: !<tag:yaml.org,2002:float> 3\nd: !!seq [x]\n", `{a:!!str "1" b:!!int "2" c:!!float "3" d:!!seq [x]}`},
		{"directive and markers", "%YAML 1.1\n# c\n--- # d\na: 1\n... # e\n# f\n", `{a:1}`},
		{"BOM and CRLF", "\ufeffa: 1\r\nb:\r\n- x\r\n", `{a:1 b:[x]}`},
		{"carriage returns alone", "a: 1\rb: 2", `{a:1 b:2}`},
		{"tabs that indent nothing", "a:\t1 \nb: x\ty\t# c\n\t\nc: [\t1,\n\t2 ]\n-a:\t-x\n", `{a:1 b:"x\ty" c:[1 2] -a:-x}`},
		{"a lone =", "a: =\n", `{a:=}`},
		{"keys of any kind of text", "1: a\nnull: b\n'': c\non: d\n~: e\n[x]y: f\n", ""},
		{"any text is a key", "1: a\nnull: b\n'': c\non: d\nx y: e\n", `{1:a null:b "":c on:d "x y":e}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.want == "" {
				if n, _ := Read([]byte(c.src)); n != nil {
					t.Fatalf("%q reads as %s", c.src, shape(n))
				}
				return
			}
			if got := shape(mustRead(t, c.src)); got != c.want {
				t.Errorf("%q\n got %s\nwant %s", c.src, got, c.want)
			}
		})
	}
}

// TestMerge: an explicit key wins wherever it stands, an earlier map of a list
// over a later one, and merged keys stand where << stood [CASES 70].
func TestMerge(t *testing.T) {
	const base = "p: &p {a: 1, b: 2}\nq: &q {b: 3, c: 4}\n"
	for _, c := range []struct{ src, want string }{
		{"x: {<<: *p, z: 9}", "{a:1 b:2 z:9}"},
		{"x: {z: 9, <<: *p}", "{z:9 a:1 b:2}"},
		{"x: {<<: *p, a: 7}", "{b:2 a:7}"},
		{"x: {a: 7, <<: *p}", "{a:7 b:2}"},
		{"x: {<<: [*p, *q]}", "{a:1 b:2 c:4}"},
		{"x: {<<: [*q, *p]}", "{b:3 c:4 a:1}"},
		{"x: {<<: {a: 5}}", "{a:5}"},
		{"x: {<<: []}", "{}"},
		{"x: {\"<<\": *p}", `{"<<":*{a:1 b:2}}`},
		{"x: &x {<<: *p}\ny: {<<: *x, c: 0}", "{a:1 b:2}"},
	} {
		n := mustRead(t, base+c.src+"\n")
		x, _ := n.Get("x")
		if got := shape(x); got != c.want {
			t.Errorf("%s: got %s, want %s", c.src, got, c.want)
		}
	}
	n := mustRead(t, base+"x: {<<: *p, b: 8}\n")
	x, _ := n.Get("x")
	if v, ok := x.Get("b"); !ok || v.Text != "8" {
		t.Errorf("Get finds %v", v)
	}
	if _, ok := x.Get("<<"); ok {
		t.Error("a merge key is still there")
	}
	// A map too large to be searched key by key.
	var b strings.Builder
	b.WriteString("m: &m\n")
	for i := range 40 {
		fmt.Fprintf(&b, "  k%d: %d\n", i, i)
	}
	b.WriteString("x:\n  k7: seven\n  <<: *m\n")
	x, _ = mustRead(t, b.String()).Get("x")
	if v, ok := x.Get("k7"); !ok || v.Text != "seven" || len(x.Keys) != 40 {
		t.Errorf("k7 is %v of %d keys", v, len(x.Keys))
	}
	if v, ok := x.Get("k39"); !ok || v.Text != "39" {
		t.Errorf("k39 is %v", v)
	}
	if _, ok := x.Get("k40"); ok {
		t.Error("found a key that is not there")
	}
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"UTF-8", "a: \xff\n", "MK102 1:4 not UTF-8 (byte 0xff) at byte 3"},
		{"UTF-16", "\xfe\xff\x00a\x00:", "MK102 1:1 not UTF-8 (byte 0xfe) at byte 0"},
		{"UTF-16 without a mark", "a\x00:\x00 \x00b\x00", "MK102 1:2 forbidden control character U+0000 at byte 1"},
		{"control character", "a: 1\nb: \x07\n", "MK102 2:4 forbidden control character U+0007 at byte 8"},
		{"C1 control character", "a: é\u0081\n", "MK102 1:5 forbidden control character U+0081 at byte 5"},
		{"second document", "a: 1\n---\nb: 2\n", "MK104 2:1 a second document begins on line 2: one is allowed"},
		{"text after the end", "a: 1\n...\nb: 2\n", "MK104 3:1 a second document begins on line 3: one is allowed"},
		{"empty", "", "MK105 1:1 the document is empty: expected a mapping"},
		{"only a comment", "# nothing\n", "MK105 1:1 the document is empty: expected a mapping"},
		{"root list", "- a\n", "MK105 1:1 the root is a list: expected a mapping"},
		{"root text", "hello\n", "MK105 1:1 the root is ‹hello›: expected a mapping"},
		{"unknown anchor", "a: *x\n", "MK107 1:4 no anchor &x before this alias"},
		{"anchor after alias", "a: *x\nb: &x 1\n", "MK107 1:4 no anchor &x before this alias"},
		{"alias in its own anchor", "a: &a [*a]\n", "MK107 1:8 the alias *a stands inside its own anchor"},
		{"foreign tag", "a: !ruby/object x\n", "MK109 1:4 the tag !ruby/object is not one of YAML's core tags"},
		{"local tag", "a: ! x\n", "MK109 1:4 the tag ! is not one of YAML's core tags"},
		{"collection as key", "? [a]\n: 1\n", "MK103 1:3 a key is a text, found a list"},
		{"collection as implicit key", "{a: 1}: 2\n", "MK103 1:1 a key is a text, found a mapping (a text that begins with {{ wants quotes around it)"},
		{"unquoted placeholder", "a: {{x}} y\n", "MK103 1:5 a key is a text, found a mapping (a text that begins with {{ wants quotes around it)"},
		{"alias to a collection as key", "a: &a {}\n*a : 1\n", "MK103 2:1 a key is a text, found a mapping"},
		{"no key", ": 1\n", "MK103 1:1 expected a key before the ':'"},
		{"tab as indentation", "a:\n\tb: 1\n", "MK103 2:1 a tab cannot indent: use spaces"},
		{"tab after spaces", "a:\n  \tb: 1\n", "MK103 2:3 a tab cannot indent: use spaces"},
		{"tab before an inner list", "-\t- a\n", "MK103 1:3 a block collection cannot begin here: expected it on a line of its own"},
		{"second colon", "a: b: c\n", "MK103 1:5 a mapping cannot begin here: if the ':' belongs to the text, put quotes around it"},
		{"key without colon", "a: 1\nb\n", "MK103 2:1 expected a key and ':'"},
		{"item among keys", "a: 1\n- b\n", "MK103 2:1 expected a key, found an item"},
		{"indentation", "a: 1\n  b: 2\n", "MK103 2:4 a key stands on one line: expected no ':' here, or quotes around the text"},
		{"deeper item", "a:\n  - x\n    - y\nb:\n - z\n  - w: 1\n", "MK103 6:6 a key stands on one line: expected no ':' here, or quotes around the text"},
		{"text that a comment cut", "a: one # two\n  three\n", "MK103 2:3 indented by 2, expected 0 or less (the # before began a comment and ended its text: put quotes around that)"},
		{"unclosed quote", "a: \"x\nb: 1\n", "MK103 3:1 expected a closing \" for the one at 1:4"},
		{"unclosed bracket", "a: [1,\nb: 2\n", "MK103 3:1 expected ']' for what was opened at 1:4, found the end of the document"},
		{"mixed brackets", "a: [1}\n", "MK103 1:6 expected ',' or ']', found '}' (opened at 1:4)"},
		{"marker in a bracket", "a: [\n---\n]\n", "MK103 2:1 expected ']' for what was opened at 1:4, found the end of the document"},
		{"marker in a quote", "a: 'x\n---\n'\n", "MK103 2:1 expected a closing quote before the end of the document"},
		{"text behind a quote", "a: 'x' y\n", "MK103 1:8 expected the end of the line, found 'y'"},
		{"comment without white space", "a: 'x'#y\n", "MK103 1:7 a comment needs white space before its #"},
		{"escape", "a: \"\\d\"\n", "MK103 1:5 unknown escape \\d: in single quotes a backslash is itself"},
		{"hex", "a: \"\\xg0\"\n", "MK103 1:5 expected 2 hexadecimal digits after \\x"},
		{"hex at the end", "a: \"\\u12", "MK103 1:5 expected 4 hexadecimal digits after \\u"},
		{"lone surrogate", "a: \"\\ud800 x\"\n", "MK103 1:5 \\u escape that is no character"},
		{"reserved", "a: @x\n", "MK103 1:4 a text cannot begin with '@': put quotes around it"},
		{"block header", "a: |x\n", "MK103 1:5 expected the end of the line after the header of a block text, found 'x'"},
		{"block text indentation", "a: |\n     \n  x\n", "MK103 2:1 a blank line before a block text is indented further (5) than its first line (2)"},
		{"two anchors", "a: &x &y z\n", "MK103 1:7 a node can have one anchor"},
		{"anchor on an alias", "a: &x 1\nb: &y *x\n", "MK103 2:7 an alias can have no anchor or tag of its own"},
		{"anchor before a list", "a: &x - y\n", "MK103 1:7 a block collection cannot begin here: expected it on a line of its own"},
		{"directive", "%TAG ! x\n---\na: 1\n", "MK103 1:1 unknown directive %TAG"},
		{"directive without marker", "%YAML 1.2\na: 1\n", "MK103 2:1 expected --- after the directives"},
		{"mapping on the marker's line", "--- a: 1\n", "MK103 1:6 a mapping cannot begin here: if the ':' belongs to the text, put quotes around it"},
		{"merge of a text", "a: {<<: x}\n", "MK203 1:9 << wants a mapping or a list of mappings, found ‹x›"},
		{"merge of a list of texts", "a: {<<: [{}, x]}\n", "MK203 1:14 << wants a mapping or a list of mappings, found ‹x›"},
		{"tag on the wrong kind", "a: !!str [x]\n", "MK203 1:10 the tag !!str stands before a list"},
		{"columns count characters", "é: ü: x\n", "MK103 1:5 a mapping cannot begin here: if the ':' belongs to the text, put quotes around it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, errs := Read([]byte(c.src))
			if n != nil || len(errs) != 1 {
				t.Fatalf("%q gives %v and %v", c.src, n, errs)
			}
			if got := errs[0].Error(); got != c.want {
				t.Errorf("%q\n got %s\nwant %s", c.src, got, c.want)
			}
		})
	}
}

// TestDuplicates: all of them are told, each with both lines [CASES 70].
func TestDuplicates(t *testing.T) {
	src := "states:\n  send:\n    gates: [x]\n    gates: [y]\n  b: 1\n  send: 2\n'states': 3\nc: {k: 1, \"k\": 2}\n"
	_, errs := Read([]byte(src))
	want := []string{
		"MK106 4:5 duplicate key ‹gates› on line 4: it stands on line 3 already",
		"MK106 6:3 duplicate key ‹send› on line 6: it stands on line 2 already",
		"MK106 8:11 duplicate key ‹k› on line 8: it stands on line 8 already",
		"MK106 7:1 duplicate key ‹states› on line 7: it stands on line 1 already",
	}
	if len(errs) != len(want) {
		t.Fatalf("got %v", errs)
	}
	for i, e := range errs {
		if e.Error() != want[i] {
			t.Errorf("got %s, want %s", e, want[i])
		}
	}
	// A map too large to be compared key by key.
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "k%d: 1\n", i%99)
	}
	_, errs = Read([]byte(b.String()))
	if len(errs) != 1 || errs[0].Error() != "MK106 100:1 duplicate key ‹k0› on line 100: it stands on line 1 already" {
		t.Errorf("got %v", errs)
	}
	if _, errs := Read([]byte("<<: {}\n<<: {}\n")); len(errs) != 1 || errs[0].Code != "MK106" {
		t.Errorf("two merge keys: %v", errs)
	}
}

func TestPlaces(t *testing.T) {
	n := mustRead(t, "# c\nä: &x [1, 'ö', b]\nc:\n  d:\n  - e: *x\n    f:\n")
	type place struct{ line, column int }
	at := func(n *Node) place { return place{n.Line, n.Column} }
	a, _ := n.Get("ä")
	c, _ := n.Get("c")
	d, _ := c.Get("d")
	e, _ := d.Items[0].Get("e")
	f, _ := d.Items[0].Get("f")
	for _, x := range []struct {
		name string
		node *Node
		want place
	}{
		{"root", n, place{2, 1}},
		{"first key", n.Keys[0], place{2, 1}},
		{"list behind an anchor", a, place{2, 7}},
		{"items", a.Items[1], place{2, 11}},
		{"item after characters of two bytes", a.Items[2], place{2, 16}},
		{"inner mapping", c, place{4, 3}},
		{"list", d, place{5, 3}},
		{"mapping in a list", d.Items[0], place{5, 5}},
		{"alias", e, place{5, 8}},
		{"inside an alias, the anchor's place", e.Items[0], place{2, 8}},
		{"nothing", f, place{6, 7}},
	} {
		if got := at(x.node); got != x.want {
			t.Errorf("%s: got %v, want %v", x.name, got, x.want)
		}
	}
	if !e.FromAlias || a.FromAlias {
		t.Error("FromAlias is wrong")
	}
}

// TestComment: the comment that ended a plain scalar is kept, on whichever line it stands.
func TestComment(t *testing.T) {
	n := mustRead(t, "a: reply starts with # Summary\nb: x#y\nc: 'q' # no\nd: one\n  two # three \ne: f\n# own\ng: [h # i\n  ]\nj: | # k\n  l\n")
	want := map[string]string{"a": "# Summary", "b": "", "c": "", "d": "# three", "e": "", "j": ""}
	for k, w := range want {
		v, _ := n.Get(k)
		if v.Comment != w {
			t.Errorf("%s: got %q, want %q", k, v.Comment, w)
		}
	}
	if g, _ := n.Get("g"); g.Items[0].Comment != "# i" {
		t.Errorf("in a list: %q", g.Items[0].Comment)
	}
	if n.Keys[0].Comment != "" {
		t.Error("a key has a comment")
	}
}

// TestBounds: CASES 71. What is over a bound fails, what is at it reads.
func TestBounds(t *testing.T) {
	code := func(src string) string {
		t.Helper()
		_, errs := Read([]byte(src))
		if len(errs) == 0 {
			return ""
		}
		return errs[0].Code
	}
	nested := func(depth int) string {
		return "a: " + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + "\n"
	}
	indented := func(depth int) string {
		var b strings.Builder
		for i := range depth {
			b.WriteString(strings.Repeat(" ", i) + "a:\n")
		}
		return b.String()
	}
	for _, c := range []struct {
		name, src, want string
	}{
		{"100 levels", nested(100), ""},
		{"101 levels", nested(101), "MK108"},
		{"100 levels of mappings", indented(100), ""},
		{"101 levels of mappings", indented(101), "MK108"},
		{"5,000 brackets", strings.Repeat("[", 5000), "MK108"},
		{"5,000 brackets in a mapping", "a: " + strings.Repeat("{b: ", 5000), "MK108"},
		{"5,000 items", strings.Repeat("- ", 5000), "MK108"},
		{"a pair in a list is a level", "a: " + strings.Repeat("[", 98) + "b: 1" + strings.Repeat("]", 98), ""},
		{"a pair in a list is a level, over", "a: " + strings.Repeat("[", 99) + "b: 1" + strings.Repeat("]", 99), "MK108"},
		{"an alias adds its depth", "a: &a " + strings.Repeat("[", 50) + strings.Repeat("]", 50) + "\nb: " + strings.Repeat("[", 49) + "*a" + strings.Repeat("]", 49), ""},
		{"an alias adds its depth, over", "a: &a " + strings.Repeat("[", 50) + strings.Repeat("]", 50) + "\nb: " + strings.Repeat("[", 50) + "*a" + strings.Repeat("]", 50), "MK108"},
		{"250,000 nodes", "a: [" + strings.Repeat("x,", MaxNodes-3) + "]", ""},
		{"250,001 nodes", "a: [" + strings.Repeat("x,", MaxNodes-2) + "]", "MK108"},
		{"250,000 nodes by aliases", "a: &a [" + strings.Repeat("x,", 996) + "]\nb: [" + strings.Repeat("*a,", 249) + "]\nc: [" + strings.Repeat("x,", 744) + "]", ""},
		{"250,001 nodes by aliases", "a: &a [" + strings.Repeat("x,", 996) + "]\nb: [" + strings.Repeat("*a,", 249) + "]\nc: [" + strings.Repeat("x,", 745) + "]", "MK107"},
		{"4 MiB", "a: " + strings.Repeat("x", MaxSize-4) + "\n", ""},
		{"4 MiB and a byte", "a: " + strings.Repeat("x", MaxSize-3) + "\n", "MK108"},
		{"self reference", "a: &a [*a]", "MK107"},
		{"self reference in a merge", "a: &a {<<: *a}", "MK107"},
	} {
		if got := code(c.src); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}

	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 9; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	if bomb.Len() > 512 {
		t.Fatalf("the bomb has %d bytes", bomb.Len())
	}
	if got := code(bomb.String()); got != "MK107" {
		t.Errorf("nine levels of nine aliases: got %q", got)
	}
	if allocated := testing.AllocsPerRun(1, func() { Read([]byte(bomb.String())) }); allocated > 500 {
		t.Errorf("a bomb of %d bytes makes %v allocations", bomb.Len(), allocated)
	}
	if got := code("base: &b {x: 1, y: [a, b]}\nall: [" + strings.Repeat("*b, ", 60) + "]\n"); got != "" {
		t.Errorf("sixty aliases of one small map: got %q", got)
	}
}

// TestLinear: whatever four megabytes hold, reading them takes time in
// proportion. A quadratic step takes minutes here, so the limit can be wide.
func TestLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("reads many megabytes")
	}
	const limit = 20 * time.Second
	fill := func(s string) string { return strings.Repeat(s, (MaxSize-64)/len(s)) }
	for name, src := range map[string]string{
		"digits":            "a: " + fill("7"),
		"hexadecimal":       "a: 0x" + fill("f"),
		"fraction":          "a: 1." + fill("7"),
		"sixties":           "a: " + fill("1:"),
		"brackets":          fill("["),
		"one line of items": "a: [" + fill("1,"),
		"one line of pairs": "a: [" + fill("b: 1,"),
		"one line of keys":  "a: {" + fill("é: 1,"),
		"aliases":           "b: &b {x: 1}\na: [" + fill("*b,") + "]",
		"merges":            "b: &b {x: 1}\na: {<<: [" + fill("*b,") + "]}",
		"same key":          fill("a: 1\n"),
		"blank lines":       "a: x\n" + fill("\n") + "b: 1\n",
		"lines of spaces":   "a: x" + fill("   \n"),
		"comments":          "a: x\n" + fill(" # x\n"),
		"plain lines":       "a: x\n" + fill("  x\n"),
		"quoted lines":      "a: \"" + fill("x\n"),
		"escapes":           "a: \"" + fill("\\n") + "\"",
		"quotes":            "a: '" + fill("''") + "'",
		"literal":           "a: |\n" + fill("  x\n"),
		"folded":            "a: >\n" + fill("  x\n\n"),
		"empty literal":     "a: |\n" + fill("\n"),
		"colons":            "a: " + fill(":"),
		"anchors":           "a: " + fill("&"),
		"long key":          fill("k") + ": v",
	} {
		start := time.Now()
		n, errs := Read([]byte(src))
		if n == nil {
			_ = errs[0].Error()
		} else {
			for _, v := range n.Values {
				v.AsValue()
				v.AsInt()
				v.Legacy(Free)
				v.Legacy(String)
			}
		}
		if d := time.Since(start); d > limit {
			t.Errorf("%s: %v", name, d)
		}
	}
}
