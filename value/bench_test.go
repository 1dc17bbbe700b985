package value

import (
	"fmt"
	"strings"
	"testing"
)

const sentence = "The parcel has not arrived, and nobody answers the telephone. "

func prose(n int) string { return strings.Repeat(sentence, n/len(sentence)+1)[:n] }

// board is a blackboard of n bytes in entries of 2 KB.
func board(n int, unit string) []Entry {
	entries := make([]Entry, 0, n/2000+1)
	for i := range n/2000 + 1 {
		entries = append(entries, Entry{fmt.Sprintf("key_%d", i), FromString(strings.Repeat(unit, 2000/len(unit)+1))})
	}
	return entries
}

func BenchmarkClipJSON(b *testing.B) {
	for _, c := range []struct {
		name, unit string
		size       int
	}{
		{"prose/200KB", sentence, 200_000}, {"prose/8KB", sentence, 8_000},
		{"han/200KB", "包裹还没有到，也没有人回答。", 200_000}, {"escapes/200KB", "a\"b\n", 200_000},
	} {
		entries := board(c.size, c.unit)
		at := func(i int) (string, Value) { return entries[i].Key, entries[i].Value }
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ClipJSON(len(entries), at, 4000)
			}
		})
		b.Run(c.name+"/append", func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				buf = AppendClipJSON(buf[:0], len(entries), at, 4000)
			}
		})
	}
}

func BenchmarkText(b *testing.B) {
	text := FromString(prose(200_000))
	list := FromList()
	for range 100 {
		list = list.Append(FromString(prose(2000)))
	}
	small := parse(b, `{"status": "ok", "n": 3}`)
	for _, c := range []struct {
		name string
		v    Value
	}{{"string", text}, {"list", list}, {"map", small}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.v.Text(20_000)
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	item := FromString("note")
	b.ReportAllocs()
	for b.Loop() {
		v := FromList()
		for range 500 {
			v = v.Append(item)
		}
	}
}

func BenchmarkParseJSON(b *testing.B) {
	rows := FromList()
	for i := range 100 {
		rows = rows.Append(FromEntries(
			Entry{"id", FromInt(int64(i))}, Entry{"title", FromString(sentence)},
			Entry{"score", Value{ref: floatNode, bits: 0x3FB999999999999A}}, Entry{"tags", FromList(FromString("a"), FromString("b"))}))
	}
	for _, c := range []struct {
		name string
		text []byte
	}{
		{"choice", []byte(`{"choice": 2}`)},
		{"rows", rows.AppendJSON(nil)},
		{"prose", FromString(prose(100_000)).AppendJSON(nil)},
		{"digits", []byte(strings.Repeat("7", MaxDigits))},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseJSON(c.text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkJSON(b *testing.B) {
	rows := parse(b, `{"tool": "search_kb", "stub": true, "error": null, "facts": ["one", "two", "three"], "n": 3, "score": 0.25}`)
	long := FromString(prose(100_000))
	for _, c := range []struct {
		name string
		v    Value
	}{{"small", rows}, {"prose", long}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.v.JSON())))
			b.ReportAllocs()
			for b.Loop() {
				c.v.JSON()
			}
		})
		b.Run(c.name+"/canonical", func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				buf = c.v.AppendCanonical(buf[:0])
			}
		})
	}
}

func BenchmarkMap(b *testing.B) {
	keys := strings.Fields("state step visit kind model gate gate_via policy to output reasoning usage")
	b.Run("build", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var m MapBuilder
			m.Grow(len(keys))
			for _, k := range keys {
				m.Set(k, FromInt(1))
			}
			m.Value()
		}
	})
	for _, n := range []int{12, 100, 1000} {
		var m MapBuilder
		for i := range n {
			m.Set(fmt.Sprintf("key_%d", i*7919%n), FromInt(int64(i)))
		}
		v := m.Value()
		b.Run(fmt.Sprintf("get/%d", n), func(b *testing.B) {
			for b.Loop() {
				v.Get("key_7")
			}
		})
		b.Run(fmt.Sprintf("with/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v.With("new", Value{})
			}
		})
	}
}
