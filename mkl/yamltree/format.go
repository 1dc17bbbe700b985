package yamltree

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/value"
)

// Layout tells Format in which position the scalars of a document stand. A nil
// *Layout is a place that Format knows nothing about: it leaves the scalars
// there as they are.
type Layout struct {
	Position Position           // of a scalar that stands here
	Keys     map[string]*Layout // of a mapping: what stands under these keys
	Rest     *Layout            // of a mapping: what stands under every other key
	Items    *Layout            // of a list
}

func (l *Layout) key(name string) *Layout {
	if l == nil {
		return nil
	}
	if under, ok := l.Keys[name]; ok {
		return under
	}
	return l.Rest
}

func (l *Layout) item() *Layout {
	if l == nil {
		return nil
	}
	return l.Items
}

// Format rewrites a document in the standard layout. Every comment stays, and
// so does the order of everything. It is idempotent, and the document reads the
// same before and after, which Format checks before it returns.
//
//   - two spaces a level, list items indented under their key, one blank line
//     at most between entries, a comment at the indentation of what it precedes,
//     two spaces before one at the end of a line;
//   - a flow collection that stands on one line stays one, { a: b } and [a, b];
//     one that spans lines becomes block;
//   - text of several lines becomes a block text, except a plain scalar that a
//     comment ended: that is left for lint to find (MK401);
//   - a plain scalar that a YAML 1.1 reader takes for something else gets quotes,
//     or, where a number is meant, the notation on which all readers agree;
//   - no BOM, no document markers, no directives, LF line ends.
//
// The errors are those of Read.
func Format(src []byte, layout *Layout) ([]byte, error) {
	before, errs := Read(src)
	if before == nil {
		joined := make([]error, len(errs))
		for i, e := range errs {
			joined[i] = e
		}
		return nil, errors.Join(joined...)
	}
	r, _ := newReader(src)
	r.raw = true
	root, err := r.document()
	if err != nil {
		return nil, err
	}
	p := printer{r: r, comments: r.comments}
	end := len(r.src)
	p.block(root, 0, layout, end, -1, -1, false)
	p.heads(end, 0, false)
	if len(p.out) > MaxSize {
		return nil, fmt.Errorf("the document would have %d bytes after formatting: at most %d are read", len(p.out), MaxSize)
	}
	after, errs := Read(p.out)
	if after == nil {
		return nil, fmt.Errorf("formatting would break the document: %w", errs[0])
	}
	if at := differ(before, after, layout); at != nil {
		return nil, fmt.Errorf("formatting would change what line %d means", at.Line)
	}
	return p.out, nil
}

// differ finds a node that does not read the same in two trees.
func differ(a, b *Node, l *Layout) *Node {
	if a.Kind != b.Kind || len(a.Keys) != len(b.Keys) || len(a.Items) != len(b.Items) {
		return a
	}
	switch a.Kind {
	case Mapping:
		for i, k := range a.Keys {
			if k.Text != b.Keys[i].Text {
				return k
			}
			if at := differ(a.Values[i], b.Values[i], l.key(k.Text)); at != nil {
				return at
			}
		}
	case Sequence:
		for i := range a.Items {
			if at := differ(a.Items[i], b.Items[i], l.item()); at != nil {
				return at
			}
		}
	default:
		if !sameScalar(a, b, l) {
			return a
		}
	}
	return nil
}

func sameScalar(a, b *Node, l *Layout) bool {
	switch {
	case l == nil:
		return a.Text == b.Text && a.Tag == b.Tag && a.Empty == b.Empty && (a.Plain == b.Plain || strings.ContainsAny(a.Text, " \n"))
	case l.Position == Free:
		x, ex := a.AsValue()
		y, ey := b.AsValue()
		return (ex == nil) == (ey == nil) && x.Kind() == y.Kind() && value.Equal(x, y)
	case l.Position == Int:
		x, ex := a.AsInt()
		y, ey := b.AsInt()
		return (ex == nil) == (ey == nil) && x == y
	case l.Position == Bool:
		x, ex := a.AsBool()
		y, ey := b.AsBool()
		return (ex == nil) == (ey == nil) && x == y
	}
	x, ex := a.AsString()
	y, ey := b.AsString()
	return (ex == nil) == (ey == nil) && x == y
}

