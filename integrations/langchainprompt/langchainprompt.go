// Package langchainprompt gives rendered prompts to langchaingo as its message content,
// and takes what its tools and retrievers bring back as labelled data.
//
// It joins no text of its own to a prompt, and takes no string that a prompt could be
// made from: package fence has rendered it, and its receipt exists.
//
//	kb := langchainprompt.Source("retriever:kb")
//	docs, err := kb.Retrieve(ctx, retriever, question)             // labelled data, for slots
//	messages, err := langchainprompt.Messages(rendered)
//	reply, err := model.GenerateContent(ctx, messages)
//	search := langchainprompt.Tool(search, langchainprompt.Options{}) // fences its results for an agent's loop
package langchainprompt

import (
	"context"
	"crypto/rand"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/tools"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/prompt"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// Messages is a rendered prompt as the messages of one call: the system message, where
// there is one, and the user message.
func Messages(r fence.Rendered) ([]llms.MessageContent, error) {
	if !r.Valid() {
		return nil, fence.ErrNotRendered
	}
	messages := make([]llms.MessageContent, 0, 2)
	if r.SystemLen() > 0 {
		messages = append(messages, llms.TextParts(llms.ChatMessageTypeSystem, r.System()))
	}
	return append(messages, llms.TextParts(llms.ChatMessageTypeHuman, r.User())), nil
}

// ToolResult answers the call of that id with a rendered prompt, all of which goes into
// the one message: what explains the fence first, as trusted text outside it.
// prompt.ToolResult makes a prompt of a tool's result.
func ToolResult(r fence.Rendered, callID, name string) (llms.MessageContent, error) {
	if !r.Valid() {
		return llms.MessageContent{}, fence.ErrNotRendered
	}
	return llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
		llms.ToolCallResponse{ToolCallID: callID, Name: name, Content: whole(r)},
	}}, nil
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

// Response is the text of a tool's response.
func (s Source) Response(r llms.ToolCallResponse) trust.Data {
	return trust.External(string(s), r.Content)
}

// Document is the text of a document. Its metadata is as much an outsider's as its
// text, and is left out; what of it a prompt needs goes into a slot of its own.
func (s Source) Document(d schema.Document) trust.Data {
	return trust.External(string(s), d.PageContent)
}

// Documents is the texts of documents as one value for one slot: a JSON list, so that
// no document can pass for two.
func (s Source) Documents(docs []schema.Document) trust.Data {
	items := make([]value.Value, len(docs))
	for i, d := range docs {
		items[i] = value.FromString(s.Document(d).Text())
	}
	return trust.External(string(s), value.FromList(items...).JSON())
}

// Retrieve asks a retriever.
func (s Source) Retrieve(ctx context.Context, from schema.Retriever, query string) ([]trust.Data, error) {
	docs, err := from.GetRelevantDocuments(ctx, query)
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
	// Receipts gets the rows of each result before the agent gets the result; an error
	// of it takes the result's place. nil keeps none.
	Receipts func(ctx context.Context, rows []fence.Row) error
}

// Tool is inner with its results fenced, from the origin tool:NAME: what an agent's
// loop shows to a model is prompt.ToolResult of each. An error of inner stays an error.
func Tool(inner tools.Tool, o Options) tools.Tool {
	if o.Nonces == nil {
		o.Nonces = fence.Hex(rand.Reader)
	}
	return &fenced{inner, o}
}

type fenced struct {
	inner tools.Tool
	o     Options
}

func (f *fenced) Name() string        { return f.inner.Name() }
func (f *fenced) Description() string { return f.inner.Description() }

func (f *fenced) Call(ctx context.Context, input string) (string, error) {
	result, err := f.inner.Call(ctx, input)
	if err != nil {
		return "", err
	}
	p, err := prompt.ToolResult(trust.External("tool:"+f.inner.Name(), result))
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
