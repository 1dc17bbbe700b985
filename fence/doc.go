package fence

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/pinfold-dev/pinfold/trust"
)

// Doc is an ordered list of spans. The zero Doc is empty and ready to use. A Doc
// that was handed to Render may be rendered again; it is never changed by it.
//
// A Doc may be copied, and each copy appended to, by different goroutines too: no
// copy sees what another appends. Any number of goroutines may render one Doc.
type Doc struct {
	// spans[0] is a header. Its n counts the slots of this array that are taken, by
	// this Doc or by a copy of it. Whoever appends claims slots there first; who is
	// too late moves to an array of his own. So that the other slices need no count
	// of their own, moving cuts off their spare room as well.
	spans []span
	data  []trust.Data
	parts []Part
	fills []Fill // one a hole
	gen   uint16 // the header's when d got this array: not it any more after a Reset
}

type span struct {
	text string // the text, or the channel of data
	n    uint32 // place in data, parts or fills; in the header the claimed length
	gen  uint16 // in the header: how often the array was emptied for another prompt
	kind spanKind
	when bool // only when something was fenced
}

type spanKind uint8

const (
	spanHeader spanKind = iota
	spanText
	spanNonce
	spanData
	spanBareData
	spanPart
	spanHole
	spanMisplaced // something in a WhenFenced that may not be there
	spanReset     // from a Doc whose arrays were given to another prompt
)

// Grow makes room for that many more spans, and for that many parts among them.
func (d *Doc) Grow(spans, parts int) {
	n := max(len(d.spans), 1)
	if cap(d.spans) < n+spans {
		d.move(n + spans)
	}
	if cap(d.data) < len(d.data)+parts {
		data := make([]trust.Data, len(d.data), len(d.data)+parts)
		copy(data, d.data)
		d.data = data
	}
}

// move gives d an array of its own with the given capacity.
func (d *Doc) move(capacity int) {
	n, stale := max(len(d.spans), 1), d.stale()
	spans := make([]span, n, capacity)
	spans[0].n = uint32(n)
	if n > 1 {
		copy(spans[1:], d.spans[1:]) // not the header: a copy of d may be claiming there
	}
	d.spans, d.gen = spans, 0
	if stale {
		d.gen++ // what it holds is not its own: that does not pass with a new array
	}
	d.data = d.data[:len(d.data):len(d.data)]
	d.parts = d.parts[:len(d.parts):len(d.parts)]
	d.fills = d.fills[:len(d.fills):len(d.fills)]
}

// claim returns n new slots at the end of d.
func (d *Doc) claim(n int) []span {
	old := len(d.spans)
	if old == 0 || old+n > cap(d.spans) || d.stale() ||
		!atomic.CompareAndSwapUint32(&d.spans[0].n, uint32(old), uint32(old+n)) {
		old = max(old, 1)
		d.move(max(2*old, old+n, 8))
		d.spans[0].n = uint32(old + n)
	}
	d.spans = d.spans[:old+n]
	return d.spans[old:]
}

// Text appends the author's own text.
func (d *Doc) Text(t trust.Text) {
	if t.Len() > 0 {
		d.claim(1)[0] = span{kind: spanText, text: t.String()}
	}
}

// Scalar appends a number, boolean or time, bare: it cannot carry text. It has a
// row, of kind "scalar".
func (d *Doc) Scalar(channel string, s trust.Scalar) {
	d.put(Part{Channel: channel, Kind: "scalar", scalar: &s})
}

// Data appends data in the data style, with no budget and no declared class. Its
// row is of kind "key".
func (d *Doc) Data(channel string, v trust.Data) { d.datum(spanData, channel, v) }

// Undelimited appends data bare, whatever its label: the produce-side off switch of
// TRUST.md §3, for debugging and comparison. Its row says that it was not fenced.
func (d *Doc) Undelimited(channel string, v trust.Data) { d.datum(spanBareData, channel, v) }

func (d *Doc) datum(kind spanKind, channel string, v trust.Data) {
	s := &d.claim(1)[0]
	*s = span{kind: kind, text: channel, n: uint32(len(d.data))}
	d.data = append(d.data, v)
}

// Put appends a part with all its declarations. A part that cannot be rendered (an
// attribute that is refused, an unknown style) makes Render fail, naming it.
func (d *Doc) Put(p Part) {
	p.prepare()
	d.put(p)
}

