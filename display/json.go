package display

import "unicode/utf8"

// JSON is JSON text for a terminal: what Line would escape is written \uXXXX, a
// surrogate pair beyond U+FFFF, so that it still is JSON and of the same value.
// Line feeds between values stay. It is for text that a writer of JSON made, which
// has escaped C0 already; elsewhere JSON is exact and does not pass here.
func JSON(text string) string {
	i := plainJSON(text, 0)
	if i == len(text) {
		return text
	}
	return string(appendJSON(make([]byte, 0, len(text)+32), text, i))
}

// AppendJSON appends what JSON returns.
func AppendJSON(dst []byte, text string) []byte {
	return appendJSON(dst, text, plainJSON(text, 0))
}

func appendJSON(dst []byte, text string, i int) []byte {
	for start := 0; ; {
		dst = append(dst, text[start:i]...)
		if i == len(text) {
			return dst
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r > 0xFFFF {
			r -= 0x10000
			dst = appendUnit(appendUnit(dst, 0xD800+r>>10), 0xDC00+r&0x3FF)
		} else {
			dst = appendUnit(dst, r)
		}
		i += size
		start = i
		i = plainJSON(text, i)
	}
}

func appendUnit(dst []byte, u rune) []byte {
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', hex[u>>12&15], hex[u>>8&15], hex[u>>4&15], hex[u&15])
}

// plainJSON is the position from i on of the first character to escape, or len.
func plainJSON(s string, i int) int {
	for i < len(s) {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' || c == 0x7f {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || hidden(r) {
			return i
		}
		i += size
	}
	return i
}
