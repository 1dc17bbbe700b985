package fence

import (
	"errors"
	"fmt"
	"io"
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
// values it was made from and copies none until System or User is asked for.
type Rendered struct{ r *rendered }

type rendered struct {
	segs   []seg
	system int    // how many of segs are the system message
	size   [2]int // bytes of the system and user message
	tags   string // both tags of the data style; "" when nothing was fenced
	once   [2]sync.Once
	text   [2]string
	draw   [nonceLen]byte
	few    [12]seg // room for the segs of a small prompt
}

// seg is one run of bytes of a message. Those of tags are filled in when the nonce
// is settled.
type seg struct {
	text string
	kind segKind
	when bool
}

type segKind uint8

const (
	segText       segKind = iota // the author's, a scalar, or data that goes bare
	segValue                     // data inside a fence
	segAttrs                     // the rest of an opening labelled tag
	segNonce                     // from here on: filled in
	segOpen                      // <data-NONCE>\n
	segClose                     // \n</data-NONCE>
	segOpenLabel                 // <untrusted id="NONCE"
	segCloseLabel                // \n</untrusted id="NONCE">
	segCloseLine                 // </untrusted id="NONCE">
)

// The tags of one nonce, as one string a style: the closing tag's newline is the
// opening tag's.
const (
	dataOpen, dataClose   = "<data-", "</data-"
	labelOpen, labelClose = `<untrusted id="`, `</untrusted id="`

	lenOpen       = len(dataOpen) + nonceLen + len(">\n")
	lenClose      = len("\n"+dataClose) + nonceLen + len(">")
	lenOpenLabel  = len(labelOpen) + nonceLen + len(`"`)
	lenCloseLabel = len("\n"+labelClose) + nonceLen + len(`">`)
)

// ErrNotRendered is what writing the zero Rendered gives.
var ErrNotRendered = errors.New("fence: not rendered: only Render makes a message")

// Render turns a prompt into the two messages of one model call and says, one row a
// part, system first, what it did with each. It draws a nonce when it fences
// something, and again while the nonce occurs, in any letter case, in anything that
// the prompt holds.
//
// It fails, and renders nothing, when a nonce cannot be had or a part cannot be
// rendered as it was declared.
func Render(p Prompt, nonces Nonces) (Rendered, []Row, error) {
	r := &rendered{}
	b := builder{r: r, nonces: nonces}
	if n := p.System.rows() + p.User.rows(); n > 0 {
		b.rows = make([]Row, 0, n)
	}
	if err := b.render(&p); err != nil {
		return Rendered{}, nil, err
	}
	return Rendered{r}, b.rows, nil
}

type builder struct {
	r        *rendered
	nonces   Nonces
	rows     []Row
	draws    int
	fenced   bool // a fence was written
	labelled bool // one of them labelled or inline
	measured bool // the nonce took part in measuring a budget
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
		if b.measured {
			if err := b.layOut(p); err != nil {
				return err
			}
		}
	}
	if !b.fenced {
		r.tags = ""
	}
	return b.fill()
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
	nonce := string(r.draw[:])
	if err := checkNonce(nonce); err != nil {
		return err
	}
	r.tags = dataOpen + nonce + ">\n" + dataClose + nonce + ">"
	return nil
}

func (r *rendered) nonce() string {
	if r.tags == "" {
		return ""
	}
	return r.tags[len(dataOpen):][:nonceLen]
}

func labelTags(nonce string) string {
	return labelOpen + nonce + "\"\n" + labelClose + nonce + `">`
}

// layOut makes the segs and rows of the prompt, all but what depends on the nonce.
func (b *builder) layOut(p *Prompt) error {
	r := b.r
	r.segs, b.rows = r.few[:0], b.rows[:0]
	b.fenced, b.labelled = false, false
	if n := len(p.System.spans) + len(p.User.spans) + 3*cap(b.rows); n > len(r.few) {
		r.segs = make([]seg, 0, n)
	}
	if err := b.doc(&p.System); err != nil {
		return fmt.Errorf("fence: system message: %w", err)
	}
	r.system = len(r.segs)
	if err := b.doc(&p.User); err != nil {
		return fmt.Errorf("fence: user message: %w", err)
	}
	return nil
}

func (b *builder) doc(d *Doc) error {
	if len(d.spans) == 0 {
		return nil
	}
	r := b.r
	spans := d.spans[1:]
	for i := range spans {
		s := &spans[i]
		switch s.kind {
		case spanText:
			r.segs = append(r.segs, seg{s.text, segText, s.when})
		case spanNonce:
			r.segs = append(r.segs, seg{"", segNonce, s.when})
		case spanData:
			v := &d.data[s.n]
			row := b.row(s.text, "key", v)
			if v.Label().Level() == trust.LevelAuthor {
				b.bare(row, v.Text())
			} else {
				b.fence(row, StyleData, "", "", v.Text())
			}
		case spanBareData:
			v := &d.data[s.n]
			b.bare(b.row(s.text, "key", v), v.Text())
		case spanPart:
			part := &d.parts[s.n]
			if err := b.part(part); err != nil {
				return fmt.Errorf("%s %q: %w", kindOrPart(part.Kind), part.Channel, err)
			}
		default:
			return errors.New("data inside a WhenFenced: only texts and nonces can depend on whether something was fenced")
		}
	}
	return nil
}

