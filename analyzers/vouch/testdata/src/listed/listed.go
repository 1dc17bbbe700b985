package listed

import "github.com/pinfold-dev/pinfold/trust/unchecked"

func listed(s, reason string) {
	unchecked.Declared(s, "m", "k", reason)
	unchecked.Vouch(s, "") // want `PF005: unchecked.Vouch: the reason is empty`
}