// printer writes a raw tree. Its cursor into the comments only moves forward:
// each one is written at the first place that claims it.
type printer struct {
	r        *reader
	out      []byte
	comments []comment
	keep     bool // a block text that keeps its last empty lines was just written: no blank line may follow
}

const step = 2

func (p *printer) pad(indent int) {
	p.keep = false
	for range indent {
		p.out = append(p.out, ' ')
	}
}

func (p *printer) line(indent int, s string) {
	p.pad(indent)
	p.out = append(append(p.out, s...), '\n')
}

// blankBefore keeps one of the blank lines that come before off in the source.
func (p *printer) blankBefore(off int, first bool) {
	if first || p.keep || len(p.out) == 0 || bytes.HasSuffix(p.out, []byte("\n\n")) {
		return
	}
	before := p.r.src[:off]
	before = strings.TrimRight(before, " \t")
	if rest, ok := strings.CutSuffix(before, "\n"); ok && strings.HasSuffix(strings.TrimRight(rest, " \t"), "\n") {
		p.out = append(p.out, '\n')
	}
}

// heads writes the comments before limit on lines of their own.
func (p *printer) heads(limit, indent int, first bool) {
	for len(p.comments) > 0 && p.comments[0].off < limit {
		c := p.comments[0]
		p.comments = p.comments[1:]
		if c.own {
			p.blankBefore(c.off, first)
		}
		p.line(indent, c.text)
		first = false
	}
}

// feet writes the comments that end a collection: those that stand at its own
// column or further in, and further in than the entry that follows it.
func (p *printer) feet(limit, indent, column, next int) {
	for len(p.comments) > 0 && p.comments[0].own && p.comments[0].off < limit {
		c := p.comments[0]
		if at := p.columnOf(c.off); at < column || at <= next {
			return
		}
		p.comments = p.comments[1:]
		p.blankBefore(c.off, false)
		p.line(indent, c.text)
	}
}

func (p *printer) columnOf(off int) int {
	return off - 1 - strings.LastIndexByte(p.r.src[:off], '\n')
}

// trailing writes the comment at the end of the line that has just been written.
func (p *printer) trailing(limit int) bool {
	if len(p.comments) == 0 || p.comments[0].own || p.comments[0].off >= limit {
		return false
	}
	p.out = append(append(p.out, "  "...), p.comments[0].text...)
	p.comments = p.comments[1:]
	return true
}

func first(n *Node) *Node {
	if n.Kind == Mapping {
		return n.Keys[0]
	}
	return n.Items[0]
}

func length(n *Node) int { return len(n.Keys) + len(n.Items) }

// inline reports that a collection stays in flow style: it is empty, or stands
// on one line.
func (p *printer) inline(n *Node) bool {
	return n.style == flow && (length(n) == 0 || strings.IndexByte(p.r.src[n.raw.at:n.raw.end], '\n') < 0)
}

