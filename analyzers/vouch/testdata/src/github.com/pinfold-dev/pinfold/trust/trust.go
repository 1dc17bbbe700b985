// Package trust stands in for pinfold's own.
package trust

type Text struct{ s string }
type constant string

func Const(s constant) Text { return Text{string(s)} }
