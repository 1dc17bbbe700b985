package fence

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The finder is a fast way to say what this says slowly.
func foldIndex(s, nonce string) int {
	for i := 0; i+len(nonce) <= len(s); i++ {
		ok := true
		for j := 0; ok && j < len(nonce); j++ {
			c := s[i+j]
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			ok = c == nonce[j]
		}
		if ok {
			return i
		}
	}
	return -1
}

func anyNonce() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching("[0-9a-f]{12}"), rapid.StringMatching("[a-f]{12}"), rapid.StringMatching("[0-9]{12}"),
		rapid.StringMatching("[ab1]{12}"), rapid.StringMatching("(a|1){12}"), rapid.Just("aaaaaaaaaaaa"), rapid.Just("111111111111"),
	)
}

// mixCase gives a word in letters of either case.
func mixCase(t *rapid.T, s string) string {
	b := []byte(s)
	for i, upper := range rapid.SliceOfN(rapid.Bool(), len(b), len(b)).Draw(t, "case") {
		if upper && 'a' <= b[i] && b[i] <= 'z' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}

func find(nonce, s string) int {
	f := newFinder(nonce)
	return f.in(s)
}

func TestFinder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nonce := anyNonce().Draw(t, "nonce")
		var b strings.Builder
		for range rapid.IntRange(0, 6).Draw(t, "pieces") {
			switch rapid.IntRange(0, 5).Draw(t, "piece") {
			case 0:
				b.WriteString(mixCase(t, nonce))
			case 1: // part of it
				i, j := rapid.IntRange(0, 12).Draw(t, "i"), rapid.IntRange(0, 12).Draw(t, "j")
				b.WriteString(mixCase(t, nonce[min(i, j):max(i, j)]))
			case 2: // its digits
				f := newFinder(nonce)
				b.WriteString(nonce[f.at : f.at+f.n])
			case 3:
				b.WriteString(rapid.String().Draw(t, "text"))
			case 4:
				b.WriteString(strings.Repeat("1", rapid.IntRange(0, 20).Draw(t, "ones")))
			case 5: // enough of its rarest digit for the other search to take over
				f := newFinder(nonce)
				b.WriteString(strings.Repeat(nonce[f.anchor:f.anchor+1], rapid.IntRange(0, 40).Draw(t, "anchors")))
			}
		}
		s := b.String()
		if got, want := find(nonce, s), foldIndex(s, nonce); got != want {
			t.Fatalf("%s in %q: %d, want %d", nonce, s, got, want)
		}
	})
}

// Characters that fold to ASCII letters by Unicode's rules are other characters, and
// so are bytes that differ from the nonce's in one bit.
func TestFinderFoldsASCIIOnly(t *testing.T) {
	for _, nonce := range []string{"abcdefabcdef", "ab12cd34ef56", "111111111111"} {
		for bit := range 8 {
			for i := range nonce {
				b := []byte(nonce)
				b[i] ^= 1 << bit
				if got, want := find(nonce, string(b)), foldIndex(string(b), nonce); got != want {
					t.Errorf("%s in %q: %d, want %d", nonce, b, got, want)
				}
			}
		}
	}
}

func TestHex(t *testing.T) {
	random := rand.NewChaCha8([32]byte{1})
	draw := Hex(random)
	seen := map[string]bool{}
	var first [16]int
	const draws = 20_000
	for range draws {
		var n [12]byte
		if err := draw(&n); err != nil {
			t.Fatal(err)
		}
		if err := checkNonce(string(n[:])); err != nil {
			t.Fatal(err)
		}
		if _, run := digitRun(&n); run < minDigits {
			t.Fatalf("%s has no run of %d digits", n, minDigits)
		}
		seen[string(n[:])] = true
		first[strings.IndexByte("0123456789abcdef", n[0])]++
	}
	if len(seen) != draws {
		t.Errorf("%d nonces of %d are different", len(seen), draws)
	}
	// Digits are a little more frequent than letters and alike among themselves, and
	// so are letters.
	for i, n := range first {
		if low, high := 900, 1900; n < low || n > high {
			t.Errorf("%d of %d nonces begin with %x", n, draws, i)
		}
	}
}

// The documented price: how many of all words of twelve hex characters Hex draws from.
func TestHexBits(t *testing.T) {
	// ways[r] counts words so far with no run of minDigits that end in a run of r.
	ways := [minDigits]float64{1}
	for range nonceLen {
		var next [minDigits]float64
		for r, w := range ways {
			next[0] += 6 * w
			if r+1 < minDigits {
				next[r+1] += 10 * w
			}
		}
		ways = next
	}
	all := 1.0
	for range nonceLen {
		all *= 16
	}
	without := ways[0] + ways[1] + ways[2] + ways[3]
	if share := 1 - without/all; share < 0.55 || share > 0.56 { // 0.85 bits
		t.Errorf("%.3f of all nonces are drawn from", share)
	}
}

func TestHexWithoutRandomness(t *testing.T) {
	var n [12]byte
	if err := Hex(strings.NewReader("short"))(&n); !errors.Is(err, io.ErrUnexpectedEOF) || n != [12]byte{} {
		t.Errorf("%v %q", err, n)
	}
	if err := Hex(ones{})(&n); err == nil || n != [12]byte{} {
		t.Errorf("%v %q", err, n)
	}
	if err := Hex(bytes.NewReader(make([]byte, 12)))(&n); err != nil || string(n[:]) != "000000000000" {
		t.Errorf("%v %q", err, n)
	}
	// The first half has no run of digits, the second has.
	if err := Hex(bytes.NewReader([]byte("\xab\xcd\xef\xab\xcd\xef\xab\x12\x34\xcd\xef\xab")))(&n); err != nil || string(n[:]) != "ab1234cdefab" {
		t.Errorf("%v %q", err, n)
	}
}

type ones struct{}

func (ones) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 0xff
	}
	return len(p), nil
}

// Behind so many near misses that the search changes its way, the nonce is still
// found, wherever it begins.
func TestFinderChangesItsWay(t *testing.T) {
	for _, nonce := range []string{"ab12cd34ef56", "8abcdef12345", "12345abcdef8", "888888888888", "a8b7c6d5e4f3"} {
		f := newFinder(nonce)
		for _, near := range []string{nonce[f.anchor : f.anchor+1], nonce[:11] + "g", "g" + nonce[1:]} {
			for n := range 40 {
				s := strings.Repeat(near, n) + "." + strings.ToUpper(nonce) + near
				if got, want := find(nonce, s), foldIndex(s, nonce); got != want || got < 0 {
					t.Errorf("%s in %q: %d, want %d", nonce, s, got, want)
				}
			}
		}
	}
}
