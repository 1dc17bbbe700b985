package flow

import (
	"fmt"
	"go/token"
	"go/types"
	"path"
	"strings"
	"text/template/parse"

	"golang.org/x/tools/go/ssa"
)

// template lists the actions of a template execution as pieces. A template whose
// text is not a constant or an embedded file cannot be read: that is one unknown
// piece for its text, and its data goes in whole.
func (w *walker) template(it item, call ssa.CallInstruction, name, data ssa.Value, c *ctx) []piece {
	a := w.a
	pos := call.Pos()
	texts, ok := w.templateTexts(call.Common().Args[0], c)
	if !ok {
		return []piece{
			{v: call.Common().Args[0], pos: pos, kind: Template, name: "the template's text", leaf: &leafPiece{UnknownTemplate, "its text is chosen at run time"}},
			{v: data, pos: pos, kind: Template, name: describe(data) + " (all of it)"},
		}
	}
	var fields [][]string
	seen := map[string]bool{}
	for _, text := range texts {
		for _, f := range actions(text) {
			k := strings.Join(f, ".")
			if !seen[k] {
				seen[k] = true
				fields = append(fields, f)
			}
		}
	}
	var out []piece
	for _, f := range fields {
		p := piece{v: data, pos: pos, kind: Template, name: "{{." + strings.Join(f, ".") + "}}"}
		p.path = a.templatePath(dataType(data), f)
		out = append(out, p)
	}
	return out
}

func dataType(v ssa.Value) types.Type {
	if m, ok := v.(*ssa.MakeInterface); ok {
		return m.X.Type()
	}
	return v.Type()
}

// templatePath resolves {{.A.B}} against the type of the data.
func (a *Analysis) templatePath(t types.Type, f []string) *sel {
	if len(f) == 0 {
		return nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			if u.Field(i).Name() == f[0] {
				return a.sel(i, a.templatePath(u.Field(i).Type(), f[1:]))
			}
		}
		for i := range u.NumFields() { // promoted
			if u.Field(i).Embedded() {
				if s := a.templatePath(u.Field(i).Type(), f); s != nil {
					return a.sel(i, s)
				}
			}
		}
	case *types.Map:
		return a.sel(selElem, a.templatePath(u.Elem(), f[1:]))
	case *types.Slice:
		return a.sel(selElem, a.templatePath(u.Elem(), f))
	}
	return nil
}

