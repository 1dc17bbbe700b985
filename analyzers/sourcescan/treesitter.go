//go:build treesitter && cgo

package sourcescan

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	sitter "github.com/tree-sitter/go-tree-sitter"
	javascript "github.com/tree-sitter/tree-sitter-javascript/bindings/go"
	python "github.com/tree-sitter/tree-sitter-python/bindings/go"
	typescript "github.com/tree-sitter/tree-sitter-typescript/bindings/go"
)

type parser struct {
	o        Options
	words    [][]byte
	fences   map[string]bool
	emitters map[string]bool
	tags     map[string]bool
	lanes    map[string]bool
	langs    map[string]*sitter.Parser
	kinds    map[string][]kind
}

// kind is what a grammar calls a node; asked of the grammar once, and not of
// every node.
type kind struct {
	name  string
	named bool
}

func set(names []string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

func newParser(o Options) (*parser, error) {
	return &parser{o: o, words: o.words(), fences: set(o.fences()), emitters: set(o.emitters()), tags: set(o.tags()), lanes: set(o.Lanes), langs: map[string]*sitter.Parser{}, kinds: map[string][]kind{}}, nil
}

func (p *parser) close() {
	for _, l := range p.langs {
		l.Close()
	}
}

func (p *parser) matters(src []byte) bool { return containsAny(src, p.words) }

func (p *parser) parser(lang string) *sitter.Parser {
	if sp, ok := p.langs[lang]; ok {
		return sp
	}
	sp := sitter.NewParser()
	var l *sitter.Language
	switch lang {
	case "typescript":
		l = sitter.NewLanguage(typescript.LanguageTypescript())
	case "tsx":
		l = sitter.NewLanguage(typescript.LanguageTSX())
	case "javascript":
		l = sitter.NewLanguage(javascript.Language())
	default:
		l = sitter.NewLanguage(python.Language())
	}
	if err := sp.SetLanguage(l); err != nil {
		panic("sourcescan: a grammar does not fit the parser: " + err.Error())
	}
	p.langs[lang] = sp
	kinds := make([]kind, l.NodeKindCount())
	for id := range kinds {
		kinds[id] = kind{l.NodeKindForId(uint16(id)), l.NodeKindIsNamed(uint16(id))}
	}
	p.kinds[lang] = kinds
	return sp
}

// file scans one file.
type file struct {
	p      *parser
	name   string
	src    []byte
	py     bool
	consts map[string]string // names bound once to a literal
	taint  map[string]string // names bound to something from outside, and to what
	found  []Finding

	kinds []kind
	stack []frame // the way from the root to the node that is visited
}

// frame is a node on the way. A node does not know its parent: finding it means
// walking down from the root again.
type frame struct {
	n    *sitter.Node
	kind string
}

// up is the ancestor of the visited node that many levels up; the zero frame
// above the root.
func (f *file) up(levels int) frame {
	if i := len(f.stack) - 1 - levels; i >= 0 {
		return f.stack[i]
	}
	return frame{}
}

func (p *parser) file(name, lang string, src []byte) ([]Finding, bool) {
	tree := p.parser(lang).Parse(src, nil)
	if tree == nil {
		return nil, false
	}
	defer tree.Close()
	f := &file{p: p, name: name, src: src, py: lang == "python", consts: map[string]string{}, taint: map[string]string{}}
	f.kinds = p.kinds[lang]
	root := tree.RootNode()
	c := root.Walk()
	defer c.Close()
	// One way over the tree: names are bound on it, and what may be judged is kept
	// with its way from the root, to be judged when all names are known.
	var later [][]frame
	f.walk(c, func(n *sitter.Node, kind string) {
		f.bind(n, kind)
		if judged(kind) && (kind != "string" || f.py) {
			later = append(later, slices.Clone(f.stack[max(0, len(f.stack)-20):]))
		}
	})
	for _, way := range later {
		f.stack = way
		f.visit(way[len(way)-1].n, way[len(way)-1].kind)
	}
	return f.found, !root.HasError()
}

// walk visits the named nodes, parents first.
func (f *file) walk(c *sitter.TreeCursor, visit func(n *sitter.Node, kind string)) {
	f.stack = f.stack[:0]
	for {
		n := c.Node()
		k := kind{"ERROR", true}
		if id := int(n.KindId()); id < len(f.kinds) {
			k = f.kinds[id]
		}
		f.stack = append(f.stack, frame{n, k.name})
		if k.named {
			visit(n, k.name)
		}
		if c.GotoFirstChild() {
			continue
		}
		for {
			f.stack = f.stack[:len(f.stack)-1]
			if c.GotoNextSibling() {
				break
			}
			if !c.GotoParent() {
				return
			}
		}
	}
}

func (f *file) text(n *sitter.Node) string {
	if n == nil {
		return ""
	}
	return string(f.src[n.StartByte():n.EndByte()])
}

// bind notes what names stand for: a literal, or something from outside.
func (f *file) bind(n *sitter.Node, kind string) {
	var name, value *sitter.Node
	switch kind {
	case "variable_declarator":
		name, value = n.ChildByFieldName("name"), n.ChildByFieldName("value")
	case "assignment", "assignment_expression":
		name, value = n.ChildByFieldName("left"), n.ChildByFieldName("right")
	default:
		return
	}
	if name == nil || value == nil {
		return
	}
	if s, ok := f.literal(value); ok && name.Kind() == "identifier" {
		id := f.text(name)
		if _, twice := f.consts[id]; twice {
			delete(f.consts, id)
		} else {
			f.consts[id] = s
		}
		return
	}
	if composing(value.Kind()) && value.Kind() != "call" && value.Kind() != "call_expression" {
		return // text that is put together is looked at where that happens
	}
	from := f.text(value)
	if len(from) > 2000 || !outsideExpr.MatchString(from) {
		return
	}
	switch name.Kind() {
	case "identifier":
		f.taint[f.text(name)] = from
	case "object_pattern", "array_pattern", "pattern_list", "tuple_pattern":
		for _, w := range identifier.FindAllString(f.text(name), -1) {
			f.taint[w] = from
		}
	}
}

var (
	identifier = regexp.MustCompile(`[A-Za-z_$][A-Za-z0-9_$]*`)
	// outsideExpr matches expressions that read something from outside.
	outsideExpr = regexp.MustCompile(`\b(req|request|ctx\.request|event|event\.body)\s*\.\s*(body|query|params|args|form|json|files|headers|cookies|data|values|GET|POST|get_json|formData|text)\b|\bformData\b|\bsearchParams\b|\b(fetch|axios)\b|\brequests\.(get|post|request)\b|\bhttpx?\.|\burlopen\b|\breadFile(Sync)?\b|\.read_text\b|\bopen\s*\(|\.read\(|\binput\(|\bprompt\(|\bsys\.(argv|stdin)\b|\bprocess\.stdin\b|\.fetch(one|all|many)\b|\.(findOne|findMany|findUnique|findFirst)\b|\bgetElementById\b|\.(innerText|textContent)\b|\bchoices\[0\]|\.message\.content\b|\bcallTool\b|\bcall_tool\b`)
	// outsideName matches names that usually hold outside text.
	outsideName = regexp.MustCompile(`(?i)^(.*_)?(user_?(input|message|query|text|prompt|name|question)?|question|query|comment|comments|ticket|review|article|document|documents|doc|docs|page|html|body|email|transcript|note|notes|title|description|feedback|search_?results?|results?|observation|tool_?(output|result|response)|response|answer|reply|completion|payload|content|message|msg|text|input|file_?content|snippet|chunk|chunks|context|retrieved|history|summary)$`)
	promptName  = regexp.MustCompile(`(?i)(prompt|system|instruction|^messages?$|_messages?$)`)
	promptCall  = regexp.MustCompile(`(?i)(prompt|chat|complet|generate(text|object|content|_content)?$|llm|ask(model|ai)?$|invoke|systemmessage|humanmessage|usermessage|predict$)`)
	promptText  = regexp.MustCompile(`(?i)^\s*(you are|you're|act as|your task|system:|answer (the|this|in)|summari[sz]e|translate|classify|extract|given the following|based on the)`)
)

// composing reports whether a node kind may put text together.
func composing(kind string) bool {
	switch kind {
	case "template_string", "binary_expression", "binary_operator", "string", "concatenated_string", "call", "call_expression":
		return true
	}
	return false
}

// literal is the text of a string without holes.
func (f *file) literal(n *sitter.Node) (string, bool) {
	switch n.Kind() {
	case "string", "template_string":
		for i := range n.NamedChildCount() {
			switch n.NamedChild(i).Kind() {
			case "template_substitution", "interpolation":
				return "", false
			}
		}
		s := f.text(n)
		s = strings.TrimLeft(s, "rRbBuUfF")
		return strings.Trim(s, "\"'`"), true
	case "parenthesized_expression":
		if n.NamedChildCount() == 1 {
			return f.literal(n.NamedChild(0))
		}
	}
	return "", false
}

func (f *file) report(n *sitter.Node, code, msg string) {
	p := n.StartPosition()
	f.found = append(f.found, Finding{Code: code, Message: msg, File: f.name, Line: int(p.Row) + 1, Column: int(p.Column) + 1})
}

func judged(kind string) bool {
	switch kind {
	case "template_string", "string", "binary_expression", "binary_operator", "augmented_assignment", "augmented_assignment_expression",
		"call", "call_expression", "ternary_expression", "conditional_expression":
		return true
	}
	return false
}

func (f *file) visit(n *sitter.Node, kind string) {
	switch kind {
	case "template_string":
		f.compose(n)
	case "string":
		if f.py {
			f.compose(n)
		}
	case "binary_expression", "binary_operator":
		f.compose(n)
	case "augmented_assignment", "augmented_assignment_expression":
		f.append_(n)
	case "call", "call_expression":
		f.call(n)
		if f.py {
			f.compose(n)
		}
	case "ternary_expression", "conditional_expression":
		f.ternary(n)
	}
}

type hole struct {
	n    *sitter.Node
	expr string
}

// holes lists what is put into the text that n is.
func (f *file) holes(n *sitter.Node) (hs []hole, text string, ok bool) {
	switch n.Kind() {
	case "template_string", "string":
		var b strings.Builder
		for i := range n.NamedChildCount() {
			c := n.NamedChild(i)
			switch c.Kind() {
			case "template_substitution", "interpolation":
				e := c.NamedChild(0)
				if x := c.ChildByFieldName("expression"); x != nil {
					e = x
				}
				for j := uint(0); e != nil && e.Kind() == "comment" && j < c.NamedChildCount(); j++ {
					e = c.NamedChild(j)
				}
				if e != nil {
					hs = append(hs, hole{e, f.text(e)})
				}
			default:
				b.WriteString(f.text(c))
			}
		}
		return hs, b.String(), len(hs) > 0
	case "concatenated_string":
		var b strings.Builder
		for i := range n.NamedChildCount() {
			h, t, _ := f.holes(n.NamedChild(i))
			hs = append(hs, h...)
			b.WriteString(t)
		}
		return hs, b.String(), len(hs) > 0
	case "parenthesized_expression":
		if n.NamedChildCount() == 1 {
			return f.holes(n.NamedChild(0))
		}
	case "binary_expression", "binary_operator":
		op := f.text(n.ChildByFieldName("operator"))
		l, r := n.ChildByFieldName("left"), n.ChildByFieldName("right")
		if l == nil || r == nil {
			return nil, "", false
		}
		switch {
		case op == "+":
			str := false
			var b strings.Builder
			for _, side := range []*sitter.Node{l, r} {
				if s, lit := f.literal(side); lit {
					b.WriteString(s)
					str = true
					continue
				}
				if h, t, sub := f.holes(side); sub || isText(side.Kind()) {
					hs = append(hs, h...)
					b.WriteString(t)
					str = true
					continue
				}
				hs = append(hs, hole{side, f.text(side)})
			}
			return hs, b.String(), str && len(hs) > 0
		case op == "%" && f.py:
			s, lit := f.literal(l)
			if !lit {
				if h, t, sub := f.holes(l); sub {
					hs, s = h, t
				} else {
					return nil, "", false
				}
			}
			return append(hs, f.operands(r)...), s, true
		}
	case "call": // "…".format(a, b=c)
		fn := n.ChildByFieldName("function")
		if fn == nil || fn.Kind() != "attribute" {
			return nil, "", false
		}
		if m := f.text(fn.ChildByFieldName("attribute")); m != "format" && m != "format_map" {
			return nil, "", false
		}
		obj := fn.ChildByFieldName("object")
		s, lit := f.literal(obj)
		if !lit {
			if k, bound := f.consts[f.text(obj)]; bound {
				s = k
			} else {
				hs = append(hs, hole{obj, f.text(obj)})
			}
		}
		if args := n.ChildByFieldName("arguments"); args != nil {
			for i := range args.NamedChildCount() {
				a := args.NamedChild(i)
				if a.Kind() == "keyword_argument" {
					a = a.ChildByFieldName("value")
				}
				if a.Kind() == "dictionary_splat" || a.Kind() == "list_splat" {
					a = a.NamedChild(0)
				}
				if a != nil {
					if _, lit := f.literal(a); !lit {
						hs = append(hs, hole{a, f.text(a)})
					}
				}
			}
		}
		return hs, s, len(hs) > 0
	}
	return nil, "", false
}

func isText(kind string) bool { return kind == "template_string" || kind == "string" }

func (f *file) operands(n *sitter.Node) []hole {
	switch n.Kind() {
	case "tuple", "parenthesized_expression", "dictionary":
		var out []hole
		for i := range n.NamedChildCount() {
			c := n.NamedChild(i)
			if c.Kind() == "pair" {
				c = c.ChildByFieldName("value")
			}
			out = append(out, f.operands(c)...)
		}
		return out
	}
	if _, lit := f.literal(n); lit {
		return nil
	}
	return []hole{{n, f.text(n)}}
}

// compose judges one expression that puts text together, the outermost.
func (f *file) compose(n *sitter.Node) {
	at := 0 // how far up n is
	up := 1
	for f.up(up).kind == "parenthesized_expression" {
		up++
	}
	switch parent := f.up(up); parent.kind {
	case "binary_expression", "binary_operator":
		if _, _, ok := f.holes(parent.n); ok {
			return // a part of a larger one
		}
	case "concatenated_string":
		if first := parent.n.NamedChild(0); first == nil || !first.Equals(*n) {
			return
		}
		n, at = parent.n, up // judged once, with its first part
	case "attribute":
		if g := f.up(up + 1); f.py && g.kind == "call" {
			if _, _, ok := f.holes(g.n); ok {
				return // "…".format(…) is judged as a call
			}
		}
	case "call_expression": // tag`…`
		if fn := parent.n.ChildByFieldName("function"); fn != nil && n.Kind() == "template_string" && f.p.tags[lastName(f.text(fn))] {
			return
		}
	}
	hs, text, ok := f.holes(n)
	if !ok || !f.promptShaped(at, text) {
		return
	}
	for i, h := range hs {
		if i > 0 && f.isFence(hs[i-1].n) {
			continue // fence(lane.name) + lane.text: PF002 looks at the lookup
		}
		if why, bad := f.outside(h); bad {
			f.report(h.n, "PF001", h.label()+" is put into a prompt outside a fence: "+why)
		}
	}
}

// append_ judges prompt += x.
func (f *file) append_(n *sitter.Node) {
	l, r := n.ChildByFieldName("left"), n.ChildByFieldName("right")
	if l == nil || r == nil || !promptName.MatchString(lastName(f.text(l))) {
		return
	}
	if composing(r.Kind()) {
		if _, _, ok := f.holes(r); ok {
			return // judged where it is put together
		}
		if _, lit := f.literal(r); lit {
			return
		}
	}
	h := hole{r, f.text(r)}
	if why, bad := f.outside(h); bad {
		f.report(r, "PF001", h.label()+" is put into a prompt outside a fence: "+why)
	}
}

func (h hole) label() string {
	s := strings.Join(strings.Fields(h.expr), " ")
	if len(s) > 60 {
		s = s[:57] + "…"
	}
	return s
}

// outside reports whether an expression looks like text from outside.
func (f *file) outside(h hole) (why string, bad bool) {
	if len(h.expr) > 4000 {
		return "", false
	}
	switch h.n.Kind() {
	case "number", "integer", "float", "true", "false", "none", "null", "string":
		if h.n.Kind() != "string" {
			return "", false
		}
	case "call", "call_expression":
		fn := h.n.ChildByFieldName("function")
		name := lastName(f.text(fn))
		if f.p.fences[name] || f.p.tags[name] {
			return "", false // fenced; PF002 looks at how
		}
		switch name {
		case "len", "int", "float", "Number", "parseInt", "parseFloat", "Math", "toFixed", "round", "bool", "Boolean":
			return "", false
		}
	case "ternary_expression", "conditional_expression", "binary_expression", "binary_operator", "template_string":
		if _, _, ok := f.holes(h.n); ok {
			return "", false // judged by itself
		}
	}
	if outsideExpr.MatchString(h.expr) {
		return "it reads something from outside", true
	}
	for _, w := range identifier.FindAllString(h.expr, -1) {
		if from, ok := f.taint[w]; ok {
			return w + " comes from " + clip(from), true
		}
	}
	last := lastName(h.expr)
	if _, ok := f.consts[last]; ok || strings.ToUpper(last) == last {
		return "", false
	}
	if outsideName.MatchString(snake(last)) || outsideName.MatchString(last) {
		return "names like " + last + " usually hold outside text", true
	}
	return "", false
}

func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 50 {
		s = s[:47] + "…"
	}
	return s
}

