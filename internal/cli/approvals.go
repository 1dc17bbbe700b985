package cli

import (
	"bufio"
	"os/user"
	"strings"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/run/durable"
	"github.com/pinfold-dev/pinfold/value"
)

type approvalsCmd struct {
	List    approvalsListCmd `cmd:"" help:"List what runs wait for."`
	Show    approvalsShowCmd `cmd:"" help:"Show exactly what would be done."`
	Approve approveCmd       `cmd:"" help:"Approve exactly this call, once."`
	Deny    denyCmd          `cmd:"" help:"Deny this call: its run halts when it is resumed."`
}

type approvalsListCmd struct {
	Config string `placeholder:"FILE" help:"The configuration that names the store."`
}

type oneApproval struct {
	ID     string `arg:"" help:"The approval's id."`
	Config string `placeholder:"FILE" help:"The configuration that names the store."`
}

type approvalsShowCmd struct{ oneApproval }
type approveCmd struct{ oneApproval }
type denyCmd struct{ oneApproval }

func (c *approvalsListCmd) run(a *app) int {
	k, f := a.storeFor(c.Config)
	if f != nil {
		return a.fail(f)
	}
	defer k.Store.Close()
	list, err := k.Approvals(a.ctx)
	code := exitOK
	if err != nil { // what can be read is shown all the same
		code = a.fail(resumeFailure(err))
	}
	if a.json() {
		items := make([]value.Value, len(list))
		for i := range list {
			items[i] = pendingValue(&list[i])
		}
		a.out.json(envelope(a.command, true, items, nil, obj(kint("approvals", len(items)))))
		return code
	}
	for i := range list {
		p := &list[i]
		a.out.print(a.out.safe(p.ID), "  ", a.out.safe(p.Tool), " at ", a.out.safe(p.State), "  ", standing(p), "  run ", a.out.safe(string(p.Info.Run)), "\n")
	}
	return code
}

// standing is where an approval is, in a word or two.
func standing(p *durable.Pending) string {
	switch {
	case p.Answered && p.Approved:
		return "approved"
	case p.Answered:
		return "denied"
	case p.Expired:
		return "expired"
	}
	return "waits"
}

func pendingValue(p *durable.Pending) value.Value {
	return p.Approval.Value().With("machine", value.FromString(p.Info.Machine)).With("status", value.FromString(standing(p)))
}

func (c *oneApproval) find(a *app) (*durable.Keeper, *durable.Pending, *failure) {
	k, f := a.storeFor(c.Config)
	if f != nil {
		return nil, nil, f
	}
	p, err := k.Approval(a.ctx, c.ID)
	if err != nil {
		k.Store.Close()
		return nil, nil, resumeFailure(err)
	}
	return k, p, nil
}

func (c *approvalsShowCmd) run(a *app) int {
	k, p, f := c.find(a)
	if f != nil {
		return a.fail(f)
	}
	defer k.Store.Close()
	if a.json() {
		a.out.json(envelope(a.command, true, []value.Value{pendingValue(p)}, nil, obj()))
		return exitOK
	}
	a.printPending(&a.out, p)
	return exitOK
}

func (a *app) printPending(out *stream, p *durable.Pending) {
	out.print("run: ", out.safe(string(p.Info.Run)), " · machine ", out.safe(p.Info.Machine), " · ", standing(p), "\n")
	printApproval(out, &p.Approval)
	out.print("  digest ", out.safe(p.Digest), "\n")
}

func (c *approveCmd) run(a *app) int { return c.answer(a, true) }
func (c *denyCmd) run(a *app) int    { return c.answer(a, false) }

// answer records an answer. At a terminal the person sees what would be done, and
// only the exact word approves: a key pressed by mistake, a yes meant for something
// else, or an empty line does not.
func (c *oneApproval) answer(a *app, approved bool) int {
	k, p, f := c.find(a)
	if f != nil {
		return a.fail(f)
	}
	defer k.Store.Close()
	if approved && (a.env.terminal || isTerminal(a.env.Stdin)) && !p.Answered && !p.Expired {
		a.printPending(&a.err, p)
		a.err.print("type approve to approve exactly this call: ")
		line, _ := bufio.NewReader(a.env.Stdin).ReadString('\n')
		if strings.TrimRight(line, "\r\n") != "approve" {
			return a.fail(&failure{code: "approval-refused", message: "not approved: it still waits", hint: "only the exact word approve approves"})
		}
	}
	if err := k.Answer(a.ctx, p, approved, person()); err != nil {
		return a.fail(resumeFailure(err))
	}
	p.Answered, p.Approved = true, approved
	if a.json() {
		a.out.json(envelope(a.command, true, []value.Value{pendingValue(p)}, nil, obj()))
		return exitOK
	}
	a.out.print(standing(p), ": ", a.out.safe(p.ID), " · ", a.out.safe(p.Tool), " at ", a.out.safe(p.State), "\n",
		"resume: pinfold resume ", a.out.safe(string(p.Info.Run)), "\n")
	return exitOK
}

// person is who answers, as the system knows them.
func person() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}

// printApproval shows exactly what would be done: every argument whole, escaped,
// with its length and where it came from [C17].
func printApproval(out *stream, p *engine.Approval) {
	out.print("approval: ", out.safe(p.ID), " · ", out.safe(p.Tool), " at ", out.safe(p.State), " · until ", out.safe(p.Expires), "\n")
	for i := range p.Reasons {
		out.print("  ", out.safe(p.Reasons[i]), "\n")
	}
	for _, arg := range p.Args {
		text, ok := arg.Value.Value().AsString()
		if !ok {
			text = arg.Value.Value().JSON()
		}
		out.print("  ", out.safe(arg.Name), " (", itoa(len([]rune(text))), " characters, ", arg.Value.Label().String(), "): ", out.style().Approval(text), "\n")
	}
}
