package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/pinfold-dev/pinfold/receipt"
	"github.com/pinfold-dev/pinfold/receipt/jsonl"
	"github.com/pinfold-dev/pinfold/value"
)

type receiptsCmd struct {
	Show  receiptsShowCmd  `cmd:"" help:"Print receipts, a line a part."`
	Stats receiptsStatsCmd `cmd:"" help:"What receipts come to: label coverage and enforcement coverage side by side, and the identical prefix of each call."`
}

// readReceipts gives what is in files of receipts to f, in order. Files without any are
// an error: nothing was measured.
func (a *app) readReceipts(files []string, f func(file string, e jsonl.Entry)) *failure {
	n := 0
	for _, file := range files {
		err := func() error {
			var r io.Reader = a.env.Stdin
			if file != "-" {
				opened, err := os.Open(file)
				if err != nil {
					var pe *os.PathError
					if errors.As(err, &pe) {
						err = pe.Err
					}
					return err
				}
				defer opened.Close()
				r = opened
			}
			for e, err := range jsonl.ReadAll(r) {
				if err != nil {
					return err
				}
				n++
				f(file, e)
			}
			return nil
		}()
		if err != nil {
			return &failure{code: "invalid-input", path: file, message: strings.TrimPrefix(err.Error(), "receipts: "), hint: "a file of receipts is what pinfold run --receipts and receipt/jsonl write"}
		}
	}
	if n == 0 {
		return &failure{code: "invalid-input", path: strings.Join(files, ", "), message: "no receipts: nothing was measured"}
	}
	return nil
}

type receiptsShowCmd struct {
	Files   []string `arg:"" name:"file" help:"Files of receipts (JSON Lines); - is standard input."`
	Call    string   `placeholder:"ID" help:"Only this call."`
	Channel string   `placeholder:"NAME" help:"Only this lane, slot or key."`
}

func (c *receiptsShowCmd) run(a *app) int {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	var items []value.Value
	last, shown := "", 0
	f := a.readReceipts(c.Files, func(file string, e jsonl.Entry) {
		r := e.Row
		if r == nil || c.Call != "" && r.CallID != c.Call || c.Channel != "" && r.Channel != c.Channel {
			return
		}
		shown++
		if a.json() {
			if v, err := value.ParseJSON(jsonl.Append(nil, r)); err == nil {
				items = append(items, v)
			}
			return
		}
		if at := r.CallID; at != last || shown == 1 {
			last = at
			w.Flush()
			b.WriteString("call " + a.out.safe(at) + " " + r.Time.Format("2006-01-02T15:04:05Z") + "\n")
			fmt.Fprint(w, "  part\tkind\torigin\ttrust\tfenced\tlevel\tin\tout\tbudget\tnotes\n")
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\n", a.out.safe(r.Channel), a.out.safe(r.Kind), orDash(a.out.safe(r.Origin)), orDash(a.out.safe(r.Trust)),
			fenced(r), a.out.safe(r.Level), r.BytesIn, r.BytesOut, budgetOrDash(r), orDash(notes(r)))
	})
	if f != nil {
		return a.fail(f)
	}
	if shown == 0 {
		return a.fail(&failure{code: "invalid-input", path: strings.Join(c.Files, ", "), message: "no receipt of that call and channel"})
	}
	if a.json() {
		a.out.json(envelope(a.command, true, items, nil, obj(kint("receipts", shown))))
		return exitOK
	}
	w.Flush()
	a.out.print(b.String())
	return exitOK
}

func budgetOrDash(r *receipt.Record) string {
	if !r.Budget.Set {
		return "-"
	}
	return budget(r.Budget)
}

// fenced says what was done, and where that is less than had to be done.
func fenced(r *receipt.Record) string {
	switch {
	case r.Fenced:
		return "yes"
	case r.Dropped:
		return "dropped"
	case r.Required:
		return "NO"
	case r.Admitted:
		return "admitted"
	}
	return "no"
}

// notes is what else a row says.
func notes(r *receipt.Record) string {
	var all []string
	if r.Fenced && r.Authoritative {
		all = append(all, "overruled")
	}
	if r.Truncated {
		all = append(all, "cut")
	}
	if r.Altered {
		all = append(all, "altered")
	}
	if r.Invisible > 0 {
		all = append(all, itoa(r.Invisible)+" invisible")
	}
	return strings.Join(all, ", ")
}

type receiptsStatsCmd struct {
	Files []string `arg:"" name:"file" help:"Files of receipts (JSON Lines), read as one; - is standard input."`
	All   bool     `help:"Every origin and every call, however many."`
}

// few is how many origins, and how many calls, are listed where not all are asked for.
const few = 20

