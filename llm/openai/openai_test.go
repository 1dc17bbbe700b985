package openai_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/llm"
	"github.com/pinfold-dev/pinfold/llm/llmtest"
	"github.com/pinfold-dev/pinfold/llm/openai"
	"github.com/pinfold-dev/pinfold/trust"
)

func open(t testing.TB, s *llmtest.Server, change ...func(*openai.Config)) *openai.Model {
	t.Helper()
	c := openai.Config{BaseURL: s.URL(), Key: s.Key, Sleep: s.Sleep, Jitter: s.Jitter, Now: s.Now}
	for _, f := range change {
		f(&c)
	}
	m, err := openai.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestContract(t *testing.T) {
	llmtest.Test(t, func(t *testing.T, s *llmtest.Server) llm.Model { return open(t, s) })
}

func start(t testing.TB, s *llmtest.Server) *llmtest.Server {
	t.Helper()
	if err := s.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func prompt(t testing.TB, judge bool) fence.Rendered {
	t.Helper()
	p, err := llmtest.Prompt(judge)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNew(t *testing.T) {
	for _, c := range []openai.Config{
		{}, {BaseURL: "127.0.0.1:8080"}, {BaseURL: "file:///etc/passwd"}, {BaseURL: "http://"}, {BaseURL: "ftp://x"},
		{BaseURL: "http://x/v1?key=secret-in-query"}, {BaseURL: "http://x/v1#secret-in-query"},
		{BaseURL: "http://u:secret-in-query@x/\x7f"}, {BaseURL: "ht!tp://u:secret-in-query@x"},
		{BaseURL: "http://x", Key: "secret-in-query\nX-Other: 1"}, {BaseURL: "http://x", Key: "secret-in-query é"}, {BaseURL: "http://x", Key: " "},
	} {
		if _, err := openai.New(c); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, base := range []string{"http://x", "https://x/v1", "https://x/v1/", "HTTP://x"} {
		if _, err := openai.New(openai.Config{BaseURL: base}); err != nil {
			t.Errorf("%s: %v", base, err)
		}
	}
}

func TestABaseURLMayEndInASlash(t *testing.T) {
	s := start(t, &llmtest.Server{})
	s.Push(llmtest.Text("x"))
	m := open(t, s, func(c *openai.Config) { c.BaseURL += "/" })
	if _, err := m.Produce(t.Context(), prompt(t, false), llm.Options{Model: "m"}); err != nil || s.Fault() != nil {
		t.Error(err, s.Fault())
	}
}

// Without a key there is no Authorization header: the server without a key
// refuses one.
func TestNoKeyNoHeader(t *testing.T) {
	s := start(t, &llmtest.Server{Brain: llmtest.Obedient{Text: "x"}})
	if _, err := open(t, s).Produce(t.Context(), prompt(t, false), llm.Options{Model: "m"}); err != nil {
		t.Error(err)
	}
	if _, err := open(t, s, func(c *openai.Config) { c.Key = "k" }).Produce(t.Context(), prompt(t, false), llm.Options{Model: "m"}); err == nil {
		t.Error("the server took a key that it does not have")
	}
}

func TestPromptsThatNobodyRenderedGoNowhere(t *testing.T) {
	s := start(t, &llmtest.Server{Brain: llmtest.Obedient{Text: "x"}})
	if _, err := open(t, s).Produce(t.Context(), fence.Rendered{}, llm.Options{Model: "m"}); err == nil || len(s.Requests()) != 0 {
		t.Error(err, len(s.Requests()))
	}
}

func TestAPromptWithoutASystemMessageSendsNone(t *testing.T) {
	s := start(t, &llmtest.Server{Brain: llmtest.Obedient{Text: "x"}})
	var p fence.Prompt
	p.User.Text(trust.Const("hello"))
	r, _, err := fence.Render(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, s).Produce(t.Context(), r, llm.Options{Model: "m"}); err != nil {
		t.Fatal(err)
	}
	if m, _ := s.Requests()[0].Body.Get("messages"); m.JSON() != `[{"role": "user", "content": "hello"}]` {
		t.Error(m.JSON())
	}
}

// Parameters are sent in one order, extra keys as they stand and sorted.
func TestParams(t *testing.T) {
	send := func(provider string, params map[string]any) (string, error) {
		s := start(t, &llmtest.Server{Brain: llmtest.Obedient{Text: "x"}, Extra: []string{"thinking", "top_k", "logit_bias"}})
		m := open(t, s, func(c *openai.Config) { c.Provider = provider })
		_, err := m.Produce(t.Context(), prompt(t, false), llm.Options{Model: "m", Temperature: 0.4, Params: params})
		if err != nil {
			return "", err
		}
		if err := s.Fault(); err != nil {
			t.Error(err)
		}
		body := s.Requests()[0].Raw
		return body[strings.LastIndex(body, `}], `)+4:], nil
	}
	for _, c := range []struct {
		provider string
		params   map[string]any
		want     string
	}{
		{"", nil, `"temperature": 0.4, "max_tokens": 4096}`},
		{"", map[string]any{"seed": 1, "top_p": 0.1, "max_tokens": 5, "reasoning_effort": "low"}, `"temperature": 0.4, "reasoning_effort": "low", "max_tokens": 5, "top_p": 0.1, "seed": 1}`},
		{"", map[string]any{"top_k": 3, "logit_bias": map[string]any{"5": -1}}, `"temperature": 0.4, "max_tokens": 4096, "logit_bias": {"5": -1}, "top_k": 3}`},
		{"", map[string]any{"temperature": 1}, `"temperature": 1, "max_tokens": 4096}`},
		{"", map[string]any{"max_tokens": nil, "temperature": nil, "seed": 1}, `"seed": 1}`}, // null: not even the default
		{"", map[string]any{"max_completion_tokens": 9}, `"temperature": 0.4, "max_completion_tokens": 9}`},
		{"deepseek", map[string]any{"thinking": map[string]any{"type": "enabled"}}, `"max_tokens": 4096, "thinking": {"type": "enabled"}}`},
		{"deepseek", map[string]any{"thinking": map[string]any{"type": "disabled"}}, `"temperature": 0.4, "max_tokens": 4096, "thinking": {"type": "disabled"}}`},
		{"other", map[string]any{"thinking": map[string]any{"type": "enabled"}}, `"temperature": 0.4, "max_tokens": 4096, "thinking": {"type": "enabled"}}`},
	} {
		if got, err := send(c.provider, c.params); err != nil || got != c.want {
			t.Errorf("%v: %s, %v", c.params, got, err)
		}
	}
	// What would go around the renderer or this adapter is no parameter.
	for _, key := range []string{"model", "messages", "prompt", "input", "stream", "stream_options", "n", "tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"} {
		if body, err := send("", map[string]any{key: "x"}); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %s, %v", key, body, err)
		}
	}
	if _, err := send("", map[string]any{"top_k": make(chan int)}); err == nil {
		t.Error("a channel was sent")
	}
}

// Refused parameters go in the order of §11, each once, whatever the order in
// which a message names them; an extra key after the known ones.
func TestDropOrder(t *testing.T) {
	s := start(t, &llmtest.Server{Extra: []string{"top_k"}})
	all := llmtest.Status(400, "unsupported: top_k, seed, top_p, max_tokens, reasoning_effort, temperature")
	for range 6 {
		s.Push(all)
	}
	s.Push(llmtest.Text("x"))
	r, err := open(t, s).Produce(t.Context(), prompt(t, false), llm.Options{Model: "m", Params: map[string]any{
		"top_k": 1, "seed": 1, "top_p": 1, "max_tokens": 1, "reasoning_effort": "low",
	}})
	if want := "temperature reasoning_effort max_tokens top_p seed top_k"; err != nil || strings.Join(r.Dropped, " ") != want {
		t.Errorf("%v, %v", r.Dropped, err)
	}

	s.Push(llmtest.Status(400, "response_format and temperature"), llmtest.Status(400, "response_format and temperature"), llmtest.Choice(1))
	if r, err = open(t, s).Judge(t.Context(), prompt(t, true), llm.Options{Model: "m", JSON: true}); err != nil || strings.Join(r.Dropped, " ") != "temperature response_format" {
		t.Errorf("%v, %v", r.Dropped, err)
	}
}

func TestAParameterIsNamedAsAWord(t *testing.T) {
	for message, dropped := range map[string]bool{
		"max_tokens is too large":           true,
		"`max_tokens`":                      true,
		"use max_tokens, not max_tokens":    true,
		"max_tokens_per_day is used up":     false,
		"your_max_tokens":                   false,
		"xmax_tokens max_tokens":            true,
		"the maximum of tokens is too high": false,
	} {
		s := start(t, &llmtest.Server{})
		s.Push(llmtest.Status(400, message))
		if dropped {
			s.Push(llmtest.Text("x"))
		}
		r, err := open(t, s).Produce(t.Context(), prompt(t, false), llm.Options{Model: "m", Params: map[string]any{"temperature": nil}})
		if (err == nil) != dropped || (len(r.Dropped) == 1) != dropped {
			t.Errorf("%q: %v, %v", message, r.Dropped, err)
		}
	}
	// Named apart from the message.
	s := start(t, &llmtest.Server{})
	s.Push(llmtest.Behaviour{Status: 400, Body: `{"error": {"message": "not supported with this one", "param": "temperature"}}`}, llmtest.Text("x"))
	if r, err := open(t, s).Produce(t.Context(), prompt(t, false), llm.Options{Model: "m"}); err != nil || len(r.Dropped) != 1 {
		t.Errorf("%v, %v", r.Dropped, err)
	}
}

func TestContentInParts(t *testing.T) {
	for content, want := range map[string]string{
		`[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]`:         "ab",
		`[{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "b"}]`: "b",
		`[{"type": "image_url", "text": "no"}]`:                                  "error: the answer has no text (finish reason stop)",
		`[{"type": "refusal", "refusal": "no"}]`:                                 "error: no",
		`[1, null, {"type": "text"}, {"type": "text", "text": 5}]`:               "error: the answer has no text (finish reason stop)",
	} {
		s := start(t, &llmtest.Server{})
		s.Push(llmtest.Raw(`{"choices": [{"message": {"content": ` + content + `}, "finish_reason": "stop"}]}`))
		r, err := open(t, s).Produce(t.Context(), prompt(t, false), llm.Options{Model: "m"})
		got := r.Text
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("%s: %q", content, got)
		}
	}
}

// The key is in no message and no log line, also where a provider echoes it
// across the place where a long message is cut.
func TestTheKeyIsNeverShown(t *testing.T) {
	const key = "sk-secret-0123456789"
	var log bytes.Buffer
	s := start(t, &llmtest.Server{Key: key})
	m := open(t, s, func(c *openai.Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	for n := 470; n < 505; n++ {
		s.Push(llmtest.Status(503, "busy "+key), llmtest.Status(400, "temperature "+key), llmtest.Status(401, strings.Repeat("x", n)+key+" model"))
		_, err := m.Produce(t.Context(), prompt(t, false), llm.Options{Model: "m"})
		if err == nil || strings.Contains(err.Error(), "sk-secret") {
			t.Fatalf("%v", err)
		}
	}
	if log.Len() == 0 || strings.Contains(log.String(), "sk-secret") {
		t.Errorf("log: %s", log.String())
	}
	if strings.Contains(log.String(), "if a<b") {
		t.Errorf("the log holds the prompt: %s", log.String())
	}
}

// An endpoint that is not there is one line without the URL, whose parts may be
// secret, and is asked again.
func TestNoEndpoint(t *testing.T) {
	s := start(t, &llmtest.Server{})
	base := strings.Replace(s.URL(), "http://", "http://user:secret@", 1)
	s.Close()
	var waits int
	m, err := openai.New(openai.Config{BaseURL: base, Sleep: func(context.Context, time.Duration) error { waits++; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Produce(t.Context(), prompt(t, false), llm.Options{Model: "m"})
	if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "no answer: ") {
		t.Errorf("%v", err)
	}
	if waits != 3 {
		t.Errorf("%d waits", waits)
	}
}

// An endpoint that says nothing is given up at the time limit, and asked again.
func TestTimeout(t *testing.T) {
	s := start(t, &llmtest.Server{})
	slow := llmtest.Text("late")
	slow.Delay = time.Minute
	s.Push(slow, llmtest.Text("in time"))
	m := open(t, s, func(c *openai.Config) { c.Timeout = 50 * time.Millisecond })
	if r, err := m.Produce(t.Context(), prompt(t, false), llm.Options{Model: "m"}); err != nil || r.Text != "in time" || len(s.Waits()) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestJitter(t *testing.T) {
	for jitter, want := range map[float64]time.Duration{0: 375, 0.5: 500, 1: 625} {
		s := start(t, &llmtest.Server{JitterValue: jitter})
		s.Push(llmtest.Status(500, "x"), llmtest.Text("x"))
		if _, err := open(t, s).Produce(t.Context(), prompt(t, false), llm.Options{Model: "m"}); err != nil {
			t.Fatal(err)
		}
		if got := s.Waits(); len(got) != 1 || got[0] != want*time.Millisecond {
			t.Errorf("jitter %v: %v", jitter, got)
		}
	}
}

// A wait ends with its context, with the timer that is used for real.
func TestWaitingEndsAtCancellation(t *testing.T) {
	s := start(t, &llmtest.Server{})
	s.Push(llmtest.Status(429, "busy").WithHeader("Retry-After", "60"))
	m, err := openai.New(openai.Config{BaseURL: s.URL()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err = m.Produce(ctx, prompt(t, false), llm.Options{Model: "m"})
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.KindCancelled {
		t.Errorf("%v", err)
	}
	if d := time.Since(begin); d > 10*time.Second {
		t.Errorf("waited %v", d)
	}
}

func TestWhereTheModelIsConfigured(t *testing.T) {
	s := start(t, &llmtest.Server{})
	s.Push(llmtest.Status(404, "no such model"))
	m := open(t, s, func(c *openai.Config) { c.Where = "providers.p of pinfold.yaml" })
	_, err := m.Produce(t.Context(), prompt(t, false), llm.Options{Model: "m1"})
	if err == nil || err.Error() != `no such model (configured model: "m1" in providers.p of pinfold.yaml) (status 404)` {
		t.Error(err)
	}
}

// The suite rejects adapters that break the contract.
func TestSuiteRejects(t *testing.T) {
	for name, f := range map[string]func(broken) broken{
		"forgets the usage of failures": func(b broken) broken {
			b.after = func(r llm.Reply, err error) (llm.Reply, error) {
				if err != nil {
					r = llm.Reply{}
				}
				return r, err
			}
			return b
		},
		"untyped errors": func(b broken) broken {
			b.after = func(r llm.Reply, err error) (llm.Reply, error) {
				if err != nil {
					err = errors.New(err.Error())
				}
				return r, err
			}
			return b
		},
		"empty success": func(b broken) broken {
			b.after = func(r llm.Reply, err error) (llm.Reply, error) { return r, nil }
			return b
		},
		"refusal as provider error": func(b broken) broken {
			b.after = func(r llm.Reply, err error) (llm.Reply, error) {
				var e *llm.Error
				if errors.As(err, &e) {
					e.Kind = llm.KindProvider
				}
				return r, err
			}
			return b
		},
		"estimate not marked": func(b broken) broken {
			b.after = func(r llm.Reply, err error) (llm.Reply, error) { r.Usage.Estimated = false; return r, err }
			return b
		},
		"cut text as whole": func(b broken) broken {
			b.after = func(r llm.Reply, err error) (llm.Reply, error) { r.Truncated = false; return r, err }
			return b
		},
		"dropped in silence": func(b broken) broken {
			b.after = func(r llm.Reply, err error) (llm.Reply, error) { r.Dropped = nil; return r, err }
			return b
		},
		"shows the key": func(b broken) broken {
			b.after = func(r llm.Reply, err error) (llm.Reply, error) {
				var e *llm.Error
				if errors.As(err, &e) {
					e.Message += llmtest.Key
				}
				return r, err
			}
			return b
		},
		"calls twice":               func(b broken) broken { b.twice = true; return b },
		"goes on after its context": func(b broken) broken { b.deaf = true; return b },
		"its own temperature": func(b broken) broken {
			b.before = func(o *llm.Options) { o.Temperature = 1 }
			return b
		},
		"always reasons": func(b broken) broken {
			b.before = func(o *llm.Options) { o.Reason = true }
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := llmtest.Check(t.Context(), func(s *llmtest.Server) (llm.Model, error) {
				return f(broken{Model: open(t, s)}), nil
			})
			if err == nil {
				t.Error("passes")
			}
		})
	}
}

// broken is a sound adapter with a fault.
type broken struct {
	*openai.Model
	before      func(*llm.Options)
	after       func(llm.Reply, error) (llm.Reply, error)
	twice, deaf bool
}

func (b broken) Produce(ctx context.Context, p fence.Rendered, o llm.Options) (llm.Reply, error) {
	return b.call(ctx, p, o, b.Model.Produce)
}

func (b broken) Judge(ctx context.Context, p fence.Rendered, o llm.Options) (llm.Reply, error) {
	return b.call(ctx, p, o, b.Model.Judge)
}

func (b broken) call(ctx context.Context, p fence.Rendered, o llm.Options, f func(context.Context, fence.Rendered, llm.Options) (llm.Reply, error)) (llm.Reply, error) {
	if b.before != nil {
		b.before(&o)
	}
	if b.deaf {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
	}
	r, err := f(ctx, p, o)
	if b.twice {
		r, err = f(ctx, p, o)
	}
	if b.after != nil {
		r, err = b.after(r, err)
	}
	return r, err
}

func Example() {
	s := &llmtest.Server{Brain: llmtest.Obedient{Text: "It is about boats."}}
	if err := s.Start("127.0.0.1:0"); err != nil {
		panic(err)
	}
	defer s.Close()

	m, err := openai.New(openai.Config{BaseURL: s.URL()})
	if err != nil {
		panic(err)
	}
	var p fence.Prompt
	p.User.Text(trust.Const("What is this about?\n"))
	p.User.Data("page", trust.External("tool:fetch", "Boats, boats, boats."))
	rendered, _, err := fence.Render(p, func(n *[12]byte) error { copy(n[:], "0123456789ab"); return nil })
	if err != nil {
		panic(err)
	}
	reply, err := m.Produce(context.Background(), rendered, llm.Options{Model: "m", Temperature: 0.4})
	fmt.Println(reply.Text, err)
	// Output: It is about boats. <nil>
}

func BenchmarkProduce(b *testing.B) {
	s := start(b, &llmtest.Server{Brain: llmtest.Obedient{Text: "x"}})
	m, p := open(b, s), prompt(b, false)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Produce(b.Context(), p, llm.Options{Model: "m"}); err != nil {
			b.Fatal(err)
		}
	}
}
