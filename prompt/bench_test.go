package prompt_test

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"
	"text/template"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/prompt"
	"github.com/pinfold-dev/pinfold/trust"
)

// The workload: 14 slots, 9 of them outside, 30 KB.
const benchText = `You help the customers of {{company}} with their bills, in {{language}}. Today is {{today}}.
Where the policy below allows a refund you may ask for it, up to {{limit}} {{currency}}.

The customer is {{name}}, who writes from {{city}}.

From the help centre:
{{article_1}}
{{article_2}}
{{article_3}}

The last invoices:
{{invoices}}

What was said before:
{{history}}

A note by a colleague:
{{note}}

Now answer this, and nothing else:
{{question}}`

var benchTemplate = prompt.MustParse(benchText, prompt.Slots{
	"company": prompt.Own(), "language": prompt.Own(), "today": prompt.Own(), "limit": prompt.Own(), "currency": prompt.Own(),
	"name":      prompt.Outside("customer_profile").Inline(200),
	"city":      prompt.Outside("customer_profile").Inline(200),
	"article_1": prompt.Outside("community_article", "staff_article").Budget(12000),
	"article_2": prompt.Outside("community_article", "staff_article").Budget(12000),
	"article_3": prompt.Outside("community_article", "staff_article").Budget(12000),
	"invoices":  prompt.Outside("sql:invoices"),
	"history":   prompt.Outside("customer_question"),
	"note":      prompt.Outside("crm:note"),
	"question":  prompt.Outside("customer_question"),
})

func benchValues() (prompt.Trusted, prompt.Untrusted) {
	prose := strings.Repeat("It was agreed on 4 March 2024 that whoever comes late pays the fare of 12.50 again, unless the delay is one that the company answers for. ", 100)
	return prompt.Trusted{
			"company": trust.Const("Harbour Pay"), "language": trust.Const("English"), "currency": trust.Const("EUR"),
			"today": trust.Const("2026-01-01"), "limit": trust.Int(trust.From("sql:limits"), 50),
		}, prompt.Untrusted{
			"name":      trust.External("customer_profile", "Dana"),
			"city":      trust.External("customer_profile", "Aarhus"),
			"article_1": trust.External("community_article", prose[:8000]),
			"article_2": trust.External("staff_article", prose[:8000]),
			"article_3": trust.External("community_article", prose[:7000]),
			"invoices":  trust.External("sql:invoices", prose[:3000]),
			"history":   trust.External("customer_question", prose[:2500]),
			"note":      trust.External("crm:note", prose[:300]),
			"question":  trust.External("customer_question", prose[:200]),
		}
}

// textTemplate is the same text and values for text/template.
func textTemplate() (*template.Template, map[string]string) {
	trusted, untrusted := benchValues()
	values := map[string]string{}
	for name, v := range trusted {
		switch v := v.(type) {
		case trust.Text:
			values[name] = v.String()
		case trust.Scalar:
			values[name] = v.Text()
		}
	}
	for name, v := range untrusted {
		values[name] = v.Text()
	}
	return template.Must(template.New("").Parse(strings.ReplaceAll(benchText, "{{", "{{."))), values
}

// BenchmarkRender is a template on its way to the bytes of a call, with receipts,
// beside text/template on the same text and values. Both write into a buffer that is
// used again.
func BenchmarkRender(b *testing.B) {
	draw := fence.Hex(rand.Reader)
	b.Run("prompt", func(b *testing.B) {
		trusted, untrusted := benchValues()
		b.ReportAllocs()
		for b.Loop() {
			p, err := benchTemplate.Render(trusted, untrusted)
			if err != nil {
				b.Fatal(err)
			}
			if _, rows, err := fence.Render(p, draw); err != nil || len(rows) != 14 {
				b.Fatal(err)
			}
		}
	})
	b.Run("prompt,bytes", func(b *testing.B) {
		trusted, untrusted := benchValues()
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
	b.Run("prompt,maps,bytes", func(b *testing.B) { // as a caller makes them
		trusted, untrusted := benchValues()
		var buf []byte
		b.ReportAllocs()
		for b.Loop() {
			p, err := benchTemplate.Render(prompt.Trusted{
				"company": trusted["company"], "language": trusted["language"], "currency": trusted["currency"], "today": trusted["today"], "limit": trusted["limit"],
			}, prompt.Untrusted{
				"name": untrusted["name"], "city": untrusted["city"], "invoices": untrusted["invoices"], "history": untrusted["history"], "note": untrusted["note"],
				"article_1": untrusted["article_1"], "article_2": untrusted["article_2"], "article_3": untrusted["article_3"], "question": untrusted["question"],
			})
			if err != nil {
				b.Fatal(err)
			}
			r, _, err := fence.Render(p, draw)
			if err != nil {
				b.Fatal(err)
			}
			buf = r.AppendUser(r.AppendSystem(buf[:0]))
		}
		b.SetBytes(int64(len(buf)))
	})
	b.Run("text-template", func(b *testing.B) {
		tmpl, values := textTemplate()
		var buf bytes.Buffer
		b.ReportAllocs()
		for b.Loop() {
			buf.Reset()
			if err := tmpl.Execute(&buf, values); err != nil {
				b.Fatal(err)
			}
		}
		b.SetBytes(int64(buf.Len()))
	})
}
