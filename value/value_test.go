package value

import (
	"math"
	"math/big"
	"reflect"
	"strings"
	"sync"
	"testing"
)

func parse(t testing.TB, s string) Value {
	t.Helper()
	v, err := ParseJSON([]byte(s))
	if err != nil {
		t.Fatalf("ParseJSON(%.80q): %v", s, err)
	}
	return v
}

func float(t testing.TB, f float64) Value {
	t.Helper()
	v, err := FromFloat(f)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestZeroValueIsNull(t *testing.T) {
	var v Value
	if !v.IsNull() || v.Kind() != Null || v.JSON() != "null" || v.Truthy() || v.Len() != 0 || v.Any() != nil {
		t.Errorf("zero Value: kind %v, JSON %s", v.Kind(), v.JSON())
	}
}

func TestFloatText(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want string
	}{
		{0, "0.0"}, {math.Copysign(0, -1), "-0.0"}, {1, "1.0"}, {-1.5, "-1.5"}, {0.1, "0.1"},
		{1e-4, "0.0001"}, {1e-5, "1e-05"}, {1e-7, "1e-07"}, {1.5e-7, "1.5e-07"},
		{9999999999999998, "9999999999999998.0"}, {1e15, "1000000000000000.0"}, {1e16, "1e+16"},
		{1e22, "1e+22"}, {1e23, "1e+23"}, {-1e100, "-1e+100"}, {5e-324, "5e-324"},
		{math.MaxFloat64, "1.7976931348623157e+308"}, {1.0 / 3, "0.3333333333333333"},
	} {
		if got := float(t, c.f).JSON(); got != c.want {
			t.Errorf("%v: %s, want %s", c.f, got, c.want)
		}
	}
}

func TestFloatRefusesWhatIsNotFinite(t *testing.T) {
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := FromFloat(f); err != ErrNotFinite {
			t.Errorf("FromFloat(%v): %v", f, err)
		}
	}
}

