// Command generic makes an author's text of a string that the program was given: it
// lets a type parameter be inferred from a function that takes the constant type, and
// converts to it.
//
// It compiles, because every type whose underlying type is string can be converted to
// from a string, named or not. No shape of a constructor prevents it.
package main

import (
	"fmt"
	"os"

	"github.com/pinfold-dev/pinfold/prompt"
	"github.com/pinfold-dev/pinfold/trust"
)

func launder[T ~string, R any](f func(T) R, s string) R { return f(T(s)) }

func launderTemplate[T ~string](f func(T, prompt.Slots) *prompt.Template, s string) *prompt.Template {
	return f(T(s), nil)
}

func launderOrigin[T ~string](f func(...T) prompt.Slot, s string) prompt.Slot { return f(T(s)) }

func main() {
	s := os.Args[1]
	text := launder(trust.Const, s)
	fmt.Println("trust.Const:", text)
	t := launderTemplate(prompt.MustParse, s)
	fmt.Println("prompt.MustParse:", t != nil)
	t, err := prompt.Parse("{{x}}", prompt.Slots{"x": launderOrigin(prompt.Outside, s)})
	fmt.Println("prompt.Outside:", err == nil && t.Slots()[0].Origins[0] == s)
}
