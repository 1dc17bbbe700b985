package value

import (
	"slices"
	"strings"
)

// Append is the list with one more item. Anything but a list is wrapped first:
// [v, item], as accumulating does (LANGUAGE.md §7.4). It takes amortised
// constant time and is never visible through v: two appends to the same list,
// from any number of goroutines, do not see each other.
func (v Value) Append(item Value) Value {
	if v.Kind() != List {
		return ownList([]Value{v, item})
	}
	n := int(v.bits)
	if n < len(v.ref.items) && v.ref.used.CompareAndSwap(int64(n), int64(n)+1) {
		v.ref.items[n] = item
		v.bits++
		return v
	}
	grown := &node{kind: List, items: make([]Value, max(4, 2*n))}
	copy(grown.items, v.list())
	grown.items[n] = item
	grown.used.Store(int64(n) + 1)
	return Value{ref: grown, bits: uint64(n) + 1}
}

// With is the map with key set to x: in its place where the map has the key,
// at the end where it has not. Anything but a map gives a map of that one key.
// It copies the entries; MapBuilder is for many keys.
func (v Value) With(key string, x Value) Value {
	key, _ = ValidUTF8(key)
	if v.Kind() != Map || len(v.ref.entries) == 0 {
		return Value{ref: &node{kind: Map, entries: []Entry{{key, x}}}}
	}
	old := v.ref
	if i := old.find(key); i >= 0 {
		entries := slices.Clone(old.entries)
		entries[i].Value = x
		return Value{ref: &node{kind: Map, entries: entries, sorted: old.sorted}}
	}
	n := len(old.entries)
	entries := make([]Entry, n+1)
	copy(entries, old.entries)
	entries[n] = Entry{key, x}
	grown := &node{kind: Map, entries: entries}
	switch {
	case old.sorted != nil:
		at, _ := old.search(key)
		grown.sorted = make([]uint32, n+1)
		copy(grown.sorted, old.sorted[:at])
		grown.sorted[at] = uint32(n)
		copy(grown.sorted[at+1:], old.sorted[at:])
	case n+1 > indexed:
		grown.sorted = order(entries)
	}
	return Value{ref: grown}
}

// SetPath is v with x at path: it creates maps, and replaces what is no map on
// the way. The empty path is x itself.
func (v Value) SetPath(path []string, x Value) Value {
	if len(path) == 0 {
		return x
	}
	inner, _ := v.Get(path[0])
	return v.With(path[0], inner.SetPath(path[1:], x))
}

// FromEntries is a map. A later duplicate replaces the value and keeps the
// place of the first. It copies the slice.
func FromEntries(entries ...Entry) Value {
	var b MapBuilder
	b.Grow(len(entries))
	for i := range entries {
		b.Set(entries[i].Key, entries[i].Value)
	}
	return b.Value()
}

// MapBuilder makes a map key by key. The zero MapBuilder is ready to use.
//
//	var b value.MapBuilder
//	b.Grow(2)
//	b.Set("step", value.FromInt(1))
//	b.Set("state", value.FromString("draft"))
//	v := b.Value()
type MapBuilder struct{ entries []Entry }

// Grow makes room for n more keys.
func (b *MapBuilder) Grow(n int) { b.entries = slices.Grow(b.entries, n) }

// Set adds a key. One that was set before keeps its place and gets the new value.
func (b *MapBuilder) Set(key string, v Value) {
	key, _ = ValidUTF8(key)
	b.entries = append(b.entries, Entry{key, v})
}

// Value is the map of what was set. The builder is empty afterwards.
func (b *MapBuilder) Value() Value {
	entries := b.entries
	b.entries = nil
	return ownMap(entries)
}

// ownMap is FromEntries of a slice that the caller gives away.
func ownMap(entries []Entry) Value {
	if len(entries) == 0 {
		return Value{ref: emptyMap}
	}
	n := &node{kind: Map, entries: entries}
	if len(entries) <= indexed {
		n.entries = mergeFew(entries)
		return Value{ref: n}
	}
	n.sorted = order(entries)
	if merged, did := mergeMany(entries, n.sorted); did {
		return ownMap(merged)
	}
	return Value{ref: n}
}

// mergeFew merges duplicates in place. Most keys are told apart by one bit that
// their length and ends choose, without being compared at all.
func mergeFew(entries []Entry) []Entry {
	var seen uint64
	kept := entries[:0]
next:
	for i := range entries {
		bit := keyBit(entries[i].Key)
		if seen&bit != 0 {
			for j := range kept {
				if kept[j].Key == entries[i].Key {
					kept[j].Value = entries[i].Value
					continue next
				}
			}
		}
		seen |= bit
		kept = append(kept, entries[i])
	}
	return kept
}

// keyBit is one of 64 bits; keys with different bits are different.
func keyBit(key string) uint64 {
	if key == "" {
		return 1
	}
	return 1 << ((uint(len(key))*5 + uint(key[0])*3 + uint(key[len(key)-1])) & 63)
}

// mergeMany merges duplicates, given the entries' order, into a new slice.
func mergeMany(entries []Entry, sorted []uint32) (merged []Entry, did bool) {
	drop := map[uint32]bool{}
	last := map[uint32]uint32{} // a key's first position → its last
	for i := 0; i < len(sorted); {
		j := i + 1
		for j < len(sorted) && entries[sorted[j]].Key == entries[sorted[i]].Key {
			drop[sorted[j]] = true
			j++
		}
		if j > i+1 {
			last[sorted[i]] = sorted[j-1]
		}
		i = j
	}
	if len(drop) == 0 {
		return nil, false
	}
	merged = make([]Entry, 0, len(entries)-len(drop))
	for i := range entries {
		if drop[uint32(i)] {
			continue
		}
		e := entries[i]
		if j, ok := last[uint32(i)]; ok {
			e.Value = entries[j].Value
		}
		merged = append(merged, e)
	}
	return merged, true
}

// order is the positions of entries by key (code points, which is byte order in
// UTF-8), equal keys in their own order.
func order(entries []Entry) []uint32 {
	sorted := make([]uint32, len(entries))
	for i := range sorted {
		sorted[i] = uint32(i)
	}
	slices.SortFunc(sorted, func(i, j uint32) int {
		if c := strings.Compare(entries[i].Key, entries[j].Key); c != 0 {
			return c
		}
		return int(i) - int(j)
	})
	return sorted
}
