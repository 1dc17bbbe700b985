// Package anthropicprompt gives rendered prompts to anthropic-sdk-go as its message
// types, and takes what comes back as labelled data.
//
// It joins no text of its own to a prompt, and takes no string that a prompt could be
// made from: package fence has rendered it, and its receipt exists.
//
//	p, err := answer.Render(trusted, untrusted)
//	r, rows, err := fence.Render(p, fence.Hex(rand.Reader))
//	system, messages, err := anthropicprompt.Messages(r)
//	m, err := client.Messages.New(ctx, anthropic.MessageNewParams{Model: model, MaxTokens: 1024, System: system, Messages: messages})
//	reply, err := anthropicprompt.Reply("model:answer", m, rows)
package anthropicprompt

import (
	"errors"
	"fmt"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/prompt"
	"github.com/pinfold-dev/pinfold/trust"
)

// Messages is a rendered prompt as the system blocks and the messages of one call. The
// paragraph that names the fence is new for every call, and is a block of its own: what
// stands before it stays the same, so a caller may set a cache breakpoint on block 0
// where there are two.
func Messages(r fence.Rendered) (system []anthropic.TextBlockParam, messages []anthropic.MessageParam, err error) {
	if !r.Valid() {
		return nil, nil, fence.ErrNotRendered
	}
	text := r.System()
	if i := strings.LastIndex(text, "\n\n"); i > 0 && r.Fenced() && strings.Contains(text[i:], r.Nonce()) && !strings.Contains(text[:i], r.Nonce()) {
		system = append(system, anthropic.TextBlockParam{Text: text[:i]})
		text = text[i:]
	}
	if text != "" {
		system = append(system, anthropic.TextBlockParam{Text: text})
	}
	return system, []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(r.User()))}, nil
}

// ToolResult answers the tool use of that id with a rendered prompt, all of which goes
// into the one block: what explains the fence first, as trusted text outside it.
// prompt.ToolResult makes a prompt of a tool's result, or of what a tool said when it
// failed.
func ToolResult(r fence.Rendered, toolUseID string, failed bool) (anthropic.ContentBlockParamUnion, error) {
	if !r.Valid() {
		return anthropic.ContentBlockParamUnion{}, fence.ErrNotRendered
	}
	text := r.User()
	if r.SystemLen() > 0 {
		text = r.System() + "\n\n" + text
	}
	return anthropic.NewToolResultBlock(toolUseID, text, failed), nil
}

// Reply is the text of a message, labelled by what the model read. Where the model
// wrote no text, or was stopped before its end, it is an error.
func Reply(origin string, m *anthropic.Message, rows []fence.Row) (trust.Data, error) {
	if m == nil {
		return trust.Data{}, errors.New("anthropicprompt: no message")
	}
	if m.StopReason != anthropic.StopReasonEndTurn && m.StopReason != anthropic.StopReasonStopSequence {
		return trust.Data{}, fmt.Errorf("anthropicprompt: expected the stop reason end_turn or stop_sequence, found %q", m.StopReason)
	}
	var text strings.Builder
	for _, block := range m.Content {
		if block.Type == "text" {
			text.WriteString(block.Text)
		}
	}
	if text.Len() == 0 {
		return trust.Data{}, errors.New("anthropicprompt: a message without text")
	}
	return prompt.Reply(origin, text.String(), rows), nil
}