func TestJSONText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`null`, `null`},
		{`{"b":[1,2.50,true],"a":{}}`, `{"b": [1, 2.5, true], "a": {}}`},
		{`"é\u2028<&>\u007f"`, "\"é\u2028<&>\u007f\""},
		{`"\u0000\b\t\n\u000b\f\r\u001f\"\\\/"`, `"\u0000\b\t\n\u000b\f\r\u001f\"\\/"`},
		{`12345678901234567890123456789`, `12345678901234567890123456789`},
		{`-0`, `0`},
		{`[]`, `[]`},
	} {
		if got := parse(t, c.in).JSON(); got != c.want {
			t.Errorf("%s: %s, want %s", c.in, got, c.want)
		}
	}
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"b": 1.0, "a": [1e0, -0.0], "é": 2, "z": 0.5}`, `{"a":[1,0],"b":1,"z":0.5,"é":2}`},
		{`9007199254740993`, `9007199254740993`},
		{`1e22`, `10000000000000000000000`},
		{`1e23`, `99999999999999991611392`},
		{`-9223372036854775808.0`, `-9223372036854775808`},
		{"{\"\U0001F600\": 1, \"\uFFFD\": 2}", "{\"\uFFFD\":2,\"\U0001F600\":1}"}, // code points, not UTF-16 units
	} {
		if got := string(parse(t, c.in).AppendCanonical(nil)); got != c.want {
			t.Errorf("%s: %s, want %s", c.in, got, c.want)
		}
	}
}

func TestEqual(t *testing.T) {
	huge := strings.Repeat("1", 400)
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`true`, `1`, false}, {`1`, `"1"`, false}, {`null`, `""`, false}, {`false`, `0`, false}, {`null`, `false`, false},
		{`1`, `1.0`, true}, {`0`, `-0.0`, true}, {`0.0`, `-0.0`, true}, {`1`, `1.5`, false},
		{`9007199254740993`, `9007199254740992.0`, false}, {`9007199254740992`, `9007199254740992.0`, true},
		{`9223372036854775807`, `9223372036854775808.0`, false}, {`9223372036854775808`, `9223372036854775808.0`, true},
		{`-9223372036854775808`, `-9223372036854775808.0`, true}, {`-9223372036854775808`, `9223372036854775808.0`, false},
		{`10000000000000000000000`, `1e22`, true}, {`100000000000000000000000`, `1e23`, false},
		{huge, huge, true}, {huge, `-` + huge, false}, {huge, `1e308`, false},
		{`{"a":1,"b":2}`, `{"b":2.0,"a":1}`, true}, {`{"a":1}`, `{"b":1}`, false}, {`{"a":null}`, `{}`, false},
		{`[1,2]`, `[2,1]`, false}, {`[1,[2]]`, `[1.0,[2]]`, true}, {`[]`, `{}`, false}, {`[1]`, `[1,1]`, false},
	} {
		a, b := parse(t, c.a), parse(t, c.b)
		if Equal(a, b) != c.want || Equal(b, a) != c.want {
			t.Errorf("%.40s = %.40s: %v, want %v", c.a, c.b, !c.want, c.want)
		}
		if same := string(a.AppendCanonical(nil)) == string(b.AppendCanonical(nil)); same != c.want {
			t.Errorf("%.40s, %.40s: same canonical JSON: %v, want %v", c.a, c.b, same, c.want)
		}
	}
}

func TestTruthy(t *testing.T) {
	for in, want := range map[string]bool{
		`null`: false, `false`: false, `0`: false, `0.0`: false, `-0.0`: false, `""`: false, `[]`: false, `{}`: false,
		`true`: true, `1`: true, `0.1`: true, `"false"`: true, `" "`: true, `[0]`: true, `{"a":0}`: true,
		`100000000000000000000`: true,
	} {
		if got := parse(t, in).Truthy(); got != want {
			t.Errorf("%s: %v", in, got)
		}
	}
}

func TestAppendIsInvisible(t *testing.T) {
	base := FromList(FromInt(0)).Append(FromInt(1)) // capacity to spare
	a := base.Append(FromString("a"))
	b := base.Append(FromString("b"))
	c := a.Append(FromString("c"))
	for _, x := range []struct {
		v    Value
		want string
	}{{base, `[0, 1]`}, {a, `[0, 1, "a"]`}, {b, `[0, 1, "b"]`}, {c, `[0, 1, "a", "c"]`}} {
		if got := x.v.JSON(); got != x.want {
			t.Errorf("%s, want %s", got, x.want)
		}
	}
	if got := FromString("").Append(FromInt(1)).JSON(); got != `["", 1]` {
		t.Errorf("appending to a string: %s", got)
	}
	if got := (Value{}).Append(FromInt(1)).JSON(); got != `[null, 1]` {
		t.Errorf("appending to null: %s", got)
	}
}

func TestAppendFromManyGoroutines(t *testing.T) {
	base := FromList()
	for i := range 5 { // room for three more
		base = base.Append(FromInt(int64(i)))
	}
	var wg sync.WaitGroup
	got := make([]Value, 8)
	for g := range got {
		wg.Add(1)
		go func() {
			defer wg.Done()
			v := base
			for range 100 {
				v = v.Append(FromInt(int64(g)))
			}
			got[g] = v
		}()
	}
	wg.Wait()
	for g, v := range got {
		if v.Len() != 105 {
			t.Fatalf("goroutine %d: %d items", g, v.Len())
		}
		for i := 5; i < 105; i++ {
			if n, _ := v.At(i).AsInt(); n != int64(g) {
				t.Fatalf("goroutine %d sees %d at %d", g, n, i)
			}
		}
	}
}

// TestAppendStaysCheap: a run that accumulates 500 items copies a handful of times,
// not 500.
func TestAppendStaysCheap(t *testing.T) {
	n := testing.AllocsPerRun(10, func() {
		v := FromList()
		for range 500 {
			v = v.Append(Value{})
		}
	})
	if n > 20 {
		t.Errorf("%v allocations for 500 items", n)
	}
}

func TestValueIsSmall(t *testing.T) {
	if size := reflect.TypeFor[Value]().Size(); size > 40 {
		t.Errorf("a Value takes %d bytes", size)
	}
}

func TestConstructorsCopy(t *testing.T) {
	items := []Value{FromInt(1)}
	list := FromList(items...)
	items[0] = FromInt(2)
	i := new(big.Int).Lsh(big.NewInt(1), 100)
	v := FromBig(i)
	i.SetInt64(0)
	out, _ := v.AsBig()
	out.SetInt64(1)
	if list.JSON() != "[1]" || v.JSON() != "1267650600228229401496703205376" {
		t.Errorf("%s, %s: a caller changed a value", list.JSON(), v.JSON())
	}
}

func TestFromStringReplacesBadBytes(t *testing.T) {
	if got, _ := FromString("a\xff\xfeb\xe2\x82").AsString(); got != "a\uFFFD\uFFFDb\uFFFD\uFFFD" {
		t.Errorf("%q", got)
	}
	if got := FromEntries(Entry{"\xff", FromInt(1)}, Entry{"\xfe", FromInt(2)}).JSON(); got != "{\"\uFFFD\": 2}" {
		t.Errorf("%s", got)
	}
}
