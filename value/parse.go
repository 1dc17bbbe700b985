package value

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// What is wrong with a text that is JSON in every other way. A *SyntaxError
// wraps one of these, or none where the text is no JSON at all.
var (
	ErrDuplicateKey = errors.New("duplicate key")
	ErrNumberRange  = errors.New("number out of range")
	ErrDepth        = fmt.Errorf("lists and maps nest deeper than %d", MaxDepth)
)

// MaxDigits is the longest integer that ParseJSON reads, in digits. Values have
// no such bound; it keeps the time that a reader spends near the length of what
// it reads.
const MaxDigits = 100_000

// SyntaxError says where a text stopped being one JSON value of §1.
type SyntaxError struct {
	Offset   int    // bytes before the place
	Line     int    // from 1
	Column   int    // in characters, from 1
	Expected string // "',' or '}'"
	Found    string // "'x'", "the end of the text": quoted and short, fit for a screen
	Err      error  // ErrDuplicateKey, ErrNumberRange, ErrDepth, or nil
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: expected %s, found %s", e.Line, e.Column, e.Expected, e.Found)
}

func (e *SyntaxError) Unwrap() error { return e.Err }

// ParseJSON reads exactly one JSON value (LANGUAGE.md §1). A number with neither
// point nor exponent is an Int of whatever size, up to MaxDigits; any other is a
// Float. Duplicate keys, a byte order mark, trailing bytes, lone surrogates,
// bytes that are not UTF-8, nesting over MaxDepth, and a float beyond the range
// of a binary64 are errors; all are *SyntaxError. errors.Is with ErrDuplicateKey
// or ErrNumberRange means that nothing else is wrong with the text.
func ParseJSON(b []byte) (Value, error) { return parseJSON(b, 0) }

// ParseDocument reads a document of our own that holds values, a checkpoint or a
// journal: as ParseJSON, with MaxDepth levels of its own around them, so that what
// came in can be read back.
func ParseDocument(b []byte) (Value, error) { return parseJSON(b, -MaxDepth) }

func parseJSON(b []byte, depth int) (Value, error) {
	p := parser{b: b}
	if bytes.HasPrefix(b, []byte("\uFEFF")) {
		return Value{}, p.fail(0, "a JSON value", "a byte order mark", nil)
	}
	p.space()
	v, err := p.value(depth)
	if err != nil {
		return Value{}, err
	}
	p.space()
	if p.at < len(b) {
		return Value{}, p.unexpected("the end of the text")
	}
	if p.soft != nil {
		return Value{}, p.soft
	}
	return v, nil
}

// parser reads one text.
type parser struct {
	b       []byte
	at      int
	keys    [32]string   // keys met lately, so that rows share theirs
	scratch []byte       // a string that has escapes
	soft    *SyntaxError // the first fault that does not stop the reading
}

