package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/lane"
	"github.com/pinfold-dev/pinfold/registry"
	"github.com/pinfold-dev/pinfold/value"
)

type lanesCmd struct {
	Check   lanesCheckCmd   `cmd:"" help:"Check lane files: what is wrong, with line, column and what may stand there."`
	Show    lanesShowCmd    `cmd:"" help:"List the lanes and trust classes of a file."`
	Explain lanesExplainCmd `cmd:"" help:"Say what becomes of text that is put into a lane."`
	Fmt     lanesFmtCmd     `cmd:"" help:"Print lane files in the standard layout, or rewrite them."`
}

// lanesFile is the lane file where none is named.
const lanesFile = "lanes.toml"

type lanesCheckCmd struct {
	Files []string `arg:"" optional:"" name:"file" help:"Lane files; without one lanes.toml."`
}

func (c *lanesCheckCmd) run(a *app) int {
	if len(c.Files) == 0 {
		c.Files = []string{lanesFile}
	}
	failed := 0
	var items []value.Value
	for _, file := range c.Files {
		d, err := declared(file)
		status, wrong := "ok", misplaced(err)
		if err != nil {
			status = "error"
			failed++
		}
		var warned []placedLine
		for _, l := range d.Lanes {
			if n := l.Budget.Max; n > 0 && n < l.Least {
				warned = append(warned, placedLine{l.Line, 1, fmt.Sprintf("lane %s: a budget of %s holds no cut text: what does not fit whole is dropped; banner, fence and the mark of a cut take %d", l.Name, budget(l.Budget), l.Least)})
				if status == "ok" {
					status = "warning"
				}
			}
		}
		if a.json() {
			var all []value.Value
			for _, p := range wrong {
				all = append(all, p.value("error"))
			}
			for _, p := range warned {
				all = append(all, p.value("warning"))
			}
			items = append(items, obj(kstr("path", file), kstr("status", status), kint("lanes", len(d.Lanes)), kv("diagnostics", value.FromList(all...))))
			continue
		}
		a.out.print(a.out.paint(strings.ToUpper(status)), " ", a.out.safe(file), "\n")
		for _, p := range wrong {
			a.out.print("  error: ", p.place(), a.out.safe(p.text), "\n")
		}
		for _, p := range warned {
			a.out.print("  warning: ", p.place(), a.out.safe(p.text), "\n")
		}
	}
	if a.json() {
		a.out.json(envelope(a.command, failed == 0, items, nil, obj(kint("files", len(c.Files)), kint("failed", failed))))
	} else {
		a.out.print(a.command, ": files=", itoa(len(c.Files)), " · failed=", itoa(failed), "\n")
	}
	if failed > 0 {
		return exitHalt
	}
	return exitOK
}

// declared reads a lane file, whoever wrote it: it is shown and not used.
func declared(file string) (lane.Declarations, error) {
	text, err := registry.ReadFile(file)
	if err != nil {
		return lane.Declarations{}, err
	}
	return lane.Declared(file, text)
}

// placedLine is something to say of a place in a file.
type placedLine struct {
	line, column int
	text         string
}

func (p placedLine) place() string {
	if p.line == 0 {
		return ""
	}
	return itoa(p.line) + ":" + itoa(p.column) + ": "
}

func (p placedLine) value(severity string) value.Value {
	return obj(kstr("severity", severity), kstr("message", p.text), kint("line", p.line), kint("column", p.column))
}

// misplaced is what is wrong with a lane file, by place.
func misplaced(err error) (all []placedLine) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			all = append(all, misplaced(e)...)
		}
		return all
	}
	var e *lane.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return []placedLine{{e.Line, e.Column, e.Err.Error()}}
	}
	return []placedLine{{text: err.Error()}}
}

// lanesOf reads a lane file that has to be right.
func (a *app) lanesOf(file string) (lane.Declarations, *failure) {
	d, err := declared(file)
	if err == nil {
		return d, nil
	}
	wrong := misplaced(err)
	f := &failure{code: "invalid-input", path: file, message: wrong[0].place() + wrong[0].text, hint: "a lane file is read strictly; pinfold lanes check lists everything that is wrong with it"}
	for _, p := range wrong[1:] {
		f.also = append(f.also, diagnostic{severity: "error", path: file, message: p.place() + p.text})
	}
	return d, f
}

type lanesShowCmd struct {
	File string `arg:"" optional:"" default:"lanes.toml" name:"file" help:"The lane file; without one lanes.toml."`
}