// actions lists the field chains that a template prints. Inside range and with
// the dot is another value; chains there are given from the ranged value on.
func actions(text string) [][]string {
	trees, err := parse.Parse("t", text, "", "", builtins())
	if err != nil {
		tr := parse.New("t")
		tr.Mode = parse.SkipFuncCheck
		set := map[string]*parse.Tree{}
		if _, err := tr.Parse(text, "", "", set); err != nil {
			return nil
		}
		trees = set
		if len(trees) == 0 {
			trees = map[string]*parse.Tree{"t": tr}
		}
	}
	var out [][]string
	var walk func(n parse.Node, dot []string, vars map[string][]string)
	pipe := func(p *parse.PipeNode, dot []string, vars map[string][]string) [][]string {
		var fs [][]string
		if p == nil {
			return nil
		}
		var arg func(n parse.Node)
		arg = func(n parse.Node) {
			switch n := n.(type) {
			case *parse.FieldNode:
				fs = append(fs, append(append([]string{}, dot...), n.Ident...))
			case *parse.DotNode:
				fs = append(fs, append([]string{}, dot...))
			case *parse.VariableNode:
				if n.Ident[0] == "$" {
					fs = append(fs, append([]string{}, n.Ident[1:]...))
				} else if base, ok := vars[n.Ident[0]]; ok {
					fs = append(fs, append(append([]string{}, base...), n.Ident[1:]...))
				}
			case *parse.PipeNode:
				for _, c := range n.Cmds {
					for _, a := range c.Args {
						arg(a)
					}
				}
			case *parse.ChainNode:
				arg(n.Node)
			}
		}
		for _, c := range p.Cmds {
			if len(c.Args) > 0 {
				if id, ok := c.Args[0].(*parse.IdentifierNode); ok && (id.Ident == "len" || id.Ident == "eq" || id.Ident == "ne" || id.Ident == "not") {
					continue
				}
			}
			for _, a := range c.Args {
				arg(a)
			}
		}
		for _, d := range p.Decl {
			if len(fs) > 0 {
				vars[d.Ident[0]] = fs[0]
			}
		}
		return fs
	}
	walk = func(n parse.Node, dot []string, vars map[string][]string) {
		switch n := n.(type) {
		case *parse.ListNode:
			if n == nil {
				return
			}
			for _, c := range n.Nodes {
				walk(c, dot, vars)
			}
		case *parse.ActionNode:
			fs := pipe(n.Pipe, dot, vars)
			if len(n.Pipe.Decl) == 0 {
				out = append(out, fs...)
			}
		case *parse.IfNode:
			pipe(n.Pipe, dot, vars)
			walk(n.List, dot, vars)
			walk(n.ElseList, dot, vars)
		case *parse.RangeNode:
			d := dot
			if fs := pipe(n.Pipe, dot, vars); len(fs) > 0 {
				d = fs[0]
				if len(n.Pipe.Decl) > 1 { // $i, $x
					delete(vars, n.Pipe.Decl[0].Ident[0])
				}
			}
			walk(n.List, d, vars)
			walk(n.ElseList, dot, vars)
		case *parse.WithNode:
			d := dot
			if fs := pipe(n.Pipe, dot, vars); len(fs) > 0 {
				d = fs[0]
			}
			walk(n.List, d, vars)
			walk(n.ElseList, dot, vars)
		case *parse.TemplateNode:
			pipe(n.Pipe, dot, vars)
		}
	}
	names := make([]string, 0, len(trees))
	for k := range trees {
		names = append(names, k)
	}
	sortStrings(names)
	for _, k := range names {
		if trees[k] != nil && trees[k].Root != nil {
			walk(trees[k].Root, nil, map[string][]string{})
		}
	}
	return out
}

func builtins() map[string]any {
	m := map[string]any{}
	for _, n := range strings.Fields("and call html index slice js len not or print printf println urlquery eq ge gt le lt ne") {
		m[n] = fmt.Sprint
	}
	return m
}

