package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/pinfold-dev/pinfold/analyzers/flow"
	"github.com/pinfold-dev/pinfold/analyzers/ignore"
)

// Format of a report.
type Format string

// Formats.
const (
	Text     Format = "text"
	Markdown Format = "markdown"
	JSON     Format = "json"
	SARIF    Format = "sarif"
	HTML     Format = "html"
)

// Write writes r in a format.
func Write(w io.Writer, f Format, r *Report) error {
	switch f {
	case Text, "":
		return writeText(w, r)
	case Markdown:
		return writeMarkdown(w, r)
	case JSON:
		return writeJSON(w, r)
	case SARIF:
		return writeSARIF(w, r)
	case HTML:
		return writeHTML(w, r)
	}
	return fmt.Errorf("format: expected text, markdown, json, sarif or html, found %q", f)
}

// cells are the columns of the table, as text.
type cells struct {
	N, Slot, Sink, Filled, Frames, Origin, Who, Crosses, Fenced, Sensitivity string
}

var headings = cells{"#", "slot", "sink", "filled at", "frames", "origin", "who can write it", "crosses", "fenced", "sensitivity"}

func (c cells) list() []string {
	return []string{c.N, c.Slot, c.Sink, c.Filled, c.Frames, c.Origin, c.Who, c.Crosses, c.Fenced, c.Sensitivity}
}

func (r *Report) cells(row *Row) cells {
	m := row.Main()
	c := cells{
		N: fmt.Sprint(row.N), Slot: row.Name, Frames: fmt.Sprint(m.Frames),
		Filled: r.at(row.Pos.Filename, row.Pos.Line), Origin: m.Detail, Who: who(m),
		Crosses: row.Verdict.String(), Fenced: row.Fence().String(), Sensitivity: row.Sensitivity,
	}
	if m.Class == flow.Constant {
		c.Origin = "constants"
	}
	if row.Kind == flow.Whole {
		c.Slot += " (whole message)"
	}
	if len(row.Sinks) > 0 {
		s := row.Sinks[0]
		c.Sink = s.Role + " " + r.at(s.Pos.Filename, s.Pos.Line)
		if n := len(row.Sinks) - 1; n > 0 {
			c.Sink += fmt.Sprintf(" (+%d)", n)
		}
	}
	if row.Verdict == Inside {
		c.Fenced = "–"
	}
	if row.Declared != "" {
		c.Who += ", declared " + row.Declared
	}
	if n := len(row.Origins) - 1; n > 0 {
		c.Origin += fmt.Sprintf(" (+%d)", n)
	}
	return c
}

func who(o *flow.Origin) string {
	w := o.Class.Who()
	if o.Scalar {
		w += ", as a number, time or id"
	}
	return w
}

func (r *Report) at(file string, line int) string {
	if file == "" {
		return "–"
	}
	return fmt.Sprintf("%s:%d", r.Rel(file), line)
}

// Line is the ratio, with the unknowns apart.
func (c Counts) Line() string {
	s := fmt.Sprintf("slots %d · cross the boundary %d · fenced %d", c.Slots, c.Cross, c.Fenced)
	if c.Unknown > 0 {
		s += fmt.Sprintf(" · unknown %d (in neither number)", c.Unknown)
	}
	return s
}

// columns says, for the SQL columns of a slot, who writes them.
func (r *Report) written(row *Row) []string {
	var out []string
	for _, o := range row.Origins {
		if o.Column == "" || o.Scalar {
			continue
		}
		name := o.Table + "." + o.Column
		if o.Table == "" {
			name = "?." + o.Column
		}
		if len(o.Writers) == 0 {
			state := "no writer found in this module"
			if row.Declared != "" {
				state = "declared " + row.Declared + ", unverified: " + state
			} else {
				state += ": add audit.authorship." + name
			}
			out = append(out, name+": "+state)
			continue
		}
		for _, w := range o.Writers {
			var from []string
			for i, f := range w.Origins {
				if i == 3 {
					from = append(from, fmt.Sprintf("%d more", len(w.Origins)-3))
					break
				}
				from = append(from, strings.TrimSpace(f.Class.Who()+" "+f.Detail))
			}
			if len(from) == 0 {
				from = []string{"nothing that was found"}
			}
			out = append(out, fmt.Sprintf("%s written at %s by %s", name, r.at(w.Pos.Filename, w.Pos.Line), strings.Join(from, "; ")))
		}
		if row.Declared == "" {
			out[len(out)-1] += " (add audit.authorship." + name + " to say who that is)"
		}
	}
	return out
}

