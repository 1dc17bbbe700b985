// Package audit finds, in any Go module, every value that becomes part of a
// language model's input, and says for each who can write it, whether it crosses
// the trust boundary and whether it stands in a fence.
//
// It reads source and never runs it. It never calls a value safe because it looks
// safe: an origin that the walk could not follow is unknown, is listed, and is
// counted apart from both sides of the ratio. It holds trust (who chose the
// characters) and sensitivity (would it hurt if they leaked) in two columns and
// never merges them.
//
// The shortest use:
//
//	report, err := audit.Run(ctx, audit.Options{Dir: ".", Patterns: []string{"./..."}})
//	if err != nil { … }
//	err = audit.Write(os.Stdout, audit.Text, report)
package audit

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/analyzers/flow"
)

// Report is the result of an audit.
type Report struct {
	Module      string
	Root        string // file names are shown relative to it
	Sinks       []flow.Sink
	Slots       []*Row
	Findings    []*Finding
	Failed      []Failure
	Suppress    []Suppression // unused or unreasoned ignore comments
	Accepted    int           // findings that the baseline holds
	Suppressed  int           // findings that an ignore comment covers
	Notes       []string
	Packages    int
	Lines       int
	LoadTime    time.Duration
	AnalyseTime time.Duration
}

// Row is one slot with what was declared about it.
type Row struct {
	*flow.Slot
	N           int
	Sensitivity string
	Declared    string // the class that audit.authorship names for its column
	Verdict     Verdict
}

// Verdict is what a slot counts as.
type Verdict uint8

// A slot is counted once: by the worst origin it has, unknowns apart.
const (
	Inside  Verdict = iota // nobody outside can write it, or it cannot carry text
	Crosses                // outside text reaches it
	Unknown                // no outside text is known to, and not everything was followed
)

func (v Verdict) String() string { return [...]string{"no", "yes", "unknown"}[v] }

// Counts is the ratio line.
type Counts struct {
	Sinks, Slots, Cross, Fenced, Unknown, UnknownFenced int
}

// Counts adds the slots up.
func (r *Report) Counts() Counts {
	c := Counts{Sinks: len(r.Sinks), Slots: len(r.Slots)}
	for _, s := range r.Slots {
		switch s.Verdict {
		case Crosses:
			c.Cross++
			if s.Fence() == flow.Fenced {
				c.Fenced++
			}
		case Unknown:
			c.Unknown++
			if s.Fence() == flow.Fenced {
				c.UnknownFenced++
			}
		}
	}
	return c
}

// Rel is a file name relative to the report's root, with forward slashes.
func (r *Report) Rel(name string) string {
	if rel, err := filepath.Rel(r.Root, name); err == nil && !strings.HasPrefix(rel, "..") {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(name)
}

// Run audits the packages that o names.
func Run(ctx context.Context, o Options) (*Report, error) {
	t, err := o.Config.table()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	p, err := load(ctx, o)
	if err != nil {
		return nil, err
	}
	r := &Report{Module: p.module, Root: p.root, Failed: p.failed, Packages: len(p.report), Lines: p.lines, LoadTime: time.Since(start)}
	start = time.Now()
	a, err := p.analyse(t, o.Limit)
	if err != nil {
		return nil, err
	}
	r.Sinks = a.Sinks()
	for i, s := range a.Slots() {
		row := &Row{Slot: s, N: i + 1}
		o.Config.judge(row)
		r.Slots = append(r.Slots, row)
	}
	r.findings(o.Config)
	r.suppress(p.sourcesOf())
	r.note()
	sort.Slice(r.Failed, func(i, j int) bool { return r.Failed[i].Package < r.Failed[j].Package })
	r.AnalyseTime = time.Since(start)
	return r, nil
}

// note says what a reader should know before believing the ratio.
func (r *Report) note() {
	c := r.Counts()
	if c.Slots >= 4 && c.Cross == c.Slots {
		r.Notes = append(r.Notes, "every slot crosses the boundary: an audit that finds this has probably classified by sensitivity, or counts its own configuration as outside text; look at the origins before believing it")
	}
	if c.Slots >= 4 && 2*c.Unknown > c.Slots {
		r.Notes = append(r.Notes, "more than half of the slots are unknown: their values come from callers or libraries outside this module; audit the program that imports it, or run with --deps")
	}
	if c.Sinks == 0 {
		r.Notes = append(r.Notes, "no place was found where text becomes model input: if there is one, name it under audit.sinks in pinfold.yaml")
	}
	for _, f := range r.Failed {
		_ = f
	}
	if n := len(r.Failed); n > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d of the packages could not be analysed: what is in them is in none of the numbers", n))
	}
}

// judge fills in what the configuration says about a slot.
func (c *Config) judge(row *Row) {
	crosses, unknown := false, false
	for _, o := range row.Origins {
		trusted := false
		if o.Column != "" {
			if class, ok := lookup(c.Authorship, o.Table, o.Column); ok {
				row.Declared = class
				trusted = c.trusts(class)
			}
		}
		if !trusted {
			crosses = crosses || o.Crosses()
			unknown = unknown || o.Unknown()
		}
		if row.Sensitivity == "" {
			row.Sensitivity = c.sensitivity(row, o)
		}
	}
	switch {
	case crosses:
		row.Verdict = Crosses
	case unknown:
		row.Verdict = Unknown
	}
}

func (c *Config) sensitivity(row *Row, o *flow.Origin) string {
	if s, ok := lookup(c.Sensitivity, o.Table, o.Column); ok && o.Column != "" {
		return s
	}
	keys := make([]string, 0, len(c.Sensitivity))
	for k := range c.Sensitivity {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		for _, name := range []string{row.Name, o.Detail, strings.Trim(row.Name, "{}.")} {
			if ok, _ := path.Match(k, name); ok || strings.HasSuffix(name, "."+k) {
				return c.Sensitivity[k]
			}
		}
	}
	return ""
}

// lookup finds table.column in a map whose keys may be table.* or *.column.
func lookup(m map[string]string, table, column string) (string, bool) {
	for _, k := range []string{table + "." + column, "*." + column, table + ".*"} {
		for name, v := range m {
			if strings.EqualFold(name, k) {
				return v, true
			}
		}
	}
	return "", false
}
