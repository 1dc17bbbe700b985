// Package sourcescan asks the audit's questions of TypeScript, JavaScript and
// Python, where types are not at hand: it reads syntax trees.
//
//   - PF001 (syntactic): a name that looks like outside text is interpolated into
//     text that looks like a prompt: template literals, f-strings, format, % and +
//   - PF002: a fence or trust lookup whose argument is a literal
//   - PF003: a lane name that is not in lanes.toml
//   - PF010: a conditional expression that has a fence on one branch alone
//
// It runs nothing and resolves nothing across files, so every finding is marked
// syntactic: it says where to look, not what is so. It never looks for attacks in
// data, only for places in code.
//
// Parsing needs tree-sitter and with it cgo, and is built with the tag treesitter;
// without it Scan returns ErrNoParser. The shortest use:
//
//	r, err := sourcescan.Scan("web", sourcescan.Options{})
//	for _, f := range r.Findings {
//		fmt.Println(f)
//	}
package sourcescan

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNoParser is returned by a build without syntax trees.
var ErrNoParser = errors.New("sourcescan: built without syntax trees: build with -tags treesitter and cgo")

// Options of a scan. The zero Options uses the usual names.
type Options struct {
	Fences   []string // names of fence and trust lookups; nil: the usual ones
	Emitters []string // names of calls that put text into a lane, the lane first; nil: the usual ones
	Lanes    []string // the lanes that lanes.toml declares; nil: not known, PF003 is not asked
	SafeTags []string // tags whose template literals fence their own holes; nil: prompt, fenced, safe, untrusted
	All      bool     // parse every file, also those that the prefilter would skip
}

var (
	usualFences   = []string{"fence", "trustFence", "untrustedBanner", "wrapUntrusted", "trustLabel", "trustLabelFor", "trustOf", "laneTrustOf", "provenanceNote"}
	usualEmitters = []string{"putLane", "emitLane", "addLane", "pushLane", "injectLane", "lane"}
	usualTags     = []string{"prompt", "fenced", "safe", "untrusted"}
)

func (o *Options) fences() []string {
	list := o.Fences
	if list == nil {
		list = usualFences
	}
	var out []string
	for _, n := range list { // trustFence is trust_fence in Python
		out = append(out, n)
		if s := snake(n); s != n {
			out = append(out, s)
		}
	}
	return out
}

func (o *Options) emitters() []string {
	list := o.Emitters
	if list == nil {
		list = usualEmitters
	}
	var out []string
	for _, n := range list {
		out = append(out, n)
		if s := snake(n); s != n {
			out = append(out, s)
		}
	}
	return out
}

func (o *Options) tags() []string {
	if o.SafeTags == nil {
		return usualTags
	}
	return o.SafeTags
}

func snake(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Finding is a place to look at.
type Finding struct {
	Code    string
	Message string
	File    string
	Line    int // from 1
	Column  int // in bytes, from 1
}

func (f Finding) String() string {
	return fmt.Sprintf("%s:%d:%d: %s (syntactic) %s", f.File, f.Line, f.Column, f.Code, f.Message)
}

// Report is what a scan found.
type Report struct {
	Findings []Finding
	Files    int      // of a language that is read
	Parsed   int      // that the prefilter let through
	Bytes    int64    // of all files
	Partial  []string // files with parts that did not parse; the rest of them was read
}

// Language of a file name, or "".
func Language(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".ts", ".mts", ".cts":
		return "typescript"
	case ".tsx":
		return "tsx"
	case ".js", ".jsx", ".mjs", ".cjs":
		return "javascript"
	case ".py", ".pyi":
		return "python"
	}
	return ""
}

// skipped directories hold other people's code, or what was built.
var skipped = []string{"node_modules", "dist", "build", "out", "vendor", "__pycache__", "site-packages", "venv", "bower_components", "coverage"}

// MaxFile is the size above which a file is taken to be generated.
const MaxFile = 2 << 20

// Scan reads the files below dir. Names in the report are relative to the working
// directory, as dir is.
func Scan(dir string, o Options) (*Report, error) {
	r := &Report{}
	p, err := newParser(o)
	if err != nil {
		return nil, err
	}
	defer p.close()
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != dir && (slices.Contains(skipped, d.Name()) || strings.HasPrefix(d.Name(), ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		lang := Language(d.Name())
		if lang == "" || !d.Type().IsRegular() || strings.HasSuffix(d.Name(), ".min.js") {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Size() > MaxFile {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		r.Files++
		r.Bytes += int64(len(src))
		if !o.All && !p.matters(src) {
			return nil
		}
		r.Parsed++
		found, whole := p.file(filepath.ToSlash(path), lang, src)
		if !whole {
			r.Partial = append(r.Partial, filepath.ToSlash(path))
		}
		r.Findings = append(r.Findings, found...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("scanning %s: %w", dir, err)
	}
	sortFindings(r.Findings)
	return r, nil
}

// File scans one file that is in memory, such as a staged blob. whole is false
// when a part of it did not parse.
func File(name string, src []byte, o Options) (found []Finding, whole bool, err error) {
	lang := Language(name)
	if lang == "" {
		return nil, true, nil
	}
	p, err := newParser(o)
	if err != nil {
		return nil, false, err
	}
	defer p.close()
	if !o.All && !p.matters(src) {
		return nil, true, nil
	}
	found, whole = p.file(name, lang, src)
	sortFindings(found)
	return found, whole, nil
}

func sortFindings(fs []Finding) {
	slices.SortFunc(fs, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Code, b.Code))
	})
}

// words is the prefilter: a file that holds none of them can hold no finding.
func (o *Options) words() [][]byte {
	var out [][]byte
	for _, w := range append(o.fences(), "rompt", "role", "ystem", "nstruction", "penai", "nthropic", "llm", "LLM", "You are", "ompletion", "essages") {
		out = append(out, []byte(w))
	}
	if o.Lanes != nil {
		for _, w := range o.emitters() {
			out = append(out, []byte(w))
		}
	}
	return out
}

func containsAny(src []byte, words [][]byte) bool {
	for _, w := range words {
		if bytes.Contains(src, w) {
			return true
		}
	}
	return false
}
