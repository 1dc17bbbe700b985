package fence

import (
	"github.com/pinfold-dev/pinfold/display"
	"github.com/pinfold-dev/pinfold/trust"
)

// Row is the receipt of one part: what the renderer did (TRUST.md §3).
type Row struct {
	Channel       string
	Kind          string // "key", "scalar", or what Part.Kind said
	Label         trust.Label
	Trust         string // as declared
	Banner        string // as written before the fence
	BytesIn       int    // of the value, before anything was cut
	BytesOut      int    // of everything the part put into the prompt
	Position      int    // place among the parts of the prompt, from 0, system first
	Budget        Budget
	Authoritative bool  // as declared
	Admitted      bool  // went bare because its class admits all its origins
	Fenced        bool  // went inside a fence
	Style         Style // of that fence
	Truncated     bool
	Dropped       bool // its budget did not hold it; nothing of it is in the prompt
	Altered       bool

	scalar bool
	value  string
}

// Value is what was carried of the value, cut and marked as it was, without fence
// and banner: for a sink's digest.
func (r *Row) Value() string { return r.value }

// Origin is the sources of the label, as the text of a label writes them.
func (r *Row) Origin() string { return r.Label.Sources().String() }

// HadToBeFenced is the denominator of enforcement coverage (TRUST.md §3): the class
// is not authoritative, or the level is not Author and the class does not admit the
// origins. With no class declared the level decides. A scalar carries no text, and
// of a dropped part nothing reached the model.
func (r *Row) HadToBeFenced() bool {
	switch {
	case r.scalar || r.Dropped:
		return false
	case r.Trust != "" && !r.Authoritative:
		return true
	}
	return r.Label.Level() != trust.LevelAuthor && !r.Admitted
}

// Invisible is how many characters of Value a person would not see (package
// display says which). It counts when asked.
func (r *Row) Invisible() int { return display.Invisible(r.value) }
