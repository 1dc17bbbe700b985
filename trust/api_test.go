package trust_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	// What the tests below read; imported so that they run again when it changes.
	_ "github.com/pinfold-dev/pinfold/fence"
	_ "github.com/pinfold-dev/pinfold/trust/unchecked"
)

const module = "github.com/pinfold-dev/pinfold/"

// How an exported function of trust or unchecked comes by something that may be
// Author.
const (
	never    = ""          // gives nothing that can be Author, or no thing at all
	label    = "statement" // a Label, which opens nothing
	keeps    = "keeps"     // Author only when what it was given is
	constant = "constant"  // takes a parameter that only a constant fits
	door     = "door"      // takes a raw.Text
	written  = "written"   // of unchecked: the import is the alarm, a reason is taken
	builtin  = "built-in"  // of unchecked: the one vouch that TRUST.md §2 builds in
	capped   = "at most Model"
)

// interfaceOf is every exported function and method of the two packages. It is
// policy, for a person to edit: a row added here says why that function cannot make
// an author of somebody who is none.
var interfaceOf = map[string]map[string]string{
	"trust": {
		"func Bool(l trust.Label, b bool) trust.Scalar":                                capped,
		"func Const(s trust.constant) trust.Text":                                      constant,
		"func ConstInt(n trust.constantInt) trust.Scalar":                              constant,
		"func DataOf(text string, from ...trust.Label) trust.Data":                     capped,
		"func External(origin string, text string) trust.Data":                         capped,
		"func Float(l trust.Label, x float64) trust.Scalar":                            capped,
		"func Format(limit int, pieces ...trust.Piece) trust.Value":                    keeps,
		"func From(origins ...string) trust.Label":                                     label,
		"func FromRaw(t raw.Text) trust.Text":                                          door,
		"func FromRawLabel(reason raw.Text, v value.Value, l trust.Label) trust.Value": door,
		"func FromRawValue(document raw.Text, v value.Value) trust.Value":              door,
		"func Int(l trust.Label, n int64) trust.Scalar":                                capped,
		"func Join(parts ...trust.Text) trust.Text":                                    keeps,
		"func JoinReusing(old trust.Label, parts []trust.Label) trust.Label":           label,
		"func LabelOf(v value.Value) trust.Label":                                      label,
		"func ModelLabel(origins ...string) trust.Label":                               label,
		"func NewSet(items ...string) trust.Set":                                       never,
		"func NewValue(v value.Value, from ...trust.Label) trust.Value":                capped,
		"func Time(l trust.Label, t time.Time) trust.Scalar":                           capped,
		"func (Data) Altered() bool":                                                   never,
		"func (Data) BytesIn() int":                                                    never,
		"func (Data) Label() trust.Label":                                              label,
		"func (Data) Text() string":                                                    never,
		"func (Data) Truncated() bool":                                                 never,
		"func (Label) AppendText(dst []byte) ([]byte, error)":                          never,
		"func (Label) Equal(m trust.Label) bool":                                       never,
		"func (Label) External() bool":                                                 never,
		"func (Label) Join(m trust.Label) trust.Label":                                 label,
		"func (Label) Level() trust.Level":                                             never,
		"func (Label) Lowered(to trust.Level) trust.Label":                             label,
		"func (Label) MarshalJSON() ([]byte, error)":                                   never,
		"func (Label) MarshalText() ([]byte, error)":                                   never,
		"func (Label) Secrecy() trust.Set":                                             never,
		"func (Label) Sources() trust.Set":                                             never,
		"func (Label) String() string":                                                 never,
		"func (Label) Tainted() bool":                                                  never,
		"func (*Label) UnmarshalJSON(b []byte) error":                                  label,
		"func (*Label) UnmarshalText(b []byte) error":                                  label,
		"func (Label) Value() value.Value":                                             never,
		"func (Label) WithSecrecy(tags ...string) trust.Label":                         label,
		"func (Label) WithSources(origins ...string) trust.Label":                      label,
		"func (Level) String() string":                                                 never,
		"func (Scalar) Label() trust.Label":                                            label,
		"func (Scalar) Text() string":                                                  never,
		"func (Set) Equal(t trust.Set) bool":                                           never,
		"func (Set) Has(item string) bool":                                             never,
		"func (Set) Items() []string":                                                  never,
		"func (Set) Len() int":                                                         never,
		"func (Set) String() string":                                                   never,
		"func (Set) SubsetOf(t trust.Set) bool":                                        never,
		"func (Set) Union(t trust.Set) trust.Set":                                      never,
		"func (Text) Len() int":                                                        never,
		"func (Text) String() string":                                                  never,
		"func (Text) Trim() trust.Text":                                                keeps,
		"func (Value) At(i int) trust.Value":                                           keeps,
		"func (Value) Author() (trust.Text, bool)":                                     keeps,
		"func (Value) Data(limit int) trust.Data":                                      keeps,
		"func (Value) Label() trust.Label":                                             label,
		"func (Value) Lookup(path []string) (trust.Value, bool)":                       keeps,
		"func (Value) Lower(by trust.Label) trust.Value":                               keeps,
		"func (Value) Scalar() (trust.Scalar, bool)":                                   keeps,
		"func (Value) Value() value.Value":                                             never,
		"func (Value) WithSecrecy(tags ...string) trust.Value":                         keeps,
		"func (Value) WithSources(origins ...string) trust.Value":                      keeps,
	},
	"trust/unchecked": {
		"func Clock(v value.Value) trust.Value":                                                        builtin,
		"func Declared(v value.Value, machine string, key string, reason string) (trust.Value, error)": written,
		"func Believe(reason unchecked.constant) unchecked.Believed":                                   written,
		"func (Believed) Made() bool":                                                                  never,
		"func Index(i int, reason unchecked.constant) trust.Value":                                     written,
		"func Restore(v value.Value, l trust.Label, reason unchecked.constant) trust.Value":            written,
		"func Vouch(text string, reason unchecked.constant) trust.Text":                                written,
		"func VouchValue(v value.Value, origin string, reason unchecked.constant) trust.Value":         written,
	},
}

