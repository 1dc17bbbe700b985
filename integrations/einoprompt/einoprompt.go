// Package einoprompt gives rendered prompts to eino as its messages, and takes what its
// tools and retrievers bring back as labelled data.
//
// It joins no text of its own to a prompt, and takes no string that a prompt could be
// made from: package fence has rendered it, and its receipt exists.
//
//	kb := einoprompt.Source("retriever:kb")
//	docs, err := kb.Retrieve(ctx, retriever, question)          // labelled data, for slots
//	messages, err := einoprompt.Messages(rendered)
//	search := einoprompt.Tool(search, einoprompt.Options{})     // fences its results for eino's own loop
package einoprompt

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/prompt"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// Messages is a rendered prompt as the messages of one call: the system message, where
// there is one, and the user message.
func Messages(r fence.Rendered) ([]*schema.Message, error) {
	if !r.Valid() {
		return nil, fence.ErrNotRendered
	}
	messages := make([]*schema.Message, 0, 2)
	if r.SystemLen() > 0 {
		messages = append(messages, schema.SystemMessage(r.System()))
	}
	return append(messages, schema.UserMessage(r.User())), nil
}

// ToolResult answers the call of that id with a rendered prompt, all of which goes into
// the one message: what explains the fence first, as trusted text outside it.
// prompt.ToolResult makes a prompt of a tool's result.
func ToolResult(r fence.Rendered, callID, name string) (*schema.Message, error) {
	if !r.Valid() {
		return nil, fence.ErrNotRendered
	}
	return schema.ToolMessage(whole(r), callID, schema.WithToolName(name)), nil
}

func whole(r fence.Rendered) string {
	if r.SystemLen() == 0 {
		return r.User()
	}
	return r.System() + "\n\n" + r.User()
}

// Source is where documents or results come from, as labels write it: tool:search,
// retriever:kb. What it makes of them is External, from there.
type Source string

var errMedia = errors.New("einoprompt: expected text alone, found a message of several parts: what is not text cannot be fenced")

// Message is the text of a tool's message, or of any other that somebody outside wrote.
func (s Source) Message(m *schema.Message) (trust.Data, error) {
	if m == nil {
		return trust.Data{}, errors.New("einoprompt: no message")
	}
	if len(m.MultiContent)+len(m.UserInputMultiContent)+len(m.AssistantGenMultiContent) > 0 {
		return trust.Data{}, errMedia
	}
	return trust.External(string(s), m.Content), nil
}

// Document is the text of a document. Its metadata is as much an outsider's as its
// text, and is left out; what of it a prompt needs goes into a slot of its own.
func (s Source) Document(d *schema.Document) trust.Data {
	if d == nil {
		return trust.External(string(s), "")
	}
	return trust.External(string(s), d.Content)
}

// Documents is the texts of documents as one value for one slot: a JSON list, so that
// no document can pass for two.
func (s Source) Documents(docs []*schema.Document) trust.Data {
	items := make([]value.Value, len(docs))
	for i, d := range docs {
		items[i] = value.FromString(s.Document(d).Text())
	}
	return trust.External(string(s), value.FromList(items...).JSON())
}

// Retrieve asks a retriever.
func (s Source) Retrieve(ctx context.Context, from retriever.Retriever, query string, o ...retriever.Option) ([]trust.Data, error) {
	docs, err := from.Retrieve(ctx, query, o...)
	if err != nil {
		return nil, err
	}
	data := make([]trust.Data, len(docs))
	for i, d := range docs {
		data[i] = s.Document(d)
	}
	return data, nil
}

// Options of Tool. The zero value works.
type Options struct {
	// Nonces draws the nonce of each result; nil is the operating system's CSPRNG.
	Nonces fence.Nonces
	// Receipts gets the rows of each result before eino gets the result; an error of it
	// takes the result's place. nil keeps none.
	Receipts func(ctx context.Context, rows []fence.Row) error
}

// Tool is inner with its results fenced, from the origin tool:NAME: what eino's loop
// shows to a model is prompt.ToolResult of each. An error of inner stays an error.
func Tool(inner tool.InvokableTool, o Options) tool.InvokableTool {
	if o.Nonces == nil {
		o.Nonces = fence.Hex(rand.Reader)
	}
	return &fenced{inner, o}
}

type fenced struct {
	inner tool.InvokableTool
	o     Options
}

func (f *fenced) Info(ctx context.Context) (*schema.ToolInfo, error) { return f.inner.Info(ctx) }

func (f *fenced) InvokableRun(ctx context.Context, arguments string, o ...tool.Option) (string, error) {
	info, err := f.inner.Info(ctx)
	if err != nil {
		return "", err
	}
	result, err := f.inner.InvokableRun(ctx, arguments, o...)
	if err != nil {
		return "", err
	}
	p, err := prompt.ToolResult(trust.External("tool:"+info.Name, result))
	if err != nil {
		return "", err
	}
	r, rows, err := fence.Render(p, f.o.Nonces)
	if err != nil {
		return "", err
	}
	if f.o.Receipts != nil {
		if err := f.o.Receipts(ctx, rows); err != nil {
			return "", err
		}
	}
	return whole(r), nil
}
