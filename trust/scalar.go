package trust

import (
	"math"
	"strconv"
	"time"

	"github.com/pinfold-dev/pinfold/value"
)

// Scalar is a number, boolean or time: it cannot carry text, so it needs no
// fence, but its label says who chose it. The zero Scalar is empty and External.
type Scalar struct {
	text  string
	label Label
}

// constantInt fits untyped integer constants and nothing else outside this package.
type constantInt int64

// ConstInt is a compile-time integer constant: Author.
func ConstInt(n constantInt) Scalar {
	return Scalar{strconv.FormatInt(int64(n), 10), Label{level: LevelAuthor}}
}

// Int is an integer in decimal. Its level is at most Model.
func Int(l Label, n int64) Scalar {
	return Scalar{strconv.FormatInt(n, 10), l.Lowered(LevelModel)}
}

// Float is a number as JSON text writes it (LANGUAGE.md §1), or NaN, +Inf or -Inf.
// Its level is at most Model.
func Float(l Label, x float64) Scalar {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if !math.IsNaN(x) && !math.IsInf(x, 0) {
		if v, err := value.FromFloat(x); err == nil {
			text = v.JSON()
		}
	}
	return Scalar{text, l.Lowered(LevelModel)}
}

// Bool is true or false. Its level is at most Model.
func Bool(l Label, b bool) Scalar {
	return Scalar{strconv.FormatBool(b), l.Lowered(LevelModel)}
}

// Time is a time in RFC 3339, with its offset and never with the name of its zone,
// which would be text. Its level is at most Model.
func Time(l Label, t time.Time) Scalar {
	return Scalar{t.Format("2006-01-02T15:04:05.999999999Z07:00"), l.Lowered(LevelModel)}
}

// Text is what is rendered.
func (s Scalar) Text() string { return s.text }

// Label says who chose it.
func (s Scalar) Label() Label { return s.label }

func (s Scalar) bare() {}