func (c *receiptsStatsCmd) run(a *app) int {
	var s receipt.Summary
	if f := a.readReceipts(c.Files, func(_ string, e jsonl.Entry) {
		if e.Row != nil {
			s.Row(e.Row)
		} else {
			s.Call(e.Call)
		}
	}); f != nil {
		return a.fail(f)
	}
	if a.json() {
		a.out.json(envelope(a.command, true, []value.Value{summaryValue(&s)}, nil, obj(kint("files", len(c.Files)), kint("parts", s.Total.Parts), kint("calls", len(s.Calls())))))
		return exitOK
	}
	label, enforcement := s.Total.Percent()
	a.out.print("label coverage        ", label, " of the parts have a declared trust\n",
		"enforcement coverage  ", enforcement, " of the parts that had to be fenced were\n",
		fmt.Sprintf("parts %d · fenced %d · admitted bare %d · overruled %d · cut %d · dropped %d · altered %d · bytes in %s, out %s\n",
			s.Total.Parts, s.Fenced, s.Admitted, s.Overruled, s.Truncated, s.Dropped, s.Altered, number(s.BytesIn), number(s.BytesOut)))
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	table := func(title string, all []receipt.Counted, name func(receipt.Counted) string) {
		fmt.Fprintf(w, "\n%s\tlabel coverage\tenforcement coverage\tbytes out\tdropped\n", title)
		for i, x := range all {
			if i == few && !c.All && len(all) > few+1 {
				fmt.Fprintf(w, "… and %d more: --all lists them\t\t\t\t\n", len(all)-few)
				break
			}
			label, enforcement := x.Percent()
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\n", name(x), label, enforcement, number(x.BytesOut), x.Dropped)
		}
		w.Flush()
	}
	if s.Total.Parts > 0 {
		table("channel", s.Channels(), func(x receipt.Counted) string { return a.out.safe(x.Kind) + " " + a.out.safe(x.Name) })
		table("origin", s.Origins(), func(x receipt.Counted) string {
			if x.Name == "" {
				return "(none)"
			}
			return a.out.safe(x.Name)
		})
	}
	if calls := s.Calls(); len(calls) > 0 {
		fmt.Fprint(w, "\ncall\tinput bytes\tidentical prefix\n")
		same, input := 0, 0
		for i, p := range calls {
			same, input = same+p.Same, input+p.Bytes
			switch {
			case i < few || c.All || len(calls) <= few+1:
				fmt.Fprintf(w, "%s\t%s\t%s\n", a.out.safe(p.CallID), number(p.Bytes), number(p.Same))
			case i == few:
				fmt.Fprintf(w, "… and %d more: --all lists them\t\t\n", len(calls)-few)
			}
		}
		fmt.Fprintf(w, "all %d\t%s\t%s\n", len(calls), number(input), number(same))
		w.Flush()
	} else {
		b.WriteString("\nno record of whole calls: the identical prefix is not known (receipt.Keep writes them)\n")
	}
	a.out.print(b.String())
	return exitOK
}

func summaryValue(s *receipt.Summary) value.Value {
	counted := func(c receipt.Counted) value.Value {
		e := []value.Entry{kstr("name", c.Name)}
		if c.Kind != "" {
			e = append([]value.Entry{kstr("kind", c.Kind)}, e...)
		}
		return obj(append(e, kv("coverage", coverageValue(c.Coverage)), kint("bytes_out", c.BytesOut), kint("dropped", c.Dropped))...)
	}
	list := func(all []receipt.Counted) value.Value {
		items := make([]value.Value, len(all))
		for i, c := range all {
			items[i] = counted(c)
		}
		return value.FromList(items...)
	}
	prefixes := s.Calls()
	calls := make([]value.Value, len(prefixes))
	for i, p := range prefixes {
		calls[i] = obj(kstr("call_id", p.CallID), kint("input_bytes", p.Bytes), kint("identical_prefix", p.Same))
	}
	return obj(kv("coverage", coverageValue(s.Total)), kint("fenced", s.Fenced), kint("admitted", s.Admitted), kint("overruled", s.Overruled), kint("truncated", s.Truncated),
		kint("dropped", s.Dropped), kint("altered", s.Altered), kint("invisible", s.Invisible), kint("bytes_in", s.BytesIn), kint("bytes_out", s.BytesOut),
		kv("channels", list(s.Channels())), kv("origins", list(s.Origins())), kv("calls", value.FromList(calls...)))
}

func coverageValue(c receipt.Coverage) value.Value {
	return obj(kint("parts", c.Parts), kint("declared", c.Declared), kint("required", c.Required), kint("enforced", c.Enforced))
}
