package flow

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// Kind says how a slot is set into the text around it.
type Kind string

// Kinds of slots.
const (
	Whole    Kind = "whole"    // the whole message is the value
	Concat   Kind = "concat"   // "…" + v
	Format   Kind = "format"   // a verb of fmt
	Write    Kind = "write"    // written to a builder, buffer or writer
	Join     Kind = "join"     // an element of strings.Join
	Replace  Kind = "replace"  // the new text of strings.Replace
	Template Kind = "template" // an action of text/template
	Marshal  Kind = "marshal"  // part of a JSON, XML or YAML document
)

// Sink is a place where text becomes model input.
type Sink struct {
	Func string // openai.UserMessage, openai.ChatCompletionMessage.Content
	Role string
	Pos  token.Position
	In   string // the function it is in
}

// Fence says whether a slot's value stands between marks that it cannot forge.
type Fence uint8

// A slot is fenced when every outside value reaches it through a fence.
const (
	Unfenced Fence = iota
	PartlyFenced
	Fenced
)

func (f Fence) String() string {
	return [...]string{"no", "partly", "yes"}[f]
}

// Slot is a hole in text that becomes model input.
type Slot struct {
	Name    string // the expression that fills it
	Kind    Kind
	Verb    string // of a format
	Pos     token.Position
	In      string // the function that holds it
	Package string
	Sinks   []Sink
	Origins []*Origin

	pos      token.Pos
	fn       *ssa.Function
	parents  []*Slot
	children []*Slot
	roots    []*sink
	steps    int
	gaveUp   bool
	byKey    map[originKey]*Origin
}

// Origin is one place where the characters of a slot may come from.
type Origin struct {
	Class   Class
	Detail  string // r.FormValue("q"), articles.body, …
	Pos     token.Position
	In      string
	Filled  token.Position // where the value enters the function of the slot
	Frames  int            // calls and returns between the sink and the origin
	Scalar  bool           // it has become a number, a time or the like on its way
	Fenced  bool
	Path    []Step // from the origin to the sink
	Table   string // sql: the table
	Column  string // sql: the column
	Query   string // sql: the query
	Writers []Writer
	Reason  string // vouched: the reason

	hop   *hop
	field fieldKey
	param *ssa.Parameter // unknown:parameter: which
}

// Writer is a place that writes a column.
type Writer struct {
	Pos     token.Position
	In      string
	Query   string
	Origins []*Origin
}

// Step is one hop of the way from an origin to a sink.
type Step struct {
	Pos  token.Position
	In   string
	What string // parameter q, returned by load, stored to Article.Body, …
}

// Trust of the origin by its class alone.
func (o *Origin) Trust() Trust { return o.Class.Trust() }

// Crosses reports whether o is known to be outside text.
func (o *Origin) Crosses() bool { return o.Trust() == Untrusted && !o.Scalar }

// Unknown reports whether o was not followed to its end.
func (o *Origin) Unknown() bool { return o.Trust() == TrustUnknown && !o.Scalar }

// Crosses reports whether outside text is known to reach the slot.
func (s *Slot) Crosses() bool {
	for _, o := range s.Origins {
		if o.Crosses() {
			return true
		}
	}
	return false
}

// Unknown reports whether no origin is known to be outside text and at least one
// was not followed to its end.
func (s *Slot) Unknown() bool {
	u := false
	for _, o := range s.Origins {
		if o.Crosses() {
			return false
		}
		u = u || o.Unknown()
	}
	return u
}

// Fence says how much of what reaches the slot from outside (or from an unknown
// place) comes through a fence.
func (s *Slot) Fence() Fence {
	in, out := 0, 0
	for _, o := range s.Origins {
		if o.Crosses() || o.Unknown() {
			if o.Fenced {
				in++
			} else {
				out++
			}
		}
	}
	switch {
	case in == 0:
		return Unfenced
	case out == 0:
		return Fenced
	}
	return PartlyFenced
}

// Main is the origin to show where there is room for one: outside text before
// unknowns before the rest, the nearest first.
func (s *Slot) Main() *Origin {
	rank := func(o *Origin) int {
		switch {
		case o.Crosses() && !o.Fenced:
			return 0
		case o.Crosses():
			return 1
		case o.Unknown():
			return 2
		case o.Class.Authority() != Author:
			return 3
		}
		return 4
	}
	var best *Origin
	for _, o := range s.Origins {
		if best == nil || rank(o) < rank(best) || rank(o) == rank(best) && o.Frames < best.Frames {
			best = o
		}
	}
	return best
}
