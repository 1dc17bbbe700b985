// Package vouch reports vouches that nobody can check.
//
// # PF005: an unchecked call without a reason, or where none is allowed
//
// Every function of trust/unchecked lifts text to the author's own, on the
// strength of a written reason. The reason must be there, must be a constant so
// that it can be read beside the call, and the package must be one that the
// operator allows to vouch, where pinfold.yaml has a list (audit.unchecked).
//
//	unchecked.Vouch(row.Plan, "")        // PF005
//	unchecked.Declared(v, m, k, reason)  // PF005, unless the package is on the list
//
// Quiet:
//
//	unchecked.Vouch(row.Plan, "plans.tier is an enum our billing service writes")
package vouch
