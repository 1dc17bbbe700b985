package good

import "github.com/pinfold-dev/pinfold/trust"

const rules = "be kind"

func good() []trust.Text {
	return []trust.Text{trust.Const("x"), trust.Const(rules), (trust.Const)("a" + rules)}
}

type own string

// Take is a constructor of this package, which may do with it what it likes.
func Take(s own) own { return s }

var f = Take