// lastName is the last identifier of a member chain, calls and indexes stripped:
// a.b(c)[0].d gives d; a.b(c) gives b.
func lastName(expr string) string {
	depth, end := 0, len(expr)
	cut := expr
	for i := 0; i < len(expr); i++ {
		switch expr[i] {
		case '(', '[':
			if depth == 0 {
				end = i
			}
			depth++
		case ')', ']':
			depth--
		case '.':
			if depth == 0 {
				end = len(expr)
			}
		}
	}
	cut = expr[:end]
	ids := identifier.FindAllString(cut, -1)
	if len(ids) == 0 {
		return expr
	}
	return ids[len(ids)-1]
}

// promptShaped reports whether text that is put together here looks like a prompt:
// by what it is called, where it goes, or how it begins.
func (f *file) promptShaped(at int, text string) bool {
	if promptText.MatchString(text) {
		return true
	}
	for up := at + 1; up < at+9; up++ {
		p, child := f.up(up), f.up(up-1).n
		if p.n == nil {
			return false
		}
		switch p.kind {
		case "variable_declarator":
			return promptName.MatchString(f.text(p.n.ChildByFieldName("name")))
		case "assignment", "assignment_expression", "augmented_assignment", "augmented_assignment_expression":
			return promptName.MatchString(lastName(f.text(p.n.ChildByFieldName("left"))))
		case "pair", "keyword_argument":
			k := p.n.ChildByFieldName("key")
			if k == nil {
				k = p.n.ChildByFieldName("name")
			}
			switch key := strings.Trim(f.text(k), "\"'"); key {
			case "prompt", "system", "instructions", "systemPrompt", "system_prompt", "system_instruction", "systemInstruction":
				return true
			case "content", "text", "parts":
				if f.hasRole(f.up(up+1).n) || p.kind == "keyword_argument" && key == "content" {
					return true
				}
			}
		case "call", "call_expression", "new_expression":
			fn := p.n.ChildByFieldName("function")
			if fn == nil {
				fn = p.n.ChildByFieldName("constructor")
			}
			if fn != nil && !fn.Equals(*child) && promptCall.MatchString(lastName(f.text(fn))) {
				return true
			}
		case "return_statement":
			return f.inPromptFunction(up)
		case "arrow_function":
			b := p.n.ChildByFieldName("body")
			return b != nil && b.Equals(*child) && f.inPromptFunction(up-1)
		case "statement_block", "block", "function_declaration", "function_definition", "class_body", "program", "module":
			return false
		}
	}
	return false
}

