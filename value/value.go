// Package value holds the values of the .mkl language: null, booleans, exact
// integers of any size, finite floats, strings, lists and maps that keep their
// insertion order (LANGUAGE.md §1).
//
// A Value is immutable. Sharing one is a deep copy in effect: nothing that
// receives a Value can change what another holder sees, and any number of
// goroutines may read one and derive from it at once. Values carry no label;
// package trust adds who chose them. This package never guesses: what it cannot
// hold exactly (NaN, a duplicate key, half a surrogate pair) is an error where
// it would enter.
//
//	v, err := value.ParseJSON([]byte(`{"n": 1, "items": ["a"]}`))
//	items, _ := v.Get("items")
//	v = v.With("items", items.Append(value.FromString("b")))
//	v.JSON() // {"n": 1, "items": ["a", "b"]}
package value

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

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

// String is the kind's name as messages use it.
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "boolean"
	case Int:
		return "integer"
	case Float:
		return "float"
	case String:
		return "string"
	case List:
		return "list"
	case Map:
		return "map"
	}
	return "unknown kind"
}

// Value is one immutable value. The zero Value is null. Values are compared
// with Equal; == does not compile, because it would compare places in memory.
type Value struct {
	_    [0]func()
	str  string
	ref  *node  // nil for null; of scalars one node a kind, shared by all
	bits uint64 // bool, int64, float64, or the length of a list
}

// node is what a Value refers to. Apart from the unclaimed slots of a list
// nothing in it changes after it was made.
type node struct {
	kind  Kind
	big   *big.Int // an Int that does not fit an int64
	items []Value  // a List's slots: those below used are taken

	// used is the number of slots that some list has taken. A list of n items
	// may extend itself in place only by moving used from n to n+1, so that each
	// slot is written once, by one owner, before anybody can see it.
	used atomic.Int64

	entries []Entry  // a Map's, in insertion order
	sorted  []uint32 // positions of entries by key; only when there are more than indexed
}

// indexed is the largest number of entries that a map is searched through
// one by one.
const indexed = 16

// The nodes of the scalar kinds and of what is empty. They are never written.
var (
	boolNode   = &node{kind: Bool}
	intNode    = &node{kind: Int}
	floatNode  = &node{kind: Float}
	stringNode = &node{kind: String}
	emptyList  = &node{kind: List}
	emptyMap   = &node{kind: Map}
)

// Entry is one key of a map with its value.
type Entry struct {
	Key   string
	Value Value
}

// Kind says what v is.
func (v Value) Kind() Kind {
	if v.ref == nil {
		return Null
	}
	return v.ref.kind
}

// FromBool is a boolean.
func FromBool(b bool) Value {
	v := Value{ref: boolNode}
	if b {
		v.bits = 1
	}
	return v
}

// FromInt is an integer.
func FromInt(i int64) Value { return Value{ref: intNode, bits: uint64(i)} }

// FromBig is an integer of any size. It copies i; nil is null.
func FromBig(i *big.Int) Value {
	if i == nil {
		return Value{}
	}
	if i.IsInt64() {
		return FromInt(i.Int64())
	}
	return ownBig(new(big.Int).Set(i))
}

// ownBig is FromBig of an integer that the caller gives away.
func ownBig(i *big.Int) Value {
	if i.IsInt64() {
		return FromInt(i.Int64())
	}
	return Value{ref: &node{kind: Int, big: i}}
}

// FromFloat is a float. NaN and the infinities are no values: ErrNotFinite.
func FromFloat(f float64) (Value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Value{}, ErrNotFinite
	}
	return Value{ref: floatNode, bits: math.Float64bits(f)}, nil
}

// FromString is a string. Each byte of s that is not part of valid UTF-8
// becomes U+FFFD.
func FromString(s string) Value {
	s, _ = ValidUTF8(s)
	return Value{ref: stringNode, str: s}
}

