// Package constonly reports the ways around a constructor that takes only
// compile-time constants.
//
// # PF004: a constant-only constructor is laundered
//
// trust.Const takes an unexported string type, so that only an untyped constant
// fits. Three things defeat that: using the function as a value, so that a generic
// function infers the unexported type and converts a run-time string to it; the
// same through reflection; and passing a value of the type that was obtained so.
//
//	func launder[T ~string](f func(T) trust.Text, s string) trust.Text { return f(T(s)) }
//
//	t := launder(trust.Const, r.FormValue("q")) // PF004
//	v := reflect.ValueOf(trust.Const)           // PF004
//
// Quiet:
//
//	t := trust.Const("You help customers.")
//
// Any exported function with a parameter of an unexported string or integer type
// of its own package is such a constructor.
package constonly