func writeText(w io.Writer, r *Report) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s: %d packages, %d places where text becomes model input\n\n", r.Module, r.Packages, len(r.Sinks))
	if len(r.Slots) > 0 {
		tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
		fmt.Fprintln(tw, strings.Join(headings.list(), "\t"))
		for _, row := range r.Slots {
			list := r.cells(row).list()
			for i := range list {
				list[i] = clip(list[i], 48)
			}
			fmt.Fprintln(tw, strings.Join(list, "\t"))
		}
		if err := tw.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(b)
	}
	for _, row := range r.Slots {
		for _, l := range r.written(row) {
			fmt.Fprintf(b, "%d  %s\n", row.N, l)
		}
	}
	r.tail(b, "")
	_, err := io.WriteString(w, b.String())
	return err
}

func clip(s string, n int) string {
	rs := []rune(s)
	if len(rs) <= n {
		return s
	}
	return string(rs[:n-1]) + "…"
}

// tail is what stands under the table in text and markdown.
func (r *Report) tail(b *strings.Builder, bullet string) {
	line := func(format string, a ...any) { fmt.Fprintf(b, bullet+format+"\n", a...) }
	open := 0
	for _, f := range r.Findings {
		if f.Open() && f.Code != "PF001" {
			line("%s: %s %s", r.at(f.Pos.Filename, f.Pos.Line), f.Code, f.Message)
		}
		if f.Open() {
			open++
		}
	}
	for _, s := range r.Suppress {
		line("%s: %s %s: %s", r.at(s.Pos.Filename, s.Pos.Line), ignore.Directive, s.Code, s.Wrong)
	}
	for _, f := range r.Failed {
		line("not analysed: %s: %s", f.Package, f.Err)
	}
	for _, n := range r.Notes {
		line("note: %s", n)
	}
	if r.Accepted+r.Suppressed > 0 {
		line("%d findings, %d more in the baseline, %d suppressed with a reason", open, r.Accepted, r.Suppressed)
	}
	fmt.Fprintln(b, r.Counts().Line())
}