// load gives the types of the packages and of all that they import, from the
// compiler's own export data.
func load(t *testing.T, names ...string) map[string]*types.Package {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}"}
	for _, name := range names {
		args = append(args, module+name)
	}
	cmd := exec.Command("go", args...)
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
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(files[path])
	})
	all := map[string]*types.Package{}
	for path, file := range files {
		if file == "" || !strings.HasPrefix(path, module) {
			continue
		}
		if all[path], err = from.Import(path); err != nil {
			t.Fatal(err)
		}
	}
	return all
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

// canBeAuthor says whether a result of this type may carry the level Author.
var canBeAuthor = regexp.MustCompile(`\btrust\.(Text|Value|Data|Scalar|Bare|Piece)\b`)

func TestInterfaceIsPolicy(t *testing.T) {
	pkgs := load(t, "trust", "trust/unchecked")
	for name, want := range interfaceOf {
		seen := map[string]bool{}
		check := func(f *types.Func) {
			if !f.Exported() {
				return
			}
			s := signature(f)
			seen[s] = true
			why, listed := want[s]
			if !listed {
				t.Errorf("%s: %s is not in the table: say there how it cannot raise a label", name, s)
				return
			}
			sig := f.Type().(*types.Signature)
			results := types.TypeString(sig.Results(), byName)
			params := types.TypeString(sig.Params(), byName)
			switch {
			case sig.TypeParams().Len() > 0:
				t.Errorf("%s: %s is generic: a type parameter can be instantiated over what was meant for constants", name, s)
			case (why == never || why == label) && canBeAuthor.MatchString(results):
				t.Errorf("%s: %s gives what may be Author; the table does not say how", name, s)
			case why == keeps && strings.Contains(params, "trust.Label") && f.Name() != "Lower":
				t.Errorf("%s: %s keeps what it is given, and is given a label", name, s)
			case why == constant && !strings.Contains(params, "trust.constant"),
				why == door && !strings.Contains(params, "raw.Text"),
				why == written && !strings.Contains(params, "reason"):
				t.Errorf("%s: %s does not take what the table says: %s", name, s, why)
			case strings.Contains(params, "constant") && sig.Recv() != nil:
				t.Errorf("%s: %s is a method over a constant type: an interface could launder it", name, s)
			case sig.Recv() == nil && (why == written || why == builtin) != (name == "trust/unchecked"):
				t.Errorf("%s: %s is an escape in the wrong package", name, s)
			}
		}
		scope := pkgs[module+name].Scope()
		for _, id := range scope.Names() {
			switch o := scope.Lookup(id).(type) {
			case *types.Func:
				check(o)
			case *types.TypeName:
				named, ok := o.Type().(*types.Named)
				if !ok || o.IsAlias() {
					t.Errorf("%s: %s is an alias", name, id)
					continue
				}
				for m := range named.Methods() {
					check(m)
				}
				if st, ok := named.Underlying().(*types.Struct); ok && o.Exported() {
					for f := range st.Fields() {
						if f.Exported() && id != "Piece" || f.Embedded() {
							t.Errorf("%s: %s.%s: a field that others can set", name, id, f.Name())
						}
					}
				}
			case *types.Var:
				t.Errorf("%s: %s is a variable: package-level state", name, id)
			}
		}
		for s := range want {
			if !seen[s] {
				t.Errorf("%s: the table lists %s, which is not there", name, s)
			}
		}
		if len(seen) == 0 {
			t.Errorf("%s: nothing was checked", name)
		}
	}
}

