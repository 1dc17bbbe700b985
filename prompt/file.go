package prompt

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Ext is how the name of a template's file ends.
const Ext = ".prompt"

// Load reads a template from a file that was embedded when the program was built. A
// directory that is read at run time would make its files the author's own text, so
// nothing else than an embed.FS is taken, and the name is a constant.
//
//	---
//	slots:
//	  article: {trust: outside, origins: [community_article], budget: 8000}
//	  name: {trust: outside, origins: [customer_profile], inline: 200}
//	  plan: {trust: own}
//	sections: [system, user]
//	sensitivity:
//	  name: [pii]
//	---
//	{{#system}}
//	You help {{plan}} customers.
//	{{#user}}
//	…
//
// The front matter is strict: an unknown key, a misspelt word, a key that stands twice
// is an error with its line and column; case and white space count. A slot has trust
// (own or outside), and when it is outside, origins and as wanted budget (characters,
// or {tokens: n}), keep (head, tail or both), inline (characters) and allow_in_system
// (the reason). sections says which sections the body has, and is [user] where it is
// left out; sensitivity gives tags to slots. A byte order mark and CRLF line ends are
// read as if they were not there. Line breaks at both ends of a section are dropped.
func Load(files embed.FS, name constant) (*Template, error) {
	return load(files, string(name))
}

// MustLoad is Load for a package's variables: it panics when something is wrong.
func MustLoad(files embed.FS, name constant) *Template {
	t, err := load(files, string(name))
	if err != nil {
		panic(err)
	}
	return t
}

// MustLoadTyped is MustLoad for code that pinfold gen wrote. It panics as well when
// the file declares other slots than that code was written for, which Signature gave.
func MustLoadTyped(files embed.FS, name, signature constant) *Template {
	t := MustLoad(files, name)
	if now := Signature(t.Slots()); now != string(signature) {
		panic(fmt.Sprintf("prompt: %s: its slots are not those that pinfold gen wrote code for: run it again; expected %s, found %s", name, signature, now))
	}
	return t
}

// Signature is what code for a template depends on: the names and trusts of its slots,
// by name.
func Signature(slots []Declaration) string {
	words := make([]string, len(slots))
	for i, s := range slots {
		words[i] = s.Name + " " + s.Trust
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}

// Declarations checks the text of a template's file and gives its slots in the order
// in which they are declared. It makes no Template: whoever reads files at run time
// may look at one.
func Declarations(file string, text []byte) ([]Declaration, error) {
	s, err := read(file, string(text))
	if err != nil {
		return nil, err
	}
	var t Template
	if _, err := s.check(&t); err != nil {
		return nil, err
	}
	all := make([]Declaration, len(s.slots))
	for i, d := range s.slots {
		all[i] = t.slots[t.find(d.name)].declaration()
	}
	return all, nil
}

func load(files embed.FS, name string) (*Template, error) {
	if !strings.HasSuffix(name, Ext) {
		return nil, &Error{File: name, Err: fmt.Errorf("expected a name that ends in %s", Ext)}
	}
	text, err := files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("prompt: %w", err)
	}
	s, err := read(name, string(text))
	if err != nil {
		return nil, err
	}
	return s.parse()
}

// read takes a file apart.
func read(file, text string) (source, error) {
	s := source{file: file, embedded: true}
	wrong := func(line int, format string, args ...any) (source, error) {
		return source{}, &Error{File: file, Line: line, Err: fmt.Errorf(format, args...)}
	}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	if !utf8.ValidString(text) {
		i := 0
		for i < len(text) {
			r, n := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			i += n
		}
		return wrong(1+strings.Count(text[:i], "\n"), "bytes that are not UTF-8")
	}
	const rule = "---\n"
	rest, ok := strings.CutPrefix(text, rule)
	if !ok {
		return wrong(1, "expected --- and front matter that declares the slots")
	}
	front, body, ok := strings.Cut("\n"+rest, "\n"+rule)
	if !ok {
		if front, ok = strings.CutSuffix("\n"+rest, "\n---"); !ok {
			return wrong(1, "the front matter does not end: expected a line ---")
		}
		body = ""
	}
	// The line break that front begins with stands for the first ---, and makes the
	// places in it those of the file.
	s.text, s.line = body, strings.Count(front, "\n")+3
	if err := s.declare(front); err != nil {
		return source{}, err
	}
	return s, nil
}