// templateTexts finds the text that a *template.Template was parsed from.
func (w *walker) templateTexts(t ssa.Value, c *ctx) ([]string, bool) {
	var out []string
	ok := true
	seen := map[ssa.Value]bool{}
	var from func(v ssa.Value, depth int)
	from = func(v ssa.Value, depth int) {
		if v == nil || seen[v] || depth > 12 {
			return
		}
		seen[v] = true
		switch x := v.(type) {
		case *ssa.Extract:
			from(x.Tuple, depth+1)
		case *ssa.Phi:
			for _, e := range x.Edges {
				from(e, depth+1)
			}
		case *ssa.UnOp:
			from(x.X, depth+1)
		case *ssa.Global:
			vals := w.a.globals[x]
			if len(vals) == 0 {
				ok = false
			}
			for _, s := range vals {
				from(s, depth+1)
			}
		case *ssa.FieldAddr:
			vals := w.a.fieldStores[key(x.X, x.Field)]
			if len(vals) == 0 {
				ok = false
			}
			for _, s := range vals {
				from(s.val, depth+1)
			}
		case *ssa.Alloc:
			for _, r := range *x.Referrers() {
				if st, is := r.(*ssa.Store); is && st.Addr == x {
					from(st.Val, depth+1)
				}
			}
		case *ssa.Parameter:
			sites := w.a.callers[x.Parent()]
			if len(sites) == 0 {
				ok = false
			}
			for _, s := range sites {
				for i, p := range x.Parent().Params {
					if p == x {
						if v, found := argFor(s.site, x.Parent(), i); found {
							from(v, depth+1)
						}
					}
				}
			}
		case *ssa.FreeVar:
			for _, mc := range w.a.closures[x.Parent()] {
				for i, fv := range x.Parent().FreeVars {
					if fv == x && i < len(mc.Bindings) {
						from(mc.Bindings[i], depth+1)
					}
				}
			}
		case *ssa.Call:
			fn := calleeFunc(x)
			if fn == nil || fn.Pkg() == nil {
				ok = false
				return
			}
			pkg := fn.Pkg().Path()
			if pkg != "text/template" && pkg != "html/template" {
				found := false
				for _, callee := range w.a.callees[x] {
					for _, b := range callee.Blocks {
						if len(b.Instrs) == 0 {
							continue
						}
						if ret, is := b.Instrs[len(b.Instrs)-1].(*ssa.Return); is && len(ret.Results) > 0 {
							found = true
							from(ret.Results[0], depth+1)
						}
					}
				}
				if !found {
					ok = false
				}
				return
			}
			all := w.a.spread(x)
			recv := func() {
				if fn.Signature().Recv() != nil {
					from(x.Common().Args[0], depth+1)
				}
			}
			switch fn.Name() {
			case "Must":
				from(all[0], depth+1)
			case "New":
				// an empty template; Parse was called on it, perhaps as a statement
				for _, r := range *x.Referrers() {
					if pc, is := r.(*ssa.Call); is {
						if f := calleeFunc(pc); f != nil && (f.Name() == "Parse" || f.Name() == "ParseFS") {
							from(pc, depth+1)
						}
					}
				}
			case "Funcs", "Option", "Delims", "Lookup", "Clone":
				recv()
			case "Parse":
				texts, known := w.a.texts(all[0], c)
				if !known {
					ok = false
				}
				out = append(out, texts...)
				if _, isNew := x.Common().Args[0].(*ssa.Call); !isNew {
					recv()
				}
			case "ParseFS":
				if g := embedGlobal(all[0]); g != nil {
					if e, is := w.a.embeds[g.Object()]; is {
						e2 := e
						e2.patterns = nil
						for _, p := range all[1:] {
							if s, is := constString(p); is {
								e2.patterns = append(e2.patterns, s)
							}
						}
						if len(e2.patterns) == 0 {
							e2.patterns = []string{path.Join(".", "*")}
						}
						if t, is := w.a.embeddedText(e2, ""); is {
							out = append(out, t...)
							return
						}
					}
				}
				ok = false
			default: // ParseFiles, ParseGlob: run time
				ok = false
			}
		case *ssa.Const:
			// nil
		default:
			ok = false
		}
	}
	from(t, 0)
	return out, ok && len(out) > 0
}

func embedGlobal(v ssa.Value) *ssa.Global {
	for {
		switch x := v.(type) {
		case *ssa.MakeInterface:
			v = x.X
		case *ssa.UnOp:
			v = x.X
		case *ssa.Global:
			return x
		default:
			return nil
		}
	}
}

// texts resolves a value to the constant texts it can be: constants, embedded
// files, functions that return one.
func (a *Analysis) texts(v ssa.Value, c *ctx) ([]string, bool) { return a.textsFrom(v, c, 0) }

