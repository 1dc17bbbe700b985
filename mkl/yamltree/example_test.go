package yamltree_test

import (
	"fmt"

	"github.com/pinfold-dev/pinfold/mkl/yamltree"
)

func ExampleRead() {
	root, errs := yamltree.Read([]byte("to: no\nbudget: 9\ncontext: {from: 017}\n"))
	if len(errs) > 0 {
		fmt.Println(errs[0])
		return
	}
	to, _ := root.Get("to")
	budget, _ := root.Get("budget")
	context, _ := root.Get("context")
	text, _ := to.AsString()
	number, _ := budget.AsInt()
	literal, _ := context.AsValue()
	fmt.Println(text, number, literal.JSON())
	fmt.Println("elsewhere it is", to.Legacy(yamltree.String))
	// Output:
	// no 9 {"from": 17}
	// elsewhere it is the boolean false
}

func ExampleRead_duplicate() {
	_, errs := yamltree.Read([]byte("send: 1\nother: 2\nsend: 3\n"))
	for _, e := range errs {
		fmt.Println(e)
	}
	// Output: MK106 3:1 duplicate key ‹send› on line 3: it stands on line 1 already
}

func ExampleFormat() {
	out, err := yamltree.Format([]byte("# who\nname:   pinfold\nlist:\n- a   # first\n- {b: 1}\n"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(out))
	// Output:
	// # who
	// name: pinfold
	// list:
	//   - a  # first
	//   - { b: 1 }
}
