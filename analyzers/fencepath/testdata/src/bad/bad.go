package bad

import (
	"crypto/rand"
	"net/http"

	openai "github.com/openai/openai-go"
)

func handle(w http.ResponseWriter, r *http.Request) {
	q := r.FormValue("q")
	if r.FormValue("raw") == "" {
		n := rand.Text()
		q = "<d-" + n + ">" + q + "</d-" + n + ">"
	}
	openai.UserMessage("Question: " + q) // want `PF010: q is fenced on one path and bare on another`
}
