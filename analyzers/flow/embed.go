package flow

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// findEmbeds records the variables of a package that a go:embed directive fills.
func (a *Analysis) findEmbeds(s Source) {
	if s.Pkg == nil {
		return
	}
	for _, f := range s.Files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				vs, ok := spec.(*ast.ValueSpec)
				if !ok || len(vs.Names) != 1 {
					continue
				}
				var patterns []string
				for _, doc := range []*ast.CommentGroup{g.Doc, vs.Doc} {
					if doc == nil {
						continue
					}
					for _, c := range doc.List {
						if rest, ok := strings.CutPrefix(c.Text, "//go:embed "); ok {
							patterns = append(patterns, strings.Fields(rest)...)
						}
					}
				}
				if len(patterns) == 0 {
					continue
				}
				if obj := s.Pkg.Scope().Lookup(vs.Names[0].Name); obj != nil {
					a.embeds[obj] = embedded{patterns, s.Dir, vs.Pos()}
				}
			}
		}
	}
}

// embeddedText reads what an embedded variable holds. A file that is not there
// gives nothing: the build fails too, and says so better.
func (a *Analysis) embeddedText(e embedded, name string) ([]string, bool) {
	if a.in.Read == nil || e.dir == "" {
		return nil, false
	}
	var out []string
	if name != "" {
		b, err := a.in.Read(filepath.Join(e.dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, false
		}
		return []string{string(b)}, true
	}
	for _, p := range e.patterns {
		p = strings.Trim(strings.TrimPrefix(strings.Trim(p, "`\""), "all:"), "/")
		names, err := filepath.Glob(filepath.Join(e.dir, filepath.FromSlash(p)))
		if err != nil {
			return nil, false
		}
		for _, n := range names {
			if st, err := os.Stat(n); err != nil || st.IsDir() {
				continue
			}
			b, err := a.in.Read(n)
			if err != nil {
				return nil, false
			}
			out = append(out, string(b))
		}
	}
	return out, len(out) > 0
}
