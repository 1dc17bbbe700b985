// Package rerender reports model output, and prompts that were already rendered,
// used as the text of a template or as a system message.
//
// # PF006: output is rendered again
//
// What a model wrote carries whatever it had read. As a template its marks are
// obeyed; as a system message its sentences are.
//
//	reply := ask(ctx, question)
//	ask2(openai.SystemMessage("So far: " + reply)) // PF006
//	template.New("next").Parse(reply)              // PF006
//
// Quiet:
//
//	ask2(openai.SystemMessage(rules), openai.UserMessage(fenced(nonce, reply)))
package rerender
