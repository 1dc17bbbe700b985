package flow

import (
	"go/token"
	"go/types"
	"sort"
	"strings"
	"unicode"

	"golang.org/x/tools/go/ssa"
)

func sortStrings(s []string) { sort.Strings(s) }

// trace follows v through everything that only hands it on, and calls visit for
// each value it meets; visit says whether to stop there.
func (a *Analysis) trace(v ssa.Value, c *ctx, visit func(v ssa.Value, c *ctx) bool) {
	type at struct {
		v ssa.Value
		c *ctx
	}
	seen := map[at]bool{}
	var from func(v ssa.Value, c *ctx)
	from = func(v ssa.Value, c *ctx) {
		if v == nil || seen[at{v, c}] || len(seen) > 2000 {
			return
		}
		seen[at{v, c}] = true
		if visit(v, c) {
			return
		}
		switch x := v.(type) {
		case *ssa.Phi:
			for _, e := range x.Edges {
				from(e, c)
			}
		case *ssa.UnOp:
			from(x.X, c)
		case *ssa.ChangeType:
			from(x.X, c)
		case *ssa.ChangeInterface:
			from(x.X, c)
		case *ssa.Convert:
			from(x.X, c)
		case *ssa.MakeInterface:
			from(x.X, c)
		case *ssa.TypeAssert:
			from(x.X, c)
		case *ssa.Extract:
			from(x.Tuple, c)
		case *ssa.Global:
			for _, s := range a.globals[x] {
				from(s, nil)
			}
		case *ssa.FieldAddr:
			vals := a.fieldStores[key(x.X, x.Field)]
			if len(vals) <= 16 {
				for _, s := range vals {
					from(s.val, nil)
				}
			}
		case *ssa.Alloc:
			for _, r := range *x.Referrers() {
				if st, is := r.(*ssa.Store); is && st.Addr == x {
					from(st.Val, c)
				}
			}
		case *ssa.FreeVar:
			for _, mc := range a.closures[x.Parent()] {
				for i, fv := range x.Parent().FreeVars {
					if fv == x && i < len(mc.Bindings) {
						from(mc.Bindings[i], nil)
					}
				}
			}
		case *ssa.Parameter:
			fn := x.Parent()
			sites := a.callers[fn]
			var up *ctx
			if c != nil {
				for _, s := range sites {
					if s.site == c.call {
						sites, up = []callSite{s}, c.up
						break
					}
				}
			}
			for _, s := range sites {
				for i, p := range fn.Params {
					if p == x {
						if arg, ok := argFor(s.site, fn, i); ok {
							from(arg, up)
						}
					}
				}
			}
		case *ssa.Call:
			for _, callee := range a.callees[x] {
				for _, b := range callee.Blocks {
					if len(b.Instrs) == 0 {
						continue
					}
					if ret, is := b.Instrs[len(b.Instrs)-1].(*ssa.Return); is && len(ret.Results) > 0 {
						from(ret.Results[0], a.push(c, x))
					}
				}
			}
		}
	}
	from(v, c)
}

// sqlCall is a call that carries a SQL text.
type sqlCall struct {
	call  ssa.CallInstruction
	query string
	st    statement
	args  []ssa.Value // behind the query, variadics spread where they are written out
	whole ssa.Value   // the slice behind the query, where they are not
}