// block writes a collection in block style, each entry on lines of its own at
// indent. limit is where what follows it begins, next the column of that, both
// in the source; parent is the source column of the collection around it.
// compact: the first entry goes on on the current line.
func (p *printer) block(n *Node, indent int, l *Layout, limit, next, parent int, compact bool) {
	if n.Kind == Scalar || length(n) == 0 { // the root alone: {} and its comments
		p.heads(int(n.raw.at), indent, true)
		p.out = append(p.out, p.flow(n, l)...)
		p.trailing(limit)
		p.out = append(p.out, '\n')
		return
	}
	column := max(p.columnOf(int(n.raw.at)), parent+1)
	wasFlow := n.style == flow
	count := length(n)
	for i := range count {
		after, afterColumn := limit, next
		var entry, val *Node
		var under *Layout
		following := func() *Node { return n.Keys[i+1] }
		if n.Kind == Mapping {
			entry, val = n.Keys[i], n.Values[i]
			under = l.key(entry.Text)
		} else {
			entry, val = n.Items[i], n.Items[i]
			under = l.item()
			following = func() *Node { return n.Items[i+1] }
		}
		if i+1 < count {
			after, afterColumn = int(following().raw.mark), column
		} else if wasFlow {
			after, afterColumn = int(n.raw.end), -1
		}
		if !compact || i > 0 {
			head := p.lead(entry, n.Kind == Sequence)
			first := i == 0
			if len(p.comments) > 0 && p.comments[0].off > int(entry.raw.mark) {
				p.blankBefore(int(entry.raw.mark), first)
				first = true
			}
			had := len(p.comments)
			p.heads(head, indent, first)
			p.blankBefore(int(entry.raw.mark), first && len(p.comments) == had)
			p.pad(indent)
		}
		p.keep = false
		if n.Kind == Mapping {
			p.out = append(append(p.out, p.key(entry)...), ':')
		} else {
			p.out = append(p.out, '-')
		}
		p.value(val, indent, under, after, afterColumn, column, n.Kind == Sequence)
	}
	if wasFlow {
		p.heads(int(n.raw.end), indent, false)
		return
	}
	p.feet(limit, indent, column, next)
}

// lead is where the text of an entry begins in the source. A list item that
// opens with a collection on its own line begins where the innermost one does:
// comments on the way there go before it.
func (p *printer) lead(n *Node, item bool) int {
	for item && n.Kind != Scalar && !p.inline(n) && n.off == n.raw.at {
		inner := first(n)
		for _, c := range p.comments {
			if c.off >= int(inner.raw.mark) {
				break
			}
			if !c.own {
				return int(n.raw.mark)
			}
		}
		item = n.Kind == Sequence
		n = inner
	}
	return int(n.raw.mark)
}

// value writes what stands behind "key:" or "-", and the end of its line.
func (p *printer) value(n *Node, indent int, l *Layout, limit, next, column int, item bool) {
	props := p.props(n)
	if props != "" {
		p.out = append(append(p.out, ' '), props...)
	}
	if n.Kind != Scalar && !p.inline(n) {
		inner := int(first(n).raw.mark)
		if n.style == flow {
			p.hoist(n, inner)
		}
		commented := p.trailing(inner)
		if item && props == "" && !commented {
			p.out = append(p.out, ' ')
			p.block(n, indent+step, l, limit, next, column, true)
			return
		}
		p.out = append(p.out, '\n')
		p.block(n, indent+step, l, limit, next, column, false)
		return
	}
	if n.Kind != Scalar {
		p.out = append(append(p.out, ' '), p.flowCollection(n, l)...)
		p.trailing(limit)
		p.out = append(p.out, '\n')
		return
	}
	head, lines := p.scalar(n, l, false)
	if head != "" {
		p.out = append(append(p.out, ' '), head...)
	}
	if lines == nil || n.style >= literal || n.Comment == "" {
		p.trailing(limit)
	}
	p.out = append(p.out, '\n')
	for i, s := range lines {
		if s != "" {
			p.pad(indent + step)
			p.out = append(p.out, s...)
		}
		if i == len(lines)-1 && n.style == plain && n.Comment != "" {
			p.trailing(limit)
		}
		p.out = append(p.out, '\n')
	}
	p.keep = head != "" && (head[0] == '|' || head[0] == '>') && head[len(head)-1] == '+'
}

// hoist moves the comment behind the closing bracket of a flow collection that
// becomes block to the line that opens it, unless there is one already.
func (p *printer) hoist(n *Node, inner int) {
	if len(p.comments) > 0 && !p.comments[0].own && p.comments[0].off < inner {
		return
	}
	for i, c := range p.comments {
		if c.off < int(n.raw.end) {
			continue
		}
		if !c.own && strings.IndexByte(p.r.src[n.raw.end:c.off], '\n') < 0 {
			rest := append([]comment{c}, p.comments[:i]...)
			p.comments = append(rest, p.comments[i+1:]...)
			p.comments[0].off = int(n.raw.at)
		}
		return
	}
}

