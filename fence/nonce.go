package fence

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

const nonceLen = 12

// Nonces fills in twelve lowercase hex characters. The driver supplies one that
// reads the operating system's CSPRNG (Hex); a test supplies its own. Render calls
// it only when something is fenced, and again while what it gave occurs in the
// prompt.
type Nonces func(*[12]byte) error

// maxDraws bounds the redraws. Against a CSPRNG one redraw is already improbable
// (a text of 1 MB holds a given nonce with p < 2⁻²⁷); a source that keeps giving
// what the text holds is broken, and must not hang a call.
const maxDraws = 64

// minDigits is the least run of decimal digits in a nonce from Hex.
const minDigits = 4

// Hex draws nonces from random, uniformly among the words of twelve lowercase hex
// characters that have a run of at least four decimal digits somewhere. Letters
// have two cases and digits have one, so such a run can be looked for as it is, at
// the speed of memory; the price is 0.85 of a nonce's 48 bits. Render takes any
// other nonce too, only slower.
//
// What it returns may be called by several goroutines when random may.
func Hex(random io.Reader) Nonces {
	return func(nonce *[12]byte) error {
		// Twelve bytes are two candidates. A broken source (all ones, say) ends here
		// too: the odds of an honest one not passing are below 2⁻¹⁰⁰.
		for range 64 {
			if _, err := io.ReadFull(random, nonce[:]); err != nil {
				*nonce = [12]byte{}
				return fmt.Errorf("fence: no randomness for a nonce: %w", err)
			}
			for _, half := range [2][6]byte{[6]byte(nonce[:6]), [6]byte(nonce[6:])} {
				for i, b := range half {
					nonce[2*i], nonce[2*i+1] = "0123456789abcdef"[b>>4], "0123456789abcdef"[b&15]
				}
				if _, n := digitRun(nonce); n >= minDigits {
					return nil
				}
			}
		}
		*nonce = [12]byte{}
		return errors.New("fence: no nonce: the source of randomness gives none with four digits in a row")
	}
}

// digitRun is the longest run of decimal digits in a nonce.
func digitRun(nonce *[12]byte) (at, n int) {
	run := 0
	for i, c := range nonce {
		if c > '9' {
			run = 0
			continue
		}
		if run++; run > n {
			at, n = i+1-run, run
		}
	}
	return at, n
}

// longestHex is the length of the longest run of hex characters in s.
func longestHex(s string) int {
	most, run := 0, 0
	for i := 0; i < len(s); i++ {
		if !hexByte(s[i]) {
			run = 0
			continue
		}
		run++
		most = max(most, run)
	}
	return most
}

func checkNonce(nonce string) error {
	ok := len(nonce) == nonceLen
	for i := 0; ok && i < len(nonce); i++ {
		c := nonce[i]
		ok = '0' <= c && c <= '9' || 'a' <= c && c <= 'f'
	}
	if !ok {
		return fmt.Errorf("fence: expected a nonce of %d lowercase hex characters, found %q", nonceLen, nonce)
	}
	return nil
}

// finder looks for one nonce, in any letter case.
type finder struct {
	nonce  string // twelve lowercase hex characters
	at, n  int    // its longest run of digits; n may be 0
	anchor int    // the place of its rarest digit, when n is not 0
}

// rarity ranks the digits by how seldom they stand in prose with dates, amounts and
// numbered lists, the rarest lowest. It is about speed alone.
const rarity = "9783462105" // of 0, 1, 2, …

func newFinder(nonce string) finder {
	f := finder{nonce: nonce}
	best, run := byte(0xff), 0
	for i := 0; i < len(nonce); i++ {
		c := nonce[i]
		if c > '9' {
			run = 0
			continue
		}
		if run++; run > f.n {
			f.at, f.n = i+1-run, run
		}
		if r := rarity[c-'0']; r < best {
			best, f.anchor = r, i
		}
	}
	return f
}

// in is the place of the first occurrence in s, or -1.
func (f *finder) in(s string) int {
	if len(s) < nonceLen {
		return -1
	}
	if f.n == 0 {
		return f.slow(s)
	}
	c := f.nonce[f.anchor]
	end := len(s) - nonceLen + f.anchor + 1 // where the anchor cannot stand any more
	for from, tries := f.anchor, 0; from < end; from++ {
		i := strings.IndexByte(s[from:end], c)
		if i < 0 {
			return -1
		}
		from += i
		if start := from - f.anchor; f.here(s, start) {
			return start
		}
		// In text full of digits a longer needle is faster.
		if tries++; tries > 8+(from>>5) {
			return f.byRun(s, from+1-f.anchor)
		}
	}
	return -1
}

// byRun looks for the nonce from start on by its longest run of digits.
func (f *finder) byRun(s string, start int) int {
	needle := f.nonce[f.at : f.at+f.n]
	for from := start + f.at; from < len(s); {
		i := strings.Index(s[from:], needle)
		if i < 0 {
			return -1
		}
		if start := from + i - f.at; start+nonceLen > len(s) {
			return -1
		} else if f.here(s, start) {
			return start
		}
		from += i + 1
	}
	return -1
}

// slow looks for a nonce that has no digit.
func (f *finder) slow(s string) int {
	c := f.nonce[0]
	for i := 0; i+nonceLen <= len(s); i++ {
		if s[i]|0x20 == c && f.here(s, i) {
			return i
		}
	}
	return -1
}

// here says whether the nonce stands at s[i:], which is long enough.
func (f *finder) here(s string, i int) bool {
	s = s[i : i+nonceLen]
	for j := 0; j < nonceLen; j++ {
		c := s[j]
		if 'A' <= c && c <= 'F' {
			c |= 0x20
		}
		if c != f.nonce[j] {
			return false
		}
	}
	return true
}
