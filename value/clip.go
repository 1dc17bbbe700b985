package value

// ClipJSON is the JSON text of the map that at enumerates, in order, cut to
// limit characters from its middle when it is longer (LANGUAGE.md §10.1): the
// first ⌊(limit−21)/2⌋ characters, …[context_truncated]…, and as many of the
// last as fill up; a limit ≤ 21 keeps that many characters of the marker. The
// tail is written backwards from the end, so the cost follows limit and not the
// size of the map. Keys must be valid UTF-8 and distinct.
func ClipJSON(n int, at func(i int) (string, Value), limit int) string {
	return string(AppendClipJSON(nil, n, at, limit))
}

// AppendClipJSON appends what ClipJSON returns.
func AppendClipJSON(dst []byte, n int, at func(i int) (string, Value), limit int) []byte {
	start := len(dst)
	w := writer{dst: dst, left: max(limit, 0)}
	w.raw("{")
	for i := 0; i < n && !w.over; i++ {
		if i > 0 {
			w.raw(", ")
		}
		key, v := at(i)
		w.entry(key, v)
	}
	w.raw("}")
	if !w.over {
		return w.dst
	}
	if limit <= contextTruncatedLen {
		end, _ := prefix(contextTruncated, max(limit, 0))
		return append(w.dst[:start], contextTruncated[:end]...)
	}
	head := (limit - contextTruncatedLen) / 2
	tail := limit - contextTruncatedLen - head
	length, _ := prefix(w.dst[start:], head)
	dst = append(w.dst[:start+length], contextTruncated...)

	b := backward{left: tail}
	b.buf = make([]byte, tail+tail/8+16)
	b.at = len(b.buf)
	b.raw("}")
	for i := n - 1; i >= 0 && b.left > 0; i-- {
		key, v := at(i)
		b.entry(key, v)
		if i > 0 {
			b.raw(", ")
		}
	}
	b.raw("{")
	return append(dst, b.buf[b.at:]...)
}

// backward writes JSON from its end, up to a number of characters.
type backward struct {
	buf  []byte
	at   int // what is written stands in buf[at:]
	left int // characters that may still be written

	scratch []byte
}

// raw puts s before what is written, or as much of its end as fits.
func (b *backward) raw(s string) { prepend(b, s) }

func prepend[T string | []byte](b *backward, s T) {
	if b.left == 0 {
		return
	}
	if len(s) > b.left {
		s = s[suffix(s, b.left):]
	}
	_, n := prefix(s, b.left)
	b.left -= n
	if len(s) > b.at {
		grown := make([]byte, 2*len(b.buf)+len(s))
		at := len(grown) - (len(b.buf) - b.at)
		copy(grown[at:], b.buf[b.at:])
		b.buf, b.at = grown, at
	}
	b.at -= len(s)
	copy(b.buf[b.at:], s)
}

// json puts the JSON text of v before what is written.
func (b *backward) json(v Value) {
	switch v.Kind() {
	case String:
		b.quoted(v.str)
	case List:
		b.raw("]")
		items := v.list()
		for i := len(items) - 1; i >= 0 && b.left > 0; i-- {
			b.json(items[i])
			if i > 0 {
				b.raw(", ")
			}
		}
		b.raw("[")
	case Map:
		b.raw("}")
		entries := v.ref.entries
		for i := len(entries) - 1; i >= 0 && b.left > 0; i-- {
			b.entry(entries[i].Key, entries[i].Value)
			if i > 0 {
				b.raw(", ")
			}
		}
		b.raw("{")
	default:
		var small [64]byte
		b.raw(string(v.appendScalar(small[:0])))
	}
}

func (b *backward) entry(key string, v Value) {
	b.json(v)
	b.raw(": ")
	b.quoted(key)
}

// quoted puts s as a JSON string before what is written. Its end is escaped in
// pieces, since one character may become six.
func (b *backward) quoted(s string) {
	b.raw(`"`)
	for end := len(s); end > 0 && b.left > 0; {
		start := suffix(s[:end], min(b.left, 1024))
		if piece := s[start:end]; nextEscape(piece, 0) == len(piece) {
			b.raw(piece)
		} else {
			b.scratch = appendEscaped(b.scratch[:0], piece)
			prepend(b, b.scratch)
		}
		end = start
	}
	b.raw(`"`)
}
