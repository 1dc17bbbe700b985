package cli

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/prompt"
	"github.com/pinfold-dev/pinfold/registry"
	"github.com/pinfold-dev/pinfold/value"
)

type genCmd struct {
	Prompts genPromptsCmd `cmd:"" default:"withargs" help:"Write typed constructors for *.prompt files; what gen alone does."`
	Lanes   genLanesCmd   `cmd:"" help:"Write a constant for each lane of a lane file, and its registry."`
}

type genPromptsCmd struct {
	Dirs    []string `arg:"" optional:"" name:"dir" help:"Directories that hold *.prompt files; without one the current directory."`
	Package string   `placeholder:"NAME" help:"The Go package's name, where the directory holds no Go file that says it."`
	Check   bool     `help:"Write nothing; list the files that are not what would be written and exit 1."`
}

// generated is the file that gen writes beside the templates.
const generated = "prompts_gen.go"

// run writes one file a directory. Nothing is written before every directory's could
// be made.
func (c *genPromptsCmd) run(a *app) int {
	if len(c.Dirs) == 0 {
		c.Dirs = []string{"."}
	}
	type done struct {
		file string
		new  []byte
	}
	var all []done
	var broken []diagnostic
	for _, dir := range c.Dirs {
		src, wrong := c.generate(dir)
		broken = append(broken, wrong...)
		all = append(all, done{filepath.Join(dir, generated), src})
	}
	if len(broken) > 0 {
		return a.fail(&failure{code: "invalid-input", message: broken[0].message, path: broken[0].path, hint: broken[0].hint, also: broken[1:]})
	}
	changed := 0
	var items []value.Value
	for _, d := range all {
		status := "ok"
		if old, err := os.ReadFile(d.file); err != nil || !bytes.Equal(old, d.new) {
			changed++
			status = "changed"
			if !c.Check {
				if err := replace(d.file, d.new); err != nil {
					return a.fail(&failure{code: "invalid-input", message: "cannot write: " + err.Error(), path: d.file})
				}
			}
			if !a.json() {
				a.out.print(a.out.safe(d.file), "\n")
			}
		}
		items = append(items, obj(kstr("path", d.file), kstr("status", status)))
	}
	ok := !(c.Check && changed > 0)
	if a.json() {
		a.out.json(envelope(a.command, ok, items, nil, obj(kint("files", len(all)), kint("changed", changed))))
	}
	if !ok {
		return exitHalt
	}
	return exitOK
}

// template is one *.prompt file on its way to Go.
type template struct {
	file  string // its base name
	name  string // of the constructor
	slots []prompt.Declaration
}

// generate is the Go file for a directory.
func (c *genPromptsCmd) generate(dir string) ([]byte, []diagnostic) {
	one := func(path, message, hint string) []diagnostic {
		return []diagnostic{{severity: "error", message: message, path: path, hint: hint}}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, one(dir, "cannot read the directory: "+err.Error(), "")
	}
	pkg, err := c.packageOf(dir, entries)
	if err != nil {
		return nil, one(dir, err.Error(), "--package NAME says it")
	}
	g := generator{taken: map[string]string{"Templates": "the list of templates", "promptFiles": "the embedded files"}}
	var wrong []diagnostic
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), prompt.Ext) || e.IsDir() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		text, err := registry.ReadFile(path)
		if err != nil {
			wrong = append(wrong, one(path, err.Error(), "")...)
			continue
		}
		slots, err := prompt.Declarations(path, text)
		if err != nil {
			wrong = append(wrong, placed(err)...)
			continue
		}
		if err := g.add(template{file: e.Name(), slots: slots}); err != nil {
			wrong = append(wrong, one(path, err.Error(), "")...)
		}
	}
	if len(wrong) == 0 && len(g.all) == 0 {
		wrong = one(dir, "no *.prompt files in the directory", "name a directory that holds some")
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return g.source(pkg), nil
}

// placed is what is wrong with a template, with its places in the form of a path.
func placed(err error) (all []diagnostic) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			all = append(all, placed(e)...)
		}
		return all
	}
	d := diagnostic{severity: "error", message: err.Error()}
	var e *prompt.Error
	if errors.As(err, &e) {
		d.path, d.message = e.File, e.Err.Error()
		for _, n := range []int{e.Line, e.Column} {
			if n > 0 {
				d.path += fmt.Sprint(":", n)
			}
		}
		if e.Slot != "" {
			d.message = fmt.Sprintf("slot %q: %s", e.Slot, d.message)
		}
	}
	return []diagnostic{d}
}

// packageOf is the name that the directory's Go files give their package, or the
// directory's own.
func (c *genPromptsCmd) packageOf(dir string, entries []os.DirEntry) (string, error) {
	name := c.Package
	for _, e := range entries {
		if name != "" || !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") || e.Name() == generated {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.PackageClauseOnly)
		if err == nil {
			name = file.Name.Name
		}
	}
	if name == "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", err
		}
		name = filepath.Base(abs)
	}
	if !token.IsIdentifier(name) || name == "_" {
		return "", fmt.Errorf("%q is no name for a Go package", name)
	}
	return name, nil
}

// generator collects templates, and the names that they take.
type generator struct {
	all   []template
	taken map[string]string // a Go name and what took it
}

func (g *generator) take(name, what string) error {
	if by, ok := g.taken[name]; ok {
		return fmt.Errorf("%s and %s would both be %s in Go: rename one", by, what, name)
	}
	g.taken[name] = what
	return nil
}

// step is the type of a prompt that waits for a slot.
func (t *template) step(slot string) string { return unexported(t.name) + "Needs" + exported(slot) }
func (t *template) values() string          { return unexported(t.name) + "Values" }
func (t *template) filled() string          { return unexported(t.name) + "Filled" }
func (t *template) variable() string        { return unexported(t.name) + "Template" }

