package yamltree

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	yaml "go.yaml.in/yaml/v4"
	"pgregory.net/rapid"
)

// outline writes a raw tree in a form that both readers can give.
func outline(b *strings.Builder, n *Node) {
	switch {
	case n.raw.alias != "":
		fmt.Fprintf(b, "*%s ", n.raw.alias)
	case n.Kind == Sequence:
		b.WriteString("[ ")
		for _, item := range n.Items {
			outline(b, item)
		}
		b.WriteString("] ")
	case n.Kind == Mapping:
		b.WriteString("{ ")
		for i, k := range n.Keys {
			outline(b, k)
			outline(b, n.Values[i])
		}
		b.WriteString("} ")
	default:
		fmt.Fprintf(b, "%q@%d ", n.Text, n.Line)
	}
}

func libraryOutline(b *strings.Builder, n *yaml.Node) {
	open, end := "", ""
	switch n.Kind {
	case yaml.AliasNode:
		fmt.Fprintf(b, "*%s ", n.Value)
	case yaml.ScalarNode:
		fmt.Fprintf(b, "%q@%d ", n.Value, n.Line)
	case yaml.SequenceNode:
		open, end = "[ ", "] "
	case yaml.MappingNode:
		open, end = "{ ", "} "
	}
	b.WriteString(open)
	for _, c := range n.Content {
		libraryOutline(b, c)
	}
	b.WriteString(end)
}

// rawRead reads without resolving, the way Format does.
func rawRead(src string) (*reader, *Node, *Error) {
	r, err := newReader([]byte(src))
	if err != nil {
		return r, nil, err
	}
	r.raw = true
	n, err := r.document()
	return r, n, err
}

// stricter are the refusals that are ours on purpose (LANGUAGE.md §3), by a
// part of their message.
var stricter = []string{
	"a key is a text", "a key stands on one line", "expected a key", "a tab cannot indent", "is not one of YAML's core tags",
	"a second document", "<< wants", "the tag", "expected a value", "expected white space", "control character",
	"stands inside its own anchor", "expected the end of the line",
}

// looser are the library's refusals that we do not share, by a part of their
// message: it wants the lines of a flow collection indented, knows fewer names
// of anchors, and refuses tabs and versions that change nothing.
var looser = []string{
	"mapping values are not allowed in this context", "did not find expected alphabetic or numeric character",
	"found incompatible YAML document", "found character that cannot start any token", "found a tab character", "no documents in stream",
}

// TestLibrary holds our reader against go.yaml.in/yaml/v4: what both read, they
// read the same; what one refuses and the other does not is on a list.
func TestLibrary(t *testing.T) {
	numbers := regexp.MustCompile(`@\d+`)
	both := 0
	rapid.Check(t, func(t *rapid.T) {
		src := documentGen().Draw(t, "document") + "\n"
		var a, b strings.Builder
		r, err := newReader([]byte(src))
		if err == nil {
			_, err = r.document() // resolves aliases, as the library does
		}
		if err == nil {
			var n *Node
			if _, n, err = rawRead(src); err == nil {
				outline(&a, n)
			}
		}
		var doc yaml.Node
		theirs := yaml.Load([]byte(src), &doc)
		if strings.HasPrefix(a.String(), "[") || strings.HasPrefix(a.String(), `"`) {
			return // only mappings are documents
		}
		switch {
		case err != nil && theirs != nil:
		case err != nil:
			if !contains(stricter, err.Message) {
				t.Fatalf("we refuse %q with %v, the library does not", src, err)
			}
		case theirs != nil:
			if !contains(looser, theirs.Error()) {
				t.Fatalf("we read %q as %s, the library says %v", src, a.String(), theirs)
			}
		default:
			libraryOutline(&b, &doc)
			ours, library := a.String(), b.String()
			if strings.ContainsAny(src, "&!") || strings.Contains(src, "\"\"@") || strings.Contains(ours, "\"\"@") {
				// It says where an anchor stands, we say where its node does; nothing has no place.
				ours, library = numbers.ReplaceAllString(ours, ""), numbers.ReplaceAllString(library, "")
			}
			if ours != library {
				t.Fatalf("%q\n   ours %s\nlibrary %s", src, ours, library)
			}
			both++
		}
	})
	if both == 0 {
		t.Fatal("no document was read by both")
	}
}

func contains(parts []string, s string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
