package bad

import (
	"context"
	"text/template"

	openai "github.com/openai/openai-go"
)

func twice(ctx context.Context) error {
	c, err := openai.Complete(ctx, openai.UserMessage("x"))
	if err != nil {
		return err
	}
	reply := c.Choices[0].Message.Content
	openai.SystemMessage("So far: " + reply) // want `PF006: .* was written by a model`
	_, err = template.New("t").Parse(reply)  // want `PF006: the text of this template was written by a model`
	return err
}
