package lane

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Format is a lane file in the standard layout: one space around =, inline tables and
// lists on a line of their key, a blank line before a stanza and never two, no
// indentation, no byte order mark, LF line ends. Nothing is put into another order, no
// comment is lost, and what the file says stays the same; Format of a formatted file
// gives it back. An error is an *Error each: that the text is no TOML.
func Format(file string, text []byte) ([]byte, error) {
	d := readTOML(file, text)
	if len(d.errs) > 0 {
		return nil, d.err()
	}
	f := formatter{text: d.text}
	f.p.KeepComments = true
	f.p.Reset(d.text)
	for f.p.NextExpression() {
		f.expression(f.p.Expression())
	}
	f.flush()
	return f.out.Bytes(), nil
}

type formatter struct {
	p        unstable.Parser
	text     []byte
	out      bytes.Buffer
	end      int      // of what was read, in text
	comments []string // that stand directly before what comes next
	gap      bool     // a blank line is due before them
}

// expression writes a line, with the comment behind it. A comment on a line of its own
// is held back until it is known what it stands before.
func (f *formatter) expression(e *unstable.Node) {
	var start, end int
	var line string
	switch e.Kind {
	case unstable.Comment:
		start, line = int(e.Raw.Offset), comment(e)
		end = start + len(e.Data)
	case unstable.KeyValue:
		start, line = int(e.Raw.Offset), f.keyValue(e)
		end = start + int(e.Raw.Length)
	default:
		line, start, end = f.key(e)
		if line = "[" + line + "]"; e.Kind == unstable.ArrayTable {
			line = "[" + line + "]"
		}
	}
	if bytes.Count(f.text[f.end:start], []byte("\n")) > 1 {
		f.flush()
		f.gap = true
	}
	f.end = end
	if e.Kind == unstable.Comment {
		f.comments = append(f.comments, line)
		return
	}
	if e.Kind != unstable.KeyValue {
		f.gap = true
	}
	f.flush()
	f.out.WriteString(line)
	if c := e.Next(); c.Valid() && c.Kind == unstable.Comment {
		f.out.WriteString(" " + comment(c))
		f.end = int(c.Raw.Offset) + len(c.Data)
	}
	f.out.WriteByte('\n')
}

func comment(e *unstable.Node) string { return strings.TrimRight(string(e.Data), " \t\r") }

// flush writes the blank line that is due and the comments that are held back.
func (f *formatter) flush() {
	if f.gap && f.out.Len() > 0 {
		f.out.WriteByte('\n')
	}
	f.gap = false
	for _, c := range f.comments {
		f.out.WriteString(c + "\n")
	}
	f.comments = f.comments[:0]
}

// key is a key as it is written, and where it stands.
func (f *formatter) key(e *unstable.Node) (key string, from, to int) {
	var parts []string
	for keys := e.Key(); keys.Next(); {
		k := keys.Node()
		if len(parts) == 0 {
			from = int(k.Raw.Offset)
		}
		to = int(k.Raw.Offset + k.Raw.Length)
		parts = append(parts, string(f.p.Raw(k.Raw)))
	}
	return strings.Join(parts, "."), from, to
}

func (f *formatter) keyValue(e *unstable.Node) string {
	key, _, to := f.key(e)
	stop := int(e.Raw.Offset + e.Raw.Length)
	for to < stop && strings.IndexByte(" \t=", f.text[to]) >= 0 {
		to++
	}
	return key + " = " + f.value(e.Value(), strings.TrimRight(string(f.text[to:stop]), " \t"))
}

// widest is how many characters a list may have on one line.
const widest = 100

// value is a value in the standard layout, given its text in the file.
func (f *formatter) value(v *unstable.Node, text string) string {
	switch v.Kind {
	case unstable.Array, unstable.InlineTable:
		if s, ok := f.list(v); ok && utf8.RuneCountInString(s) <= widest {
			return s
		}
		if !strings.Contains(text, `"""`) && !strings.Contains(text, "'''") {
			text = strings.ReplaceAll(text, "\r\n", "\n")
		}
	}
	return text // a string is as it is, line ends and all
}

// list is a list or an inline table on one line, if it can be.
func (f *formatter) list(v *unstable.Node) (string, bool) {
	var items []string
	for all := v.Children(); all.Next(); {
		item := all.Node()
		s := ""
		switch item.Kind {
		case unstable.KeyValue:
			s = f.keyValue(item)
		case unstable.Array, unstable.InlineTable:
			var ok bool
			if s, ok = f.list(item); !ok {
				return "", false
			}
		case unstable.Comment:
			return "", false
		default:
			if item.Raw.Length == 0 {
				return "", false
			}
			s = string(f.p.Raw(item.Raw))
		}
		if strings.ContainsAny(s, "\n\r") {
			return "", false
		}
		items = append(items, s)
	}
	all := strings.Join(items, ", ")
	if v.Kind == unstable.Array {
		return "[" + all + "]", true
	}
	if all == "" {
		return "{}", true
	}
	return "{ " + all + " }", true
}
