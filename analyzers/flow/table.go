package flow

import (
	"embed"
	"fmt"
	"go/types"
	"path"
	"strconv"
	"strings"
)

//go:embed tables/*.txt
var tables embed.FS

// args is a set of argument positions, the receiver not counted.
type args struct {
	recv bool
	all  bool
	list []int
	from int // and every one from here on; -1: none
}

func (a args) has(i int) bool {
	if a.all || a.from >= 0 && i >= a.from {
		return true
	}
	for _, j := range a.list {
		if i == j {
			return true
		}
	}
	return false
}

func parseArgs(s string) (args, error) {
	a := args{from: -1}
	switch s {
	case "recv":
		a.recv = true
		return a, nil
	case "all":
		a.all, a.recv = true, true
		return a, nil
	}
	for p := range strings.SplitSeq(s, ",") {
		rest, open := strings.CutSuffix(p, "+")
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 {
			return a, fmt.Errorf("argument positions: expected a number, N+, recv or all, found %q", s)
		}
		if open {
			a.from = n
		} else {
			a.list = append(a.list, n)
		}
	}
	return a, nil
}

// A rule is one line of a table.
type rule struct {
	verb  string // func, field, conv, type, out, pass, …
	key   string // the pattern after the package path: Func, Type.Method, Type.Field, Type
	args  args
	class Class
	role  string
	from  args // out rules: where the bytes come from; zero list: class says
	flows bool // out rules: from is set
	query int  // out rules of class sql: the argument that is the query, -1 none
}

// A Table knows which functions, fields and types of libraries matter, and how.
// It is read from data; nothing about a library is in code.
type Table struct {
	exact map[string][]rule // by package path
	globs []globRules       // package paths with *
	below []globRules       // pkg rules: a package and what is below it
	same  map[string]string // a fork's path: the path that it stands for
	cache map[string][]rule // by verb and package
	funcs map[funcVerb]hit  // by verb and function
}

type funcVerb struct {
	verb string
	fn   *types.Func
}

type hit struct {
	rule rule
	ok   bool
}

type globRules struct {
	pkg  string
	rule rule
}

