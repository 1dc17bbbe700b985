package cli

import (
	"time"

	"github.com/pinfold-dev/pinfold/store"
	"github.com/pinfold-dev/pinfold/value"
)

type runsCmd struct {
	Config  string `placeholder:"FILE" help:"The configuration that names the store."`
	Machine string `placeholder:"NAME" help:"Only runs of this machine."`
	Status  string `enum:",running,suspended,done,halt" default:"" placeholder:"STATUS" help:"Only running, suspended, done or halt."`
	Limit   int    `default:"50" help:"At most so many, the newest first; 0 is all."`
}

func (c *runsCmd) run(a *app) int {
	k, f := a.storeFor(c.Config)
	if f != nil {
		return a.fail(f)
	}
	defer k.Store.Close()
	var items []value.Value
	for info, err := range k.Store.List(a.ctx, store.Query{Machine: c.Machine, Status: c.Status, Limit: c.Limit}) {
		if err != nil {
			return a.fail(&failure{code: "unexpected-error", message: "the store of runs: " + err.Error()})
		}
		if a.json() {
			items = append(items, runValue(&info))
			continue
		}
		a.printRun(&info)
	}
	if a.json() {
		a.out.json(envelope(a.command, true, items, nil, obj(kint("runs", len(items)))))
	}
	return exitOK
}

func (a *app) printRun(info *store.RunInfo) {
	out := &a.out
	out.print(out.safe(string(info.Run)), "  ", out.safe(info.Updated.UTC().Format(time.RFC3339)), "  ", out.safe(info.Status), "  ", out.safe(info.Machine))
	if info.Reason != "" {
		out.print("  ", out.safe(info.Reason))
	}
	if info.At != "" {
		out.print(" at ", out.safe(info.At))
	}
	if n := len(info.Approvals); n > 0 {
		out.print(" · ", itoa(n), " to approve")
	}
	out.print("\n")
}

func runValue(info *store.RunInfo) value.Value {
	ids := make([]string, len(info.Approvals))
	for i := range info.Approvals {
		ids[i] = info.Approvals[i].ID
	}
	return obj(kstr("run", string(info.Run)), kstr("machine", info.Machine), kstr("path", info.Path), kstr("status", info.Status),
		kstr("reason", info.Reason), kstr("at", info.At), kstrs("approvals", ids),
		kstr("created", info.Created.UTC().Format(time.RFC3339)), kstr("updated", info.Updated.UTC().Format(time.RFC3339)))
}
