// Package builtin holds the tools that every host has, in their offline forms:
// calc, search_kb and send_reply (LANGUAGE.md §12.3). What the policy must know
// of them is policy.Builtin's.
//
// A built-in never fails with a Go error: a refusal or a fault is an
// observation that says so. None of them opens a file or a connection; the
// backends here are stub, which says that nothing real answered, and fake,
// which plays a service in memory.
//
//	tools := map[string]tool.Tool{}
//	for _, t := range builtin.Tools(builtin.Options{}) {
//		tools[t.Name] = t
//	}
package builtin

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/tool"
	"github.com/pinfold-dev/pinfold/value"
)

// Backend is what stands behind a tool. The zero Backend is Stub.
type Backend uint8

const (
	Stub Backend = iota // says that nothing is bound
	Fake                // plays the service in memory
)

// String is the backend's word in configuration: stub, fake.
func (b Backend) String() string {
	if b == Fake {
		return "fake"
	}
	return "stub"
}

// ParseBackend reads stub or fake; an error lists them.
func ParseBackend(s string) (Backend, error) {
	switch s {
	case "stub":
		return Stub, nil
	case "fake":
		return Fake, nil
	}
	return Stub, fmt.Errorf("backend %q: expected stub or fake", s)
}

// Options of the built-in tools. The zero Options are the stubs.
type Options struct {
	KB   Backend
	Mail Backend
	// Outbox keeps what the fake mail backend was given; nil keeps nothing.
	Outbox *Outbox
}

// Tools are the built-in tools, by name.
func Tools(o Options) []tool.Tool {
	declared := policy.Builtin()
	return []tool.Tool{
		{
			Name:        "calc",
			Description: "Evaluates an arithmetic expression: expr.",
			Policy:      declared["calc"],
			Func:        calcTool,
		},
		{
			Name:        "search_kb",
			Description: "Searches the knowledge base: query.",
			Policy:      declared["search_kb"],
			Func:        searchKB(o.KB),
		},
		{
			Name:        "send_reply",
			Description: "Sends a reply: body, to.",
			Policy:      declared["send_reply"],
			Func:        sendReply(o.Mail, o.Outbox),
		},
	}
}

// text is the text of the first of the named arguments that is not blank, as it
// was given.
func text(args []engine.Arg, names ...string) string {
	for _, name := range names {
		if v, ok := tool.Find(args, name); ok && !v.Value().IsNull() {
			if s, _ := v.Value().Text(0); strings.TrimSpace(s) != "" {
				return s
			}
		}
	}
	return ""
}

// envelope is the observation of a tool: the fixed head, then its payload.
func envelope(name string, stub bool, fault string, payload ...value.Entry) tool.Observation {
	status, failure := "ok", value.Value{}
	if fault != "" {
		status, failure = "error", value.FromString(fault)
	}
	return tool.Observation{Value: value.FromEntries(append([]value.Entry{
		{Key: "tool", Value: value.FromString(name)},
		{Key: "stub", Value: value.FromBool(stub)},
		{Key: "error", Value: failure},
		{Key: "status", Value: value.FromString(status)},
		{Key: "retryable", Value: value.FromBool(false)},
		{Key: "untrusted", Value: value.FromBool(true)},
	}, payload...)...)}
}

// interrupted is the fault of a call whose context has ended before it acted.
func interrupted(ctx context.Context) string {
	if err := ctx.Err(); err != nil {
		return "not done: " + err.Error()
	}
	return ""
}

func calcTool(ctx context.Context, args []engine.Arg) (tool.Observation, error) {
	expr := text(args, "expr", "query")
	var result string
	var why error
	if why = ctx.Err(); why == nil {
		result, why = calculate(expr)
	}
	if why != nil {
		shown, _ := value.CutText(expr, maxExpression)
		result = fmt.Sprintf("error: could not evaluate '%s' (%v)", shown, why)
	}
	return tool.Observation{Value: value.FromString(result)}, nil
}

const maxFact = 2000 // characters of one fact

func searchKB(backend Backend) tool.Func {
	return func(ctx context.Context, args []engine.Arg) (tool.Observation, error) {
		query := text(args, "query", "q")
		fault, note := interrupted(ctx), ""
		var facts []value.Value
		switch {
		case fault != "":
		case query == "":
			fault = "query is empty"
		case backend == Fake:
			note = "fake knowledge base: one fixed row"
			facts = factList("A row of the fake knowledge base for: " + query)
		default:
			note = "stub knowledge base: nothing was searched; bind one with tools.kb.backend"
			facts = factList(
				"Orders can be returned within 30 days of delivery.",
				"Refunds go to the payment method that was used for the order.",
				"Support answers on working days between 9:00 and 17:00.",
				"The question was: "+query,
			)
		}
		return envelope("search_kb", true, fault,
			value.Entry{Key: "query", Value: value.FromString(query)},
			value.Entry{Key: "facts", Value: value.FromList(facts...)},
			value.Entry{Key: "note", Value: value.FromString(note)},
		), nil
	}
}

func factList(facts ...string) []value.Value {
	list := make([]value.Value, len(facts))
	for i, f := range facts {
		cut, _ := value.CutText(f, maxFact)
		list[i] = value.FromString(cut)
	}
	return list
}

const maxPreview = 120 // characters, the dots included

func sendReply(backend Backend, outbox *Outbox) tool.Func {
	return func(ctx context.Context, args []engine.Arg) (tool.Observation, error) {
		body, to := text(args, "body", "draft"), text(args, "to")
		if to == "" {
			to = "customer"
		}
		fault, note := interrupted(ctx), "nothing was sent"
		sent, recorded := false, false
		switch {
		case fault != "":
		case body == "":
			fault = "body is empty"
		case backend == Fake:
			sent, recorded, note = true, true, "kept in memory: the fake backend sends nothing off this host"
			outbox.add(Message{To: to, Body: body})
		default:
			recorded, note = true, "recorded, not sent: bind a backend with tools.mail.backend"
		}
		return envelope("send_reply", true, fault,
			value.Entry{Key: "to", Value: value.FromString(to)},
			value.Entry{Key: "chars", Value: value.FromInt(int64(utf8.RuneCountInString(body)))},
			value.Entry{Key: "preview", Value: value.FromString(preview(body))},
			value.Entry{Key: "sent", Value: value.FromBool(sent)},
			value.Entry{Key: "recorded", Value: value.FromBool(recorded)},
			value.Entry{Key: "delivery", Value: value.FromString(backend.String())},
			value.Entry{Key: "note", Value: value.FromString(note)},
		), nil
	}
}

func preview(s string) string {
	const dots = "..."
	n, keep := 0, 0
	for i := range s {
		if n == maxPreview-len(dots) {
			keep = i
		}
		if n == maxPreview {
			return s[:keep] + dots
		}
		n++
	}
	return s
}