func (c *lanesShowCmd) run(a *app) int {
	d, f := a.lanesOf(c.File)
	if f != nil {
		return a.fail(f)
	}
	if a.json() {
		lanes := make([]value.Value, len(d.Lanes))
		for i, l := range d.Lanes {
			lanes[i] = laneValue(l)
		}
		classes := make([]value.Value, len(d.Classes))
		for i, class := range d.Classes {
			classes[i] = classValue(class)
		}
		a.out.json(envelope(a.command, true, []value.Value{obj(kstr("path", c.File), kv("lanes", value.FromList(lanes...)), kv("classes", value.FromList(classes...)))}, nil,
			obj(kint("lanes", len(lanes)), kint("classes", len(classes)))))
		return exitOK
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "lane\ttrust\tgoes\tbudget\tkeep\torder\tshare\n")
	for _, l := range d.Lanes {
		goes := "fenced"
		if class := classOf(d, l); class.Authoritative {
			goes = "bare, if its author's or from " + strings.Join(class.Origins, " ")
			if len(class.Origins) == 0 {
				goes = "bare, if its author's"
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%v\t%d\t%d\n", l.Name, l.Trust, goes, budget(l.Budget), l.Keep, l.Order, l.Share)
	}
	w.Flush()
	b.WriteByte('\n')
	fmt.Fprint(w, "class\tauthoritative\torigins\tbanner\n")
	for _, class := range d.Classes {
		fmt.Fprintf(w, "%s\t%v\t%s\t%s\n", class.Name, class.Authoritative, orDash(strings.Join(class.Origins, " ")), orDash(a.out.safe(class.Banner)))
	}
	w.Flush()
	a.out.print(b.String())
	return exitOK
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// budget is a budget in words.
func budget(b fence.Budget) string { return number(b.Max) + " " + b.Unit.String() }

// number is n with a comma after each three digits.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// classOf is the class of a lane, which a file that was read always has.
func classOf(d lane.Declarations, l lane.Declaration) lane.Class {
	return d.Classes[slices.IndexFunc(d.Classes, func(c lane.Class) bool { return c.Name == l.Trust })]
}

func laneValue(l lane.Declaration) value.Value {
	return obj(kstr("name", string(l.Name)), kstr("trust", l.Trust), kv("budget", budgetValue(l.Budget)), kstr("keep", l.Keep.String()),
		kint("order", l.Order), kint("share", l.Share), kint("least", l.Least), kint("line", l.Line))
}

func budgetValue(b fence.Budget) value.Value {
	if !b.Set {
		return value.Value{}
	}
	return obj(kint("max", b.Max), kstr("unit", b.Unit.String()))
}

func classValue(c lane.Class) value.Value {
	return obj(kstr("name", c.Name), kbool("authoritative", c.Authoritative), kstrs("origins", c.Origins), kstr("banner", c.Banner), kbool("builtin", c.Line == 0), kint("line", c.Line))
}

type lanesExplainCmd struct {
	Name  string `arg:"" name:"name" help:"The lane."`
	Lanes string `default:"lanes.toml" placeholder:"FILE" help:"The lane file; without it lanes.toml."`
}

func (c *lanesExplainCmd) run(a *app) int {
	d, f := a.lanesOf(c.Lanes)
	if f != nil {
		return a.fail(f)
	}
	at := slices.IndexFunc(d.Lanes, func(l lane.Declaration) bool { return string(l.Name) == c.Name })
	if at < 0 {
		return a.fail(&failure{code: "invalid-input", path: c.Lanes, message: (&lane.Unregistered{Name: lane.Name(c.Name)}).Error(), hint: "pinfold lanes show lists the lanes that are there"})
	}
	l := d.Lanes[at]
	class := classOf(d, l)
	if a.json() {
		a.out.json(envelope(a.command, true, []value.Value{obj(kstr("path", c.Lanes), kv("lane", laneValue(l)), kv("class", classValue(class)))}, nil, obj()))
		return exitOK
	}
	p := func(word, text string) { a.out.print(fmt.Sprintf("  %-9s", word), a.out.safe(text), "\n") }
	a.out.print("lane ", a.out.safe(c.Name), ", ", a.out.safe(c.Lanes), ":", itoa(l.Line), "\n")
	where := "built in"
	if class.Line > 0 {
		where = "line " + itoa(class.Line)
	}
	if class.Authoritative {
		p("trust", l.Trust+", which is authoritative ("+where+")")
		p("bare", "the author's own text, in the system message")
		if len(class.Origins) > 0 {
			p("bare", "data all of whose origins are among "+strings.Join(class.Origins, " ")+", in the user message")
		}
		p("fenced", "anything else, in the user message, and reported: provenance beats declaration")
	} else {
		p("trust", l.Trust+", which is not authoritative ("+where+")")
		p("fenced", "everything, in the user message, the author's own text too")
	}
	if class.Banner != "" {
		p("banner", class.Banner)
	}
	p("budget", budget(l.Budget)+" for all that is put into it: values, marks of cuts, fences and banners")
	switch {
	case l.Budget.Max == 0:
		p("cut", "nothing is admitted, and a receipt's row says so")
	case l.Budget.Max < l.Least:
		p("cut", "what does not fit whole is dropped: banner, fence and the mark of a cut take "+itoa(l.Least))
	default:
		keeps := map[fence.Keep]string{fence.KeepHead: "its head is kept", fence.KeepTail: "its tail is kept", fence.KeepBoth: "both its ends are kept"}
		p("cut", "what does not fit is cut, and "+keeps[l.Keep]+"; when less than "+itoa(l.Least)+" is left, the rest is dropped")
	}
	p("order", itoa(at+1)+" of "+itoa(len(d.Lanes))+" in packing order (order = "+itoa(l.Order)+"); the last give way first")
	p("share", itoa(l.Share)+" where the whole input has to shrink")
	return exitOK
}

type lanesFmtCmd struct {
	Files []string `arg:"" optional:"" name:"file" help:"Lane files, - is standard input; without one lanes.toml."`
	Check bool     `xor:"mode" help:"Write nothing; list the files that are not in the standard layout and exit 1."`
	Write bool     `short:"w" xor:"mode" help:"Rewrite the files in place."`
}

func (c *lanesFmtCmd) run(a *app) int {
	if len(c.Files) == 0 {
		c.Files = []string{lanesFile}
	}
	return a.format(c.Files, c.Check, c.Write, func(file string, src []byte) ([]byte, error) {
		out, err := lane.Format(file, src)
		if wrong := misplaced(err); len(wrong) > 0 {
			err = errors.New(wrong[0].place() + wrong[0].text)
		}
		return out, err
	}, "pinfold lanes check lists everything that is wrong with it")
}
