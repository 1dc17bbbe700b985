// Package unchecked stands in for pinfold's own.
package unchecked

import "github.com/pinfold-dev/pinfold/trust"

type constant string

func Vouch(text string, reason constant) trust.Text               { return trust.Text{} }
func Declared(v, machine, key, reason string) (trust.Text, error) { return trust.Text{}, nil }
