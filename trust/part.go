package trust

import (
	"strings"

	"github.com/pinfold-dev/pinfold/internal/raw"
)

// Trim is t without white space at its ends: a part of the author's text is the
// author's.
func (t Text) Trim() Text { return Text{raw.Text{S: strings.TrimSpace(t.t.S)}} }