// add gives a template its names. That two names differ only in what Go drops is an
// error, and so is one that Go could not have.
func (g *generator) add(t template) error {
	base := strings.TrimSuffix(t.file, prompt.Ext)
	t.name = exported(strings.ReplaceAll(base, "-", "_"))
	if strings.ContainsFunc(base, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-')
	}) || !token.IsExported(t.name) {
		return fmt.Errorf("expected a file name of a letter and then letters, digits, _ and -, found %q", t.file)
	}
	names := []string{t.name, t.values(), t.filled(), t.variable()}
	slots := map[string]string{}
	for _, s := range t.slots {
		name := exported(s.Name)
		if by, ok := slots[name]; ok {
			return fmt.Errorf("slots %s and %s would both be %s in Go: rename one", by, s.Name, name)
		}
		slots[name] = s.Name
		names = append(names, t.step(s.Name))
	}
	for _, name := range names {
		if err := g.take(name, t.file); err != nil {
			return err
		}
	}
	g.all = append(g.all, t)
	return nil
}

// source is the Go file.
func (g *generator) source(pkg string) []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("// Code generated by pinfold gen. DO NOT EDIT.\n\npackage %s\n", pkg)
	p("import (\n\"embed\"\n\n\"github.com/pinfold-dev/pinfold/fence\"\n\"github.com/pinfold-dev/pinfold/prompt\"")
	if slices.ContainsFunc(g.all, func(t template) bool { return len(t.slots) > 0 }) {
		p("\"github.com/pinfold-dev/pinfold/trust\"")
	}
	p(")\n")
	for _, t := range g.all {
		p("//go:embed %s", t.file)
	}
	p("var promptFiles embed.FS\n")
	for _, t := range g.all {
		p("var %s = prompt.MustLoadTyped(promptFiles, %q, %q)\n", t.variable(), t.file, prompt.Signature(t.slots))
	}
	p("// Templates lists this package's templates.\nfunc Templates() []*prompt.Template {\nreturn []*prompt.Template{")
	for _, t := range g.all {
		p("%s,", t.variable())
	}
	p("}\n}")
	for _, t := range g.all {
		t.source(p)
	}
	src, err := format.Source(b.Bytes())
	if err != nil {
		panic(fmt.Sprintf("gen wrote Go that is none: %v\n%s", err, b.Bytes()))
	}
	return src
}

func (t *template) source(p func(string, ...any)) {
	chain := t.name + "()"
	for _, s := range t.slots {
		chain += "." + exported(s.Name) + "(…)"
	}
	next := func(i int) string {
		if i < len(t.slots) {
			return t.step(t.slots[i].Name)
		}
		return t.filled()
	}
	p("\n// %s fills %s. Each slot is a step, in the order in which the file declares\n// them, and only the last can render:\n//\n//\t%s.Render()", t.name, t.file, chain)
	p("func %s() %s { return %s{} }\n", t.name, next(0), next(0))
	p("// %s has a field for every slot of %s.\ntype %s struct {", t.values(), t.file, t.values())
	var own, outside []string
	for _, s := range t.slots {
		p("%s %s", exported(s.Name), goType(s))
		if s.Trust == "own" {
			own = append(own, s.Name)
		} else {
			outside = append(outside, s.Name)
		}
	}
	p("}\n")
	for i, s := range t.slots {
		name := exported(s.Name)
		p("type %s struct{ v %s }\n", next(i), t.values())
		p("// %s fills slot %s: %s.", name, s.Name, described(s))
		p("func (s %s) %s(v %s) %s {\ns.v.%s = v\nreturn %s{s.v}\n}\n", next(i), name, goType(s), next(i+1), name, next(i+1))
	}
	p("type %s struct{ v %s }\n", t.filled(), t.values())
	p("// Render is prompt.Template.Render of %s.", t.file)
	p("func (s %s) Render() (fence.Prompt, error) {\nreturn %s.RenderOrdered(\n%s,\n%s,\n)\n}", t.filled(), t.variable(),
		list("trust.Bare", own), list("trust.Data", outside))
}

// list is a slice of the values of slots, in the order of their names.
func list(of string, slots []string) string {
	if len(slots) == 0 {
		return "nil"
	}
	slices.Sort(slots)
	for i, s := range slots {
		slots[i] = "s.v." + exported(s)
	}
	return "[]" + of + "{" + strings.Join(slots, ", ") + "}"
}

func goType(s prompt.Declaration) string {
	if s.Trust == "own" {
		return "trust.Bare"
	}
	return "trust.Data"
}

// described says in one line what a slot takes.
func described(s prompt.Declaration) string {
	if s.Trust == "own" {
		return "the author's own"
	}
	text := "outside data from " + strings.Join(s.Origins, " or ")
	switch {
	case s.Inline > 0:
		text += fmt.Sprintf(", on one line of at most %d characters", s.Inline)
	case s.Budget.Set && s.Budget.Unit == fence.Tokens:
		text += fmt.Sprintf(", cut to %d tokens, fence and all", s.Budget.Max)
	case s.Budget.Set:
		text += fmt.Sprintf(", cut to %d characters, fence and all", s.Budget.Max)
	}
	if s.AllowInSystem != "" {
		text += fmt.Sprintf("; allowed in the system message: %q", s.AllowInSystem)
	}
	return text
}

// exported is a slot's or a file's name in Go: kb_answer is KbAnswer.
func exported(name string) string {
	var b strings.Builder
	for _, word := range strings.Split(name, "_") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

func unexported(name string) string { return strings.ToLower(name[:1]) + name[1:] }
