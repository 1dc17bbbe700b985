package yamltree

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/value"
)

// scalar reads one scalar as it stands behind a key.
func scalar(t testing.TB, src string) *Node {
	t.Helper()
	return mustRead(t, "k: "+src+"\n").Values[0]
}

// TestAsString: the source text is the string [CASES 69].
func TestAsString(t *testing.T) {
	for src, want := range map[string]string{
		"no": "no", "on": "on", "yes": "yes", "y": "y", "1": "1", "0.4": "0.4", "null": "null", "~": "~",
		"2024-01-02": "2024-01-02", "1:30": "1:30", "017": "017", ".inf": ".inf", "=": "=", "<<": "<<",
		"'no'": "no", `"1"`: "1", "!!str 1": "1", `""`: "", "!!str": "", "|\n  a\n  b": "a\nb\n", "a\n  b": "a b",
	} {
		if got, err := scalar(t, src).AsString(); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", src, got, err, want)
		}
	}
	for src, found := range map[string]string{
		"": "nothing", "# x": "nothing", "&a": "nothing", "[a]": "a list", "{a: b}": "a mapping",
		"!!int 1": "an integer", "!!null x": "null", "!!bool no": "a boolean", "!!float 1": "a float",
	} {
		_, err := scalar(t, src).AsString()
		if want := "expected a string, found " + found; err == nil || err.Code != "MK203" || err.Message != want {
			t.Errorf("%s: got %v, want %s", src, err, want)
		}
	}
	n := mustRead(t, "a: &a [x]\nb: *a\n")
	if _, err := n.Values[1].AsString(); err == nil || err.Error() != "MK203 2:4 expected a string, found a list" {
		t.Errorf("alias to a collection: %v", err)
	}
}

func TestAsBool(t *testing.T) {
	for _, word := range []string{"true", "yes", "on", "false", "no", "off"} {
		want := word == "true" || word == "yes" || word == "on"
		for _, src := range []string{word, strings.ToUpper(word), strings.ToUpper(word[:1]) + word[1:], "!!bool " + word} {
			if got, err := scalar(t, src).AsBool(); err != nil || got != want {
				t.Errorf("%s: got %v, %v", src, got, err)
			}
		}
	}
	for _, src := range []string{"", "y", "n", "1", "0", "tRue", "'true'", "!!str true", "[true]", "null", "truee"} {
		if _, err := scalar(t, src).AsBool(); err == nil || err.Code != "MK203" {
			t.Errorf("%s: got %v", src, err)
		}
	}
}

func TestAsInt(t *testing.T) {
	for src, want := range map[string]int{
		"0": 0, "-0": 0, "7": 7, "+7": 7, "-7": -7, "0x1F": 31, "0xff": 255, "0o17": 15, "9.0": 9, "1e3": 1000, "2.5e1": 25, "-3.": -3,
		"!!int 5": 5, "!!int '5'": 5,
		strconv.Itoa(math.MaxInt): math.MaxInt, strconv.Itoa(math.MinInt): math.MinInt,
	} {
		if got, err := scalar(t, src).AsInt(); err != nil || got != want {
			t.Errorf("%s: got %d, %v, want %d", src, got, err, want)
		}
	}
	for src, hint := range map[string]string{
		"": "", "x": "", "'5'": "", "!!str 5": "", "[5]": "", "1.5": "", "1e-1": "", ".inf": "", "0x": "", "0o8": "", "-0x1": "", "true": "", "1e400": "",
		"017": "leading zero", "-07": "leading zero", "00": "leading zero", "1_000": "_", "0x_f": "_",
		"0b11": "", "1:30": "", "9223372036854775808": "at most", "1e19": "", "0xffffffffffffffff": "at most",
	} {
		_, err := scalar(t, src).AsInt()
		if err == nil || err.Code != "MK203" || !strings.Contains(err.Message, hint) {
			t.Errorf("%s: got %v, want a word of %q", src, err, hint)
		}
	}
}

