// Package openai stands in for the client library.
package openai

type ChatCompletionMessage struct {
	Role    string
	Content string
}

// ChatCompletionChoice is a part of a reply.
type ChatCompletionChoice struct{ Message ChatCompletionMessage }
