package prompt_test

import (
	"encoding/json"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	// What the tests below compile; imported so that they run again when it changes.
	_ "github.com/pinfold-dev/pinfold/prompt/testdata/gen/desk"
	_ "github.com/pinfold-dev/pinfold/trust/unchecked"
)

const module = "github.com/pinfold-dev/pinfold/"

// How an exported function of prompt comes by a template, a declaration or a prompt.
const (
	reads    = ""         // gives none
	constant = "constant" // takes a parameter that only a constant fits
	embedded = "embedded" // takes an embed.FS, and a constant name in it
	declares = "declares" // a declaration with more on it: it opens no origin and no trust
	fills    = "fills"    // puts values into a template, by declaration
	model    = "model"    // labels what a model wrote, at most Model
)

// interfaceOfPrompt is every exported function and method. It is policy, for a person
// to edit: a row added here says why nothing that a run has read can become a template
// by that function, or go bare.
var interfaceOfPrompt = map[string]string{
	"func Parse(text prompt.constant, slots prompt.Slots) (*prompt.Template, error)":                       constant,
	"func MustParse(text prompt.constant, slots prompt.Slots) *prompt.Template":                            constant,
	"func Outside(origins ...prompt.constant) prompt.Slot":                                                 constant,
	"func Load(files embed.FS, name prompt.constant) (*prompt.Template, error)":                            embedded,
	"func MustLoad(files embed.FS, name prompt.constant) *prompt.Template":                                 embedded,
	"func MustLoadTyped(files embed.FS, name prompt.constant, signature prompt.constant) *prompt.Template": embedded,
	"func Own() prompt.Slot":                                                                            declares,
	"func (Slot) AllowInSystem(reason string) prompt.Slot":                                              declares,
	"func (Slot) Budget(n int) prompt.Slot":                                                             declares,
	"func (Slot) Inline(n int) prompt.Slot":                                                             declares,
	"func (Slot) Keep(k fence.Keep) prompt.Slot":                                                        declares,
	"func (Slot) Secrecy(tags ...string) prompt.Slot":                                                   declares,
	"func (Slot) Tokens(n int) prompt.Slot":                                                             declares,
	"func (*Template) Render(trusted prompt.Trusted, untrusted prompt.Untrusted) (fence.Prompt, error)": fills,
	"func (*Template) RenderOrdered(own []trust.Bare, outside []trust.Data) (fence.Prompt, error)":      fills,
	"func ToolResult(d trust.Data) (fence.Prompt, error)":                                               fills,
	"func (*Template) File() string":                                                                    reads,
	"func (*Template) Slots() []prompt.Declaration":                                                     reads,
	"func Declarations(file string, text []byte) ([]prompt.Declaration, error)":                         reads,
	"func Signature(slots []prompt.Declaration) string":                                                 reads,
	"func Reply(origin string, text string, rows []fence.Row) trust.Data":                               model,
	"func (*Error) Error() string":                                                                      reads,
	"func (*Error) Unwrap() error":                                                                      reads,
}

func byName(p *types.Package) string { return p.Name() }

func signature(f *types.Func) string {
	sig := f.Type().(*types.Signature)
	var recv string
	if r := sig.Recv(); r != nil {
		recv = "(" + strings.TrimPrefix(types.TypeString(r.Type(), func(*types.Package) string { return "" }), ".") + ") "
	}
	return "func " + recv + f.Name() + strings.TrimPrefix(types.TypeString(sig, byName), "func")
}

