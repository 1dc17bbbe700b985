package yamltree

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/value"
)

func (n *Node) wrong(expected string) *Error {
	return &Error{"MK203", n.Line, n.Column, "expected " + expected + ", found " + n.What()}
}

// AsString reads the string position: the source text is the string, so that
// no, 1:30 and 0.4 are these texts. Nothing, a collection and another tag than
// !!str are errors.
func (n *Node) AsString() (string, *Error) {
	if n.Kind != Scalar || n.Empty || n.Tag != "" && n.Tag != "!!str" {
		return "", n.wrong("a string")
	}
	return n.Text, nil
}

// AsBool reads the boolean position: true and false and the words of YAML 1.1,
// yes, no, on and off, in lower case, capitalised or in capitals.
func (n *Node) AsBool() (bool, *Error) {
	if n.Kind == Scalar && (n.Plain || n.Tag == "!!bool") {
		switch n.Text {
		case "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON":
			return true, nil
		case "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF":
			return false, nil
		}
	}
	return false, n.wrong("a boolean (true or false)")
}

// AsInt reads the integer position: decimal, 0x…, 0o…, or a float that is
// integral. A decimal with a leading zero or with _ is an error, because readers
// disagree about it, and so is what does not fit an int.
func (n *Node) AsInt() (int, *Error) {
	if n.Kind != Scalar || !n.Plain && n.Tag != "!!int" {
		return 0, n.wrong("an integer")
	}
	s := n.Text
	base, digits := 10, s
	switch {
	case strings.ContainsRune(s, '_'):
		return 0, n.wrong("an integer (readers disagree about _)")
	case isDecimal(s):
		if leadingZero(s) {
			return 0, n.wrong("an integer (readers disagree about a leading zero)")
		}
	case isOctal(s):
		base, digits = 8, s[2:]
	case isHex(s):
		base, digits = 16, s[2:]
	case isFloat(s):
		// 2^63 is exact in both; below it a float converts exactly when it is integral.
		if f, err := strconv.ParseFloat(s, 64); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<63 {
			return int(f), nil
		}
		return 0, n.wrong("an integer")
	default:
		return 0, n.wrong("an integer")
	}
	i, err := strconv.ParseInt(digits, base, strconv.IntSize)
	if err != nil {
		return 0, n.wrong("an integer of at most " + strconv.Itoa(math.MaxInt))
	}
	return int(i), nil
}

// AsValue reads the free position by the core schema of YAML 1.2, as
// LANGUAGE.md §3 lists it: 017 is 17, 1e3 is 1000.0, 0o17 is 15, and 0b11,
// 1_000, 1:30, dates, yes and no are strings. Infinities and NaN are errors
// (MK111). The error is the first.
func (n *Node) AsValue() (v value.Value, first *Error) {
	v = n.Value(func(e *Error) {
		if first == nil {
			first = e
		}
	})
	if first != nil {
		return value.Value{}, first
	}
	return v, nil
}

// Value is AsValue for who wants all errors: a scalar that has one reads as null.
func (n *Node) Value(report func(*Error)) value.Value {
	switch n.Kind {
	case Sequence:
		items := make([]value.Value, len(n.Items))
		for i, item := range n.Items {
			items[i] = item.Value(report)
		}
		return value.FromList(items...)
	case Mapping:
		entries := make([]value.Entry, len(n.Keys))
		for i, k := range n.Keys {
			entries[i] = value.Entry{Key: k.Text, Value: n.Values[i].Value(report)}
		}
		return value.FromEntries(entries...)
	}
	v, err := n.scalar()
	if err != nil {
		report(err)
		return value.Value{}
	}
	return v
}

func (n *Node) scalar() (value.Value, *Error) {
	v, kind, err := value.Value{}, value.String, (*Error)(nil)
	if n.Tag != "!!str" && (n.Plain || n.Tag != "") {
		if v, kind, err = n.core(); err != nil {
			return v, err
		}
	}
	ok := true
	switch n.Tag {
	case "!!int":
		ok = kind == value.Int
	case "!!float":
		ok = kind == value.Float
		if f, exact := v.AsFloat(); kind == value.Int && exact {
			var bad error
			if v, bad = value.FromFloat(f); bad != nil {
				return v, n.infinite()
			}
			ok = true
		}
	case "!!bool":
		ok = kind == value.Bool
	case "!!null":
		ok = kind == value.Null
	}
	if !ok {
		return value.Value{}, &Error{"MK203", n.Line, n.Column, "‹" + clip(n.Text) + "› is not what its tag " + n.Tag + " says"}
	}
	if kind == value.String {
		v = value.FromString(n.Text)
	}
	return v, nil
}

