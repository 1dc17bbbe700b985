package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"
)

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func TestParseJSON(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{` null `, `null`}, {"\t\r\n true", `true`}, {`false`, `false`},
		{`0`, `0`}, {`-0`, `0`}, {`-0.0`, `-0.0`}, {`1e3`, `1000.0`}, {`1E+2`, `100.0`}, {`1.50`, `1.5`}, {`1e-400`, `0.0`},
		{`999999999999999999`, `999999999999999999`}, {`-9223372036854775808`, `-9223372036854775808`},
		{`9223372036854775807`, `9223372036854775807`}, {`9223372036854775808`, `9223372036854775808`},
		{`-9223372036854775809`, `-9223372036854775809`},
		{`1.7976931348623157e308`, `1.7976931348623157e+308`},
		{`""`, `""`}, {`"\u00e9\ud83e\uddea\/"`, `"é🧪/"`}, {`"a\u005Cb"`, `"a\\b"`}, {`"\ud83e\uddea\ud83e\uddea"`, `"🧪🧪"`},
		{`[]`, `[]`}, {`[ ]`, `[]`}, {`{ }`, `{}`}, {`[1 , [2]]`, `[1, [2]]`}, {`{"" : 1 , "b":{"a":[]}}`, `{"": 1, "b": {"a": []}}`},
		{`{"b":1,"a":2,"B":3}`, `{"b": 1, "a": 2, "B": 3}`},
		{`[{"k":1,"l":2},{"k":3,"l":4},{"a":5}]`, `[{"k": 1, "l": 2}, {"k": 3, "l": 4}, {"a": 5}]`},
		{nested(100), nested(100)},
		{"\"\uFEFF\"", "\"\uFEFF\""}, {"\"\u2028\x7f\"", "\"\u2028\x7f\""},
	} {
		v, err := ParseJSON([]byte(c.in))
		if err != nil || v.JSON() != c.want {
			t.Errorf("%.60q: %.60s, %v; want %.60s", c.in, v.JSON(), err, c.want)
		}
	}
}

