package yamltree

import (
	"strconv"
	"strings"
)

// Position is what the key that a scalar stands under makes of it.
type Position uint8

const (
	Free Position = iota
	String
	Bool
	Int
)

// Legacy says how a YAML 1.1 reader takes a plain scalar that we, in this
// position, take for something else: "the boolean true", "a date". It is ""
// where both agree, and for anything but a plain scalar. It is what MK110 warns
// about (LANGUAGE.md §3).
func (n *Node) Legacy(p Position) string {
	if n.Kind != Scalar || !n.Plain || n.Empty || n.Text == "" {
		return ""
	}
	// Most scalars are words and sentences: only a number or a short word differs.
	if c := n.Text[0]; len(n.Text) > len("false") && !digit(c) && c != '+' && c != '-' && c != '.' {
		return ""
	}
	theirs := legacy(n.Text)
	switch p {
	case String:
		if theirs != "" {
			return theirs
		}
		// A number that only the newer readers see is one in a string position all the same.
		if isOctal(n.Text) || isFloat(n.Text) {
			return "a number"
		}
		return ""
	case Bool:
		return "" // the words that this position takes are booleans there too
	}
	switch s := n.Text; {
	case theirs == "" || theirs == "null":
		switch {
		case theirs == "null" && s != "null" && s != "~":
			return theirs // Null and NULL are strings here
		case theirs == "" && (isDecimal(s) || isOctal(s) || isFloat(s)):
			return "a string"
		}
		return ""
	case strings.HasPrefix(theirs, "the boolean"):
		switch s {
		case "true", "True", "TRUE", "false", "False", "FALSE":
			return ""
		}
	case strings.HasPrefix(theirs, "the integer"):
		if isHex(s) || isDecimal(s) && !leadingZero(s) {
			return ""
		}
	case theirs == "a float":
		if isFloat(s) || isInfOrNaN(s) {
			return ""
		}
	}
	return theirs
}

func leadingZero(s string) bool {
	s = unsigned(s)
	return len(s) > 1 && s[0] == '0'
}

// legacy is YAML 1.1's reading of a plain text, "" for a string. Where its page
// and its most used reader differ (y and n) the page is taken.
func legacy(s string) string {
	if c := s[0]; digit(c) || c == '+' || c == '-' || c == '.' {
		return legacyNumber(s)
	}
	switch s {
	case "~", "null", "Null", "NULL":
		return "null"
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE":
		return "the boolean true"
	case "n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE":
		return "the boolean false"
	case "=":
		return "a default value"
	case "<<":
		return "a merge key"
	}
	return ""
}

func legacyNumber(s string) string {
	if isInfOrNaN(s) {
		return "a float"
	}
	if date(s) {
		return "a date"
	}
	u := unsigned(s)
	if u == "" {
		return ""
	}
	number := func(digits string, base int) string {
		if i, err := strconv.ParseUint(digits, base, 63); err == nil {
			sign := ""
			if s[0] == '-' && i != 0 {
				sign = "-"
			}
			return "the integer " + sign + strconv.FormatUint(i, 10)
		}
		return "the integer " + clip(s)
	}
	plainDigits := strings.ReplaceAll(u, "_", "")
	switch {
	case u == "0":
		return "the integer 0"
	case strings.HasPrefix(u, "0b"):
		if all(u[2:], func(c byte) bool { return c == '0' || c == '1' || c == '_' }) && len(plainDigits) > 2 {
			return number(plainDigits[2:], 2)
		}
		return ""
	case strings.HasPrefix(u, "0x"):
		if all(u[2:], func(c byte) bool { return hexDigit(c) || c == '_' }) && len(plainDigits) > 2 {
			return number(plainDigits[2:], 16)
		}
		return ""
	case digit(u[0]) && all(u, func(c byte) bool { return digit(c) || c == '_' }):
		if u[0] != '0' {
			return number(plainDigits, 10)
		}
		if all(plainDigits, func(c byte) bool { return c <= '7' }) {
			return number(plainDigits, 8)
		}
		return "" // 089: a string there
	}
	if v, ok := sexagesimal(s, u); ok {
		return v
	}
	// [-+]?[0-9][0-9_]*\.[0-9_]*([eE][-+][0-9]+)? or \.[0-9][0-9_]*([eE][-+][0-9]+)?.
	// The page allows a sign in the second, its most used reader does not.
	m := u
	if i := strings.IndexAny(u, "eE"); i >= 0 {
		e := u[i+1:]
		if e == "" || e[0] != '+' && e[0] != '-' || !all(e[1:], digit) {
			return ""
		}
		m = u[:i]
	}
	whole, part, point := strings.Cut(m, ".")
	grouped := func(s string) bool { return all(s, func(c byte) bool { return digit(c) || c == '_' }) }
	switch {
	case !point:
		return ""
	case whole == "":
		if u == s && part != "" && digit(part[0]) && grouped(part) {
			return "a float"
		}
	case digit(whole[0]) && grouped(whole) && (part == "" || grouped(part)):
		return "a float"
	}
	return ""
}

