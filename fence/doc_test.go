package fence

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/trust"
)

func plain(t interface{ Fatal(...any) }, d Doc) string {
	r, _, err := Render(Prompt{User: d}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.User()
}

// Copies of a Doc share what they have in common and nothing else, in whatever order
// they are appended to.
func TestCopiesOfADocAreApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := make([]Doc, 1, 64)
		want := make([]string, 1, 64)
		if rapid.Bool().Draw(t, "grown") {
			docs[0].Grow(rapid.IntRange(0, 20).Draw(t, "spans"), rapid.IntRange(0, 5).Draw(t, "parts"))
		}
		for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
			k := rapid.IntRange(0, len(docs)-1).Draw(t, "doc")
			word := fmt.Sprintf("%d,", i)
			switch rapid.IntRange(0, 6).Draw(t, "step") {
			case 0: // a copy
				docs, want = append(docs, docs[k]), append(want, want[k])
				continue
			case 1:
				docs[k].Undelimited("k", outside(word))
			case 2:
				docs[k].Put(Part{Data: authors(word)})
			case 3:
				other := rapid.IntRange(0, len(docs)-1).Draw(t, "other")
				word = want[other]
				if len(word) > 2000 {
					continue
				}
				docs[k].Append(docs[other])
			case 4:
				docs[k].Grow(2, 1)
				word = ""
			case 5:
				docs[k].Scalar("n", trust.Int(trust.From("x"), int64(i)))
				docs[k].Text(text(","))
			default:
				docs[k].Text(text(word))
			}
			want[k] += word
		}
		for i := range docs {
			if got := plain(t, docs[i]); got != want[i] {
				t.Fatalf("doc %d: got %s, want %s", i, got, want[i])
			}
			if docs[i].Empty() != (len(body(docs[i].spans)) == 0) || want[i] != "" && docs[i].Empty() {
				t.Fatalf("doc %d: empty %v, and is %q", i, docs[i].Empty(), want[i])
			}
		}
	})
}

// The system message is built once and shared: a goroutine that adds to its copy
// reaches no other's. Run with -race.
func TestCopiesInGoroutines(t *testing.T) {
	var base Doc
	base.Grow(64, 64)
	base.Text(text("base"))
	base.Undelimited("k", outside("!"))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 100 {
				mine := base
				want := "base!"
				for k := range 5 {
					word := fmt.Sprintf(" %d.%d.%d", i, j, k)
					mine.Text(text(word))
					mine.Undelimited("k", outside(word))
					mine.Put(Part{Data: authors(word)})
					want += strings.Repeat(word, 3)
				}
				if got := plain(t, mine); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
		})
	}
	wg.Wait()
	if got := plain(t, base); got != "base!" {
		t.Errorf("the shared doc became %q", got)
	}
}

// What a caller keeps of a Part it put is its own again.
func TestPutKeepsNothingOfTheCallers(t *testing.T) {
	attrs := []Attr{{"source", "web"}}
	got, _ := renderUser(t, nonces(live), func(d *Doc) {
		d.Put(Part{Data: outside("v"), Style: StyleInline, Attrs: attrs})
		attrs[0] = Attr{"x", `"><evil`}
	})
	if got != `<untrusted id="ab12ab12ab12" source="web">v</untrusted id="ab12ab12ab12">` {
		t.Errorf("%q", got)
	}
}

func TestAppendKeepsPlaces(t *testing.T) {
	one := doc(func(d *Doc) { d.Data("a", outside("1")); d.Put(Part{Channel: "b", Data: outside("2")}) })
	two := doc(func(d *Doc) {
		d.Text(text("t"))
		d.Data("c", outside("3"))
		d.Put(Part{Channel: "d", Data: outside("4")})
	})
	one.Append(two)
	one.Append(one)
	_, rows := renderUser(t, nonces(live), func(d *Doc) { d.Append(one) })
	var got string
	for _, row := range rows {
		got += row.Channel + row.Value() + " "
	}
	if got != "a1 b2 c3 d4 a1 b2 c3 d4 " {
		t.Errorf("%s", got)
	}
}

