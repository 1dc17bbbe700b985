package run_test

import (
	"context"
	"fmt"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/llm/scripted"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/run"
	"github.com/pinfold-dev/pinfold/value"
)

func ExampleRun() {
	m, diags := mkl.Parse(mkl.Source{Authorship: mkl.AuthorshipOperator, Text: []byte(`
machine: greet
entry: greet
budget: 2
context: { name: "" }
states:
  greet:
    structure: one line
    prompt: "Greet {{name}}."
    output: greeting
    gates:
      - { when: otherwise, then: ok, to: END }
`)}, mkl.Strict)
	if m == nil {
		panic(diags)
	}
	program, err := engine.Compile(m, nil)
	if err != nil {
		panic(err)
	}
	name := run.Setting{Path: []string{"name"}, Value: value.FromString("Dana")}
	inputs, err := run.Host{Settings: []run.Setting{name}}.Inputs(program)
	if err != nil {
		panic(err)
	}
	model := scripted.New(&scripted.Script{Texts: []string{"Good morning, Dana."}})
	res, err := run.Run(context.Background(), program, inputs, run.Config{
		Model: model,
		Tiers: map[mkl.Tier]string{mkl.Balanced: "any"},
	})
	if err != nil {
		panic(err)
	}
	text, _ := res.Result.Value().AsString()
	fmt.Println(res.Status, text, res.Result.Label())
	// Output: done Good morning, Dana. external[host:name model:greet]
}

func ExampleParseSetting() {
	s, err := run.ParseSetting("ticket.tags=[1, 2]")
	fmt.Println(s.Path, s.Value.JSON(), err)
	_, err = run.ParseSetting("ticket")
	fmt.Println(err)
	// Output:
	// [ticket tags] [1, 2] <nil>
	// 'ticket': expected PATH=VALUE
}
