package audit

import (
	"encoding/json"
	"io"
	"net/url"
	"sort"
	"strings"

	"github.com/pinfold-dev/pinfold/analyzers/flow"
	"github.com/pinfold-dev/pinfold/analyzers/ignore"
)

type object = map[string]any

// writeSARIF writes SARIF 2.1.0 (OASIS, 2020). Paths from source to sink are code
// flows; unknown slots are notes under their own rule, so that a viewer can hide
// them without hiding findings.
func writeSARIF(w io.Writer, r *Report) error {
	location := func(file string, line, col int) object {
		region := object{"startLine": max(line, 1)}
		if col > 0 {
			region["startColumn"] = col
		}
		return object{"physicalLocation": object{
			"artifactLocation": object{"uri": (&url.URL{Path: r.Rel(file)}).String(), "uriBaseId": "ROOT"},
			"region":           region,
		}}
	}
	results := []object{}
	used := map[string]bool{}
	for _, f := range r.Findings {
		used[f.Code] = true
		res := object{
			"ruleId": f.Code, "level": string(f.Level), "message": object{"text": f.Message},
			"locations":           []object{location(f.Pos.Filename, f.Pos.Line, f.Pos.Column)},
			"partialFingerprints": object{"pinfoldContent/v1": f.Key},
		}
		if f.Code == "PF001" {
			if flows := r.codeFlow(f.Row.Main(), location); flows != nil {
				res["codeFlows"] = flows
			}
		}
		if f.Suppressed != "" {
			res["suppressions"] = []object{{"kind": "inSource", "justification": f.Suppressed}}
		} else if f.Accepted {
			res["baselineState"] = "unchanged"
		}
		results = append(results, res)
	}
	for _, row := range r.Slots {
		if row.Verdict != Unknown {
			continue
		}
		used["unknown"] = true
		m := row.Main()
		results = append(results, object{
			"ruleId": "unknown", "level": "note", "kind": "review",
			"message":             object{"text": row.Name + " reaches model input and was not followed to its end: " + strings.TrimPrefix(m.Class.Who(), "unknown: ") + " (" + m.Detail + ")"},
			"locations":           []object{location(row.Pos.Filename, row.Pos.Line, row.Pos.Column)},
			"partialFingerprints": object{"pinfoldContent/v1": key(&Finding{Code: "unknown"}, row)},
		})
	}
	for _, s := range r.Suppress {
		used["PF000"] = true
		results = append(results, object{
			"ruleId": "PF000", "level": "warning", "message": object{"text": ignore.Directive + " " + s.Code + ": " + s.Wrong},
			"locations": []object{location(s.Pos.Filename, s.Pos.Line, s.Pos.Column)},
		})
	}
	for _, res := range results {
		if res["kind"] == "review" {
			res["level"] = "none" // SARIF: a kind other than fail has no level
		}
	}
	var ids []string
	for id := range used {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	rules := []object{}
	for _, id := range ids {
		title := titles[id]
		switch id {
		case "unknown":
			title = "a value that reaches model input and was not followed to its end"
		case "PF000":
			title = "an ignore comment that is unused or gives no reason"
		}
		rules = append(rules, object{"id": id, "shortDescription": object{"text": title}})
	}
	notes := []object{}
	for _, f := range r.Failed {
		notes = append(notes, object{"level": "warning", "message": object{"text": "not analysed: " + f.Package + ": " + f.Err}})
	}
	run := object{
		"tool":               object{"driver": object{"name": "pinfold", "informationUri": "https://github.com/pinfold-dev/pinfold", "rules": rules}},
		"originalUriBaseIds": object{"ROOT": object{"description": object{"text": "the root of the module"}}},
		"results":            results,
		"columnKind":         "utf16CodeUnits",
		"invocations":        []object{{"executionSuccessful": true, "toolExecutionNotifications": notes}},
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(object{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": []object{run}})
}

func (r *Report) codeFlow(o *flow.Origin, location func(string, int, int) object) []object {
	steps := []object{}
	for _, s := range o.Path {
		l := location(s.Pos.Filename, s.Pos.Line, s.Pos.Column)
		l["message"] = object{"text": s.What}
		steps = append(steps, object{"location": l})
	}
	if len(steps) == 0 {
		return nil
	}
	return []object{{"threadFlows": []object{{"locations": steps}}}}
}
