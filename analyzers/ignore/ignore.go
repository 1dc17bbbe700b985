// Package ignore reads the comments that answer a finding:
//
//	// pinfold:ignore CODE reason
//
// The reason is required: a comment without one covers nothing and is reported.
// On a line of its own the comment speaks of the statement after its comment
// block, however many lines either has; behind code it speaks of that line. The
// reason may run on over the following lines of the block.
//
//	report := ignore.Reporter(pass)
//	report(analysis.Diagnostic{Pos: pos, Category: "PF001", Message: "…"})
package ignore

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Directive starts such a comment.
const Directive = "pinfold:ignore"

// Comment is one of them.
type Comment struct {
	Pos      token.Position
	Code     string
	Reason   string
	From, To int // the lines it covers
	Used     bool
}

// Covers reports whether c answers a finding of the code on the line.
func (c *Comment) Covers(code string, line int) bool {
	return c.Code == code && c.Reason != "" && line >= c.From && line <= c.To
}

// Find reads the comments of a file.
func Find(fset *token.FileSet, file *ast.File) []*Comment {
	var out []*Comment
	for _, g := range file.Comments {
		for i, c := range g.List {
			rest, ok := directive(c)
			if !ok {
				continue
			}
			code, reason, _ := strings.Cut(rest, " ")
			for _, more := range g.List[i+1:] {
				if _, next := directive(more); next {
					break
				}
				reason += " " + strings.TrimSpace(strings.TrimPrefix(more.Text, "//"))
			}
			ig := &Comment{Pos: fset.Position(c.Pos()), Code: code, Reason: strings.TrimSpace(reason)}
			ig.From, ig.To = lines(fset, file, g, c)
			out = append(out, ig)
		}
	}
	return out
}

func directive(c *ast.Comment) (string, bool) {
	text, line := strings.CutPrefix(c.Text, "//")
	if !line {
		return "", false
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), Directive)
	if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", false
	}
	return strings.TrimSpace(rest), true
}

// lines finds the lines that a comment speaks of.
func lines(fset *token.FileSet, file *ast.File, g *ast.CommentGroup, c *ast.Comment) (from, to int) {
	line := fset.Position(c.Pos()).Line
	end := fset.Position(g.End()).Line
	trailing := false
	var best ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.Comment, *ast.CommentGroup, *ast.File:
			return n != nil
		}
		if n.End() <= c.Pos() && fset.Position(n.End()).Line == line {
			trailing = true
		}
		if best == nil && n.Pos() > c.Pos() && fset.Position(n.Pos()).Line == end+1 {
			best = n
		}
		return true
	})
	if trailing {
		return line, line
	}
	if best == nil {
		return end + 1, end + 1
	}
	last := best.End()
	switch n := best.(type) { // the head of a statement, not its body
	case *ast.FuncDecl:
		if n.Body != nil {
			last = n.Body.Lbrace
		}
	case *ast.IfStmt:
		last = n.Body.Lbrace
	case *ast.ForStmt:
		last = n.Body.Lbrace
	case *ast.RangeStmt:
		last = n.Body.Lbrace
	case *ast.SwitchStmt:
		last = n.Body.Lbrace
	case *ast.TypeSwitchStmt:
		last = n.Body.Lbrace
	case *ast.SelectStmt:
		last = n.Body.Lbrace
	case *ast.BlockStmt:
		last = n.Lbrace
	}
	return end + 1, fset.Position(last).Line
}

// Reporter reports the diagnostics of a pass that no comment covers. A
// diagnostic's code is its Category.
func Reporter(pass *analysis.Pass) func(analysis.Diagnostic) {
	byFile := map[string][]*Comment{}
	return func(d analysis.Diagnostic) {
		p := pass.Fset.Position(d.Pos)
		cs, ok := byFile[p.Filename]
		if !ok {
			for _, f := range pass.Files {
				if d.Pos >= f.FileStart && d.Pos <= f.FileEnd {
					cs = Find(pass.Fset, f)
				}
			}
			byFile[p.Filename] = cs
		}
		for _, c := range cs {
			if c.Covers(d.Category, p.Line) {
				return
			}
		}
		pass.Report(d)
	}
}

// Test reports whether a position is in a test file, which may break rules to
// show that they hold.
func Test(pass *analysis.Pass, pos token.Pos) bool {
	return strings.HasSuffix(pass.Fset.Position(pos).Filename, "_test.go")
}
