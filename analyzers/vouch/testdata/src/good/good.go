package good

import "github.com/pinfold-dev/pinfold/trust/unchecked"

const why = "plans.tier is an enum that our billing service writes"

func good(s string) {
	unchecked.Vouch(s, why)
	unchecked.Vouch(s, "an enum")
	unchecked.Declared(s, "m", "k", why)
}