func kindOrPart(kind string) string {
	if kind == "" {
		return "part"
	}
	return kind
}

func (b *builder) row(channel, kind string, v *trust.Data) *Row {
	n := len(b.rows)
	b.rows = b.rows[:n+1]
	row := &b.rows[n]
	*row = Row{Channel: channel, Kind: kind, Label: v.Label(), BytesIn: v.BytesIn(),
		Truncated: v.Truncated(), Altered: v.Altered(), Position: n}
	return row
}

// part lays out what came in by Put or Scalar.
func (b *builder) part(p *Part) error {
	row := b.row(p.Channel, p.Kind, &p.Data)
	if p.scalar != nil {
		row.Label, row.scalar, row.BytesIn = p.scalar.Label(), true, len(p.scalar.Text())
		b.bare(row, p.scalar.Text())
		return nil
	}
	row.Trust, row.Authoritative, row.Budget = p.Trust, p.Authoritative, p.Budget
	if p.refuse != nil {
		return p.refuse
	}
	value := p.Data.Text()
	l := p.Data.Label()
	authors := l.Level() == trust.LevelAuthor && (p.Trust == "" || p.Authoritative)
	admitted := !authors && p.admits(l.Sources())
	if authors || admitted {
		value, cut, ok := p.fit("", value, "")
		if !ok {
			row.Dropped = true
			return nil
		}
		row.Admitted = admitted
		row.Truncated = row.Truncated || cut
		b.bare(row, value)
		return nil
	}
	if p.Style == StyleInline {
		if err := oneLine(value, "value"); err != nil {
			return err
		}
	}
	banner := p.Banner.String()
	if p.Budget.Set {
		before, after, err := b.around(p, banner)
		if err != nil {
			return err
		}
		fitted, cut, ok := p.fit(before, value, after)
		if !ok {
			row.Dropped = true
			return nil
		}
		value = fitted
		row.Truncated = row.Truncated || cut
	}
	b.fence(row, p.Style, banner, p.attrs, value)
	return nil
}

// admits says whether the part's class lets data of these origins go bare. Data
// whose origin is not known is of no origin that anybody listed.
func (p *Part) admits(sources trust.Set) bool {
	return p.Authoritative && sources.Len() > 0 && !sources.Has("") && sources.SubsetOf(p.Admits)
}

// bare writes data as it is.
func (b *builder) bare(row *Row, value string) {
	b.r.segs = append(b.r.segs, seg{value, segText, false})
	row.BytesOut = len(value)
	row.value = value
}

// fence writes data inside a fence. It is the one place that does.
func (b *builder) fence(row *Row, style Style, banner, attrs, value string) {
	segs, out := b.r.segs, len(value)
	if banner != "" {
		gap := "\n"
		if style == StyleInline {
			gap = " "
		}
		segs = append(segs, seg{banner, segText, false}, seg{gap, segText, false})
		out += len(banner) + len(gap)
	}
	switch style {
	case StyleData:
		segs = append(segs, seg{"", segOpen, false}, seg{value, segValue, false}, seg{"", segClose, false})
		out += lenOpen + lenClose
	default:
		segs = append(segs, seg{"", segOpenLabel, false}, seg{attrs, segAttrs, false}, seg{value, segValue, false})
		out += lenOpenLabel + len(attrs)
		if style == StyleInline {
			segs = append(segs, seg{"", segCloseLine, false})
			out += lenCloseLabel - len("\n")
		} else {
			segs = append(segs, seg{"", segCloseLabel, false})
			out += lenCloseLabel
		}
		b.labelled = true
	}
	row.Fenced, row.Style, row.Banner, row.BytesOut, row.value = true, style, banner, out, value
	b.r.segs, b.fenced = segs, true
}

// around is what stands around the value of a fenced part, for measuring.
func (b *builder) around(p *Part, banner string) (before, after string, err error) {
	nonce := "000000000000" // as long as any, and that is all that bytes and characters count
	if p.Budget.Unit == Tokens {
		if b.measured = true; b.r.tags == "" {
			if err := b.mint(); err != nil {
				return "", "", err
			}
		}
		nonce = b.r.nonce()
	}
	if banner != "" {
		before = banner + "\n"
		if p.Style == StyleInline {
			before = banner + " "
		}
	}
	if p.Style == StyleData {
		return before + dataOpen + nonce + ">\n", "\n" + dataClose + nonce + ">", nil
	}
	before += labelOpen + nonce + `"` + p.attrs
	after = "\n" + labelClose + nonce + `">`
	if p.Style == StyleInline {
		after = after[1:]
	}
	return before, after, nil
}