func TestParseJSONRefuses(t *testing.T) {
	for _, c := range []struct {
		in           string
		offset       int
		line, column int
		expected     string
		found        string
		is           error
	}{
		{``, 0, 1, 1, "a JSON value", "the end of the text", nil},
		{` `, 1, 1, 2, "a JSON value", "the end of the text", nil},
		{"\uFEFF1", 0, 1, 1, "a JSON value", "a byte order mark", nil},
		{`1 2`, 2, 1, 3, "the end of the text", "'2'", nil},
		{`{}{}`, 2, 1, 3, "the end of the text", "'{'", nil},
		{"1\x00", 1, 1, 2, "the end of the text", `'\x00'`, nil},
		{`NaN`, 0, 1, 1, "a JSON value", "'N'", nil},
		{`Infinity`, 0, 1, 1, "a JSON value", "'I'", nil},
		{`-Infinity`, 1, 1, 2, "a digit", "'I'", nil},
		{`nul`, 3, 1, 4, "the word null", "the end of the text", nil},
		{`trux`, 3, 1, 4, "the word true", "'x'", nil},
		{`True`, 0, 1, 1, "a JSON value", "'T'", nil},
		{`'a'`, 0, 1, 1, "a JSON value", `'\''`, nil},
		{`01`, 1, 1, 2, "no digit after a leading 0", "'1'", nil},
		{`-`, 1, 1, 2, "a digit", "the end of the text", nil},
		{`+1`, 0, 1, 1, "a JSON value", "'+'", nil},
		{`.5`, 0, 1, 1, "a JSON value", "'.'", nil},
		{`1.`, 2, 1, 3, "a digit after '.'", "the end of the text", nil},
		{`1.e5`, 2, 1, 3, "a digit after '.'", "'e'", nil},
		{`1e`, 2, 1, 3, "a digit in the exponent", "the end of the text", nil},
		{`1e+x`, 3, 1, 4, "a digit in the exponent", "'x'", nil},
		{`[1,]`, 3, 1, 4, "a JSON value", "']'", nil},
		{`[1 2]`, 3, 1, 4, "',' or ']'", "'2'", nil},
		{`[1`, 2, 1, 3, "',' or ']'", "the end of the text", nil},
		{`{"a":1,}`, 7, 1, 8, "a key in double quotes", "'}'", nil},
		{`{a:1}`, 1, 1, 2, "a key in double quotes", "'a'", nil},
		{`{"a" 1}`, 5, 1, 6, "':'", "'1'", nil},
		{`{"a":1 "b":2}`, 7, 1, 8, "',' or '}'", `'"'`, nil},
		{"{\"é\":\n  [1,\n   語]}", 16, 3, 4, "a JSON value", `'\u8a9e'`, nil},
		{`"abc`, 4, 1, 5, `'"' at the end of a string`, "the end of the text", nil},
		{"\"a\nb\"", 2, 1, 3, "an escape for a control character", `'\n'`, nil},
		{`"a\x"`, 3, 1, 4, `one of " \ / b f n r t u after '\'`, "'x'", nil},
		{`"\`, 2, 1, 3, `an escape after '\'`, "the end of the text", nil},
		{`"\u12G4"`, 5, 1, 6, `four hexadecimal digits after '\u'`, "'G'", nil},
		{`"\u12`, 5, 1, 6, `four hexadecimal digits after '\u'`, "the end of the text", nil},
		{`"a\ud83ex"`, 2, 1, 3, "a surrogate pair", `half of one, \ud83e`, nil},
		{`"\udeea"`, 1, 1, 2, "a surrogate pair", `half of one, \udeea`, nil},
		{`"\ud83e\ud83e"`, 1, 1, 2, "a surrogate pair", `half of one, \ud83e`, nil},
		{`"\ud83e\n"`, 1, 1, 2, "a surrogate pair", `half of one, \ud83e`, nil},
		{"\"ok\xff\"", 3, 1, 4, "text in UTF-8", "the byte 0xff, which is not UTF-8", nil},
		{"\"\xed\xa0\xbd\"", 1, 1, 2, "text in UTF-8", "the byte 0xed, which is not UTF-8", nil},
		{"\xff", 0, 1, 1, "a JSON value", "the byte 0xff, which is not UTF-8", nil},
		{nested(101), 100, 1, 101, "at most 100 lists and maps inside each other", "one more", ErrDepth},
		{strings.Repeat(`{"a":`, 101), 500, 1, 501, "at most 100 lists and maps inside each other", "one more", ErrDepth},
		{`{"a":1,"b":2,"a":1}`, 13, 1, 14, "a key that the map does not have yet", `"a" again`, ErrDuplicateKey},
		{`{"a":1,"\u0061":1}`, 7, 1, 8, "a key that the map does not have yet", `"a" again`, ErrDuplicateKey},
		{`[{"":{}},{"":1,"":1}]`, 15, 1, 16, "a key that the map does not have yet", `"" again`, ErrDuplicateKey},
		{`1e400`, 0, 1, 1, "a number in the range of binary64", `"1e400"`, ErrNumberRange},
		{`[-1e309]`, 1, 1, 2, "a number in the range of binary64", `"-1e309"`, ErrNumberRange},
		{`[` + strings.Repeat("1", MaxDigits+1) + `]`, 1, 1, 2, "an integer of at most 100000 digits", "one of 100001", ErrNumberRange},
		// A fault that the rest of the text cannot mend gives way to one that it makes.
		{`{"a":1,"a":1e400`, 16, 1, 17, "',' or '}'", "the end of the text", nil},
		{`[1e400,{"a":1,"a":1}]`, 1, 1, 2, "a number in the range of binary64", `"1e400"`, ErrNumberRange},
	} {
		v, err := ParseJSON([]byte(c.in))
		var got *SyntaxError
		if !errors.As(err, &got) || !v.IsNull() {
			t.Errorf("%.40q: %.40s, %v", c.in, v.JSON(), err)
			continue
		}
		want := SyntaxError{c.offset, c.line, c.column, c.expected, c.found, c.is}
		if *got != want {
			t.Errorf("%.40q:\n got %+v\nwant %+v", c.in, *got, want)
		}
		if c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%.40q: %v is not %v", c.in, err, c.is)
		}
	}
	_, err := ParseJSON([]byte("[1,\n x]"))
	if want := "line 2, column 2: expected a JSON value, found 'x'"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestDuplicateInABigMap: the second occurrence that stands first is the fault,
// with and without an index.
func TestDuplicateInABigMap(t *testing.T) {
	for _, n := range []int{2, indexed, indexed + 1, 200} {
		var b strings.Builder
		b.WriteString("{")
		for i := range n {
			fmt.Fprintf(&b, `"k%d":%d,`, n-i, i)
		}
		offset := b.Len()
		fmt.Fprintf(&b, `"k%d":1,"k%d":1,"k1":1}`, n/2+1, n)
		var got *SyntaxError
		if _, err := ParseJSON([]byte(b.String())); !errors.As(err, &got) || got.Offset != offset || !errors.Is(err, ErrDuplicateKey) {
			t.Errorf("%d keys: %v, want one at byte %d", n, err, offset)
		}
	}
}

func TestParsedTextIsNotShared(t *testing.T) {
	text := []byte(`{"key": "value", "esc": "a\nb", "n": [123456789012345678901234]}`)
	v, err := ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	want := v.JSON()
	for i := range text {
		text[i] = 'x'
	}
	if v.JSON() != want {
		t.Errorf("%s: the caller's bytes show through", v.JSON())
	}
}

// TestLongIntegers holds the reading by halves to the reading in one piece.
func TestLongIntegers(t *testing.T) {
	digits := strings.Repeat("9070503010204060800", 400)
	for _, n := range []int{18, 19, 20, 1199, 1200, 1201, 2399, 2400, 2401, 4801, 7600} {
		for _, sign := range []string{"", "-"} {
			want, _ := new(big.Int).SetString(sign+digits[:n], 10)
			got, ok := parse(t, sign+digits[:n]).AsBig()
			if !ok || got.Cmp(want) != 0 {
				t.Errorf("%d digits: wrong", n)
			}
		}
	}
}

// TestAccessorsOfEachKind: each accessor says false for every kind but its own.
func TestAccessorsOfEachKind(t *testing.T) {
	for in, want := range map[string]string{
		`null`: "null", `true`: "bool", `false`: "bool", `1`: "int big float", `1.0`: "float", `"1"`: "string",
		`100000000000000000000`: "big float", strings.Repeat("9", 400): "big", `[1]`: "", `{"a":1}`: "",
	} {
		v := parse(t, in)
		var got []string
		add := func(name string, ok bool) {
			if ok {
				got = append(got, name)
			}
		}
		add("null", v.IsNull())
		_, ok := v.AsBool()
		add("bool", ok)
		_, ok = v.AsInt()
		add("int", ok)
		_, ok = v.AsBig()
		add("big", ok)
		_, ok = v.AsFloat()
		add("float", ok)
		_, ok = v.AsString()
		add("string", ok)
		if strings.Join(got, " ") != want {
			t.Errorf("%.30s: %v, want %s", in, got, want)
		}
	}
}

// seeds of FuzzParseJSON: each is a way in which readers of JSON disagree.
var seeds = []string{
	`null`, ` {"a":[1,-2.5e3,true,false,null,"x\n\u00e9\ud83e\uddea"],"b":{}} `, `{"a":1,"a":2}`, `[1,]`, `{"a":1,}`, `[1 2]`,
	`01`, `-0`, `-0.0`, `1e400`, `1e-400`, `123456789012345678901234567890`, `1.`, `.5`, `"\ud800"`, `"\ud83e\ud83e"`, `"\udeea"`,
	"\"\xff\"", "\uFEFFnull", "\"\x01\"", `"\u0000"`, `nul`, `truex`, "[\x0b]", nested(100), nested(101), `{"":{"":1}}`, `"\/\b\f"`,
	`{"k0":0,"k1":0,"k2":0,"k3":0,"k4":0,"k5":0,"k6":0,"k7":0,"k8":0,"k9":0,"ka":0,"kb":0,"kc":0,"kd":0,"ke":0,"kf":0,"kg":0,"k0":0}`,
	`"12345678"`, `"1234567\"8"`, "\"\u2028\x7f\"",
}

func TestSeedCount(t *testing.T) {
	if len(seeds) < 30 {
		t.Fatalf("%d seeds", len(seeds))
	}
}

// FuzzParseJSON: what we read, the standard library reads as the same value; what
// we refuse and it reads, we refuse for a reason of §1 that is really there.
func FuzzParseJSON(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := ParseJSON(b)
		valid := json.Valid(b)
		if err == nil {
			if !valid {
				t.Fatalf("%q is no JSON and was read as %s", b, v.JSON())
			}
			d := json.NewDecoder(bytes.NewReader(b))
			d.UseNumber()
			var x any
			if err := d.Decode(&x); err != nil {
				t.Fatal(err)
			}
			if want, err := FromAny(x); err != nil || !Equal(v, want) {
				t.Fatalf("%q: %s, want %s, %v", b, v.JSON(), want.JSON(), err)
			}
			if again, err := ParseJSON(v.AppendJSON(nil)); err != nil || !same(v, again) {
				t.Fatalf("%q: %s read back as %s, %v", b, v.JSON(), again.JSON(), err)
			}
			return
		}
		var at *SyntaxError
		if !errors.As(err, &at) {
			t.Fatalf("%T: %v", err, err)
		}
		if at.Offset > len(b) || at.Line != 1+bytes.Count(b[:at.Offset], []byte("\n")) || at.Column < 1 {
			t.Fatalf("%q: %+v", b, *at)
		}
		if !valid {
			if at.Err == ErrDuplicateKey || at.Err == ErrNumberRange {
				t.Fatalf("%q is no JSON, not only: %v", b, err)
			}
			return
		}
		if !wrongInOurEyes(b, at) {
			t.Fatalf("%q: %v", b, err)
		}
	})
}

