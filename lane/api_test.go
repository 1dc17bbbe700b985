package lane_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/pinfold-dev/pinfold"

// resolvers is every exported function, method and field of the module that takes text
// and gives something that a fence or a banner is made of, with the reason why it does
// not resolve one from a name. It is policy, for a person to edit: what is not here
// must not be there (PROMPTS-AND-LANES.md, lane).
var resolvers = map[string]string{
	"trust.Const(trust.constant) trust.Text":                   "the text is the constant",
	"unchecked.Vouch(string, unchecked.constant) trust.Text":   "the text is the string, with a reason",
	"prompt.Trusted: map[string]trust.Bare":                    "what a caller fills in, slot by slot; nobody gives it out",
	"fence.Parse(string, string) ([]fence.Span, error)":        "reads a message back",
	"audit.ReadConfig(string) (audit.Config, error)":           "reads a file; the string is its path",
	"lane.Declared(string, []byte) (lane.Declarations, error)": "reads a file; the string is its name in errors",
}

// A fence or a banner is made of these.
var ofFences = []string{
	"trust.Text", "trust.Bare", "fence.Part", "fence.Prepared", "fence.Fill", "fence.Attr", "fence.Style", "fence.Doc", "fence.Prompt", "lane.Class",
}

var telling = regexp.MustCompile(`(?i)fence|banner|delimit|wrap|untrusted|provenance|open(ing)?tag|marker`)

// TestNoFenceByName: a call site that could name the lane whose fence or banner it wants
// could name only one. So nothing of this module's exported interface takes a name and
// gives one.
func TestNoFenceByName(t *testing.T) {
	s := scan{t: t, found: map[string]bool{}}
	packages := load(t)
	for path, pkg := range packages {
		if strings.HasPrefix(path, module) && pkg.Name() != "main" {
			s.pkg(pkg)
		}
	}
	if s.seen < 500 {
		t.Fatalf("looked at %d functions, methods and fields, expected the whole module's", s.seen)
	}
	for what := range s.found {
		if resolvers[what] == "" {
			t.Errorf("takes text and gives what a fence or a banner is made of: %s", what)
		}
	}
	for what := range resolvers {
		if !s.found[what] {
			t.Errorf("listed as harmless, and not there: %s", what)
		}
	}
}

