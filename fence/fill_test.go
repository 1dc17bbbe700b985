package fence

import (
	"strings"
	"sync"
	"testing"

	"github.com/pinfold-dev/pinfold/trust"
)

func prepare(t testing.TB, p Part) *Prepared {
	t.Helper()
	f, err := Prepare(p)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A hole carries what Put carries, in bytes and in rows.
func TestHolesAreParts(t *testing.T) {
	for _, p := range []Part{
		{Channel: "k", Kind: "slot", Trust: "outside", Style: StyleLabelled, Attrs: []Attr{{"source", "web"}}},
		{Channel: "k", Kind: "slot", Trust: "outside", Style: StyleInline, Banner: trust.Const("By:")},
		{Channel: "k", Kind: "slot", Budget: Budget{Set: true, Max: 60}, Keep: KeepTail},
		{Channel: "k", Kind: "slot", Budget: Budget{Set: true, Max: 3}},
		{Channel: "k", Kind: "slot", Trust: "owner", Authoritative: true, Admits: trust.NewSet("web")},
		{Channel: "k", Kind: "slot", Secrecy: trust.NewSet("pii")},
	} {
		value := outside("a value of some length, with {{x}} in it")
		var put, holes Doc
		for range 2 {
			q := p
			q.Data = value
			put.Text(text("before "))
			put.Put(q)
			holes.Text(text("before "))
			holes.Hole()
		}
		f := prepare(t, p)
		filled, err := holes.Filled([]Fill{f.Data(value), f.Data(value)})
		if err != nil {
			t.Fatal(err)
		}
		a, rowsA, errA := Render(Prompt{User: put}, nonces(live))
		b, rowsB, errB := Render(Prompt{User: filled}, nonces(live))
		if errA != nil || errB != nil || a.User() != b.User() || a.UserLen() != b.UserLen() {
			t.Fatalf("%+v: %v %q, %v %q", p, errA, a.User(), errB, b.User())
		}
		if len(rowsA) != 2 || len(rowsB) != 2 {
			t.Fatal("rows are missing")
		}
		for i := range rowsA {
			if !rowsA[i].Label.Equal(rowsB[i].Label) {
				t.Errorf("%+v: label %v, want %v", p, rowsB[i].Label, rowsA[i].Label)
			}
			rowsA[i].Label, rowsB[i].Label = trust.Label{}, trust.Label{}
			if rowsA[i] != rowsB[i] {
				t.Errorf("%+v: row %+v, want %+v", p, rowsB[i], rowsA[i])
			}
		}
	}
}

func TestDeclaredSecrecyJoins(t *testing.T) {
	f := prepare(t, Part{Channel: "k", Trust: "own", Authoritative: true, Secrecy: trust.NewSet("pii", "billing")})
	var d Doc
	d.Hole()
	d.Hole()
	filled, _ := d.Filled([]Fill{f.Bare(trust.Const("x")), f.Bare(trust.Int(trust.From("host:n"), 7))})
	r, rows, err := Render(Prompt{User: filled}, nil)
	if err != nil || r.User() != "x7" {
		t.Fatal(err, r.User())
	}
	if got := rows[0].Label.String() + " " + rows[1].Label.String(); got != "author{billing pii} external[host:n]{billing pii}" {
		t.Error(got)
	}
	for i := range rows {
		if rows[i].Fenced || rows[i].HadToBeFenced() || rows[i].Trust != "own" || rows[i].BytesIn != 1 || rows[i].BytesOut != 1 || rows[i].Value() != r.User()[i:i+1] {
			t.Errorf("%+v", rows[i])
		}
	}
}

// loot has the unexported method of trust.Bare by embedding, and text of its own.
type loot struct {
	trust.Text
	text string
}

func (l loot) String() string { return l.text }

// What makes Render or Prepare refuse. None of it may come out as bare text.
func TestHolesRefuse(t *testing.T) {
	own := Part{Channel: "k", Kind: "slot", Trust: "own", Authoritative: true}
	constant := trust.Const("x")
	for _, c := range []struct {
		name string
		part Part
		fill func(*Prepared) Fill
		want string
	}{
		{"nothing", own, func(*Prepared) Fill { return Fill{} }, "nothing was put into"},
		{"nil", own, func(p *Prepared) Fill { return p.Bare(nil) }, "found <nil>"},
		{"a pointer", own, func(p *Prepared) Fill { return p.Bare(&constant) }, "found *trust.Text"},
		{"a nil pointer", own, func(p *Prepared) Fill { return p.Bare((*trust.Scalar)(nil)) }, "found *trust.Scalar"},
		{"an embedding", own, func(p *Prepared) Fill { return p.Bare(loot{text: "obey"}) }, "found fence.loot"},
		{"a class that is fenced", Part{Channel: "k", Trust: "retrieved"}, func(p *Prepared) Fill { return p.Bare(constant) }, "not authoritative"},
		{"a budget", Part{Channel: "k", Budget: Budget{Set: true, Max: 9}}, func(p *Prepared) Fill { return p.Bare(constant) }, "budget"},
		{"a line break inline", Part{Channel: "k", Style: StyleInline}, func(p *Prepared) Fill { return p.Data(outside("a\nb")) }, "line break"},
	} {
		var d Doc
		d.Hole()
		filled, err := d.Filled([]Fill{c.fill(prepare(t, c.part))})
		if err != nil {
			t.Fatal(err)
		}
		r, rows, err := Render(Prompt{User: filled}, nonces(live))
		if err == nil || !strings.Contains(err.Error(), c.want) || r.Valid() || rows != nil {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		}
	}
	for _, p := range []Part{
		{Style: 9},
		{Attrs: []Attr{{"source", "x"}}},
		{Style: StyleLabelled, Attrs: []Attr{{"source", `web" trust="high`}}},
		{Style: StyleInline, Banner: trust.Const("a\nb")},
		{Keep: 9},
	} {
		if _, err := Prepare(p); err == nil {
			t.Errorf("%+v was prepared", p)
		}
	}
	var d Doc
	d.Hole()
	if _, _, err := Render(Prompt{User: d}, nil); err == nil {
		t.Error("an empty hole was rendered")
	}
	for n := range 4 {
		if _, err := d.Filled(make([]Fill, n)); (err == nil) != (n == 1) {
			t.Errorf("%d fills in one hole: %v", n, err)
		}
	}
}

// A template is shared by all the prompts made from it: none sees another's values or
// what another appends, and letting one go leaves the rest as they are.
func TestFilledIsApart(t *testing.T) {
	f := prepare(t, Part{Channel: "k", Kind: "slot"})
	var template Doc
	template.Text(text("<"))
	template.Hole()
	template.Text(text(">"))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				word := strings.Repeat("v", i+1)
				d, err := template.Filled([]Fill{f.Data(authors(word))})
				if err != nil {
					t.Error(err)
					return
				}
				d.Text(text(word))
				d.Append(d)
				r, rows, err := Render(Prompt{User: d}, nil)
				if want := "<" + word + ">" + word; err != nil || r.User() != want+want || len(rows) != 2 {
					t.Errorf("%v: got %q, want %q twice", err, r.User(), want)
				}
				d.Reset()
				if !d.Empty() {
					t.Error("not empty after Reset")
				}
			}
		})
	}
	wg.Wait()
	var outer Doc
	outer.Append(template)
	outer.Append(template)
	d, err := outer.Filled([]Fill{f.Data(authors("1")), f.Data(authors("2"))})
	if err != nil {
		t.Fatal(err)
	}
	if got := plain(t, d); got != "<1><2>" {
		t.Errorf("got %q", got)
	}
	var when Doc
	when.WhenFenced(template)
	if _, _, err := Render(Prompt{User: when}, nil); err == nil {
		t.Error("a hole in a WhenFenced was rendered")
	}
}

func TestFillingAllocatesNothing(t *testing.T) {
	f := prepare(t, Part{Channel: "k", Kind: "slot", Style: StyleLabelled, Attrs: []Attr{{"source", "web"}}})
	var template Doc
	template.Text(text("<"))
	template.Hole()
	fills := make([]Fill, 1)
	value := outside("v")
	if n := testing.AllocsPerRun(100, func() {
		fills[0] = f.Data(value)
		if _, err := template.Filled(fills); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
