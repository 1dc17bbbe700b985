package yamltree

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// plain reads a plain scalar, over several lines where it goes on. In block
// context its further lines are indented more than parent, and isKey says that
// it stopped at a ':' that makes it a key. In a flow collection the caller looks.
func (r *reader) plain(parent int, inFlow bool) (n *Node, isKey bool, err *Error) {
	off := r.pos
	n, err = r.node(Scalar, off)
	if err != nil {
		return nil, false, err
	}
	n.Plain, n.size = true, 1
	end := r.plainLine(inFlow)
	var folded []byte
	for r.src[r.pos] == '\n' {
		at, start, breaks := r.pos, 0, 0
		for r.src[at] == '\n' {
			at++
			breaks++
			for start = at; blank(r.src[at]); {
				at++
			}
		}
		c := r.src[at]
		if c == 0 || c == '#' || r.marker(start) {
			break
		}
		if inFlow {
			if flowMark(c) || c == ':' && (ends(r.src[at+1]) || flowMark(r.src[at+1])) {
				break
			}
		} else {
			spaces := 0
			for r.src[start+spaces] == ' ' {
				spaces++
			}
			if spaces <= parent {
				break
			}
		}
		if folded == nil {
			folded = append(folded, r.src[off:end]...)
		}
		folded = appendFold(folded, breaks)
		r.pos, r.start = at, start
		r.line += breaks
		end = r.plainLine(inFlow)
		folded = append(folded, r.src[at:end]...)
	}
	n.endsAt(end)
	if n.Text = r.src[off:end]; folded != nil {
		n.Text = string(folded)
	}
	switch r.src[r.pos] {
	case '#':
		stop := strings.IndexByte(r.src[r.pos:], '\n')
		if stop < 0 {
			stop = len(r.src) - 1 - r.pos
		}
		n.Comment = strings.TrimRight(r.src[r.pos:r.pos+stop], " \t")
	case ':':
		isKey = !inFlow
	}
	return n, isKey, nil
}

// plainLine moves to where the plain scalar ends on this line and gives the end
// of its text.
func (r *reader) plainLine(inFlow bool) int {
	src, i := r.src, r.pos
loop:
	for ; ; i++ {
		switch src[i] {
		case '\n', 0:
			break loop
		case ':':
			if next := src[i+1]; ends(next) || inFlow && flowMark(next) {
				break loop
			}
		case '#':
			if i > r.start && blank(src[i-1]) {
				break loop
			}
		case ',', '[', ']', '{', '}':
			if inFlow {
				break loop
			}
		}
	}
	end := i
	for end > r.pos && blank(src[end-1]) {
		end--
	}
	r.pos = i
	return end
}

// appendFold writes what line ends between two lines of text mean: one is a
// space, more are all but one of them.
func appendFold(b []byte, breaks int) []byte {
	if breaks == 1 {
		return append(b, ' ')
	}
	for range breaks - 1 {
		b = append(b, '\n')
	}
	return b
}

// quoted reads a single- or double-quoted scalar.
func (r *reader) quoted(q byte) (*Node, *Error) {
	n, err := r.node(Scalar, r.pos)
	if err != nil {
		return nil, err
	}
	n.size, n.style = 1, single
	if q == '"' {
		n.style = double
	}
	r.pos++
	i := r.pos
	for c := r.src[i]; c != q && c != '\\' && c != '\n' && c != 0; c = r.src[i] {
		i++
	}
	if r.src[i] == q && (q == '"' || r.src[i+1] != q) {
		n.Text = r.src[r.pos:i]
		r.pos = i + 1
		n.endsAt(r.pos)
		return n, nil
	}
	b := append([]byte(nil), r.src[r.pos:i]...)
	r.pos = i
	written := 0 // b up to here was not white space of the source, so folding keeps it
	for {
		switch c := r.src[r.pos]; {
		case c == 0:
			return nil, r.syntax("expected a closing %c for the one at %d:%d", q, n.Line, n.Column)
		case c == q && q == '\'' && r.src[r.pos+1] == q:
			b = append(b, q)
			r.pos += 2
		case c == q:
			r.pos++
			n.Text = string(b)
			n.endsAt(r.pos)
			return n, nil
		case c == '\\' && q == '"':
			if r.src[r.pos+1] == '\n' {
				r.pos++
				breaks, err := r.breaks()
				if err != nil {
					return nil, err
				}
				for range breaks - 1 {
					b = append(b, '\n')
				}
			} else if b, err = r.escape(b); err != nil {
				return nil, err
			}
			written = len(b)
		case c == '\n':
			for len(b) > written && blank(b[len(b)-1]) {
				b = b[:len(b)-1]
			}
			breaks, err := r.breaks()
			if err != nil {
				return nil, err
			}
			b = appendFold(b, breaks)
			written = len(b)
		default:
			b = append(b, c)
			r.pos++
		}
	}
}

// breaks moves over line ends and the white space that begins a line of a quoted scalar.
func (r *reader) breaks() (n int, err *Error) {
	for r.src[r.pos] == '\n' {
		r.newline()
		n++
		if r.marker(r.pos) {
			return n, r.syntax("expected a closing quote before the end of the document")
		}
		for blank(r.src[r.pos]) {
			r.pos++
		}
	}
	return n, nil
}

