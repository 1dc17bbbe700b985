package engine

import (
	"slices"

	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// board is a blackboard. A frozen board is shared and never written again: who
// wants to write one clones it first (level.write).
type board struct {
	syms     *symbols
	cells    []cell   // by symbol; cells past the symbols belong to extra
	extra    []string // keys that the machine's text does not name
	order    []int32  // insertion order
	external int      // keys whose label is External
	frozen   bool
}

type cell struct {
	val trust.Value
	ver uint32 // writes so far; 0: the key does not exist
}

// smallBoard is a board with its arrays, for the many machines with few keys.
type smallBoard struct {
	board
	cells [8]cell
	order [8]int32
}

// tinyBoard likewise.
type tinyBoard struct {
	board
	cells [4]cell
	order [4]int32
}

func newBoard(syms *symbols) *board {
	switch n := len(syms.names); {
	case n <= 4:
		s := new(tinyBoard)
		s.board = board{syms: syms, cells: s.cells[:n], order: s.order[:0]}
		return &s.board
	case n <= 8:
		s := new(smallBoard)
		s.board = board{syms: syms, cells: s.cells[:n], order: s.order[:0]}
		return &s.board
	default:
		return &board{syms: syms, cells: make([]cell, n), order: make([]int32, 0, n)}
	}
}

// renew is an empty board for another run, in b's arrays where nobody else holds them.
func (b *board) renew(syms *symbols) *board {
	if b.frozen || cap(b.cells) < len(syms.names) {
		return newBoard(syms)
	}
	clear(b.cells[:cap(b.cells)])
	*b = board{syms: syms, cells: b.cells[:len(syms.names)], order: b.order[:0]}
	return b
}

func (b *board) clone() *board {
	c := newBoard(b.syms)
	c.cells = append(c.cells[:0], b.cells...)
	c.order = append(c.order, b.order...)
	c.extra = slices.Clip(b.extra)
	c.external = b.external
	return c
}

// find is the cell index of a key, or -1.
func (b *board) find(key string) int {
	if i, ok := b.syms.index[key]; ok {
		return i
	}
	for i, k := range b.extra {
		if k == key {
			return len(b.syms.names) + i
		}
	}
	return -1
}

func (b *board) intern(key string) int {
	if i := b.find(key); i >= 0 {
		return i
	}
	b.extra = append(b.extra, key)
	b.cells = append(b.cells, cell{})
	return len(b.cells) - 1
}

func (b *board) name(i int) string {
	if i < len(b.syms.names) {
		return b.syms.names[i]
	}
	return b.extra[i-len(b.syms.names)]
}

func (b *board) has(i int) bool { return i >= 0 && b.cells[i].ver > 0 }

// set writes a key. The label of the key is the label of the value.
func (b *board) set(i int, v trust.Value) {
	c := &b.cells[i]
	if c.ver == 0 {
		b.order = append(b.order, int32(i))
	} else if c.val.Label().External() {
		b.external--
	}
	if v.Label().External() {
		b.external++
	}
	c.val = v
	c.ver++
}

// restore puts a cell back as it was before one set.
func (b *board) restore(i int, old cell) {
	if b.cells[i].val.Label().External() {
		b.external--
	}
	b.cells[i] = old
	if old.ver == 0 {
		b.order = b.order[:len(b.order)-1]
	} else if old.val.Label().External() {
		b.external++
	}
}

// labels appends the labels of all keys: what a judge over the whole board reads.
func (b *board) labels(to []trust.Label) []trust.Label {
	for _, i := range b.order {
		to = append(to, b.cells[i].val.Label())
	}
	return to
}

func (b *board) at(i int) (string, value.Value) {
	j := int(b.order[i])
	return b.name(j), b.cells[j].val.Value()
}

// Keys lists the keys in insertion order. The zero View is an empty board.
func (v View) Keys() []string {
	if v.b == nil {
		return nil
	}
	out := make([]string, len(v.b.order))
	for i, j := range v.b.order {
		out[i] = v.b.name(int(j))
	}
	return out
}

// Get is the value of a top-level key.
func (v View) Get(key string) (trust.Value, bool) {
	if v.b == nil {
		return trust.Value{}, false
	}
	i := v.b.find(key)
	if !v.b.has(i) {
		return trust.Value{}, false
	}
	return v.b.cells[i].val, true
}

// Version says how often a key was written; 0 when it does not exist.
func (v View) Version(key string) uint32 {
	if v.b == nil {
		return 0
	}
	if i := v.b.find(key); i >= 0 {
		return v.b.cells[i].ver
	}
	return 0
}

// Map is the whole blackboard as one value, keys in insertion order.
func (v View) Map() value.Value {
	if v.b == nil {
		return value.FromEntries()
	}
	entries := make([]value.Entry, len(v.b.order))
	for i := range v.b.order {
		k, x := v.b.at(i)
		entries[i] = value.Entry{Key: k, Value: x}
	}
	return value.FromEntries(entries...)
}

// put writes a key of a new board in place of the literal: it counts as the first write.
func (b *board) put(i int, v trust.Value) {
	had := b.cells[i].ver
	b.set(i, v)
	if had > 0 {
		b.cells[i].ver = had
	}
}

// clipped is the JSON text of the whole board as the judge sees it.
func (b *board) clipped(scratch []byte) []byte {
	if scratch == nil {
		scratch = make([]byte, 0, 512)
	}
	return value.AppendClipJSON(scratch[:0], len(b.order), b.at, judgeContextChars)
}

// judgeContextChars is the limit of CONTEXT (LANGUAGE.md §10.1), in characters.
const judgeContextChars = 4_000

// freeze ends writing to b. A board that forks share is frozen already and must
// not be touched.
func (b *board) freeze() {
	if !b.frozen {
		b.frozen = true
	}
}