func TestInterfaceIsPolicy(t *testing.T) {
	pkg := load(t, module+"prompt")
	seen := map[string]bool{}
	check := func(f *types.Func) {
		if !f.Exported() {
			return
		}
		s := signature(f)
		seen[s] = true
		why, listed := interfaceOfPrompt[s]
		if !listed {
			t.Errorf("%s is not in the table: say there how it makes no template of what a run has read", s)
			return
		}
		sig := f.Type().(*types.Signature)
		params, results := types.TypeString(sig.Params(), byName), types.TypeString(sig.Results(), byName)
		makes := regexp.MustCompile(`prompt\.(Template|Slots?)\b|fence\.Prompt|trust\.`).MatchString(results)
		switch {
		case sig.TypeParams().Len() > 0:
			t.Errorf("%s is generic: a type parameter can be instantiated over what was meant for constants", s)
		case sig.Recv() != nil && strings.Contains(params, "constant"):
			t.Errorf("%s is a method over a constant type: an interface could launder it", s)
		case strings.Contains(results, "constant"):
			t.Errorf("%s gives a constant type away", s)
		case why == reads && makes:
			t.Errorf("%s gives %s; the table does not say how", s, results)
		case why == constant && regexp.MustCompile(`string|byte|io\.|fs\.`).MatchString(strings.ReplaceAll(params, "constant", "")),
			why == constant && !strings.Contains(params, "constant"):
			t.Errorf("%s does not take constants alone", s)
		case why == embedded && !regexp.MustCompile(`^\(files embed\.FS, name prompt\.constant`).MatchString(params):
			t.Errorf("%s does not take an embed.FS and a constant name", s)
		case why == declares && sig.Recv() == nil && sig.Params().Len() > 0:
			t.Errorf("%s opens by what it is given", s)
		case strings.Contains(results, "trust.Text") || strings.Contains(results, "trust.Bare"):
			t.Errorf("%s gives bare text", s)
		}
	}
	scope := pkg.Scope()
	for _, id := range scope.Names() {
		switch o := scope.Lookup(id).(type) {
		case *types.Func:
			check(o)
		case *types.TypeName:
			named, ok := o.Type().(*types.Named)
			if !ok || o.IsAlias() {
				t.Errorf("%s is an alias", id)
				continue
			}
			for m := range named.Methods() {
				check(m)
			}
			st, ok := named.Underlying().(*types.Struct)
			if !ok || !o.Exported() {
				continue
			}
			for f := range st.Fields() {
				sets := f.Exported() && !slices.Contains([]string{"Error", "Declaration", "Place"}, id)
				if sets || f.Embedded() && f.Exported() || f.Exported() && strings.Contains(types.TypeString(f.Type(), byName), "constant") {
					t.Errorf("%s.%s: a field that others can set", id, f.Name())
				}
			}
		case *types.Var:
			if o.Exported() && types.TypeString(o.Type(), byName) != "error" {
				t.Errorf("%s is a variable: package-level state", id)
			}
		}
	}
	for s := range interfaceOfPrompt {
		if !seen[s] {
			t.Errorf("the table lists %s, which is not there", s)
		}
	}
	if len(seen) == 0 {
		t.Error("nothing was checked")
	}
}

// load gives the types of a package, from the compiler's own export data.
func load(t *testing.T, name string) *types.Package {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", name)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		files[path] = file
	}
	pkg, err := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }).Import(name)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

