package builtin

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/value"
)

// Bounds of calc (LANGUAGE.md §12.3). All of them are checked before the work
// that they bound is done: a tool call must not hang the host.
const (
	maxExpression = 1000 // characters
	maxNesting    = 100
	maxDigits     = 4300 // of an integer result, decimal
)

// A number is exact (int) or a finite float.
type number struct {
	i *big.Int // nil for a float
	f float64
}

func (n number) text() (string, error) {
	if n.i != nil {
		return value.FromBig(n.i).JSON(), nil
	}
	v, err := value.FromFloat(n.f)
	if err != nil {
		return "", errRange
	}
	return v.JSON(), nil
}

var (
	errRange    = errors.New("the result is out of range")
	errDigits   = fmt.Errorf("an integer has more than %d digits", maxDigits)
	errZero     = errors.New("division by zero")
	errNesting  = fmt.Errorf("nested deeper than %d", maxNesting)
	errReal     = errors.New("the result is no real number")
	errEmpty    = errors.New("the expression is empty")
	errExprSize = fmt.Errorf("longer than %d characters", maxExpression)
)

// calculate evaluates an expression of numbers, + - * / // % **, signs and
// parentheses, and gives the number's text (LANGUAGE.md §1).
func calculate(expr string) (string, error) {
	if utf8.RuneCountInString(expr) > maxExpression {
		return "", errExprSize
	}
	p := calc{rest: expr}
	if err := p.next(); err != nil {
		return "", err
	}
	if p.tok == "" {
		return "", errEmpty
	}
	n, err := p.sum()
	if err != nil {
		return "", err
	}
	if p.tok != "" {
		return "", fmt.Errorf("expected an operator, found '%s'", p.tok)
	}
	return n.text()
}

// calc is a recursive-descent evaluator with one token of lookahead:
//
//	sum   = term {("+" | "-") term}
//	term  = sign {("*" | "/" | "//" | "%") sign}
//	sign  = ("+" | "-") sign | power
//	power = atom ["**" sign]
//	atom  = number | "(" sum ")"
type calc struct {
	rest  string
	tok   string // "" at the end
	depth int
}

