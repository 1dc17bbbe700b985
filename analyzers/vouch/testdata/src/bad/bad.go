package bad

import "github.com/pinfold-dev/pinfold/trust/unchecked"

func bad(s, reason string) {
	unchecked.Vouch(s, "")                  // want `PF005: unchecked.Vouch: the reason is empty`
	unchecked.Vouch(s, "  ")                // want `PF005`
	unchecked.Declared(s, "m", "k", reason) // want `PF005: unchecked.Declared: the reason is not a constant`
}