// TestAsValue is the list of LANGUAGE.md §3 for the free position.
func TestAsValue(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"null", "null"}, {"~", "null"}, {"", "null"}, {"&a", "null"},
		{"Null", `"Null"`}, {"NULL", `"NULL"`},
		{"true", "true"}, {"True", "true"}, {"TRUE", "true"}, {"false", "false"}, {"False", "false"}, {"FALSE", "false"},
		{"tRUE", `"tRUE"`}, {"yes", `"yes"`}, {"no", `"no"`}, {"on", `"on"`}, {"off", `"off"`}, {"y", `"y"`},
		{"0", "0"}, {"7", "7"}, {"+7", "7"}, {"-7", "-7"}, {"017", "17"}, {"-017", "-17"}, {"089", "89"},
		{"0o17", "15"}, {"0x1F", "31"}, {"0xffffffffffffffffff", "4722366482869645213695"}, {"0b11", `"0b11"`}, {"0o8", `"0o8"`}, {"0xg", `"0xg"`}, {"-0x1", `"-0x1"`},
		{"1_000", `"1_000"`}, {"1:30", `"1:30"`}, {"2024-01-02", `"2024-01-02"`}, {"2024-01-02T03:04:05Z", `"2024-01-02T03:04:05Z"`},
		{"1e3", "1000.0"}, {"1E3", "1000.0"}, {"1.5", "1.5"}, {"1.", "1.0"}, {".5", "0.5"}, {"-.5", "-0.5"}, {"+1.5e-3", "0.0015"}, {"-0.0", "-0.0"}, {"1e-400", "0.0"},
		{".", `"."`}, {"+", `"+"`}, {"-", ""}, {"-x", `"-x"`}, {"1e", `"1e"`}, {"e1", `"e1"`}, {".e1", `".e1"`}, {"1.2.3", `"1.2.3"`}, {"1 2", `"1 2"`}, {"+-1", `"+-1"`},
		{"123456789012345678901234567890", "123456789012345678901234567890"}, {"-9223372036854775809", "-9223372036854775809"},
		{"'1'", `"1"`}, {`"true"`, `"true"`}, {"|-\n  1", `"1"`}, {"=", `"="`}, {".INFx", `".INFx"`},
		{"!!str 1", `"1"`}, {"!!str", `""`}, {"!!str null", `"null"`}, {"!!int '12'", "12"}, {"!!float 1", "1.0"}, {"!!float '1e3'", "1000.0"}, {"!!bool 'true'", "true"}, {"!!null ''", "null"}, {"!!null null", "null"},
		{"{b: 1, a: [x, null, {}]}", `{"b": 1, "a": ["x", null, {}]}`}, {"!!map {}", "{}"},
	} {
		if c.want == "" {
			continue // "- " begins a list
		}
		got, err := scalar(t, c.src).AsValue()
		if err != nil || got.JSON() != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.src, got.JSON(), err, c.want)
		}
	}
	for src, code := range map[string]string{
		".inf": "MK111", "-.inf": "MK111", "+.INF": "MK111", ".Inf": "MK111", ".nan": "MK111", ".NaN": "MK111", ".NAN": "MK111", "1e400": "MK111", "-1e999": "MK111",
		"[1, [.nan]]": "MK111", "{a: .inf}": "MK111", "!!float .inf": "MK111",
		"!!int x": "MK203", "!!int 1.5": "MK203", "!!float x": "MK203", "!!bool yes": "MK203", "!!null x": "MK203", "!!int ''": "MK203", "!!null 0": "MK203",
	} {
		if v, err := scalar(t, src).AsValue(); err == nil || err.Code != code || !v.IsNull() {
			t.Errorf("%s: got %s, %v, want %s", src, v.JSON(), err, code)
		}
	}
	// Value tells all errors, and where.
	var all []string
	v := mustRead(t, "k: [1, .inf,\n  {a: .nan, b: 2}]\n").Values[0].Value(func(e *Error) { all = append(all, e.Error()) })
	if got := fmt.Sprint(all); got != "[MK111 1:8 ‹.inf› is not a finite number: put quotes around it if it is a text MK111 2:7 ‹.nan› is not a finite number: put quotes around it if it is a text]" || v.JSON() != `[1, null, {"a": null, "b": 2}]` {
		t.Errorf("got %s and %s", got, v.JSON())
	}
}

