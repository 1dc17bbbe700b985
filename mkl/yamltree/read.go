package yamltree

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Read parses one document. The node is nil when there is an error. All
// duplicate keys are reported; other problems stop at the first.
//
// An empty document, or one whose root is no mapping, is an error (MK105).
func Read(src []byte) (*Node, []*Error) {
	r, err := newReader(src)
	if err == nil {
		var root *Node
		if root, err = r.document(); err == nil {
			err = r.root(root)
		}
		if err == nil && len(r.errs) == 0 {
			return root, nil
		}
	}
	if err != nil {
		r.errs = append(r.errs, err)
	}
	return nil, r.errs
}

// reader reads a document by recursive descent. Its position is always within
// src, which ends in a NUL that no document can hold.
type reader struct {
	src   string
	pos   int
	line  int // of pos, from 1
	start int // offset where the line of pos begins

	known struct{ start, off, col int } // a column that was counted: of off, on the line that begins at start

	raw      bool // leave aliases and merge keys as they are and note comments: for Format
	comments []comment

	depth   int
	count   int // nodes so far, aliases expanded
	aliased bool
	anchors map[string]*Node // nil while the anchor's node is being read
	errs    []*Error         // duplicate keys
	slab    []Node
	stack   []*Node // entries of the collections being read
}

// comment is a comment as written, # included.
type comment struct {
	text string
	off  int
	line int
	own  bool // nothing but white space before it on its line
}

func newReader(src []byte) (*reader, *Error) {
	r := &reader{line: 1}
	r.known.col = 1
	if len(src) > MaxSize {
		return r, &Error{Code: "MK108", Message: fmt.Sprintf("the document has %d bytes: at most %d are read", len(src), MaxSize)}
	}
	if err := checkText(src); err != nil {
		return r, err
	}
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if bytes.IndexByte(src, '\r') >= 0 {
		src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
		src = bytes.ReplaceAll(src, []byte("\r"), []byte("\n"))
	}
	var b strings.Builder
	b.Grow(len(src) + 1)
	b.Write(src)
	b.WriteByte(0)
	r.src = b.String()
	return r, nil
}

