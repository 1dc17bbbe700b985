// Package genkitprompt gives rendered prompts to genkit as its messages, and takes what
// its tools and retrievers bring back as labelled data.
//
// It joins no text of its own to a prompt, and takes no string that a prompt could be
// made from: package fence has rendered it, and its receipt exists.
//
//	kb := genkitprompt.Source("retriever:kb")
//	docs, err := kb.Retrieve(ctx, retriever, question)     // labelled data, for slots; never ai.WithDocs
//	messages, err := genkitprompt.Messages(rendered)
//	response, err := genkit.Generate(ctx, g, ai.WithMessages(messages...))
//
//	// A tool whose results genkit's own loop shows to a model fenced:
//	genkit.DefineTool(g, "search", "…", genkitprompt.Tool("search", search, genkitprompt.Options{}))
package genkitprompt

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/firebase/genkit/go/ai"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/prompt"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// Messages is a rendered prompt as the messages of one call: the system message, where
// there is one, and the user message.
func Messages(r fence.Rendered) ([]*ai.Message, error) {
	if !r.Valid() {
		return nil, fence.ErrNotRendered
	}
	messages := make([]*ai.Message, 0, 2)
	if r.SystemLen() > 0 {
		messages = append(messages, ai.NewSystemTextMessage(r.System()))
	}
	return append(messages, ai.NewUserTextMessage(r.User())), nil
}

// ToolResult answers a tool request with a rendered prompt, all of which goes into the
// one message: what explains the fence first, as trusted text outside it.
// prompt.ToolResult makes a prompt of a tool's result.
func ToolResult(r fence.Rendered, request *ai.ToolRequest) (*ai.Message, error) {
	if !r.Valid() {
		return nil, fence.ErrNotRendered
	}
	if request == nil {
		return nil, errors.New("genkitprompt: no tool request")
	}
	return ai.NewMessage(ai.RoleTool, nil, ai.NewToolResponsePart(&ai.ToolResponse{Name: request.Name, Ref: request.Ref, Output: whole(r)})), nil
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

// Output is a tool's output: text as it stands, anything else as JSON, in which no
// character is escaped that JSON does not have to escape.
func (s Source) Output(output any) (trust.Data, error) {
	text, ok := output.(string)
	if !ok {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(output); err != nil {
			return trust.Data{}, fmt.Errorf("genkitprompt: output of %s: %w", s, err)
		}
		text = strings.TrimSuffix(b.String(), "\n")
	}
	return trust.External(string(s), text), nil
}

// Response is the output of a tool's response. Parts beside it are an error: what is
// not text cannot be fenced.
func (s Source) Response(r *ai.ToolResponse) (trust.Data, error) {
	if r == nil {
		return trust.Data{}, errors.New("genkitprompt: no tool response")
	}
	if len(r.Content) > 0 {
		return trust.Data{}, fmt.Errorf("genkitprompt: response of %s: expected an output alone, found %d parts beside it", s, len(r.Content))
	}
	return s.Output(r.Output)
}

// Document is the text of a document. A part that is not text is an error. Its metadata
// is as much an outsider's as its text, and is left out; what of it a prompt needs goes
// into a slot of its own.
func (s Source) Document(d *ai.Document) (trust.Data, error) {
	if d == nil {
		return trust.Data{}, errors.New("genkitprompt: no document")
	}
	var b strings.Builder
	for i, p := range d.Content {
		if !p.IsText() {
			return trust.Data{}, fmt.Errorf("genkitprompt: document of %s: part %d: expected text", s, i)
		}
		b.WriteString(p.Text)
	}
	return trust.External(string(s), b.String()), nil
}

// Documents is the texts of documents as one value for one slot: a JSON list, so that
// no document can pass for two.
func (s Source) Documents(docs []*ai.Document) (trust.Data, error) {
	items := make([]value.Value, len(docs))
	for i, d := range docs {
		data, err := s.Document(d)
		if err != nil {
			return trust.Data{}, err
		}
		items[i] = value.FromString(data.Text())
	}
	return trust.External(string(s), value.FromList(items...).JSON()), nil
}

// Retrieve asks a retriever.
func (s Source) Retrieve(ctx context.Context, from ai.Retriever, query string) ([]trust.Data, error) {
	response, err := from.Retrieve(ctx, &ai.RetrieverRequest{Query: ai.DocumentFromText(query, nil)})
	if err != nil {
		return nil, err
	}
	data := make([]trust.Data, len(response.Documents))
	for i, d := range response.Documents {
		if data[i], err = s.Document(d); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// Options of Tool. The zero value works.
type Options struct {
	// Nonces draws the nonce of each result; nil is the operating system's CSPRNG.
	Nonces fence.Nonces
	// Receipts gets the rows of each result before genkit gets the result; an error of
	// it takes the result's place. nil keeps none.
	Receipts func(ctx context.Context, rows []fence.Row) error
}

// Tool is the tool inner with its results fenced, from the origin tool:NAME: what
// genkit's loop shows to a model is prompt.ToolResult of each. An error of inner, an
// interrupt among them, stays as it is.
func Tool[In, Out any](name string, inner ai.ToolFunc[In, Out], o Options) ai.ToolFunc[In, string] {
	if o.Nonces == nil {
		o.Nonces = fence.Hex(rand.Reader)
	}
	source := Source("tool:" + name)
	return func(ctx *ai.ToolContext, input In) (string, error) {
		output, err := inner(ctx, input)
		if err != nil {
			return "", err
		}
		data, err := source.Output(output)
		if err != nil {
			return "", err
		}
		p, err := prompt.ToolResult(data)
		if err != nil {
			return "", err
		}
		r, rows, err := fence.Render(p, o.Nonces)
		if err != nil {
			return "", err
		}
		if o.Receipts != nil {
			if err := o.Receipts(ctx, rows); err != nil {
				return "", err
			}
		}
		return whole(r), nil
	}
}
