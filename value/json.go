package value

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// JSON is the JSON text of v (LANGUAGE.md §1): ", " and ": ", non-ASCII as
// itself, no HTML escaping, insertion order, integers in full.
func (v Value) JSON() string {
	if v.ref == stringNode && nextEscape(v.str, 0) == len(v.str) {
		return `"` + v.str + `"`
	}
	var small [256]byte
	return string(v.AppendJSON(small[:0]))
}

// AppendJSON appends the JSON text of v.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.Kind() {
	case String:
		return appendString(dst, v.str)
	case List:
		dst = append(dst, '[')
		for i, item := range v.list() {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = item.AppendJSON(dst)
		}
		return append(dst, ']')
	case Map:
		dst = append(dst, '{')
		for i := range v.ref.entries {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			e := &v.ref.entries[i]
			dst = append(appendString(dst, e.Key), ": "...)
			dst = e.Value.AppendJSON(dst)
		}
		return append(dst, '}')
	}
	return v.appendScalar(dst)
}

// AppendIndentJSON appends the JSON text of v over several lines, two spaces a
// level, each line after the first begun with prefix. It ends without a line
// end. Files and envelopes are written so.
func (v Value) AppendIndentJSON(dst []byte, prefix string) []byte {
	return v.appendIndent(dst, prefix, 0)
}

func (v Value) appendIndent(dst []byte, prefix string, level int) []byte {
	n := v.Len()
	if n == 0 {
		return v.AppendJSON(dst)
	}
	line := func(level int) {
		dst = append(append(dst, '\n'), prefix...)
		for range level {
			dst = append(dst, ' ', ' ')
		}
	}
	open, end := byte('['), byte(']')
	if v.Kind() == Map {
		open, end = '{', '}'
	}
	dst = append(dst, open)
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		line(level + 1)
		if open == '{' {
			dst = append(appendString(dst, v.Key(i)), ": "...)
		}
		dst = v.At(i).appendIndent(dst, prefix, level+1)
	}
	line(level)
	return append(dst, end)
}

// AppendCanonical appends the canonical JSON of v, which digests are made of
// and nothing else (LANGUAGE.md §1): keys sorted by code point, no white space,
// otherwise as AppendJSON. A number without a fraction is written as an integer
// in full, whatever its size and however it came in (1, 1.0 and 1e0 are all 1,
// -0.0 is 0), so two values have the same canonical JSON exactly when they are
// Equal.
func (v Value) AppendCanonical(dst []byte) []byte {
	switch v.Kind() {
	case Float:
		return appendCanonicalFloat(dst, v.float())
	case String:
		return appendString(dst, v.str)
	case List:
		dst = append(dst, '[')
		for i, item := range v.list() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.AppendCanonical(dst)
		}
		return append(dst, ']')
	case Map:
		var few [indexed]uint32
		sorted := v.ref.sorted
		if sorted == nil {
			sorted = orderFew(few[:0], v.ref.entries)
		}
		dst = append(dst, '{')
		for i, at := range sorted {
			if i > 0 {
				dst = append(dst, ',')
			}
			e := &v.ref.entries[at]
			dst = append(appendString(dst, e.Key), ':')
			dst = e.Value.AppendCanonical(dst)
		}
		return append(dst, '}')
	}
	return v.appendScalar(dst)
}

// orderFew is order for a map that has no index, by insertion.
func orderFew(sorted []uint32, entries []Entry) []uint32 {
	for i := range entries {
		at := len(sorted)
		for at > 0 && strings.Compare(entries[sorted[at-1]].Key, entries[i].Key) > 0 {
			at--
		}
		sorted = slices.Insert(sorted, at, uint32(i))
	}
	return sorted
}

// appendScalar appends null, a boolean or a number.
func (v Value) appendScalar(dst []byte) []byte {
	switch v.Kind() {
	case Bool:
		return strconv.AppendBool(dst, v.bits == 1)
	case Int:
		if v.ref.big != nil {
			return v.ref.big.Append(dst, 10)
		}
		return strconv.AppendInt(dst, int64(v.bits), 10)
	case Float:
		return appendFloat(dst, v.float())
	}
	return append(dst, "null"...)
}

// appendFloat appends the shortest text that reads back as f, always with a
// point or an exponent: positional for 1e-4 ≤ |f| < 1e16, else with an exponent
// of at least two digits (LANGUAGE.md §1).
func appendFloat(dst []byte, f float64) []byte {
	abs := math.Abs(f)
	if abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if f == math.Trunc(f) {
		dst = append(dst, ".0"...)
	}
	return dst
}

func appendCanonicalFloat(dst []byte, f float64) []byte {
	if f != math.Trunc(f) {
		return appendFloat(dst, f)
	}
	if math.Abs(f) < 1<<63 {
		return strconv.AppendInt(dst, int64(f), 10)
	}
	i, _ := new(big.Float).SetFloat64(f).Int(nil)
	return i.Append(dst, 10)
}

// appendString appends s as a JSON string.
func appendString(dst []byte, s string) []byte {
	return append(appendEscaped(append(dst, '"'), s), '"')
}

// appendEscaped appends the inside of the JSON string of s.
func appendEscaped(dst []byte, s string) []byte {
	for i := 0; ; {
		j := nextEscape(s, i)
		dst = append(dst, s[i:j]...)
		if j == len(s) {
			return dst
		}
		dst = append(dst, escape(s[j])...)
		i = j + 1
	}
}

// escapes holds what §1 writes for U+0000–U+001F.
const escapes = `\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\u0008\u0009\u000a\u000b\u000c\u000d\u000e\u000f` +
	`\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f`

// escape is the escape of a byte that needs one.
func escape(c byte) string {
	switch c {
	case '"':
		return `\"`
	case '\\':
		return `\\`
	case '\b':
		return `\b`
	case '\t':
		return `\t`
	case '\n':
		return `\n`
	case '\f':
		return `\f`
	case '\r':
		return `\r`
	}
	return escapes[int(c)*6 : int(c)*6+6]
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// load reads the first eight bytes of s as one word, the first in the lowest place.
func load[T string | []byte](s T) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// special marks the bytes of w that a JSON string escapes. Marks above the
// lowest one may be wrong (a subtraction borrows), the lowest never is.
func special(w uint64) uint64 {
	x, slash := w^(ones*2), w^(ones*'\\') // x is below 0x21 where w is below 0x20 or a quote
	return ((x-ones*0x21)&^x | (slash-ones)&^slash) & highs
}

// notPlain is special that marks the bytes beyond ASCII too.
func notPlain(w uint64) uint64 {
	return (((w ^ ones*2) - ones*0x21) | ((w ^ ones*'\\') - ones) | w) & highs
}

// nextEscape is the position from i on of the first byte of s that a JSON string
// escapes, or len(s).
func nextEscape[T string | []byte](s T, i int) int {
	for t := s[i:]; len(t) >= 8; t = t[8:] {
		if m := special(load(t)); m != 0 {
			return len(s) - len(t) + bits.TrailingZeros64(m)/8
		}
		i += 8
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}

// plain is how many bytes s begins with that are ASCII and stand in a JSON string
// as they are: each of them is one character of JSON.
func plain[T string | []byte](s T) int {
	t := s
	for ; len(t) >= 8; t = t[8:] {
		if m := notPlain(load(t)); m != 0 {
			return len(s) - len(t) + bits.TrailingZeros64(m)/8
		}
	}
	i := len(s) - len(t)
	for ; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c >= 0x80 || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}
