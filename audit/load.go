package audit

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"

	"github.com/pinfold-dev/pinfold/analyzers/flow"
)

// Options of an audit.
type Options struct {
	Dir      string   // where to run; "" is the working directory
	Patterns []string // package patterns as the go command takes them; none: ./...
	Tests    bool     // test files too
	Tags     string   // build tags, comma-separated
	Env      []string // nil: the process's environment

	// Deps reads the source of every dependency and walks through it. Without it
	// the source of the module itself is read and dependencies are known by their
	// types and by the tables.
	Deps bool

	// Cold reads the declarations of dependencies from their source instead of
	// compiling them first: faster where the build cache is empty.
	Cold bool

	// Limit is how many steps a slot may take before the walk gives up and says
	// so; 0 is 10,000.
	Limit int

	Config Config
}

// Failure is a package that could not be analysed.
type Failure struct {
	Package string
	Err     string
}

// program is what was loaded.
type program struct {
	fset    *token.FileSet
	prog    *ssa.Program
	funcs   map[*ssa.Function]bool
	sources []flow.Source
	report  map[*types.Package]bool
	failed  []Failure
	module  string
	root    string
	pkgs    []*packages.Package
	lines   int
}

const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule | packages.NeedEmbedPatterns

// ErrNoPackages is returned when the patterns match nothing that can be analysed.
var ErrNoPackages = errors.New("no packages to analyse")

func load(ctx context.Context, o Options) (*program, error) {
	cfg := &packages.Config{
		Context: ctx,
		Mode:    loadMode,
		Dir:     o.Dir,
		Env:     o.Env,
		Tests:   o.Tests,
		Fset:    token.NewFileSet(),
	}
	if o.Deps || o.Cold {
		cfg.Mode |= packages.NeedDeps
	}
	if o.Cold && !o.Deps {
		cfg.ParseFile = declarations(o.Dir)
	}
	if o.Tags != "" {
		cfg.BuildFlags = append(cfg.BuildFlags, "-tags="+o.Tags)
	}
	patterns := o.Patterns
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	// Callers matter as much as callees: the module's other packages are read
	// too, and only what the patterns match is reported on.
	all := patterns
	whole := len(patterns) == 1 && patterns[0] == "./..."
	var wanted map[string]bool
	if !whole {
		list := *cfg
		list.Mode = packages.NeedName | packages.NeedModule
		matched, err := packages.Load(&list, patterns...)
		if err != nil {
			return nil, fmt.Errorf("listing packages: %w", err)
		}
		wanted = map[string]bool{}
		dirs := map[string]bool{}
		for _, p := range matched {
			wanted[p.PkgPath] = true
			if p.Module != nil && p.Module.Main {
				dirs[p.Module.Path] = true
			}
		}
		for d := range dirs {
			all = append(all[:len(all):len(all)], d+"/...")
		}
		sort.Strings(all)
	}
	pkgs, err := packages.Load(cfg, all...)
	if err != nil {
		return nil, fmt.Errorf("loading packages: %w", err)
	}
	p := &program{fset: cfg.Fset, report: map[*types.Package]bool{}, pkgs: pkgs}
	if p.root, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	var good []*packages.Package
	for _, pkg := range pkgs {
		if pkg.Module != nil && pkg.Module.Main && p.module == "" {
			p.module = pkg.Module.Path
			if pkg.Module.Dir != "" {
				p.root = pkg.Module.Dir
			}
		}
		want := wanted == nil || wanted[pkg.PkgPath]
		// A package that itself type-checks is analysed, even where something that
		// it imports does not.
		if len(pkg.Errors) > 0 {
			if want {
				p.failed = append(p.failed, Failure{pkg.PkgPath, failure(pkg)})
			}
			continue
		}
		if pkg.Types == nil || len(pkg.Syntax) == 0 {
			continue
		}
		good = append(good, pkg)
		if want {
			p.report[pkg.Types] = true
		}
	}
	if len(good) == 0 {
		if len(p.failed) > 0 {
			return p, fmt.Errorf("%w: %s: %s", ErrNoPackages, p.failed[0].Package, p.failed[0].Err)
		}
		return p, fmt.Errorf("%w: %s matched nothing", ErrNoPackages, strings.Join(patterns, " "))
	}
	p.prog = ssa.NewProgram(p.fset, ssa.InstantiateGenerics)
	built := map[*types.Package]bool{}
	initial := map[*packages.Package]bool{}
	for _, pkg := range good {
		initial[pkg] = true
	}
	packages.Visit(good, nil, func(pkg *packages.Package) {
		if pkg.Types == nil || built[pkg.Types] {
			return
		}
		built[pkg.Types] = true
		if initial[pkg] || o.Deps && len(pkg.Errors) == 0 {
			p.prog.CreatePackage(pkg.Types, pkg.Syntax, pkg.TypesInfo, true)
		} else {
			p.prog.CreatePackage(pkg.Types, nil, nil, true)
		}
	})
	p.prog.Build()
	p.funcs = ssautil.AllFunctions(p.prog)
	syntax := good
	if o.Deps {
		syntax = nil
		packages.Visit(good, nil, func(pkg *packages.Package) { syntax = append(syntax, pkg) })
	}
	for _, pkg := range syntax {
		if len(pkg.Syntax) > 0 && pkg.Types != nil {
			dir := ""
			if len(pkg.GoFiles) > 0 {
				dir = filepath.Dir(pkg.GoFiles[0])
			}
			p.sources = append(p.sources, flow.Source{Pkg: pkg.Types, Files: pkg.Syntax, Dir: dir})
		}
	}
	for _, pkg := range good {
		for _, f := range pkg.Syntax {
			if tf := p.fset.File(f.Pos()); tf != nil {
				p.lines += tf.LineCount()
			}
		}
	}
	return p, nil
}