// core reads a plain text by the core schema. Kind String comes without a value.
func (n *Node) core() (value.Value, value.Kind, *Error) {
	s := n.Text
	if s == "" {
		return value.Value{}, value.Null, nil
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9', c == '+', c == '-', c == '.':
	case c == 't' || c == 'T' || c == 'f' || c == 'F' || c == 'n' || c == '~':
		switch s {
		case "null", "~":
			return value.Value{}, value.Null, nil
		case "true", "True", "TRUE":
			return value.FromBool(true), value.Bool, nil
		case "false", "False", "FALSE":
			return value.FromBool(false), value.Bool, nil
		}
		return value.Value{}, value.String, nil
	default:
		return value.Value{}, value.String, nil
	}
	switch {
	case len(s) > value.MaxDigits && (isDecimal(s) || isOctal(s) || isHex(s)):
		return value.Value{}, value.Int, &Error{"MK108", n.Line, n.Column, fmt.Sprintf("‹%s› is an integer of more than %d digits", clip(s), value.MaxDigits)}
	case isDecimal(s):
		return integer(s, 10), value.Int, nil
	case isOctal(s):
		return integer(s[2:], 8), value.Int, nil
	case isHex(s):
		return integer(s[2:], 16), value.Int, nil
	case isFloat(s):
		f, err := strconv.ParseFloat(s, 64)
		if errors.Is(err, strconv.ErrRange) && math.IsInf(f, 0) {
			return value.Value{}, value.Float, n.infinite()
		}
		v, err := value.FromFloat(f)
		if err != nil {
			return v, value.Float, n.infinite()
		}
		return v, value.Float, nil
	case isInfOrNaN(s):
		return value.Value{}, value.Float, n.infinite()
	}
	return value.Value{}, value.String, nil
}

func (n *Node) infinite() *Error {
	return &Error{"MK111", n.Line, n.Column, "‹" + clip(n.Text) + "› is not a finite number: put quotes around it if it is a text"}
}

// integer reads the digits of an integer of any length.
func integer(s string, base int) value.Value {
	if i, err := strconv.ParseInt(s, base, 64); err == nil {
		return value.FromInt(i)
	}
	b := bigInt(strings.TrimLeft(s, "+-"), base)
	if s[0] == '-' {
		b.Neg(b)
	}
	return value.FromBig(b)
}

// bigInt reads long numbers by halves: read at once, the time grows with the
// square of the length, and a document has room for four million digits.
func bigInt(s string, base int) *big.Int {
	const most = 2048     // digits that are read at once
	var powers []*big.Int // base to the power of most<<i
	for size := most; size < len(s); size *= 2 {
		p := new(big.Int)
		if len(powers) == 0 {
			p.Exp(big.NewInt(int64(base)), big.NewInt(most), nil)
		} else {
			last := powers[len(powers)-1]
			p.Mul(last, last)
		}
		powers = append(powers, p)
	}
	var read func(s string, i int) *big.Int
	read = func(s string, i int) *big.Int {
		if i < 0 {
			b, _ := new(big.Int).SetString(s, base)
			return b
		}
		low := most << i
		if len(s) <= low {
			return read(s, i-1)
		}
		high := read(s[:len(s)-low], i-1)
		return high.Add(high.Mul(high, powers[i]), read(s[len(s)-low:], i-1))
	}
	return read(s, len(powers)-1)
}

func all(s string, ok func(c byte) bool) bool {
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return s != ""
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func unsigned(s string) string {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return s[1:]
	}
	return s
}

func isDecimal(s string) bool { return all(unsigned(s), digit) }

func isOctal(s string) bool {
	return strings.HasPrefix(s, "0o") && all(s[2:], func(c byte) bool { return c >= '0' && c <= '7' })
}

func isHex(s string) bool {
	return strings.HasPrefix(s, "0x") && all(s[2:], hexDigit)
}

func hexDigit(c byte) bool { return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// isFloat: [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
func isFloat(s string) bool {
	s = unsigned(s)
	if s == "" || !digit(s[0]) && s[0] != '.' {
		return false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if !isDecimal(s[i+1:]) {
			return false
		}
		s = s[:i]
	}
	whole, part, point := strings.Cut(s, ".")
	if whole == "" {
		return point && all(part, digit)
	}
	return all(whole, digit) && (part == "" || all(part, digit))
}

func isInfOrNaN(s string) bool {
	switch s {
	case ".nan", ".NaN", ".NAN":
		return true
	}
	switch unsigned(s) {
	case ".inf", ".Inf", ".INF":
		return true
	}
	return false
}
