package trust

import "strings"

// The text form of a label is its level, its sources in brackets, its tags in
// braces, each list sorted and left out when empty:
//
//	external[host:question tool:search_kb]{pii}
//
// It is one line of printable ASCII whatever the origins are. In a word, every byte
// but those of printable ASCII without space [ ] { } % ? is written %XX; the
// unknown origin or tag is written ?.

const hexDigits = "0123456789ABCDEF"

func plainByte(c byte) bool {
	switch c {
	case '[', ']', '{', '}', '%', '?':
		return false
	}
	return ' ' < c && c < 0x7f
}

func appendWord(dst []byte, s string) []byte {
	if s == unknown {
		return append(dst, '?')
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; plainByte(c) {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return dst
}

// parseWord is the reverse of appendWord, and takes only what appendWord writes.
func parseWord(s string) (string, bool) {
	if s == "?" {
		return unknown, true
	}
	if s == "" {
		return unknown, false
	}
	if !strings.ContainsRune(s, '%') {
		for i := 0; i < len(s); i++ {
			if !plainByte(s[i]) {
				return unknown, false
			}
		}
		return s, true
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case plainByte(c):
			b = append(b, c)
		case c == '%' && i+2 < len(s):
			hi := strings.IndexByte(hexDigits, s[i+1])
			lo := strings.IndexByte(hexDigits, s[i+2])
			if hi < 0 || lo < 0 || plainByte(byte(hi<<4|lo)) {
				return unknown, false
			}
			b = append(b, byte(hi<<4|lo))
			i += 2
		default:
			return unknown, false
		}
	}
	return string(b), true
}

// parseWords reads the inside of a list. A word it cannot read is the unknown one.
func parseWords(s string) (set Set, whole bool) {
	if s == "" {
		return Set{}, true
	}
	words := strings.Split(s, " ")
	whole = true
	for i, w := range words {
		var ok bool
		if words[i], ok = parseWord(w); !ok {
			whole = false
		}
	}
	return NewSet(words...), whole
}

// parseLabel reads the text form. An empty or unknown level is External, and so is
// a text that is damaged anywhere.
func parseLabel(s string) Label {
	var l Label
	name := s
	if i := strings.IndexAny(s, "[{"); i >= 0 {
		name = s[:i]
	}
	rest := s[len(name):]
	level, whole := levelOf(name)
	list := func(opening, closing byte) (set Set) {
		if rest == "" || rest[0] != opening {
			return Set{}
		}
		inside, after, closed := strings.Cut(rest[1:], string(closing))
		set, ok := parseWords(inside)
		whole = whole && ok && closed
		rest = after
		return set
	}
	l.sources = list('[', ']')
	l.secrecy = list('{', '}')
	if rest != "" {
		// What follows might have held more of either.
		whole = false
		l.sources = l.sources.Union(NewSet(unknown))
		l.secrecy = l.secrecy.Union(NewSet(unknown))
	}
	if whole {
		l.level = level
	}
	return l
}

// String is the text form: external[host:question tool:x]{pii}.
func (l Label) String() string {
	var room [64]byte
	return string(l.appendText(room[:0]))
}

func (l Label) appendText(dst []byte) []byte {
	dst = append(dst, l.level.String()...)
	if l.sources.Len() > 0 {
		dst = append(l.sources.append(append(dst, '[')), ']')
	}
	if l.secrecy.Len() > 0 {
		dst = append(l.secrecy.append(append(dst, '{')), '}')
	}
	return dst
}

// AppendText implements encoding.TextAppender.
func (l Label) AppendText(dst []byte) ([]byte, error) { return l.appendText(dst), nil }

// MarshalText gives the text form.
func (l Label) MarshalText() ([]byte, error) { return l.appendText(nil), nil }

// UnmarshalText reads the text form. It fails on nothing: text it cannot read is
// External, with the sources and tags it could read.
func (l *Label) UnmarshalText(b []byte) error {
	*l = parseLabel(string(b))
	return nil
}
