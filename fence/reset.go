package fence

// Reset empties d and keeps its arrays for the next prompt. Every copy of d, and
// every Rendered made from it, must be out of use: the caller answers for that.
// The engine does, since an effect is over when its result was given.
//
// A Doc with holes shares its arrays with the Doc that it was filled from, as a
// template's prompts do: it lets them go instead.
func (d *Doc) Reset() {
	if d.fills != nil {
		*d = Doc{}
		return
	}
	if len(d.spans) > 0 {
		clear(d.spans[1:])
		d.spans = d.spans[:1]
		d.spans[0].n = 1
	}
	clear(d.data)
	clear(d.parts)
	d.data, d.parts = d.data[:0], d.parts[:0]
}
