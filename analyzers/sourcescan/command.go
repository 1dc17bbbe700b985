package sourcescan

import (
	"encoding/json"
	"fmt"
	"io"
)

// Command is `pinfold scan DIR`, in the form that kong reads. Exit codes: 0, 1
// for findings under --fail, 2 for a scan that could not run.
type Command struct {
	Dirs   []string `arg:"" optional:"" help:"Directories to scan. Default: the current one."`
	Format string   `enum:"text,json" default:"text" help:"text or json."`
	Fail   bool     `help:"Exit 1 when there are findings."`
	Lanes  []string `help:"The lanes that lanes.toml declares; others are reported."`
	All    bool     `help:"Parse every file, also those that hold none of the words that matter."`
}

// Execute runs the command and returns its exit code.
func (c *Command) Execute(stdout, stderr io.Writer) int {
	dirs := c.Dirs
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	var total Report
	for _, d := range dirs {
		r, err := Scan(d, Options{Lanes: c.Lanes, All: c.All})
		if err != nil {
			fmt.Fprintln(stderr, "scan:", err)
			return 2
		}
		total.Findings = append(total.Findings, r.Findings...)
		total.Partial = append(total.Partial, r.Partial...)
		total.Files += r.Files
		total.Parsed += r.Parsed
		total.Bytes += r.Bytes
	}
	if total.Files == 0 {
		fmt.Fprintln(stderr, "scan: no TypeScript, JavaScript or Python files found")
		return 2
	}
	if c.Format == "json" {
		e := json.NewEncoder(stdout)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(total); err != nil {
			fmt.Fprintln(stderr, "scan:", err)
			return 2
		}
	} else {
		for _, f := range total.Findings {
			fmt.Fprintln(stdout, f)
		}
		for _, p := range total.Partial {
			fmt.Fprintf(stdout, "%s: parts of it did not parse and were not read\n", p)
		}
		fmt.Fprintf(stdout, "%d findings, all syntactic, in %d files, %d of which were parsed\n", len(total.Findings), total.Files, total.Parsed)
	}
	if c.Fail && len(total.Findings) > 0 {
		return 1
	}
	return 0
}
