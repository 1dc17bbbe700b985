package prompt

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// piece is a run of the template's text, or a hole.
type piece struct {
	text string
	slot string // of a hole
	line int    // where it begins
}

// section is one message's pieces.
type section struct {
	name   string // system or user
	line   int    // of its marker; 0 without one
	pieces []piece
}

const (
	sectionSystem = "system"
	sectionUser   = "user"
)

// fault is something wrong at a line of a template.
type fault func(line int, err error)

// scan takes a template apart. It is the only pass there is, and sees no value.
// firstLine is the number of text's first line.
func scan(text string, firstLine int, report fault) []section {
	s := scanner{text: text, line: firstLine, report: report, sections: []section{{name: sectionUser}}}
	if !utf8.ValidString(text) {
		bad := 0
		for i, r := range text {
			if _, n := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && n == 1 {
				bad = i
				break
			}
		}
		report(firstLine+strings.Count(text[:bad], "\n"), errors.New("bytes that are not UTF-8"))
		return nil
	}
	for {
		i := strings.Index(text[s.pos:], "{{")
		if i < 0 {
			s.take(len(text))
			break
		}
		s.take(s.pos + i)
		if strings.HasPrefix(text[s.pos:], "{{#") {
			s.marker()
		} else {
			s.hole()
		}
	}
	return s.finish()
}

type scanner struct {
	text     string
	pos      int
	line     int // of pos
	report   fault
	sections []section // the last is the one that is being read
}

func (s *scanner) add(p piece) {
	last := &s.sections[len(s.sections)-1]
	last.pieces = append(last.pieces, p)
}

// take makes the text up to end a piece.
func (s *scanner) take(end int) {
	if end > s.pos {
		t := s.text[s.pos:end]
		s.add(piece{text: t, line: s.line})
		s.line += strings.Count(t, "\n")
		s.pos = end
	}
}

// hole reads {{name}}.
func (s *scanner) hole() {
	rest := s.text[s.pos+2:]
	n := 0
	for n < len(rest) && (letter(rest[n]) || '0' <= rest[n] && rest[n] <= '9' || rest[n] == '_') {
		n++
	}
	if isName(rest[:n]) && strings.HasPrefix(rest[n:], "}}") {
		s.add(piece{slot: rest[:n], line: s.line})
		s.pos += n + 4
		return
	}
	s.wrong("expected {{name}}: a slot's name of letters, digits and _, without white space")
}

// wrong reports what follows {{ and goes on behind it.
func (s *scanner) wrong(expected string) {
	line := s.text[s.pos:]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	end := strings.Index(line, "}}")
	if end < 0 {
		s.report(s.line, fmt.Errorf("a {{ that no }} closes on its line: %s", expected))
		s.pos += len(line)
		return
	}
	for end += 2; end < len(line) && line[end] == '}'; end++ {
	}
	s.report(s.line, fmt.Errorf("%s, found %s", expected, shown(line[:end])))
	s.pos += end
}

// marker reads {{#system}} or {{#user}} on a line of its own.
func (s *scanner) marker() {
	for _, name := range []string{sectionSystem, sectionUser} {
		mark := "{{#" + name + "}}"
		if !strings.HasPrefix(s.text[s.pos:], mark) {
			continue
		}
		end := s.pos + len(mark)
		if s.pos > 0 && s.text[s.pos-1] != '\n' || end < len(s.text) && s.text[end] != '\n' {
			s.report(s.line, fmt.Errorf("%s: expected a line of its own", mark))
			s.pos = end
			return
		}
		for _, before := range s.sections {
			switch {
			case before.line == 0:
			case before.name == name:
				s.report(s.line, fmt.Errorf("section %s: expected once, found it at line %d too", name, before.line))
			case name == sectionSystem:
				s.report(s.line, fmt.Errorf("section system: expected before section user of line %d", before.line))
			}
		}
		s.sections = append(s.sections, section{name: name, line: s.line})
		s.pos = end
		return
	}
	s.wrong("expected {{#system}} or {{#user}}")
}

// finish drops what stands before the first marker, which must be nothing, and the
// line breaks at the ends of sections.
func (s *scanner) finish() []section {
	if len(s.sections) > 1 {
		for _, p := range s.sections[0].pieces {
			if p.slot != "" || strings.Trim(p.text, "\n") != "" {
				s.report(p.line, errors.New("something before the first section: it belongs to no message"))
				break
			}
		}
		s.sections = s.sections[1:]
		for i := range s.sections {
			s.sections[i].trim()
		}
	}
	return s.sections
}

func (s *section) trim() {
	if p := s.pieces; len(p) > 0 && p[0].slot == "" {
		t := strings.TrimLeft(p[0].text, "\n")
		p[0].line += len(p[0].text) - len(t)
		if p[0].text = t; t == "" {
			s.pieces = p[1:]
		}
	}
	if p := s.pieces; len(p) > 0 && p[len(p)-1].slot == "" {
		last := &p[len(p)-1]
		if last.text = strings.TrimRight(last.text, "\n"); last.text == "" {
			s.pieces = p[:len(p)-1]
		}
	}
}