// wrongInOurEyes looks in JSON for the fault that was reported, by other means.
func wrongInOurEyes(b []byte, at *SyntaxError) bool {
	switch {
	case at.Err == ErrDepth, at.Err == ErrDuplicateKey, at.Err == ErrNumberRange:
	case at.Expected == "text in UTF-8":
		return !utf8.Valid(b)
	case at.Expected == "a surrogate pair":
		return bytes.Contains(b[at.Offset:min(at.Offset+3, len(b))], []byte(`\u`)) || bytes.Contains(b[at.Offset:], []byte(`\uD`))
	default:
		return false
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var open []map[string]bool // nil for a list
	key := false               // the next string is a key
	deepest, twice, range_ := 0, false, false
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return at.Err == ErrDepth // the decoder has a bound of its own
		}
		switch tok := tok.(type) {
		case json.Delim:
			switch tok {
			case '[':
				open = append(open, nil)
			case '{':
				open = append(open, map[string]bool{})
			default:
				open = open[:len(open)-1]
			}
			deepest = max(deepest, len(open))
			key = len(open) > 0 && open[len(open)-1] != nil
			continue
		case string:
			if key {
				seen := open[len(open)-1]
				twice = twice || seen[tok]
				seen[tok] = true
				key = false
				continue
			}
		case json.Number:
			_, err := tok.Float64()
			range_ = range_ || err != nil || len(tok) > MaxDigits
		}
		key = len(open) > 0 && open[len(open)-1] != nil
	}
	switch at.Err {
	case ErrDepth:
		return deepest > MaxDepth
	case ErrDuplicateKey:
		return twice
	}
	return range_
}

