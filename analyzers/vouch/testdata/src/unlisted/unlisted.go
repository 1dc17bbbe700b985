package unlisted

import "github.com/pinfold-dev/pinfold/trust/unchecked"

func unlisted(s string) {
	unchecked.Vouch(s, "an enum") // want `PF005: unchecked.Vouch: this package is not on the list`
}
