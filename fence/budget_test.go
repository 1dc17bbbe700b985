package fence

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/tokens"
	"github.com/pinfold-dev/pinfold/trust"
)

func measure(u Unit, s string) int {
	switch u {
	case Bytes:
		return len(s)
	case Tokens:
		return tokens.Estimate(s)
	}
	return utf8.RuneCountInString(s)
}

var units = []Unit{Characters, Bytes, Tokens}

// checkBudget renders one part and holds what came out against its budget: the whole
// of it within Max, one fence with its end, the marker inside when something is
// missing, only whole characters of the value, or nothing at all and a row that says
// so (CASES 9, 10).
func checkBudget(t interface {
	Fatalf(string, ...any)
	Helper()
}, p Part) (Row, string) {
	t.Helper()
	r, rows, err := Render(Prompt{User: doc(func(d *Doc) { d.Put(p) })}, nonces(live, "0123456789ab"))
	if err != nil {
		t.Fatalf("%+v: %v", p.Budget, err)
	}
	row, out := rows[0], r.User()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%v, keep %v, style %v: %+.200q: %s", p.Budget, p.Keep, p.Style, out, fmt.Sprintf(format, args...))
	}
	if n := measure(p.Budget.Unit, out); n > max(p.Budget.Max, 0) {
		fail("%d %v", n, p.Budget.Unit)
	}
	if !utf8.ValidString(out) {
		fail("not UTF-8")
	}
	if row.BytesOut != len(out) || row.Budget != p.Budget {
		fail("row %+v", row)
	}
	value := p.Data.Text()
	if row.Dropped {
		if out != "" || row.Fenced || row.Value() != "" || row.HadToBeFenced() {
			fail("dropped: row %+v", row)
		}
		return row, out
	}
	spans, err := Parse(out, r.Nonce())
	if err != nil {
		fail("%v", err)
	}
	carried := ""
	for _, s := range spans {
		if s.Fenced == row.Fenced {
			carried = s.Text
		}
	}
	if carried != row.Value() {
		fail("carries %q, the row says %q", carried, row.Value())
	}
	if !row.Truncated {
		if carried != value {
			fail("not cut, and carries %q", carried)
		}
		return row, out
	}
	var head, tail string
	var ok bool
	switch p.Keep {
	case KeepHead:
		head, ok = strings.CutSuffix(carried, marker)
	case KeepTail:
		tail, ok = strings.CutPrefix(carried, marker)
	case KeepBoth:
		head, tail, ok = strings.Cut(carried, marker)
	}
	if !ok || !strings.HasPrefix(value, head) || !strings.HasSuffix(value, tail) || len(head)+len(tail) >= len(value) {
		fail("carries %q", carried)
	}
	return row, out
}

// The sweep of CASES 9: a document of 10,000 characters, budgets 1 to 80 and around
// what the fence takes.
func TestBudgetSweep(t *testing.T) {
	documents := map[string]string{
		"prose":  strings.Repeat("It was agreed that the ferry leaves at ten. ", 228)[:10_000],
		"han":    strings.Repeat("\u8BED", 400),
		"emoji":  strings.Repeat("👨‍👩‍👧", 60),
		"spaces": strings.Repeat(" ", 400),
		"word":   strings.Repeat("a", 900),
		"digits": strings.Repeat("1234567890", 60),
		"lines":  strings.Repeat("\n", 400),
		"small":  "\u8BED",
		"empty":  "",
	}
	checked, kept, dropped, cut := 0, 0, 0, 0
	for name, text := range documents {
		for _, unit := range units {
			for _, keep := range []Keep{KeepHead, KeepTail, KeepBoth} {
				for style, attrs := range map[Style][]Attr{StyleData: nil, StyleLabelled: {{"source", "web"}}, StyleInline: nil} {
					if style != StyleData && name != "prose" && name != "han" {
						continue // the style changes what stands around the value, not how it is cut
					}
					for _, banner := range []trust.Text{{}, trust.Const("Écrit par un outil.")} {
						lastFit := -1
						for n := -1; n <= 130; n++ {
							row, _ := checkBudget(t, Part{Channel: name, Data: outside(text), Style: style, Attrs: attrs, Banner: banner, Keep: keep,
								Budget: Budget{Set: true, Max: n, Unit: unit}})
							checked++
							switch {
							case row.Dropped:
								dropped++
								if lastFit >= 0 {
									t.Fatalf("%s: fits in %d %v and not in %d", name, lastFit, unit, n)
								}
							case row.Truncated:
								cut++
								lastFit = n
							default:
								kept++
								lastFit = n
							}
							if n <= 0 && !row.Dropped {
								t.Fatalf("%s: a budget of %d admits something", name, n)
							}
						}
						if lastFit < 0 {
							t.Fatalf("%s, %v, %v: nothing ever fits", name, unit, style)
						}
					}
				}
			}
		}
	}
	if checked < 30_000 || kept == 0 || dropped == 0 || cut == 0 {
		t.Errorf("%d checked: %d kept, %d dropped, %d cut", checked, kept, dropped, cut)
	}
}