// next takes the next token. Nothing but numbers, operators and parentheses is
// one, so there are no names and no calls.
func (p *calc) next() error {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	n := 0
	switch c := p.rest; {
	case c == "":
	case strings.HasPrefix(c, "**"), strings.HasPrefix(c, "//"):
		n = 2
	case strings.IndexByte("+-*/%()", c[0]) >= 0:
		n = 1
	case isDigit(c[0]) || c[0] == '.':
		n = numeralLen(c)
	default:
		r, _ := utf8.DecodeRuneInString(c)
		return fmt.Errorf("unexpected %s", strconv.QuoteRuneToASCII(r))
	}
	p.tok, p.rest = p.rest[:n], p.rest[n:]
	return nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(c byte) bool {
	return isDigit(c) || c == '_' || c == '.' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// numeralLen is the length of what could be a number at the start of s: a run
// of word characters, and the sign of a decimal exponent.
func numeralLen(s string) int {
	hex := len(s) > 1 && s[0] == '0' && strings.IndexByte("xXoObB", s[1]) >= 0
	n := 0
	for n < len(s) {
		switch c := s[n]; {
		case isWord(c):
		case (c == '+' || c == '-') && n > 0 && (s[n-1] == 'e' || s[n-1] == 'E') && !hex:
		default:
			return n
		}
		n++
	}
	return n
}

func (p *calc) enter() error {
	if p.depth++; p.depth > maxNesting {
		return errNesting
	}
	return nil
}

func (p *calc) sum() (number, error) {
	left, err := p.term()
	for err == nil && (p.tok == "+" || p.tok == "-") {
		left, err = p.operand(left, p.term)
	}
	return left, err
}

func (p *calc) term() (number, error) {
	left, err := p.sign()
	for err == nil && (p.tok == "*" || p.tok == "/" || p.tok == "//" || p.tok == "%") {
		left, err = p.operand(left, p.sign)
	}
	return left, err
}

// operand takes the operator that is the current token and its right side.
func (p *calc) operand(left number, side func() (number, error)) (number, error) {
	op := p.tok
	if err := p.next(); err != nil {
		return number{}, err
	}
	right, err := side()
	if err != nil {
		return number{}, err
	}
	return apply(op, left, right)
}

func (p *calc) sign() (number, error) {
	op := p.tok
	if op != "+" && op != "-" {
		return p.power()
	}
	if err := p.enter(); err != nil {
		return number{}, err
	}
	defer func() { p.depth-- }()
	if err := p.next(); err != nil {
		return number{}, err
	}
	n, err := p.sign()
	if err != nil || op == "+" {
		return n, err
	}
	if n.i != nil {
		return number{i: new(big.Int).Neg(n.i)}, nil
	}
	return number{f: -n.f}, nil
}

// power binds tighter than a sign on its left and is right-associative.
func (p *calc) power() (number, error) {
	base, err := p.atom()
	if err != nil || p.tok != "**" {
		return base, err
	}
	if err := p.enter(); err != nil {
		return number{}, err
	}
	defer func() { p.depth-- }()
	return p.operand(base, p.sign)
}

func (p *calc) atom() (number, error) {
	tok := p.tok
	switch {
	case tok == "":
		return number{}, errors.New("expected a number, found the end")
	case tok == "(":
		if err := p.enter(); err != nil {
			return number{}, err
		}
		if err := p.next(); err != nil {
			return number{}, err
		}
		n, err := p.sum()
		if err != nil {
			return number{}, err
		}
		if p.tok != ")" {
			return number{}, errors.New("a parenthesis is not closed")
		}
		p.depth--
		return n, p.next()
	case isDigit(tok[0]) || tok[0] == '.':
		n, err := literal(tok)
		if err != nil {
			return number{}, err
		}
		return n, p.next()
	}
	return number{}, fmt.Errorf("expected a number, found '%s'", tok)
}

func literal(tok string) (number, error) {
	base := literalBase(tok)
	s := tok
	if strings.Contains(tok, "_") {
		if !underscores(tok, base) {
			return number{}, notNumber(tok)
		}
		s = strings.ReplaceAll(tok, "_", "")
	}
	if base != 10 {
		i, ok := new(big.Int).SetString(s[2:], base)
		if !ok {
			return number{}, notNumber(tok)
		}
		return whole(i)
	}
	if strings.ContainsAny(s, ".eE") {
		for i := range len(s) { // ParseFloat would take words and hex too
			if !isDigit(s[i]) && strings.IndexByte(".eE+-", s[i]) < 0 {
				return number{}, notNumber(tok)
			}
		}
		f, err := strconv.ParseFloat(s, 64)
		if errors.Is(err, strconv.ErrRange) {
			return number{}, errRange
		}
		if err != nil {
			return number{}, notNumber(tok)
		}
		return number{f: f}, nil
	}
	if s[0] == '0' && strings.Trim(s, "0") != "" {
		// Octal to some readers, decimal to others.
		return number{}, fmt.Errorf("'%s' begins with a zero", tok)
	}
	i, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return number{}, notNumber(tok)
	}
	return whole(i)
}

func notNumber(tok string) error { return fmt.Errorf("'%s' is no number", tok) }

func literalBase(s string) int {
	if len(s) > 1 && s[0] == '0' {
		switch s[1] {
		case 'x', 'X':
			return 16
		case 'o', 'O':
			return 8
		case 'b', 'B':
			return 2
		}
	}
	return 10
}

// underscores reports whether every _ stands between two digits, or between the
// prefix of a base and a digit.
func underscores(s string, base int) bool {
	for i := range len(s) {
		if s[i] != '_' {
			continue
		}
		if i == 0 || i == len(s)-1 || !digitOf(s[i+1], base) {
			return false
		}
		if !digitOf(s[i-1], base) && (base == 10 || i != 2) {
			return false
		}
	}
	return true
}

func digitOf(c byte, base int) bool {
	return isDigit(c) || base == 16 && ('a' <= c && c <= 'f' || 'A' <= c && c <= 'F')
}

// limit is the smallest integer with too many digits, and limitBits its bit
// length, which bounds what is computed at all.
var limit = sync.OnceValue(func() *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(maxDigits), nil)
})

