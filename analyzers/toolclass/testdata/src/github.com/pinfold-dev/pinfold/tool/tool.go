// Package tool stands in for pinfold's own.
package tool

import "github.com/pinfold-dev/pinfold/policy"

type Func func() error
type Tool struct {
	Name   string
	Policy policy.Tool
	Func   Func
}
