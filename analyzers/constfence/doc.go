// Package constfence reports fence and trust lookups that can only ever name one
// lane.
//
// # PF002: a lookup by a constant covers one lane
//
// A function that finds a fence, a banner or a trust class by the name of a lane
// is called with a literal, with a constant, or with a parameter to which every
// caller passes the same constant. It covers that lane; every other lane that is
// packed at the same place goes without.
//
//	for _, l := range lanes {
//		out += fence("page_context") + l.Text // PF002
//	}
//
// Quiet, since the name is the lane's own:
//
//	for _, l := range lanes {
//		out += fence(l.Name) + l.Text
//	}
//
// The functions are told by name: fence, trustFence, untrustedBanner,
// wrapUntrusted, trustLabel, trustLabelFor, trustOf, laneTrustOf, provenanceNote,
// or those of the -names flag. Under go vet callers in other packages are not
// seen, so a parameter of an exported function is left to pinfold audit.
package constfence
