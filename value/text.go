package value

import (
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// truncated marks a text that was cut at its end, contextTruncated one that was
// cut in its middle. Their lengths are in characters.
const (
	truncated           = "…[truncated]"
	truncatedLen        = 12
	contextTruncated    = "…[context_truncated]…"
	contextTruncatedLen = 21
)

// Text is the text of a value (LANGUAGE.md §6): null is empty, a string is
// itself, a list one line an item ("1. " and the item's text), anything else
// its JSON text. A text of more than limit characters becomes its first
// limit−12 and the marker …[truncated]; a limit ≤ 12 keeps that many characters
// of the marker; limit ≤ 0 is no limit. It writes no more than it returns.
func (v Value) Text(limit int) (text string, cut bool) {
	switch v.Kind() {
	case Null:
		return "", false
	case String:
		return CutText(v.str, limit)
	}
	if limit <= 0 {
		limit = math.MaxInt
	}
	var small [256]byte
	w := writer{dst: small[:0], left: limit}
	w.text(v)
	if !w.over {
		return string(w.dst), false
	}
	if limit <= truncatedLen {
		end, _ := prefix(truncated, limit)
		return truncated[:end], true
	}
	return string(append(w.dst[:suffix(w.dst, truncatedLen)], truncated...)), true
}

// CutText cuts s to limit characters with the marker …[truncated], as Text does.
// A byte that is not UTF-8 is a character; where some are in what is kept, U+FFFD
// stands for each.
func CutText(s string, limit int) (text string, cut bool) {
	if limit <= 0 || len(s) <= limit { // a character is a byte at least
		return s, false
	}
	end, _ := prefix(s, limit)
	if !utf8.ValidString(s[:end]) {
		s, _ = ValidUTF8(s)
		end, _ = prefix(s, limit)
	}
	if end == len(s) {
		return s, false
	}
	if limit <= truncatedLen {
		end, _ = prefix(truncated, limit)
		return truncated[:end], true
	}
	return s[:suffix(s[:end], truncatedLen)] + truncated, true
}

// writer writes text or JSON up to a number of characters and then stops.
type writer struct {
	dst  []byte
	left int  // characters that may still be written
	over bool // something did not fit; nothing is written any more
}

// raw writes s, or as much of it as fits.
func (w *writer) raw(s string) {
	if w.over {
		return
	}
	end, n := prefix(s, w.left)
	w.dst = append(w.dst, s[:end]...)
	w.left -= n
	w.over = end < len(s)
}

// text writes the text of v (LANGUAGE.md §6).
func (w *writer) text(v Value) {
	switch v.Kind() {
	case Null:
	case String:
		w.raw(v.str)
	case List:
		for i, item := range v.list() {
			if w.over {
				return
			}
			if i > 0 {
				w.raw("\n")
			}
			var number [24]byte
			w.raw(string(append(strconv.AppendInt(number[:0], int64(i)+1, 10), ". "...)))
			w.text(item)
		}
	default:
		w.json(v)
	}
}

// json writes the JSON text of v.
func (w *writer) json(v Value) {
	switch v.Kind() {
	case String:
		w.quoted(v.str)
	case List:
		w.raw("[")
		for i, item := range v.list() {
			if w.over {
				return
			}
			if i > 0 {
				w.raw(", ")
			}
			w.json(item)
		}
		w.raw("]")
	case Map:
		w.raw("{")
		for i := range v.ref.entries {
			if w.over {
				return
			}
			if i > 0 {
				w.raw(", ")
			}
			w.entry(v.ref.entries[i].Key, v.ref.entries[i].Value)
		}
		w.raw("}")
	default:
		var small [64]byte
		w.raw(string(v.appendScalar(small[:0])))
	}
}

func (w *writer) entry(key string, v Value) {
	w.quoted(key)
	w.raw(": ")
	w.json(v)
}

// quoted writes s as a JSON string.
func (w *writer) quoted(s string) {
	w.raw(`"`)
	// Every character of s is one at least when written, so no more of s than
	// fits unescaped is looked at.
	fits, _ := prefix(s, w.left)
	for i := 0; !w.over; {
		j := nextEscape(s[:fits], i)
		w.raw(s[i:j])
		if j == fits {
			break
		}
		w.raw(escape(s[j]))
		i = j + 1
	}
	if fits < len(s) {
		w.over = true
	}
	w.raw(`"`)
}

// prefix is the length in bytes of the first n characters of s, and how many
// characters that are. It looks no further. s must be valid UTF-8.
func prefix[T string | []byte](s T, n int) (length, characters int) {
	i, left := 0, n
	for left >= 8 && i+8 <= len(s) {
		// Eight bytes begin eight characters at most: one for each byte that is
		// not 10xxxxxx.
		word := load(s, i)
		left -= 8 - bits.OnesCount64(word&^(word<<1)&highs)
		i += 8
	}
	for ; i < len(s); i++ {
		if s[i]&0xC0 != 0x80 {
			if left == 0 {
				break
			}
			left--
		}
	}
	return i, n - left
}

// suffix is the position in s where its last n characters begin. s must be
// valid UTF-8.
func suffix[T string | []byte](s T, n int) int {
	i := len(s)
	for n >= 8 && i >= 8 {
		word := load(s, i-8)
		n -= 8 - bits.OnesCount64(word&^(word<<1)&highs)
		i -= 8
	}
	for n > 0 && i > 0 {
		i--
		if s[i]&0xC0 != 0x80 {
			n--
		}
	}
	return i
}