// Default is the built-in table.
func Default() (*Table, error) {
	t := &Table{exact: map[string][]rule{}, same: map[string]string{}, cache: map[string][]rule{}, funcs: map[funcVerb]hit{}}
	for _, name := range []string{"tables/sinks.txt", "tables/sources.txt"} {
		b, err := tables.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if err := t.Add(name, string(b)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Add reads more lines. name stands in errors. Lines that were added later give
// way to earlier ones where both fit, so add the more particular table first, or
// use Prepend.
func (t *Table) Add(name, text string) error {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if err := t.add(f, false); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	return nil
}

// Prepend adds one rule, in the words of the tables, before all others.
func (t *Table) Prepend(words ...string) error { return t.add(words, true) }

func (t *Table) add(f []string, first bool) error {
	r := rule{verb: f[0], args: args{from: -1}, query: -1}
	need := func(n int) error {
		if len(f) != n {
			return fmt.Errorf("%s: expected %d words, found %d", f[0], n, len(f))
		}
		return nil
	}
	var err error
	var pkg string
	switch f[0] {
	case "same":
		if err := need(3); err != nil {
			return err
		}
		t.same[f[1]] = f[2]
		return nil
	case "pkg":
		if err := need(3); err != nil {
			return err
		}
		r.class = Class(f[2])
		g := globRules{f[1], r}
		if first {
			t.below = append([]globRules{g}, t.below...)
		} else {
			t.below = append(t.below, g)
		}
		clear(t.cache)
		clear(t.funcs)
		return nil
	case "func", "out":
		switch {
		case len(f) == 3 && f[0] == "func": // a source
			r.verb, r.class = "result", Class(f[2])
			if f[2] == "recv" || f[2] == "skip" {
				r.verb = "pass"
				if r.args, err = parseArgs("recv"); err != nil {
					return err
				}
				if f[2] == "skip" {
					r.verb = "const"
				}
			}
		case len(f) == 4 && f[0] == "func": // a sink
			r.verb, r.role = "sink", f[3]
			if r.args, err = parseArgs(f[2]); err != nil {
				return err
			}
		case len(f) == 4:
			if r.args, err = parseArgs(f[2]); err != nil {
				return err
			}
			if from, ok := strings.CutPrefix(f[3], "<"); ok {
				r.flows = true
				if r.from, err = parseArgs(from); err != nil {
					return err
				}
			} else {
				c, q, ok := strings.Cut(f[3], ":")
				if ok && c == "sql" {
					if r.query, err = strconv.Atoi(q); err != nil {
						return fmt.Errorf("expected sql:ARGUMENT, found %q", f[3])
					}
					r.class = "sql"
				} else {
					r.class = Class(f[3])
				}
			}
		default:
			return fmt.Errorf("%s: expected 3 or 4 words, found %d", f[0], len(f))
		}
	case "field", "conv":
		if err := need(3); err != nil {
			return err
		}
		r.role = f[2]
	case "type":
		if err := need(3); err != nil {
			return err
		}
		r.class = Class(f[2])
	case "pass":
		if err := need(3); err != nil {
			return err
		}
		switch f[2] {
		case "skip", "const":
			r.verb = "const"
		default:
			if r.args, err = parseArgs(f[2]); err != nil {
				return err
			}
		}
	case "alias", "write":
		if err := need(3); err != nil {
			return err
		}
		if r.args, err = parseArgs(f[2]); err != nil {
			return err
		}
	case "scalar", "const", "fence":
		if err := need(2); err != nil {
			return err
		}
	default:
		return fmt.Errorf("expected func, field, conv, type, out, pass, scalar, const, pkg, alias, write or fence, found %q", f[0])
	}
	pkg, r.key = splitKey(f[1])
	if strings.Contains(pkg, "*") {
		g := globRules{pkg, r}
		if first {
			t.globs = append([]globRules{g}, t.globs...)
		} else {
			t.globs = append(t.globs, g)
		}
	} else if first {
		t.exact[pkg] = append([]rule{r}, t.exact[pkg]...)
	} else {
		t.exact[pkg] = append(t.exact[pkg], r)
	}
	clear(t.cache)
	clear(t.funcs)
	return nil
}

// splitKey cuts a/b.c/d.Type.Method after the package path: at the first dot
// behind the last slash.
func splitKey(s string) (pkg, key string) {
	slash := strings.LastIndexByte(s, '/')
	rest := s[slash+1:]
	// gopkg.in/yaml.v3.Unmarshal and nats.go.Msg: a dot followed by a lower-case
	// letter belongs to the path.
	from := 0
	for {
		i := strings.IndexByte(rest[from:], '.')
		if i < 0 {
			if strings.HasSuffix(s, "*") { // a/b* or a/*: every function below
				return s, "*"
			}
			return s, ""
		}
		i += from
		if i+1 < len(rest) && rest[i+1] >= 'a' && rest[i+1] <= 'z' {
			from = i + 1
			continue
		}
		return s[:slash+1+i], rest[i+1:]
	}
}

// normal strips the /vN elements of an import path, and what stands before a
// vendor directory.
func normal(pkg string) string {
	if i := strings.LastIndex(pkg, "/vendor/"); i >= 0 {
		pkg = pkg[i+len("/vendor/"):]
	}
	if !strings.Contains(pkg, "/v") {
		return pkg
	}
	parts := strings.Split(pkg, "/")
	out := parts[:0]
	for i, p := range parts {
		if i > 0 && len(p) > 1 && p[0] == 'v' && strings.Trim(p[1:], "0123456789") == "" {
			continue
		}
		out = append(out, p)
	}
	return strings.Join(out, "/")
}

func (t *Table) rules(verb, pkg string) []rule {
	k := verb + " " + pkg
	if rs, ok := t.cache[k]; ok {
		return rs
	}
	n := normal(pkg)
	for fork, of := range t.same {
		if n == fork || strings.HasPrefix(n, fork+"/") {
			n = of + n[len(fork):]
			break
		}
	}
	var rs []rule
	for _, r := range t.exact[n] {
		if r.verb == verb {
			rs = append(rs, r)
		}
	}
	if n != pkg {
		for _, r := range t.exact[pkg] {
			if r.verb == verb {
				rs = append(rs, r)
			}
		}
	}
	for _, g := range t.globs {
		if g.rule.verb == verb && globPkg(g.pkg, n) {
			rs = append(rs, g.rule)
		}
	}
	t.cache[k] = rs
	return rs
}

// globPkg lets a * stand for any run of characters, slashes included.
func globPkg(pattern, s string) bool {
	if pattern == s {
		return true
	}
	if rest, ok := strings.CutSuffix(pattern, "/*"); ok && rest == s {
		return true
	}
	i := strings.IndexByte(pattern, '*')
	if i < 0 {
		return false
	}
	if !strings.HasPrefix(s, pattern[:i]) {
		return false
	}
	rest := pattern[i+1:]
	if rest == "" {
		return true
	}
	for j := i; j <= len(s); j++ {
		if globPkg(rest, s[j:]) {
			return true
		}
	}
	return false
}

func globKey(pattern, s string) bool {
	if pattern == "*" {
		return true
	}
	ok, _ := path.Match(pattern, s)
	return ok
}

func (t *Table) find(verb, pkg, key string) (rule, bool) {
	for _, r := range t.rules(verb, pkg) {
		if globKey(r.key, key) {
			return r, true
		}
	}
	return rule{}, false
}

// function looks a function or method up under a verb.
func (t *Table) function(verb string, fn *types.Func) (rule, bool) {
	if fn == nil || fn.Pkg() == nil {
		return rule{}, false
	}
	k := funcVerb{verb, fn}
	h, ok := t.funcs[k]
	if !ok {
		h.rule, h.ok = t.find(verb, fn.Pkg().Path(), funcKey(fn))
		t.funcs[k] = h
	}
	return h.rule, h.ok
}

// below is the class of a package that a pkg line covers.
func (t *Table) belowClass(pkg string) (Class, bool) {
	n := normal(pkg)
	for _, g := range t.below {
		if n == g.pkg || strings.HasPrefix(n, g.pkg+"/") {
			return g.rule.class, true
		}
	}
	return "", false
}

// named looks the type of a value, or what it points to, up under a verb.
func (t *Table) named(verb string, typ types.Type) (rule, bool) {
	n := namedOf(typ)
	if n == nil || n.Obj().Pkg() == nil {
		return rule{}, false
	}
	return t.find(verb, n.Obj().Pkg().Path(), n.Obj().Name())
}

// funcKey is Func or Type.Method.
func funcKey(fn *types.Func) string {
	if fn.Signature().Recv() != nil {
		if n := namedOf(fn.Signature().Recv().Type()); n != nil {
			return n.Obj().Name() + "." + fn.Name()
		}
	}
	return fn.Name()
}

// namedOf strips pointers and aliases down to a named type.
func namedOf(t types.Type) *types.Named {
	for {
		switch u := types.Unalias(t).(type) {
		case *types.Pointer:
			t = u.Elem()
		case *types.Named:
			return u.Origin()
		default:
			return nil
		}
	}
}
