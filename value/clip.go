package value

import (
	"slices"
	"unicode/utf8"
)

// ClipJSON is the JSON text of the map that at enumerates, in order, cut to
// limit characters from its middle when it is longer (LANGUAGE.md §10.1): the
// first ⌊(limit−21)/2⌋ characters, …[context_truncated]…, and as many of the
// last as fill up; a limit ≤ 21 keeps that many characters of the marker. The
// tail is written backwards from the end, so the cost follows limit and not the
// size of the map. It calls at more than once for an i, and for few. Keys must be
// valid UTF-8 and distinct.
func ClipJSON(n int, at func(i int) (string, Value), limit int) string {
	return string(AppendClipJSON(nil, n, at, limit))
}

// AppendClipJSON appends what ClipJSON returns.
func AppendClipJSON(dst []byte, n int, at func(i int) (string, Value), limit int) []byte {
	start := len(dst)
	limit = max(limit, 0)
	head := max(limit-contextTruncatedLen, 0) / 2
	tail := max(limit-contextTruncatedLen, 0) - head

	w := writer{dst: dst, left: limit}
	long := longer(n, at, limit)
	if long {
		w.left = head
		w.dst = slices.Grow(dst, min(limit, head+len(contextTruncated)+tail))
	}
	w.ascii("{")
	for i := 0; i < n && !w.over; i++ {
		if i > 0 {
			w.ascii(", ")
		}
		key, v := at(i)
		w.entry(key, v)
	}
	w.ascii("}")
	if !w.over {
		return w.dst
	}
	if limit <= contextTruncatedLen {
		end, _ := prefix(contextTruncated, limit)
		return append(w.dst[:start], contextTruncated[:end]...)
	}
	dst = w.dst
	if !long {
		length, _ := prefix(dst[start:], head)
		dst = dst[:start+length]
	}
	dst = append(dst, contextTruncated...)

	// The tail is written into the room behind what there is. If it is all ASCII it
	// fits; if not, backward moves elsewhere.
	dst = slices.Grow(dst, tail)
	b := backward{buf: dst[len(dst) : len(dst)+tail], at: tail, left: tail}
	b.ascii("}")
	for i := n - 1; i >= 0 && b.left > 0; i-- {
		key, v := at(i)
		b.entry(key, v)
		if i > 0 {
			b.ascii(", ")
		}
	}
	b.ascii("{")
	return append(dst, b.buf[b.at:]...) // where it stands already, or further down
}

// longer reports whether the JSON text is longer than limit for sure, by the
// lengths of strings alone: then nothing between head and tail need be written to
// find out. It may say no of what is longer.
func longer(n int, at func(i int) (string, Value), limit int) bool {
	least := 0
	for i := 0; i < n && least <= limit; i++ {
		key, v := at(i)
		least += leastString(key) + len(": ") + v.least(limit)
	}
	return least > limit
}

// leastString is the fewest characters that the JSON of s can have.
func leastString(s string) int { return len(s)/utf8.UTFMax + len(`""`) }

// least is the fewest characters that the JSON of v can have, or some number
// beyond enough.
func (v Value) least(enough int) int {
	switch v.Kind() {
	case String:
		return leastString(v.str)
	case List:
		least := 0
		for _, item := range v.list() {
			if least += item.least(enough); least > enough {
				break
			}
		}
		return least
	case Map:
		least := 0
		for i := range v.ref.entries {
			if least += leastString(v.ref.entries[i].Key) + v.ref.entries[i].Value.least(enough); least > enough {
				break
			}
		}
		return least
	}
	return 1
}

// backward writes JSON from its end, up to a number of characters.
type backward struct {
	buf  []byte
	at   int // what is written stands in buf[at:]
	left int // characters that may still be written

	scratch []byte
}

// ascii puts s, which is ASCII, before what is written, or as much of its end as
// fits.
func (b *backward) ascii(s string) {
	s = s[max(0, len(s)-b.left):]
	b.left -= len(s)
	b.put(len(s))
	copy(b.buf[b.at:], s)
}

// put makes room for n bytes before what is written.
func (b *backward) put(n int) {
	if n > b.at {
		grown := make([]byte, 2*len(b.buf)+n)
		at := len(grown) - (len(b.buf) - b.at)
		copy(grown[at:], b.buf[b.at:])
		b.buf, b.at = grown, at
	}
	b.at -= n
}

// json puts the JSON text of v before what is written.
func (b *backward) json(v Value) {
	switch v.Kind() {
	case String:
		b.quoted(v.str)
	case List:
		b.ascii("]")
		items := v.list()
		for i := len(items) - 1; i >= 0 && b.left > 0; i-- {
			b.json(items[i])
			if i > 0 {
				b.ascii(", ")
			}
		}
		b.ascii("[")
	case Map:
		b.ascii("}")
		entries := v.ref.entries
		for i := len(entries) - 1; i >= 0 && b.left > 0; i-- {
			b.entry(entries[i].Key, entries[i].Value)
			if i > 0 {
				b.ascii(", ")
			}
		}
		b.ascii("{")
	default:
		var small [64]byte
		b.ascii(string(v.appendScalar(small[:0])))
	}
}

func (b *backward) entry(key string, v Value) {
	b.json(v)
	b.ascii(": ")
	b.quoted(key)
}

// quoted puts s as a JSON string before what is written. Its end is escaped in
// pieces, since one character may become six.
func (b *backward) quoted(s string) {
	const most = 2048
	b.ascii(`"`)
	for s != "" && b.left > 0 {
		start := max(0, len(s)-min(b.left, most))
		if piece := s[start:]; plain(piece) == len(piece) {
			b.ascii(piece)
		} else {
			start = suffix(s, min(b.left, most/4))
			b.scratch = appendEscaped(b.scratch[:0], s[start:])
			piece := b.scratch[suffix(b.scratch, b.left):]
			_, characters := prefix(piece, len(piece))
			b.left -= characters
			b.put(len(piece))
			copy(b.buf[b.at:], piece)
		}
		s = s[:start]
	}
	b.ascii(`"`)
}