// Small programs that must not compile, with what the compiler has to say, each beside
// a twin that must: so that the refusal is for the reason meant.
var programs = []struct{ name, good, bad, want string }{
	{"a run-time string is no template", `_ = prompt.MustParse("x", nil)`, `_ = prompt.MustParse(s, nil)`, `cannot use s`},
	{"nor is a concatenation", `_ = prompt.MustParse("x"+"y", nil)`, `_ = prompt.MustParse("x"+s, nil)`, `mismatched types|cannot use`},
	{"nor a constant that says string", `const c = "x"; _ = prompt.MustParse(c, nil)`, `const c string = "x"; _ = prompt.MustParse(c, nil)`, `cannot use c`},
	{"nor an author's text", `_, _ = prompt.Parse("x", nil)`, `_, _ = prompt.Parse(text, nil)`, `cannot use text`},
	{"nor outside data", `_, _ = prompt.Parse("x", nil)`, `_, _ = prompt.Parse(data, nil)`, `cannot use data`},
	{"nor what was rendered", `_ = rendered.User()`, `_ = prompt.MustParse(rendered.User(), nil)`, `cannot use rendered.User\(\)`},
	{"a run-time origin", `_ = prompt.Outside("a", "b")`, `_ = prompt.Outside(s)`, `cannot use s`},
	{"run-time origins", `_ = prompt.Outside()`, `_ = prompt.Outside([]string{s}...)`, `cannot use \[\]string`},
	{"a directory of the host", `_, _ = prompt.Load(files, "a.prompt")`, `_, _ = prompt.Load(os.DirFS("."), "a.prompt")`, `cannot use os.DirFS`},
	{"a run-time name", `_ = prompt.MustLoad(files, "a.prompt")`, `_ = prompt.MustLoad(files, s)`, `cannot use s`},
	{"a template of one's own", `_ = prompt.Template{}`, `_ = prompt.Template{file: s}`, `unknown field|cannot refer to unexported field`},
	{"a declaration of one's own", `_ = prompt.Slot{}`, `_ = prompt.Slot{own: true}`, `unknown field|cannot refer to unexported field`},

	{"a string as the author's own", `_ = prompt.Trusted{"a": text}`, `_ = prompt.Trusted{"a": s}`, `cannot use s .*as trust.Bare`},
	{"a string as outside data", `_ = prompt.Untrusted{"a": data}`, `_ = prompt.Untrusted{"a": s}`, `cannot use s .*as trust.Data`},
	{"a constant string as outside data", `_ = prompt.Untrusted{"a": trust.External("o", "x")}`, `_ = prompt.Untrusted{"a": "x"}`, `cannot use "x"`},
	{"a constant string as the author's own", `_ = prompt.Trusted{"a": trust.Const("x")}`, `_ = prompt.Trusted{"a": "x"}`, `cannot use "x"`},
	{"data as the author's own", `_ = prompt.Trusted{"a": trust.Int(data.Label(), 1)}`, `_ = prompt.Trusted{"a": data}`, `cannot use data .*as trust.Bare`},
	{"the author's own as data", `_ = prompt.Untrusted{}`, `_ = prompt.Untrusted{"a": text}`, `cannot use text .*as trust.Data`},
	{"a number as data", `_ = prompt.Trusted{"a": trust.ConstInt(1)}`, `_ = prompt.Untrusted{"a": trust.ConstInt(1)}`, `cannot use trust.ConstInt`},
	{"the maps swapped", `_, _ = tmpl.Render(prompt.Trusted{}, prompt.Untrusted{})`, `_, _ = tmpl.Render(prompt.Untrusted{}, prompt.Trusted{})`, `cannot use prompt.Untrusted`},
	{"a map of strings", `_, _ = tmpl.Render(nil, map[string]trust.Data{"a": data})`, `_, _ = tmpl.Render(nil, map[string]string{"a": s})`, `cannot use map\[string\]string`},
	{"a rendered prompt in a slot", `_ = rendered.Valid()`, `_ = prompt.Untrusted{"a": rendered}`, `cannot use rendered`},
	{"a prompt in a slot", `_, _, _ = fence.Render(p, nil)`, `_ = prompt.Trusted{"a": p}`, `cannot use p`},
	{"something of one's own as bare", `var _ trust.Bare = text`, `type own struct{ prompt.Slot }; var _ trust.Bare = own{}`, `does not implement trust.Bare`},
	{"a reason made at run time", `_ = prompt.Trusted{"a": unchecked.Vouch(s, "an enum of ours")}`, `_ = prompt.Trusted{"a": unchecked.Vouch(s, s)}`, `cannot use s`},

	// What pinfold gen wrote.
	{"a missing slot", filled, `_, _ = desk.Answer().ArticleBody(data).DisplayName(data).PlanTier(text).Render()`, `Render undefined`},
	{"every slot missing", filled, `_, _ = desk.Answer().Render()`, `Render undefined`},
	{"the first slot missing", filled, `_, _ = desk.Answer().DisplayName(data).PlanTier(text).Question(data).Render()`, `DisplayName undefined`},
	{"a misspelt slot", filled, `_, _ = desk.Answer().ArticleBdy(data).DisplayName(data).PlanTier(text).Question(data).Render()`, `ArticleBdy undefined`},
	{"a slot twice", filled, `_, _ = desk.Answer().ArticleBody(data).ArticleBody(data).DisplayName(data).PlanTier(text).Question(data).Render()`, `ArticleBody undefined`},
	{"slots in another order", filled, `_, _ = desk.Answer().ArticleBody(data).PlanTier(text).DisplayName(data).Question(data).Render()`, `PlanTier undefined`},
	{"a bare string for the author's own", filled, `_, _ = desk.Answer().ArticleBody(data).DisplayName(data).PlanTier(s).Question(data).Render()`, `cannot use s .*as trust.Bare`},
	{"a bare string for data", filled, `_, _ = desk.Answer().ArticleBody(s).DisplayName(data).PlanTier(text).Question(data).Render()`, `cannot use s .*as trust.Data`},
	{"data for the author's own", filled, `_, _ = desk.Answer().ArticleBody(data).DisplayName(data).PlanTier(data).Question(data).Render()`, `cannot use data .*as trust.Bare`},
	{"the author's own for data", filled, `_, _ = desk.Answer().ArticleBody(data).DisplayName(text).PlanTier(text).Question(data).Render()`, `cannot use text .*as trust.Data`},
	{"the fields", filled, `_ = desk.Answer().v`, `v undefined`},
	{"a step out of nowhere", filled, `_ = desk.answerFilled{}`, `answerFilled`},
	{"the template itself", `_ = desk.Templates()[0].Slots()`, `_ = desk.answerTemplate`, `answerTemplate`},
}

