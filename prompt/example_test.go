package prompt_test

import (
	"crypto/rand"
	"embed"
	"fmt"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/prompt"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/trust/unchecked"
)

// fixed stands in for fence.Hex(rand.Reader), so that the examples print the same
// every time.
func fixed(nonce *[12]byte) error { copy(nonce[:], "ab12ab12ab12"); return nil }

var greeting = prompt.MustParse(`{{#system}}
You answer customers who are on plan {{plan}}.
{{#user}}
Answer {{name}}, who asks:
{{question}}`, prompt.Slots{
	"plan":     prompt.Own(),
	"name":     prompt.Outside("customer_profile").Inline(200),
	"question": prompt.Outside("customer_question").Budget(4000),
})

func Example() {
	plan := "gold" // as the billing service wrote it
	p, err := greeting.Render(prompt.Trusted{
		"plan": unchecked.Vouch(plan, "plans.tier is an enum our billing service writes; no customer path"),
	}, prompt.Untrusted{
		"name":     trust.External("customer_profile", "Dana"),
		"question": trust.External("customer_question", "Where is my refund? {{plan}}"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	rendered, rows, err := fence.Render(p, fixed)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rendered.User())
	for i := range rows {
		fmt.Printf("%s: %s, fenced %v\n", rows[i].Channel, rows[i].Trust, rows[i].Fenced)
	}
	// Output:
	// Answer <untrusted id="ab12ab12ab12" source="customer_profile">Dana</untrusted id="ab12ab12ab12">, who asks:
	// <untrusted id="ab12ab12ab12" source="customer_question">
	// Where is my refund? {{plan}}
	// </untrusted id="ab12ab12ab12">
	// plan: own, fenced false
	// name: outside, fenced true
	// question: outside, fenced true
}

// What a program forgot, mixed up or let in is an error of the call that names slot and
// line.
func ExampleTemplate_Render_refused() {
	_, err := greeting.Render(nil, prompt.Untrusted{
		"name":     trust.External("customer_profile", "Dana"),
		"question": trust.External("web", "Where is my refund?"),
		"plan":     trust.External("customer_profile", "gold"),
	})
	fmt.Println(err)
	// Output:
	// prompt: line 2: slot plan: no value: it is the author's own: expected a trust.Bare in Trusted
	// prompt: line 5: slot question: an origin that the slot does not admit: expected customer_question, found web
	// prompt: line 2: slot plan: a value of the other trust: expected it in Trusted, found one in Untrusted
}

// The mechanical half of an audit.
func ExampleTemplate_Slots() {
	for _, s := range greeting.Slots() {
		fmt.Println(s.Name, s.Trust, s.Origins, s.Places)
	}
	// Output:
	// name outside [customer_profile] [{user 4}]
	// plan own [] [{system 2}]
	// question outside [customer_question] [{user 5}]
}

//go:embed testdata/prompts/answer.prompt
var files embed.FS

func ExampleLoad() {
	t, err := prompt.Load(files, "testdata/prompts/answer.prompt")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(prompt.Signature(t.Slots()))
	// Output: article_body outside, display_name outside, plan_tier own, question outside
}

// What a model writes from a prompt is as trusted as what it read, at most.
func ExampleReply() {
	p, err := greeting.Render(prompt.Trusted{"plan": trust.Const("gold")}, prompt.Untrusted{
		"name":     trust.External("customer_profile", "Dana"),
		"question": trust.External("customer_question", "Where is my refund?"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, rows, err := fence.Render(p, fence.Hex(rand.Reader))
	if err != nil {
		fmt.Println(err)
		return
	}
	draft := prompt.Reply("model:draft", "It is on its way.", rows)
	fmt.Println(draft.Label())
	// Output: external[customer_profile customer_question model:draft]
}
