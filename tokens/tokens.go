// Package tokens estimates how many tokens a text costs a model. It is the one
// estimator of the program (LANGUAGE.md §11): budgets of lanes and usage that an
// endpoint did not report are counted by the same measure.
//
// It is made not to undercount, since what is counted too low gets past a budget:
// characters/4, the usual rule, takes a paragraph of Chinese for a fifth of what
// it costs, and a count of words takes it for one. It knows no model's vocabulary
// and never promises the number that an endpoint will report.
//
//	n := tokens.Estimate("Where is my parcel?") // 5
package tokens

import (
	"unicode"
	"unicode/utf8"
)

// Weights are in twelfths of a token.
const (
	whole    = 12
	symbol   = whole / 4 // ASCII that is in no word: four a token
	letter   = 3         // of a word, ASCII
	digit    = 4         // of a word, ASCII: vocabularies hold up to three digits
	accented = 5         // of a word, Latin beyond ASCII
	foreign  = 6         // of a word, any other script, and marks
	grace    = 6         // of a word, so that one of six letters is one token
)

// ascii is the weight of each ASCII character in a word, 0 where it is in none.
const ascii = "00000000000000000000000000000000" + // controls
	"0000000000000000" + "4444444444" + "0000000" + // space to /, digits, : to @
	"33333333333333333333333333" + "000000" + // A to Z, [ to `
	"33333333333333333333333333" + "00000" // a to z, { to DEL

// Estimate is about how many tokens s costs: never fewer than one a word, one a
// character of Chinese, Japanese or Korean, and one a character of anything else
// outside ASCII that is in no word (emoji, what is invisible, bytes that are not
// UTF-8); one for four characters of what is left, white space and punctuation.
// A long word counts by its length. It is 0 for the empty text alone, and a text
// never costs less than its beginning.
func Estimate(s string) int {
	total := 0 // twelfths, words apart
	words := 0
	word := 0 // twelfths of the word that is open
	for i := 0; i < len(s); {
		weight := 0 // in a word, where it is one
		if c := s[i]; c < utf8.RuneSelf {
			i++
			if weight = int(ascii[c] - '0'); weight != 0 {
				word += weight
				continue
			}
			total += symbol
		} else {
			r, size := utf8.DecodeRuneInString(s[i:])
			i += size
			switch {
			case r == utf8.RuneError || cjk(r):
				total += whole
			case !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r), unicode.Is(unicode.Variation_Selector, r):
				total += whole
			case r < 0x250:
				weight = accented
			default:
				weight = foreign
			}
		}
		if weight > 0 {
			word += weight
		} else if word > 0 {
			words += ofWord(word)
			word = 0
		}
	}
	if word > 0 {
		words += ofWord(word)
	}
	return words + (total+whole-1)/whole
}

// ofWord is the tokens of a word of so many twelfths.
func ofWord(word int) int {
	return max(1, (word-grace+whole-1)/whole)
}

// cjk reports whether r is written without spaces between words and costs a
// token or more by itself: Han, Kana, Hangul, Bopomofo, Yi, their punctuation and
// their wide forms.
func cjk(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r <= 0x11FF: // Hangul Jamo
		return true
	case r < 0x2E80:
		return false
	case r <= 0xA4CF: // radicals, punctuation, Kana, Bopomofo, Han, Yi
		return true
	case r >= 0xA960 && r <= 0xA97F, r >= 0xAC00 && r <= 0xD7FF: // Hangul
		return true
	case r >= 0xF900 && r <= 0xFAFF, r >= 0xFE30 && r <= 0xFE4F, r >= 0xFF00 && r <= 0xFFEF: // compatibility, wide forms
		return true
	}
	return r >= 0x16FE0 && r <= 0x1B2FF || r >= 0x1F200 && r <= 0x1F2FF || r >= 0x20000 && r <= 0x3FFFF
}
