package audit

import (
	_ "embed"
	"html/template"
	"io"
	"strings"
)

//go:embed report.html
var reportHTML string

type htmlRow struct {
	Cells                    cells
	Trust, Sensitivity, Kind string
	Origins                  []htmlOrigin
	Written                  []string
	In                       string
}

type htmlOrigin struct {
	Who, Detail, Trust, Fenced string
	Frames                     int
	Steps                      []htmlStep
}

type htmlStep struct{ What, In, At string }

// writeHTML writes one self-contained page: no script, style or font is fetched.
// All text of the audited source goes through html/template's escaping.
func writeHTML(w io.Writer, r *Report) error {
	t, err := template.New("report").Parse(reportHTML)
	if err != nil {
		return err
	}
	var rows []htmlRow
	sens := []string{}
	seen := map[string]bool{}
	for _, row := range r.Slots {
		h := htmlRow{Cells: r.cells(row), Sensitivity: row.Sensitivity, Kind: string(row.Kind), Written: r.written(row), In: row.In}
		h.Trust = [...]string{"inside", "crosses", "unknown"}[row.Verdict]
		if row.Sensitivity != "" && !seen[row.Sensitivity] {
			seen[row.Sensitivity] = true
			sens = append(sens, row.Sensitivity)
		}
		for _, o := range row.Origins {
			ho := htmlOrigin{Who: who(o), Detail: o.Detail, Trust: o.Trust().String(), Frames: o.Frames}
			if o.Fenced {
				ho.Fenced = "fenced"
			}
			if o.Scalar {
				ho.Trust = "scalar"
			}
			ho.Steps = append(ho.Steps, htmlStep{"starts as " + first(o.Detail, string(o.Class)), o.In, r.at(o.Pos.Filename, o.Pos.Line)})
			for _, s := range o.Path {
				ho.Steps = append(ho.Steps, htmlStep{s.What, s.In, r.at(s.Pos.Filename, s.Pos.Line)})
			}
			h.Origins = append(h.Origins, ho)
		}
		rows = append(rows, h)
	}
	var findings []string
	for _, f := range r.Findings {
		if f.Open() && f.Code != "PF001" {
			findings = append(findings, f.Code+" "+r.at(f.Pos.Filename, f.Pos.Line)+": "+f.Message)
		}
	}
	return t.Execute(w, map[string]any{
		"Module": r.Module, "Counts": r.Counts(), "Rows": rows, "Sensitivities": sens,
		"Headings": headings.list(), "Notes": r.Notes, "Failed": r.Failed, "Findings": findings,
	})
}

func first(s ...string) string {
	for _, x := range s {
		if strings.TrimSpace(x) != "" {
			return x
		}
	}
	return ""
}
