// Package fence turns Docs into the bytes a model reads, and is the only code
// that writes a fence.
//
// A Doc is an ordered list of spans: the author's text, and labelled data. Two of
// them make a Prompt, and Render makes a Prompt into bytes once, at the last moment
// before the wire. What it made cannot go back into a Doc.
//
//	var user fence.Doc
//	user.Text(trust.Const("Summarise this page:\n"))
//	user.Data("page", trust.External("tool:fetch", page))
//	rendered, rows, err := fence.Render(fence.Prompt{User: user}, nonces)
//
// # Threat model
//
// The adversary chooses the text of any data, its length and its shape, has read
// this source and every earlier prompt, and may put markers, tags, templates and
// invisible characters into it. He does not know the nonce of the call that his
// text is about to be rendered into.
//
// # Properties
//
//   - Data stands between two tags that carry the nonce, and the nonce occurs
//     nowhere else inside, in any letter case: a fence ends where Render ended it.
//   - Whether a part is fenced depends on its label and its declaration, never on
//     its text. Text never proves that it is fenced already, and none is too short.
//   - A value goes byte for byte. It is not escaped, trimmed, normalised or
//     filtered; nothing scans it for templates or attacks. Only the choice of nonce
//     reacts to it, and a budget, which cuts it before it is fenced.
//   - A Row says what Render did; Row.Fenced is set beside the statements that write
//     the tags.
//   - A prompt in which nothing is fenced is the concatenation of its texts, and no
//     nonce is drawn for it.
//
// # Limits
//
// Fences remove ambiguity, not influence: a model can still be persuaded by what
// it reads inside one. Render does not say in the prompt what a fence means; its
// callers do, with WhenFenced. Parse is for what Render made: author text that
// writes a whole tag itself, nonce included, can be read as a fence by it.
// Package fence reads no randomness of its own, keeps no state, and knows no
// fence or banner by name.
package fence

import (
	"fmt"

	"github.com/pinfold-dev/pinfold/trust"
)

// Style is how untrusted text is fenced. The zero Style is the data style.
type Style uint8

// The styles (TRUST.md §3).
const (
	StyleData     Style = iota // <data-NONCE>\n…\n</data-NONCE>
	StyleLabelled              // <untrusted id="NONCE" source="…">\n…\n</untrusted id="NONCE">
	StyleInline                // labelled, on one line
)

// String gives data, labelled or inline.
func (s Style) String() string {
	return name(int(s), "data", "labelled", "inline")
}

// Attr is one attribute of a labelled fence. Names and values outside
// [A-Za-z0-9_.:/-] are refused, and so are empty names, a second attribute of one
// name, and id, which is the nonce's.
type Attr struct{ Name, Value string }

// Unit is what a Budget counts.
type Unit uint8

// The units. Characters are Unicode code points; Tokens are those of package tokens.
const (
	Characters Unit = iota
	Bytes
	Tokens
)

// String gives characters, bytes or tokens.
func (u Unit) String() string { return name(int(u), "characters", "bytes", "tokens") }

// Keep says which part of a value survives a cut.
type Keep uint8

// What survives; the marker stands where the rest was.
const (
	KeepHead Keep = iota
	KeepTail
	KeepBoth
)

// String gives head, tail or both.
func (k Keep) String() string { return name(int(k), "head", "tail", "both") }

func name(i int, names ...string) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("unknown(%d)", i)
}

// Budget bounds everything that a part puts into the prompt: value, cut marker,
// fence, banner. The zero Budget is none; Set with Max 0 or less admits nothing. A
// part whose budget cannot hold the fence, or the fence and the marker when the
// value has to be cut, is dropped whole, with a row that says so.
type Budget struct {
	Set  bool
	Max  int
	Unit Unit
}

// Part is one piece of labelled data on its way into a prompt.
//
// It goes fenced, with two exceptions, both of them by provenance: data whose level
// is Author, unless the part declares a class that is not authoritative; and data
// of an authoritative class with at least one origin, all of whose origins are
// among Admits (PROMPTS-AND-LANES.md). Authoritative alone opens nothing.
type Part struct {
	Channel       string // slot, lane or context key
	Kind          string // what kind of channel: "key", "slot", "lane", "output", …
	Data          trust.Data
	Trust         string    // declared trust class, "" when none was declared
	Authoritative bool      // the class is authoritative
	Admits        trust.Set // origins that an authoritative class admits unfenced
	Style         Style
	Attrs         []Attr
	Banner        trust.Text // stands before the fence, and only before a fence; then a newline, or inline a space
	Budget        Budget
	Keep          Keep
	Secrecy       trust.Set // what the declaration knows of its sensitivity: joins the label of the row

	scalar *trust.Scalar // a scalar's part: rendered bare
	attrs  string        // Attrs as text, with the end of the opening tag
	quiet  bool          // no nonce can occur in attrs, and there is no banner
	secret trust.Label   // an author's of that Secrecy
	outer  int           // what a fence takes of the budget, in its unit; of tokens nothing
	refuse error         // why Render must refuse this part
}
