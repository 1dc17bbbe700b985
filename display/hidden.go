package display

import (
	"unicode"
	"unicode/utf8"
)

// Invisible is how many characters of s a person would not see: controls other
// than tab and line ends, format characters (bidirectional controls, zero-width,
// tags), variation selectors and fillers. Receipts count them [C15].
func Invisible(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if i+8 <= len(s) && graphic(s[i:i+8]) {
			i += 8
			continue
		}
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
				n++
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !seen(r) && invisible(r) {
			n++
		}
		i += size
	}
	return n
}

// graphic reports whether eight bytes are all ASCII from space to ~: receipts count over
// whole values, and most of them are that.
func graphic(s string) bool {
	_ = s[7]
	w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56 // one load
	const ones, high = 0x0101010101010101, 0x8080808080808080
	// Of bytes below 0x80, those under 0x20 borrow and 0x7f carries into the high bit.
	return (w|(w-0x20*ones)|(w+ones))&high == 0
}

// hidden reports whether the character r, which is not ASCII, is escaped: it is
// invisible, or it is no graphic character of Unicode at all (separators of lines,
// private use, what is not assigned).
func hidden(r rune) bool {
	return !seen(r) && (invisible(r) || !unicode.IsGraphic(r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r))
}

// seen is a quick yes for most of what is written in the world.
func seen(r rune) bool {
	switch {
	case r >= 0xAE && r < 0x34F: // Latin, phonetic, the first diacritics
		return true
	case r >= 0x400 && r < 0x530: // Cyrillic
		return true
	case r >= 0x3041 && r <= 0x3096, r >= 0x30A0 && r <= 0x30FF: // Kana
		return true
	case r >= 0x3400 && r <= 0xA000, r >= 0xAC00 && r <= 0xD7A3: // Han, Hangul
		return true
	}
	return false
}

// invisible reports whether the character r, which is not ASCII, leaves nothing on
// the screen but its effect.
func invisible(r rune) bool {
	switch r {
	case 0x2800, 0x1D159: // the empty Braille pattern and the empty note head
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}