// textsFrom counts the hops across concatenations too: s += x in a loop is a
// circle of them.
func (a *Analysis) textsFrom(v ssa.Value, c *ctx, hops int) ([]string, bool) {
	var out []string
	ok := true
	seen := map[ssa.Value]bool{}
	var from func(v ssa.Value, c *ctx, depth int)
	from = func(v ssa.Value, c *ctx, depth int) {
		if seen[v] {
			return
		}
		seen[v] = true
		if depth > 14 {
			ok = false
			return
		}
		if s, is := constString(v); is {
			out = append(out, s)
			return
		}
		switch x := v.(type) {
		case *ssa.BinOp:
			if x.Op == token.ADD {
				l, lok := a.textsFrom(x.X, c, depth+1)
				r, rok := a.textsFrom(x.Y, c, depth+1)
				if len(l) == 0 {
					l = []string{" ? "}
				}
				if len(r) == 0 {
					r = []string{" ? "}
				}
				for _, p := range l {
					for _, q := range r {
						if len(out) < 64 {
							out = append(out, p+q)
						}
					}
				}
				if !lok || !rok {
					ok = false
				}
				return
			}
			ok = false
		case *ssa.Phi:
			for _, e := range x.Edges {
				from(e, c, depth+1)
			}
		case *ssa.UnOp:
			from(x.X, c, depth+1)
		case *ssa.ChangeType:
			from(x.X, c, depth+1)
		case *ssa.Convert:
			from(x.X, c, depth+1)
		case *ssa.MakeInterface:
			from(x.X, c, depth+1)
		case *ssa.Extract:
			from(x.Tuple, c, depth+1)
		case *ssa.Global:
			if e, is := a.embeds[x.Object()]; is {
				t, is := a.embeddedText(e, "")
				ok = ok && is
				out = append(out, t...)
				return
			}
			vals := a.globals[x]
			if len(vals) == 0 {
				ok = false
			}
			for _, s := range vals {
				from(s, nil, depth+1)
			}
		case *ssa.FieldAddr:
			vals := a.fieldStores[key(x.X, x.Field)]
			if len(vals) == 0 || len(vals) > 8 {
				ok = false
				return
			}
			for _, s := range vals {
				from(s.val, nil, depth+1)
			}
		case *ssa.Alloc:
			for _, r := range *x.Referrers() {
				if st, is := r.(*ssa.Store); is && st.Addr == x {
					from(st.Val, c, depth+1)
				}
			}
		case *ssa.FreeVar:
			for _, mc := range a.closures[x.Parent()] {
				for i, fv := range x.Parent().FreeVars {
					if fv == x && i < len(mc.Bindings) {
						from(mc.Bindings[i], nil, depth+1)
					}
				}
			}
		case *ssa.Parameter:
			fn := x.Parent()
			sites := a.callers[fn]
			if c != nil {
				for _, s := range sites {
					if s.site == c.call {
						sites = []callSite{s}
						break
					}
				}
			}
			if len(sites) == 0 || len(sites) > 16 {
				ok = false
				return
			}
			for _, s := range sites {
				for i, p := range fn.Params {
					if p == x {
						if arg, found := argFor(s.site, fn, i); found {
							var up *ctx
							if c != nil {
								up = c.up
							}
							from(arg, up, depth+1)
						}
					}
				}
			}
		case *ssa.Call:
			fn := calleeFunc(x)
			if fn != nil && fn.Pkg() != nil {
				switch shortTypes(fn) {
				case "strings.TrimSpace", "strings.TrimPrefix", "strings.TrimLeft", "strings.TrimRight":
					from(x.Common().Args[0], c, depth+1)
					return
				case "embed.FS.ReadFile":
					if g := embedGlobal(x.Common().Args[0]); g != nil {
						name, _ := constString(a.spread(x)[0])
						if e, is := a.embeds[g.Object()]; is && name != "" {
							t, is := a.embeddedText(e, name)
							ok = ok && is
							out = append(out, t...)
							return
						}
					}
				case "fmt.Sprintf":
					if s, is := constString(a.spread(x)[0]); is {
						out = append(out, s)
						ok = false
						return
					}
				}
			}
			callees := a.callees[x]
			if len(callees) == 0 {
				ok = false
			}
			for _, callee := range callees {
				for _, b := range callee.Blocks {
					if len(b.Instrs) == 0 {
						continue
					}
					if ret, is := b.Instrs[len(b.Instrs)-1].(*ssa.Return); is && len(ret.Results) > 0 {
						from(ret.Results[0], a.push(c, x), depth+1)
					}
				}
			}
		default:
			ok = false
		}
	}
	from(v, c, hops)
	return out, ok && len(out) > 0
}