// The test itself: it sees every way in which a package could offer a lookup.
func TestSeesLookups(t *testing.T) {
	const src = `package p
import ("github.com/pinfold-dev/pinfold/fence"; "github.com/pinfold-dev/pinfold/lane"; "github.com/pinfold-dev/pinfold/trust")
type Name string
type Table map[Name]fence.Part
type Registry struct {
	Banners map[string]string
	Parts   map[lane.Name]*fence.Part
	Find    func(Name) trust.Text
	names   map[string]string
}
func (*Registry) Banner(lane.Name) string { return "" }
func (Registry) Of(names ...Name) []fence.Part { return nil }
func FenceOf(name string) (opening, closing string) { return }
func Class[N ~string](N) (c lane.Class, ok bool) { return }
var Lookup func(string) fence.Style
type Finder interface{ Attrs(name Name) []fence.Attr }
func Fine(name string) int { return 0 }
func (*Registry) Fences() []string { return nil }
func quiet(name string) trust.Text { return trust.Text{} }
`
	s := scan{t: t, found: map[string]bool{}}
	s.pkg(check(t, src))
	want := []string{
		"p.Class(N) (lane.Class, bool)", "p.FenceOf(string) (string, string)", "p.Finder.Attrs(p.Name) []fence.Attr", "p.Lookup: func(string) fence.Style",
		"p.Registry.Banner(lane.Name) string", "p.Registry.Banners: map[string]string", "p.Registry.Find: func(p.Name) trust.Text", "p.Registry.Of([]p.Name) []fence.Part",
		"p.Registry.Parts: map[lane.Name]*fence.Part", "p.Table: map[p.Name]fence.Part",
	}
	var got []string
	for what := range s.found {
		got = append(got, what)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// scan looks through exported interfaces.
type scan struct {
	t     *testing.T
	found map[string]bool
	seen  int
}

func (s *scan) pkg(pkg *types.Package) {
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		obj := scope.Lookup(name)
		if !obj.Exported() {
			continue
		}
		where := pkg.Name() + "." + name
		switch obj := obj.(type) {
		case *types.Func:
			s.function(where, obj)
		case *types.Var:
			s.value(where, obj.Type())
		case *types.TypeName:
			s.value(where, obj.Type().Underlying())
			if st, ok := obj.Type().Underlying().(*types.Struct); ok {
				for f := range st.Fields() {
					if f.Exported() {
						s.value(where+"."+f.Name(), f.Type())
					}
				}
			}
			methods := types.NewMethodSet(obj.Type())
			if !types.IsInterface(obj.Type()) {
				methods = types.NewMethodSet(types.NewPointer(obj.Type()))
			}
			for m := range methods.Methods() {
				if f := m.Obj().(*types.Func); f.Exported() {
					s.function(where+"."+f.Name(), f)
				}
			}
		}
	}
}

func short(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}

func results(sig *types.Signature) string {
	switch sig.Results().Len() {
	case 0:
		return ""
	case 1:
		return " " + short(sig.Results().At(0).Type())
	}
	var all []string
	for v := range sig.Results().Variables() {
		all = append(all, short(v.Type()))
	}
	return " (" + strings.Join(all, ", ") + ")"
}

func params(sig *types.Signature) string {
	var all []string
	for v := range sig.Params().Variables() {
		all = append(all, short(v.Type()))
	}
	return "(" + strings.Join(all, ", ") + ")"
}

func (s *scan) function(where string, f *types.Func) {
	s.seen++
	sig := f.Type().(*types.Signature)
	if s.resolves(f.Name(), sig) {
		s.found[where+params(sig)+results(sig)] = true
	}
	for v := range sig.Results().Variables() {
		if _, named := types.Unalias(v.Type()).(*types.Named); !named { // those are looked at where they are declared
			s.value(where+params(sig)+results(sig), v.Type())
		}
	}
}

// value looks at a variable, a field or a type: a map or a function in it is a lookup.
func (s *scan) value(where string, t types.Type) {
	s.seen++
	name := where[strings.LastIndexByte(where, '.')+1:]
	switch u := types.Unalias(t).Underlying().(type) {
	case *types.Map:
		if text(u.Key()) && (fency(u.Elem(), nil) || telling.MatchString(name) && text(u.Elem())) {
			s.found[where+": "+short(t)] = true
		}
	case *types.Signature:
		if s.resolves(name, u) {
			s.found[where+": func"+params(u)+results(u)] = true
		}
	}
}

// resolves says whether a function takes text and gives what a fence or a banner is made
// of: by its type, or as text by a name that tells.
func (s *scan) resolves(name string, sig *types.Signature) bool {
	takes := false
	for v := range sig.Params().Variables() {
		takes = takes || text(v.Type())
	}
	if !takes {
		return false
	}
	for v := range sig.Results().Variables() {
		if fency(v.Type(), nil) || telling.MatchString(name) && text(v.Type()) {
			return true
		}
	}
	return false
}

// text says whether a name can be of this type: a string of whatever kind, several of
// them, or a type parameter that can be one.
func text(t types.Type) bool {
	switch u := types.Unalias(t).(type) {
	case *types.TypeParam:
		union, ok := u.Constraint().Underlying().(*types.Interface)
		if !ok {
			return false
		}
		for e := range union.EmbeddedTypes() {
			if terms, ok := e.(*types.Union); ok {
				for term := range terms.Terms() {
					if text(term.Type()) {
						return true
					}
				}
			} else if text(e) {
				return true
			}
		}
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Slice:
		return text(u.Elem())
	}
	return false
}

// fency says whether something that a fence or a banner is made of can be had from a
// value of this type.
func fency(t types.Type, seen []types.Type) bool {
	t = types.Unalias(t)
	if slices.Contains(seen, t) {
		return false
	}
	seen = append(seen, t)
	if n, ok := t.(*types.Named); ok && n.Obj().Pkg() != nil && strings.HasPrefix(n.Obj().Pkg().Path(), module) &&
		slices.Contains(ofFences, n.Obj().Pkg().Name()+"."+n.Obj().Name()) {
		return true
	}
	if n, ok := t.(*types.Named); ok && n.Obj().Pkg() != nil && slices.Contains([]string{"/mkl", "/engine"}, strings.TrimPrefix(n.Obj().Pkg().Path(), module)) {
		return false // machines and the frames of runs have the text of their authors, and are looked up to be run
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return fency(u.Elem(), seen)
	case *types.Slice:
		return fency(u.Elem(), seen)
	case *types.Array:
		return fency(u.Elem(), seen)
	case *types.Chan:
		return fency(u.Elem(), seen)
	case *types.Map:
		return fency(u.Elem(), seen)
	case *types.Signature:
		for v := range u.Results().Variables() {
			if fency(v.Type(), seen) {
				return true
			}
		}
	case *types.Struct:
		for f := range u.Fields() {
			if f.Exported() && (fency(f.Type(), seen) || telling.MatchString(f.Name()) && text(f.Type())) {
				return true
			}
		}
	}
	return false
}

var exports struct {
	files map[string]string
	all   map[string]*types.Package
	imp   types.Importer
}

// load gives the types of the module's packages, from the compiler's export data.
func load(t *testing.T) map[string]*types.Package {
	t.Helper()
	if exports.all != nil {
		return exports.all
	}
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", "./...")
	cmd.Dir = ".."
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	exports.files = map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		exports.files[path] = file
	}
	exports.imp = importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports.files[path])
	})
	all := map[string]*types.Package{}
	for path, file := range exports.files {
		if file == "" || !strings.HasPrefix(path, module) {
			continue
		}
		if all[path], err = exports.imp.Import(path); err != nil {
			t.Fatal(err)
		}
	}
	if len(all) < 30 {
		t.Fatalf("found %d packages, expected the whole house", len(all))
	}
	exports.all = all
	return all
}

// check gives the types of a package's source.
func check(t *testing.T, src string) *types.Package {
	t.Helper()
	load(t)
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := (&types.Config{Importer: exports.imp}).Check("p", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}
