package value

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// drawString is text with much of what a writer of JSON can get wrong.
var drawString = rapid.Custom(func(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.OneOf(
		rapid.SampledFrom([]string{"\"", "\\", "\n", "\x00", "\x1f", "é", "語", "🧪", "\u2028", "<&>", "</data-ab12>", "…", "a", "abcdefgh", "\uFFFD"}),
		rapid.StringN(0, 12, -1),
	), 0, 6).Draw(t, "pieces"), "")
})

func drawValue(depth int) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		kinds := 6
		if depth > 0 {
			kinds = 9
		}
		switch rapid.IntRange(0, kinds).Draw(t, "kind") {
		case 0:
			return Value{}
		case 1:
			return FromBool(rapid.Bool().Draw(t, "bool"))
		case 2:
			return FromInt(rapid.Int64().Draw(t, "int"))
		case 3:
			i := new(big.Int).SetInt64(rapid.Int64().Draw(t, "big"))
			return FromBig(i.Mul(i, new(big.Int).SetUint64(rapid.Uint64().Draw(t, "times"))))
		case 4:
			v, err := FromFloat(rapid.Float64().Draw(t, "float"))
			if err != nil {
				return FromInt(0)
			}
			return v
		case 5:
			// An integral float, where the two kinds of number meet.
			v, _ := FromFloat(float64(rapid.Int64().Draw(t, "integral")))
			return v
		case 6:
			return FromString(drawString.Draw(t, "string"))
		case 7:
			return FromList(rapid.SliceOfN(drawValue(depth-1), 0, 5).Draw(t, "items")...)
		case 8:
			v := FromList()
			for _, item := range rapid.SliceOfN(drawValue(depth-1), 0, 5).Draw(t, "appended") {
				v = v.Append(item)
			}
			return v
		default:
			n := rapid.SampledFrom([]int{0, 1, 2, 3, 5, 20}).Draw(t, "keys")
			entries := make([]Entry, n)
			for i := range entries {
				entries[i] = Entry{drawString.Draw(t, "key"), drawValue(depth-1).Draw(t, "value")}
			}
			return FromEntries(entries...)
		}
	})
}

func TestJSONReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawValue(3).Draw(t, "v")
		text := v.JSON()
		got, err := ParseJSON([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !same(v, got) || got.JSON() != text {
			t.Fatalf("%s read back as %s", text, got.JSON())
		}
		indent := v.AppendIndentJSON(nil, "  ")
		if got, err := ParseJSON(indent); err != nil || !same(v, got) {
			t.Fatalf("%s: %v", indent, err)
		}
		canonical := v.AppendCanonical(nil)
		if got, err := ParseJSON(canonical); err != nil || !Equal(v, got) {
			t.Fatalf("%s: %v", canonical, err)
		}
		if !utf8.ValidString(text) {
			t.Fatalf("%q is not UTF-8", text)
		}
	})
}

// same is Equal that also tells 1 from 1.0, 0.0 from -0.0, and orders of keys apart.
func same(a, b Value) bool {
	if a.Kind() != b.Kind() || a.Len() != b.Len() || !Equal(a, b) {
		return false
	}
	if a.Kind() == Float {
		return math.Float64bits(a.float()) == math.Float64bits(b.float())
	}
	for i := range a.Len() {
		if a.Kind() == Map && a.Key(i) != b.Key(i) || !same(a.At(i), b.At(i)) {
			return false
		}
	}
	return true
}

// TestJSONAsTheStandardLibraryReadsIt holds the writer to another reader, and
// AppendIndentJSON to another writer's layout.
func TestJSONAsTheStandardLibraryReadsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawValue(3).Draw(t, "v")
		d := json.NewDecoder(strings.NewReader(v.JSON()))
		d.UseNumber()
		var x any
		if err := d.Decode(&x); err != nil {
			t.Fatalf("%s: %v", v.JSON(), err)
		}
		got, err := FromAny(x)
		if err != nil || !Equal(v, got) {
			t.Fatalf("%s: %v, %v", v.JSON(), got.JSON(), err)
		}
		var b strings.Builder
		b.WriteString(">")
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent(">", "  ")
		if err := e.Encode(json.RawMessage(v.JSON())); err != nil {
			t.Fatal(err)
		}
		if got, want := ">"+string(v.AppendIndentJSON(nil, ">"))+"\n", b.String(); got != want {
			t.Fatalf("indented\n%s, want\n%s", got, want)
		}
	})
}

func TestAnyAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawValue(3).Draw(t, "v")
		got, err := FromAny(v.Any())
		if err != nil || !Equal(v, got) {
			t.Fatalf("%s: %s, %v", v.JSON(), got.JSON(), err)
		}
		if again := got.Any(); !reflect.DeepEqual(again, v.Any()) {
			t.Fatalf("%v, then %v", v.Any(), again)
		}
	})
}

// TestEqualIsCanonical: equality is an equivalence with canonical JSON as its
// normal form.
func TestEqualIsCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawValue(2).Draw(t, "a"), drawValue(2).Draw(t, "b")
		if rapid.Bool().Draw(t, "related") {
			b = vary(a)
			if !Equal(a, b) {
				t.Fatalf("%s ≠ %s", a.JSON(), b.JSON())
			}
		}
		x, y := string(a.AppendCanonical(nil)), string(b.AppendCanonical(nil))
		if Equal(a, b) != (x == y) || Equal(a, b) != Equal(b, a) || !Equal(a, a) {
			t.Fatalf("%s, %s: equal %v, canonical %s, %s", a.JSON(), b.JSON(), Equal(a, b), x, y)
		}
	})
}

// vary is an equal value: keys in another order, integers as floats where exact.
func vary(v Value) Value {
	switch v.Kind() {
	case Int:
		if f, ok := v.AsFloat(); ok {
			if w, err := FromFloat(f); err == nil && Equal(v, w) {
				return w
			}
		}
	case List:
		out := FromList()
		for i := range v.Len() {
			out = out.Append(vary(v.At(i)))
		}
		return out
	case Map:
		var b MapBuilder
		for i := v.Len() - 1; i >= 0; i-- {
			b.Set(v.Key(i), vary(v.At(i)))
		}
		return b.Value()
	}
	return v
}

// TestMapModel holds maps of every size to a slice of pairs.
func TestMapModel(t *testing.T) {
	key := rapid.Map(rapid.IntRange(0, 40), func(i int) string { return strings.Repeat("k", i%3) + string(rune('a'+i)) })
	rapid.Check(t, func(t *rapid.T) {
		var model []Entry
		set := func(k string, v Value) {
			for i := range model {
				if model[i].Key == k {
					model[i].Value = v
					return
				}
			}
			model = append(model, Entry{k, v})
		}
		var b MapBuilder
		for i := range rapid.IntRange(0, 60).Draw(t, "built") {
			k := key.Draw(t, "key")
			b.Set(k, FromInt(int64(i)))
			set(k, FromInt(int64(i)))
		}
		v := b.Value()
		if b.Value().Len() != 0 {
			t.Fatal("the builder kept what it gave away")
		}
		for i := range rapid.IntRange(0, 60).Draw(t, "withs") {
			before := v.JSON()
			k := key.Draw(t, "key")
			next := v.With(k, FromInt(int64(-i)))
			if v.JSON() != before {
				t.Fatalf("With changed %s to %s", before, v.JSON())
			}
			set(k, FromInt(int64(-i)))
			v = next
		}
		if v.Len() != len(model) {
			t.Fatalf("%d entries, want %d", v.Len(), len(model))
		}
		for i, e := range model {
			got, ok := v.Get(e.Key)
			if !ok || !Equal(got, e.Value) || v.Key(i) != e.Key || !Equal(v.At(i), e.Value) {
				t.Fatalf("entry %d: %s, want %s: %s", i, v.Key(i), e.Key, e.Value.JSON())
			}
		}
		if _, ok := v.Get("absent"); ok {
			t.Fatal("found what is not there")
		}
		keys := make([]string, 0, len(model))
		for _, e := range model {
			keys = append(keys, e.Key)
		}
		sort.Strings(keys)
		read, err := ParseJSON(v.AppendCanonical(nil))
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range keys {
			if read.Key(i) != k {
				t.Fatalf("canonical key %d is %s, want %s", i, read.Key(i), k)
			}
		}
	})
}

