package fence

import "errors"

// Reset empties d and keeps its arrays for the next prompt. Every copy of d, and
// every Rendered made from it, must be out of use: the caller answers for that.
// The engine does, since an effect is over when its result was given.
//
// A copy or a Rendered that is used all the same does not show the next prompt: the
// copy fails to render, and the Rendered is not valid any more.
//
// A Doc with holes shares its arrays with the Doc that it was filled from, as a
// template's prompts do: it lets them go instead.
func (d *Doc) Reset() {
	if d.fills != nil || len(d.spans) == 0 || d.spans[0].gen != d.gen || d.gen+1 == 0 {
		*d = Doc{}
		return
	}
	d.gen++
	clear(d.spans[1:])
	d.spans = d.spans[:1]
	d.spans[0].n, d.spans[0].gen = 1, d.gen
	clear(d.data)
	clear(d.parts)
	d.data, d.parts = d.data[:0], d.parts[:0]
}

var errReset = errors.New("its arrays were given to another prompt by a Reset")

// stale says whether the arrays of d hold another prompt by now.
func (d *Doc) stale() bool { return len(d.spans) > 0 && d.spans[0].gen != d.gen }

// stale says whether what r was made from has been reset.
func (r *rendered) stale() bool {
	for i, spans := range r.spans {
		if len(spans) > 0 && spans[0].gen != r.gens[i] {
			return true
		}
	}
	return false
}
