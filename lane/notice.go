package lane

import (
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/raw"
	"github.com/pinfold-dev/pinfold/trust"
)

// mostNotice is more bytes than the notice of one lane has.
const mostNotice = 256

// said makes a notice trusted text. It is made of the names of lanes, which the lane
// file declares, and of numbers.
func said(notice string) trust.Text { return trust.FromRaw(raw.Of(notice)) }

// tally is what one lane is missing.
type tally struct {
	lane                    int32
	puts, dropped, withheld int
}

// tallies are those of the lanes that are missing something, in packing order.
func (p *packing) tallies() []tally {
	var all []tally
	held := p.withheld
	add := func(t tally) {
		if t.dropped+t.withheld > 0 {
			all = append(all, t)
		}
	}
	for i := 0; i < len(p.groups); {
		t := tally{lane: p.groups[i].lane}
		for first := i; i < len(p.groups) && (i == first || p.groups[i].sister); i++ {
			for k := range p.groups[i].items {
				if t.puts++; p.groups[i].items[k].fate == dropped {
					t.dropped++
				}
			}
		}
		for ; len(held) > 0 && held[0].lane < t.lane; held = held[1:] {
			add(tally{lane: held[0].lane, withheld: held[0].n})
		}
		if len(held) > 0 && held[0].lane == t.lane {
			t.withheld, held = held[0].n, held[1:]
		}
		add(t)
	}
	for _, w := range held {
		add(tally{lane: w.lane, withheld: w.n})
	}
	return all
}

// missing says lane by lane what is missing and why, a sentence a lane.
func (p *packing) missing() string {
	var b strings.Builder
	for _, t := range p.tallies() {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("Of lane ")
		b.WriteString(string(p.lanes.lanes[t.lane].Name))
		b.WriteString(", ")
		all := t.puts + t.withheld
		if t.withheld > 0 {
			b.WriteString(counted(t.withheld, all) + " withheld by policy")
		}
		if t.dropped > 0 {
			if t.withheld > 0 {
				b.WriteString(" and ")
			}
			b.WriteString(counted(t.dropped, all) + " left out for want of room")
		}
		b.WriteByte('.')
	}
	return b.String()
}

func counted(n, of int) string {
	s := strconv.Itoa(n) + " of " + strconv.Itoa(of)
	switch {
	case of == 1:
		return s + " item was"
	case n == 1:
		return s + " items was"
	}
	return s + " items were"
}

// dropped is how many items are dropped.
func (p *packing) dropped() int {
	n := 0
	for i := range p.items {
		if p.items[i].fate == dropped {
			n++
		}
	}
	return n
}

// brief is one sentence for all lanes, with so many items dropped.
func (p *packing) brief(dropped int) string {
	held := 0
	for _, w := range p.withheld {
		held += w.n
	}
	if dropped+held == 0 {
		return ""
	}
	return counted(dropped+held, len(p.items)+held) + " withheld or left out."
}