// CASES 10: 40 three-byte characters under a cap of 80 bytes, a four-byte one under 1
// to 5; and the exact edges of every unit.
func TestBudgetEdges(t *testing.T) {
	around := lenOpen + lenClose
	for _, c := range []struct {
		name  string
		value string
		keep  Keep
		b     Budget
		want  string // the value as carried; "-" when dropped
	}{
		{"bytes", strings.Repeat("語", 40), KeepHead, Budget{true, around + 80, Bytes}, strings.Repeat("語", 22) + marker},
		{"bytes, tail", strings.Repeat("語", 40), KeepTail, Budget{true, around + 80, Bytes}, marker + strings.Repeat("語", 22)},
		{"bytes, both", strings.Repeat("語", 40), KeepBoth, Budget{true, around + 80, Bytes}, strings.Repeat("語", 11) + marker + strings.Repeat("語", 11)},
		{"room for 3 of 4", "😀😀😀😀😀", KeepHead, Budget{true, around + len(marker) + 3, Bytes}, marker},
		{"room for 4 of 4", "😀😀😀😀😀", KeepHead, Budget{true, around + len(marker) + 4, Bytes}, "😀" + marker},
		{"exactly", "0123456789", KeepHead, Budget{true, around + 10, Bytes}, "0123456789"},
		{"one too few", "0123456789", KeepHead, Budget{true, around + 9, Bytes}, "-"}, // the marker alone is longer
		{"one too few, longer", "0123456789abcdefghij", KeepHead, Budget{true, around + 19, Bytes}, "01234" + marker},
		{"the marker and nothing else", "0123456789abcdefghij", KeepBoth, Budget{true, around + 14, Bytes}, marker},
		{"not even the marker", "0123456789abcdefghij", KeepBoth, Budget{true, around + 13, Bytes}, "-"},
		{"the fence alone", "", KeepHead, Budget{true, around, Bytes}, ""},
		{"not even the fence", "", KeepHead, Budget{true, around - 1, Bytes}, "-"},
		{"characters, exactly", strings.Repeat("語", 40), KeepHead, Budget{true, around + 40, Characters}, strings.Repeat("語", 40)},
		{"characters, one too few", strings.Repeat("語", 40), KeepHead, Budget{true, around + 39, Characters}, strings.Repeat("語", 27) + marker},
		{"characters, tail", strings.Repeat("語", 40), KeepTail, Budget{true, around + 39, Characters}, marker + strings.Repeat("語", 27)},
		{"characters, both", strings.Repeat("語", 40), KeepBoth, Budget{true, around + 39, Characters}, strings.Repeat("語", 13) + marker + strings.Repeat("語", 14)},
		{"none set", strings.Repeat("x", 100), KeepHead, Budget{false, 1, Bytes}, strings.Repeat("x", 100)},
		{"zero", "", KeepHead, Budget{true, 0, Characters}, "-"},
		{"below zero", "", KeepHead, Budget{true, -5, Tokens}, "-"},
	} {
		row, _ := checkBudgetIfSet(t, Part{Data: outside(c.value), Keep: c.keep, Budget: c.b})
		got := row.Value()
		if row.Dropped {
			got = "-"
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func checkBudgetIfSet(t *testing.T, p Part) (Row, string) {
	if p.Budget.Set {
		return checkBudget(t, p)
	}
	got, rows := renderUser(t, nonces(live), func(d *Doc) { d.Put(p) })
	return rows[0], got
}

// A part that goes bare is cut too.
func TestBudgetOfBareParts(t *testing.T) {
	for _, unit := range units {
		if row, _ := checkBudget(t, Part{Data: authors(""), Budget: Budget{Set: true, Unit: unit}}); !row.Dropped {
			t.Errorf("a budget of no %v admits something, be it empty", unit)
		}
	}
	for n := range 40 {
		row, out := checkBudget(t, Part{Data: authors(strings.Repeat("語", 20)), Budget: Budget{Set: true, Max: n}})
		if row.Fenced || n >= 20 && out != strings.Repeat("語", 20) || n < 12 && !row.Dropped || n >= 12 && row.Dropped {
			t.Errorf("%d: %q, dropped %v", n, out, row.Dropped)
		}
	}
}

func TestBudgetsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Part{
			Data:   outside(rapid.String().Draw(t, "value")),
			Banner: text(rapid.StringN(0, 20, -1).Draw(t, "banner")),
			Style:  Style(rapid.IntRange(0, 1).Draw(t, "style")),
			Keep:   Keep(rapid.IntRange(0, 2).Draw(t, "keep")),
			Budget: Budget{true, rapid.IntRange(-1, 120).Draw(t, "max"), rapid.SampledFrom(units).Draw(t, "unit")},
		}
		checkBudget(t, p)
	})
}