// ValidUTF8 returns s with each byte that is not part of valid UTF-8 replaced by
// U+FFFD, and whether that changed anything.
func ValidUTF8(s string) (valid string, altered bool) {
	if utf8.ValidString(s) {
		return s, false
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	for _, r := range s { // an invalid byte is read as U+FFFD, width 1
		b.WriteRune(r)
	}
	return b.String(), true
}

// FromList is a list of the items. It copies the slice.
func FromList(items ...Value) Value {
	if len(items) == 0 {
		return Value{ref: emptyList}
	}
	return ownList(slices.Clone(items))
}

// ownList is FromList of a slice that the caller gives away.
func ownList(items []Value) Value {
	if len(items) == 0 {
		return Value{ref: emptyList}
	}
	n := &node{kind: List, items: items}
	n.used.Store(int64(len(items)))
	return Value{ref: n, bits: uint64(len(items))}
}

// list is the items of v, which must be a List.
func (v Value) list() []Value { return v.ref.items[:v.bits:v.bits] }

// IsNull reports whether v is null.
func (v Value) IsNull() bool { return v.ref == nil }

// AsBool is the boolean; false, false where v is of another kind.
func (v Value) AsBool() (b, ok bool) {
	return v.ref == boolNode && v.bits == 1, v.ref == boolNode
}

// AsInt is the integer, where v is an Int that fits. A float never does, not
// even 1.0.
func (v Value) AsInt() (int64, bool) {
	if v.ref != intNode {
		return 0, false
	}
	return int64(v.bits), true
}

// AsBig is the integer as a copy of its own, where v is an Int.
func (v Value) AsBig() (*big.Int, bool) {
	if v.Kind() != Int {
		return nil, false
	}
	if v.ref.big != nil {
		return new(big.Int).Set(v.ref.big), true
	}
	return big.NewInt(int64(v.bits)), true
}

// AsFloat is the Float, or an Int as its nearest float. An Int beyond the range
// of a binary64 has none: false.
func (v Value) AsFloat() (float64, bool) {
	switch v.Kind() {
	case Float:
		return v.float(), true
	case Int:
		if v.ref.big == nil {
			return float64(int64(v.bits)), true
		}
		f, _ := v.ref.big.Float64()
		if math.IsInf(f, 0) {
			return 0, false
		}
		return f, true
	}
	return 0, false
}

// float is the number of v, which must be a Float.
func (v Value) float() float64 { return math.Float64frombits(v.bits) }

// AsString is the string, where v is one.
func (v Value) AsString() (string, bool) { return v.str, v.ref == stringNode }

// Len is the number of items or entries; 0 for other kinds.
func (v Value) Len() int {
	switch v.Kind() {
	case List:
		return int(v.bits)
	case Map:
		return len(v.ref.entries)
	}
	return 0
}

// At is item i of a list, or the value of entry i of a map. It panics, as
// indexing does, unless 0 ≤ i < v.Len().
func (v Value) At(i int) Value {
	switch v.Kind() {
	case List:
		return v.list()[i]
	case Map:
		return v.ref.entries[i].Value
	}
	panic("value: At of a " + v.Kind().String())
}

// Key is the key of entry i of a map. It panics unless v is a map and
// 0 ≤ i < v.Len().
func (v Value) Key(i int) string {
	if v.Kind() != Map {
		panic("value: Key of a " + v.Kind().String())
	}
	return v.ref.entries[i].Key
}

// Get is the value at key, where v is a map that has it.
func (v Value) Get(key string) (Value, bool) {
	if v.Kind() != Map {
		return Value{}, false
	}
	if i := v.ref.find(key); i >= 0 {
		return v.ref.entries[i].Value, true
	}
	return Value{}, false
}

// find is the position of key among the entries, or -1.
func (n *node) find(key string) int {
	if n.sorted == nil {
		for i := range n.entries {
			if n.entries[i].Key == key {
				return i
			}
		}
		return -1
	}
	if at, ok := n.search(key); ok {
		return int(n.sorted[at])
	}
	return -1
}

// search is the place in n.sorted where key is, or where it would be.
func (n *node) search(key string) (int, bool) {
	return slices.BinarySearchFunc(n.sorted, key, func(i uint32, key string) int {
		return strings.Compare(n.entries[i].Key, key)
	})
}

// Lookup walks maps only (LANGUAGE.md §6). A missing key, a step through
// anything but a map, or an empty segment is missing. The empty path is v.
func (v Value) Lookup(path []string) (Value, bool) {
	for _, segment := range path {
		if segment == "" {
			return Value{}, false
		}
		next, ok := v.Get(segment)
		if !ok {
			return Value{}, false
		}
		v = next
	}
	return v, true
}

// Equal is the language's equality: exact, type-aware, recursive; 1 = 1.0,
// true ≠ 1, map order does not matter (LANGUAGE.md §1).
func Equal(a, b Value) bool {
	ka, kb := a.Kind(), b.Kind()
	if ka != kb {
		switch {
		case ka == Int && kb == Float:
			return sameNumber(a, b.float())
		case ka == Float && kb == Int:
			return sameNumber(b, a.float())
		}
		return false
	}
	switch ka {
	case Bool:
		return a.bits == b.bits
	case Int:
		if a.ref.big != nil && b.ref.big != nil {
			return a.ref.big.Cmp(b.ref.big) == 0
		}
		return a.ref == b.ref && a.bits == b.bits
	case Float:
		return a.float() == b.float() // 0.0 = -0.0: one number
	case String:
		return a.str == b.str
	case List:
		if a.bits != b.bits {
			return false
		}
		if a.ref == b.ref {
			return true
		}
		x, y := a.list(), b.list()
		for i := range x {
			if !Equal(x[i], y[i]) {
				return false
			}
		}
	case Map:
		if a.ref == b.ref {
			return true
		}
		x, y := a.ref.entries, b.ref.entries
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			j := i // equal maps mostly have equal order
			if y[j].Key != x[i].Key {
				if j = b.ref.find(x[i].Key); j < 0 {
					return false
				}
			}
			if !Equal(x[i].Value, y[j].Value) {
				return false
			}
		}
	}
	return true
}

// sameNumber reports whether the Int i is exactly f.
func sameNumber(i Value, f float64) bool {
	if i.ref.big != nil {
		g, acc := i.ref.big.Float64()
		return acc == big.Exact && g == f
	}
	// -2⁶³ is a float, 2⁶³ is the first one that no int64 reaches.
	return f >= math.MinInt64 && f < -math.MinInt64 && f == math.Trunc(f) && int64(f) == int64(i.bits)
}

// Truthy is used by built-in hooks alone: null, false, 0, "", [] and {} are
// false (LANGUAGE.md §1).
func (v Value) Truthy() bool {
	switch v.Kind() {
	case Bool, List:
		return v.bits != 0
	case Int:
		return v.bits != 0 || v.ref.big != nil
	case Float:
		return v.float() != 0
	case String:
		return v.str != ""
	case Map:
		return len(v.ref.entries) != 0
	}
	return false
}
