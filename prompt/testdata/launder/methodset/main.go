// Command methodset makes an author's text of a string that the program was given: it
// lets a type parameter be inferred from the method set of an argument.
//
// A package that offers a method over its constant type is open to this at once, which
// is why ours offer none (a test of their exported interface says so). A program can
// still wrap one of our functions into such a method first, as box does here.
package main

import (
	"fmt"
	"os"

	"github.com/pinfold-dev/pinfold/trust"
)

type box[T any] struct{ f func(T) trust.Text }

func (b box[T]) Make(t T) trust.Text { return b.f(t) }

func wrap[T any](f func(T) trust.Text) box[T] { return box[T]{f} }

type maker[T any] interface{ Make(T) trust.Text }

func launder[T ~string](m maker[T], s string) trust.Text { return m.Make(T(s)) }

func main() {
	fmt.Println("trust.Const:", launder(wrap(trust.Const), os.Args[1]))
}
