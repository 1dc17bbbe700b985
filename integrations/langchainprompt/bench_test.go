package langchainprompt_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/prompts"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/prompt"
	"github.com/pinfold-dev/pinfold/trust"
)

// The workload: 14 slots, 9 of them outside, 30 KB.
const benchText = `You help customers: {{a}} {{b}} {{c}} {{d}} {{e}}.
{{f}}
{{g}}
{{h}}
{{i}}
{{j}}
{{k}}
{{l}}
{{m}}
Now answer:
{{n}}`

var benchTemplate = prompt.MustParse(benchText, prompt.Slots{
	"a": prompt.Own(), "b": prompt.Own(), "c": prompt.Own(), "d": prompt.Own(), "e": prompt.Own(),
	"f": prompt.Outside("web"), "g": prompt.Outside("web"), "h": prompt.Outside("web"), "i": prompt.Outside("web"), "j": prompt.Outside("web"),
	"k": prompt.Outside("web"), "l": prompt.Outside("web"), "m": prompt.Outside("web"), "n": prompt.Outside("web"),
})

// BenchmarkRender is a template on its way to the bytes of a call, with receipts,
// beside langchaingo's prompt template of the same text and values.
func BenchmarkRender(b *testing.B) {
	prose := strings.Repeat("It was agreed on 4 March 2024 that whoever comes late pays the fare of 12.50 again, unless the delay is one that the company answers for. ", 25)
	trusted, untrusted, values := prompt.Trusted{}, prompt.Untrusted{}, map[string]any{}
	var names []string
	for i := range 14 {
		name := string(rune('a' + i))
		names = append(names, name)
		if i < 5 {
			trusted[name], values[name] = trust.Const("own"), "own"
		} else {
			untrusted[name], values[name] = trust.External("web", prose[:3300]), prose[:3300]
		}
	}
	draw := fence.Hex(rand.Reader)
	b.Run("prompt", func(b *testing.B) {
		var buf []byte
		b.ReportAllocs()
		for b.Loop() {
			p, err := benchTemplate.Render(trusted, untrusted)
			if err != nil {
				b.Fatal(err)
			}
			r, rows, err := fence.Render(p, draw)
			if err != nil || len(rows) != 14 {
				b.Fatal(err)
			}
			buf = r.AppendUser(r.AppendSystem(buf[:0]))
		}
		b.SetBytes(int64(len(buf)))
	})
	for _, format := range []prompts.TemplateFormat{prompts.TemplateFormatGoTemplate, prompts.TemplateFormatFString, prompts.TemplateFormatJinja2} {
		text := strings.ReplaceAll(benchText, "{{", "{{.")
		switch format {
		case prompts.TemplateFormatFString:
			text = strings.NewReplacer("{{", "{", "}}", "}").Replace(benchText)
		case prompts.TemplateFormatJinja2:
			text = benchText
		}
		t := prompts.PromptTemplate{Template: text, InputVariables: names, TemplateFormat: format}
		b.Run(fmt.Sprint("langchaingo,", format), func(b *testing.B) {
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				s, err := t.Format(values)
				if err != nil {
					b.Fatal(err)
				}
				n = len(s)
			}
			b.SetBytes(int64(n))
		})
	}
}
