package fence

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/pinfold-dev/pinfold/trust"
)

// Prompt is one model call's input: one nonce serves both messages.
type Prompt struct{ System, User Doc }

// Rendered is what a model may be given. Only Render makes one; it is never
// input to a Doc. The zero Rendered is not valid: an adapter refuses it.
//
// A Rendered is immutable; any number of goroutines may read it. It refers to the
// values it was made from and copies none until System or User is asked for. Once a
// Doc that it was made from is Reset it is not valid any more, and gives nothing but
// what it had built before.
type Rendered struct{ r *rendered }

type rendered struct {
	spans  [2][]span // of the system and the user message, headers and all; nothing but a Reset changes them
	gens   [2]uint16 // of the Docs: the headers' as long as there was no Reset
	pieces []piece   // of the parts among the spans, in order
	system int       // how many of pieces are the system message's
	size   [2]int    // bytes of the system and the user message
	tags   string    // both tags of the data style; "" when nothing was fenced
	labels string    // both tags of the labelled styles; "" when there is none
	once   [2]sync.Once
	text   [2]string
	draw   [nonceLen]byte
}

// few is a small prompt with room for its parts, so that rendering one allocates this
// and the tags.
type few struct {
	rendered
	pieces [2]piece
	rows   [2]Row // handed to the caller, and never read here
}

// piece is what a part puts into a message.
type piece struct {
	value  string
	part   *Part // with the banner and attributes; nil when there are none
	style  Style
	fenced bool
}

// The tags of one nonce, as one string a style: the closing tag's newline is the
// opening tag's.
const (
	dataOpen, dataClose   = "<data-", "</data-"
	labelOpen, labelClose = `<untrusted id="`, `</untrusted id="`

	dataMiddle, dataEnd   = ">\n" + dataClose, ">"
	labelMiddle, labelEnd = "\"\n" + labelClose, `">`

	lenOpen       = len(dataOpen) + nonceLen + len(">\n")
	lenClose      = len("\n"+dataClose) + nonceLen + len(">")
	lenOpenLabel  = len(labelOpen) + nonceLen + len(`"`)
	lenCloseLabel = len("\n"+labelClose) + nonceLen + len(`">`)
)

// ErrNotRendered is what writing a Rendered gives that is not valid.
var ErrNotRendered = errors.New("fence: not rendered, or its prompt was reset: only Render makes a message")

// Render turns a prompt into the two messages of one model call and says, one row a
// part, system first, what it did with each. It draws a nonce when it fences
// something, and again while the nonce occurs, in any letter case, in anything that
// the prompt holds.
//
// It fails, and renders nothing, when a nonce cannot be had or a part cannot be
// rendered as it was declared.
func Render(p Prompt, nonces Nonces) (Rendered, []Row, error) {
	b := builder{nonces: nonces}
	if n := p.System.rows() + p.User.rows(); n > len(few{}.rows) {
		b.r = &rendered{pieces: make([]piece, 0, n)}
		b.rows = make([]Row, 0, n)
	} else {
		f := &few{}
		b.r = &f.rendered
		b.r.pieces = f.pieces[:0]
		if n > 0 {
			b.rows = f.rows[:0:n]
		}
	}
	if err := b.render(&p); err != nil {
		return Rendered{}, nil, err
	}
	return Rendered{b.r}, b.rows, nil
}

type builder struct {
	r        *rendered
	nonces   Nonces
	rows     []Row
	size     int  // of the message being laid out
	when     int  // of what is in it only when something was fenced
	named    bool // the nonce is written whether something is fenced or not
	draws    int
	fenced   bool // a fence was written
	labelled bool // one of them labelled or inline
}

func (b *builder) render(p *Prompt) error {
	r := b.r
	if err := b.layOut(p); err != nil {
		return err
	}
	for b.fenced && (r.tags == "" || b.collides()) {
		if err := b.mint(); err != nil {
			return err
		}
	}
	if b.named && !b.fenced {
		return errors.New("fence: the nonce is written where nothing is fenced: put it in a WhenFenced")
	}
	return nil
}

// mint draws a nonce.
func (b *builder) mint() error {
	if b.nonces == nil {
		return errors.New("fence: outside data needs a nonce and no source of nonces was given")
	}
	if b.draws++; b.draws > maxDraws {
		return fmt.Errorf("fence: every one of %d nonces drawn occurs in the prompt: the source of nonces is broken", maxDraws)
	}
	r := b.r
	if err := b.nonces(&r.draw); err != nil {
		return fmt.Errorf("fence: drawing a nonce: %w", err)
	}
	r.tags, r.labels = tags(string(r.draw[:]), b.labelled)
	return checkNonce(r.nonce())
}

