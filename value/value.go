// Package value holds the values of the .mkl language: null, booleans, exact
// integers of any size, finite floats, strings, lists and maps that keep their
// insertion order (LANGUAGE.md §1).
//
// A Value is immutable. Sharing one is a deep copy in effect: nothing that
// receives a Value can change what another holder sees. Values carry no label;
// package trust adds who chose them.
package value

import "math/big"

// Kind says what a Value is.
type Kind uint8

const (
	Null Kind = iota // the zero Value
	Bool
	Int
	Float
	String
	List
	Map
)

// Value is one immutable value. The zero Value is null.
type Value struct {
	str  string
	ref  *node
	bits uint64
	kind Kind
}

type node struct {
	big  *big.Int
	list []Value
	keys []string
}

// Entry is one key of a map with its value.
type Entry struct {
	Key   string
	Value Value
}

func (v Value) Kind() Kind { panic("TODO") }

// Constructors. FromString replaces bytes that are not UTF-8 by U+FFFD.
func FromBool(b bool) Value              { panic("TODO") }
func FromInt(i int64) Value              { panic("TODO") }
func FromBig(i *big.Int) Value           { panic("TODO") }
func FromFloat(f float64) (Value, error) { panic("TODO") } // NaN and infinities are errors
func FromString(s string) Value          { panic("TODO") }
func FromList(items ...Value) Value      { panic("TODO") }
func FromEntries(entries ...Entry) Value { panic("TODO") } // a later duplicate replaces the value, keeps the place
func FromAny(x any) (Value, error)       { panic("TODO") } // Go values of encoding/json shape, map keys sorted

// Accessors. Each says false where v is of another kind.
func (v Value) IsNull() bool                 { panic("TODO") }
func (v Value) AsBool() (bool, bool)         { panic("TODO") }
func (v Value) AsInt() (int64, bool)         { panic("TODO") } // an Int that fits
func (v Value) AsBig() (*big.Int, bool)      { panic("TODO") }
func (v Value) AsFloat() (float64, bool)     { panic("TODO") } // a Float, or an Int as its nearest float
func (v Value) AsString() (string, bool)     { panic("TODO") }
func (v Value) Any() any                     { panic("TODO") }
func (v Value) Len() int                     { panic("TODO") } // items or entries; 0 for other kinds
func (v Value) At(i int) Value               { panic("TODO") } // item of a list, or value of entry i of a map
func (v Value) Key(i int) string             { panic("TODO") } // key of entry i of a map
func (v Value) Get(key string) (Value, bool) { panic("TODO") }

// Lookup walks maps only (LANGUAGE.md §6). A missing key, a step through
// anything but a map, or an empty segment is missing.
func (v Value) Lookup(path []string) (Value, bool) { panic("TODO") }

// Derivations, each a new Value.
func (v Value) Append(item Value) Value              { panic("TODO") } // amortised O(1), never visible through v
func (v Value) With(key string, x Value) Value       { panic("TODO") }
func (v Value) SetPath(path []string, x Value) Value { panic("TODO") } // creates maps; replaces what is no map

// Equal is the language's equality: exact, type-aware, recursive; 1 = 1.0,
// true ≠ 1, map order does not matter.
func Equal(a, b Value) bool { panic("TODO") }

// Truthy is used by built-in hooks alone.
func (v Value) Truthy() bool { panic("TODO") }

// JSON text (LANGUAGE.md §1): ", " and ": ", non-ASCII as itself, no HTML escaping.
func (v Value) JSON() string                                      { panic("TODO") }
func (v Value) AppendJSON(dst []byte) []byte                      { panic("TODO") }
func (v Value) AppendIndentJSON(dst []byte, prefix string) []byte { panic("TODO") } // indent 2, for files and envelopes
func (v Value) AppendCanonical(dst []byte) []byte                 { panic("TODO") } // sorted keys, no white space; digests only

// ParseJSON reads exactly one JSON value by §1: duplicate keys, NaN, a BOM,
// trailing bytes, lone surrogates and nesting over 100 are errors.
func ParseJSON(b []byte) (Value, error) { panic("TODO") }

// Text is the text of a value (LANGUAGE.md §6) cut to limit characters with the
// marker …[truncated]; limit ≤ 0 means no limit. It builds no more than it returns.
func (v Value) Text(limit int) (text string, truncated bool) { panic("TODO") }

// ClipJSON is the JSON text of the map that at enumerates, cut to limit
// characters from the middle with the marker …[context_truncated]… (§10.1). It
// writes what it returns and reads no further than it must.
func ClipJSON(n int, at func(i int) (string, Value), limit int) string { panic("TODO") }

// CutText cuts s to limit characters with the marker …[truncated] (§6).
func CutText(s string, limit int) (text string, truncated bool) { panic("TODO") }
