package yamltree

import (
	"testing"
	"unicode/utf8"
)

// seeds are where the fuzzer begins: whole documents, every fragment of the
// properties, and the inputs that broke other readers [CASES 67–71].
func seeds() []string {
	all := append([]string{
		"a: &a [*a]", "a: !!binary x", "? [a]\n: b\n", "a: \"\\ud83d\\ude00\"\n", "\ufeffa: 1\r\n", "a: |9\n  x\n",
		"when: reply starts with # Summary\n", "a: {<<: [*x, *y]}\n", "{a: 1}: 2\n", "a: 1e999\nb: .nan\n",
	}, bases...)
	for _, f := range fragments {
		all = append(all, "k: "+f+"\n", f+"\nk: v\n")
	}
	return all
}

func TestSeeds(t *testing.T) {
	if n := len(seeds()); n < 100 {
		t.Fatalf("the fuzzer begins with %d documents", n)
	}
}

// FuzzRead: no document panics, and one that reads has places inside itself,
// values or errors in every position, and a layout that reads the same.
func FuzzRead(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		n, errs := Read(src)
		if (n == nil) == (len(errs) == 0) {
			t.Fatalf("node %v, errors %v", n, errs)
		}
		for _, e := range errs {
			if e.Code == "" || e.Message == "" || e.Line < 0 || e.Column < 0 || !utf8.ValidString(e.Error()) {
				t.Fatalf("bad error %#v", e)
			}
		}
		if n == nil {
			return
		}
		var walk func(n *Node)
		walk = func(n *Node) {
			if n.Line < 1 || n.Column < 1 || len(n.Keys) != len(n.Values) {
				t.Fatalf("bad node %#v", n)
			}
			n.AsString()
			n.AsBool()
			n.AsInt()
			if v, err := n.AsValue(); err != nil && !v.IsNull() {
				t.Fatal("an error with a value")
			}
			for p := range Int + 1 {
				n.Legacy(p)
			}
			for i, k := range n.Keys {
				if found, ok := n.Get(k.Text); !ok || found != n.Values[i] {
					t.Fatalf("Get(%q) finds another value", k.Text)
				}
				walk(n.Values[i])
			}
			for _, item := range n.Items {
				walk(item)
			}
		}
		if n.size < 10_000 {
			walk(n)
			formatted(t, string(src))
		}
	})
}
