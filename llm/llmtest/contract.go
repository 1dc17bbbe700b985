package llmtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/llm"
	"github.com/pinfold-dev/pinfold/tokens"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

// ModelID is the model that the suite asks for.
const ModelID = "suite-model"

// Key is the server's key in the suite.
const Key = "key-0123456789-secret"

// Prompt renders a prompt with a fence, as a produce or as a judge call over two
// conditions.
func Prompt(judge bool) (fence.Rendered, error) {
	var p fence.Prompt
	p.System.Text(trust.Const("Answer with what is asked for, as JSON where that is asked for.\n"))
	var when fence.Doc
	when.Text(trust.Const("Outside data stands between <data-"))
	when.Nonce()
	when.Text(trust.Const("> and its end."))
	p.System.WhenFenced(when)
	p.User.Text(trust.Const("OUTPUT\n"))
	// Bytes that an encoder might change on their way: HTML, escapes, no ASCII.
	p.User.Data("output", trust.External("host:question", "if a<b && c>d \u2028 \"q\" \\ é 😀\t{{x}}\n</data-000000000000>"))
	if judge {
		p.User.Text(trust.Const("\nCONDITIONS\n1. a\n2. b\n3. none of these\n\nAnswer with {\"choice\": k}, k from 1 to 3."))
	} else {
		p.User.Text(trust.Const("\nSummarise it."))
	}
	r, _, err := fence.Render(p, func(n *[12]byte) error { copy(n[:], "0123456789ab"); return nil })
	return r, err
}

// suite is one section under way: an adapter, its server, and what was found.
type suite struct {
	ctx    context.Context
	s      *Server
	m      llm.Model
	judge  bool
	faults []error
}

func (t *suite) Context() context.Context { return t.ctx }

func (t *suite) Errorf(format string, args ...any) {
	t.faults = append(t.faults, fmt.Errorf(format, args...))
}

// stop ends a section that cannot go on.
type stop struct{}

func (t *suite) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	panic(stop{})
}

func (t *suite) call(ctx context.Context, o llm.Options) (llm.Reply, error) {
	p, err := Prompt(t.judge)
	if err != nil {
		t.Fatalf("%w", err)
	}
	o.Model = ModelID
	if t.judge {
		o.JSON = true
		return t.m.Judge(ctx, p, o)
	}
	return t.m.Produce(ctx, p, o)
}

// kind checks that err is an *llm.Error of that kind, fit to be shown.
func (t *suite) kind(err error, want llm.ErrorKind) *llm.Error {
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("expected an *llm.Error, found %T %v", err, err)
	}
	if e.Kind != want {
		t.Errorf("expected a %v error, found %v: %v", want, e.Kind, e)
	}
	if strings.TrimSpace(e.Message) == "" || strings.ContainsAny(e.Error(), "\n\r\x00\x1b\u2028") {
		t.Errorf("the message is no line: %q", e.Error())
	}
	if strings.Contains(e.Error(), Key) {
		t.Errorf("the message shows the key: %v", e)
	}
	return e
}

// section is one part of the contract. It is run for produce and for judge.
type section struct {
	name string
	run  func(*suite)
}

func sections() []section {
	return []section{
		{"request", request},
		{"text", texts},
		{"empty answers", empty},
		{"stop reasons", stops},
		{"usage", usage},
		{"errors", faults},
		{"retries", repeats},
		{"waits", waits},
		{"one attempt", once},
		{"cancellation", cancellation},
		{"refused parameters", parameters},
		{"concurrent", concurrent},
		{"size", size},
	}
}

