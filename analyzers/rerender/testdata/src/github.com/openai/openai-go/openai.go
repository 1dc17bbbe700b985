// Package openai stands in for the client library.
package openai

import "context"

type ChatCompletionMessageParamUnion struct{ s string }

func SystemMessage(content string) ChatCompletionMessageParamUnion {
	return ChatCompletionMessageParamUnion{}
}
func UserMessage(content string) ChatCompletionMessageParamUnion {
	return ChatCompletionMessageParamUnion{}
}

type ChatCompletionMessage struct{ Content string }
type ChatCompletionChoice struct{ Message ChatCompletionMessage }
type ChatCompletion struct{ Choices []ChatCompletionChoice }

func Complete(ctx context.Context, m ...ChatCompletionMessageParamUnion) (*ChatCompletion, error) {
	return nil, nil
}