// sqlOf reads the SQL text of a call: its first string argument that is one.
func (a *Analysis) sqlOf(call ssa.CallInstruction, c *ctx) []sqlCall {
	all := a.spread(call)
	for i, v := range all {
		if i > 3 || !isStringish(v.Type()) {
			continue
		}
		texts, _ := a.texts(v, c)
		var out []sqlCall
		for _, q := range texts {
			if looksSQL(q) {
				s := sqlCall{call: call, query: q, st: parseSQL(q), args: all[i+1:]}
				if len(s.args) == 1 {
					if _, ok := s.args[0].Type().Underlying().(*types.Slice); ok && !isBytes(s.args[0].Type()) {
						s.whole = s.args[0]
					}
				}
				out = append(out, s)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

func isBytes(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	b, ok := s.Elem().Underlying().(*types.Basic)
	return ok && b.Kind() == types.Byte
}

// queriesOf finds the SQL behind a rows or row value.
func (a *Analysis) queriesOf(v ssa.Value, c *ctx) []sqlCall {
	var out []sqlCall
	a.trace(v, c, func(v ssa.Value, c *ctx) bool {
		call, ok := v.(*ssa.Call)
		if !ok {
			return false
		}
		if qs := a.sqlOf(call, c); len(qs) > 0 {
			if len(a.callees[call]) == 0 {
				out = append(out, qs...)
				return true
			}
			return false
		}
		// A prepared statement: stmt.QueryRow(args).
		if fn := calleeFunc(call); fn != nil && fn.Signature().Recv() != nil && len(a.callees[call]) == 0 {
			var recv ssa.Value
			if call.Common().IsInvoke() {
				recv = call.Common().Value
			} else {
				recv = call.Common().Args[0]
			}
			if n := namedOf(recv.Type()); n != nil && strings.HasSuffix(n.Obj().Name(), "Stmt") {
				out = append(out, a.queriesOf(recv, c)...)
			}
			return true
		}
		return false
	})
	return out
}

// sqlLeaf ends the walk at a value that came out of a database without a
// destination that tells the column.
func (w *walker) sqlLeaf(it item, call ssa.CallInstruction, o outCall, detail string, pos token.Pos) {
	a := w.a
	org := w.leaf(it, SQLColumn, detail, pos)
	if org.Table != "" {
		return
	}
	if call != nil { // pgx.CollectRows[T](rows, …)
		all := a.spread(call)
		if len(all) > 0 {
			for _, q := range a.queriesOf(all[0], it.ctx) {
				org.Query = oneLine(q.query)
				if len(q.st.reads) > 0 {
					org.Table = q.st.reads[0].table
					if len(q.st.reads) == 1 {
						org.Column = q.st.reads[0].name
					}
				}
			}
		}
	}
	// Generated code moves columns into fields: the field's name is the column's.
	if org.Column == "" {
		for h := it.hop; h != nil; h = h.prev {
			if f, ok := strings.CutPrefix(h.what, "stored to "); ok {
				if t, c, ok := strings.Cut(f, "."); ok && c != "?" {
					org.Table, org.Column = tableName(t), snake(c)
				}
				break
			}
		}
	}
	name(org)
}

// lastOriginField names the column of a struct's field in the origin that was
// just added.
func (w *walker) lastOriginField(it item, k fieldKey) {
	if k.t == nil || len(it.slot.Origins) == 0 {
		return
	}
	o := it.slot.Origins[len(it.slot.Origins)-1]
	if o.Class == SQLColumn && o.Column == "" {
		o.Column = columnName(k)
		name(o)
	}
}

func name(o *Origin) {
	switch {
	case o.Table != "" && o.Column != "":
		o.Detail = o.Table + "." + o.Column
	case o.Column != "":
		o.Detail = "?." + o.Column
	}
}

// sqlOut ends the walk at a destination of a Scan and its like, and says which
// column it was.
func (w *walker) sqlOut(it item, o outCall, r rule, k fieldKey, c *ctx) {
	a := w.a
	com := o.call.Common()
	var queries []sqlCall
	if r.query >= 0 {
		queries = a.sqlOf(o.call, c)
	} else if com.IsInvoke() {
		queries = a.queriesOf(com.Value, c)
	} else if len(com.Args) > 0 {
		queries = a.queriesOf(com.Args[0], c)
	}
	if k.t == nil {
		k = w.destField(o, it.path)
	}
	if len(queries) == 0 {
		org := w.leaf(it, SQLColumn, describeCall(com), o.call.Pos())
		if k.t != nil && org.Column == "" {
			org.Column = columnName(k)
			org.Detail = "?." + org.Column
		}
		return
	}
	byIndex := r.query < 0 && o.elem >= 0
	for _, q := range queries {
		var cols []column
		switch {
		case byIndex && o.elem < len(q.st.reads) && q.st.reads[o.elem].name != "*":
			cols = []column{q.st.reads[o.elem]}
		case !byIndex && k.t != nil:
			want := columnName(k)
			for _, rc := range q.st.reads {
				if rc.name == "*" || strings.EqualFold(rc.as, want) || rc.as == "" && strings.EqualFold(rc.name, want) {
					if rc.name == "*" {
						rc.name = want
					}
					cols = append(cols, rc)
				}
			}
		case !byIndex && len(q.st.reads) > 0:
			cols = q.st.reads[:1]
		}
		w.columns(it, o, q, cols)
	}
}

func (w *walker) columns(it item, o outCall, q sqlCall, cols []column) {
	if len(cols) == 0 {
		org := w.leaf(it, SQLColumn, oneLine(q.query), o.call.Pos())
		org.Query = oneLine(q.query)
		return
	}
	for _, c := range cols {
		if len(c.uses) > 0 {
			w.columns(it, o, q, c.uses)
			continue
		}
		if c.name == "" { // COUNT(*), a literal: no column
			w.leaf(it, Length, "an expression of the query", o.call.Pos())
			continue
		}
		detail := c.table + "." + c.name
		if c.table == "" {
			detail = "?." + c.name
		}
		org := w.leaf(it, SQLColumn, detail, o.call.Pos())
		org.Table, org.Column, org.Query = c.table, c.name, oneLine(q.query)
	}
}

// destField is the struct field that a path into the destination selects.
func (w *walker) destField(o outCall, path *sel) fieldKey {
	com := o.call.Common()
	var v ssa.Value
	if elems, ok := variadic(o.call, o.arg); ok && o.elem >= 0 && o.elem < len(elems) {
		v = elems[o.elem]
	} else if o.arg >= 0 && o.arg < len(com.Args) {
		v = com.Args[o.arg]
	}
	if v == nil {
		return fieldKey{}
	}
	if m, ok := v.(*ssa.MakeInterface); ok {
		v = m.X
	}
	t := v.Type()
	for path != nil {
		for {
			if p, ok := t.Underlying().(*types.Pointer); ok {
				t = p.Elem()
				continue
			}
			break
		}
		switch u := t.Underlying().(type) {
		case *types.Struct:
			if path.f < 0 || path.f >= u.NumFields() {
				return fieldKey{}
			}
			if u.Field(path.f).Embedded() && path.next != nil {
				t = u.Field(path.f).Type()
				path = path.next
				continue
			}
			if n, ok := types.Unalias(t).(*types.Named); ok {
				return fieldKey{n.Origin(), path.f}
			}
			return fieldKey{types.Unalias(t), path.f}
		case *types.Slice:
			t = u.Elem()
		case *types.Map:
			t = u.Elem()
		default:
			return fieldKey{}
		}
		path = path.next
	}
	return fieldKey{}
}

// ormOut ends the walk at a model that an ORM filled.
func (w *walker) ormOut(it item, o outCall, k fieldKey) {
	if k.t == nil {
		k = w.destField(o, it.path)
	}
	if k.t == nil {
		w.leaf(it, ORMField, describeCall(o.call.Common()), o.call.Pos())
		return
	}
	t, c := w.a.modelTable(k), columnName(k)
	org := w.leaf(it, ORMField, t+"."+c, o.call.Pos())
	org.Table, org.Column = t, c
	org.field = k
}

// modelTable is the table of a model: its TableName method where that returns a
// constant, else the plural of its name.
func (a *Analysis) modelTable(k fieldKey) string {
	n, ok := k.t.(*types.Named)
	if !ok {
		return "?"
	}
	for f := range a.has {
		if f.Name() != "TableName" || f.Signature.Recv() == nil || namedOf(f.Signature.Recv().Type()) != n {
			continue
		}
		for _, b := range f.Blocks {
			if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && len(ret.Results) == 1 {
				if s, ok := constString(ret.Results[0]); ok {
					return s
				}
			}
		}
	}
	return tableName(n.Obj().Name())
}

func tableName(typ string) string {
	s := snake(typ)
	switch {
	case strings.HasSuffix(s, "y") && len(s) > 1 && !strings.ContainsRune("aeiou", rune(s[len(s)-2])):
		return s[:len(s)-1] + "ies"
	case strings.HasSuffix(s, "s"), strings.HasSuffix(s, "x"), strings.HasSuffix(s, "ch"), strings.HasSuffix(s, "sh"):
		return s + "es"
	}
	return s + "s"
}

// columnName is the column behind a field: its db, gorm, bun or xorm tag, else
// its name in the usual form.
func columnName(k fieldKey) string {
	st, ok := k.t.Underlying().(*types.Struct)
	if !ok || k.f >= st.NumFields() {
		return ""
	}
	tag := st.Tag(k.f)
	if v := tagValue(tag, "db"); v != "" && v != "-" {
		n, _, _ := strings.Cut(v, ",")
		return n
	}
	for part := range strings.SplitSeq(tagValue(tag, "gorm"), ";") {
		if n, ok := strings.CutPrefix(strings.TrimSpace(part), "column:"); ok {
			return n
		}
	}
	if v, _, _ := strings.Cut(tagValue(tag, "bun"), ","); v != "" && v != "-" {
		return v
	}
	return snake(st.Field(k.f).Name())
}

func snake(s string) string {
	var b strings.Builder
	rs := []rune(s)
	for i, r := range rs {
		if unicode.IsUpper(r) {
			if i > 0 && (unicode.IsLower(rs[i-1]) || i+1 < len(rs) && unicode.IsLower(rs[i+1])) && rs[i-1] != '_' {
				b.WriteByte('_')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 160 {
		s = s[:157] + "…"
	}
	return s
}

// writer is one value on its way into a column.
type writer struct {
	table, column string
	query         string
	call          ssa.CallInstruction
	val           ssa.Value
	path          *sel
	literal       bool
}

// dbMethods are the names under which database libraries take a SQL text.
var dbMethods = map[string]bool{
	"Exec": true, "ExecContext": true, "MustExec": true, "MustExecContext": true, "NamedExec": true, "NamedExecContext": true,
	"Query": true, "QueryContext": true, "QueryRow": true, "QueryRowContext": true, "Queryx": true, "QueryxContext": true, "QueryRowx": true, "QueryRowxContext": true,
	"NamedQuery": true, "NamedQueryContext": true, "Get": true, "GetContext": true, "Select": true, "SelectContext": true, "Queue": true, "Raw": true,
}

// findWriters indexes every value that the program writes to a column, once.
func (a *Analysis) findWriters() map[string][]writer {
	if a.writers != nil {
		return a.writers
	}
	a.writers = map[string][]writer{}
	add := func(w writer) {
		k := strings.ToLower(w.table + "." + w.column)
		a.writers[k] = append(a.writers[k], w)
	}
	for _, f := range a.in.Funcs {
		for _, b := range f.Blocks {
			for _, instr := range b.Instrs {
				call, ok := instr.(ssa.CallInstruction)
				if !ok || len(a.callees[call]) > 0 {
					a.entWriter(instr, add)
					continue
				}
				fn := calleeFunc(call)
				if fn == nil {
					continue
				}
				if dbMethods[fn.Name()] {
					for _, q := range a.sqlOf(call, nil) {
						a.writersOf(q, add)
					}
				}
				a.copyFrom(call, fn, add)
				a.stmtExec(call, fn, add)
				a.ormWriter(call, fn, add)
			}
		}
	}
	return a.writers
}

func (a *Analysis) writersOf(q sqlCall, add func(writer)) {
	for _, cw := range q.st.writes {
		w := writer{table: q.st.table, column: cw.column, query: oneLine(q.query), call: q.call}
		switch {
		case cw.named != "" && len(q.args) > 0:
			w.val = q.args[0]
			if p := a.namedPath(dataType(q.args[0]), cw.named); p != nil {
				w.path = p
			}
		case cw.arg >= 0 && q.whole != nil:
			w.val, w.path = q.whole, a.sel(selElem, nil)
		case cw.arg >= 0 && cw.arg < len(q.args):
			w.val = q.args[cw.arg]
		default:
			w.literal = true
		}
		add(w)
	}
}

// namedPath finds the field that :name stands for.
func (a *Analysis) namedPath(t types.Type, name string) *sel {
	for {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
			continue
		}
		if s, ok := t.Underlying().(*types.Slice); ok {
			t = s.Elem()
			continue
		}
		break
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	for i := range st.NumFields() {
		if strings.EqualFold(columnName(fieldKey{t, i}), name) {
			return a.sel(i, nil)
		}
	}
	return nil
}

// copyFrom handles pgx's CopyFrom(ctx, pgx.Identifier{"t"}, []string{"a"}, rows).
func (a *Analysis) copyFrom(call ssa.CallInstruction, fn *types.Func, add func(writer)) {
	if fn.Name() != "CopyFrom" {
		return
	}
	all := a.spread(call)
	if len(all) < 4 {
		return
	}
	names := func(v ssa.Value) []string {
		if ct, ok := v.(*ssa.ChangeType); ok {
			v = ct.X
		}
		elems, ok := sliceElems(v)
		if !ok {
			return nil
		}
		var out []string
		for _, e := range elems {
			s, _ := constString(e)
			out = append(out, s)
		}
		return out
	}
	table := names(all[1])
	if len(table) == 0 {
		return
	}
	for _, c := range names(all[2]) {
		add(writer{table: table[len(table)-1], column: c, query: "COPY " + strings.Join(table, "."), call: call, val: all[3]})
	}
}

// stmtExec handles a prepared statement: stmt.Exec(args).
func (a *Analysis) stmtExec(call ssa.CallInstruction, fn *types.Func, add func(writer)) {
	if fn.Signature().Recv() == nil || !strings.HasPrefix(fn.Name(), "Exec") || call.Common().IsInvoke() || len(call.Common().Args) == 0 {
		return
	}
	recv := call.Common().Args[0]
	n := namedOf(recv.Type())
	if n == nil || !strings.HasSuffix(n.Obj().Name(), "Stmt") {
		return
	}
	all := a.spread(call)
	if len(all) > 0 {
		if c := namedOf(all[0].Type()); c != nil && c.Obj().Name() == "Context" {
			all = all[1:]
		}
	}
	for _, q := range a.queriesOf(recv, nil) {
		q.call, q.args, q.whole = call, all, nil
		a.writersOf(q, add)
	}
}

// ormWriter handles Create, Save, Updates of a model, and Update of one column.
func (a *Analysis) ormWriter(call ssa.CallInstruction, fn *types.Func, add func(writer)) {
	if fn.Pkg() == nil || !strings.Contains(fn.Pkg().Path(), "gorm") && !strings.Contains(fn.Pkg().Path(), "uptrace/bun") && !strings.Contains(fn.Pkg().Path(), "xorm") {
		return
	}
	all := a.spread(call)
	switch fn.Name() {
	case "Create", "Save", "Updates", "CreateInBatches", "Insert", "Model", "NewInsert", "FirstOrCreate":
		for _, v := range all {
			t := dataType(v)
			for {
				if p, ok := t.Underlying().(*types.Pointer); ok {
					t = p.Elem()
					continue
				}
				if s, ok := t.Underlying().(*types.Slice); ok {
					t = s.Elem()
					continue
				}
				break
			}
			n, ok := types.Unalias(t).(*types.Named)
			if !ok {
				continue
			}
			st, ok := n.Underlying().(*types.Struct)
			if !ok {
				continue
			}
			if fn.Name() == "Model" && !strings.Contains(fn.Pkg().Path(), "bun") {
				continue
			}
			for i := range st.NumFields() {
				k := fieldKey{n.Origin(), i}
				add(writer{table: a.modelTable(k), column: columnName(k), query: fn.Name() + " " + n.Obj().Name(), call: call, val: v, path: a.sel(i, nil)})
			}
		}
	case "Update", "UpdateColumn":
		if len(all) < 2 {
			return
		}
		col, ok := constString(all[0])
		if !ok {
			return
		}
		table := "?"
		if len(call.Common().Args) > 0 {
			a.trace(call.Common().Args[0], nil, func(v ssa.Value, c *ctx) bool {
				m, ok := v.(*ssa.Call)
				if !ok {
					return false
				}
				if f := calleeFunc(m); f != nil && f.Name() == "Model" {
					if n := namedOf(dataType(a.spread(m)[0])); n != nil {
						table = a.modelTable(fieldKey{n, 0})
					}
					return true
				}
				if len(m.Common().Args) > 0 {
					if mm, ok := m.Common().Args[0].(*ssa.Call); ok {
						if f := calleeFunc(mm); f != nil && f.Name() == "Model" {
							if n := namedOf(dataType(a.spread(mm)[0])); n != nil {
								table = a.modelTable(fieldKey{n, 0})
							}
						}
					}
				}
				return true
			})
		}
		add(writer{table: table, column: col, query: fn.Name(), call: call, val: all[1]})
	}
}

// entWriter handles ent's generated builders: user.Create().SetName(v).
func (a *Analysis) entWriter(instr ssa.Instruction, add func(writer)) {
	call, ok := instr.(ssa.CallInstruction)
	if !ok {
		return
	}
	fn := call.Common().StaticCallee()
	if fn == nil || fn.Signature.Recv() == nil || !strings.HasPrefix(fn.Name(), "Set") || len(call.Common().Args) != 2 {
		return
	}
	n := namedOf(fn.Signature.Recv().Type())
	if n == nil {
		return
	}
	typ := n.Obj().Name()
	var model string
	for _, suffix := range []string{"Create", "UpdateOne", "Update", "Upsert", "UpsertOne"} {
		if m, ok := strings.CutSuffix(typ, suffix); ok && m != "" {
			model = m
			break
		}
	}
	if model == "" {
		return
	}
	col := strings.TrimPrefix(strings.TrimPrefix(fn.Name(), "Set"), "Nillable")
	add(writer{table: tableName(model), column: snake(col), query: typ + "." + fn.Name(), call: call, val: call.Common().Args[1]})
}

// Writers finds who writes a column, and walks back from what they write.
func (a *Analysis) Writers(table, column string) []Writer {
	var out []Writer
	all := a.findWriters()
	ws := all[strings.ToLower(table+"."+column)]
	if len(ws) == 0 && table == "" {
		return nil
	}
	for _, w := range ws {
		r := Writer{Pos: a.fset.Position(w.call.Pos()), In: funcName(w.call.Parent()), Query: w.query}
		if w.literal {
			r.Origins = []*Origin{{Class: Constant}}
		} else {
			r.Origins = a.origins(w.val, w.path, nil)
		}
		out = append(out, r)
	}
	return out
}
