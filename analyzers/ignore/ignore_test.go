package ignore

import (
	"go/parser"
	"go/token"
	"testing"
)

const src = `package p

func f() {
	g("a") // pinfold:ignore PF001 it is the operator's

	// pinfold:ignore PF001 the help centre is written
	// by staff alone
	g(
		"b",
		"c")
	// pinfold:ignore PF001
	g("d")
	// pinfold:ignore PF002 only the head
	if g("e") {
		g("f")
	}
	// pinfold:ignored PF001 another word
	g("h")
}
`

func TestFind(t *testing.T) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	cs := Find(fset, f)
	if len(cs) != 4 {
		t.Fatalf("found %d comments, want 4", len(cs))
	}
	for _, c := range []struct {
		i, line int
		code    string
		want    bool
	}{
		{0, 4, "PF001", true}, {0, 5, "PF001", false}, {0, 4, "PF002", false},
		{1, 7, "PF001", false}, {1, 8, "PF001", true}, {1, 9, "PF001", true}, {1, 10, "PF001", true}, {1, 12, "PF001", false},
		{2, 12, "PF001", false}, // no reason
		{3, 14, "PF002", true}, {3, 15, "PF002", false},
	} {
		if got := cs[c.i].Covers(c.code, c.line); got != c.want {
			t.Errorf("comment %d, %s on line %d: covers %v, want %v", c.i, c.code, c.line, got, c.want)
		}
	}
	if cs[1].Reason != "the help centre is written by staff alone" {
		t.Errorf("reason over two lines: %q", cs[1].Reason)
	}
}
