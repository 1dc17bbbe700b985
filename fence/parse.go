package fence

import (
	"fmt"
	"strings"
)

// Span is one piece of a rendered message, as Parse recovers it: bare text, or the
// value of one fence. Neighbouring bare pieces are one Span.
type Span struct {
	Fenced bool
	Style  Style
	Attrs  []Attr
	Text   string
}

// Parse recovers the spans of a rendered message given its nonce: for tests, the
// probe and people. It is strict. A fence that does not end, a nonce in any letter
// case inside one, a line break in an inline one, and a closing tag that closes
// nothing are errors that name the byte where they stand.
//
// Author text may mention the nonce and, as system messages do, the tags: an opening
// data tag that no newline follows, or a labelled one that is not one, is bare text,
// and so is a closing tag behind it on the same line. Bare is the reading that
// claims less.
//
// With the nonce "" the message is one bare span: nothing in it was fenced.
func Parse(message, nonce string) ([]Span, error) {
	if nonce == "" {
		if message == "" {
			return nil, nil
		}
		return []Span{{Text: message}}, nil
	}
	if err := checkNonce(nonce); err != nil {
		return nil, err
	}
	p := parser{s: message, nonce: nonce, find: newFinder(nonce), mention: -1}
	return p.parse()
}

type parser struct {
	s       string
	nonce   string
	find    finder
	spans   []Span
	bare    int // where the bare text that is not yet a span begins
	mention int // where the last mention of an opening tag begins that no closing tag followed; -1: none
}

func (p *parser) parse() ([]Span, error) {
	for pos := 0; ; {
		i := strings.Index(p.s[pos:], p.nonce)
		if i < 0 {
			break
		}
		i += pos
		pos = i + nonceLen
		before, after := p.s[p.bare:i], p.s[pos:]
		var err error
		switch {
		case strings.HasSuffix(before, dataOpen):
			if strings.HasPrefix(after, ">\n") {
				pos, err = p.fence(i-len(dataOpen), pos+len(">\n"), Span{Style: StyleData}, "\n"+dataClose, ">")
			} else {
				p.mention = i
			}
		case strings.HasSuffix(before, labelOpen):
			if attrs, n, ok := parseAttrs(after); !ok {
				p.mention = i
			} else if start := i - len(labelOpen); strings.HasPrefix(after[n:], "\n") {
				pos, err = p.fence(start, pos+n+1, Span{Style: StyleLabelled, Attrs: attrs}, "\n"+labelClose, `">`)
			} else {
				pos, err = p.fence(start, pos+n, Span{Style: StyleInline, Attrs: attrs}, labelClose, `">`)
			}
		case strings.HasSuffix(before, dataClose), strings.HasSuffix(before, labelClose):
			if p.mention < 0 || strings.Contains(p.s[p.mention:i], "\n") {
				err = fmt.Errorf("fence: byte %d: a closing tag where no fence is open", i)
			}
			p.mention = -1
		}
		if err != nil {
			return nil, err
		}
	}
	p.text(len(p.s))
	return p.spans, nil
}

// text makes a span of the bare text up to end.
func (p *parser) text(end int) {
	if end > p.bare {
		p.spans = append(p.spans, Span{Text: p.s[p.bare:end]})
	}
}

// fence reads a fence whose opening tag stands at start and whose value begins at
// from, and returns where its closing tag ends.
func (p *parser) fence(start, from int, s Span, closing, end string) (int, error) {
	i := p.find.in(p.s[from:])
	if i < 0 {
		return 0, fmt.Errorf("fence: byte %d: a fence is opened and never closed", start)
	}
	i += from
	stop := i - len(closing)
	if stop < from || p.s[stop:i] != closing || p.s[i:i+nonceLen] != p.nonce || !strings.HasPrefix(p.s[i+nonceLen:], end) {
		return 0, fmt.Errorf("fence: byte %d: expected the end of the fence opened at byte %d, found the nonce in something else", i, start)
	}
	s.Fenced, s.Text = true, p.s[from:stop]
	if s.Style == StyleInline {
		if err := oneLine(s.Text, "value"); err != nil {
			return 0, fmt.Errorf("fence: byte %d: %w", from, err)
		}
	}
	p.text(start)
	p.spans = append(p.spans, s)
	p.bare = i + nonceLen + len(end)
	p.mention = -1
	return p.bare, nil
}

// parseAttrs reads what follows the nonce of an opening labelled tag: the quote, the
// attributes and the end of the tag.
func parseAttrs(s string) (attrs []Attr, n int, ok bool) {
	rest, ok := strings.CutPrefix(s, `"`)
	for ok {
		if after, end := strings.CutPrefix(rest, ">"); end {
			return attrs, len(s) - len(after), true
		}
		if rest, ok = strings.CutPrefix(rest, " "); !ok {
			break
		}
		var name, val string
		if name, rest, ok = strings.Cut(rest, `="`); !ok || name == "" || !attrBytes(name) {
			return nil, 0, false
		}
		if val, rest, ok = strings.Cut(rest, `"`); !ok || !attrBytes(val) {
			return nil, 0, false
		}
		attrs = append(attrs, Attr{name, val})
	}
	return nil, 0, false
}