func (r *rendered) nonce() string {
	if r.tags == "" {
		return ""
	}
	return r.tags[len(dataOpen):][:nonceLen]
}

// layOut makes the pieces and rows of the prompt: all but what the nonce is.
func (b *builder) layOut(p *Prompt) error {
	r := b.r
	var when [2]int
	for i, d := range [2]*Doc{&p.System, &p.User} {
		b.size, b.when = 0, 0
		if err := b.doc(d); err != nil {
			return fmt.Errorf("fence: %s message: %w", [2]string{"system", "user"}[i], err)
		}
		if i == 0 {
			r.system = len(r.pieces)
		}
		r.spans[i], r.gens[i] = d.spans, d.gen
		r.size[i], when[i] = b.size, b.when
	}
	if b.fenced {
		r.size[0] += when[0]
		r.size[1] += when[1]
	}
	return nil
}

func (b *builder) doc(d *Doc) error {
	if d.stale() {
		return errReset
	}
	spans := body(d.spans)
	for i := range spans {
		s := &spans[i]
		switch s.kind {
		case spanText, spanNonce:
			n := len(s.text)
			if s.kind == spanNonce {
				n = nonceLen
				b.named = b.named || !s.when
			}
			if s.when {
				b.when += n
			} else {
				b.size += n
			}
		case spanData:
			v := &d.data[s.n]
			row := b.row(s.text, "key", v)
			if v.Label().Level() == trust.LevelAuthor {
				b.plain(row, v.Text())
			} else {
				b.fence(row, StyleData, nil, v.Text())
			}
		case spanBareData:
			v := &d.data[s.n]
			b.plain(b.row(s.text, "key", v), v.Text())
		case spanPart:
			p := &d.parts[s.n]
			if err := b.part(p, &p.Data); err != nil {
				return err
			}
		case spanHole:
			if err := b.fill(&d.fills[s.n]); err != nil {
				return err
			}
		case spanReset:
			return errReset
		default:
			return errors.New("data inside a WhenFenced: only texts and nonces can depend on whether something was fenced")
		}
	}
	return nil
}

func (b *builder) row(channel, kind string, v *trust.Data) *Row {
	n := len(b.rows)
	b.rows = b.rows[:n+1]
	row := &b.rows[n]
	// Field by field: rows are large, and a literal would be built and then copied.
	row.Channel, row.Kind, row.Label, row.Position = channel, kind, v.Label(), n
	row.BytesIn, row.Truncated, row.Altered = v.BytesIn(), v.Truncated(), v.Altered()
	return row
}

// part lays out what came in by Put or Scalar, or data in a hole.
func (b *builder) part(p *Part, v *trust.Data) error {
	row := b.row(p.Channel, p.Kind, v)
	if p.scalar != nil {
		row.Label, row.scalar, row.BytesIn = p.scalar.Label(), true, len(p.scalar.Text())
		b.plain(row, p.scalar.Text())
		return nil
	}
	b.declare(row, p)
	if p.refuse != nil {
		return p.in(p.refuse)
	}
	value := v.Text()
	l := v.Label()
	authors := l.Level() == trust.LevelAuthor && (p.Trust == "" || p.Authoritative)
	admitted := !authors && p.admits(l.Sources())
	bare := authors || admitted
	if !bare && p.Style == StyleInline {
		if err := oneLine(value, "value"); err != nil {
			return p.in(err)
		}
	}
	if p.Budget.Set {
		fitted, cut, ok := p.fit(value, bare)
		if !ok {
			row.Dropped = true
			b.r.pieces = append(b.r.pieces, piece{})
			return nil
		}
		value, row.Truncated = fitted, row.Truncated || cut
	}
	if bare {
		row.Admitted = admitted
		b.plain(row, value)
	} else {
		b.fence(row, p.Style, p, value)
	}
	return nil
}

// declare writes down what p declares.
func (b *builder) declare(row *Row, p *Part) {
	row.Trust, row.Authoritative, row.Budget = p.Trust, p.Authoritative, p.Budget
	if p.Secrecy.Len() > 0 {
		row.Label = row.Label.Join(p.secret)
	}
}

// in names the part that an error is about.
func (p *Part) in(err error) error {
	return fmt.Errorf("part %q of kind %q: %w", p.Channel, p.Kind, err)
}

// admits says whether the part's class lets data of these origins go bare. Data
// whose origin is not known is of no origin that anybody listed.
func (p *Part) admits(sources trust.Set) bool {
	return p.Authoritative && sources.Len() > 0 && !sources.Has("") && sources.SubsetOf(p.Admits)
}

// plain writes data as it is.
func (b *builder) plain(row *Row, value string) {
	b.r.pieces = append(b.r.pieces, piece{value: value})
	row.BytesOut, row.value = len(value), value
	b.size += len(value)
}