// What must not compile outside the module's own readers, each beside a twin that
// must, so that the refusal is for the reason meant.
func TestWhatDoesNotCompile(t *testing.T) {
	all := load(t, "trust", "trust/unchecked", "fence")
	for _, c := range []struct{ name, good, bad string }{
		{"a run-time string as a constant", `_ = trust.Const("x")`, `_ = trust.Const(s)`},
		{"a named constant type", `const c = "x"; _ = trust.Const(c)`, `const c string = "x"; _ = trust.Const(c)`},
		{"a run-time int as a constant", `_ = trust.ConstInt(1)`, `_ = trust.ConstInt(n)`},
		{"a struct shaped like raw.Text", `_ = trust.Text{}`, `_ = trust.FromRaw(struct{ S string }{s})`},
		{"a struct shaped like raw.Text, blank field and all", `_ = trust.Text{}`, `_ = trust.FromRaw(struct{ _ struct{}; S string }{S: s})`},
		{"a struct shaped like raw.Text for a value", `_ = trust.Value{}`, `_ = trust.FromRawValue(struct{ S string }{s}, value.Value{})`},
		{"a struct shaped like Text", `var t trust.Text; _ = t`, `var t trust.Text = struct{ t struct{ S string } }{}; _ = t`},
		{"converting a struct into Text", `_ = trust.Text(trust.Text{})`, `_ = trust.Text(struct{ S string }{s})`},
		{"a literal of Text", `_ = trust.Text{}`, `_ = trust.Text{s}`},
		{"a literal of Label", `_ = trust.Label{}`, `_ = trust.Label{level: trust.LevelAuthor}`},
		{"a literal of Data", `_ = trust.Data{}`, `_ = trust.Data{text: s}`},
		{"a string as something bare", `_ = map[string]trust.Bare{"a": trust.Const("x")}`, `_ = map[string]trust.Bare{"a": s}`},
		{"data as something bare", `var _ trust.Bare = trust.Scalar{}`, `var _ trust.Bare = trust.Data{}`},
		{"a value as something bare", `var _ trust.Bare = trust.Text{}`, `var _ trust.Bare = trust.Value{}`},
		{"a reason made at run time", `_ = unchecked.Vouch(s, "why")`, `_ = unchecked.Vouch(s, s)`},
		{"a vouch without a reason", `_ = unchecked.Vouch(s, "why")`, `_ = unchecked.Vouch(s)`},
		{"a string as a prompt's text", `var d fence.Doc; d.Text(trust.Const("x"))`, `var d fence.Doc; d.Text(s)`},
		{"data as a prompt's text", `var d fence.Doc; d.Data("k", trust.Data{})`, `var d fence.Doc; d.Text(trust.Data{})`},
		{"what was rendered as a prompt's text", `var r fence.Rendered; _ = r.User()`, `var d fence.Doc; var r fence.Rendered; d.Text(r.User())`},
		{"a banner by its name", `_ = fence.Part{Banner: trust.Const("x")}`, `_ = fence.Part{Banner: s}`},
		{"a literal of Rendered", `_ = fence.Rendered{}`, `_ = fence.Rendered{r: nil}`},
	} {
		if err := compile(t, all, c.good); err != nil {
			t.Errorf("%s: the twin that should compile: %v", c.name, err)
		}
		if err := compile(t, all, c.bad); err == nil {
			t.Errorf("%s compiles: %s", c.name, c.bad)
		}
	}
}

type importerOf map[string]*types.Package

func (m importerOf) Import(path string) (*types.Package, error) {
	if p := m[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("no package %s", path)
}

func compile(t *testing.T, all map[string]*types.Package, body string) error {
	t.Helper()
	src := "package p\n"
	for _, p := range []string{"trust", "trust/unchecked", "fence", "value"} {
		src += fmt.Sprintf("import %q\n", module+p)
	}
	src += "var _ trust.Text; var _ fence.Doc; var _ value.Value; var _ = unchecked.ClockOrigin\n"
	src += "func f(s string, n int64) {\n" + body + "\n}\n"
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", src, 0)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	_, err = (&types.Config{Importer: importerOf(all)}).Check("p", fset, []*ast.File{file}, nil)
	return err
}
