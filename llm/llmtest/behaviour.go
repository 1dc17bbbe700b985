package llmtest

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/value"
)

// Behaviour is what the server does with one request. The zero Behaviour
// answers with an empty 200.
type Behaviour struct {
	Status int // 0: 200
	Header http.Header
	Body   string
	// ContentType of the body; "" is application/json.
	ContentType string
	// Delay before anything is answered. It ends early when the client goes away.
	Delay time.Duration
	// Reset closes the connection without a byte of an answer.
	Reset bool
	// HalfHeader closes it in the middle of the header.
	HalfHeader bool
	// Torn sends the header and half of the body, then closes the connection.
	Torn bool
	// Pad makes the body that many bytes longer, with spaces.
	Pad int64
}

// WithHeader is b with a header of the answer.
func (b Behaviour) WithHeader(key, v string) Behaviour {
	h := b.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set(key, v)
	b.Header = h
	return b
}

// Completion is a well-formed answer of chat completions.
type Completion struct {
	Text      string
	NullText  bool   // "content": null
	Finish    string // "" is stop
	Refusal   string
	Reasoning string
	ToolCalls string // JSON of the list, "" for none
	// Usage is the JSON of "usage"; "" reports 7 and 5; "-" leaves the key out.
	Usage string
}

// Behaviour answers with c.
func (c Completion) Behaviour() Behaviour {
	text := value.FromString(c.Text).JSON()
	if c.NullText {
		text = "null"
	}
	var b strings.Builder
	b.WriteString(`{"id": "c1", "object": "chat.completion", "created": 1, "model": "served", "choices": [{"index": 0, "message": {"role": "assistant", "content": ` + text)
	if c.Refusal != "" {
		b.WriteString(`, "refusal": ` + value.FromString(c.Refusal).JSON())
	}
	if c.Reasoning != "" {
		b.WriteString(`, "reasoning_content": ` + value.FromString(c.Reasoning).JSON())
	}
	if c.ToolCalls != "" {
		b.WriteString(`, "tool_calls": ` + c.ToolCalls)
	}
	finish := c.Finish
	if finish == "" {
		finish = "stop"
	}
	b.WriteString(`}, "finish_reason": ` + value.FromString(finish).JSON() + `}]`)
	switch c.Usage {
	case "":
		b.WriteString(`, "usage": {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}`)
	case "-":
	default:
		b.WriteString(`, "usage": ` + c.Usage)
	}
	b.WriteByte('}')
	return Behaviour{Body: b.String()}
}

// Text answers with a completion that stopped by itself.
func Text(s string) Behaviour { return Completion{Text: s}.Behaviour() }

// Choice answers a judge call with {"choice": k}.
func Choice(k int) Behaviour { return Text(`{"choice": ` + strconv.Itoa(k) + `}`) }

// Raw answers with a body as it stands.
func Raw(body string) Behaviour { return Behaviour{Body: body} }

// Status answers with an error of that status and message.
func Status(code int, message string) Behaviour {
	return Behaviour{Status: code, Body: `{"error": {"message": ` + value.FromString(message).JSON() + `, "type": "t", "param": null, "code": null}}`}
}

// Brain answers a request for which nothing was pushed.
type Brain interface{ Answer(Request) Behaviour }

// Obedient answers every request: a produce with Text, a judge call with the
// entry that Choice names.
type Obedient struct {
	// Text of every produce; {user} in it is replaced by the user message.
	Text string
	// Choice of every judge call, from 1; 0 or one that the call does not have is
	// the last entry, none of these.
	Choice int
}

// Answer tells a judge call by its request for a JSON object, or by the reply
// format that the last line of its user message asks for.
func (o Obedient) Answer(r Request) Behaviour {
	if n, ok := r.Choices(); ok {
		if 1 <= o.Choice && o.Choice <= n {
			n = o.Choice
		}
		return Choice(n)
	}
	return Text(strings.ReplaceAll(o.Text, "{user}", r.User))
}
