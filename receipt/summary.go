package receipt

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Summary is what receipts come to. The zero Summary is empty and ready to use.
type Summary struct {
	Total     Coverage
	BytesIn   int
	BytesOut  int
	Fenced    int // parts
	Admitted  int // parts that went bare because their class admits their origins
	Overruled int // fenced parts of authoritative classes: provenance beat declaration
	Truncated int
	Dropped   int
	Altered   int
	Invisible int // characters

	channels map[[2]string]*Counted
	origins  map[string]*Counted
	calls    []Prefix
	seen     map[Mark]bool
}

// Counted is the coverage of what has one name.
type Counted struct {
	Kind string // of a channel: lane, slot, key, …; "" of an origin
	Name string
	Coverage
	BytesOut int
	Dropped  int
}

// Prefix is how much of the beginning of a call's input stood at the beginning of a call
// before it, at least: marks are apart, and only where both have one are they compared.
type Prefix struct {
	CallID string
	Bytes  int // of the input
	Same   int // from the beginning
}

// Row adds a row.
func (s *Summary) Row(r *Record) {
	c := r.Coverage()
	s.Total = s.Total.Add(c)
	s.BytesIn += r.BytesIn
	s.BytesOut += r.BytesOut
	s.Invisible += r.Invisible
	for _, x := range []struct {
		is bool
		n  *int
	}{{r.Fenced, &s.Fenced}, {r.Admitted, &s.Admitted}, {r.Fenced && r.Authoritative, &s.Overruled}, {r.Truncated, &s.Truncated}, {r.Dropped, &s.Dropped}, {r.Altered, &s.Altered}} {
		if x.is {
			*x.n++
		}
	}
	if s.channels == nil {
		s.channels, s.origins = map[[2]string]*Counted{}, map[string]*Counted{}
	}
	channel := [2]string{r.Kind, r.Channel}
	if s.channels[channel] == nil {
		s.channels[channel] = &Counted{Kind: r.Kind, Name: r.Channel}
	}
	s.channels[channel].add(r, c)
	// The origins of a row, as the text of a label writes them, are parted by one space.
	for _, origin := range strings.Split(r.Origin, " ") {
		if s.origins[origin] == nil {
			s.origins[origin] = &Counted{Name: origin}
		}
		s.origins[origin].add(r, c)
	}
}

func (c *Counted) add(r *Record, cover Coverage) {
	c.Coverage = c.Coverage.Add(cover)
	c.BytesOut += r.BytesOut
	if r.Dropped {
		c.Dropped++
	}
}

// Call adds a call, which comes after those that were added before it.
func (s *Summary) Call(c *Call) {
	if s.seen == nil {
		s.seen = map[Mark]bool{}
	}
	p := Prefix{CallID: c.CallID, Bytes: c.SystemBytes + c.UserBytes}
	for _, m := range c.Prefix {
		if s.seen[m] {
			p.Same = max(p.Same, m.Bytes)
		}
	}
	for _, m := range c.Prefix {
		s.seen[m] = true
	}
	s.calls = append(s.calls, p)
}

// Channels is the coverage of each lane, slot and key, by kind and name.
func (s *Summary) Channels() []Counted { return sorted(maps.Values(s.channels)) }

// Origins is the coverage of each origin, by name. A row with several origins counts
// with each of them; one without any counts with "", and one whose origin is not known
// with "?".
func (s *Summary) Origins() []Counted { return sorted(maps.Values(s.origins)) }

func sorted(all func(func(*Counted) bool)) []Counted {
	var list []Counted
	for c := range all {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Counted) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return list
}

// Calls is the identical prefix of each call, in the order in which they were added.
func (s *Summary) Calls() []Prefix { return slices.Clone(s.calls) }