func (p *printer) props(n *Node) string {
	s := ""
	if n.raw.anchor != "" {
		s = "&" + n.raw.anchor
	}
	if n.Tag != "" {
		if s != "" {
			s += " "
		}
		s += n.Tag
	}
	return s
}

func (p *printer) key(n *Node) string {
	s := p.props(n)
	if s != "" {
		s += " "
	}
	switch oneLine := strings.IndexByte(p.r.src[n.raw.at:n.raw.end], '\n') < 0; {
	case n.raw.alias != "":
		return "*" + n.raw.alias + " "
	case n.style >= literal || !oneLine || n.Text == "":
		return s + quote(n.Text)
	case n.Plain && isMerge(n):
		return s + n.Text
	case n.Plain && n.Legacy(String) != "":
		return s + quote(n.Text)
	}
	return s + p.r.src[n.raw.at:n.raw.end]
}

// flow writes a node on one line, properties included.
func (p *printer) flow(n *Node, l *Layout) string {
	s := p.props(n)
	if s != "" {
		s += " "
	}
	if n.Kind == Scalar {
		head, _ := p.scalar(n, l, true)
		return s + head
	}
	return s + p.flowCollection(n, l)
}

func (p *printer) flowCollection(n *Node, l *Layout) string {
	var b strings.Builder
	if n.Kind == Sequence {
		b.WriteByte('[')
		for i, item := range n.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(p.flow(item, l.item()))
		}
		b.WriteByte(']')
		return b.String()
	}
	if len(n.Keys) == 0 {
		return "{}"
	}
	b.WriteByte('{')
	for i, k := range n.Keys {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte(' ')
		b.WriteString(p.key(k))
		b.WriteByte(':')
		if v := p.flow(n.Values[i], l.key(k.Text)); v != "" {
			b.WriteByte(' ')
			b.WriteString(v)
		}
	}
	b.WriteString(" }")
	return b.String()
}

// scalar gives a scalar as it is written: the rest of its line, and the lines
// after that.
func (p *printer) scalar(n *Node, l *Layout, inFlow bool) (head string, lines []string) {
	if n.raw.alias != "" {
		return "*" + n.raw.alias, nil
	}
	source := p.r.src[n.raw.at:n.raw.end]
	oneLine := strings.IndexByte(source, '\n') < 0
	switch {
	case n.style >= literal:
		return p.blockText(n)
	case n.Plain && oneLine:
		return restate(n, l), nil
	case n.style == plain && oneLine: // tagged
		return source, nil
	case n.style == plain:
		lines = strings.Split(source, "\n")
		for i := range lines {
			lines[i] = strings.Trim(lines[i], " \t")
		}
		if n.Comment != "" || n.Tag != "" {
			return lines[0], lines[1:]
		}
		return ">-", lines
	case !inFlow && strings.Contains(strings.TrimRight(n.Text, "\n"), "\n") && l != nil && literalText(n.Text) && n.Tag == "":
		return literalLines(n.Text)
	case oneLine:
		return source, nil
	case strings.Contains(n.Text, "\n") || n.Tag != "":
		return quote(n.Text), nil
	}
	if lines = wrap(n.Text); lines != nil {
		return ">-", lines
	}
	return quote(n.Text), nil
}

// blockText writes | and > with the lines they have.
func (p *printer) blockText(n *Node) (head string, lines []string) {
	header, body, _ := strings.Cut(p.r.src[n.raw.at:n.raw.end], "\n")
	head = header[:1]
	if body != "" {
		for _, s := range strings.Split(body, "\n") {
			spaces := 0
			for spaces < int(n.raw.indent) && spaces < len(s) && s[spaces] == ' ' {
				spaces++
			}
			lines = append(lines, s[spaces:])
		}
	}
	if needsIndicator(lines) {
		head += strconv.Itoa(step)
	}
	ends := len(n.Text) - len(strings.TrimRight(n.Text, "\n"))
	switch {
	case n.raw.chomp == '-' || ends == 0 && len(lines) > 0: // or the document ended without a line end
		head += "-"
	case n.raw.chomp == '+':
		head += "+"
		if len(lines) > 0 {
			ends--
		}
		for range ends {
			lines = append(lines, "")
		}
	}
	return head, lines
}

