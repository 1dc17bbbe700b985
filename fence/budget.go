package fence

import (
	"math/bits"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/tokens"
)

// measuringNonce stands in for the nonce while a budget is measured, so that what a
// part carries does not depend on the nonce. It is as long as any, and its digits
// make it cost as many tokens as any.
const (
	measuringNonce  = "000000000000"
	measuringTags   = dataOpen + measuringNonce + dataMiddle + measuringNonce + dataEnd
	measuringLabels = labelOpen + measuringNonce + labelMiddle + measuringNonce + labelEnd
)

const (
	marker      = "…[truncated]"
	markerRunes = 12
)

// around is what stands before and after the value of p in a fence.
func (p *Part) around() runs {
	f := piece{part: p, style: p.Style, fenced: true}
	return f.runs(measuringTags, measuringLabels)
}

// measure is what stands around the value, in the unit of p's budget when it is one
// that adds up.
func (p *Part) measure() (n int) {
	if p.Budget.Unit != Tokens {
		for _, t := range p.around() {
			if p.Budget.Unit == Bytes {
				n += len(t)
			} else {
				n += utf8.RuneCountInString(t)
			}
		}
	}
	return n
}

// fit cuts value so that it and what stands around it, which is nothing when it goes
// bare, together keep to the budget. It cuts between characters and puts the marker
// where something is missing. It is not ok when the budget cannot hold what stands
// around the value, and the marker if it has to cut.
func (p *Part) fit(value string, bare bool) (fitted string, cut, ok bool) {
	b := p.Budget
	if !b.Set {
		return value, false, true
	}
	if b.Max <= 0 {
		return "", false, false
	}
	room := b.Max
	if !bare {
		room -= p.outer
	}
	switch b.Unit {
	case Bytes:
		if room < 0 {
			return "", false, false
		}
		if len(value) <= room {
			return value, false, true
		}
		if room -= len(marker); room < 0 {
			return "", false, false
		}
		return p.keep(value, room, headBytes, tailBytes), true, true
	case Characters:
		if room < 0 {
			return "", false, false
		}
		if len(value) <= room || headRunes(value, room) == len(value) {
			return value, false, true
		}
		if room -= markerRunes; room < 0 {
			return "", false, false
		}
		return p.keep(value, room, headRunes, tailRunes), true, true
	}
	return p.fitTokens(value, bare)
}

// keep is the first, the last, or the first and last n units of value, and the
// marker. head and tail say where a run of at most n units at either end stops.
func (p *Part) keep(value string, n int, head, tail func(string, int) int) string {
	switch p.Keep {
	case KeepTail:
		return marker + value[tail(value, n):]
	case KeepBoth:
		return value[:head(value, n/2)] + marker + value[tail(value, n-n/2):]
	}
	return value[:head(value, n)] + marker
}

func headBytes(s string, n int) int {
	if n >= len(s) {
		return len(s)
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

func tailBytes(s string, n int) int {
	at := max(0, len(s)-n)
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return at
}

func headRunes(s string, n int) int {
	i := 0
	for ; n >= wide && i+wide <= len(s); i += wide {
		n -= startsIn(s[i : i+wide])
	}
	for ; i < len(s); i++ {
		if utf8.RuneStart(s[i]) {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return len(s)
}

func tailRunes(s string, n int) int {
	i := len(s)
	for ; n > wide && i >= wide; i -= wide {
		n -= startsIn(s[i-wide : i])
	}
	for ; n > 0 && i > 0; n-- {
		for i--; i > 0 && !utf8.RuneStart(s[i]); i-- {
		}
	}
	return i
}

// wide is how many bytes are looked at together where there is much to count.
const wide = 32

// startsIn is how many of wide bytes begin a character.
func startsIn(s string) int {
	a, b, c, d := word(s), word(s[8:]), word(s[16:]), word(s[24:])
	const high = 0x8080808080808080
	if (a|b|c|d)&high == 0 {
		return wide
	}
	rest := func(w uint64) int { return bits.OnesCount64(w & (^w << 1) & high) } // 10xxxxxx
	return wide - rest(a) - rest(b) - rest(c) - rest(d)
}

// word is eight bytes: the compiler makes one load of it.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// fitTokens looks for the longest cut that fits. Estimates do not add up: a word cut
// in two may count for more than it did. So whole candidates are measured, fence and
// all, and only one that was seen to fit is taken.
func (p *Part) fitTokens(value string, bare bool) (fitted string, cut, ok bool) {
	var around runs
	if !bare {
		around = p.around()
	}
	var buf []byte
	fits := func(v string) bool {
		buf = buf[:0]
		for i, t := range around {
			if i == runValue {
				t = v
			}
			buf = append(buf, t...)
		}
		return tokens.Estimate(string(buf)) <= p.Budget.Max
	}
	if fits(value) {
		return value, false, true
	}
	best := p.keep(value, 0, headBytes, tailBytes)
	if !fits(best) {
		return "", false, false
	}
	// Grow from nothing rather than halve from the whole: the budget may be a small
	// part of a large value.
	low, high := 0, 64
	for ; high < len(value); high *= 2 {
		v := p.keep(value, high, headBytes, tailBytes)
		if !fits(v) {
			break
		}
		low, best = high, v
	}
	high = min(high, len(value))
	for low+1 < high {
		mid := int(uint(low+high) / 2)
		if v := p.keep(value, mid, headBytes, tailBytes); fits(v) {
			low, best = mid, v
		} else {
			high = mid
		}
	}
	return best, true, true
}
