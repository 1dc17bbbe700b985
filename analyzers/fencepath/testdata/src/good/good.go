package good

import (
	"crypto/rand"
	"net/http"

	openai "github.com/openai/openai-go"
)

func always(w http.ResponseWriter, r *http.Request) {
	n := rand.Text()
	openai.UserMessage("Question: <d-" + n + ">" + r.FormValue("q") + "</d-" + n + ">")
}

func ownTextBare(w http.ResponseWriter, r *http.Request) {
	q := "nothing was asked"
	if s := r.FormValue("q"); s != "" {
		n := rand.Text()
		q = "<d-" + n + ">" + s + "</d-" + n + ">"
	}
	openai.UserMessage("Question: " + q)
}
