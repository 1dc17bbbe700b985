// Package yamltree is the YAML front: it reads one bounded document into a tree
// in which aliases and merge keys are resolved, duplicate keys are refused, and
// what a scalar means is left to the position it stands in (LANGUAGE.md §3).
package yamltree

import "github.com/pinfold-dev/pinfold/value"

// Kind of a Node.
type Kind uint8

const (
	Scalar Kind = iota
	Mapping
	Sequence
)

// Node is one node with its place, both from 1.
type Node struct {
	Kind         Kind
	Line, Column int
	Text         string  // scalar source text
	Plain        bool    // an unquoted, untagged scalar
	Empty        bool    // nothing was written: reads as null in a free position
	Tag          string  // explicit core tag, "" when none: !!str, !!int, …
	Keys         []*Node // of a mapping, in order, merged content included
	Values       []*Node
	Items        []*Node // of a sequence
	FromAlias    bool
	Comment      string // line comment that follows a plain scalar
}

// Error is a problem with its place; Code is the MK1xx code of LANGUAGE.md §4.
type Error struct {
	Code         string
	Line, Column int
	Message      string
}

func (e *Error) Error() string { panic("TODO") }

// Read parses one document. All duplicate keys are reported; other problems stop at the first.
func Read(src []byte) (*Node, []*Error) { panic("TODO") }

func (n *Node) Get(key string) (*Node, bool) { panic("TODO") }

// The readings by position.
func (n *Node) AsString() (string, *Error)     { panic("TODO") }
func (n *Node) AsBool() (bool, *Error)         { panic("TODO") }
func (n *Node) AsInt() (int, *Error)           { panic("TODO") }
func (n *Node) AsValue() (value.Value, *Error) { panic("TODO") } // free position