// Test runs the suite. open makes an adapter for the server: with its URL and
// Key, and with its Sleep, Jitter and Now in the place of timer, random source
// and clock.
func Test(t *testing.T, open func(t *testing.T, s *Server) llm.Model) {
	t.Helper()
	for _, sec := range sections() {
		for call, judge := range map[string]bool{"produce": false, "judge": true} {
			t.Run(sec.name+"/"+call, func(t *testing.T) {
				if err := sec.check(t.Context(), judge, func(s *Server) (llm.Model, error) { return open(t, s), nil }); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// Check runs the suite up to the first section that finds a fault. Its error
// joins the faults of that section.
func Check(ctx context.Context, open func(s *Server) (llm.Model, error)) error {
	for _, sec := range sections() {
		for _, judge := range []bool{false, true} {
			if err := sec.check(ctx, judge, open); err != nil {
				return fmt.Errorf("llmtest: %s: %w", sec.name, err)
			}
		}
	}
	return nil
}

func (sec section) check(ctx context.Context, judge bool, open func(s *Server) (llm.Model, error)) (err error) {
	s := &Server{Key: Key}
	if err := s.Start("127.0.0.1:0"); err != nil {
		return err
	}
	defer s.Close()
	m, err := open(s)
	if err != nil {
		return err
	}
	t := &suite{ctx: ctx, s: s, m: m, judge: judge}
	func() {
		defer func() {
			if r := recover(); r != nil && r != (stop{}) {
				t.Errorf("panic: %v", r)
			}
		}()
		sec.run(t)
		if err := s.Fault(); err != nil {
			t.Errorf("requests that no endpoint would take: %w", err)
		}
		if n := s.Pending(); n > 0 {
			t.Errorf("%d answers were not asked for", n)
		}
	}()
	return errors.Join(t.faults...)
}

// request: what was rendered arrives byte for byte, with the options and
// nothing beside them.
func request(t *suite) {
	t.s.Push(Text("x"), Text("x"))
	if _, err := t.call(t.Context(), llm.Options{Temperature: 0.4}); err != nil {
		t.Fatalf("%w", err)
	}
	if _, err := t.call(t.Context(), llm.Options{Temperature: 0.4, Params: map[string]any{"max_tokens": 9, "top_p": 0.5, "seed": 3, "reasoning_effort": "low"}}); err != nil {
		t.Fatalf("%w", err)
	}
	reqs := t.s.Requests()
	if len(reqs) != 2 {
		t.Fatalf("%d requests", len(reqs))
	}
	p, err := Prompt(t.judge)
	if err != nil {
		t.Fatalf("%w", err)
	}
	r := reqs[0]
	if r.System != p.System() || r.User != p.User() {
		t.Errorf("changed on the way:\n%q\n%q\nfound\n%q\n%q", p.System(), p.User(), r.System, r.User)
	}
	if r.Model != ModelID {
		t.Errorf("model %q", r.Model)
	}
	get := func(r Request, key string) string {
		v, ok := r.Body.Get(key)
		if !ok {
			return ""
		}
		return v.JSON()
	}
	for key, want := range map[string][2]string{ // produce, judge
		"temperature":     {"0.4", "0.4"},
		"max_tokens":      {"4096", ""},
		"response_format": {"", `{"type": "json_object"}`},
	} {
		w := want[0]
		if t.judge {
			w = want[1]
		}
		if got := get(r, key); got != w {
			t.Errorf("%s: expected %q, found %q", key, w, got)
		}
	}
	for key, want := range map[string]string{"max_tokens": "9", "top_p": "0.5", "seed": "3", "reasoning_effort": `"low"`} {
		if t.judge {
			want = "" // tier params are for produce
		}
		if got := get(reqs[1], key); got != want {
			t.Errorf("params: %s: expected %q, found %q", key, want, got)
		}
	}
}

func texts(t *suite) {
	for _, c := range []struct {
		c               Completion
		reason          bool
		text, reasoning string
	}{
		{Completion{Text: " \n hello\n\n"}, false, "hello", ""}, // trimmed
		{Completion{Text: ""}, false, "", ""},                   // an empty output that stopped by itself
		{Completion{Text: "a<b \u2028 é"}, false, "a<b \u2028 é", ""},
		{Completion{Text: "<think>a</think>b"}, false, "<think>a</think>b", ""}, // without reason it is left alone
		{Completion{Text: "<think>a</think>b"}, true, "b", "a"},
		{Completion{Text: "b<think>a</think>"}, true, "b<think>a</think>", ""},
		{Completion{Text: "<think>a</think>b", Reasoning: " own "}, true, "<think>a</think>b", "own"},
		{Completion{Text: "b", Reasoning: "own"}, false, "b", ""}, // nobody asked for it
	} {
		if t.judge && c.reason {
			continue
		}
		t.s.Push(c.c.Behaviour())
		r, err := t.call(t.Context(), llm.Options{Reason: c.reason})
		if err != nil || r.Text != c.text || r.Reasoning != c.reasoning || r.FinishReason != "stop" || r.Truncated || r.Forced || len(r.Dropped) > 0 {
			t.Errorf("%+v: %+v, %v", c.c, r, err)
		}
	}
}

// empty: no empty success and no panic (cases 73 and 75).
func empty(t *suite) {
	for _, body := range []string{
		`{"choices": []}`, `{"choices": null}`, `{}`, `{"choices": {}}`, `{"choices": [null]}`, `{"choices": [1]}`,
		`{"choices": [{"message": null, "finish_reason": "stop"}]}`,
		`{"choices": [{"finish_reason": "stop"}]}`,
		`{"choices": [{"message": {"role": "assistant", "content": null}, "finish_reason": "stop"}]}`,
		`{"choices": [{"message": {"role": "assistant"}, "finish_reason": "stop"}]}`,
		`{"choices": [{"message": {"role": "assistant", "content": []}, "finish_reason": "stop"}]}`,
		`{"choices": [{"message": {"role": "assistant", "content": 5}, "finish_reason": "stop"}]}`,
		`{"choices": [{"message": {"role": "assistant", "content": ""}}]}`, // it does not say that it stopped
		`{"choices": [{"message": {"role": "assistant", "content": ""}, "finish_reason": null}]}`,
		`[]`, `null`, `"ok"`, `7`, ``, `<html>`, `{"choices": [`, `{"a": 1, "a": 2}`,
	} {
		t.s.Push(Raw(body))
		r, err := t.call(t.Context(), llm.Options{})
		if err == nil {
			t.Errorf("%s: success: %+v", body, r)
			continue
		}
		t.kind(err, llm.KindProvider)
	}
	if n := len(t.s.Waits()); n > 0 {
		t.Errorf("an empty answer was asked for again %d times", n)
	}
}

func stops(t *suite) {
	ok := func(c Completion, text string, truncated bool) {
		t.s.Push(c.Behaviour())
		r, err := t.call(t.Context(), llm.Options{})
		if err != nil || r.Text != text || r.Truncated != truncated || r.FinishReason != c.Finish {
			t.Errorf("%+v: %+v, %v", c, r, err)
		}
	}
	bad := func(c Completion, kind llm.ErrorKind) *llm.Error {
		t.s.Push(c.Behaviour())
		r, err := t.call(t.Context(), llm.Options{})
		if err == nil {
			t.Fatalf("%+v: success: %+v", c, r)
		}
		if r.Usage.Input != 7 || r.Usage.Output != 5 {
			t.Errorf("%+v: the usage is lost: %+v", c, r.Usage)
		}
		return t.kind(err, kind)
	}
	for _, reason := range []string{"length", "LENGTH", "max_tokens", "MAX_TOKENS", "model_context_window_exceeded"} {
		ok(Completion{Text: "cut", Finish: reason}, "cut", true)
	}
	// An unknown reason is accepted with its label where there is text (case 77).
	ok(Completion{Text: "x", Finish: "foo"}, "x", false)
	bad(Completion{Text: "", Finish: "foo"}, llm.KindProvider)

	bad(Completion{NullText: true, Refusal: "I can't help with that."}, llm.KindRefusal)
	bad(Completion{Text: "", Refusal: "I can't\nhelp."}, llm.KindRefusal)
	bad(Completion{Text: "some", Finish: "content_filter"}, llm.KindRefusal)
	bad(Completion{NullText: true, Finish: "content_filter"}, llm.KindRefusal)
	bad(Completion{Text: "", Finish: "refusal"}, llm.KindRefusal)

	// Tool calls: none was offered, none is ever run (cases 75 and 76).
	call := `[{"id": "", "type": "function", "function": {"name": "send", "arguments": {"to": "a"}}}]`
	ok(Completion{Text: "text beside", Finish: "stop", ToolCalls: call}, "text beside", false)
	ok(Completion{Text: "text beside", Finish: "tool_calls", ToolCalls: call}, "text beside", false)
	ok(Completion{Text: "text alone", Finish: "tool_calls"}, "text alone", false)
	bad(Completion{NullText: true, Finish: "tool_calls", ToolCalls: call}, llm.KindProvider)
	bad(Completion{Text: "", Finish: "stop", ToolCalls: call}, llm.KindProvider)
	bad(Completion{NullText: true, Finish: "tool_calls"}, llm.KindProvider)
	cut := bad(Completion{NullText: true, Finish: "length", ToolCalls: `[{"id": "1", "type": "function", "function": {"name": "send", "arguments": "{\"to\":\"a"}}]`}, llm.KindProvider)
	if !strings.Contains(cut.Message, "cut off") {
		t.Errorf("a cut-off call is not named as such: %v", cut)
	}
}

// usage: as reported, or estimated and marked (case 74).
func usage(t *suite) {
	p, err := Prompt(t.judge)
	if err != nil {
		t.Fatalf("%w", err)
	}
	in, out := tokens.Estimate(p.System())+tokens.Estimate(p.User()), tokens.Estimate("one two three")
	if in == 0 || out == 0 {
		t.Fatalf("the estimator counts nothing")
	}
	for reported, want := range map[string]engine.Usage{
		`{"prompt_tokens": 11, "completion_tokens": 2}`:    {Input: 11, Output: 2},
		`{"prompt_tokens": 11.0, "completion_tokens": 2}`:  {Input: 11, Output: 2},
		`{"prompt_tokens": 0, "completion_tokens": 0}`:     {},
		`{"prompt_tokens": 11, "completion_tokens": 0}`:    {Input: 11},
		`{"prompt_tokens": 0, "completion_tokens": 40}`:    {Input: in, Output: 40, Estimated: true},
		`{"completion_tokens": 40}`:                        {Input: in, Output: 40, Estimated: true},
		`{"prompt_tokens": 11}`:                            {Input: 11, Output: out, Estimated: true},
		`{"prompt_tokens": 11, "completion_tokens": null}`: {Input: 11, Output: out, Estimated: true},
		`{"prompt_tokens": -1, "completion_tokens": "2"}`:  {Input: in, Output: out, Estimated: true},
		`{"prompt_tokens": 1e30, "completion_tokens": 2}`:  {Input: in, Output: 2, Estimated: true},
		`{}`:   {Input: in, Output: out, Estimated: true},
		`null`: {Input: in, Output: out, Estimated: true},
		`[]`:   {Input: in, Output: out, Estimated: true},
		`-`:    {Input: in, Output: out, Estimated: true}, // left out
	} {
		t.s.Push(Completion{Text: "one two three", Usage: reported}.Behaviour())
		r, err := t.call(t.Context(), llm.Options{})
		if err != nil || r.Usage != want {
			t.Errorf("%s: expected %+v, found %+v, %v", reported, want, r.Usage, err)
		}
	}
	t.s.Push(Raw(`{}`)) // an answer that holds nothing has cost something all the same
	if r, err := t.call(t.Context(), llm.Options{}); err == nil || r.Usage.Input != in || !r.Usage.Estimated {
		t.Errorf("a failed call is free: %+v, %v", r.Usage, err)
	}
}

func faults(t *suite) {
	for _, c := range []struct {
		b       Behaviour
		kind    llm.ErrorKind
		status  int
		message string // a part of it
	}{
		{Status(401, "Incorrect API key provided: "+Key+"."), llm.KindProvider, 401, "Incorrect API key provided"},
		{Status(400, "line one\nline two\x1b[2K\r\nthree"), llm.KindProvider, 400, "line one line two"},
		{Status(404, "The model `x` does not exist"), llm.KindProvider, 404, ModelID},
		{Status(404, "Not Found"), llm.KindProvider, 404, ModelID},
		{Behaviour{Status: 403, Body: `{"error": "plain text"}`}, llm.KindProvider, 403, "plain text"},
		{Behaviour{Status: 403, Body: `{"detail": "by detail"}`}, llm.KindProvider, 403, "by detail"},
		{Behaviour{Status: 403, Body: `{"message": "by message"}`}, llm.KindProvider, 403, "by message"},
		{Behaviour{Status: 403, Body: "<html>no</html>", ContentType: "text/html"}, llm.KindProvider, 403, ""},
		{Behaviour{Status: 403, Body: ""}, llm.KindProvider, 403, ""},
		{Behaviour{Status: 403, Body: `{"error": {"message": "` + strings.Repeat("long ", 10_000) + `"}}`}, llm.KindProvider, 403, "long long"},
		{Behaviour{Status: 302}.WithHeader("Location", "http://127.0.0.1:1/elsewhere"), llm.KindProvider, 302, ""}, // not followed
		{Behaviour{Status: 307}.WithHeader("Location", "http://127.0.0.1:1/elsewhere"), llm.KindProvider, 307, ""},
		{Behaviour{Status: 400, Body: `{"error": {"message": "filtered at this temperature", "code": "content_filter"}}`}, llm.KindRefusal, 400, "filtered"}, // no parameter is to blame
		{Behaviour{Body: `{"error": {"message": "overloaded words", "type": "content_policy_violation"}}`}, llm.KindRefusal, 200, "words"},
		{Behaviour{Body: `{"error": {"message": "no credit", "code": "insufficient_quota"}}`}, llm.KindProvider, 200, "no credit"},
		{Behaviour{Body: `not JSON`}, llm.KindProvider, 0, "not JSON"},
	} {
		t.s.Push(c.b)
		r, err := t.call(t.Context(), llm.Options{})
		if err == nil {
			t.Errorf("%+v: success: %+v", c.b, r)
			continue
		}
		e := t.kind(err, c.kind)
		if e.Status != c.status || !strings.Contains(e.Message, c.message) || len(e.Message) > 2000 {
			t.Errorf("expected status %d and %q, found %d, %q", c.status, c.message, e.Status, e.Message)
		}
	}
	// Another content type does not make JSON something else.
	t.s.Push(Behaviour{Body: Text("x").Body, ContentType: "text/plain"})
	if r, err := t.call(t.Context(), llm.Options{}); err != nil || r.Text != "x" {
		t.Errorf("%+v, %v", r, err)
	}
	if n := len(t.s.Waits()); n > 0 {
		t.Errorf("an error that repeating does not cure was repeated %d times", n)
	}
}

// repeats: what may pass is asked for again, three times and not more (case 81).
func repeats(t *suite) {
	passing := map[string]Behaviour{
		"reset":                {Reset: true},
		"overloaded under 200": Raw(`{"error": {"type": "overloaded_error", "message": "Overloaded"}}`),
		"rate under 200":       Raw(`{"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}`),
		"529 under 200":        Raw(`{"error": {"message": "busy", "code": 529}}`),
	}
	for _, status := range []int{408, 409, 429, 500, 502, 503, 504, 529} {
		passing[value.FromInt(int64(status)).JSON()] = Status(status, "busy")
	}
	for name, b := range passing {
		before := len(t.s.Waits())
		t.s.Push(b, b, b, Text("at last"))
		if r, err := t.call(t.Context(), llm.Options{}); err != nil || r.Text != "at last" {
			t.Errorf("%s, then an answer: %+v, %v", name, r, err)
		}
		t.s.Push(b, b, b, b)
		_, err := t.call(t.Context(), llm.Options{})
		t.kind(err, llm.KindProvider)
		if n := len(t.s.Waits()) - before; n != 6 {
			t.Errorf("%s: %d waits in two calls", name, n)
		}
	}
}

// waits: 0.5, 1, 2 s less a quarter at the least, or what a sane Retry-After says.
func waits(t *suite) {
	const half = 375 * time.Millisecond // 0.5 s less a quarter: the server's jitter is 0
	busy := Status(429, "busy")
	taken := 0
	call := func(want ...time.Duration) {
		_, err := t.call(t.Context(), llm.Options{})
		if err != nil {
			t.Fatalf("%w", err)
		}
		got := t.s.Waits()[taken:]
		taken += len(got)
		if len(got) != len(want) {
			t.Fatalf("expected the waits %v, found %v", want, got)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("expected the waits %v, found %v", want, got)
			}
		}
	}
	t.s.Push(busy, busy, busy, Text("x"))
	call(half, 2*half, 4*half)
	for after, want := range map[string]time.Duration{
		"7":                             7 * time.Second,
		"0":                             0,
		"60":                            time.Minute,
		"3600":                          time.Minute, // clamped
		"Thu, 01 Jan 2026 00:00:09 GMT": 9 * time.Second,
		"Thu, 01 Jan 2026 06:00:00 GMT": time.Minute,
		"-5":                            half, // these are not followed
		"99999999":                      half,
		"99999999999999999999":          half,
		"abc":                           half,
		"1e3":                           half,
		"Wed, 31 Dec 2025 23:59:59 GMT": half,
		"Fri, 01 Jan 2027 00:00:00 GMT": half,
	} {
		t.s.Push(busy.WithHeader("Retry-After", after), Text("x"))
		call(want)
	}
	t.s.Push(Status(503, "busy").WithHeader("Retry-After", "2"), busy, Text("x"))
	call(2*time.Second, 2*half)
}

// once: when a byte of an answer came, nothing is repeated: the call may have
// been carried out.
func once(t *suite) {
	torn := Text("half of it")
	torn.Torn = true
	for i, b := range []Behaviour{torn, {HalfHeader: true}} {
		t.s.Push(b)
		_, err := t.call(t.Context(), llm.Options{})
		t.kind(err, llm.KindProvider)
		if n := len(t.s.Requests()); n != i+1 {
			t.Fatalf("%d requests for %d calls", n, i+1)
		}
	}
}

// size: an answer of 64 MiB is taken, one byte more is not.
func size(t *suite) {
	if t.judge {
		return // the bound is one for both, and takes its time
	}
	body := Text("x").Body
	t.s.Push(Behaviour{Body: body, Pad: 64<<20 - int64(len(body)) + 1})
	_, err := t.call(t.Context(), llm.Options{})
	e := t.kind(err, llm.KindProvider)
	if !strings.Contains(e.Message, "64 MiB") {
		t.Errorf("does not name the bound: %v", e)
	}
	if n := len(t.s.Requests()); n != 1 {
		t.Errorf("%d requests for one call", n)
	}
	t.s.Push(Behaviour{Body: body, Pad: 64<<20 - int64(len(body))})
	if r, err := t.call(t.Context(), llm.Options{}); err != nil || r.Text != "x" {
		t.Errorf("an answer of 64 MiB to the byte: %+v, %v", r, err)
	}
}

func cancellation(t *suite) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := t.call(ended, llm.Options{})
	if e := t.kind(err, llm.KindCancelled); !errors.Is(e, context.Canceled) {
		t.Errorf("does not wrap the context's error: %v", e)
	}
	if n := len(t.s.Requests()); n != 0 {
		t.Errorf("%d requests after the end", n)
	}

	slow := Text("x")
	slow.Delay = time.Minute
	t.s.Push(slow)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err = t.call(ctx, llm.Options{})
	if e := t.kind(err, llm.KindCancelled); !errors.Is(e, context.DeadlineExceeded) {
		t.Errorf("does not wrap the context's error: %v", e)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("went on for %v", d)
	}
	if n := len(t.s.Waits()); n != 0 {
		t.Errorf("waited %d times for a cancelled call", n)
	}
}

// parameters: one that a provider refuses by name is dropped, once each; what
// makes up the call never is.
func parameters(t *suite) {
	refuse := func(name string) Behaviour { return Status(400, "Unsupported parameter: '"+name+"' is not supported.") }
	t.s.Push(refuse("temperature"), Status(422, "unknown field `temperature`"))
	_, err := t.call(t.Context(), llm.Options{Temperature: 0.4})
	t.kind(err, llm.KindProvider)
	if n := len(t.s.Requests()); n != 2 {
		t.Errorf("a parameter was dropped %d times", n-1)
	}

	t.s.Push(refuse("temperature"), Text("x"))
	r, err := t.call(t.Context(), llm.Options{Temperature: 0.4})
	if err != nil || len(r.Dropped) != 1 || r.Dropped[0] != "temperature" {
		t.Errorf("%+v, %v", r, err)
	}
	reqs := t.s.Requests()
	if _, ok := reqs[len(reqs)-1].Body.Get("temperature"); ok {
		t.Errorf("the parameter was sent again")
	}
	if last := reqs[len(reqs)-1]; last.System == "" || last.User == "" || last.Model != ModelID {
		t.Errorf("more than the parameter was dropped")
	}

	for _, name := range []string{"model", "messages", "top_k"} {
		before := len(t.s.Requests())
		t.s.Push(refuse(name))
		_, err := t.call(t.Context(), llm.Options{})
		t.kind(err, llm.KindProvider)
		if n := len(t.s.Requests()) - before; n != 1 {
			t.Errorf("%s: asked %d times", name, n)
		}
	}
	// Only 400 and 422 are about parameters.
	t.s.Push(Status(403, "temperature is not for you"))
	_, err = t.call(t.Context(), llm.Options{Temperature: 0.4})
	t.kind(err, llm.KindProvider)
	if n := len(t.s.Waits()); n != 0 {
		t.Errorf("waited %d times", n)
	}
}

func concurrent(t *suite) {
	const n = 16
	for range n {
		t.s.Push(Text("x"))
	}
	errs := make(chan error, n)
	for range n {
		go func() {
			p, err := Prompt(t.judge)
			if err == nil && t.judge {
				_, err = t.m.Judge(t.Context(), p, llm.Options{Model: ModelID, JSON: true})
			} else if err == nil {
				_, err = t.m.Produce(t.Context(), p, llm.Options{Model: ModelID})
			}
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Errorf("%w", err)
		}
	}
}
