package audit

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/analyzers/flow"
	"github.com/pinfold-dev/pinfold/analyzers/ignore"
)

// Level of a finding.
type Level string

// Levels, as SARIF names them.
const (
	Warning Level = "warning"
	Note    Level = "note"
)

// Finding is something to act on.
type Finding struct {
	Code       string
	Level      Level
	Message    string
	Pos        token.Position
	Key        string // by content, not by line
	Row        *Row
	Suppressed string // the reason of the comment that covers it
	Accepted   bool   // the baseline holds it
}

// Open reports whether nobody has answered the finding yet.
func (f *Finding) Open() bool { return f.Suppressed == "" && !f.Accepted }

// Codes of findings, with their titles.
var titles = map[string]string{
	"PF001": "untrusted text reaches model input outside a fence",
	"PF010": "a condition skips the fence",
	"PF009": "a column declared trusted that an outside source writes",
}

func (r *Report) findings(c Config) {
	for _, row := range r.Slots {
		if row.Verdict == Crosses && row.Fence() != flow.Fenced {
			f := &Finding{Code: "PF001", Level: Warning, Pos: row.Pos, Row: row}
			m := row.Main()
			role := "model input"
			if len(row.Sinks) > 0 {
				role = "the " + row.Sinks[0].Role + " text of " + row.Sinks[0].Func
			}
			if row.Kind == flow.Whole && len(row.Sinks) > 0 && row.Sinks[0].Role != "system" {
				// The message holds nothing else: the protocol's own frame is around it.
				f.Level = Note
			}
			state := "outside a fence"
			if bare, fenced := flow.PathsApart(row.Slot); bare != nil && fenced != nil {
				f.Code, f.Level, state, m = "PF010", Warning, "fenced on one path and bare on another", bare
			}
			f.Message = fmt.Sprintf("%s reaches %s %s: %s can write it (%s)", row.Name, role, state, m.Class.Who(), m.Detail)
			f.Key = key(f, row)
			r.Findings = append(r.Findings, f)
		}
		for _, o := range row.Origins {
			if o.Column == "" || row.Declared == "" || !c.trusts(row.Declared) {
				continue
			}
			for _, w := range o.Writers {
				for _, from := range w.Origins {
					if !from.Crosses() || from.Class.Authority() == flow.SQL && from.Table == o.Table && from.Column == o.Column {
						continue
					}
					f := &Finding{Code: "PF009", Level: Warning, Pos: w.Pos, Row: row}
					f.Message = fmt.Sprintf("%s.%s is declared %s, and %s writes it here (%s)", o.Table, o.Column, row.Declared, from.Class.Who(), from.Detail)
					f.Key = hash("PF009", o.Table, o.Column, w.In, w.Query, from.Detail)
					dup := false
					for _, g := range r.Findings {
						dup = dup || g.Code == f.Code && g.Key == f.Key && g.Pos == f.Pos
					}
					if !dup {
						r.Findings = append(r.Findings, f)
					}
				}
			}
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b *Finding) int {
		return cmp.Or(cmp.Compare(a.Pos.Filename, b.Pos.Filename), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column), cmp.Compare(a.Code, b.Code))
	})
}

// key names a finding by what it is about, so that lines added above it change
// nothing, and the same line twice is two findings.
func key(f *Finding, row *Row) string {
	sink := ""
	if len(row.Sinks) > 0 {
		sink = row.Sinks[0].Func + "/" + row.Sinks[0].Role
	}
	return hash(f.Code, row.Package, row.In, string(row.Kind), row.Name, sink)
}

func hash(parts ...string) string {
	h := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(h[:8])
}

// Baseline is a set of findings that were accepted as they are: by key, how often.
type Baseline struct {
	Version  int             `json:"version"`
	Findings []BaselineEntry `json:"findings"`
}

// BaselineEntry is one accepted finding. Key and Count decide; the rest is for
// the person who reads the file.
type BaselineEntry struct {
	Key     string `json:"key"`
	Count   int    `json:"count"`
	Code    string `json:"code"`
	Message string `json:"message"`
	File    string `json:"file"`
}

// ReadBaseline reads a baseline; a file that is not there is an empty one.
func ReadBaseline(name string) (*Baseline, error) {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return &Baseline{Version: 1}, nil
	}
	if err != nil {
		return nil, err
	}
	var out Baseline
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if out.Version != 1 {
		return nil, fmt.Errorf("%s: expected version 1, found %d", name, out.Version)
	}
	return &out, nil
}

// Accept marks the findings that b holds.
func (r *Report) Accept(b *Baseline) {
	left := map[string]int{}
	for _, e := range b.Findings {
		left[e.Key] += e.Count
	}
	for _, f := range r.Findings {
		if f.Suppressed == "" && left[f.Key] > 0 {
			left[f.Key]--
			f.Accepted = true
			r.Accepted++
		}
	}
}

// Baseline holds the open findings of r and those already accepted.
func (r *Report) Baseline() *Baseline {
	b := &Baseline{Version: 1, Findings: []BaselineEntry{}}
	at := map[string]int{}
	for _, f := range r.Findings {
		if f.Suppressed != "" {
			continue
		}
		if i, ok := at[f.Key]; ok {
			b.Findings[i].Count++
			continue
		}
		at[f.Key] = len(b.Findings)
		b.Findings = append(b.Findings, BaselineEntry{f.Key, 1, f.Code, f.Message, r.Rel(f.Pos.Filename)})
	}
	return b
}

// Suppression is an ignore comment with something wrong with it.
type Suppression struct {
	Pos    token.Position
	Code   string
	Reason string
	Wrong  string // "unused", "no reason"
}

// source is a file as the suppressions see it.
type source struct {
	fset *token.FileSet
	file *ast.File
}

// suppress applies the ignore comments of the audited files.
func (r *Report) suppress(files []source) {
	byFile := map[string][]*ignore.Comment{}
	var all []*ignore.Comment
	for _, s := range files {
		for _, c := range ignore.Find(s.fset, s.file) {
			all = append(all, c)
			byFile[c.Pos.Filename] = append(byFile[c.Pos.Filename], c)
		}
	}
	for _, f := range r.Findings {
		for _, c := range byFile[f.Pos.Filename] {
			if c.Covers(f.Code, f.Pos.Line) {
				c.Used = true
				f.Suppressed = c.Reason
				r.Suppressed++
				break
			}
		}
	}
	for _, c := range all {
		s := Suppression{Pos: c.Pos, Code: c.Code, Reason: c.Reason}
		switch {
		case c.Reason == "":
			s.Wrong = "no reason"
		case !c.Used && titles[c.Code] != "": // other codes are pinfoldvet's
			s.Wrong = "unused"
		default:
			continue
		}
		r.Suppress = append(r.Suppress, s)
	}
}