// collides says whether the nonce occurs in anything but the tags: in a value, which
// would let it close its fence, or in bare text, which would make the message
// ambiguous to read.
func (b *builder) collides() bool {
	f := newFinder(b.r.nonce())
	bareBefore := false
	for i := range b.r.segs {
		s := &b.r.segs[i]
		if s.kind >= segNonce {
			bareBefore = false
			continue
		}
		if f.in(s.text) >= 0 {
			return true
		}
		// Two bare runs side by side may make the nonce between them. A value has a
		// tag on either side.
		bare := s.kind == segText
		if bare && bareBefore && f.across(b.r.segs[:i+1]) {
			return true
		}
		bareBefore = bare
	}
	return false
}

// across says whether the nonce reaches into the last of some bare runs from those
// before it.
func (f finder) across(segs []seg) bool {
	var room [2 * nonceLen]byte
	last := segs[len(segs)-1].text
	tail := room[:0]
	for i := len(segs) - 2; i >= 0 && segs[i].kind == segText && len(tail) < nonceLen-1; i-- {
		t := segs[i].text
		t = t[max(0, len(t)-(nonceLen-1-len(tail))):]
		tail = append([]byte(t), tail...)
	}
	tail = append(tail, last[:min(len(last), nonceLen-1)]...)
	return f.in(string(tail)) >= 0
}

// fill puts the tags in, takes out what depends on a fence when there is none, and
// measures the messages.
func (b *builder) fill() error {
	r := b.r
	var labels string
	if b.labelled {
		labels = labelTags(r.nonce())
	}
	for i := range r.segs {
		s := &r.segs[i]
		if s.kind >= segNonce || s.when {
			switch {
			case s.when && r.tags == "":
				s.text = ""
			case s.kind == segNonce && r.tags == "":
				return errors.New("fence: the nonce is written where nothing is fenced: put it in a WhenFenced")
			case s.kind == segNonce:
				s.text = r.nonce()
			case s.kind == segOpen:
				s.text = r.tags[:lenOpen]
			case s.kind == segClose:
				s.text = r.tags[lenOpen-1:]
			case s.kind == segOpenLabel:
				s.text = labels[:lenOpenLabel]
			case s.kind == segCloseLabel:
				s.text = labels[lenOpenLabel:]
			case s.kind == segCloseLine:
				s.text = labels[lenOpenLabel+1:]
			}
		}
		if i < r.system {
			r.size[0] += len(s.text)
		} else {
			r.size[1] += len(s.text)
		}
	}
	return nil
}

// Valid says whether Render made it.
func (r Rendered) Valid() bool { return r.r != nil }

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

func (r *rendered) message(which int) []seg {
	if which == 0 {
		return r.segs[:r.system]
	}
	return r.segs[r.system:]
}

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
		segs := m.message(which)
		if len(segs) == 1 {
			m.text[which] = segs[0].text // the author's text alone: nothing to build
			return
		}
		var b strings.Builder
		b.Grow(m.size[which])
		for i := range segs {
			b.WriteString(segs[i].text)
		}
		m.text[which] = b.String()
	})
	return m.text[which]
}

func (r Rendered) append(dst []byte, which int) []byte {
	if r.r == nil {
		return dst
	}
	for _, s := range r.r.message(which) {
		dst = append(dst, s.text...)
	}
	return dst
}

func (r Rendered) write(w io.Writer, which int) (written int64, err error) {
	if r.r == nil {
		return 0, ErrNotRendered
	}
	sw, ok := w.(io.StringWriter)
	if !ok {
		sw = &chunks{w: w, buf: make([]byte, 0, min(r.r.size[which], 16<<10))}
	}
	for _, s := range r.r.message(which) {
		n, err := sw.WriteString(s.text)
		written += int64(n)
		if err == nil && n < len(s.text) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return written, err
		}
	}
	if c, ok := sw.(*chunks); ok {
		if err := c.flush(); err != nil {
			return c.written, err
		}
	}
	return written, nil
}

// chunks gives strings to a writer of bytes, a buffer at a time.
type chunks struct {
	w       io.Writer
	buf     []byte
	written int64
}

func (c *chunks) WriteString(s string) (int, error) {
	n := len(s)
	for len(s) > 0 {
		if len(c.buf) == cap(c.buf) {
			if err := c.flush(); err != nil {
				return n - len(s), err
			}
		}
		k := copy(c.buf[len(c.buf):cap(c.buf)], s)
		c.buf = c.buf[:len(c.buf)+k]
		s = s[k:]
	}
	return n, nil
}

func (c *chunks) flush() error {
	if len(c.buf) == 0 {
		return nil
	}
	n, err := c.w.Write(c.buf)
	c.written += int64(n)
	if err == nil && n < len(c.buf) {
		err = io.ErrShortWrite
	}
	c.buf = c.buf[:0]
	return err
}