// TestSharing: whatever is derived from a value, in whatever order, leaves it and
// everything else derived from it as it was.
func TestSharing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type held struct {
			v    Value
			text string
		}
		all := []held{{FromList(), "[]"}, {FromEntries(), "{}"}}
		for range rapid.IntRange(1, 60).Draw(t, "n") {
			from := all[rapid.IntRange(0, len(all)-1).Draw(t, "from")].v
			item := FromInt(int64(len(all)))
			var v Value
			switch {
			case from.Kind() == List:
				v = from.Append(item)
			case rapid.Bool().Draw(t, "with"):
				v = from.With(string(rune('a'+len(all)%7)), item)
			default:
				v = from.SetPath([]string{"p", "q"}, item)
			}
			all = append(all, held{v, v.JSON()})
		}
		for i, h := range all {
			if h.v.JSON() != h.text {
				t.Fatalf("value %d was %s and is %s", i, h.text, h.v.JSON())
			}
		}
	})
}

// naiveText is the text of a value as the page states it, built whole.
func naiveText(v Value) string {
	switch v.Kind() {
	case Null:
		return ""
	case String:
		s, _ := v.AsString()
		return s
	case List:
		lines := make([]string, v.Len())
		for i := range lines {
			lines[i] = FromInt(int64(i+1)).JSON() + ". " + naiveText(v.At(i))
		}
		return strings.Join(lines, "\n")
	}
	return v.JSON()
}

func naiveCut(s string, limit int) (string, bool) {
	runes := []rune(s)
	if limit <= 0 || len(runes) <= limit {
		return s, false
	}
	marker := []rune("…[truncated]")
	if limit <= len(marker) {
		return string(marker[:limit]), true
	}
	return string(runes[:limit-len(marker)]) + string(marker), true
}

func naiveClip(v Value, limit int) string {
	runes := []rune(v.JSON())
	if len(runes) <= limit {
		return string(runes)
	}
	marker := []rune("…[context_truncated]…")
	if limit <= len(marker) {
		return string(marker[:max(limit, 0)])
	}
	head := (limit - len(marker)) / 2
	tail := limit - len(marker) - head
	return string(runes[:head]) + string(marker) + string(runes[len(runes)-tail:])
}

func clip(v Value, limit int) string {
	return ClipJSON(v.Len(), func(i int) (string, Value) { return v.Key(i), v.At(i) }, limit)
}

func TestMarkers(t *testing.T) {
	if n := utf8.RuneCountInString(truncated); n != 12 || truncatedLen != 12 {
		t.Errorf("the marker of a text has %d characters", n)
	}
	if n := utf8.RuneCountInString(contextTruncated); n != 21 || contextTruncatedLen != 21 {
		t.Errorf("the marker of a context has %d characters", n)
	}
}

func TestTextAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawValue(3).Draw(t, "v")
		whole := naiveText(v)
		for _, limit := range limits(t, whole) {
			got, cut := v.Text(limit)
			want, wantCut := naiveCut(whole, limit)
			if got != want || cut != wantCut {
				t.Fatalf("limit %d: %q, %v; want %q, %v", limit, got, cut, want, wantCut)
			}
			got, cut = CutText(whole, limit)
			if got != want || cut != wantCut {
				t.Fatalf("CutText, limit %d: %q, %v; want %q, %v", limit, got, cut, want, wantCut)
			}
		}
	})
}

func TestCutTextOfBadBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte{0x80, 0xE2, 'a'})), 0, 80).Draw(t, "s"))
		for _, limit := range limits(t, s) {
			got, cut := CutText(s, limit)
			want, wantCut := naiveCut(s, limit)
			if cut != wantCut || cut && got != want || limit > 0 && utf8.RuneCountInString(got) > limit {
				t.Fatalf("%q, limit %d: %q, %v; want %q, %v", s, limit, got, cut, want, wantCut)
			}
		}
	})
}

func TestClipAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b MapBuilder
		for range rapid.IntRange(0, 6).Draw(t, "n") {
			b.Set(drawString.Draw(t, "key"), drawValue(3).Draw(t, "value"))
		}
		v := b.Value()
		for _, limit := range limits(t, v.JSON()) {
			if got, want := clip(v, limit), naiveClip(v, limit); got != want {
				t.Fatalf("limit %d of %.300s:\n%.300q, want\n%.300q", limit, v.JSON(), got, want)
			}
		}
		if got := AppendClipJSON([]byte("before"), v.Len(), func(i int) (string, Value) { return v.Key(i), v.At(i) }, 30); string(got) != "before"+naiveClip(v, 30) {
			t.Fatalf("AppendClipJSON: %q", got)
		}
	})
}

// limits is small ones, those around the length, and some others.
func limits(t *rapid.T, s string) []int {
	n := utf8.RuneCountInString(s)
	return append([]int{-1, 0, 1, 11, 12, 13, 20, 21, 22, 23, 24, n - 1, n, n + 1, n / 2},
		rapid.SliceOfN(rapid.IntRange(1, n+30), 5, 5).Draw(t, "limits")...)
}

// TestClipEscapesAtEveryCut cuts through each character of escapes, pairs and
// multi-byte text, at both ends.
func TestClipEscapesAtEveryCut(t *testing.T) {
	v := FromEntries(
		Entry{"a\"\x01", FromString(strings.Repeat("\x00é\"🧪\n", 300))},
		Entry{"語", FromList(FromInt(-12345678901), FromString(strings.Repeat("\x1f\\語", 400)), Value{}, FromBool(true))},
	)
	n := utf8.RuneCountInString(v.JSON())
	limit, step := 0, 1
	if testing.Short() {
		step = 7
	}
	for ; limit < n+2; limit += step {
		if limit > 300 && limit < n-300 && limit%1024 > 40 {
			continue // the pieces that the tail is made of end near these
		}
		if got, want := clip(v, limit), naiveClip(v, limit); got != want {
			t.Fatalf("limit %d:\n%.300q, want\n%.300q", limit, got, want)
		}
	}
}

// TestClipReadsNoFurther: the entries in the middle are never asked for. The
// first few are, by their lengths alone, to know that the whole is too long.
func TestClipReadsNoFurther(t *testing.T) {
	asked := map[int]bool{}
	ClipJSON(1000, func(i int) (string, Value) {
		asked[i] = true
		return "key", FromString(strings.Repeat("x", 1000))
	}, 4000)
	for i := range 1000 {
		if want := i < 16 || i >= 998; asked[i] != want {
			t.Errorf("entry %d: asked for: %v", i, asked[i])
		}
	}
}

func TestBigMapDuplicates(t *testing.T) {
	for _, n := range []int{indexed, indexed + 1, 100} {
		entries := make([]Entry, 0, 2*n)
		for i := range n {
			entries = append(entries, Entry{string(rune('a' + n - i)), FromInt(int64(i))})
		}
		for i := range n {
			entries = append(entries, Entry{string(rune('a' + n - i)), FromInt(int64(-i))})
		}
		before := slices.Clone(entries)
		v := FromEntries(entries...)
		if v.Len() != n {
			t.Fatalf("%d entries, want %d", v.Len(), n)
		}
		for i := range n {
			if got, _ := v.Get(before[i].Key); !Equal(got, FromInt(int64(-i))) || v.Key(i) != before[i].Key {
				t.Errorf("entry %d: %s: %s", i, v.Key(i), got.JSON())
			}
		}
		for i := range entries {
			if entries[i].Key != before[i].Key || !Equal(entries[i].Value, before[i].Value) {
				t.Fatal("FromEntries changed its argument")
			}
		}
	}
}