// TestLongIntegers: digits are read by halves; the seams must not show.
func TestLongIntegers(t *testing.T) {
	for _, n := range []int{17, 18, 19, 20, 2047, 2048, 2049, 4095, 4096, 4097, 6000, 10000} {
		digits := strings.Repeat("9071362854", n/10+1)[:n]
		for _, s := range []string{digits, "-" + digits, "+" + digits, strings.Repeat("0", n) + "5", "1" + strings.Repeat("0", n)} {
			v, err := scalar(t, s).AsValue()
			if err != nil {
				t.Fatal(err)
			}
			want := strings.TrimPrefix(s, "+")
			if want[0] == '0' {
				want = "5"
			}
			if v.Kind() != value.Int || v.JSON() != want {
				t.Errorf("%d digits: got %.40s…, want %.40s…", n, v.JSON(), want)
			}
		}
	}
}

// TestLegacy is what MK110 warns about: how a YAML 1.1 reader takes what we
// take for something else.
func TestLegacy(t *testing.T) {
	for _, c := range []struct{ src, free, text, integer string }{
		{"yes", "the boolean true", "the boolean true", ""},
		{"Off", "the boolean false", "the boolean false", ""},
		{"y", "the boolean true", "the boolean true", ""},
		{"N", "the boolean false", "the boolean false", ""},
		{"true", "", "the boolean true", ""},
		{"null", "", "null", ""},
		{"~", "", "null", ""},
		{"Null", "null", "null", ""},
		{"=", "a default value", "a default value", ""},
		{"<<", "a merge key", "a merge key", ""},
		{"7", "", "the integer 7", ""},
		{"-7", "", "the integer -7", ""},
		{"0", "", "the integer 0", ""},
		{"0x1F", "", "the integer 31", ""},
		{"017", "the integer 15", "the integer 15", ""},
		{"-017", "the integer -15", "the integer -15", ""},
		{"089", "a string", "a number", ""},
		{"0o17", "a string", "a number", "a string"},
		{"0b11", "the integer 3", "the integer 3", ""},
		{"1_000", "the integer 1000", "the integer 1000", ""},
		{"1:30", "the integer 90", "the integer 90", ""},
		{"190:20:30", "the integer 685230", "the integer 685230", ""},
		{"1:30.5", "a float", "a float", ""},
		{"1:75", "", "", ""},
		{"12:30pm", "", "", ""},
		{"1e3", "a string", "a number", "a string"},
		{"1.5e3", "a string", "a number", "a string"},
		{"1.5e+3", "", "a float", ""},
		{"0.4", "", "a float", ""},
		{"9.0", "", "a float", ""},
		{".5", "", "a float", ""},
		{"-.5", "a string", "a number", ""},
		{"-1:30", "the integer -90", "the integer -90", ""},
		{"99999999999:30", "an integer to the base of sixty", "an integer to the base of sixty", ""},
		{"1_0.5", "a float", "a float", ""},
		{"0.2.0", "", "", ""},
		{".inf", "", "a float", ""},
		{"2024-01-02", "a date", "a date", ""},
		{"2024-1-2", "", "", ""},
		{"2024-01-02 03:04:05", "a date", "a date", ""},
		{"2024-01-02t03:04:05.6 -07:30", "a date", "a date", ""},
		{"2024-01-02T3:04:05Z", "a date", "a date", ""},
		{"2024-01-02T03:04", "", "", ""},
		{"2024-01", "", "", ""},
		{"hello", "", "", ""},
		{"nothing", "", "", ""},
		{"yesno", "", "", ""},
		{"-x", "", "", ""},
		{"'yes'", "", "", ""},
		{"!!str yes", "", "", ""},
		{"", "", "", ""},
		{"[yes]", "", "", ""},
		{"123456789012345678901234567890", "", "the integer 123456789012345678901234567890", ""},
	} {
		n := scalar(t, c.src)
		if got := n.Legacy(Free); got != c.free {
			t.Errorf("%s in a free position: got %q, want %q", c.src, got, c.free)
		}
		if got := n.Legacy(String); got != c.text {
			t.Errorf("%s in a string position: got %q, want %q", c.src, got, c.text)
		}
		if _, err := n.AsInt(); err == nil {
			if got := n.Legacy(Int); got != c.integer {
				t.Errorf("%s in an integer position: got %q, want %q", c.src, got, c.integer)
			}
		}
		if got := n.Legacy(Bool); got != "" {
			t.Errorf("%s in a boolean position: got %q", c.src, got)
		}
	}
}
