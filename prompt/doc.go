// Package prompt makes model input from templates whose text is fixed when the
// program is built, and whose holes say who may fill them.
//
//	var answer = prompt.MustParse(`Answer {{name}}, who asks:
//	{{question}}`, prompt.Slots{
//		"name":     prompt.Outside("customer_profile").Inline(200),
//		"question": prompt.Outside("customer_question"),
//	})
//
//	p, err := answer.Render(nil, prompt.Untrusted{
//		"name":     trust.External("customer_profile", user.Name),
//		"question": trust.External("customer_question", question),
//	})
//	rendered, rows, err := fence.Render(p, fence.Hex(rand.Reader))
//
// A string fits neither map. Render puts values where the holes are, once, and gives
// a fence.Prompt; package fence makes it the bytes of one model call and says in its
// rows what it did.
//
// # Templates
//
// {{name}} is a hole: the name of a declared slot, a letter and then letters, digits
// and _, without white space. Anything else behind {{ is an error, and so are a slot
// that is used and not declared, and one that is declared and not used. A template
// that wants to say {{ itself has an own slot for it.
//
// A line {{#system}} begins the system message and a line {{#user}} the user message;
// line breaks at both ends of each are dropped. Without such lines everything is the
// user message, as it stands. When a prompt holds outside data, a paragraph at the end
// of the system message names the fence and says what it means: whatever stands before
// it is the same from call to call, so that a provider may keep it. For the same
// reason, put what never changes first in the user message too.
//
// A file NAME.prompt holds a template and its declarations (see Load); the command
// pinfold gen writes typed constructors for such files, so that a slot that is
// missing, misspelt or of the wrong trust does not compile.
//
// # Threat model
//
// The adversary chooses the text of any outside value and knows the template. The
// programmer is careless, not hostile.
//
// # Properties
//
//   - A template's text and its origins are compile-time constants, or come out of an
//     embed.FS: nothing that a run has read can become one.
//   - A rendered prompt is never a slot's value, and no value is ever scanned: there is
//     one pass over the template, which happened before any value was known.
//   - An outside slot takes data all of whose origins it admits, and goes fenced,
//     whatever its text and its level are. An own slot takes what cannot have come from
//     outside, or cannot carry text.
//   - Outside data enters a system message only where a slot says so, with a reason.
//   - The receipt's row of every slot says what was declared, and what was done.
//
// # Limits
//
// Reflection, and generics instantiated over a type that only constants fit, get
// round the types (see testdata/launder); pinfoldvet reports those. An own slot is as
// true as the reasons given to trust/unchecked. Package prompt draws no nonces, reads
// no files at run time, and never looks at a value for attacks.
package prompt

// constant fits untyped constants and nothing else outside this package. It is a
// parameter of package-level functions only: a method or an exported field of this
// type could be laundered through an interface or a generic.
type constant string
