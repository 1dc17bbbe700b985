// Package policy stands in for pinfold's own.
package policy

type Class uint8

const (
	Effect Class = iota
	Read
)

type Tool struct {
	Class     Class
	Sensitive []string
	Local     bool
}
