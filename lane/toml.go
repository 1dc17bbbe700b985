package lane

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// The library's decoder says nothing of where a value stood, and takes quadratic time
// over many tables. So a file is read from the library's syntax tree, which knows the
// place of everything. What of TOML that tree does not check is checked here: keys and
// tables that stand twice, and how integers are written. A test holds both against the
// decoder.

// maxFile bounds a lane file: 10,000 lanes take about a sixth of it.
const maxFile = 4 << 20

type kind uint8

const (
	kindTable kind = iota
	kindString
	kindInteger
	kindBool
	kindArray
	kindTables // an array of tables
	kindOther  // floats and dates
)

// String names a kind in errors.
func (k kind) String() string {
	return [...]string{"a table", "a string", "an integer", "a boolean", "a list", "a list of tables", "a value of another kind"}[k]
}

// node is a value, with the place where it stands.
type node struct {
	kind   kind
	at     int    // byte in the text
	text   string // of what is not a table or a list
	number int64  // of an integer
	items  []node // of an array
	keys   []entry
	index  map[string]int // of keys, when there are many
	made   made           // of a table
}

// made is how a table came to be, and so who may add to it.
type made uint8

const (
	byPath   made = iota // as a part of another's header: any header
	byHeader             // by its header, which stands once: headers of its parts
	byDots               // by a dotted key: more of them, and headers of its parts
	inline               // nobody
)

type entry struct {
	key string
	at  int // of the key
	val *node
}

func (n *node) get(key string) *entry {
	if n.index != nil {
		if i, ok := n.index[key]; ok {
			return &n.keys[i]
		}
		return nil
	}
	for i := range n.keys {
		if n.keys[i].key == key {
			return &n.keys[i]
		}
	}
	return nil
}

func (n *node) add(key string, at int, val *node) {
	n.keys = append(n.keys, entry{key, at, val})
	if n.index != nil {
		n.index[key] = len(n.keys) - 1
	} else if len(n.keys) > 16 {
		n.index = make(map[string]int, 64)
		for i := range n.keys {
			n.index[n.keys[i].key] = i
		}
	}
}

// document is a file as it is read.
type document struct {
	file  string
	text  []byte
	lines []int // where each line begins
	root  node
	errs  []*Error
	more  int  // errors that were only counted
	torn  bool // the rest of the file could not be read
}

// mostErrors bounds what is said of one file, and what it costs to say it.
const mostErrors = 100

// wrong notes an error at a byte of the text.
func (d *document) wrong(at int, format string, args ...any) {
	if len(d.errs) == mostErrors {
		d.more++
		return
	}
	line, column := d.place(at)
	d.errs = append(d.errs, &Error{File: d.file, Line: line, Column: column, Err: fmt.Errorf(format, args...)})
}

// err is all that is wrong, in the order of the file.
func (d *document) err() error {
	if d.more > 0 {
		d.errs = append(d.errs, &Error{File: d.file, Line: len(d.lines), Column: 1, Err: fmt.Errorf("and %d mistakes more", d.more)})
	}
	return inOrder(d.errs)
}

func (d *document) place(at int) (line, column int) {
	i, found := slices.BinarySearch(d.lines, at)
	if !found {
		i--
	}
	return i + 1, 1 + utf8.RuneCount(d.text[d.lines[i]:at])
}

func (d *document) line(at int) int {
	line, _ := d.place(at)
	return line
}

// readTOML takes a file apart. A byte order mark at its beginning is read as if it
// were not there.
func readTOML(file string, text []byte) *document {
	d := &document{file: file, text: bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), lines: []int{0}}
	if len(d.text) > maxFile {
		d.errs, d.torn = append(d.errs, &Error{File: file, Err: fmt.Errorf("expected at most %d bytes, found %d", maxFile, len(d.text))}), true
		return d
	}
	for i, c := range d.text {
		if c == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	var p unstable.Parser
	p.Reset(d.text)
	table := &d.root
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = d.header(e)
		case unstable.KeyValue:
			d.keyValue(&p, table, e)
		}
	}
	if err := p.Error(); err != nil {
		d.torn = true
		d.syntax(&p, err)
	}
	return d
}

