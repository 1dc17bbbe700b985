// Package audit finds, in any Go module, every value that reaches a language
// model's input, and says who can write it.
package audit

import (
	"context"
	"fmt"
	"sort"
	"time"

	"github.com/pinfold-dev/pinfold/analyzers/flow"
)

// Config is what pinfold.yaml says to an audit.
type Config struct {
	Sinks       []SinkRule
	Fences      []string
	Authorship  map[string]string
	Sensitivity map[string]string
}

// SinkRule names one more sink.
type SinkRule struct {
	Func string
	Arg  int
	Role string
}

// Report is the result of an audit.
type Report struct {
	Module   string
	Root     string
	Sinks    []flow.Sink
	Slots    []*Row
	Failed   []Failure
	Lines    int
	Load     time.Duration
	Walk     time.Duration
}

// Row is one slot with what was declared about it.
type Row struct {
	*flow.Slot
	Sensitivity string
}

// Run audits the packages that o names.
func Run(ctx context.Context, o Options) (*Report, error) {
	t, err := flow.Default()
	if err != nil {
		return nil, err
	}
	for _, s := range o.Config.Sinks {
		if err := t.Prepend("func", s.Func, fmt.Sprint(s.Arg), s.Role); err != nil {
			return nil, fmt.Errorf("audit.sinks: %w", err)
		}
	}
	start := time.Now()
	p, err := load(ctx, o)
	if err != nil {
		return nil, err
	}
	r := &Report{Module: p.module, Root: p.root, Failed: p.failed, Lines: p.lines, Load: time.Since(start)}
	start = time.Now()
	a, err := p.analyse(t, 0)
	if err != nil {
		return nil, err
	}
	r.Sinks = a.Sinks()
	for _, s := range a.Slots() {
		r.Slots = append(r.Slots, &Row{Slot: s})
	}
	r.Walk = time.Since(start)
	sort.Slice(r.Failed, func(i, j int) bool { return r.Failed[i].Package < r.Failed[j].Package })
	return r, nil
}
