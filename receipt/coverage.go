package receipt

import (
	"fmt"

	"github.com/pinfold-dev/pinfold/fence"
)

// Coverage counts what two coverages are made of (TRUST.md §3). They are always
// shown side by side: declaring a trust for every part says nothing about what
// was fenced.
type Coverage struct {
	Parts    int // parts in all
	Declared int // parts with a declared trust
	Required int // parts that had to be fenced
	Enforced int // of those, the fenced ones
}

// Cover counts rows. Add joins the counts of several calls.
func Cover(rows []fence.Row) Coverage {
	var c Coverage
	for i := range rows {
		row := &rows[i]
		c.Parts++
		if row.Trust != "" {
			c.Declared++
		}
		if row.HadToBeFenced() {
			c.Required++
			if row.Fenced {
				c.Enforced++
			}
		}
	}
	return c
}

// Coverage is the coverage of the one row.
func (r *Record) Coverage() Coverage {
	c := Coverage{Parts: 1}
	if r.Trust != "" {
		c.Declared = 1
	}
	if r.Required {
		c.Required = 1
		if r.Fenced {
			c.Enforced = 1
		}
	}
	return c
}

// Add joins the counts.
func (c Coverage) Add(d Coverage) Coverage {
	return Coverage{c.Parts + d.Parts, c.Declared + d.Declared, c.Required + d.Required, c.Enforced + d.Enforced}
}

// Label is the share of parts with a declared trust; false when there is no
// part, which is no coverage and not a full one.
func (c Coverage) Label() (float64, bool) { return share(c.Declared, c.Parts) }

// Enforcement is the share of parts that were fenced among those that had to
// be; false when none had to.
func (c Coverage) Enforcement() (float64, bool) { return share(c.Enforced, c.Required) }

func share(n, of int) (float64, bool) {
	if of == 0 {
		return 0, false
	}
	return float64(n) / float64(of), true
}

// String shows both numbers.
func (c Coverage) String() string {
	label, enforcement := c.Percent()
	return fmt.Sprintf("label coverage %s, enforcement coverage %s", label, enforcement)
}

// Percent is both numbers in words, rounded down: "99.9 % (999 of 1000)".
func (c Coverage) Percent() (label, enforcement string) {
	return percent(c.Declared, c.Parts), percent(c.Enforced, c.Required)
}

// percent rounds down: 999 of 1,000 is not 100 %.
func percent(n, of int) string {
	if of == 0 {
		return "none (0 of 0)"
	}
	tenths := n * 1000 / of
	return fmt.Sprintf("%d.%d %% (%d of %d)", tenths/10, tenths%10, n, of)
}
