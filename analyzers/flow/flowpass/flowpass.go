// Package flowpass runs the walk of package flow once over a package, for every
// analyzer that asks for it.
//
// It sees one package at a time, as go vet does. What the functions of a package
// do with text travels to its importers as a fact: which results are made of
// which parameters and sources, and which parameters reach model input. The
// standard library and other modules are known by tables and are not built, which
// keeps the cost near that of go vet itself. A question that needs every caller
// is asked of pinfold audit instead.
package flowpass

import (
	"go/build"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/ssa"

	"github.com/pinfold-dev/pinfold/analyzers/flow"
)

// Result is the walk over one package. Analysis is nil for a package that was not
// built: the standard library's, another module's.
type Result struct {
	Analysis *flow.Analysis
	Slots    []*flow.Slot
	fset     *token.FileSet
	files    map[string]*token.File
}

// Pos turns a position of a slot back into one that a diagnostic can carry.
func (r *Result) Pos(p token.Position) token.Pos {
	f := r.files[p.Filename]
	if f == nil || p.Line < 1 || p.Line > f.LineCount() {
		return token.NoPos
	}
	return f.LineStart(p.Line) + token.Pos(max(p.Column-1, 0))
}

// Summary is the fact about a function.
type Summary struct{ S flow.Summary }

// AFact marks Summary as a fact.
func (*Summary) AFact() {}

func (s *Summary) String() string {
	if len(s.S.Sinks) > 0 {
		return "reaches model input"
	}
	return "made of"
}

// Analyzer builds the SSA of a package and walks it.
var Analyzer = &analysis.Analyzer{
	Name:       "pinfoldflow",
	Doc:        "walk back from model input (shared by pinfold's analyzers; reports nothing)",
	Run:        run,
	ResultType: reflect.TypeFor[*Result](),
	FactTypes:  []analysis.Fact{(*Summary)(nil)},
}

type facts struct {
	pass *analysis.Pass
	seen map[*types.Func]*flow.Summary
}

func (f facts) Summary(fn *types.Func) (flow.Summary, bool) {
	if s, ok := f.seen[fn]; ok {
		if s == nil {
			return flow.Summary{}, false
		}
		return *s, true
	}
	var s Summary
	if fn.Pkg() == nil || !f.pass.ImportObjectFact(fn, &s) {
		f.seen[fn] = nil
		return flow.Summary{}, false
	}
	f.seen[fn] = &s.S
	return s.S, true
}

func run(pass *analysis.Pass) (any, error) {
	r := &Result{fset: pass.Fset, files: map[string]*token.File{}}
	if len(pass.Files) == 0 || foreign(pass) {
		return r, nil
	}
	prog := ssa.NewProgram(pass.Fset, ssa.InstantiateGenerics)
	seen := map[*types.Package]bool{}
	var deps func([]*types.Package)
	deps = func(ps []*types.Package) {
		for _, p := range ps {
			if !seen[p] {
				seen[p] = true
				prog.CreatePackage(p, nil, nil, true)
				deps(p.Imports())
			}
		}
	}
	deps(pass.Pkg.Imports())
	pkg := prog.CreatePackage(pass.Pkg, pass.Files, pass.TypesInfo, false)
	pkg.Build()
	set := functions(prog, pkg)
	var funcs []*ssa.Function
	for f := range set {
		funcs = append(funcs, f)
	}
	dir := ""
	for _, f := range pass.Files {
		tf := pass.Fset.File(f.Pos())
		r.files[tf.Name()] = tf
		dir = filepath.Dir(tf.Name())
	}
	a, err := flow.New(flow.Input{
		Fset: pass.Fset, Funcs: funcs, Graph: vta.CallGraph(set, nil),
		Sources: []flow.Source{{Pkg: pass.Pkg, Files: pass.Files, Dir: dir}},
		Facts:   facts{pass, map[*types.Func]*flow.Summary{}},
		Read:    os.ReadFile, Limit: 5000,
	})
	if err != nil {
		return nil, err
	}
	r.Analysis, r.Slots = a, a.Slots()
	for fn, s := range a.Summaries(r.Slots) {
		if fn.Pkg() == pass.Pkg {
			pass.ExportObjectFact(fn, &Summary{s})
		}
	}
	return r, nil
}

// functions is every function with a body that belongs to the package: declared
// ones, methods, closures, instances of generics.
func functions(prog *ssa.Program, pkg *ssa.Package) map[*ssa.Function]bool {
	set := map[*ssa.Function]bool{}
	var add func(f *ssa.Function)
	add = func(f *ssa.Function) {
		if f == nil || set[f] {
			return
		}
		set[f] = true
		for _, an := range f.AnonFuncs {
			add(an)
		}
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				for _, op := range i.Operands(nil) {
					if fn, ok := (*op).(*ssa.Function); ok && len(fn.Blocks) > 0 {
						add(fn)
					}
				}
			}
		}
	}
	for _, m := range pkg.Members {
		switch m := m.(type) {
		case *ssa.Function:
			add(m)
		case *ssa.Type:
			t := m.Type()
			n, ok := t.(*types.Named)
			if !ok || n.TypeParams().Len() > 0 || types.IsInterface(n) {
				continue
			}
			for _, t := range []types.Type{t, types.NewPointer(t)} {
				ms := prog.MethodSets.MethodSet(t)
				for i := range ms.Len() {
					if f := prog.MethodValue(ms.At(i)); f != nil && f.Pkg == pkg {
						add(f)
					}
				}
			}
		}
	}
	return set
}

// foreign reports whether the package belongs to the standard library or to
// another module.
func foreign(pass *analysis.Pass) bool {
	if pass.Module != nil && pass.Module.Version != "" {
		return true
	}
	name := pass.Fset.Position(pass.Files[0].Package).Filename
	root := build.Default.GOROOT
	return root != "" && strings.HasPrefix(name, filepath.Join(root, "src")+string(filepath.Separator))
}