// fence writes data inside a fence. It is the one place that does; p is nil where
// there are neither banner nor attributes.
func (b *builder) fence(row *Row, style Style, p *Part, value string) {
	b.r.pieces = append(b.r.pieces, piece{value: value, part: p, style: style, fenced: true})
	row.Fenced, row.Style, row.value = true, style, value
	row.BytesOut = lenOpen + len(value) + lenClose
	if p != nil {
		row.Banner = p.Banner.String()
		switch style {
		case StyleLabelled:
			row.BytesOut = lenOpenLabel + len(p.attrs) + len(value) + lenCloseLabel
		case StyleInline:
			row.BytesOut = lenOpenLabel + len(p.attrs) + len(value) + lenCloseLabel - len("\n")
		}
		if row.Banner != "" {
			row.BytesOut += len(row.Banner) + 1
		}
	}
	b.size += row.BytesOut
	b.fenced, b.labelled = true, b.labelled || style != StyleData
}

// runs is the text of a piece: banner, gap, opening tag, attributes, value, closing
// tag.
type runs [6]string

const runValue = 4

// runs is the text of p, given both tags of the data style and of the labelled ones.
func (p *piece) runs(tags, labels string) (t runs) {
	t[runValue] = p.value
	if !p.fenced {
		return t
	}
	gap := "\n"
	switch p.style {
	case StyleData:
		t[2], t[5] = tags[:lenOpen], tags[lenOpen-1:]
	case StyleLabelled:
		t[2], t[3], t[5] = labels[:lenOpenLabel], p.part.attrs, labels[lenOpenLabel:]
	case StyleInline:
		t[2], t[3], t[5] = labels[:lenOpenLabel], p.part.attrs, labels[lenOpenLabel+1:]
		gap = " "
	}
	if p.part != nil && p.part.Banner.Len() > 0 {
		t[0], t[1] = p.part.Banner.String(), gap
	}
	return t
}

// tags is the tags of a nonce, those of the labelled styles too when they are wanted.
func tags(nonce string, labelled bool) (data, labels string) {
	if !labelled {
		return dataOpen + nonce + dataMiddle + nonce + dataEnd, ""
	}
	both := dataOpen + nonce + dataMiddle + nonce + dataEnd + labelOpen + nonce + labelMiddle + nonce + labelEnd
	return both[:len(measuringTags)], both[len(measuringTags):]
}

// all is the text of a message, run by run.
func (r *rendered) all(which int) iter.Seq[string] {
	return func(yield func(string) bool) {
		pieces := r.pieces[:r.system]
		if which == 1 {
			pieces = r.pieces[r.system:]
		}
		spans := body(r.spans[which])
		for i := range spans {
			switch s := &spans[i]; s.kind {
			case spanText:
				if s.when && r.tags == "" {
					continue
				}
				if !yield(s.text) {
					return
				}
			case spanNonce:
				if !yield(r.nonce()) {
					return
				}
			default:
				for _, t := range pieces[0].runs(r.tags, r.labels) {
					if t != "" && !yield(t) {
						return
					}
				}
				pieces = pieces[1:]
			}
		}
	}
}

// collides says whether the nonce occurs in anything but the tags: in a value, which
// would let it close its fence, or in bare text, which would make the message
// ambiguous to read.
func (b *builder) collides() bool {
	r := b.r
	f := newFinder(r.nonce())
	pieces := r.pieces
	var t tail
	for _, spans := range r.spans {
		spans := body(spans)
		t.n = 0
		for i := range spans {
			switch s := &spans[i]; s.kind {
			case spanText:
				if f.in(s.text) >= 0 || t.joins(&f, s.text) {
					return true
				}
			case spanNonce:
				t.n = 0 // what it makes with its neighbours is the author's doing
			default:
				p := &pieces[0]
				pieces = pieces[1:]
				switch {
				case f.in(p.value) >= 0:
					return true
				case !p.fenced && t.joins(&f, p.value):
					return true
				case !p.fenced:
					continue
				case p.part != nil && !p.part.quiet && (f.in(p.part.attrs) >= 0 || f.in(p.part.Banner.String()) >= 0 || t.joins(&f, p.part.Banner.String())):
					return true
				}
				t.n = 0 // a tag stands between the text before and after it
			}
		}
	}
	return false
}

// tail is the end of the bare text before, as far as a nonce can reach over it into
// what follows.
type tail struct {
	b [nonceLen - 1]byte
	n int // how much of the end of b it is; 0 also when it does not end in a hex character
}