// syntax notes what the parser stopped at.
func (d *document) syntax(p *unstable.Parser, err error) {
	at := len(d.text)
	var pe *unstable.ParserError
	if errors.As(err, &pe) {
		if pe.Highlight != nil {
			at = int(p.Range(pe.Highlight).Offset)
		}
		d.wrong(at, "%s", pe.Message)
		return
	}
	d.wrong(at, "%s", strings.TrimPrefix(err.Error(), "toml: "))
}

// header is the table that [a.b] or [[a.b]] begins.
func (d *document) header(e *unstable.Node) *node {
	n := &d.root
	for keys := e.Key(); keys.Next(); {
		k := keys.Node()
		key, at := string(k.Data), int(k.Raw.Offset)
		last := keys.IsLast()
		old := n.get(key)
		switch {
		case old == nil:
			sub := &node{at: at}
			if last && e.Kind == unstable.ArrayTable {
				sub.kind = kindTables
			} else if last {
				sub.made = byHeader
			}
			n.add(key, at, sub)
			n = sub
		case last && e.Kind == unstable.Table && old.val.kind == kindTable && old.val.made == byPath:
			old.val.made, old.val.at, old.at = byHeader, at, at
			n = old.val
		case last || old.val.kind != kindTable || old.val.made == inline:
			d.wrong(at, "%s stands twice: expected it once, first found in line %d", path(e, at), d.line(old.at))
			return &node{} // what follows is read all the same
		default:
			n = old.val
		}
	}
	return n
}

// path is the key of a header, to the part that stands at byte at.
func path(e *unstable.Node, at int) string {
	var parts []string
	for keys := e.Key(); keys.Next(); {
		parts = append(parts, plain(string(keys.Node().Data)))
		if int(keys.Node().Raw.Offset) == at {
			break
		}
	}
	if len(parts) > 3 { // no key of a lane file has more
		parts = append(parts[:3], "…")
	}
	return strings.Join(parts, ".")
}

// keyValue reads key = value into a table.
func (d *document) keyValue(p *unstable.Parser, n *node, e *unstable.Node) {
	keys := e.Key()
	for keys.Next() {
		k := keys.Node()
		key, at := string(k.Data), int(k.Raw.Offset)
		old := n.get(key)
		switch last := keys.IsLast(); {
		case old == nil && last:
			n.add(key, at, d.value(p, e.Value(), d.valueAt(e, int(k.Raw.Offset+k.Raw.Length))))
		case old == nil:
			sub := &node{at: at, made: byDots}
			n.add(key, at, sub)
			n = sub
		case last || old.val.kind != kindTable || old.val.made != byDots:
			d.wrong(at, "%s stands twice: expected it once, first found in line %d", plain(key), d.line(old.at))
			return
		default:
			n = old.val
		}
	}
}

// valueAt is where the value of a key begins that ends at end.
func (d *document) valueAt(e *unstable.Node, end int) int {
	for stop := int(e.Raw.Offset + e.Raw.Length); end < stop && strings.IndexByte(" \t=", d.text[end]) >= 0; {
		end++
	}
	return end
}

func (d *document) value(p *unstable.Parser, v *unstable.Node, at int) *node {
	n := &node{at: at, kind: kindOther, text: string(v.Data)}
	switch v.Kind {
	case unstable.String:
		n.kind = kindString
	case unstable.Integer:
		n.kind = kindInteger
		var as struct{ N int64 }
		if err := toml.Unmarshal([]byte("N = "+n.text), &as); err != nil {
			d.wrong(at, "%s", strings.TrimPrefix(err.Error(), "toml: "))
		}
		n.number = as.N
	case unstable.Bool:
		n.kind = kindBool
	case unstable.Array:
		n.kind = kindArray
		for items := v.Children(); items.Next(); {
			item := items.Node()
			if item.Kind == unstable.Comment {
				continue
			}
			place := at
			if item.Raw.Length > 0 {
				place = int(item.Raw.Offset)
			}
			n.items = append(n.items, *d.value(p, item, place))
		}
	case unstable.InlineTable:
		n.kind, n.made = kindTable, inline
		for items := v.Children(); items.Next(); {
			if item := items.Node(); item.Kind == unstable.KeyValue {
				d.keyValue(p, n, item)
			}
		}
	}
	return n
}