// prepare checks what p declares and lays its attributes out.
func (p *Part) prepare() {
	p.scalar = nil
	p.attrs, p.refuse = attrText(p.Style, p.Attrs)
	if p.Style == StyleInline && p.refuse == nil {
		p.refuse = oneLine(p.Banner.String(), "banner")
	}
	if p.refuse == nil && (p.Budget.Unit > Tokens || p.Keep > KeepBoth) {
		p.refuse = fmt.Errorf("expected a known unit and part to keep, found %v and %v", p.Budget.Unit, p.Keep)
	}
	p.Attrs = nil // the caller's array; the text of it is what counts
	if p.Budget.Set && p.refuse == nil {
		p.outer = p.measure()
	}
	if p.Secrecy.Len() > 0 {
		p.secret = trust.ConstInt(0).Label().WithSecrecy(p.Secrecy.Items()...)
	}
	p.quiet = p.Banner.Len() == 0 && longestHex(p.attrs) < nonceLen
}

func (d *Doc) put(p Part) {
	s := &d.claim(1)[0]
	*s = span{kind: spanPart, n: uint32(len(d.parts))}
	d.parts = append(d.parts, p)
}

// Nonce appends the nonce of the call itself, so that the author's text can name
// it. Outside a WhenFenced it makes Render fail when nothing was fenced.
func (d *Doc) Nonce() { d.claim(1)[0] = span{kind: spanNonce} }

// WhenFenced appends texts and nonces that are there only when at least one part of
// the whole Prompt was fenced, in either message. Data in it makes Render fail.
func (d *Doc) WhenFenced(text Doc) {
	if text.Empty() {
		return
	}
	if text.stale() {
		d.claim(1)[0] = span{kind: spanReset}
		return
	}
	spans := d.claim(len(text.spans) - 1)
	copy(spans, text.spans[1:])
	for i := range spans {
		spans[i].when = true
		if spans[i].kind > spanNonce {
			spans[i] = span{kind: spanMisplaced}
		}
	}
}

// Append appends the spans of other, which stays as it is.
func (d *Doc) Append(other Doc) {
	if other.Empty() {
		return
	}
	if other.stale() {
		d.claim(1)[0] = span{kind: spanReset}
		return
	}
	spans := d.claim(len(other.spans) - 1)
	copy(spans, other.spans[1:])
	if other.rows() == 0 {
		return
	}
	for i := range spans {
		switch s := &spans[i]; s.kind {
		case spanData, spanBareData:
			s.n += uint32(len(d.data))
		case spanPart:
			s.n += uint32(len(d.parts))
		case spanHole:
			s.n += uint32(len(d.fills))
		}
	}
	d.data = append(d.data, other.data...)
	d.parts = append(d.parts, other.parts...)
	d.fills = append(d.fills, other.fills...)
}

// Empty says whether nothing was appended.
func (d *Doc) Empty() bool { return len(d.spans) <= 1 }

func (d *Doc) rows() int { return len(d.data) + len(d.parts) + len(d.fills) }

// body is the spans without the header.
func body(spans []span) []span {
	if len(spans) == 0 {
		return nil
	}
	return spans[1:]
}

var errLineBreak = errors.New("a line break in an inline fence")

// oneLine refuses what would not stay on one line: Unicode's mandatory breaks.
func oneLine(s, what string) error {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case '\n' <= c && c <= '\r',
			c == 0xc2 && strings.HasPrefix(s[i:], "\u0085"),
			c == 0xe2 && (strings.HasPrefix(s[i:], "\u2028") || strings.HasPrefix(s[i:], "\u2029")):
			return fmt.Errorf("%w: expected one line, found a break at byte %d of the %s", errLineBreak, i, what)
		}
	}
	return nil
}

// attrText is the text of an opening labelled tag after its id.
func attrText(style Style, attrs []Attr) (string, error) {
	end := ">\n"
	switch style {
	case StyleData:
		if len(attrs) > 0 {
			return "", fmt.Errorf("attribute %q: the data style has no attributes", attrs[0].Name)
		}
		return "", nil
	case StyleLabelled:
	case StyleInline:
		end = ">"
	default:
		return "", fmt.Errorf("expected a known style, found %v", style)
	}
	if len(attrs) == 0 {
		return end, nil
	}
	var b strings.Builder
	for i, a := range attrs {
		if a.Name == "" || a.Name == "id" || !attrBytes(a.Name) {
			return "", fmt.Errorf("attribute name %q: expected one or more of A-Z a-z 0-9 _ . : / - and not id", a.Name)
		}
		if !attrBytes(a.Value) {
			return "", fmt.Errorf("value %q of attribute %s: expected only A-Z a-z 0-9 _ . : / -", a.Value, a.Name)
		}
		for _, before := range attrs[:i] {
			if before.Name == a.Name {
				return "", fmt.Errorf("attribute %s: expected once, found twice", a.Name)
			}
		}
		b.WriteString(" " + a.Name + `="` + a.Value + `"`)
	}
	b.WriteString(end)
	return b.String(), nil
}

func attrBytes(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '_', c == '.', c == ':', c == '/', c == '-':
		default:
			return false
		}
	}
	return true
}