// joins says whether bare text s makes the nonce together with what stands before it,
// and goes on to the end of s.
func (t *tail) joins(f *finder, s string) bool {
	if s == "" {
		return false
	}
	if t.n > 0 && hexByte(s[0]) {
		var window [2 * (nonceLen - 1)]byte
		n := copy(window[:], t.b[len(t.b)-t.n:])
		n += copy(window[n:], s[:min(len(s), nonceLen-1)])
		if f.in(string(window[:n])) >= 0 {
			return true
		}
	} else {
		t.n = 0
	}
	if !hexByte(s[len(s)-1]) {
		t.n = 0
		return false
	}
	k := min(len(s), len(t.b))
	copy(t.b[:], t.b[k:])
	copy(t.b[len(t.b)-k:], s[len(s)-k:])
	t.n = min(len(t.b), t.n+k)
	return false
}

func hexByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// Valid says whether Render made it, of Docs that still hold what it was made from.
func (r Rendered) Valid() bool { return r.r != nil && !r.r.stale() }

// Nonce is the nonce of this call, "" when nothing was fenced.
func (r Rendered) Nonce() string {
	if r.r == nil {
		return ""
	}
	return r.r.nonce()
}

// Fenced says whether anything was fenced.
func (r Rendered) Fenced() bool { return r.r != nil && r.r.tags != "" }

// System is the system message. It is built when first asked for, and kept.
func (r Rendered) System() string { return r.message(0) }

// User is the user message. It is built when first asked for, and kept.
func (r Rendered) User() string { return r.message(1) }

// SystemLen is the length of the system message in bytes. It builds nothing.
func (r Rendered) SystemLen() int { return r.len(0) }

// UserLen is the length of the user message in bytes. It builds nothing.
func (r Rendered) UserLen() int { return r.len(1) }

// AppendSystem appends the system message to dst.
func (r Rendered) AppendSystem(dst []byte) []byte { return r.append(dst, 0) }

// AppendUser appends the user message to dst.
func (r Rendered) AppendUser(dst []byte) []byte { return r.append(dst, 1) }

// WriteSystem streams the system message to w. It builds nothing, except a small
// buffer when w has no WriteString.
func (r Rendered) WriteSystem(w io.Writer) (int64, error) { return r.write(w, 0) }

// WriteUser streams the user message to w, as WriteSystem does.
func (r Rendered) WriteUser(w io.Writer) (int64, error) { return r.write(w, 1) }

func (r Rendered) len(which int) int {
	if r.r == nil {
		return 0
	}
	return r.r.size[which]
}

func (r Rendered) message(which int) string {
	m := r.r
	if m == nil {
		return ""
	}
	m.once[which].Do(func() {
		if m.stale() {
			return
		}
		if spans := body(m.spans[which]); len(spans) == 1 && spans[0].kind == spanText && !spans[0].when {
			m.text[which] = spans[0].text // the author's text alone: nothing to build
			return
		}
		var b strings.Builder
		b.Grow(m.size[which])
		for t := range m.all(which) {
			b.WriteString(t)
		}
		m.text[which] = b.String()
	})
	return m.text[which]
}

func (r Rendered) append(dst []byte, which int) []byte {
	if !r.Valid() {
		return dst
	}
	dst = slices.Grow(dst, r.r.size[which])
	for t := range r.r.all(which) {
		dst = append(dst, t...)
	}
	return dst
}

func (r Rendered) write(w io.Writer, which int) (int64, error) {
	if !r.Valid() {
		return 0, ErrNotRendered
	}
	sw, ok := w.(io.StringWriter)
	if !ok {
		c := chunks{w: w, buf: make([]byte, 0, min(r.r.size[which], 16<<10))}
		for t := range r.r.all(which) {
			if !c.add(t) {
				break
			}
		}
		c.flush()
		return c.written, c.err
	}
	written := int64(0)
	for t := range r.r.all(which) {
		n, err := sw.WriteString(t)
		written += int64(n)
		if err == nil && n < len(t) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// chunks gives strings to a writer of bytes, a buffer at a time.
type chunks struct {
	w       io.Writer
	buf     []byte
	written int64
	err     error
}

func (c *chunks) add(s string) bool {
	for len(s) > 0 && c.err == nil {
		k := copy(c.buf[len(c.buf):cap(c.buf)], s)
		c.buf = c.buf[:len(c.buf)+k]
		if s = s[k:]; s != "" {
			c.flush()
		}
	}
	return c.err == nil
}

func (c *chunks) flush() {
	if len(c.buf) == 0 || c.err != nil {
		return
	}
	n, err := c.w.Write(c.buf)
	c.written += int64(n)
	if err == nil && n < len(c.buf) {
		err = io.ErrShortWrite
	}
	c.buf, c.err = c.buf[:0], err
}
