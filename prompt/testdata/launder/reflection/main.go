// Command reflection makes an author's text of a string that the program was given: it
// converts to the type of a parameter that it cannot name.
package main

import (
	"fmt"
	"os"
	"reflect"

	"github.com/pinfold-dev/pinfold/prompt"
	"github.com/pinfold-dev/pinfold/trust"
)

func launder(f any, s string, more ...reflect.Value) reflect.Value {
	v := reflect.ValueOf(f)
	first := reflect.ValueOf(s).Convert(v.Type().In(0))
	return v.Call(append([]reflect.Value{first}, more...))[0]
}

func main() {
	s := os.Args[1]
	fmt.Println("trust.Const:", launder(trust.Const, s).Interface().(trust.Text))
	t := launder(prompt.MustParse, s, reflect.ValueOf(prompt.Slots{})).Interface().(*prompt.Template)
	fmt.Println("prompt.MustParse:", t != nil)
}
