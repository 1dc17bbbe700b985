// Command corpus audits the pinned list of public modules and holds the result
// against what a person read: the labels of findings (precision) and the sinks
// found by hand (recall). It fetches the modules with the go command.
//
//	go run ./audit/corpus [-only SUBSTRING] [-dump DIR]
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pinfold-dev/pinfold/audit"
)

// label is one finding that a person read.
type label struct {
	Module string `json:"module"`
	Key    string `json:"key"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Slot   string `json:"slot"`
	True   bool   `json:"true"`
	Reason string `json:"reason"`
}

// place is a sink that a person found.
type place struct {
	Module string `json:"module"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	What   string `json:"what"`
}

type module struct{ path, version, role string }

type report struct {
	Counts struct{ Sinks, Slots, Cross, Fenced, Unknown int }
	Sinks  []struct {
		At at `json:"at"`
	} `json:"sinks"`
	Findings []struct {
		Key  string
		At   at
		Code string
	}
	Failed []audit.Failure `json:"not_analysed"`
}

type at struct {
	File string
	Line int
}

func main() {
	dir := flag.String("data", "testdata/audit-corpus", "where modules.txt, labels.jsonl and recall.jsonl are")
	only := flag.String("only", "", "only modules whose path holds this")
	dump := flag.String("dump", "", "write each report to this directory")
	one := flag.String("one", "", "audit the module in this directory and print its report (used by the command itself)")
	flag.Parse()
	if *one != "" {
		os.Exit(audit.Main([]string{"-C", *one, "--cold", "--stats", "--format", "json"}, os.Stdout, os.Stderr))
	}
	if err := run(*dir, *only, *dump); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

func run(dir, only, dump string) error {
	mods, err := modules(filepath.Join(dir, "modules.txt"))
	if err != nil {
		return err
	}
	labels, err := lines[label](filepath.Join(dir, "labels.jsonl"))
	if err != nil {
		return err
	}
	places, err := lines[place](filepath.Join(dir, "recall.jsonl"))
	if err != nil {
		return err
	}
	if len(mods) == 0 || len(labels) == 0 || len(places) == 0 {
		return errors.New("the corpus did not load: no modules, no labels or no places")
	}
	tw := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "module\tsinks\tslots\tcross\tfenced\tunknown\tnot analysed\tlabelled\ttrue\tgone\tseconds\tMB")
	var ran int
	var yes, no, gone, found, missed int
	type tally struct{ yes, no int }
	byRole := map[string]*tally{"tuned": {}, "held": {}}
	var misses []string
	for _, m := range mods {
		if !strings.Contains(m.path, only) {
			continue
		}
		r, raw, secs, mb, err := auditModule(m)
		if err != nil {
			return fmt.Errorf("%s@%s: %w", m.path, m.version, err)
		}
		ran++
		if dump != "" {
			if err := os.WriteFile(filepath.Join(dump, strings.NewReplacer("/", "_").Replace(m.path)+".json"), raw, 0o644); err != nil {
				return err
			}
		}
		keys := map[string]bool{}
		for _, f := range r.Findings {
			keys[f.Key] = true
		}
		y, n, g := 0, 0, 0
		for _, l := range labels {
			if l.Module != m.path {
				continue
			}
			switch {
			case !keys[l.Key]:
				g++ // no longer reported: neither precise nor imprecise
			case l.True:
				y++
			default:
				n++
			}
		}
		sinks := map[at]bool{}
		for _, s := range r.Sinks {
			sinks[s.At] = true
		}
		for _, p := range places {
			if p.Module != m.path {
				continue
			}
			if sinks[at{p.File, p.Line}] {
				found++
			} else {
				missed++
				misses = append(misses, fmt.Sprintf("%s %s:%d %s", p.Module, p.File, p.Line, p.What))
			}
		}
		c := r.Counts
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.1f\t%d\n", m.path, c.Sinks, c.Slots, c.Cross, c.Fenced, c.Unknown, len(r.Failed), y+n, y, g, secs, mb)
		yes, no, gone = yes+y, no+n, gone+g
		byRole[m.role].yes += y
		byRole[m.role].no += n
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if ran == 0 {
		return errors.New("no module was audited")
	}
	ratio := func(a, b int) string {
		if b == 0 {
			return "–"
		}
		return fmt.Sprintf("%.3f (%d of %d)", float64(a)/float64(b), a, b)
	}
	fmt.Printf("\nprecision %s; tuned %s; held out %s; %d labels speak of findings that are no longer made\n",
		ratio(yes, yes+no), ratio(byRole["tuned"].yes, byRole["tuned"].yes+byRole["tuned"].no), ratio(byRole["held"].yes, byRole["held"].yes+byRole["held"].no), gone)
	fmt.Printf("recall of sinks found by hand %s\n", ratio(found, found+missed))
	for _, m := range misses {
		fmt.Println("missed:", m)
	}
	return nil
}

func modules(name string) ([]module, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []module
	s := bufio.NewScanner(f)
	for s.Scan() {
		line, _, _ := strings.Cut(s.Text(), "#")
		w := strings.Fields(line)
		if len(w) == 0 {
			continue
		}
		if len(w) != 3 || w[2] != "tuned" && w[2] != "held" {
			return nil, fmt.Errorf("%s: expected MODULE VERSION tuned|held, found %q", name, s.Text())
		}
		out = append(out, module{w[0], w[1], w[2]})
	}
	return out, s.Err()
}

func lines[T any](name string) ([]T, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var out []T
	for i, l := range bytes.Split(b, []byte("\n")) {
		if len(bytes.TrimSpace(l)) == 0 {
			continue
		}
		var v T
		if err := json.Unmarshal(l, &v); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
		out = append(out, v)
	}
	return out, nil
}

// auditModule fetches a module, lays a copy of it where the go command may write,
// and audits that in a process of its own, whose memory can be told.
func auditModule(m module) (r report, raw []byte, secs float64, mb int64, err error) {
	tmp, err := os.MkdirTemp("", "corpus")
	if err != nil {
		return r, nil, 0, 0, err
	}
	defer os.RemoveAll(tmp)
	get := exec.Command("go", "mod", "download", "-json", m.path+"@"+m.version)
	get.Dir = tmp
	get.Stderr = os.Stderr
	out, err := get.Output()
	if err != nil {
		return r, nil, 0, 0, fmt.Errorf("fetching: %w", err)
	}
	var got struct{ Dir string }
	if err := json.Unmarshal(out, &got); err != nil {
		return r, nil, 0, 0, err
	}
	src := filepath.Join(tmp, "m")
	if err := os.CopyFS(src, os.DirFS(got.Dir)); err != nil {
		return r, nil, 0, 0, err
	}
	self, err := os.Executable()
	if err != nil {
		return r, nil, 0, 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "-one", src)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var buf, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &buf, &errs
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return r, nil, 0, 0, fmt.Errorf("auditing: %w: %s", err, errs.String())
	}
	secs = time.Since(start).Seconds()
	err = json.Unmarshal(buf.Bytes(), &r)
	return r, buf.Bytes(), secs, maxRSS(cmd.ProcessState), err
}
