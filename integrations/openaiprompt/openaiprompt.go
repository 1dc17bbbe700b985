// Package openaiprompt gives rendered prompts to openai-go as its message types, and
// takes what comes back as labelled data.
//
// It joins no text of its own to a prompt, and takes no string that a prompt could be
// made from: package fence has rendered it, and its receipt exists.
//
//	p, err := answer.Render(trusted, untrusted)
//	r, rows, err := fence.Render(p, fence.Hex(rand.Reader))
//	messages, err := openaiprompt.Messages(r)
//	c, err := client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{Model: model, Messages: messages})
//	reply, err := openaiprompt.Reply("model:answer", c, rows)
package openaiprompt

import (
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/prompt"
	"github.com/pinfold-dev/pinfold/trust"
)

// Messages is a rendered prompt as the messages of one call: the system message, where
// there is one, and the user message.
func Messages(r fence.Rendered) ([]openai.ChatCompletionMessageParamUnion, error) {
	if !r.Valid() {
		return nil, fence.ErrNotRendered
	}
	messages := make([]openai.ChatCompletionMessageParamUnion, 0, 2)
	if r.SystemLen() > 0 {
		messages = append(messages, openai.SystemMessage(r.System()))
	}
	return append(messages, openai.UserMessage(r.User())), nil
}

// ToolResult answers the call of that id with a rendered prompt, all of which goes into
// the one message: what explains the fence first, as trusted text outside it.
// prompt.ToolResult makes a prompt of a tool's result.
func ToolResult(r fence.Rendered, callID string) (openai.ChatCompletionMessageParamUnion, error) {
	if !r.Valid() {
		return openai.ChatCompletionMessageParamUnion{}, fence.ErrNotRendered
	}
	text := r.User()
	if r.SystemLen() > 0 {
		text = r.System() + "\n\n" + text
	}
	return openai.ToolMessage(text, callID), nil
}

// Reply is the text of a completion, labelled by what the model read. Where the model
// wrote no text, or was stopped before its end, it is an error.
func Reply(origin string, c *openai.ChatCompletion, rows []fence.Row) (trust.Data, error) {
	if c == nil || len(c.Choices) == 0 {
		return trust.Data{}, errors.New("openaiprompt: a completion without a choice")
	}
	choice := c.Choices[0]
	switch {
	case choice.Message.Refusal != "":
		return trust.Data{}, errors.New("openaiprompt: the model refused")
	case choice.FinishReason != "stop":
		return trust.Data{}, fmt.Errorf("openaiprompt: expected the finish reason stop, found %q", choice.FinishReason)
	case choice.Message.Content == "":
		return trust.Data{}, errors.New("openaiprompt: a completion without text")
	}
	return prompt.Reply(origin, choice.Message.Content, rows), nil
}
