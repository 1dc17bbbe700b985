package durable_test

import (
	"context"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/llm"
)

// steady is a model that says the same whenever and by whomever it is asked.
type steady struct{}

func (steady) Produce(context.Context, fence.Rendered, llm.Options) (llm.Reply, error) {
	return llm.Reply{Text: "text", Usage: engine.Usage{Input: 3, Output: 2}}, nil
}

func (steady) Judge(context.Context, fence.Rendered, llm.Options) (llm.Reply, error) {
	return llm.Reply{Text: `{"choice": 1}`, Usage: engine.Usage{Input: 3, Output: 1}}, nil
}

// blocking is a model that calls before every answer.
type blocking struct {
	llm.Model
	before func()
}

func (b blocking) Produce(ctx context.Context, p fence.Rendered, o llm.Options) (llm.Reply, error) {
	b.before()
	return b.Model.Produce(ctx, p, o)
}
