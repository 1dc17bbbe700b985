package trust_test

import (
	"fmt"

	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// Say where text came from. What is derived from it says so too.
func Example() {
	page := trust.External("tool:search_kb", "Refunds take 5 days.")
	summary := trust.DataOf("Five days.", page.Label(), trust.ModelLabel("model:draft"))
	fmt.Println(page.Label())
	fmt.Println(summary.Label())
	// Output:
	// external[tool:search_kb]
	// external[model:draft tool:search_kb]
}

func ExampleLabel_Join() {
	question := trust.From("host:question").WithSecrecy("pii")
	draft := trust.ModelLabel("model:draft")
	fmt.Println(question.Join(draft))
	// Output: external[host:question model:draft]{pii}
}

func ExampleFormat() {
	order := trust.NewValue(value.FromInt(1042), trust.From("host:order"))
	query := trust.Format(0,
		trust.Piece{Text: trust.Const("status of order ")},
		trust.Piece{Value: &order})
	text, _ := query.Value().AsString()
	fmt.Println(text, query.Label())
	// Output: status of order 1042 external[host:order]
}

// A number needs no fence, but it still has an author.
func ExampleInt() {
	amount := trust.Int(trust.From("host:mail"), 900)
	fmt.Println(amount.Text(), amount.Label())
	// Output: 900 external[host:mail]
}
