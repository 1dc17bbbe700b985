// Package openai stands in for the client library.
package openai

type ChatCompletionMessage struct {
	Role    string
	Content string
}