// needsIndicator reports that the indentation of a block text cannot be seen:
// white space begins its first line with text, or is all that an earlier line has.
func needsIndicator(lines []string) bool {
	for _, s := range lines {
		if s != "" {
			return s[0] == ' ' || s[0] == '\t'
		}
	}
	return false
}

// literalText reports that a text can be written as |: it has text, and every
// character of it can stand in a document and means the same to every reader.
func literalText(s string) bool {
	if strings.Trim(s, " \t\n") == "" {
		return false
	}
	for _, c := range s {
		if c < 0x20 && c != '\n' && c != '\t' || !printable(c) && c >= 0x20 {
			return false
		}
	}
	return true
}

// printable reports characters that can be written as they are in quotes.
func printable(c rune) bool {
	switch {
	case c < 0x20, c >= 0x7f && c < 0xa0, c == 0x2028, c == 0x2029, c == 0xfeff, c == 0xfffe, c == 0xffff:
		return false
	}
	return true
}

func literalLines(s string) (head string, lines []string) {
	body := strings.TrimRight(s, "\n")
	end := len(s) - len(body)
	lines = strings.Split(body, "\n")
	head = "|"
	if needsIndicator(lines) {
		head += strconv.Itoa(step)
	}
	switch end {
	case 0:
		head += "-"
	case 1:
	default:
		head += "+"
		for range end - 1 {
			lines = append(lines, "")
		}
	}
	return head, lines
}

// wrap breaks a text of one line at single spaces, near eighty characters. It
// gives nil for a text that would not fold back to itself.
func wrap(s string) []string {
	const width = 80
	if s == "" || blank(s[0]) || blank(s[len(s)-1]) || !literalText(s) {
		return nil
	}
	var lines []string
	start, last, chars := 0, -1, 0
	for i, c := range s {
		if c == ' ' && s[i-1] != ' ' && s[i-1] != '\t' && s[i+1] != ' ' && s[i+1] != '\t' {
			if chars > width && last > start {
				lines = append(lines, s[start:last])
				chars = utf8.RuneCountInString(s[last+1 : i])
				start = last + 1
			}
			last = i
		}
		chars++
	}
	if chars > width && last > start {
		lines = append(lines, s[start:last])
		start = last + 1
	}
	return append(lines, s[start:])
}

// restate writes a plain scalar of one line: as it is, or, where a YAML 1.1
// reader takes it for something else, so that it does not.
func restate(n *Node, l *Layout) string {
	if l == nil || n.Legacy(l.Position) == "" {
		return n.Text
	}
	switch l.Position {
	case String:
		return quote(n.Text)
	case Int:
		if i, err := n.AsInt(); err == nil {
			return strconv.Itoa(i)
		}
	case Free:
		v, err := n.AsValue()
		if err != nil {
			return n.Text
		}
		switch v.Kind() {
		case value.String:
			return quote(n.Text)
		case value.Int:
			return v.JSON()
		case value.Float:
			s := v.JSON()
			if mantissa, exponent, ok := strings.Cut(s, "e"); ok && !strings.Contains(mantissa, ".") {
				s = mantissa + ".0e" + exponent
			}
			return s
		}
	}
	return n.Text
}

// quote writes a text in double quotes.
func quote(s string) string {
	b := []byte{'"'}
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', byte(c))
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < 0x100 && !printable(c):
			b = fmt.Appendf(b, `\x%02x`, c)
		case !printable(c):
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = utf8.AppendRune(b, c)
		}
	}
	return string(append(b, '"'))
}
