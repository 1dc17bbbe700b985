package bad

import (
	"fmt"
	"net/http"

	"helper"

	openai "github.com/openai/openai-go"
)

func handle(w http.ResponseWriter, r *http.Request) {
	q := r.FormValue("q")
	openai.SystemMessage("Q: " + q)              // want `PF001: .* reaches the system text of openai.SystemMessage outside a fence: a user`
	openai.UserMessage(fmt.Sprintf("%q", q))     // want `PF001`
	openai.UserMessage("<data>" + q + "</data>") // want `PF001`
	helper.Ask(q)                                // want `PF001: .* reaches the user text of openai.UserMessage`
	openai.UserMessage("T: " + helper.Topic(r))  // want `PF001`
	openai.UserMessage("S: " + helper.Same(q))   // want `PF001`
}

func routes(mux *http.ServeMux) {
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		openai.UserMessage("Q: " + r.FormValue("q")) // want `PF001`
	})
}