// Budgets are measured with a nonce of digits before there is one. No nonce may cost
// more than that.
func TestMeasuringNonceIsAnUpperBound(t *testing.T) {
	p := Part{Style: StyleLabelled, Attrs: []Attr{{"source", "web"}}, Banner: trust.Const("b")}
	p.attrs, _ = attrText(p.Style, p.Attrs)
	rapid.Check(t, func(t *rapid.T) {
		nonce := rapid.StringMatching("[0-9a-f]{12}").Draw(t, "nonce")
		value := rapid.String().Draw(t, "value")
		for _, s := range []Style{StyleData, StyleLabelled, StyleInline} {
			p.Style = s
			around := p.around()
			before, after := strings.Join(around[:runValue], ""), strings.Join(around[runValue:], "")
			stand := before + value + after
			real := strings.ReplaceAll(before, measuringNonce, nonce) + value + strings.ReplaceAll(after, measuringNonce, nonce)
			if len(real) != len(stand) || tokens.Estimate(real) > tokens.Estimate(stand) {
				t.Fatalf("%q costs %d tokens, measured as %d", real, tokens.Estimate(real), tokens.Estimate(stand))
			}
		}
	})
}

// Tokens are looked for, not counted out, and the cut is a long one: what is left of
// the budget is what two nonces were measured too high by.
func TestTokenCutIsLong(t *testing.T) {
	value := strings.Repeat("It was agreed that the ferry leaves at ten. ", 2000)
	for _, keep := range []Keep{KeepHead, KeepTail, KeepBoth} {
		for _, n := range []int{50, 200, 1000} {
			row, out := checkBudget(t, Part{Data: outside(value), Keep: keep, Budget: Budget{true, n, Tokens}})
			if got := tokens.Estimate(out); got < n-2 || !row.Truncated {
				t.Errorf("keep %v: %d of %d tokens used", keep, got, n)
			}
		}
	}
}