func writeMarkdown(w io.Writer, r *Report) error {
	b := &strings.Builder{}
	esc := func(s string) string {
		return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", "`", "'", "*", `\*`, "_", `\_`, "[", `\[`).Replace(s)
	}
	fmt.Fprintf(b, "# Slots of %s\n\n**%s**\n\n", esc(r.Module), r.Counts().Line())
	if len(r.Slots) > 0 {
		h := headings.list()
		fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(h, " | "), strings.Repeat(" --- |", len(h)))
		for _, row := range r.Slots {
			list := r.cells(row).list()
			for i := range list {
				list[i] = esc(list[i])
			}
			fmt.Fprintf(b, "| %s |\n", strings.Join(list, " | "))
		}
		fmt.Fprintln(b)
	}
	for _, row := range r.Slots {
		for _, l := range r.written(row) {
			fmt.Fprintf(b, "- %d: %s\n", row.N, esc(l))
		}
	}
	fmt.Fprintln(b)
	r.tail(b, "- ")
	_, err := io.WriteString(w, b.String())
	return err
}

// The JSON form. Field names are part of the interface.
type (
	jsonReport struct {
		Version  int           `json:"version"`
		Module   string        `json:"module"`
		Counts   jsonCounts    `json:"counts"`
		Sinks    []jsonSink    `json:"sinks"`
		Slots    []jsonSlot    `json:"slots"`
		Findings []jsonFinding `json:"findings"`
		Failed   []Failure     `json:"not_analysed"`
		Notes    []string      `json:"notes"`
	}
	jsonCounts struct {
		Sinks   int `json:"sinks"`
		Slots   int `json:"slots"`
		Cross   int `json:"cross"`
		Fenced  int `json:"fenced"`
		Unknown int `json:"unknown"`
	}
	jsonPlace struct {
		File   string `json:"file"`
		Line   int    `json:"line"`
		Column int    `json:"column"`
	}
	jsonSlot struct {
		N           int          `json:"n"`
		Name        string       `json:"slot"`
		Kind        flow.Kind    `json:"kind"`
		At          jsonPlace    `json:"filled_at"`
		In          string       `json:"in"`
		Sinks       []jsonSink   `json:"sinks"`
		Origins     []jsonOrigin `json:"origins"`
		Crosses     string       `json:"crosses"`
		Fenced      string       `json:"fenced"`
		Sensitivity string       `json:"sensitivity,omitempty"`
		Declared    string       `json:"declared,omitempty"`
	}
	jsonSink struct {
		Func string    `json:"func"`
		Role string    `json:"role"`
		At   jsonPlace `json:"at"`
	}
	jsonOrigin struct {
		Class   flow.Class   `json:"class"`
		Detail  string       `json:"detail,omitempty"`
		Trust   string       `json:"trust"`
		At      *jsonPlace   `json:"at,omitempty"`
		Frames  int          `json:"frames"`
		Scalar  bool         `json:"scalar,omitempty"`
		Fenced  bool         `json:"fenced,omitempty"`
		Column  string       `json:"column,omitempty"`
		Query   string       `json:"query,omitempty"`
		Reason  string       `json:"reason,omitempty"`
		Path    []jsonStep   `json:"path,omitempty"`
		Writers []jsonWriter `json:"written_at,omitempty"`
	}
	jsonStep struct {
		What string    `json:"what"`
		At   jsonPlace `json:"at"`
	}
	jsonWriter struct {
		At      jsonPlace    `json:"at"`
		Query   string       `json:"query,omitempty"`
		Origins []jsonOrigin `json:"origins"`
	}
	jsonFinding struct {
		Code       string    `json:"code"`
		Level      Level     `json:"level"`
		Message    string    `json:"message"`
		At         jsonPlace `json:"at"`
		Key        string    `json:"key"`
		Slot       int       `json:"slot"`
		Suppressed string    `json:"suppressed,omitempty"`
		Baseline   bool      `json:"baseline,omitempty"`
	}
)

func (r *Report) json() jsonReport {
	c := r.Counts()
	out := jsonReport{Version: 1, Module: r.Module, Counts: jsonCounts{c.Sinks, c.Slots, c.Cross, c.Fenced, c.Unknown},
		Sinks: []jsonSink{}, Slots: []jsonSlot{}, Findings: []jsonFinding{}, Failed: r.Failed, Notes: r.Notes}
	for _, k := range r.Sinks {
		out.Sinks = append(out.Sinks, jsonSink{k.Func, k.Role, r.place(k.Pos.Filename, k.Pos.Line, k.Pos.Column)})
	}
	for _, row := range r.Slots {
		s := jsonSlot{N: row.N, Name: row.Name, Kind: row.Kind, In: row.In, At: r.place(row.Pos.Filename, row.Pos.Line, row.Pos.Column),
			Crosses: row.Verdict.String(), Fenced: row.Fence().String(), Sensitivity: row.Sensitivity, Declared: row.Declared}
		for _, k := range row.Sinks {
			s.Sinks = append(s.Sinks, jsonSink{k.Func, k.Role, r.place(k.Pos.Filename, k.Pos.Line, k.Pos.Column)})
		}
		for _, o := range row.Origins {
			s.Origins = append(s.Origins, r.jsonOrigin(o))
		}
		out.Slots = append(out.Slots, s)
	}
	for _, f := range r.Findings {
		out.Findings = append(out.Findings, jsonFinding{f.Code, f.Level, f.Message, r.place(f.Pos.Filename, f.Pos.Line, f.Pos.Column), f.Key, f.Row.N, f.Suppressed, f.Accepted})
	}
	return out
}

func (r *Report) place(file string, line, col int) jsonPlace {
	return jsonPlace{r.Rel(file), line, col}
}

func (r *Report) jsonOrigin(o *flow.Origin) jsonOrigin {
	j := jsonOrigin{Class: o.Class, Detail: o.Detail, Trust: o.Trust().String(), Frames: o.Frames, Scalar: o.Scalar, Fenced: o.Fenced, Query: o.Query, Reason: o.Reason}
	if o.Pos.IsValid() {
		p := r.place(o.Pos.Filename, o.Pos.Line, o.Pos.Column)
		j.At = &p
	}
	if o.Column != "" {
		j.Column = strings.TrimPrefix(o.Table+"."+o.Column, ".")
	}
	for _, s := range o.Path {
		j.Path = append(j.Path, jsonStep{s.What, r.place(s.Pos.Filename, s.Pos.Line, s.Pos.Column)})
	}
	for _, w := range o.Writers {
		jw := jsonWriter{At: r.place(w.Pos.Filename, w.Pos.Line, w.Pos.Column), Query: w.Query, Origins: []jsonOrigin{}}
		for _, f := range w.Origins {
			jf := r.jsonOrigin(f)
			jf.Path = nil
			jw.Origins = append(jw.Origins, jf)
		}
		j.Writers = append(j.Writers, jw)
	}
	return j
}

func writeJSON(w io.Writer, r *Report) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r.json())
}