const limitBits = 14285

func whole(i *big.Int) (number, error) {
	if i.BitLen() >= limitBits && i.CmpAbs(limit()) >= 0 {
		return number{}, errDigits
	}
	return number{i: i}, nil
}

func finite(f float64) (number, error) {
	switch {
	case math.IsNaN(f):
		return number{}, errReal
	case math.IsInf(f, 0):
		return number{}, errRange
	}
	return number{f: f}, nil
}

func (n number) float() (float64, error) {
	if n.i == nil {
		return n.f, nil
	}
	f, _ := new(big.Float).SetInt(n.i).Float64()
	if math.IsInf(f, 0) {
		return 0, errRange
	}
	return f, nil
}

func (n number) zero() bool { return n.i != nil && n.i.Sign() == 0 || n.i == nil && n.f == 0 }

func apply(op string, a, b number) (number, error) {
	switch op {
	case "/", "//", "%":
		if b.zero() {
			return number{}, errZero
		}
	}
	if a.i != nil && b.i != nil {
		return applyInt(op, a.i, b.i)
	}
	x, err := a.float()
	if err != nil {
		return number{}, err
	}
	y, err := b.float()
	if err != nil {
		return number{}, err
	}
	return applyFloat(op, x, y)
}

func applyInt(op string, a, b *big.Int) (number, error) {
	z := new(big.Int)
	switch op {
	case "+":
		return whole(z.Add(a, b))
	case "-":
		return whole(z.Sub(a, b))
	case "*":
		if a.BitLen()+b.BitLen()-1 > limitBits {
			return number{}, errDigits
		}
		return whole(z.Mul(a, b))
	case "/":
		f, _ := new(big.Rat).SetFrac(a, b).Float64() // the quotient rounded once, also where neither side fits a float
		return finite(f)
	case "//", "%":
		m := new(big.Int)
		z.DivMod(a, b, m) // Euclidean: 0 ≤ m < |b|
		if m.Sign() != 0 && b.Sign() < 0 {
			// Rounded down instead: the remainder has the sign of b.
			z.Sub(z, big.NewInt(1))
			m.Add(m, b)
		}
		if op == "%" {
			return whole(m)
		}
		return whole(z)
	}
	return power(a, b)
}

func power(a, b *big.Int) (number, error) {
	if b.Sign() < 0 {
		if a.Sign() == 0 {
			return number{}, errZero
		}
		x, err := number{i: a}.float()
		if err != nil {
			return number{}, err
		}
		y, err := number{i: b}.float()
		if err != nil {
			return number{}, err
		}
		return applyFloat("**", x, y)
	}
	if a.BitLen() <= 1 { // -1, 0, 1: any exponent is cheap
		switch {
		case b.Sign() == 0:
			return number{i: big.NewInt(1)}, nil
		case a.Sign() < 0 && b.Bit(0) == 0:
			return number{i: big.NewInt(1)}, nil
		}
		return number{i: a}, nil
	}
	// |a|^b has more than (bits(a)-1)·b bits.
	if !b.IsInt64() || b.Int64() > limitBits || int64(a.BitLen()-1)*b.Int64() >= limitBits {
		return number{}, errDigits
	}
	return whole(new(big.Int).Exp(a, b, nil))
}

func applyFloat(op string, x, y float64) (number, error) {
	switch op {
	case "+":
		return finite(x + y)
	case "-":
		return finite(x - y)
	case "*":
		return finite(x * y)
	case "/":
		return finite(x / y)
	case "//", "%":
		m := math.Mod(x, y)
		if m != 0 && (m < 0) != (y < 0) {
			m += y
		}
		if op == "%" {
			if m == 0 {
				m = math.Copysign(0, y)
			}
			return finite(m)
		}
		// From the exact remainder: x/y alone may round up to the next integer.
		q := (x - m) / y
		if q != 0 {
			f := math.Floor(q)
			if q-f > 0.5 {
				f++
			}
			return finite(f)
		}
		return finite(math.Copysign(0, x/y))
	}
	if x == 0 && y < 0 {
		return number{}, errZero
	}
	return finite(math.Pow(x, y))
}
