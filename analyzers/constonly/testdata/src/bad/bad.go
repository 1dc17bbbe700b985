package bad

import (
	"reflect"

	"github.com/pinfold-dev/pinfold/trust"
)

func launder[T ~string](f func(T) trust.Text, s string) trust.Text { return f(T(s)) }

func bad(s string) {
	launder(trust.Const, s)      // want `PF004: trust.Const takes only constants and is used as a value`
	reflect.ValueOf(trust.Const) // want `PF004`
	f := trust.Const             // want `PF004`
	_ = f
	pass(trust.Const, s) // want `PF004`
}

func pass[T ~string](f func(T) trust.Text, s string) { f(T(s)) }
