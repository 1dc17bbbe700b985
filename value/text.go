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
		return cutText(v.str, limit)
	}
	if limit <= 0 {
		limit = math.MaxInt
	}
	w := writer{dst: make([]byte, 0, v.room(limit)), left: limit}
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

// room is a guess of how many bytes the text of a list or scalar takes, up to limit.
func (v Value) room(limit int) int {
	room := 64
	if v.Kind() == List {
		for _, item := range v.list() {
			if room += len(item.str) + len("99. \n"); room > limit {
				return limit + len(truncated)
			}
		}
	}
	return room
}

// CutText cuts s to limit characters with the marker …[truncated], as Text does.
// A byte that is not UTF-8 is a character; where some are in what is kept, U+FFFD
// stands for each.
func CutText(s string, limit int) (text string, cut bool) {
	if limit > 0 && len(s) > limit {
		if end, _ := prefix(s, limit); !utf8.ValidString(s[:end]) {
			s, _ = ValidUTF8(s)
		}
	}
	return cutText(s, limit)
}

// cutText is CutText of valid UTF-8.
func cutText(s string, limit int) (text string, cut bool) {
	if limit <= 0 || len(s) <= limit { // a character is a byte at least
		return s, false
	}
	if limit <= truncatedLen {
		if end, _ := prefix(s, limit); end == len(s) {
			return s, false
		}
		end, _ := prefix(truncated, limit)
		return truncated[:end], true
	}
	kept, _ := prefix(s, limit-truncatedLen)
	if end, _ := prefix(s[kept:], truncatedLen); kept+end == len(s) {
		return s, false
	}
	return s[:kept] + truncated, true
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

// ascii is raw of what is ASCII.
func (w *writer) ascii(s string) {
	if w.over {
		return
	}
	if len(s) > w.left {
		s, w.over = s[:w.left], true
	}
	w.dst = append(w.dst, s...)
	w.left -= len(s)
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
				w.ascii("\n")
			}
			var number [24]byte
			w.ascii(string(append(strconv.AppendInt(number[:0], int64(i)+1, 10), ". "...)))
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
		w.ascii("[")
		for i, item := range v.list() {
			if w.over {
				return
			}
			if i > 0 {
				w.ascii(", ")
			}
			w.json(item)
		}
		w.ascii("]")
	case Map:
		w.ascii("{")
		for i := range v.ref.entries {
			if w.over {
				return
			}
			if i > 0 {
				w.ascii(", ")
			}
			w.entry(v.ref.entries[i].Key, v.ref.entries[i].Value)
		}
		w.ascii("}")
	default:
		var small [64]byte
		w.ascii(string(v.appendScalar(small[:0])))
	}
}

func (w *writer) entry(key string, v Value) {
	w.quoted(key)
	w.ascii(": ")
	w.json(v)
}

// quoted writes s as a JSON string. Of s it looks at what fits and no more.
func (w *writer) quoted(s string) {
	w.ascii(`"`)
	for s != "" && !w.over {
		n := plain(s[:min(len(s), w.left)])
		w.dst = append(w.dst, s[:n]...)
		w.left -= n
		if s = s[n:]; s == "" {
			break
		}
		if w.left == 0 {
			w.over = true
			return
		}
		if s[0] < utf8.RuneSelf {
			w.ascii(escape(s[0]))
			s = s[1:]
			continue
		}
		if n = len(s); n/utf8.UTFMax > w.left {
			n = w.left * utf8.UTFMax
		}
		n, characters := prefix(s[:nextEscape(s[:n], 0)], w.left)
		w.dst = append(w.dst, s[:n]...)
		w.left -= characters
		s = s[n:]
	}
	w.ascii(`"`)
}

// prefix is the length in bytes of the first n characters of s, and how many
// characters that are. It looks no further. s must be valid UTF-8.
func prefix[T string | []byte](s T, n int) (length, characters int) {
	left := n
	t := s
	for ; left >= 8 && len(t) >= 8; t = t[8:] {
		// Eight bytes begin eight characters at most: one for each byte that is
		// not 10xxxxxx.
		w := load(t)
		left -= 8
		if w&highs != 0 {
			left += bits.OnesCount64(w &^ (w << 1) & highs)
		}
	}
	i := len(s) - len(t)
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
	for n >= 8 && len(s) >= 8 {
		w := load(s[len(s)-8:])
		n -= 8
		if w&highs != 0 {
			n += bits.OnesCount64(w &^ (w << 1) & highs)
		}
		s = s[:len(s)-8]
	}
	i := len(s)
	for n > 0 && i > 0 {
		i--
		if s[i]&0xC0 != 0x80 {
			n--
		}
	}
	return i
}
