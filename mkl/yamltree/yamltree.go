// Package yamltree is the YAML front of every file a person writes for
// pinfold: it reads one bounded document into a tree in which aliases and merge
// keys are resolved and duplicate keys are refused, and leaves what a scalar
// means to the position it stands in (LANGUAGE.md §3).
//
// It never guesses a type: a [Node] is text with a place until one of
// [Node.AsString], [Node.AsBool], [Node.AsInt] or [Node.AsValue] is asked. It
// never builds more than its bounds allow: size, nesting and the number of nodes
// after alias expansion are checked while reading, and an alias shares the tree
// it names, so that a bomb of aliases costs what its text costs.
//
//	root, errs := yamltree.Read(src)
//	if len(errs) > 0 {
//		return errs[0] // "MK106 7:3 duplicate key …"
//	}
//	n, ok := root.Get("budget")
//	budget, err := n.AsInt()
//
// The reader is our own and not a library's for four reasons: the dialect needs
// the source text of plain scalars and the comment that cut one, bounds must
// hold while reading and not after it, time must be linear in the text whatever
// the text is, and a file of two hundred states should take two milliseconds.
// A differential test holds it against go.yaml.in/yaml/v4.
package yamltree

import "strconv"

// The bounds of a document (LANGUAGE.md §3).
const (
	MaxSize  = 4 << 20 // bytes of source
	MaxDepth = 100     // nesting of collections, aliases expanded
	MaxNodes = 250_000 // nodes, aliases expanded
)

// Kind of a Node.
type Kind uint8

const (
	Scalar Kind = iota
	Mapping
	Sequence
)

// Node is one node with its place, both from 1; columns count characters.
//
// Nodes are shared where the document has aliases, so a Node must not be
// changed by who reads it.
type Node struct {
	Kind         Kind
	Plain        bool // an unquoted, untagged scalar
	Empty        bool // nothing was written: reads as null in a free position
	FromAlias    bool // stands where an alias stood; the place is that of the alias, the places inside are those of the anchor's node
	Line, Column int
	Text         string  // scalar: its text, for a plain one as written (lines folded)
	Tag          string  // explicit core tag, "" when none: !!str, !!int, …
	Keys         []*Node // of a mapping, in order; merged keys stand where << stood
	Values       []*Node
	Items        []*Node // of a sequence

	// Comment is the comment, # included, that ended a plain scalar on its last
	// line. What an author took for text may be in it (MK401).
	Comment string

	index map[string]int // key → place in Keys, for large mappings only

	// The bookkeeping of aliases.
	height uint8 // nesting below and including this node; 0 for a scalar
	size   int32 // nodes in it, aliases expanded

	style style
	off   int32    // offset of the first byte, properties included
	raw   *written // in the trees that Format reads, nil in all others
}

// written is how a node stands in the source.
type written struct {
	mark   int32 // offset of the entry: of its "-", its "?", or its first byte
	at     int32 // offset of the content, behind the properties
	end    int32 // offset behind the last byte
	indent int32 // of the lines of a block text
	chomp  byte  // of a block text: 0, + or -
	anchor string
	alias  string // the anchor named; "" for no alias
}

// endsAt notes where a node ends.
func (n *Node) endsAt(off int) {
	if n.raw != nil {
		n.raw.end = int32(off)
	}
}

type style uint8

const (
	plain style = iota
	single
	double
	literal
	folded
	flow // of a collection
	block
)

// Error is a problem with its place; Code is the MK1xx code of LANGUAGE.md §4,
// or MK203 for a scalar that its position cannot hold. Line and Column are 0
// where the document has no such place (it is too large, or not text).
type Error struct {
	Code         string
	Line, Column int
	Message      string
}

// Error gives "MK103 3:8 message".
func (e *Error) Error() string {
	return e.Code + " " + strconv.Itoa(e.Line) + ":" + strconv.Itoa(e.Column) + " " + e.Message
}

// Get gives the value of a key of a mapping. On other kinds there is none.
func (n *Node) Get(key string) (*Node, bool) {
	if i := n.find(key); i >= 0 {
		return n.Values[i], true
	}
	return nil, false
}

func (n *Node) find(key string) int {
	if n.index != nil {
		if i, ok := n.index[key]; ok {
			return i
		}
		return -1
	}
	for i, k := range n.Keys {
		if k.Text == key {
			return i
		}
	}
	return -1
}