func failure(pkg *packages.Package) string {
	if len(pkg.Errors) > 0 {
		return pkg.Errors[0].Error()
	}
	return "a package that it imports does not type-check"
}

// analyse builds the call graph and the indexes.
func (p *program) analyse(t *flow.Table, limit int) (*flow.Analysis, error) {
	var funcs []*ssa.Function
	for f := range p.funcs {
		funcs = append(funcs, f)
	}
	graph := vta.CallGraph(p.funcs, nil)
	return flow.New(flow.Input{
		Fset: p.fset, Funcs: funcs, Graph: graph, Sources: p.sources, Table: t, Limit: limit,
		Report: func(f *ssa.Function) bool {
			for ; f != nil; f = f.Parent() {
				if f.Pkg != nil {
					return p.report[f.Pkg.Pkg]
				}
				if o := f.Origin(); o != nil && o.Pkg != nil {
					return p.report[o.Pkg.Pkg]
				}
			}
			return false
		},
		Read: os.ReadFile,
	})
}

func (p *program) sourcesOf() []source {
	var out []source
	for _, pkg := range p.pkgs {
		for _, f := range pkg.Syntax {
			out = append(out, source{p.fset, f})
		}
	}
	return out
}

// declarations parses files, and drops the bodies of functions outside the module
// at dir: what a dependency declares is enough to type-check the module.
func declarations(dir string) func(*token.FileSet, string, []byte) (*ast.File, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		root = dir
	}
	for d := root; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			root = d
			break
		}
		if d == filepath.Dir(d) {
			break
		}
	}
	libs := []string{build.Default.GOROOT, filepath.Join(build.Default.GOPATH, "pkg", "mod"), os.Getenv("GOMODCACHE")}
	under := func(file, dir string) bool {
		return dir != "" && strings.HasPrefix(file, dir+string(filepath.Separator))
	}
	return func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
		f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if f == nil || under(name, root) && !strings.Contains(name[len(root):], "/vendor/") {
			return f, err
		}
		for _, lib := range append(libs, filepath.Join(root, "vendor")) {
			if under(name, lib) {
				for _, d := range f.Decls {
					if fn, ok := d.(*ast.FuncDecl); ok {
						fn.Body = nil
					}
				}
				break
			}
		}
		return f, err
	}
}
