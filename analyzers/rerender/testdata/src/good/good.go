package good

import (
	"context"
	"crypto/rand"
	"text/template"

	openai "github.com/openai/openai-go"
)

func twice(ctx context.Context, name string) error {
	c, err := openai.Complete(ctx, openai.UserMessage("x"))
	if err != nil {
		return err
	}
	reply := c.Choices[0].Message.Content
	n := rand.Text()
	openai.SystemMessage("Summarise. <d-" + n + ">" + reply + "</d-" + n + ">")
	openai.UserMessage("So far: " + reply)
	t := template.Must(template.New("t").Parse("{{.}}"))
	_ = t
	_, err = template.New("t").Parse("{{." + name + "}}")
	return err
}
