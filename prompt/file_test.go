package prompt

import (
	"embed"
	"reflect"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/trust"
)

//go:embed testdata/prompts
var files embed.FS

func TestLoad(t *testing.T) {
	tmpl, err := Load(files, "testdata/prompts/answer.prompt")
	if err != nil {
		t.Fatal(err)
	}
	want := []Declaration{
		{Name: "article_body", Trust: "outside", Origins: []string{"community_article", "staff_article"}, Budget: fence.Budget{Set: true, Max: 8000}, Places: []Place{{"user", 22}}},
		{Name: "display_name", Trust: "outside", Origins: []string{"customer_profile"}, Inline: 200, Secrecy: []string{"pii"}, Places: []Place{{"user", 24}}},
		{Name: "plan_tier", Trust: "own", Secrecy: []string{"billing"}, Places: []Place{{"user", 24}}},
		{Name: "question", Trust: "outside", Origins: []string{"customer_question"}, Budget: fence.Budget{Set: true, Max: 2000, Unit: fence.Tokens}, Keep: fence.KeepBoth, Places: []Place{{"user", 25}}},
	}
	if got := tmpl.Slots(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if tmpl.File() != "testdata/prompts/answer.prompt" {
		t.Error(tmpl.File())
	}
	r, _ := render(t, tmpl, Trusted{"plan_tier": trust.Const("gold")}, Untrusted{
		"article_body": trust.External("staff_article", "Refunds take 5 days."),
		"display_name": trust.External("customer_profile", "Dana"),
		"question":     trust.External("customer_question", "Where is it?"),
	})
	if want := "You help the customers of Harbour Pay with their bills. The policy is below.\nWhere it allows a refund you may ask for issue_refund.\n\n" + paragraph; r.System() != want {
		t.Errorf("system %q", r.System())
	}
	if !strings.HasPrefix(r.User(), "From the help centre:\n<") || !strings.HasSuffix(r.User(), `">`) {
		t.Errorf("user %q", r.User())
	}
	_, err = tmpl.Render(nil, Untrusted{"question": trust.Data{}})
	if got := flat(err); len(got) != 4 || got[0] != "prompt: testdata/prompts/answer.prompt:22: slot article_body: no value: it is outside: expected a trust.Data in Untrusted" {
		t.Errorf("got %q", got)
	}

	plain, err := Load(files, "testdata/prompts/plain.prompt")
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := render(t, plain, nil, nil); r.User() != "Say hello." || r.System() != "" {
		t.Errorf("%q", r.User())
	}
}

func TestLoadRefuses(t *testing.T) {
	_, err := Load(files, "testdata/prompts/typo.prompt")
	wantErrors(t, err,
		"prompt: testdata/prompts/typo.prompt:5: slot qestion: it is not declared: expected one of question",
		"prompt: testdata/prompts/typo.prompt:3:3: slot question: it is declared and stands nowhere in the template")
	_, err = Load(files, "testdata/prompts/nowhere.prompt")
	wantErrors(t, err, "prompt: open testdata/prompts/nowhere.prompt: file does not exist")
	_, err = Load(files, "testdata/prompts/answer.txt")
	wantErrors(t, err, "prompt: testdata/prompts/answer.txt: expected a name that ends in .prompt")
	for name, load := range map[string]func(){
		"MustLoad": func() { MustLoad(files, "testdata/prompts/typo.prompt") },
		"MustLoadTyped": func() {
			MustLoadTyped(files, "testdata/prompts/answer.prompt", "article_body outside, question outside")
		},
		"swapped": func() {
			MustLoadTyped(files, "testdata/prompts/answer.prompt", "article_body own, display_name outside, plan_tier own, question outside")
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			load()
		}()
	}
	MustLoadTyped(files, "testdata/prompts/answer.prompt", "article_body outside, display_name outside, plan_tier own, question outside")
}

// A file from another editor is the same template: byte order mark, CRLF.
func TestFilesFromElsewhere(t *testing.T) {
	text, err := files.ReadFile("testdata/prompts/answer.prompt")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := read("a.prompt", string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"\ufeff" + string(text), strings.ReplaceAll(string(text), "\n", "\r\n"), "\ufeff" + strings.ReplaceAll(string(text), "\n", "\r\n")} {
		got, err := read("a.prompt", other)
		if err != nil || !reflect.DeepEqual(got, plain) {
			t.Errorf("%v: %+v", err, got)
		}
	}
}

// Everything that a front matter can have wrong, with line and column, and the words
// that would have been right (CASES 42).
func TestFrontMatter(t *testing.T) {
	const keys = "expected one of trust, origins, budget, keep, inline, allow_in_system"
	for _, c := range []struct{ name, front, want string }{
		{"misspelt trust", "slots: {x: {trust: outsid, origins: [web]}}", `2:20: slot x: trust outsid: expected one of outside, own`},
		{"another case", "slots: {x: {trust: Outside, origins: [web]}}", `2:20: slot x: trust Outside: expected one of outside, own`},
		{"white space", "slots: {x: {trust: 'outside ', origins: [web]}}", `2:20: slot x: trust "outside ": expected one of outside, own`},
		{"empty", "slots: {x: {trust: '', origins: [web]}}", `2:20: slot x: trust "": expected one of outside, own`},
		{"no trust", "slots: {x: {origins: [web]}}", `2:12: slot x: expected trust: own or trust: outside`},
		{"no text", "slots: {x: {trust: [own]}}", `2:20: slot x: expected a string, found a list`},
		{"unknown key", "slots: {x: {trust: own, trsut: own}}", `2:25: slot x: key trsut: ` + keys},
		{"unknown key above", "slots: {x: {trust: own}}\nslot: 1", `3:1: key slot: expected one of slots, sections, sensitivity`},
		{"twice with two trusts", "slots:\n  x: {trust: own}\n  x: {trust: outside, origins: [web]}", `4:3: duplicate`},
		{"a key twice", "slots: {x: {trust: own, trust: outside}}", `2:25: duplicate`},
		{"origins of own", "slots: {x: {trust: own, origins: [web]}}", `2:34: slot x: origins: the author's own has none`},
		{"no origins", "slots: {x: {trust: outside}}", `2:9: slot x: admits no origin`},
		{"no list", "slots: {x: {trust: outside, origins: web}}", `2:38: slot x: expected a list, found`},
		{"a list of lists", "slots: {x: {trust: outside, origins: [[web]]}}", `2:39: slot x: expected a string, found a list`},
		{"an origin", "slots: {x: {trust: outside, origins: ['we b']}}", `2:9: slot x: origin "we b": expected one or more of`},
		{"budget", "slots: {x: {trust: outside, origins: [web], budget: lots}}", `2:53: slot x: expected an integer, found`},
		{"budget unit", "slots: {x: {trust: outside, origins: [web], budget: {words: 3}}}", `2:54: slot x: key words: expected one of tokens`},
		{"no tokens", "slots: {x: {trust: outside, origins: [web], budget: {}}}", `2:53: slot x: budget: expected {tokens: n} or a number of characters`},
		{"keep", "slots: {x: {trust: outside, origins: [web], budget: 9, keep: Tail}}", `2:62: slot x: keep Tail: expected one of head, tail, both`},
		{"inline", "slots: {x: {trust: outside, origins: [web], inline: 0}}", `2:9: slot x: inline 0: expected at least 1 character`},
		{"no reason", "slots: {x: {trust: outside, origins: [web], allow_in_system: ''}}", `2:9: slot x: allowed in the system message without a reason`},
		{"a slot that is no mapping", "slots: {x: own}", `2:12: slot x: expected a mapping, found`},
		{"slots that are no mapping", "slots: [x]", `2:8: expected a mapping, found a list`},
		{"sections", "slots: {x: {trust: own}}\nsections: [user, assistant]", `3:18: section assistant: expected system or user`},
		{"sections that are not there", "slots: {x: {trust: own}}\nsections: [system, user]", `5: expected the sections that the front matter lists, system, user; found user`},
		{"no sections", "slots: {x: {trust: own}}\nsections: []", `5: expected the sections that the front matter lists, none; found user`},
		{"sensitivity of nothing", "slots: {x: {trust: own}}\nsensitivity: {y: [pii]}", `3:15: slot y: it is not declared in slots`},
		{"sensitivity that is no list", "slots: {x: {trust: own}}\nsensitivity: {x: pii}", `3:18: slot x: expected a list, found`},
		{"a name", "slots: {x: {trust: own}, 'y z': {trust: own}}", `2:26: slot "y z": expected a letter and then letters, digits and _ as its name`},
		{"no mapping", "- a", `2:1: `},
		{"syntax", "slots: {x: ", `2:`},
		{"two documents", "slots: {x: {trust: own}}\n--- \nslots: {}", `3:1: `},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Declarations("a.prompt", []byte("---\n"+c.front+"\n---\n{{x}}\n"))
			if lines, want := flat(err), "prompt: a.prompt:"+c.want; len(lines) == 0 || !strings.HasPrefix(lines[0], want) {
				t.Errorf("got %q, want %s…", lines, want)
			}
		})
	}
	for _, c := range []struct{ name, text, want string }{
		{"no front matter", "{{x}}", "prompt: a.prompt:1: expected --- and front matter that declares the slots"},
		{"nothing", "", "prompt: a.prompt:1: expected --- and front matter that declares the slots"},
		{"no end", "---\nslots: {}\n", "prompt: a.prompt:1: the front matter does not end: expected a line ---"},
		{"no body", "---\n---", "prompt: a.prompt: the user message is empty"},
		{"no body either", "---\nsections: [user]\n---\n\n\n", "prompt: a.prompt: the user message is empty"},
		{"not UTF-8", "---\n# \xff\n---\nx", "prompt: a.prompt:2: bytes that are not UTF-8"},
		{"markers that are not listed", "---\n---\n{{#system}}\na\n{{#user}}\nb", "prompt: a.prompt:3: expected the sections that the front matter lists, user; found system, user"},
	} {
		_, err := Declarations("a.prompt", []byte(c.text))
		if got := flat(err); len(got) == 0 || got[0] != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Declarations are in the order in which they stand.
func TestDeclarationsKeepTheirOrder(t *testing.T) {
	got, err := Declarations("a.prompt", []byte("---\nslots:\n  z: {trust: own}\n  a: {trust: own}\n  m: {trust: own}\n---\n{{a}}{{m}}{{z}}"))
	if err != nil || len(got) != 3 || got[0].Name != "z" || got[1].Name != "a" || got[2].Name != "m" || got[1].Places[0] != (Place{"user", 7}) {
		t.Errorf("%v %+v", err, got)
	}
}
