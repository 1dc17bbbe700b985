// Package promptsink reports untrusted text that reaches model input outside a
// fence.
//
// # PF001: untrusted text reaches model input outside a fence
//
// Text that somebody outside could have chosen (a request, a row, a response, a
// file, another model) is put into a prompt with nothing around it that its writer
// could not have written too. The model has no way to tell it from the author's
// words.
//
//	func ask(w http.ResponseWriter, r *http.Request) {
//		client.Chat(openai.UserMessage("Answer: " + r.FormValue("q"))) // PF001
//	}
//
// Quiet, since nobody outside knows the marks:
//
//	nonce := rand.Text()
//	client.Chat(openai.UserMessage("<data-" + nonce + ">" + r.FormValue("q") + "</data-" + nonce + ">"))
//
// A fence that lies on some paths alone is PF010. What could not be followed is
// not reported here: pinfold audit lists it as unknown. Under go vet one package
// is seen at a time; what functions of other packages do with text arrives as
// facts.
package promptsink
