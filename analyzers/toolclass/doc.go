// Package toolclass reports tools that are registered without saying what they
// can do.
//
// # PF007: a tool without a class, or with its sensitive parameters undeclared
//
// A tool that says nothing is treated as one that changes the world and sends its
// arguments away: silence is not a safety claim. That is safe, and it hides what
// was meant. An effect that names no sensitive parameters is outside rule 2: no
// payee, path or recipient of it is ever looked at.
//
//	tool.Tool{Name: "pay", Func: pay}                                          // PF007
//	tool.Tool{Name: "pay", Policy: policy.Tool{Class: policy.Effect}, Func: pay} // PF007
//
// Quiet:
//
//	tool.Tool{Name: "pay", Policy: policy.Tool{Class: policy.Effect, Sensitive: []string{"payee"}}, Func: pay}
//	tool.Tool{Name: "now", Policy: policy.Tool{Class: policy.Read, Local: true}, Func: now}
//	tool.Tool{Name: "beep", Policy: policy.Tool{Class: policy.Effect, Sensitive: []string{}}, Func: beep}
package toolclass
