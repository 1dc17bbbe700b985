// Package fence turns Docs into the bytes a model reads, and is the only code
// that writes a fence.
package fence

import (
	"io"

	"github.com/pinfold-dev/pinfold/trust"
)

// Style is how untrusted text is fenced. The zero Style is the data style.
type Style uint8

const (
	StyleData     Style = iota // <data-NONCE>\n…\n</data-NONCE>
	StyleLabelled              // <untrusted id="NONCE" source="…">\n…\n</untrusted id="NONCE">
	StyleInline                // labelled, on one line
)

// Attr is one attribute of a labelled fence. Values outside [A-Za-z0-9_.:/-] are refused.
type Attr struct{ Name, Value string }

// Unit is what a Budget counts.
type Unit uint8

const (
	Characters Unit = iota
	Bytes
	Tokens
)

// Keep says which part of a value survives a cut.
type Keep uint8

const (
	KeepHead Keep = iota
	KeepTail
	KeepBoth
)

// Budget bounds everything that a part puts into the prompt: value, cut marker,
// fence, banner. The zero Budget is none; Set with Max 0 admits nothing.
type Budget struct {
	Set  bool
	Max  int
	Unit Unit
}

// Part is one piece of labelled data on its way into a prompt.
type Part struct {
	Channel       string // slot, lane or context key
	Kind          string // what kind of channel: "key", "slot", "lane", "output", …
	Data          trust.Data
	Trust         string    // declared trust class, "" when none was declared
	Authoritative bool      // the class is authoritative
	Admits        trust.Set // origins that an authoritative class admits unfenced
	Style         Style
	Attrs         []Attr
	Banner        trust.Text
	Budget        Budget
	Keep          Keep
}

// Doc is an ordered list of spans. The zero Doc is empty and ready to use. A Doc
// that was handed to Render may be rendered again; it is never changed by it.
type Doc struct {
	spans []span
	parts []Part
}

type span struct{}

func (d *Doc) Grow(spans, parts int)                    { panic("TODO") }
func (d *Doc) Text(t trust.Text)                        { panic("TODO") } // the author's own
func (d *Doc) Scalar(channel string, s trust.Scalar)    { panic("TODO") }
func (d *Doc) Data(channel string, v trust.Data)        { panic("TODO") } // data style, no budget, kind "key"
func (d *Doc) Put(p Part)                               { panic("TODO") }
func (d *Doc) Undelimited(channel string, v trust.Data) { panic("TODO") } // produce-side off switch (TRUST.md §3): bare, and its row says so
func (d *Doc) Nonce()                                   { panic("TODO") } // the nonce itself; an error at render when nothing was fenced
func (d *Doc) WhenFenced(text Doc)                      { panic("TODO") } // texts and nonces that are there only when something was fenced
func (d *Doc) Append(other Doc)                         { panic("TODO") }
func (d *Doc) Empty() bool                              { panic("TODO") }

// Prompt is one model call's input: one nonce serves both messages.
type Prompt struct{ System, User Doc }

// Nonces fills in twelve lowercase hex characters. The driver supplies one that
// reads the operating system's CSPRNG; a test supplies its own.
type Nonces func(*[12]byte) error

// Rendered is what a model may be given. Only Render makes one; it is never
// input to a Doc.
type Rendered struct{ r *rendered }

type rendered struct{}

func Render(p Prompt, nonces Nonces) (Rendered, []Row, error) { panic("TODO") }

func (r Rendered) System() string                         { panic("TODO") }
func (r Rendered) User() string                           { panic("TODO") }
func (r Rendered) WriteSystem(w io.Writer) (int64, error) { panic("TODO") } // streams; builds nothing
func (r Rendered) WriteUser(w io.Writer) (int64, error)   { panic("TODO") }
func (r Rendered) Nonce() string                          { panic("TODO") } // "" when nothing was fenced
func (r Rendered) Fenced() bool                           { panic("TODO") }

// Row is the receipt of one part: what the renderer did.
type Row struct {
	Channel       string
	Kind          string
	Label         trust.Label
	Trust         string
	Authoritative bool
	Fenced        bool
	Style         Style
	Banner        string
	BytesIn       int
	BytesOut      int
	Budget        Budget
	Truncated     bool
	Dropped       bool
	Altered       bool
	Position      int // place among the parts of the prompt, from 0, system first
	value         string
}

func (r *Row) Value() string       { panic("TODO") } // what was carried, for a sink's digest
func (r *Row) Invisible() int      { panic("TODO") } // invisible characters in it, counted when asked
func (r *Row) HadToBeFenced() bool { panic("TODO") } // the denominator of enforcement coverage

// Span is one piece of a rendered message, as Parse recovers it.
type Span struct {
	Fenced bool
	Style  Style
	Attrs  []Attr
	Text   string
}

// Parse recovers the spans of a rendered message given its nonce.
func Parse(message, nonce string) ([]Span, error) { panic("TODO") }
