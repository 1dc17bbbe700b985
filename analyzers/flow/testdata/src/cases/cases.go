// Package cases holds one function a case. A comment "slot CLASS" says that the
// line holds a slot with an origin of the class; a line without one holds none
// but trusted ones.
package cases

import (
	"bytes"
	"crypto/rand"
	"database/sql"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"text/template"
	"time"

	openai "github.com/openai/openai-go"
	goopenai "github.com/sashabaranov/go-openai"
)

// Constants are not slots.
func constants(w http.ResponseWriter, r *http.Request) {
	openai.SystemMessage(fmt.Sprintf("You are %s. %s", fromAnotherFile, header))
	var b strings.Builder
	b.WriteString(header)
	b.WriteString("x")
	b.WriteByte('\n')
	openai.SystemMessage(b.String())
	openai.UserMessage(`fixed text`)
	p := &fromAnotherFileVar
	_ = r
	openai.UserMessage(*p)
}

var fromAnotherFileVar = "a variable that nothing assigns"

func builderWithOneWrite(w http.ResponseWriter, r *http.Request) {
	var b strings.Builder
	b.WriteString(header)
	b.WriteString(r.FormValue("q")) // slot user:http-request
	openai.SystemMessage(b.String())
}

// Concatenation.
func concat(w http.ResponseWriter, r *http.Request) {
	p := r.FormValue("p")
	openai.UserMessage("A" + "B" + p) // slot user:http-request
	openai.UserMessage("A" + p + "B") // slot user:http-request
	s := "A"
	for range 3 {
		s += r.FormValue("q") // slot user:http-request
	}
	openai.UserMessage(s)
}

// Closures.
func closures(mux *http.ServeMux) {
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		q := r.FormValue("q")
		ask := func(prefix string) {
			openai.UserMessage(prefix + q) // slot user:http-request
		}
		ask("x: ")
	})
}

// What a function takes is not what it returns.
func five(q string) string { return "5" }

func returnIgnored(w http.ResponseWriter, r *http.Request) {
	openai.UserMessage("n = " + five(r.FormValue("q")))
	routes := map[string]string{"a": "route a", "b": "route b"}
	openai.UserMessage("go to " + routes[r.FormValue("q")])
}

// One helper, two callers: each sink sees its own.
func clean(s string) string { return strings.TrimSpace(s) }

func context(w http.ResponseWriter, r *http.Request) {
	openai.SystemMessage("mode " + clean("fixed"))
	openai.SystemMessage("q " + clean(r.FormValue("q"))) // slot user:http-request
}

// Numbers and times need no fence.
func scalars(w http.ResponseWriter, r *http.Request) {
	openai.SystemMessage(fmt.Sprintf("%d of %s", len(r.FormValue("q")), time.Now()))
}

type request struct {
	Question string
	Lang     string
}

func decoded(w http.ResponseWriter, r *http.Request) {
	var in request
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return
	}
	openai.UserMessage(fmt.Sprintf("%s in %s", in.Question, in.Lang)) // slot user:http-request
}

func viaPointer(w http.ResponseWriter, r *http.Request) {
	in := &request{Lang: "en"}
	fill(in, r)
	openai.UserMessage("Q: " + in.Question) // slot user:http-request
	openai.UserMessage("L: " + in.Lang)
}

func fill(in *request, r *http.Request) { in.Question = r.FormValue("q") }

// Structs that carry a message to the library's own.
type message struct{ role, text string }

func send(ms []message) {
	for _, m := range ms {
		_ = goopenai.ChatCompletionMessage{Role: m.role, Content: m.text} // slot remote:http-response
	}
}

func fetch() {
	resp, err := http.Get("https://example.com")
	if err != nil {
		return
	}
	b, _ := io.ReadAll(resp.Body)
	send([]message{{"system", "fixed"}, {"user", string(b)}})
}

// Templates.
var tmpl = template.Must(template.New("t").Parse(`{{.Question}} {{if .Lang}}x{{end}} {{range .Items}}{{.}}{{end}}`))

func templates(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	tmpl.Execute(&b, map[string]any{"Question": r.FormValue("q"), "Lang": "en", "Items": nil}) // slot user:http-request
	openai.UserMessage(b.String())
}

type page struct{ Title, Body string }

func templateStruct(w http.ResponseWriter, r *http.Request) {
	t, err := template.New("p").Parse("{{.Title}}")
	if err != nil {
		return
	}
	var b strings.Builder
	t.Execute(&b, page{Title: "fixed", Body: r.FormValue("body")})
	openai.UserMessage(b.String())
}

func runtimeTemplate(name string) {
	t, err := template.ParseFiles(os.Args[1])
	if err != nil {
		return
	}
	var b strings.Builder
	t.Execute(&b, page{Title: "fixed"}) // slot unknown:template
	openai.UserMessage(b.String())
}

// Model output.
func twice(c openai.Client) {
	resp, err := c.New(nil, openai.ChatCompletionNewParams{})
	if err != nil {
		return
	}
	openai.SystemMessage("So far: " + resp.Choices[0].Message.Content) // slot model:output
}

// Fences.
func fence(w http.ResponseWriter, r *http.Request) {
	n := rand.Text()
	openai.UserMessage("<d-" + n + ">" + r.FormValue("q") + "</d-" + n + ">")        // fenced user:http-request
	openai.UserMessage(fmt.Sprintf("<d-%[1]s>%[2]s</d-%[1]s>", n, r.FormValue("q"))) // fenced user:http-request
	openai.UserMessage("<data>" + r.FormValue("q") + "</data>")                      // slot user:http-request
	id := r.FormValue("id")
	openai.UserMessage("<d-" + id + ">" + r.FormValue("q") + "</d-" + id + ">") // slot user:http-request
}