// checkText refuses what is not UTF-8 and the characters that YAML forbids. It
// is what stops other encodings: UTF-16 has bytes that are no UTF-8, or NULs.
func checkText(src []byte) *Error {
	line, start := 1, 0
	for i := 0; i < len(src); {
		c := src[i]
		if c >= 0x20 && c < 0x7f {
			i++
			continue
		}
		size := 1
		bad := ""
		switch {
		case c == '\n':
			line, start = line+1, i+1
		case c == '\t' || c == '\r':
		case c < utf8.RuneSelf:
			bad = fmt.Sprintf("forbidden control character U+%04X", c)
		default:
			var r rune
			r, size = utf8.DecodeRune(src[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				bad = fmt.Sprintf("not UTF-8 (byte 0x%02x)", c)
			case r >= 0x80 && r < 0xa0 && r != 0x85, r == 0xfffe, r == 0xffff:
				bad = fmt.Sprintf("forbidden control character U+%04X", r)
			}
		}
		if bad != "" {
			return &Error{"MK102", line, utf8.RuneCount(src[start:i]) + 1, bad + " at byte " + strconv.Itoa(i)}
		}
		i += size
	}
	return nil
}

func (r *reader) errorAt(code string, off int, format string, args ...any) *Error {
	line, col := r.place(off)
	return &Error{code, line, col, fmt.Sprintf(format, args...)}
}

func (r *reader) syntax(format string, args ...any) *Error {
	return r.errorAt("MK103", r.pos, format, args...)
}

// place gives line and column of an offset on the current line or before it.
// Columns are counted from the last one asked for, because a document may well
// be one line of four megabytes with a node every two characters.
func (r *reader) place(off int) (line, col int) {
	if off < r.start {
		line = r.line - strings.Count(r.src[off:r.start], "\n")
		start := strings.LastIndexByte(r.src[:off], '\n') + 1
		return line, utf8.RuneCountInString(r.src[start:off]) + 1
	}
	if r.known.start != r.start {
		r.known.start, r.known.off, r.known.col = r.start, r.start, 1
	}
	if off < r.known.off {
		return r.line, r.known.col - utf8.RuneCountInString(r.src[off:r.known.off])
	}
	r.known.col += utf8.RuneCountInString(r.src[r.known.off:off])
	r.known.off = off
	return r.line, r.known.col
}

// node makes a node at off, which is on the current line or before it.
func (r *reader) node(kind Kind, off int) (*Node, *Error) {
	if r.count++; r.count > MaxNodes {
		return nil, r.tooMany()
	}
	if len(r.slab) == cap(r.slab) {
		r.slab = make([]Node, 0, min(128, 16+2*cap(r.slab)))
	}
	r.slab = r.slab[:len(r.slab)+1]
	n := &r.slab[len(r.slab)-1]
	n.Kind, n.off = kind, int32(off)
	if r.raw {
		n.raw = &written{mark: int32(off), at: int32(off)}
	}
	n.Line, n.Column = r.place(off)
	return n, nil
}

func (r *reader) tooMany() *Error {
	if r.aliased {
		return r.errorAt("MK107", r.pos, "with its aliases expanded the document has more than %d nodes", MaxNodes)
	}
	return r.errorAt("MK108", r.pos, "the document has more than %d nodes", MaxNodes)
}

func (r *reader) enter() *Error {
	if r.depth++; r.depth > MaxDepth {
		return r.errorAt("MK108", r.pos, "nested deeper than %d", MaxDepth)
	}
	return nil
}

func blank(c byte) bool    { return c == ' ' || c == '\t' }
func ends(c byte) bool     { return c == ' ' || c == '\n' || c == '\t' || c == 0 }
func flowMark(c byte) bool { return c == ',' || c == '[' || c == ']' || c == '{' || c == '}' }

// marker tells a document marker (--- or ...) at the start of the line at off.
func (r *reader) marker(off int) bool {
	s := r.src[off:]
	return len(s) > 3 && (s[:3] == "---" || s[:3] == "...") && ends(s[3])
}

func (r *reader) newline() {
	r.pos++
	r.line++
	r.start = r.pos
}

// column is the indentation of what stands at pos: there only spaces and
// indicators, all of one byte, come before it.
func (r *reader) column() int { return r.pos - r.start }

// ended reports the end of the document.
func (r *reader) ended() bool {
	return r.src[r.pos] == 0 || r.pos == r.start && r.marker(r.pos)
}

// fresh reports that nothing but spaces comes before pos on its line.
func (r *reader) fresh() bool {
	for _, c := range []byte(r.src[r.start:r.pos]) {
		if c != ' ' {
			return false
		}
	}
	return true
}

// skip moves over white space, comments and line ends to the next content, and
// reports whether that is on another line. A tab is no indentation, because
// nobody agrees about its width; inFlow has no indentation.
func (r *reader) skip(inFlow bool) (crossed bool, err *Error) {
	tab := -1
	for {
		switch c := r.src[r.pos]; c {
		case ' ':
			r.pos++
		case '\t':
			if tab < 0 && (crossed || r.pos == r.start) {
				tab = r.pos
			}
			r.pos++
		case '\n':
			r.newline()
			crossed, tab = true, -1
		case '#':
			if r.pos > r.start && !blank(r.src[r.pos-1]) {
				return crossed, nil
			}
			r.comment()
		default:
			if tab >= 0 && !inFlow && c != 0 {
				return crossed, r.errorAt("MK103", tab, "a tab cannot indent: use spaces")
			}
			return crossed, nil
		}
	}
}

// comment moves over the comment at pos, to the end of its line.
func (r *reader) comment() string {
	end := r.pos + strings.IndexByte(r.src[r.pos:], '\n')
	if end < r.pos {
		end = len(r.src) - 1
	}
	text := strings.TrimRight(r.src[r.pos:end], " \t")
	if r.raw {
		own := strings.Trim(r.src[r.start:r.pos], " \t") == ""
		r.comments = append(r.comments, comment{text, r.pos, r.line, own})
	}
	r.pos = end
	return text
}

func (r *reader) document() (*Node, *Error) {
	inline := false // content begins on the line of ---, where no block collection may
	directive := false
	for {
		if _, err := r.skip(false); err != nil {
			return nil, err
		}
		if r.src[r.pos] != '%' || r.pos != r.start {
			break
		}
		end := strings.IndexByte(r.src[r.pos:], '\n')
		if end < 0 {
			end = len(r.src) - 1 - r.pos
		}
		if f := strings.Fields(r.src[r.pos : r.pos+end]); f[0] != "%YAML" {
			return nil, r.syntax("unknown directive %s", f[0])
		}
		directive = true
		r.pos += end
	}
	if r.pos == r.start && r.marker(r.pos) && r.src[r.pos] == '-' {
		r.pos += 3
		inline = true
	} else if directive {
		return nil, r.syntax("expected --- after the directives")
	}
	root, err := r.block(-1, !inline, false)
	if err != nil {
		return nil, err
	}
	if _, err := r.skip(false); err != nil {
		return nil, err
	}
	if !r.ended() {
		if !r.fresh() {
			return nil, r.trailing()
		}
		return nil, r.syntax("expected the end of the document, found text that is indented less than what it follows")
	}
	for r.src[r.pos] != 0 {
		if r.src[r.pos] == '-' {
			return nil, r.errorAt("MK104", r.pos, "a second document begins on line %d: one is allowed", r.line)
		}
		r.pos += 3
		crossed, err := r.skip(false)
		if err != nil {
			return nil, err
		}
		if r.src[r.pos] == 0 {
			break
		}
		if !crossed {
			return nil, r.syntax("expected the end of the line after ...")
		}
		if !r.ended() {
			return nil, r.errorAt("MK104", r.pos, "a second document begins on line %d: one is allowed", r.line)
		}
	}
	return root, nil
}

// root checks that the document is a mapping.
func (r *reader) root(n *Node) *Error {
	switch {
	case n.Kind == Mapping:
		return nil
	case n.Empty:
		return &Error{"MK105", 1, 1, "the document is empty: expected a mapping"}
	}
	return &Error{"MK105", n.Line, n.Column, "the root is " + n.What() + ": expected a mapping"}
}

// trailing is the error for what follows a complete value on its line.
func (r *reader) trailing() *Error {
	if r.src[r.pos] == '#' {
		return r.syntax("a comment needs white space before its #")
	}
	return r.syntax("expected the end of the line, found %s", r.found())
}

// found shows what stands at pos, for messages.
func (r *reader) found() string {
	switch c := r.src[r.pos]; c {
	case 0:
		return "the end of the document"
	case '\n':
		return "the end of the line"
	}
	c, _ := utf8.DecodeRuneInString(r.src[r.pos:])
	return strconv.QuoteRune(c)
}

// props are the anchor and the tag before a node.
type props struct {
	anchor string
	tag    string
	off    int
	any    bool
}

// properties reads &anchor and !tag, in either order, and the white space after
// them. It reports whether a line end was crossed.
func (r *reader) properties(inFlow bool) (p props, crossed bool, err *Error) {
	for !crossed {
		c := r.src[r.pos]
		if c != '&' && c != '!' {
			break
		}
		from := r.pos
		if !p.any {
			p.off, p.any = from, true
		}
		if c == '&' {
			name, err := r.anchorName()
			if err != nil {
				return p, false, err
			}
			if p.anchor != "" {
				return p, false, r.errorAt("MK103", from, "a node can have one anchor")
			}
			p.anchor = name
			if !r.raw {
				if r.anchors == nil {
					r.anchors = map[string]*Node{}
				}
				r.anchors[name] = nil
			}
		} else {
			for c := r.src[r.pos]; !ends(c) && !(flowMark(c) && (c != ',' || inFlow)); c = r.src[r.pos] {
				r.pos++
			}
			tag, ok := coreTag(r.src[from:r.pos])
			if !ok {
				return p, false, r.errorAt("MK109", from, "the tag %s is not one of YAML's core tags", clip(r.src[from:r.pos]))
			}
			if p.tag != "" {
				return p, false, r.errorAt("MK103", from, "a node can have one tag")
			}
			p.tag = tag
		}
		if c := r.src[r.pos]; !ends(c) && !(inFlow && flowMark(c)) {
			return p, false, r.syntax("expected white space, found %s", r.found())
		}
		if crossed, err = r.skip(inFlow); err != nil {
			return p, crossed, err
		}
	}
	return p, crossed, nil
}

func coreTag(s string) (string, bool) {
	if t, ok := strings.CutPrefix(s, "!<tag:yaml.org,2002:"); ok {
		if t, ok = strings.CutSuffix(t, ">"); ok {
			s = "!!" + t
		}
	}
	switch s {
	case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!seq", "!!map":
		return s, true
	}
	return "", false
}

// anchorName reads the name behind & or *.
func (r *reader) anchorName() (string, *Error) {
	r.pos++
	from := r.pos
	for c := r.src[r.pos]; !ends(c) && !flowMark(c); c = r.src[r.pos] {
		if c == ':' && (ends(r.src[r.pos+1]) || flowMark(r.src[r.pos+1])) {
			break
		}
		r.pos++
	}
	if r.pos == from {
		return "", r.syntax("expected the name of an anchor, found %s", r.found())
	}
	return r.src[from:r.pos], nil
}

// attach gives a finished node its properties.
func (r *reader) attach(n *Node, p props) *Error {
	if !p.any {
		return nil
	}
	n.off = int32(p.off)
	if p.tag != "" {
		ok := n.Kind == Scalar && p.tag != "!!seq" && p.tag != "!!map" ||
			n.Kind == Sequence && p.tag == "!!seq" || n.Kind == Mapping && p.tag == "!!map"
		if !ok {
			return &Error{"MK203", n.Line, n.Column, "the tag " + p.tag + " stands before " + n.What()}
		}
		n.Tag, n.Plain = p.tag, false
		n.Empty = false // !!str and !!null make a value of nothing
	}
	switch {
	case r.raw:
		n.raw.anchor, n.raw.mark = p.anchor, n.off
	case p.anchor != "":
		r.anchors[p.anchor] = n
	}
	return nil
}

// aliasNode reads *name: a node that shares the tree of its anchor.
func (r *reader) aliasNode() (*Node, *Error) {
	off := r.pos
	name, err := r.anchorName()
	if err != nil {
		return nil, err
	}
	if r.raw {
		n, err := r.node(Scalar, off)
		if err == nil {
			n.raw.alias = name
			n.endsAt(r.pos)
		}
		return n, err
	}
	to, known := r.anchors[name]
	if !known {
		return nil, r.errorAt("MK107", off, "no anchor &%s before this alias", clip(name))
	}
	if to == nil {
		return nil, r.errorAt("MK107", off, "the alias *%s stands inside its own anchor", clip(name))
	}
	r.aliased = true
	if r.depth+int(to.height) > MaxDepth {
		return nil, r.errorAt("MK108", off, "with *%s expanded, nested deeper than %d", clip(name), MaxDepth)
	}
	n, err := r.node(to.Kind, off)
	if err != nil {
		return nil, err
	}
	if r.count += int(to.size) - 1; r.count > MaxNodes {
		return nil, r.tooMany()
	}
	line, column := n.Line, n.Column
	*n = *to
	n.Line, n.Column, n.FromAlias, n.Comment = line, column, true, ""
	n.off = int32(off)
	return n, nil
}

// empty makes the node of nothing at off.
func (r *reader) empty(off int, p props) (*Node, *Error) {
	n, err := r.node(Scalar, off)
	if err != nil {
		return nil, err
	}
	n.Plain, n.Empty, n.size = true, true, 1
	n.endsAt(off)
	return n, r.attach(n, p)
}

// block reads the node behind an indicator of a block collection, or the root.
// parent is the indentation of that collection, -1 for the root. compact: a
// block collection may begin on this line. list: "- " at the parent's own
// indentation belongs to the node, which is the value of a mapping.
func (r *reader) block(parent int, compact, list bool) (*Node, *Error) {
	from := r.pos
	crossed, err := r.skip(false)
	if err != nil {
		return nil, err
	}
	if r.ended() || crossed && r.outdented(parent, list) {
		return r.empty(from, props{})
	}
	if compact && !crossed && from > 0 && strings.IndexByte(r.src[from:r.pos], '\t') >= 0 {
		compact = false // "-\t- a": a tab would indent the inner collection
	}
	first := r.pos // of the properties, or of the content
	outer, over, err := r.properties(false)
	if err != nil {
		return nil, err
	}
	if !over && !r.ended() {
		return r.content(parent, first, crossed || compact, props{}, outer)
	}
	if r.ended() || r.outdented(parent, list) {
		return r.empty(outer.off, outer)
	}
	first = r.pos
	inner, over, err := r.properties(false)
	if err != nil {
		return nil, err
	}
	if over {
		return nil, r.errorAt("MK103", first, "expected a value after the anchor or tag")
	}
	return r.content(parent, first, true, outer, inner)
}

// outdented reports that what stands at pos, first on its line, is outside a
// collection with that indentation.
func (r *reader) outdented(parent int, list bool) bool {
	col := r.column()
	return col < parent || col == parent && !(list && r.item())
}

// item reports "- " at pos.
func (r *reader) item() bool { return r.src[r.pos] == '-' && ends(r.src[r.pos+1]) }

// content reads the node at pos. outer are properties of an earlier line: they
// belong to the whole node. inner are those of this line: they belong to the
// first key when the node turns out to be a mapping. first is where the inner
// ones begin. open: a block collection may begin here.
func (r *reader) content(parent, first int, open bool, outer, inner props) (n *Node, err *Error) {
	col := first - r.start
	c := r.src[r.pos]
	if (c == '-' || c == '?') && ends(r.src[r.pos+1]) {
		if !open || inner.any {
			return nil, r.syntax("a block collection cannot begin here: expected it on a line of its own")
		}
		if c == '-' {
			n, err = r.blockSequence(col)
		} else {
			n, err = r.blockMapping(col, nil)
		}
		if err != nil {
			return nil, err
		}
		return n, r.attach(n, outer)
	}
	if c == '|' || c == '>' {
		p, err := r.one(outer, inner)
		if err != nil {
			return nil, err
		}
		n, err := r.blockScalar(parent)
		if err != nil {
			return nil, err
		}
		return n, r.attach(n, p)
	}
	line := r.line
	n, isKey, err := r.inline(parent)
	if err != nil {
		return nil, err
	}
	if isKey {
		if line != r.line {
			return nil, r.syntax("a key stands on one line: expected no ':' here, or quotes around the text")
		}
		if !open {
			return nil, r.syntax("a mapping cannot begin here: if the ':' belongs to the text, put quotes around it")
		}
		if err := r.attach(n, inner); err != nil {
			return nil, err
		}
		if n, err = r.blockMapping(col, n); err != nil {
			return nil, err
		}
		return n, r.attach(n, outer)
	}
	p, err := r.one(outer, inner)
	if err != nil {
		return nil, err
	}
	if p.any && (n.FromAlias || n.raw != nil && n.raw.alias != "") {
		return nil, &Error{"MK103", n.Line, n.Column, "an alias can have no anchor or tag of its own"}
	}
	return n, r.attach(n, p)
}

// one joins the two places of properties of a node that is no mapping.
func (r *reader) one(outer, inner props) (props, *Error) {
	if !outer.any {
		return inner, nil
	}
	if inner.any {
		if outer.anchor != "" && inner.anchor != "" || outer.tag != "" && inner.tag != "" {
			return outer, r.errorAt("MK103", inner.off, "a node can have one anchor and one tag")
		}
		outer.anchor += inner.anchor
		outer.tag += inner.tag
	}
	return outer, nil
}

// inline reads an alias, a quoted or plain scalar or a flow collection in block
// context. isKey: a ':' follows that makes it a key; pos is then at the ':'.
func (r *reader) inline(parent int) (n *Node, isKey bool, err *Error) {
	switch c := r.src[r.pos]; c {
	case '*':
		n, err = r.aliasNode()
	case '"', '\'':
		n, err = r.quoted(c)
	case '[', '{':
		n, err = r.flow()
	case ']', '}', ',', '%', '@', '`', '#':
		return nil, false, r.syntax("a text cannot begin with %s: put quotes around it", r.found())
	default:
		if c == ':' && ends(r.src[r.pos+1]) {
			return nil, false, r.syntax("expected a key before the ':'")
		}
		if (c == '-' || c == '?') && ends(r.src[r.pos+1]) {
			return nil, false, r.syntax("expected a key, found an item")
		}
		if c == '|' || c == '>' || c == '&' || c == '!' {
			return nil, false, r.syntax("expected a key, found %s", r.found())
		}
		return r.plain(parent, false)
	}
	if err != nil {
		return nil, false, err
	}
	at := r.pos
	for blank(r.src[at]) {
		at++
	}
	if r.src[at] == ':' && ends(r.src[at+1]) {
		r.pos = at
		isKey = true
	}
	return n, isKey, nil
}

func (r *reader) blockSequence(indent int) (*Node, *Error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	before := r.count
	n, err := r.node(Sequence, r.pos)
	if err != nil {
		return nil, err
	}
	base := len(r.stack)
	for {
		dash := r.pos
		r.pos++
		item, err := r.block(indent, true, false)
		if err != nil {
			return nil, err
		}
		if r.raw {
			item.raw.mark = int32(dash)
		}
		r.stack = append(r.stack, item)
		n.height = max(n.height, item.height)
		if done, err := r.next(indent); done || err != nil {
			if err != nil {
				return nil, err
			}
			break
		}
		if !r.item() {
			break // the key that follows a list at its parent's indentation, or an error there
		}
	}
	n.style = block
	r.finishSequence(n, base, before)
	return n, nil
}

func (r *reader) finishSequence(n *Node, base, before int) {
	n.Items = append([]*Node(nil), r.stack[base:]...)
	r.stack = r.stack[:base]
	r.depth--
	n.height++
	n.size = int32(r.count - before)
}

// next moves to the next entry of a block collection, or reports its end.
func (r *reader) next(indent int) (done bool, err *Error) {
	if _, err := r.skip(false); err != nil {
		return false, err
	}
	if r.ended() {
		return true, nil
	}
	if !r.fresh() {
		return false, r.trailing()
	}
	switch col := r.column(); {
	case col < indent:
		return true, nil
	case col > indent:
		return false, r.syntax("indented by %d, expected %d or less%s", col, indent, r.cut())
	}
	return false, nil
}

// cut explains an error after a plain scalar that a comment ended: text that
// goes on behind a comment is what authors of prose run into.
func (r *reader) cut() string {
	before := strings.TrimRight(r.src[:r.start], "\n")
	before = before[strings.LastIndexByte(before, '\n')+1:]
	if strings.Contains(before, " #") {
		return " (the # before began a comment and ended its text: put quotes around that)"
	}
	return ""
}

// blockMapping reads a mapping whose keys stand at indent. key is the first
// one when it has been read: pos is then at its ':'.
func (r *reader) blockMapping(indent int, key *Node) (*Node, *Error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	before := r.count
	off := r.pos
	if key != nil {
		off = int(key.off)
		before--
	}
	n, err := r.node(Mapping, off)
	if err != nil {
		return nil, err
	}
	base := len(r.stack)
	for {
		explicit := false
		if key == nil {
			if r.src[r.pos] == '?' && ends(r.src[r.pos+1]) {
				explicit = true
				mark := r.pos
				r.pos++
				if key, err = r.block(indent, true, false); err != nil {
					return nil, err
				}
				if r.raw {
					key.raw.mark = int32(mark)
				}
			} else if key, err = r.key(); err != nil {
				return nil, err
			}
		}
		if err := checkKey(key); err != nil {
			return nil, err
		}
		var val *Node
		if explicit {
			done, err := r.next(indent)
			if err != nil {
				return nil, err
			}
			if done || r.src[r.pos] != ':' || !ends(r.src[r.pos+1]) {
				val, err = r.empty(r.pos, props{})
			} else {
				r.pos++
				val, err = r.block(indent, true, true)
			}
			if err != nil {
				return nil, err
			}
		} else {
			r.pos++ // the ':'
			if val, err = r.block(indent, false, true); err != nil {
				return nil, err
			}
		}
		r.stack = append(r.stack, key, val)
		n.height = max(n.height, val.height)
		key = nil
		done, err := r.next(indent)
		if err != nil {
			return nil, err
		}
		if done {
			break
		}
	}
	n.style = block
	return n, r.finishMapping(n, base, before)
}

// key reads an implicit key of a block mapping up to its ':'.
func (r *reader) key() (*Node, *Error) {
	p, over, err := r.properties(false)
	if err != nil {
		return nil, err
	}
	line := r.line
	if over {
		return nil, r.syntax("expected a key")
	}
	n, isKey, err := r.inline(1 << 30) // no continuation line is indented that far
	if err != nil {
		return nil, err
	}
	if !isKey || line != r.line {
		return nil, r.errorAt("MK103", int(n.off), "expected a key and ':'%s", r.cut())
	}
	return n, r.attach(n, p)
}

func checkKey(k *Node) *Error {
	if k.Kind != Scalar {
		hint := ""
		if k.style == flow && k.Kind == Mapping && !k.FromAlias {
			hint = " (a text that begins with {{ wants quotes around it)"
		}
		return &Error{"MK103", k.Line, k.Column, "a key is a text, found " + k.What() + hint}
	}
	if k.Empty {
		return &Error{"MK103", k.Line, k.Column, "expected a key, found nothing"}
	}
	return nil
}

// What names the kind of a node for messages.
func (n *Node) What() string {
	switch {
	case n.Kind == Mapping:
		return "a mapping"
	case n.Kind == Sequence:
		return "a list"
	case n.Empty:
		return "nothing"
	case n.Tag == "!!int":
		return "an integer"
	case n.Tag == "!!float":
		return "a float"
	case n.Tag == "!!bool":
		return "a boolean"
	case n.Tag == "!!null":
		return "null"
	case !n.Plain:
		return "a string"
	}
	return "‹" + clip(n.Text) + "›"
}

// clip shortens a text for a message.
func clip(s string) string {
	const most = 40
	i := 0
	for at := range s {
		if i == most {
			return s[:at] + "…"
		}
		i++
	}
	return s
}