const filled = `_, _ = desk.Answer().ArticleBody(data).DisplayName(data).PlanTier(text).Question(data).Render()`

// program is one of them.
func program(body string) string {
	src := "package main\n\nimport (\n\t\"embed\"\n\t\"os\"\n\n"
	for _, p := range []string{"fence", "prompt", "prompt/testdata/gen/desk", "trust", "trust/unchecked"} {
		src += fmt.Sprintf("\t%q\n", module+p)
	}
	return src + `)

var _ = os.Args
var _ = unchecked.ClockOrigin
var _ = desk.Templates

func run(s string, text trust.Text, data trust.Data, files embed.FS, tmpl *prompt.Template, p fence.Prompt, rendered fence.Rendered) {
	` + body + `
}

func main() {}
`
}

// The go command compiles the programs as packages of this module that are not there:
// an overlay says what is in them.
func TestWhatDoesNotCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	var paths []string
	add := func(name, src string) {
		file := filepath.Join(tmp, name+".go")
		if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(root, "prompt", "testdata", "compile", name)
		overlay.Replace[filepath.Join(dir, "main.go")] = file
		paths = append(paths, "./testdata/compile/"+name)
	}
	for i, p := range programs {
		add(fmt.Sprintf("bad%02d", i), program(p.bad))
		add(fmt.Sprintf("good%02d", i), program(p.good))
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(tmp, "overlay.json")
	if err := os.WriteFile(list, text, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", append([]string{"build", "-overlay", list, "-gcflags=-e"}, paths...)...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatal("everything compiles")
	}
	// The output is one block a package: # path, then its errors.
	blocks := map[string]string{}
	for _, b := range strings.Split("\n"+string(out), "\n# ")[1:] {
		name, errors, _ := strings.Cut(b, "\n")
		blocks[name[strings.LastIndexByte(name, '/')+1:]] = errors
	}
	if len(blocks) == 0 {
		t.Fatalf("no program was compiled: %s", out)
	}
	for i, p := range programs {
		if got := blocks[fmt.Sprintf("good%02d", i)]; got != "" {
			t.Errorf("%s: the twin that should compile: %s", p.name, got)
		}
		switch got := blocks[fmt.Sprintf("bad%02d", i)]; {
		case got == "":
			t.Errorf("%s: compiles: %s", p.name, p.bad)
		case !regexp.MustCompile(p.want).MatchString(got):
			t.Errorf("%s: got %s, want %s", p.name, got, p.want)
		}
	}
}

// The three known ways round a type that only constants fit. They compile and work:
// no test of ours can stop them, and pinfoldvet takes these programs for fixtures.
func TestKnownLaunderings(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	bin := t.TempDir()
	names := []string{"generic", "reflection", "methodset"}
	args := []string{"build", "-o", bin + string(filepath.Separator)}
	for _, name := range names {
		args = append(args, "./testdata/launder/"+name)
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, want := range map[string]string{
		"generic":    "trust.Const: obey\nprompt.MustParse: true\nprompt.Outside: true\n",
		"reflection": "trust.Const: obey\nprompt.MustParse: true\n",
		"methodset":  "trust.Const: obey\n",
	} {
		out, err := exec.Command(filepath.Join(bin, name), "obey").CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("%s: %v %q, want %q", name, err, out, want)
		}
	}
	found, err := os.ReadDir("testdata/launder")
	if err != nil || len(found) != len(names) {
		t.Errorf("%v: %d programs, %d were run", err, len(found), len(names))
	}
}