// escape reads one escape sequence of a double-quoted scalar.
func (r *reader) escape(b []byte) ([]byte, *Error) {
	c := r.src[r.pos+1]
	if s := simpleEscape(c); s != "" {
		r.pos += 2
		return append(b, s...), nil
	}
	digits := 0
	switch c {
	case '0':
		r.pos += 2
		return append(b, 0), nil
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		return nil, r.syntax("unknown escape \\%s: in single quotes a backslash is itself", shown(r.src[r.pos+1:]))
	}
	v, ok := r.hex(r.pos+2, digits)
	if !ok {
		return nil, r.syntax("expected %d hexadecimal digits after \\%c", digits, c)
	}
	from := r.pos
	r.pos += 2 + digits
	if utf16.IsSurrogate(v) && digits == 4 && r.src[r.pos] == '\\' && r.src[r.pos+1] == 'u' {
		// JSON writes a character outside the basic plane as two escapes.
		if low, ok := r.hex(r.pos+2, 4); ok {
			if pair := utf16.DecodeRune(v, low); pair != utf8.RuneError {
				v = pair
				r.pos += 6
			}
		}
	}
	if !utf8.ValidRune(v) {
		return nil, r.errorAt("MK103", from, "\\%c escape that is no character", c)
	}
	return utf8.AppendRune(b, v), nil
}

func (r *reader) hex(at, digits int) (rune, bool) {
	if at+digits > len(r.src) {
		return 0, false
	}
	v, err := strconv.ParseUint(r.src[at:at+digits], 16, 32)
	if err != nil || v > utf8.MaxRune {
		return 0, false
	}
	return rune(v), true
}

func simpleEscape(c byte) string {
	switch c {
	case 'a':
		return "\a"
	case 'b':
		return "\b"
	case 't', '\t':
		return "\t"
	case 'n':
		return "\n"
	case 'v':
		return "\v"
	case 'f':
		return "\f"
	case 'r':
		return "\r"
	case 'e':
		return "\x1b"
	case ' ', '"', '/', '\\':
		return string(rune(c))
	case 'N':
		return "\u0085"
	case '_':
		return "\u00a0"
	case 'L':
		return "\u2028"
	case 'P':
		return "\u2029"
	}
	return ""
}

func shown(s string) string {
	c, _ := utf8.DecodeRuneInString(s)
	if c == 0 {
		return ""
	}
	return string(c)
}

// blockScalar reads | or > of a collection with that indentation.
func (r *reader) blockScalar(parent int) (*Node, *Error) {
	n, err := r.node(Scalar, r.pos)
	if err != nil {
		return nil, err
	}
	n.size, n.style = 1, literal
	if r.src[r.pos] == '>' {
		n.style = folded
	}
	r.pos++
	chomp, explicit := byte(0), 0
	for range 2 {
		switch c := r.src[r.pos]; {
		case (c == '+' || c == '-') && chomp == 0:
			chomp = c
			r.pos++
		case c >= '1' && c <= '9' && explicit == 0:
			explicit = int(c - '0')
			r.pos++
		}
	}
	at := r.pos
	for blank(r.src[r.pos]) {
		r.pos++
	}
	if r.src[r.pos] == '#' && r.pos > at {
		r.comment()
	}
	if c := r.src[r.pos]; c != '\n' && c != 0 {
		return nil, r.syntax("expected the end of the line after the header of a block text, found %s", r.found())
	}
	if r.src[r.pos] == '\n' {
		r.newline()
	}
	indent := max(parent, 0) + explicit
	if explicit == 0 {
		if indent, err = r.detect(parent); err != nil {
			return nil, err
		}
	}
	n.endsAt(r.pos)
	if r.raw {
		n.raw.chomp, n.raw.indent = chomp, int32(indent)
	}
	n.Text = r.blockText(indent, n, chomp)
	return n, nil
}

// detect finds the indentation of a block text: that of its first line with
// text. Lines of spaces before it may not reach further.
func (r *reader) detect(parent int) (int, *Error) {
	widest, widestAt := 0, 0
	for at := r.pos; ; {
		start := at
		for r.src[at] == ' ' {
			at++
		}
		col := at - start
		if r.src[at] == '\n' {
			if col > widest {
				widest, widestAt = col, at
			}
			at++
			continue
		}
		if r.src[at] == 0 || col <= parent {
			return max(parent+1, widest, col), nil // no text
		}
		if widest > col {
			return 0, r.errorAt("MK103", min(widestAt, r.pos), "a blank line before a block text is indented further (%d) than its first line (%d)", widest, col)
		}
		return max(col, parent+1), nil
	}
}

// blockText reads the lines of a block text.
func (r *reader) blockText(indent int, n *Node, chomp byte) string {
	var b strings.Builder
	lineEnd := false   // the last line of text ended with a line end not yet written
	breaks := 0        // empty lines since then
	textBefore := true // the last line of text began with text, not white space
	for {
		at := r.pos
		for at-r.pos < indent && r.src[at] == ' ' {
			at++
		}
		if r.src[at] == '\n' {
			breaks++
			r.pos = at
			r.newline()
			continue
		}
		if at-r.pos < indent || r.src[at] == 0 || indent == 0 && r.marker(at) {
			if r.src[at] == 0 && at > r.pos {
				r.pos = at
			}
			break
		}
		text := !blank(r.src[at])
		if n.style == folded && lineEnd && textBefore && text {
			if breaks == 0 {
				b.WriteByte(' ')
			}
		} else if lineEnd {
			b.WriteByte('\n')
		}
		for range breaks {
			b.WriteByte('\n')
		}
		breaks, textBefore = 0, text
		end := strings.IndexByte(r.src[at:], '\n')
		if end < 0 {
			end = len(r.src) - 1 - at
		}
		b.WriteString(r.src[at : at+end])
		r.pos = at + end
		n.endsAt(r.pos)
		lineEnd = r.src[r.pos] == '\n'
		if lineEnd {
			r.newline()
		}
	}
	if lineEnd && chomp != '-' {
		b.WriteByte('\n')
	}
	if chomp == '+' {
		for range breaks {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
