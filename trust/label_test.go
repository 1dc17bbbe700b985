package trust

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/value"
)

func anyLabel() *rapid.Generator[Label] {
	return rapid.Custom(func(t *rapid.T) Label {
		return Label{
			level:   Level(rapid.IntRange(0, 2).Draw(t, "level")),
			sources: NewSet(words().Draw(t, "sources")...),
			secrecy: NewSet(words().Draw(t, "secrecy")...),
		}
	})
}

// The levels are a total order with External at the bottom; zero is External.
func TestZeroIsExternal(t *testing.T) {
	var l Level
	if l != LevelExternal || l.String() != "external" {
		t.Errorf("the zero level is %v", l)
	}
	if l := (Label{}); !l.External() || !l.Tainted() || l.Level() != LevelExternal {
		t.Errorf("the zero label is %v", l)
	}
	if got := (Value{}).Label(); !got.External() {
		t.Errorf("the zero value is %v", got)
	}
	if got := (Data{}).Label(); !got.External() {
		t.Errorf("the zero data is %v", got)
	}
	if got := (Scalar{}).Label(); !got.External() {
		t.Errorf("the zero scalar is %v", got)
	}
}

func TestTaintedAndExternal(t *testing.T) {
	for _, c := range []struct {
		l                 Label
		tainted, external bool
	}{
		{From("x"), true, true},
		{ModelLabel("x"), true, false},
		{Label{level: LevelAuthor}, false, false},
	} {
		if c.l.Tainted() != c.tainted || c.l.External() != c.external {
			t.Errorf("%v: tainted %v external %v", c.l, c.l.Tainted(), c.l.External())
		}
	}
}

func TestJoinTable(t *testing.T) {
	author := Label{level: LevelAuthor}
	for _, c := range []struct {
		a, b Label
		want string
	}{
		{author, author, "author"},
		{author, ModelLabel("model:draft"), "model[model:draft]"},
		{ModelLabel("model:draft"), From("host:q"), "external[host:q model:draft]"},
		{author.WithSecrecy("pii"), From("host:q").WithSecrecy("billing"), "external[host:q]{billing pii}"},
		{author.WithSources("host:clock"), author, "author[host:clock]"},
		// From nowhere in particular is not from where the other came from.
		{Label{}, From("user:owner"), "external[? user:owner]"},
		{ModelLabel(), From("user:owner"), "external[? user:owner]"},
		{Label{}, author.WithSources("host:clock"), "external[? host:clock]"},
		{Label{}, author, "external"},
		{Label{}, Label{}, "external"},
	} {
		if got := c.a.Join(c.b).String(); got != c.want {
			t.Errorf("%v ⊔ %v = %s, want %s", c.a, c.b, got, c.want)
		}
		if got := c.b.Join(c.a).String(); got != c.want {
			t.Errorf("%v ⊔ %v = %s, want %s", c.b, c.a, got, c.want)
		}
	}
}

func TestJoinLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := anyLabel().Draw(t, "a"), anyLabel().Draw(t, "b"), anyLabel().Draw(t, "c")
		j := a.Join(b)
		if !j.Equal(b.Join(a)) {
			t.Fatalf("not commutative: %v, %v", j, b.Join(a))
		}
		if l, r := j.Join(c), a.Join(b.Join(c)); !l.Equal(r) {
			t.Fatalf("not associative: %v, %v", l, r)
		}
		if !a.Join(a).Equal(a) {
			t.Fatalf("not idempotent: %v, %v", a, a.Join(a))
		}
		if !below(j, a) || !below(j, b) {
			t.Fatalf("%v ⊔ %v = %v is above one of them", a, b, j)
		}
		if j.Level() != min(a.Level(), b.Level()) {
			t.Fatalf("%v ⊔ %v = %v", a, b, j)
		}
	})
}

// below says whether l claims no more than m: no higher level, and every source and
// tag of m.
func below(l, m Label) bool {
	return l.Level() <= m.Level() && m.Sources().SubsetOf(l.Sources()) && m.Secrecy().SubsetOf(l.Secrecy())
}

func TestLabelText(t *testing.T) {
	for _, c := range []struct {
		l    Label
		want string
	}{
		{Label{}, "external"},
		{From("tool:x", "host:question").WithSecrecy("pii"), "external[host:question tool:x]{pii}"},
		{ModelLabel().WithSecrecy("a"), "model{a}"},
		{From("web\" trust=\"author", "a\nb", ""), `external[? a%0Ab web"%20trust="author]`},
		{From("]{", "100%", "?", "\u202e", "é"), "external[100%25 %3F %5D%7B %C3%A9 %E2%80%AE]"},
	} {
		if got := c.l.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestLabelRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLabel().Draw(t, "label")
		text := l.String()
		for i := 0; i < len(text); i++ {
			if text[i] < ' ' || text[i] > '~' {
				t.Fatalf("%q is not a line of printable ASCII", text)
			}
		}
		var back Label
		if err := back.UnmarshalText([]byte(text)); err != nil || !back.Equal(l) {
			t.Fatalf("%s reads back as %v, %v", text, back, err)
		}
		if got := LabelOf(value.FromString(text)); !got.Equal(l) {
			t.Fatalf("%s reads back as %v", text, got)
		}

		// Values are valid UTF-8, so those forms keep what is.
		valid := Label{level: l.level, sources: validSet(l.sources), secrecy: validSet(l.secrecy)}
		if got := LabelOf(l.Value()); !got.Equal(valid) {
			t.Fatalf("%v is read back from its value as %v", valid, got)
		}
		b, err := json.Marshal(struct{ L Label }{l})
		if err != nil {
			t.Fatal(err)
		}
		var s struct{ L Label }
		if err := json.Unmarshal(b, &s); err != nil || !s.L.Equal(valid) {
			t.Fatalf("%s reads back as %v, %v", b, s.L, err)
		}
	})
}

