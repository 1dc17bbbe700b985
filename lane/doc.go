// Package lane packs what many producers have to say into one model input, each
// producer on a lane of its own, under budgets.
//
// A lane is declared once, in lanes.toml, with the trust of what comes in by it:
//
//	version = 1
//
//	[lane.rules]
//	trust  = "policy"
//	budget = 2000                 # characters
//
//	[lane.page_context]
//	trust  = "retrieved"
//	budget = { tokens = 5000 }
//	order  = 40                   # its place, and its rank when room is short; ties by name
//	keep   = "tail"               # what survives a cut: head (the default), tail, both
//	share  = 2                    # its weight when the whole input must shrink; 1 without it
//
// The command pinfold gen lanes writes a constant for each lane, and the rest is one
// call a producer:
//
//	lanes := lane.MustLoad(files, "lanes.toml")
//	asm := lane.New(lanes, fence.Budget{Set: true, Max: 30_000, Unit: fence.Tokens})
//	err := asm.PutText(Rules, trust.Const("You help the customers of Harbour Pay."))
//	err = asm.Put(PageContext, trust.External("web:example.org", page))
//	p, err := asm.Assemble()
//	rendered, rows, err := fence.Render(p, fence.Hex(rand.Reader))
//
// # Classes
//
// trust names a class. Seven are there without a stanza: owner and policy are
// authoritative; tool, child, model, user and retrieved are not, and have a banner that
// stands before each of their fences. A stanza [trust.NAME] adds a class, or takes the
// place of one of the seven, whole:
//
//	[trust.owner]
//	authoritative = true          # false without it
//	origins = ["user:owner"]      # outside data that goes unfenced; without it only the author's own text does
//	[trust.supplier]
//	banner = "A supplier wrote this."
//
// A class is a declaration and a level is provenance: what is put into a lane of class
// model is not of level Model for that.
//
// # What Assemble makes
//
// The system message holds the author's own text from authoritative lanes, in the order
// of the lanes, and at its end the paragraph that names the fence: what stands before
// it is the same from call to call as long as that text is, so that a provider may
// keep it. The user message holds data that an authoritative class admits, bare; what
// is missing, in a sentence a lane; and everything else, fenced. Lanes without anything
// in them leave nothing behind.
//
// # Threat model
//
// The adversary chooses the text of any data, its length and how many pieces it comes
// in, and knows the lane file. The programmer is careless, not hostile. Who writes the
// lane file is the operator: its banners are trusted text, and its classes decide what
// goes bare.
//
// # Properties
//
//   - Whether and how text is fenced is read from its lane where it is packed. There is
//     no function, method or field that finds a fence or a banner by a name, so no call
//     site can fence one lane and forget another.
//   - Trust comes from the lane and the label, never from the text: a transcript that
//     claims to hold system messages is one piece of one lane.
//   - Provenance beats declaration: data in an authoritative lane whose class does not
//     admit all its origins is fenced, stays out of the system message, and is reported
//     (Assembler.Overruled, and rows that are authoritative and fenced).
//   - Every put has exactly one row, dropped ones included. What a lane puts into the
//     prompt (values, marks of cuts, fences, banners) keeps to its budget, and
//     everything that Assemble writes keeps to the total.
//   - Outside data never displaces authoritative text: that is given its room first.
//   - What was dropped or withheld is told outside the fences, room permitting, so that
//     an empty context is not read as "nothing exists".
//
// # Limits
//
// Tokens are those of package tokens, an estimate that is made not to undercount.
// Package lane reads no files at run time, draws no nonces, writes no receipts, and
// never looks at a value for attacks.
package lane

// constant fits untyped constants and nothing else outside this package. It is a
// parameter of package-level functions only: a method or an exported field of this
// type could be laundered through an interface or a generic.
type constant string