func sometimesFenced(w http.ResponseWriter, r *http.Request) {
	q := r.FormValue("q")
	if r.FormValue("raw") == "" {
		n := rand.Text()
		q = "<d-" + n + ">" + q + "</d-" + n + ">" // fenced user:http-request
	}
	openai.UserMessage("Question: " + q) // slot user:http-request
}

// Channels, maps, recursion, generics, interfaces.
func channels(w http.ResponseWriter, r *http.Request) {
	c := make(chan request)
	go func() { c <- request{Question: r.FormValue("q")} }()
	in := <-c
	openai.UserMessage("Q " + in.Question) // slot user:http-request
}

func maps(w http.ResponseWriter, r *http.Request) {
	m := map[string]string{}
	m["q"] = r.FormValue("q")
	openai.UserMessage("Q " + m["q"]) // slot user:http-request
}

func recursive(s string, n int) string {
	if n == 0 {
		return s
	}
	return recursive(s+"!", n-1) // slot user:http-request
}

func recursion(w http.ResponseWriter, r *http.Request) {
	openai.UserMessage("Q " + recursive(r.FormValue("q"), 4)) // slot user:http-request
}

func first[T any](s []T) T { return s[0] }

func generic(w http.ResponseWriter, r *http.Request) {
	openai.UserMessage("Q " + first([]string{r.FormValue("q")})) // slot user:http-request
	openai.UserMessage("Q " + first([]string{"fixed"}))
}

type loader interface{ load() string }
type fixed struct{}
type file struct{ name string }

func (fixed) load() string { return "fixed" }
func (f file) load() string {
	b, _ := os.ReadFile(f.name)
	return string(b)
}

func interfaces(which bool) {
	var l loader = fixed{}
	if which {
		l = file{"x"}
	}
	openai.UserMessage("Q " + l.load()) // slot remote:file
}

//go:embed cases.txt
var embedded string

func embeddedFile() {
	openai.UserMessage("Q " + embedded)
}

// Unknowns are named as such.
var hook func() string

// Exported is called from elsewhere.
func Exported(q string) {
	openai.UserMessage("Q " + q)      // slot unknown:parameter
	openai.UserMessage("Q " + hook()) // slot unknown:dynamic
}

var once = sync.OnceValue(func() string { return "x" })

// Many assigns through a variadic helper.
func joined(parts ...string) string { return strings.Join(parts, "\n") } // slot user:http-request

func variadic(w http.ResponseWriter, r *http.Request) {
	openai.UserMessage(joined("fixed", r.FormValue("q")))
}

func replaced(w http.ResponseWriter, r *http.Request) {
	openai.UserMessage(strings.NewReplacer("{q}", r.FormValue("q")).Replace("Q {q}")) // slot user:http-request
	openai.UserMessage(strings.Replace("Q {q}", "{q}", r.FormValue("q"), 1))          // slot user:http-request
}

func stdin() {
	b, _ := io.ReadAll(os.Stdin)
	openai.UserMessage("Q " + string(b)) // slot user:stdin
}

// What was put into an interface with another type is not what an assertion finds.
type part interface{ isPart() }
type textPart struct{ text string }
type imagePart struct{ url string }

func (textPart) isPart()  {}
func (imagePart) isPart() {}

func parts(w http.ResponseWriter, r *http.Request) {
	ps := []part{textPart{"fixed"}, imagePart{r.FormValue("url")}}
	for _, p := range ps {
		switch p := p.(type) {
		case textPart:
			openai.UserMessage("T " + p.text)
		case imagePart:
			openai.UserMessage("I " + p.url) // slot user:http-request
		}
	}
}

// Text that grows in a loop is a circle of concatenations: as a query, as a
// template, as a prompt.
func loops(db *sql.DB, r *http.Request) {
	q := "SELECT title FROM articles WHERE 1 = 1"
	t := "{{.Title}}"
	for _, w := range r.Form["w"] {
		q = q + " AND word <> ?"
		t = "(" + t + ")" + w
	}
	var title string
	db.QueryRow(q).Scan(&title)
	openai.UserMessage("T " + title) // slot sql:column
	var b strings.Builder
	template.Must(template.New("x").Parse(t)).Execute(&b, page{Title: "fixed"}) // slot unknown:template
	openai.UserMessage(b.String())
}

// A literal of a type that usually comes from outside is what it was made of.
func ownMessage() {
	m := openai.ChatCompletionMessage{Content: "fixed"}
	openai.SystemMessage("So far: " + m.Content)
}

// A message that is built into a reply is not model input.
type server struct{}

func (server) reply(r *http.Request) goopenai.ChatCompletionChoice {
	var c goopenai.ChatCompletionChoice
	c.Message.Content = r.FormValue("q")
	return c
}

// Messages of all roles in one list: each sink takes those of its own.
type turn struct {
	Role string
	Text string
}

func history(r *http.Request) {
	turns := []turn{{Role: "system", Text: "fixed"}, {Role: "user", Text: r.FormValue("q")}}
	for _, t := range turns {
		switch t.Role {
		case "system":
			openai.SystemMessage(t.Text)
		case "user":
			openai.UserMessage(t.Text) // slot user:http-request
		}
	}
}

// A part has no role of its own; the branch that it stands in may have asked.
func partsByRole(r *http.Request) {
	turns := []turn{{Role: "system", Text: "fixed"}, {Role: "user", Text: r.FormValue("q")}}
	for _, t := range turns {
		if t.Role == "system" {
			openai.TextContentPart(t.Text)
		} else {
			openai.TextContentPart(t.Text) // slot user:http-request
		}
	}
}