func validSet(s Set) Set {
	items := s.Items()
	for i, x := range items {
		items[i] = validUTF8(x)
	}
	return NewSet(items...)
}

// Whatever cannot be read is External, and no restriction is lost with it (CASES 41).
func TestDamagedLabelsAreExternal(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "external",
		"author":                   "author",
		"author[vouch:m/k]{pii}":   "author[vouch:m/k]{pii}",
		"Author":                   "external",
		" author":                  "external",
		"author ":                  "external",
		"author\x00":               "external",
		"owner":                    "external",
		"trusted[user:owner]":      "external[user:owner]",
		"model[x":                  "external[x]",
		"author[x y]{pii":          "external[x y]{pii}",
		"author{pii}[x]":           "external[?]{? pii}",
		"author[x]]":               "external[? x]{?}",
		"author[x  y]":             "external[? x y]",
		"author[%4]":               "external[?]",
		"author[%41]":              "external[?]",
		"author[%e9]":              "external[?]",
		"author[x]{pii}\nexternal": "external[? x]{? pii}",
		"author[]":                 "author",
	} {
		var l Label
		l.level = LevelAuthor // what was there before does not survive
		if err := l.UnmarshalText([]byte(in)); err != nil {
			t.Errorf("%q: %v", in, err)
		}
		if got := l.String(); got != want {
			t.Errorf("%q reads as %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		`null`:               "external",
		`7`:                  "external",
		`{}`:                 "external",
		`{"level":"author"}`: "author",
		`{"level":"author","sources":["a"],"secrecy":["pii"]}`: "author[a]{pii}",
		`{"Level":"author"}`:                                                  "external",
		`{"level":"AUTHOR"}`:                                                  "external",
		`{"level":2}`:                                                         "external",
		`{"level":["author"]}`:                                                "external",
		`{"level":"author","level":"author"}`:                                 "external",
		`{"level":"author","sources":"a"}`:                                    "external[?]",
		`{"level":"author","sources":["a",1]}`:                                "external[? a]",
		`{"level":"author","secrecy":{"pii":true}}`:                           "external{?}",
		`{"level":"someone","sources":["a"],"secrecy":["pii"]}`:               "external[a]{pii}",
		`{"level":{"level":"author"},"sources":["a"],"x":{"level":"author"}}`: "external[a]",
		`"author[a]"`:                                                         "author[a]",
		`"nobody"`:                                                            "external",
		`[]`:                                                                  "external",
	} {
		l := Label{level: LevelAuthor}
		if err := json.Unmarshal([]byte(in), &l); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if got := l.String(); got != want {
			t.Errorf("%s reads as %s, want %s", in, got, want)
		}
	}
}

func FuzzLabelText(f *testing.F) {
	for _, s := range labelSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l := parseLabel(s)
		text := l.String()
		if !parseLabel(text).Equal(l) {
			t.Fatalf("%q reads as %s, which reads as %s", s, text, parseLabel(text))
		}
		if l.Level() != LevelExternal {
			// Above External nothing is forgiven: what was read is the whole of it.
			if !strings.HasPrefix(s, l.Level().String()) {
				t.Fatalf("%q reads as %s", s, text)
			}
			if short := strings.NewReplacer("[]", "", "{}", "").Replace(s); len(short) < len(text) {
				t.Fatalf("%q reads as %s", s, text)
			}
		}
	})
}

var labelSeeds = []string{"external[host:question tool:x]{pii}", "author", "author[x]{y}", "model{?}", "author[%0A]", "author[x"}

func TestLabelSeeds(t *testing.T) {
	if len(labelSeeds) != 6 {
		t.Errorf("%d seeds", len(labelSeeds))
	}
}

func TestLabelAllocations(t *testing.T) {
	a, b := From("host:question", "tool:x"), ModelLabel("tool:x")
	var sink Label
	if n := testing.AllocsPerRun(100, func() { sink = a.Join(b).Join(Label{level: LevelAuthor}) }); n != 0 {
		t.Errorf("a join with a contained label allocates %v times", n)
	}
	_ = sink
}

func BenchmarkJoin(b *testing.B) {
	x, y := From("host:question", "tool:x").WithSecrecy("pii"), From("tool:x")
	b.ReportAllocs()
	for b.Loop() {
		x = x.Join(y)
	}
}

func BenchmarkLabelString(b *testing.B) {
	x := From("host:question", "tool:x").WithSecrecy("pii")
	b.ReportAllocs()
	for b.Loop() {
		_ = x.String()
	}
}
