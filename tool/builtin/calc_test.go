package builtin

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/value"
	"pgregory.net/rapid"
)

func TestCalculate(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{"1+2*3", "7"},
		{"(1+2)*3", "9"},
		{" 1 +\t2\r\n", "3"},
		{"4/2", "2.0"},
		{"1/3", "0.3333333333333333"},
		{"7//2", "3"}, {"-7//2", "-4"}, {"7//-2", "-4"}, {"-7//-2", "3"},
		{"7%2", "1"}, {"-7%2", "1"}, {"7%-2", "-1"}, {"-7%-2", "-1"}, {"6%-2", "0"},
		{"7.5//2", "3.0"}, {"-7.5//2", "-4.0"}, {"-7.5%2", "0.5"}, {"7.5%-2", "-0.5"}, {"4.0%-2", "-0.0"},
		{"1//0.1", "9.0"}, // the double 0.1 is above a tenth
		{"-0.0//5", "-0.0"},
		{"2**10", "1024"},
		{"-2**2", "-4"}, {"(-2)**2", "4"}, // ** before the sign on its left
		{"2**3**2", "512"}, // right-associative
		{"2**-1", "0.5"},
		{"2**-2**2", "0.0625"},
		{"4**0.5", "2.0"},
		{"0**0", "1"}, {"(-1)**1001", "-1"}, {"(-1)**1000", "1"}, {"1**99999999999999999999", "1"},
		{"--5", "5"}, {"-+-5", "5"}, {"2--3", "5"}, {"2*-3", "-6"},
		{"0x1F", "31"}, {"0o17", "15"}, {"0b101", "5"}, {"0XfF", "255"}, {"0xe+1", "15"}, {"0x_ff", "255"},
		{"1_000_000", "1000000"}, {"1_0.5_0", "10.5"}, {"1e3", "1000.0"}, {"1E+3", "1000.0"}, {"1e-7", "1e-07"}, {".5", "0.5"}, {"5.", "5.0"},
		{"0", "0"}, {"00", "0"}, {"0.1+0.2", "0.30000000000000004"},
		{"1e23", "1e+23"}, {"-0.0", "-0.0"}, {"1e16", "1e+16"}, {"1e15", "1000000000000000.0"},
		{"9007199254740993", "9007199254740993"},
		{"9007199254740993*9007199254740993", "81129638414606699710187514626049"},
		{"10**400/10**399", "10.0"}, // neither side fits a float, the quotient does
		{"3-2-1", "0"}, {"8/4/2", "1.0"}, {"100//7//2", "7"},
		{"10**4299 // 10**4298", "10"},
	} {
		got, err := calculate(c.expr)
		if err != nil || got != c.want {
			t.Errorf("%s = %s, %v; want %s", c.expr, got, err, c.want)
		}
	}
}

func TestCalculateRefuses(t *testing.T) {
	for _, c := range []struct{ expr, why string }{
		{"", "the expression is empty"},
		{"  ", "the expression is empty"},
		{"1+", "expected a number, found the end"},
		{"*1", "expected a number, found '*'"},
		{"1 2", "expected an operator, found '2'"},
		{"(1", "a parenthesis is not closed"},
		{"1)", "expected an operator, found ')'"},
		{"()", "expected a number, found ')'"},
		{"abs(1)", "unexpected 'a'"},
		{"__import__", "unexpected '_'"},
		{"1 and 2", "unexpected 'a'"},
		{"true", "unexpected 't'"},
		{"1,5", "unexpected ','"},
		{"2^3", "unexpected '^'"},
		{"２+2", `unexpected '\uff12'`},
		{"1\u00a0+1", `unexpected '\u00a0'`},
		{"1/0", "division by zero"}, {"1//0", "division by zero"}, {"1%0", "division by zero"},
		{"1/0.0", "division by zero"}, {"1.0//0", "division by zero"}, {"0**-1", "division by zero"}, {"0.0**-1", "division by zero"},
		{"(-8)**0.5", "the result is no real number"},
		{"1e999", "the result is out of range"}, {"1e308*10", "the result is out of range"}, {"10**400*1.0", "the result is out of range"},
		{"10.0**400", "the result is out of range"},
		{"017", "'017' begins with a zero"},
		{"0x", "'0x' is no number"}, {"0b2", "'0b2' is no number"}, {"0o8", "'0o8' is no number"}, {"0x1.8", "'0x1.8' is no number"}, {"0x1p3", "'0x1p3' is no number"},
		{"1__0", "'1__0' is no number"}, {"1_", "'1_' is no number"}, {"1_.5", "'1_.5' is no number"}, {"1_e5", "'1_e5' is no number"}, {"1._5", "'1._5' is no number"}, {"0_x1", "'0_x1' is no number"},
		{"1.2.3", "'1.2.3' is no number"}, {"1e", "'1e' is no number"}, {".", "'.' is no number"}, {"1ab", "'1ab' is no number"}, {"12abc", "'12abc' is no number"},
		{strings.Repeat("1", 1001), "longer than 1000 characters"},
		{strings.Repeat("(", 101) + "1" + strings.Repeat(")", 101), "nested deeper than 100"},
		{strings.Repeat("-", 101) + "1", "nested deeper than 100"},
		{"1" + strings.Repeat("**1", 101), "nested deeper than 100"},
		{"10**4300", "an integer has more than 4300 digits"},
		{"9**9**9", "an integer has more than 4300 digits"},
		{"2**99999999999999999999999", "an integer has more than 4300 digits"},
		{"(10**4000)*(10**4000)", "an integer has more than 4300 digits"},
		{"10**4299*9+10**4299", "an integer has more than 4300 digits"},
	} {
		got, err := calculate(c.expr)
		if err == nil || err.Error() != c.why {
			t.Errorf("%.60s = %s, %v; want error %s", c.expr, got, err, c.why)
		}
	}
}