// hasRole reports whether an object or dictionary has a role.
func (f *file) hasRole(obj *sitter.Node) bool {
	if obj == nil {
		return false
	}
	for i := range obj.NamedChildCount() {
		c := obj.NamedChild(i)
		if c.Kind() == "pair" && strings.Trim(f.text(c.ChildByFieldName("key")), "\"'") == "role" {
			return true
		}
	}
	return false
}

func (f *file) inPromptFunction(at int) bool {
	for up := at + 1; f.up(up).n != nil; up++ {
		switch p := f.up(up); p.kind {
		case "function_declaration", "function_definition", "method_definition":
			return promptName.MatchString(f.text(p.n.ChildByFieldName("name")))
		case "arrow_function", "function_expression":
			d := f.up(up + 1)
			return d.kind == "variable_declarator" && promptName.MatchString(f.text(d.n.ChildByFieldName("name")))
		}
	}
	return false
}

// call asks PF002 and PF003 of a call.
func (f *file) call(n *sitter.Node) {
	fn, args := n.ChildByFieldName("function"), n.ChildByFieldName("arguments")
	if fn == nil || args == nil || args.Kind() == "template_string" || args.NamedChildCount() == 0 {
		return
	}
	name := lastName(f.text(fn))
	fence, emitter := f.p.fences[name], f.p.o.Lanes != nil && f.p.emitters[name]
	if !fence && !emitter {
		return
	}
	arg := args.NamedChild(0)
	s, lit := f.literal(arg)
	if !lit && arg.Kind() == "identifier" {
		s, lit = f.consts[f.text(arg)]
	}
	if !lit {
		return
	}
	if fence {
		f.report(n, "PF002", name+" is looked up by the constant "+strconv.Quote(s)+": it covers that lane and no other")
		return
	}
	if !f.p.lanes[s] {
		f.report(arg, "PF003", "lane "+strconv.Quote(s)+" has no stanza in lanes.toml: declared are "+strings.Join(f.declared(), ", "))
	}
}

func (f *file) declared() []string {
	names := slices.Clone(f.p.o.Lanes)
	slices.Sort(names)
	if len(names) > 8 {
		names = append(names[:8], "…")
	}
	if len(names) == 0 {
		return []string{"none"}
	}
	return names
}

// ternary asks PF010: a fence on one branch alone.
func (f *file) ternary(n *sitter.Node) {
	var a, b *sitter.Node
	if f.py { // a if c else b
		if n.NamedChildCount() != 3 {
			return
		}
		a, b = n.NamedChild(0), n.NamedChild(2)
	} else {
		a, b = n.ChildByFieldName("consequence"), n.ChildByFieldName("alternative")
	}
	if a == nil || b == nil {
		return
	}
	fa, fb := f.isFence(a), f.isFence(b)
	if fa != fb {
		f.report(n, "PF010", "a condition skips the fence: one branch has it, the other does not")
	}
}

func (f *file) isFence(n *sitter.Node) bool {
	if k := n.Kind(); k != "call" && k != "call_expression" {
		return false
	}
	return f.p.fences[lastName(f.text(n.ChildByFieldName("function")))]
}
