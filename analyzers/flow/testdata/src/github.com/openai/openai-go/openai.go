// Package openai stands in for the client library: the shapes that the tables
// name, and nothing else.
package openai

import "context"

type ChatCompletionMessageParamUnion struct{ s string }

func SystemMessage[T string | []string](content T) ChatCompletionMessageParamUnion {
	return ChatCompletionMessageParamUnion{}
}
func UserMessage[T string | []string](content T) ChatCompletionMessageParamUnion {
	return ChatCompletionMessageParamUnion{}
}
func AssistantMessage[T string | []string](content T) ChatCompletionMessageParamUnion {
	return ChatCompletionMessageParamUnion{}
}

type ChatCompletionMessage struct{ Content string }
type ChatCompletionChoice struct{ Message ChatCompletionMessage }
type ChatCompletion struct{ Choices []ChatCompletionChoice }
type ChatCompletionNewParams struct {
	Messages []ChatCompletionMessageParamUnion
}
type Client struct{}

func (Client) New(ctx context.Context, p ChatCompletionNewParams) (*ChatCompletion, error) {
	return nil, nil
}

// TextContentPart is a part of a message whose role is set elsewhere.
func TextContentPart(text string) string { return "" }