// sexagesimal reads 1:30 and 1:30.5: numbers to the base of sixty.
// u is s without its sign.
func sexagesimal(s, u string) (string, bool) {
	parts := strings.Split(u, ":")
	if len(parts) < 2 || parts[0] == "" || !digit(parts[0][0]) {
		return "", false
	}
	last := &parts[len(parts)-1]
	float := false
	if whole, part, point := strings.Cut(*last, "."); point {
		if part != "" && !all(part, func(c byte) bool { return digit(c) || c == '_' }) {
			return "", false
		}
		*last, float = whole, true
	}
	if !all(parts[0], func(c byte) bool { return digit(c) || c == '_' }) || !float && parts[0][0] == '0' {
		return "", false
	}
	total, err := strconv.ParseUint(strings.ReplaceAll(parts[0], "_", ""), 10, 32)
	for _, p := range parts[1:] {
		if len(p) < 1 || len(p) > 2 || !all(p, digit) || len(p) == 2 && p[0] > '5' {
			return "", false
		}
		v, _ := strconv.ParseUint(p, 10, 8)
		total = total*60 + v
	}
	if float {
		return "a float", true
	}
	if err != nil || len(parts) > 5 {
		return "an integer to the base of sixty", true
	}
	sign := ""
	if s[0] == '-' && total != 0 {
		sign = "-"
	}
	return "the integer " + sign + strconv.FormatUint(total, 10), true
}

// date tells YAML 1.1's timestamps: 2024-01-02, alone or with a time.
func date(s string) bool {
	count := func() int {
		i := 0
		for i < len(s) && digit(s[i]) {
			i++
		}
		return i
	}
	take := func(low, high int) bool {
		i := count()
		if i < low || i > high {
			return false
		}
		s = s[i:]
		return true
	}
	is := func(c byte) bool {
		if s == "" || s[0] != c {
			return false
		}
		s = s[1:]
		return true
	}
	whole := s
	if !take(4, 4) || !is('-') || !take(1, 2) || !is('-') || !take(1, 2) {
		return false
	}
	if s == "" {
		return len(whole) == len("2024-01-02")
	}
	if s[0] != 'T' && s[0] != 't' && s[0] != ' ' && s[0] != '\t' {
		return false
	}
	s = strings.TrimLeft(s, "Tt \t")
	if !take(1, 2) || !is(':') || !take(2, 2) || !is(':') || !take(2, 2) {
		return false
	}
	if is('.') {
		s = s[count():]
	}
	if s = strings.TrimLeft(s, " \t"); s == "" || s == "Z" {
		return true
	}
	if s[0] != '+' && s[0] != '-' {
		return false
	}
	s = s[1:]
	return take(1, 2) && (s == "" || is(':') && take(2, 2) && s == "")
}