func TestCalculateBoundsAreInclusive(t *testing.T) {
	for _, expr := range []string{
		strings.Repeat("(", 100) + "1" + strings.Repeat(")", 100),
		strings.Repeat("-", 100) + "1",
		"1" + strings.Repeat("**1", 100),
		strings.Repeat("1", 1000),
		"10**4299",
		"10**4299*9",
		"1" + strings.Repeat(" ", 999),
	} {
		if _, err := calculate(expr); err != nil {
			t.Errorf("%.60s: %v", expr, err)
		}
	}
	got, err := calculate("10**4299")
	if err != nil || len(got) != 4300 {
		t.Errorf("%d digits, %v", len(got), err)
	}
}

// No expression costs more than a bounded amount of work: the bounds are looked
// at before the computing, so even the worst towers end at once.
func TestCalculateIsBounded(t *testing.T) {
	start := time.Now()
	for _, expr := range []string{
		"9**9**9**9**9", "(9**4000)**(9**4000)", "7**999999999999", strings.Repeat("9**99*", 150) + "1",
		"-(3**9000)//7**5000", strings.Repeat("9", 999) + "*9",
		"(2**14000)" + strings.Repeat("%(2**13999+1)", 50),
	} {
		_, _ = calculate(expr)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

// Integer arithmetic agrees with math/big, and ‹a› = (a//b)·b + a%b with the
// remainder on b's side.
func TestCalculateAgreesWithBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := big.NewInt(rapid.Int64().Draw(t, "a")), big.NewInt(rapid.Int64().Draw(t, "b"))
		eval := func(op string) *big.Int {
			s, err := calculate("(" + a.String() + ")" + op + "(" + b.String() + ")")
			if err != nil {
				t.Fatalf("%s %s %s: %v", a, op, b, err)
			}
			i, ok := new(big.Int).SetString(s, 10)
			if !ok {
				t.Fatalf("%s is no integer", s)
			}
			return i
		}
		if got, want := eval("*"), new(big.Int).Mul(a, b); got.Cmp(want) != 0 {
			t.Fatalf("%s, want %s", got, want)
		}
		if got, want := eval("-"), new(big.Int).Sub(a, b); got.Cmp(want) != 0 {
			t.Fatalf("%s, want %s", got, want)
		}
		if b.Sign() == 0 {
			return
		}
		q, m := eval("//"), eval("%")
		if back := new(big.Int).Add(new(big.Int).Mul(q, b), m); back.Cmp(a) != 0 {
			t.Fatalf("%s//%s = %s, %% = %s", a, b, q, m)
		}
		if m.CmpAbs(b) >= 0 || m.Sign() != 0 && m.Sign() != b.Sign() {
			t.Fatalf("remainder %s of %s", m, b)
		}
	})
}

var calcSeeds = []string{
	"1+2*3", "(1)", "-2**-2", "0x1f//3", "1_0.5e3", "9**9**9", "1/0", "((((", "1e999", "a", "1 2", "%", ".", "1e+", "２",
	"0b1_0", "7%-2.5", "--1", "\xff", "1**1**1",
}

func TestCalcSeedCount(t *testing.T) {
	if len(calcSeeds) < 20 {
		t.Fatalf("%d seeds", len(calcSeeds))
	}
}

func FuzzCalculate(f *testing.F) {
	for _, s := range calcSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		got, err := calculate(expr)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%q: a message of two lines: %q", expr, err)
			}
			return
		}
		v, perr := value.ParseJSON([]byte(got)) // a number of the language, and nothing else
		if perr != nil || v.JSON() != got {
			t.Errorf("%q = %q: %v", expr, got, perr)
		}
		switch v.Kind() {
		case value.Int, value.Float:
		default:
			t.Errorf("%q = %q, no number", expr, got)
		}
	})
}

func BenchmarkCalculate(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := calculate("(1200*19/100+35)//2"); err != nil {
			b.Fatal(err)
		}
	}
}