// FuzzClip holds ClipJSON and Text to the naive forms.
func FuzzClip(f *testing.F) {
	for i, s := range clipSeeds {
		f.Add([]byte(s), i*7)
	}
	f.Fuzz(func(t *testing.T, b []byte, limit int) {
		v, err := ParseJSON(b)
		if err != nil || limit > 1<<20 {
			return
		}
		m := FromEntries(Entry{"v", v}, Entry{"w\n", v})
		if got, want := clip(m, limit), naiveClip(m, limit); got != want {
			t.Fatalf("limit %d of %s:\n%q, want\n%q", limit, m.JSON(), got, want)
		}
		got, cut := v.Text(limit)
		if want, wantCut := naiveCut(naiveText(v), limit); got != want || cut != wantCut {
			t.Fatalf("limit %d of %s:\n%q, want\n%q", limit, v.JSON(), got, want)
		}
	})
}

var clipSeeds = []string{
	`"plain text that is longer than the marker"`, `["a",["b",{"c":"\u0000\"\\"}],null,1e300]`, `{"é":"語語語語語語語語語語語"}`,
	`"\u0001\u0001\u0001\u0001\u0001\u0001\u0001\u0001"`, `[[],{},"",0,-1.5,true]`, `"🧪🧪🧪🧪🧪🧪🧪🧪🧪🧪"`,
}

func TestClipSeedCount(t *testing.T) {
	if len(clipSeeds) < 6 {
		t.Fatalf("%d seeds", len(clipSeeds))
	}
}
