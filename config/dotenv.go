package config

import (
	"path/filepath"
	"strings"
)

// keys finds secrets: the process environment, then the project's .env, then the
// user's (LANGUAGE.md §21.1). .env files are read and never exported.
type keys struct {
	sys      System
	project  dotenv
	user     dotenv
	accepted bool // of the project's .env
	warn     func(format string, args ...any)
	warned   bool
}

type dotenv struct {
	path string // "" when there can be none
	vars map[string]string
}

func newKeys(sys System, req Request, r *Resolved) *keys {
	k := &keys{sys: sys, warn: r.warn}
	k.project.path = filepath.Join(Project(req.Machine, req.Dir), ".env")
	content := k.load(&k.project)
	k.accepted = content != nil && req.accepts(k.project.path, content)
	if dir := sys.Dirs().Config; dir != "" {
		k.user.path = filepath.Join(dir, ".env")
		k.load(&k.user)
	}
	return k
}

func (k *keys) load(d *dotenv) []byte {
	content, ok, err := k.sys.file(d.path)
	if err != nil {
		k.warn("%v", err)
		return nil
	}
	if !ok {
		return nil
	}
	var bad []int
	d.vars, bad = parseDotenv(string(content))
	for _, line := range bad {
		k.warn("%s:%d: no NAME=value: the line is ignored", d.path, line) // its text may be a secret
	}
	return content
}

// find is the value of a variable and where it was found. A project's .env that
// nobody accepted gives nothing: whoever wrote it would choose whose account, and
// whose log, the prompts go to.
func (k *keys) find(name string) (secret, from string) {
	if v := k.sys.lookup(name); v != "" {
		return v, "environment"
	}
	if v := k.project.vars[name]; v != "" {
		if k.accepted {
			return v, k.project.path
		}
		if !k.warned {
			k.warned = true
			k.warn("%s is ignored: it was found beside the machine and nobody accepted it: pinfold trust %s", k.project.path, filepath.Dir(k.project.path))
		}
	}
	if v := k.user.vars[name]; v != "" {
		return v, k.user.path
	}
	return "", ""
}

// looked lists the places for a message.
func (k *keys) looked() []string {
	places := []string{"the environment", k.project.path}
	if k.project.vars != nil && !k.accepted {
		places = places[:1]
	}
	if k.user.path != "" {
		places = append(places, k.user.path)
	}
	return places
}

// parseDotenv reads lines NAME=value: an optional export, quotes, # comments. It
// expands nothing. bad are the numbers of lines that are none of that.
func parseDotenv(s string) (vars map[string]string, bad []int) {
	vars = map[string]string{}
	s = strings.TrimPrefix(s, "\ufeff")
	n := 0
	for line := range strings.Lines(s) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "export"); ok && rest != "" && (rest[0] == ' ' || rest[0] == '\t') {
			line = strings.TrimSpace(rest)
		}
		name, v, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if ok {
			v, ok = unquote(strings.TrimSpace(v))
		}
		if !ok || name == "" || strings.ContainsFunc(name, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		}) {
			bad = append(bad, n)
			continue
		}
		vars[name] = v
	}
	return vars, bad
}

// unquote reads a value: in single quotes literal, in double quotes with \n \t \"
// and \\, bare up to a comment.
func unquote(s string) (string, bool) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		for i := range len(s) {
			if s[i] == '#' && (i == 0 || s[i-1] == ' ' || s[i-1] == '\t') {
				s = s[:i]
				break
			}
		}
		return strings.TrimSpace(s), true
	}
	quote := s[0]
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		c := s[i]
		if c == quote {
			rest := strings.TrimSpace(s[i+1:])
			return b.String(), rest == "" || rest[0] == '#'
		}
		if c == '\\' && quote == '"' && i+1 < len(s) {
			i++
			switch s[i] {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case '"', '\\':
				c = s[i]
			default:
				b.WriteByte('\\')
				c = s[i]
			}
		}
		b.WriteByte(c)
	}
	return "", false // the quote is not closed
}
