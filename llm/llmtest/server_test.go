package llmtest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/llm/llmtest"
)

func start(t testing.TB, s *llmtest.Server) *llmtest.Server {
	t.Helper()
	if err := s.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

type post struct {
	method, path, contentType, auth, body string
}

func send(t testing.TB, s *llmtest.Server, p post) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), p.method, strings.TrimSuffix(s.URL(), "/v1")+p.path, strings.NewReader(p.body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", p.contentType)
	if p.auth != "" {
		req.Header.Set("Authorization", p.auth)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

const good = `{"model": "m", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]}`

// The endpoint is strict: what is not exactly right is refused, noted, and
// takes no pushed answer.
func TestStrict(t *testing.T) {
	sound := post{"POST", "/v1/chat/completions", "application/json", "Bearer k", good}
	with := func(f func(*post)) post { p := sound; f(&p); return p }
	body := func(b string) post { return with(func(p *post) { p.body = b }) }
	member := func(m string) post { return body(strings.TrimSuffix(good, "}") + ", " + m + "}") }
	for name, p := range map[string]post{
		"no key":              with(func(p *post) { p.auth = "" }),
		"another key":         with(func(p *post) { p.auth = "Bearer K" }),
		"another scheme":      with(func(p *post) { p.auth = "Basic k" }),
		"method":              with(func(p *post) { p.method = "PUT" }),
		"path":                with(func(p *post) { p.path = "/v1/completions" }),
		"query":               with(func(p *post) { p.path += "?a=1" }),
		"content type":        with(func(p *post) { p.contentType = "text/plain" }),
		"charset":             with(func(p *post) { p.contentType = "application/json; charset=latin1" }),
		"no body":             body(""),
		"no object":           body("[]"),
		"two values":          body(good + "{}"),
		"duplicate key":       body(strings.Replace(good, `{"model": "m"`, `{"model": "m", "model": "n"`, 1)),
		"no model":            body(strings.Replace(good, `"model": "m", `, "", 1)),
		"blank model":         body(strings.Replace(good, `"m"`, `" "`, 1)),
		"no messages":         body(`{"model": "m"}`),
		"no list":             body(`{"model": "m", "messages": {"role": "user"}}`),
		"no user":             body(`{"model": "m", "messages": [{"role": "system", "content": "s"}]}`),
		"order":               body(`{"model": "m", "messages": [{"role": "user", "content": "u"}, {"role": "system", "content": "s"}]}`),
		"a third message":     body(strings.Replace(good, `"u"}`, `"u"}, {"role": "assistant", "content": "a"}`, 1)),
		"role":                body(strings.Replace(good, `"system"`, `"developer"`, 1)),
		"content is no text":  body(strings.Replace(good, `"u"`, `["u"]`, 1)),
		"key of a message":    body(strings.Replace(good, `"content": "u"`, `"content": "u", "name": "n"`, 1)),
		"unknown key":         member(`"foo": 1`),
		"tools":               member(`"tools": []`),
		"temperature":         member(`"temperature": 2.1`),
		"temperature is text": member(`"temperature": "1"`),
		"top_p":               member(`"top_p": 1.1`),
		"max_tokens":          member(`"max_tokens": 0`),
		"seed":                member(`"seed": 1.5`),
		"reasoning_effort":    member(`"reasoning_effort": null`),
		"stream":              member(`"stream": true`),
		"response_format":     member(`"response_format": {"type": "json_schema"}`),
		"JSON unmentioned":    member(`"response_format": {"type": "json_object"}`),
	} {
		s := start(t, &llmtest.Server{Key: "k"})
		s.Push(llmtest.Text("x"))
		status, answer := send(t, s, p)
		if status != 400 && status != 401 || s.Fault() == nil || s.Pending() != 1 || len(s.Requests()) != 1 {
			t.Errorf("%s: status %d %s, fault %v, %d answers left", name, status, answer, s.Fault(), s.Pending())
		}
	}
	for name, p := range map[string]post{
		"sound":             sound,
		"charset":           with(func(p *post) { p.contentType = "application/json; charset=UTF-8" }),
		"user alone":        body(`{"model": "m", "messages": [{"role": "user", "content": "u"}]}`),
		"every known key":   member(`"temperature": 0, "top_p": 1, "max_tokens": 1, "max_completion_tokens": 1, "seed": -1, "reasoning_effort": "low", "stream": false`),
		"JSON is mentioned": body(strings.Replace(good, `"u"}]`, `"as JSON"}], "response_format": {"type": "json_object"}`, 1)),
		"an extra key":      member(`"extra": 1`),
	} {
		s := start(t, &llmtest.Server{Key: "k", Extra: []string{"extra"}})
		s.Push(llmtest.Text("x"))
		if status, answer := send(t, s, p); status != 200 || s.Fault() != nil || s.Pending() != 0 {
			t.Errorf("%s: status %d %s, fault %v", name, status, answer, s.Fault())
		}
	}
}

func TestNothingPushed(t *testing.T) {
	s := start(t, &llmtest.Server{})
	if status, _ := send(t, s, post{"POST", "/v1/chat/completions", "application/json", "", good}); status == 200 || s.Fault() == nil {
		t.Errorf("status %d, fault %v", status, s.Fault())
	}
}

func TestObedient(t *testing.T) {
	judge := func(n int) string {
		return fmt.Sprintf(`{"model": "m", "messages": [{"role": "user", "content": "1. a\n\nAnswer with {\"choice\": k}, k from 1 to %d."}]}`, n)
	}
	for _, c := range []struct {
		brain llmtest.Obedient
		body  string
		want  string
	}{
		{llmtest.Obedient{Text: "fixed"}, good, `"content": "fixed"`},
		{llmtest.Obedient{Text: "you said: {user}"}, good, `"content": "you said: u"`},
		{llmtest.Obedient{Choice: 2}, judge(3), `"content": "{\"choice\": 2}"`},
		{llmtest.Obedient{}, judge(3), `"content": "{\"choice\": 3}"`},
		{llmtest.Obedient{Choice: 9}, judge(12), `"content": "{\"choice\": 9}"`},
		{llmtest.Obedient{Choice: 13}, judge(12), `"content": "{\"choice\": 12}"`},
	} {
		s := start(t, &llmtest.Server{Brain: c.brain})
		status, answer := send(t, s, post{"POST", "/v1/chat/completions", "application/json", "", c.body})
		if status != 200 || !strings.Contains(answer, c.want) {
			t.Errorf("%+v: %d %s", c.brain, status, answer)
		}
	}
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	if err := (&llmtest.Server{}).Start("256.0.0.1:0"); err == nil {
		t.Error("listens nowhere")
	}
}
