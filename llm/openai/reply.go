package openai

import (
	"math"
	"strings"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/llm"
	"github.com/pinfold-dev/pinfold/tokens"
	"github.com/pinfold-dev/pinfold/value"
)

// reply reads an answer. The usage is set with every error: the call was made.
func (a answer) reply(p fence.Rendered, o llm.Options, judge bool) (llm.Reply, *llm.Error) {
	c, err := a.choice()
	reply := llm.Reply{FinishReason: c.finish, Usage: a.usage(p, c)}
	if err != nil {
		return reply, err
	}
	if c.refusal != "" || c.is("content_filter", "refusal") {
		message := c.refusal
		if message == "" {
			message = "the model declined"
		}
		return reply, &llm.Error{Kind: llm.KindRefusal, Message: message}
	}
	reply.Truncated = c.is("length", "max_tokens", "model_context_window_exceeded")
	reply.Text = strings.TrimSpace(c.text)
	switch {
	case !c.hasText:
		return reply, provider("the answer has no text%s", c.because())
	case reply.Text != "" || reply.Truncated:
	case c.calls:
		return reply, provider("the answer is a tool call and no tool was offered%s", c.because())
	case !c.is("stop", "end_turn", "stop_sequence", "eos"):
		return reply, provider("the answer is empty%s", c.because())
	}
	if o.Reason && !judge {
		reply.Reasoning = strings.TrimSpace(c.reasoning)
		if reply.Reasoning == "" {
			if reasoning, rest, ok := llm.SplitThink(reply.Text); ok {
				reply.Reasoning, reply.Text = reasoning, rest
			}
		}
	}
	return reply, nil
}

// choice is the first choice of an answer, as far as it can be read.
type choice struct {
	text      string
	hasText   bool // there is a text, be it empty
	refusal   string
	reasoning string
	finish    string
	calls     bool // it holds tool calls; none is ever looked at
}

func (a answer) choice() (choice, *llm.Error) {
	var c choice
	choices, _ := a.body.Get("choices")
	if choices.Kind() != value.List || choices.Len() == 0 {
		return c, provider("the answer has no choices")
	}
	first := choices.At(0)
	c.finish = str(first, "finish_reason")
	message, _ := first.Get("message")
	if message.Kind() != value.Map {
		return c, provider("the answer has no message%s", c.because())
	}
	c.refusal = strings.TrimSpace(str(message, "refusal"))
	if c.reasoning = str(message, "reasoning_content"); c.reasoning == "" {
		c.reasoning = str(message, "reasoning")
	}
	calls, _ := message.Get("tool_calls")
	call, _ := message.Get("function_call")
	c.calls = calls.Len() > 0 || call.Kind() == value.Map
	content, _ := message.Get("content")
	if content.Kind() != value.List {
		c.text, c.hasText = content.AsString()
		return c, nil
	}
	// Parts, as some endpoints write it: the text ones joined.
	var b strings.Builder
	for i := range content.Len() {
		part := content.At(i)
		if str(part, "type") == "refusal" && c.refusal == "" {
			c.refusal = strings.TrimSpace(str(part, "refusal"))
		}
		text, _ := part.Get("text")
		if s, ok := text.AsString(); ok && str(part, "type") == "text" {
			b.WriteString(s)
			c.hasText = true
		}
	}
	c.text = b.String()
	return c, nil
}

func str(v value.Value, key string) string {
	x, _ := v.Get(key)
	s, _ := x.AsString()
	return s
}

// is compares the finish reason, in any letter case.
func (c choice) is(reasons ...string) bool {
	for _, r := range reasons {
		if strings.EqualFold(c.finish, r) {
			return true
		}
	}
	return false
}

// because names the finish reason in an error.
func (c choice) because() string {
	switch {
	case c.is("length", "max_tokens", "model_context_window_exceeded"):
		return ": it was cut off at a length limit (" + c.finish + ")"
	case c.finish != "":
		return " (finish reason " + c.finish + ")"
	}
	return ""
}

// usage is what was reported. A side that is missing, or an input of 0 beside an
// output, is estimated, and the whole marked (LANGUAGE.md §11): a budget must
// bite where an endpoint does not count.
func (a answer) usage(p fence.Rendered, c choice) engine.Usage {
	reported, _ := a.body.Get("usage")
	in, hasIn := count(reported, "prompt_tokens")
	out, hasOut := count(reported, "completion_tokens")
	u := engine.Usage{Input: in, Output: out}
	if !hasOut {
		u.Output = tokens.Estimate(c.text) + tokens.Estimate(c.reasoning) + tokens.Estimate(c.refusal)
		u.Estimated = true
	}
	if !hasIn || in == 0 && u.Output > 0 {
		u.Input = tokens.Estimate(p.System()) + tokens.Estimate(p.User())
		u.Estimated = true
	}
	return u
}

// count is a number of tokens: a whole one that is not negative.
func count(usage value.Value, key string) (int, bool) {
	v, _ := usage.Get(key)
	f, ok := v.AsFloat()
	if !ok || f < 0 || f > 1<<40 || f != math.Trunc(f) {
		return 0, false
	}
	return int(f), true
}
