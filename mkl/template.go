package mkl

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/internal/raw"
	"github.com/pinfold-dev/pinfold/trust"
)

// Template is a string with placeholders, scanned once (LANGUAGE.md §6).
//
// Its texts are program text and may stand in a prompt bare whoever wrote the
// program. An argument made from it alone is only as good as the program's
// authorship: what is filled into input: never gets a label above that of
// [Binding.Value].
type Template struct {
	Source     trust.Text
	Segments   []Segment // the placeholders, and the literal text between them, never empty and never two in a row
	Pos        Pos
	Authorship Authorship
}

// Segment is literal author text, or a placeholder when Path is not nil.
type Segment struct {
	Text trust.Text // literal text; for a placeholder the text as written, braces included
	Path []string   // segments of the path; Path[0] is the root. One may be empty: that is missing wherever it is looked up
}

// Single reports the path when the template is exactly one placeholder with
// nothing but white space around it.
func (t *Template) Single() (path []string, ok bool) {
	if t == nil {
		return nil, false
	}
	for i := range t.Segments {
		s := &t.Segments[i]
		switch {
		case s.Path == nil:
			if strings.TrimSpace(s.Text.String()) != "" {
				return nil, false
			}
		case path != nil:
			return nil, false
		default:
			path = s.Path
		}
	}
	return path, path != nil
}

// First reports the path of the first placeholder.
func (t *Template) First() (path []string, ok bool) {
	if t == nil {
		return nil, false
	}
	for i := range t.Segments {
		if p := t.Segments[i].Path; p != nil {
			return p, true
		}
	}
	return nil, false
}

// scanTemplate scans text of the author's document for placeholders: {{, any
// white space, a path of Unicode letters, numbers, _ and ., any white space, }}.
// Anything else stays as written. It looks at each character once or twice,
// whatever the text is, and the segments' texts joined are the text.
func scanTemplate(text string, a Authorship) Template {
	t := Template{Source: trust.FromRaw(raw.Of(text)), Authorship: a}
	literal := 0 // where the literal text not yet written begins
	for at := 0; ; {
		i := strings.Index(text[at:], "{{")
		if i < 0 {
			break
		}
		open := at + i
		path, end, ok := scanPath(text, open+2)
		if !ok {
			// A path holds no brace, so the next {{ begins at the brace that
			// stopped it, or the second of this pair begins one.
			if at = end; end == open+2 {
				at = open + 1
			}
			continue
		}
		if t.Segments == nil {
			t.Segments = make([]Segment, 0, min(16, 1+2*strings.Count(text[open:], "{{")))
		}
		if literal < open {
			t.Segments = append(t.Segments, Segment{Text: trust.FromRaw(raw.Of(text[literal:open]))})
		}
		t.Segments = append(t.Segments, Segment{
			Text: trust.FromRaw(raw.Of(text[open:end])),
			Path: strings.Split(path, "."),
		})
		at, literal = end, end
	}
	if literal < len(text) {
		t.Segments = append(t.Segments, Segment{Text: trust.FromRaw(raw.Of(text[literal:]))})
	}
	return t
}

// scanPath reads white space, path, white space and }} at i. When it is no
// placeholder, end is where that shows.
func scanPath(text string, i int) (path string, end int, ok bool) {
	i = skipSpace(text, i)
	start := i
	for i < len(text) {
		c := text[i]
		if c < utf8.RuneSelf {
			if c != '_' && c != '.' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
				break
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			break
		}
		i += size
	}
	path = text[start:i]
	i = skipSpace(text, i)
	if path == "" || !strings.HasPrefix(text[i:], "}}") {
		return "", i, false
	}
	return path, i + 2, true
}

func skipSpace(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !unicode.IsSpace(r) {
			break
		}
		i += size
	}
	return i
}

// Placeholder is a placeholder found in a text: the path it leads to and how it is
// written.
type Placeholder struct {
	Path    []string
	Written string
}

// Placeholders finds the placeholders of any text, for those who only look. It makes
// no template and nothing that is the author's own.
func Placeholders(text string) []Placeholder {
	t := scanTemplate(text, AuthorshipModel)
	var out []Placeholder
	for i := range t.Segments {
		if s := &t.Segments[i]; s.Path != nil {
			out = append(out, Placeholder{s.Path, s.Text.String()})
		}
	}
	return out
}