func TestSetPath(t *testing.T) {
	for _, c := range []struct{ in, path, want string }{
		{`{}`, "a.b.c", `{"a": {"b": {"c": 1}}}`},
		{`{"a": {"b": {"c": 0}, "d": 2}}`, "a.b.c", `{"a": {"b": {"c": 1}, "d": 2}}`},
		{`{"x": 0, "a": [1]}`, "a.b", `{"x": 0, "a": {"b": 1}}`},
		{`{"a": "text"}`, "a", `{"a": 1}`},
		{`5`, "a", `{"a": 1}`},
	} {
		if got := parse(t, c.in).SetPath(strings.Split(c.path, "."), FromInt(1)).JSON(); got != c.want {
			t.Errorf("%s at %s: %s, want %s", c.in, c.path, got, c.want)
		}
	}
	if got := parse(t, `{"a": 1}`).SetPath(nil, FromInt(2)).JSON(); got != "2" {
		t.Errorf("the empty path: %s", got)
	}
}

func TestLookup(t *testing.T) {
	v := parse(t, `{"a": {"b": [10], "": 7, "n": null}, "a.b": 1, "": 5}`)
	for path, want := range map[string]string{
		"a": `{"b": [10], "": 7, "n": null}`, "a.b": `[10]`, "a.n": `null`,
		"a.b.0": "missing", "a.c": "missing", "a.": "missing", "": "missing", ".a": "missing", "a..b": "missing", "a.n.x": "missing",
	} {
		got, ok := v.Lookup(strings.Split(path, "."))
		text := "missing"
		if ok {
			text = got.JSON()
		}
		if text != want {
			t.Errorf("%q: %s, want %s", path, text, want)
		}
	}
}

func TestFromAny(t *testing.T) {
	type word string
	for _, c := range []struct {
		in   any
		want string
	}{
		{nil, `null`}, {true, `true`}, {int8(-3), `-3`}, {uint64(math.MaxUint64), `18446744073709551615`},
		{float32(0.5), `0.5`}, {2.0, `2.0`}, {json.Number("2"), `2`}, {json.Number("2.0"), `2.0`},
		{json.Number("123456789012345678901"), `123456789012345678901`},
		{big.NewInt(7), `7`}, {(*big.Int)(nil), `null`}, {"a\xffb", "\"a\uFFFDb\""}, {word("w"), `"w"`},
		{[]string{"a"}, `["a"]`}, {[]int{}, `[]`}, {[]any(nil), `[]`}, {[]string(nil), `[]`}, {map[string]any(nil), `{}`}, {map[string]string(nil), `{}`},
		{map[string]any{"b": 1, "a": []any{nil}}, `{"a": [null], "b": 1}`},
		{map[word]int{"b": 1, "a": 2}, `{"a": 2, "b": 1}`},
		{[]Value{FromInt(1)}, `[1]`}, {[2]bool{}, `[false, false]`},
	} {
		got, err := FromAny(c.in)
		if err != nil || got.JSON() != c.want {
			t.Errorf("%#v: %s, %v; want %s", c.in, got.JSON(), err, c.want)
		}
	}
	deep := any("x")
	for range MaxDepth + 1 {
		deep = []any{deep}
	}
	loop := map[string]any{}
	loop["self"] = loop
	for _, c := range []struct {
		in   any
		want string
	}{
		{math.NaN(), "NaN"}, {math.Inf(1), "infinity"}, {float32(math.Inf(-1)), "infinity"},
		{[]any{1, map[string]any{"k": math.NaN()}}, `item 1: key "k": `},
		{json.Number("01"), `"01"`}, {json.Number(""), `""`}, {json.Number(`"1"`), "JSON number"}, {json.Number("NaN"), "NaN"},
		{[]byte("x"), "[]uint8"}, {struct{}{}, "struct"}, {map[int]string{1: "x"}, "map[int]string"},
		{func() {}, "func"}, {make(chan int), "chan"}, {complex(1, 1), "complex"},
		{deep, "deeper than 100"}, {loop, "deeper than 100"},
	} {
		if v, err := FromAny(c.in); err == nil || !strings.Contains(err.Error(), c.want) || !v.IsNull() {
			t.Errorf("%T: %s, %v; want an error with %q", c.in, v.JSON(), err, c.want)
		}
	}
	if _, err := FromAny([]any{math.NaN()}); !errors.Is(err, ErrNotFinite) {
		t.Errorf("%v does not wrap ErrNotFinite", err)
	}
}
