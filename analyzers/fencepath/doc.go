// Package fencepath reports fences that do not lie on every path from a value to
// the prompt.
//
// # PF010: a condition skips the fence
//
// The same value reaches the prompt fenced on one path and bare on another:
//
//	if !isSkill {
//		text = fence(nonce, text)
//	}
//	prompt += text // PF010
//
// Quiet when every path goes through the fence, or when the bare path carries only
// the author's own text.
package fencepath