func (p *parser) space() {
	for p.at < len(p.b) {
		switch p.b[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// fail is the error for the byte at offset.
func (p *parser) fail(offset int, expected, found string, err error) *SyntaxError {
	before := p.b[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return &SyntaxError{
		Offset:   offset,
		Line:     bytes.Count(before, []byte{'\n'}) + 1,
		Column:   utf8.RuneCount(before[start:]) + 1,
		Expected: expected,
		Found:    found,
		Err:      err,
	}
}

// unexpected is the error for what stands at p.at.
func (p *parser) unexpected(expected string) *SyntaxError {
	return p.fail(p.at, expected, p.found(p.at), nil)
}

func (p *parser) found(at int) string {
	if at >= len(p.b) {
		return "the end of the text"
	}
	r, size := utf8.DecodeRune(p.b[at:])
	if r == utf8.RuneError && size == 1 {
		return fmt.Sprintf("the byte 0x%02x, which is not UTF-8", p.b[at])
	}
	return strconv.QuoteRuneToASCII(r)
}

// softly keeps the first fault that later text cannot make worse.
func (p *parser) softly(offset int, expected, found string, err error) {
	if p.soft == nil {
		p.soft = p.fail(offset, expected, found, err)
	}
}

// value reads a value that begins at p.at, inside depth lists and maps.
func (p *parser) value(depth int) (Value, error) {
	if p.at >= len(p.b) {
		return Value{}, p.unexpected("a JSON value")
	}
	switch c := p.b[p.at]; c {
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	case '"':
		b, err := p.text()
		if err != nil {
			return Value{}, err
		}
		return Value{ref: stringNode, str: string(b)}, nil
	case 't':
		return FromBool(true), p.word("true")
	case 'f':
		return FromBool(false), p.word("false")
	case 'n':
		return Value{}, p.word("null")
	default:
		if c == '-' || c-'0' <= 9 {
			return p.number()
		}
		return Value{}, p.unexpected("a JSON value")
	}
}

func (p *parser) word(w string) error {
	for i := range len(w) {
		if p.at+i >= len(p.b) || p.b[p.at+i] != w[i] {
			p.at += i
			return p.unexpected("the word " + w)
		}
	}
	p.at += len(w)
	return nil
}

func (p *parser) array(depth int) (Value, error) {
	if depth == MaxDepth {
		return Value{}, p.tooDeep()
	}
	var few [8]Value
	items := few[:0]
	p.at++
	p.space()
	if p.at < len(p.b) && p.b[p.at] == ']' {
		p.at++
		return Value{ref: emptyList}, nil
	}
	for {
		v, err := p.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		items = append(items, v)
		more, err := p.next(']')
		if err != nil {
			return Value{}, err
		}
		if !more {
			break
		}
	}
	return ownList(append(make([]Value, 0, len(items)), items...)), nil
}

func (p *parser) object(depth int) (Value, error) {
	if depth == MaxDepth {
		return Value{}, p.tooDeep()
	}
	var (
		few     [8]Entry
		where   [8]int
		entries = few[:0]
		places  = where[:0] // of the keys, in bytes
	)
	p.at++
	p.space()
	if p.at < len(p.b) && p.b[p.at] == '}' {
		p.at++
		return Value{ref: emptyMap}, nil
	}
	for {
		if p.at >= len(p.b) || p.b[p.at] != '"' {
			return Value{}, p.unexpected("a key in double quotes")
		}
		place := p.at
		b, err := p.text()
		if err != nil {
			return Value{}, err
		}
		key := p.key(b)
		p.space()
		if p.at >= len(p.b) || p.b[p.at] != ':' {
			return Value{}, p.unexpected("':'")
		}
		p.at++
		p.space()
		v, err := p.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		entries = append(entries, Entry{key, v})
		places = append(places, place)
		more, err := p.next('}')
		if err != nil {
			return Value{}, err
		}
		if !more {
			break
		}
	}
	return p.mapOf(append(make([]Entry, 0, len(entries)), entries...), places), nil
}

// mapOf is ownMap, where a duplicate is a fault.
func (p *parser) mapOf(entries []Entry, places []int) Value {
	n := &node{kind: Map, entries: entries}
	second := -1 // the first entry whose key an earlier one has
	if len(entries) <= indexed {
		var seen uint64
	search:
		for i := range entries {
			bit := keyBit(entries[i].Key)
			if seen&bit != 0 {
				for j := range i {
					if entries[j].Key == entries[i].Key {
						second = i
						break search
					}
				}
			}
			seen |= bit
		}
	} else {
		n.sorted = order(entries)
		for k := 1; k < len(n.sorted); k++ {
			i := int(n.sorted[k])
			if entries[n.sorted[k-1]].Key == entries[i].Key && (second < 0 || i < second) {
				second = i
			}
		}
	}
	if second >= 0 {
		p.softly(places[second], "a key that the map does not have yet", quote(entries[second].Key)+" again", ErrDuplicateKey)
	}
	return Value{ref: n}
}

// next reads what stands after an item: a comma, and there is more, or end.
func (p *parser) next(end byte) (more bool, err error) {
	p.space()
	if p.at < len(p.b) {
		switch p.b[p.at] {
		case ',':
			p.at++
			p.space()
			return true, nil
		case end:
			p.at++
			return false, nil
		}
	}
	return false, p.unexpected("',' or '" + string(rune(end)) + "'")
}

func (p *parser) tooDeep() error {
	return p.fail(p.at, fmt.Sprintf("at most %d lists and maps inside each other", MaxDepth), "one more", ErrDepth)
}

// key is b as a string, the same one as before where it was met lately.
func (p *parser) key(b []byte) string {
	if len(b) == 0 || len(b) > 32 {
		return string(b)
	}
	slot := &p.keys[(uint(len(b))*5+uint(b[0])*3+uint(b[len(b)-1]))%uint(len(p.keys))]
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
}

// text reads a string. What it returns is good until the next call.
func (p *parser) text() ([]byte, error) {
	start := p.at + 1
	i := nextEscape(p.b, start)
	if i < len(p.b) && p.b[i] == '"' { // no escape in it
		p.at = i + 1
		return p.valid(start, i)
	}
	p.scratch = p.scratch[:0]
	for {
		plain, err := p.valid(start, i)
		if err != nil {
			return nil, err
		}
		p.scratch = append(p.scratch, plain...)
		p.at = i
		if i >= len(p.b) {
			return nil, p.unexpected(`'"' at the end of a string`)
		}
		switch p.b[i] {
		case '"':
			p.at++
			return p.scratch, nil
		case '\\':
			if err := p.escape(); err != nil {
				return nil, err
			}
		default:
			return nil, p.unexpected("an escape for a control character")
		}
		start = p.at
		i = nextEscape(p.b, start)
	}
}

// valid is the bytes from start to end, if they are UTF-8.
func (p *parser) valid(start, end int) ([]byte, error) {
	s := p.b[start:end]
	if utf8.Valid(s) {
		return s, nil
	}
	for len(s) > 0 {
		r, size := utf8.DecodeRune(s)
		if r == utf8.RuneError && size == 1 {
			break
		}
		s = s[size:]
	}
	p.at = end - len(s)
	return nil, p.unexpected("text in UTF-8")
}

// escape reads the escape at p.at into the scratch.
func (p *parser) escape() error {
	if p.at+1 >= len(p.b) {
		p.at = len(p.b)
		return p.unexpected("an escape after '\\'")
	}
	c := p.b[p.at+1]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return p.unicode()
	default:
		p.at++
		return p.unexpected(`one of " \ / b f n r t u after '\'`)
	}
	p.scratch = append(p.scratch, c)
	p.at += 2
	return nil
}

// unicode reads the \u escape at p.at, and the second half of a surrogate pair.
func (p *parser) unicode() error {
	r, err := p.hex(p.at)
	if err != nil {
		return err
	}
	size := 6
	if utf16.IsSurrogate(r) {
		low := rune(-1)
		if at := p.at + 6; at+1 < len(p.b) && p.b[at] == '\\' && p.b[at+1] == 'u' {
			if low, err = p.hex(at); err != nil {
				return err
			}
		}
		pair := utf16.DecodeRune(r, low)
		if pair == utf8.RuneError {
			return p.fail(p.at, "a surrogate pair", fmt.Sprintf(`half of one, \u%04x`, r), nil)
		}
		r, size = pair, 12
	}
	p.scratch = utf8.AppendRune(p.scratch, r)
	p.at += size
	return nil
}

// hex reads the four digits of the \u escape at a place.
func (p *parser) hex(at int) (rune, error) {
	var r rune
	for i := at + 2; i < at+6; i++ {
		var digit byte
		if i < len(p.b) {
			switch c := p.b[i]; {
			case c-'0' <= 9:
				digit = c - '0'
			case c|0x20-'a' <= 5:
				digit = c | 0x20 - 'a' + 10
			default:
				return 0, p.fail(i, "four hexadecimal digits after '\\u'", p.found(i), nil)
			}
		} else {
			return 0, p.fail(len(p.b), "four hexadecimal digits after '\\u'", p.found(i), nil)
		}
		r = r<<4 | rune(digit)
	}
	return r, nil
}

// digits reads a run of digits and says how many there were.
func (p *parser) digits() int {
	start := p.at
	for p.at < len(p.b) && p.b[p.at]-'0' <= 9 {
		p.at++
	}
	return p.at - start
}

func (p *parser) number() (Value, error) {
	start := p.at
	if p.b[p.at] == '-' {
		p.at++
	}
	first := p.at
	n := p.digits()
	if n == 0 {
		return Value{}, p.unexpected("a digit")
	}
	if n > 1 && p.b[first] == '0' {
		p.at = first + 1
		return Value{}, p.unexpected("no digit after a leading 0")
	}
	integer := true
	if p.at < len(p.b) && p.b[p.at] == '.' {
		integer = false
		p.at++
		if p.digits() == 0 {
			return Value{}, p.unexpected("a digit after '.'")
		}
	}
	if p.at < len(p.b) && p.b[p.at]|0x20 == 'e' {
		integer = false
		p.at++
		if p.at < len(p.b) && (p.b[p.at] == '+' || p.b[p.at] == '-') {
			p.at++
		}
		if p.digits() == 0 {
			return Value{}, p.unexpected("a digit in the exponent")
		}
	}
	text := p.b[start:p.at]
	if integer {
		if n > MaxDigits {
			p.softly(start, fmt.Sprintf("an integer of at most %d digits", MaxDigits), fmt.Sprintf("one of %d", n), ErrNumberRange)
			return Value{}, nil
		}
		return integerOf(text, first > start), nil
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsInf(f, 0) {
		p.softly(start, "a number in the range of binary64", quote(string(text)), ErrNumberRange)
		return Value{}, nil
	}
	return Value{ref: floatNode, bits: math.Float64bits(f)}, nil
}

// integerOf is the integer that text, a sign and digits, stands for.
func integerOf(text []byte, negative bool) Value {
	digits := text
	if negative {
		digits = text[1:]
	}
	if len(digits) <= 18 { // fits an int64 whatever the digits are
		var i int64
		for _, c := range digits {
			i = i*10 + int64(c-'0')
		}
		if negative {
			i = -i
		}
		return FromInt(i)
	}
	i := bigOf(digits)
	if negative {
		i.Neg(i)
	}
	return ownBig(i)
}

// bigOf is the integer of digits. Halving keeps long ones below quadratic time.
func bigOf(digits []byte) *big.Int {
	const most = 1200
	if len(digits) <= most {
		i, _ := new(big.Int).SetString(string(digits), 10)
		return i
	}
	// The low part is most·2ᵏ digits long.
	low := most << (bits.Len(uint((len(digits)-1)/most)) - 1)
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(low)), nil)
	i := bigOf(digits[:len(digits)-low])
	i.Mul(i, power)
	return i.Add(i, bigOf(digits[len(digits)-low:]))
}