func TestDocAllocations(t *testing.T) {
	texts := []trust.Text{text("a"), text("b"), text("c")}
	data := []trust.Data{outside("v"), outside("w")}
	var user Doc
	build := testing.AllocsPerRun(100, func() {
		user = Doc{}
		user.Grow(5, 2)
		for i := range 2 {
			user.Text(texts[i])
			user.Data("k", data[i])
		}
		user.Text(texts[2])
	})
	if build > 2 {
		t.Errorf("building allocates %v times, want at most 2", build)
	}
	system := doc(func(d *Doc) {
		for range 12 {
			d.Text(texts[0])
		}
		d.WhenFenced(doc(func(d *Doc) { d.Text(texts[0]); d.Nonce() }))
	})
	draw := func(n *[12]byte) error { copy(n[:], live); return nil }
	render := testing.AllocsPerRun(100, func() {
		if _, _, err := Render(Prompt{system, user}, draw); err != nil {
			t.Fatal(err)
		}
	})
	if render > 3 {
		t.Errorf("rendering allocates %v times, want at most 3", render)
	}
}

// What outlives a Reset that it should not have outlived shows nothing of the next
// prompt.
func TestResetIsFinal(t *testing.T) {
	base := func() (d Doc) {
		d.Grow(8, 4)
		d.Text(text("old "))
		d.Undelimited("k", outside("old"))
		return d
	}
	d := base()
	first, _, err := Render(Prompt{User: d}, nil)
	if err != nil {
		t.Fatal(err)
	}
	kept, _, err := Render(Prompt{User: d}, nil)
	if err != nil || kept.User() != "old old" {
		t.Fatal(err, kept.User())
	}
	grown, wrapped, within := d, d, d
	stale := d
	d.Reset()
	if !d.Empty() || first.Valid() || first.User() != "" || len(first.AppendUser(nil)) != 0 {
		t.Errorf("valid %v, %q", first.Valid(), first.User())
	}
	d.Text(text("new "))
	d.Data("k", outside("new"))
	if got, _ := renderUser(t, nonces(live), func(x *Doc) { x.Append(d) }); got != "new <data-ab12ab12ab12>\nnew\n</data-ab12ab12ab12>" {
		t.Errorf("after a Reset: %q", got)
	}
	if n, err := first.WriteUser(&strings.Builder{}); n != 0 || err != ErrNotRendered {
		t.Errorf("%d, %v", n, err)
	}
	if kept.User() != "old old" || kept.Valid() {
		t.Errorf("%q", kept.User())
	}
	grown.Text(text("x"))
	wrapped.Append(stale)
	within.Text(text("x"))
	within.Data("k", outside("x"))
	var outer, when Doc
	outer.Append(stale)
	when.WhenFenced(stale)
	for i, x := range []Doc{stale, grown, wrapped, within, outer, when} {
		r, _, err := Render(Prompt{User: x}, nonces(live))
		if err == nil || !strings.Contains(err.Error(), "Reset") {
			t.Errorf("%d: %v, %q", i, err, r.User())
		}
	}
	if got := plain(t, doc(func(x *Doc) { x.Text(text("a")) })); got != "a" {
		t.Errorf("%q", got)
	}

	// A copy that is emptied does not empty the Doc it is a copy of behind its back.
	e := base()
	f := e
	f.Reset()
	if _, _, err := Render(Prompt{User: e}, nil); err == nil {
		t.Error("a Doc whose copy was reset renders")
	}
	f.Text(text("yours"))
	e.Reset()
	e.Text(text("mine"))
	if plain(t, e) != "mine" || plain(t, f) != "yours" {
		t.Errorf("%q %q", plain(t, e), plain(t, f))
	}

	// However often.
	d.Reset()
	d.Text(text("n"))
	ancient := d
	for range 1<<16 + 3 {
		before := d
		d.Reset()
		d.Text(text("n"))
		for _, old := range []Doc{before, ancient} {
			if !old.stale() && len(old.spans) > 0 && &old.spans[0] == &d.spans[0] {
				t.Fatal("a copy from before a Reset counts as fresh")
			}
		}
	}

	// A template outlives the prompts made from it.
	var template Doc
	template.Text(text("template "))
	template.Hole()
	one, errOne := template.Filled([]Fill{(&Prepared{}).Data(authors("1"))})
	two, errTwo := template.Filled([]Fill{(&Prepared{}).Data(authors("2"))})
	if errOne != nil || errTwo != nil {
		t.Fatal(errOne, errTwo)
	}
	one.Reset()
	one.Text(text("x"))
	if plain(t, two) != "template 2" || plain(t, one) != "x" {
		t.Errorf("%q %q", plain(t, two), plain(t, one))
	}
}

func TestResetReuses(t *testing.T) {
	var d Doc
	value := outside("v")
	if n := testing.AllocsPerRun(100, func() {
		d.Reset()
		d.Grow(2, 1)
		d.Text(text("a"))
		d.Data("k", value)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
