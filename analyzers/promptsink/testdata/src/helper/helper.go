// Package helper is another package: what it does with text arrives as facts.
package helper

import (
	"net/http"

	openai "github.com/openai/openai-go"
)

// Ask sends its argument to a model.
func Ask(q string) { openai.UserMessage("Q: " + q) }

// Topic returns what a request says.
func Topic(r *http.Request) string { return r.FormValue("topic") }

// Fixed returns the code's own text, whatever it is given.
func Fixed(s string) string { return "fixed" }

// Same returns its argument.
func Same(s string) string { return s }
