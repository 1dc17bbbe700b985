package good

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"

	"helper"

	openai "github.com/openai/openai-go"
)

const rules = "be kind"

func handle(w http.ResponseWriter, r *http.Request) {
	n := rand.Text()
	q := r.FormValue("q")
	openai.UserMessage("<d-" + n + ">" + q + "</d-" + n + ">")
	openai.SystemMessage(fmt.Sprintf("%s %d", rules, len(q)))
	openai.SystemMessage("n = " + strconv.Itoa(len(q)))
	openai.SystemMessage("f = " + helper.Fixed(q))
	openai.SystemMessage(`fixed`)
}

// Nobody here calls it: unknown, and not reported under vet.
func Exported(q string) { openai.UserMessage("Q: " + q) }
