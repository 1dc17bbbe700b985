package fence

import (
	"errors"
	"fmt"

	"github.com/pinfold-dev/pinfold/trust"
)

// A template is a Doc that is built once and filled many times: its texts, and what
// it declares of each place, are checked once and shared by every prompt.
//
//	slot, err := fence.Prepare(fence.Part{Channel: "page", Kind: "slot", Trust: "outside", Style: fence.StyleLabelled})
//	var d fence.Doc
//	d.Text(trust.Const("Summarise this page:\n"))
//	d.Hole()
//	user, err := d.Filled([]fence.Fill{slot.Data(page)})

// Prepared is what a part declares, checked and laid out once. It is immutable.
type Prepared struct{ part Part }

// Prepare checks a part's declarations. Data in it is not used. What Put would make
// Render refuse is an error here.
func Prepare(p Part) (*Prepared, error) {
	p.Data = trust.Data{}
	p.prepare()
	if p.refuse != nil {
		return nil, fmt.Errorf("fence: %w", p.in(p.refuse))
	}
	return &Prepared{p}, nil
}

// Fill is what goes into a hole: a value, and what was declared of it. The zero Fill
// is nothing, and makes Render fail.
type Fill struct {
	form *Prepared
	data trust.Data
	bare trust.Bare
	own  bool // bare is the value
}

// Data is v as a part of these declarations.
func (p *Prepared) Data(v trust.Data) Fill { return Fill{form: p, data: v} }

// Bare is b, without a fence: the author's own text, or what cannot carry text.
// Render fails when b is neither a trust.Text nor a trust.Scalar, and when p declares
// a class that is not authoritative, or a budget.
func (p *Prepared) Bare(b trust.Bare) Fill { return Fill{form: p, bare: b, own: true} }

// Hole appends a place that Filled fills. A hole that is still empty makes Render fail.
func (d *Doc) Hole() {
	d.claim(1)[0] = span{kind: spanHole, n: uint32(len(d.fills))}
	d.fills = append(d.fills, Fill{})
}

// Filled is a copy of d with the fills in its holes, in order: exactly as many. It
// keeps fills, which must not be written to any more, and copies nothing else.
func (d *Doc) Filled(fills []Fill) (Doc, error) {
	if len(fills) != len(d.fills) {
		return Doc{}, fmt.Errorf("fence: expected %d fills, one a hole, found %d", len(d.fills), len(fills))
	}
	filled := *d
	if filled.fills = fills; fills == nil {
		filled.fills = []Fill{} // not nil: it shares its arrays (Reset)
	}
	return filled, nil
}

var errEmptyHole = errors.New("a hole that nothing was put into")

// fill lays out what is in a hole.
func (b *builder) fill(f *Fill) error {
	if f.form == nil {
		return errEmptyHole
	}
	p := &f.form.part
	if !f.own {
		return b.part(p, &f.data)
	}
	row := b.row(p.Channel, p.Kind, &f.data)
	var text string
	switch v := f.bare.(type) {
	case trust.Text:
		text, row.Label = v.String(), trust.ConstInt(0).Label()
	case trust.Scalar:
		text, row.Label, row.scalar = v.Text(), v.Label(), true
	default:
		// A pointer, or a struct that embeds one of the two: who made its text is
		// not known.
		return p.in(fmt.Errorf("expected a trust.Text or a trust.Scalar, found %T", v))
	}
	switch {
	case p.Trust != "" && !p.Authoritative:
		return p.in(fmt.Errorf("class %s is not authoritative, so what it holds is fenced: expected data, found %T", p.Trust, f.bare))
	case p.Budget.Set:
		return p.in(errors.New("a budget cuts data: expected none for what goes bare"))
	}
	row.BytesIn = len(text)
	b.declare(row, p)
	b.plain(row, text)
	return nil
}
