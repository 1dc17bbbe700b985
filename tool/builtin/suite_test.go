package builtin_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/tool/builtin"
	"github.com/pinfold-dev/pinfold/tool/tooltest"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

func TestSuite(t *testing.T) {
	inputs := map[string]string{
		"calc":       `{"expr": "1+1"}`,
		"search_kb":  `{"query": "returns"}`,
		"send_reply": `{"body": "Hello", "to": "dana@x.example"}`,
	}
	for _, backend := range []builtin.Backend{builtin.Stub, builtin.Fake} {
		for _, tl := range builtin.Tools(builtin.Options{KB: backend, Mail: backend, Outbox: &builtin.Outbox{}}) {
			in, err := value.ParseJSON([]byte(inputs[tl.Name]))
			if err != nil {
				t.Fatalf("no input for %s: %v", tl.Name, err)
			}
			t.Run(backend.String()+"/"+tl.Name, func(t *testing.T) {
				tooltest.Test(t, tooltest.Options{Tool: tl, Input: in, Builtin: true, Plain: tl.Name == "calc"})
			})
		}
	}
}

func ExampleTools() {
	for _, tl := range builtin.Tools(builtin.Options{}) {
		if tl.Name != "calc" {
			continue
		}
		obs, err := tl.Func(context.Background(), []engine.Arg{
			{Name: "expr", Value: trust.NewValue(value.FromString("-7 // 2"), trust.From("host:expr"))},
		})
		if err != nil {
			panic(err)
		}
		fmt.Println(obs.Value.JSON())
	}
	// Output: "-4"
}
