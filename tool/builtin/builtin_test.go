package builtin

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

func call(t testing.TB, ctx context.Context, o Options, name, input string) value.Value {
	t.Helper()
	in, err := value.ParseJSON([]byte(input))
	if err != nil {
		t.Fatalf("%s: %v", input, err)
	}
	var args []engine.Arg
	for i := range in.Len() {
		args = append(args, engine.Arg{Name: in.Key(i), Value: trust.NewValue(in.At(i), trust.From("host:x"))})
	}
	for _, tl := range Tools(o) {
		if tl.Name == name {
			obs, err := tl.Func(ctx, args)
			if err != nil {
				t.Fatalf("%s %s: a built-in failed with a Go error: %v", name, input, err)
			}
			return obs.Value
		}
	}
	t.Fatalf("no tool %s", name)
	return value.Value{}
}

func TestCalcObservations(t *testing.T) {
	for _, c := range []struct{ input, want string }{
		{`{"expr": "1+1"}`, "2"},
		{`{"query": "6*7"}`, "42"},
		{`{"expr": "", "query": "6*7"}`, "42"},
		{`{"expr": "1", "query": "2"}`, "1"},
		{`{"expr": 5}`, "5"}, // a number is its text
		{`{"expr": true}`, "error: could not evaluate 'true' (unexpected 't')"},
		{`{}`, "error: could not evaluate '' (the expression is empty)"},
		{`{"expr": null}`, "error: could not evaluate '' (the expression is empty)"},
		{`{"expr": "1/0"}`, "error: could not evaluate '1/0' (division by zero)"},
		{`{"expr": "it's"}`, "error: could not evaluate 'it's' (unexpected 'i')"},
		{`{"expr": [1]}`, "error: could not evaluate '1. 1' (expected an operator, found '1')"},
	} {
		got, ok := call(t, t.Context(), Options{}, "calc", c.input).AsString()
		if !ok || got != c.want {
			t.Errorf("%s: %q, want %q", c.input, got, c.want)
		}
	}
	long := call(t, t.Context(), Options{}, "calc", `{"expr": "`+strings.Repeat("1", 1_000_000)+`"}`)
	if s, _ := long.AsString(); len(s) > 2000 || !strings.Contains(s, "longer than 1000") {
		t.Errorf("an endless expression is echoed: %d bytes", len(s))
	}
}

func TestSearchKB(t *testing.T) {
	got := call(t, t.Context(), Options{}, "search_kb", `{"query": "returns"}`)
	const head = `{"tool": "search_kb", "stub": true, "error": null, "status": "ok", "retryable": false, "untrusted": true, "query": "returns", "facts": [`
	if s := got.JSON(); !strings.HasPrefix(s, head) {
		t.Errorf("got %s", s)
	}
	facts, _ := got.Get("facts")
	if facts.Len() != 4 { // three fixed ones and an echo
		t.Errorf("%d facts", facts.Len())
	}
	if echo, _ := facts.At(3).AsString(); !strings.Contains(echo, "returns") {
		t.Errorf("echo %q", echo)
	}

	if q, _ := call(t, t.Context(), Options{}, "search_kb", `{"q": "x"}`).Get("query"); q.JSON() != `"x"` {
		t.Errorf("q is not read: %s", q.JSON())
	}
	for _, empty := range []string{`{}`, `{"query": ""}`, `{"query": " \n"}`, `{"query": null}`} {
		s := call(t, t.Context(), Options{}, "search_kb", empty).JSON()
		if s != `{"tool": "search_kb", "stub": true, "error": "query is empty", "status": "error", "retryable": false, "untrusted": true, "query": "", "facts": [], "note": ""}` {
			t.Errorf("%s: %s", empty, s)
		}
	}
	fake := call(t, t.Context(), Options{KB: Fake}, "search_kb", `{"query": "x"}`)
	if facts, _ := fake.Get("facts"); facts.Len() != 1 {
		t.Errorf("fake: %s", fake.JSON())
	}
	if stub, _ := fake.Get("stub"); stub.JSON() != "true" {
		t.Error("the fake backend claims to be real")
	}
	long := call(t, t.Context(), Options{}, "search_kb", `{"query": "`+strings.Repeat("語", 9000)+`"}`)
	facts, _ = long.Get("facts")
	for i := range facts.Len() {
		s, _ := facts.At(i).AsString()
		if n := utf8.RuneCountInString(s); n > 2000 {
			t.Errorf("fact %d has %d characters", i, n)
		}
	}
	if s, _ := facts.At(3).AsString(); !strings.HasSuffix(s, "…[truncated]") {
		t.Error("a cut fact does not say so")
	}
}

func TestSendReply(t *testing.T) {
	got := call(t, t.Context(), Options{}, "send_reply", `{"body": "Hello", "to": "dana@x.example"}`).JSON()
	want := `{"tool": "send_reply", "stub": true, "error": null, "status": "ok", "retryable": false, "untrusted": true, "to": "dana@x.example", "chars": 5, "preview": "Hello", "sent": false, "recorded": true, "delivery": "stub", "note": "recorded, not sent: bind a backend with tools.mail.backend"}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got = call(t, t.Context(), Options{}, "send_reply", `{"draft": ""}`).JSON()
	want = `{"tool": "send_reply", "stub": true, "error": "body is empty", "status": "error", "retryable": false, "untrusted": true, "to": "customer", "chars": 0, "preview": "", "sent": false, "recorded": false, "delivery": "stub", "note": "nothing was sent"}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}

	var box Outbox
	fake := Options{Mail: Fake, Outbox: &box}
	got = call(t, t.Context(), fake, "send_reply", `{"draft": {"a": 1}}`).JSON()
	for _, part := range []string{`"stub": true`, `"to": "customer"`, `"preview": "{\"a\": 1}"`, `"sent": true, "recorded": true, "delivery": "fake"`} {
		if !strings.Contains(got, part) {
			t.Errorf("no %s in %s", part, got)
		}
	}
	if m := box.Messages(); len(m) != 1 || m[0] != (Message{To: "customer", Body: `{"a": 1}`}) {
		t.Errorf("kept %v", m)
	}
	_ = call(t, t.Context(), fake, "send_reply", `{"body": "  "}`)
	if m := box.Messages(); len(m) != 1 {
		t.Errorf("an empty body was sent: %v", m)
	}
	_ = call(t, t.Context(), Options{Mail: Fake}, "send_reply", `{"body": "x"}`) // without an outbox
}

func TestPreview(t *testing.T) {
	for n, want := range map[int]string{
		0:   "",
		120: strings.Repeat("é", 120),
		121: strings.Repeat("é", 117) + "...",
		500: strings.Repeat("é", 117) + "...",
	} {
		if got := preview(strings.Repeat("é", n)); got != want {
			t.Errorf("%d characters: %q", n, got)
		}
	}
}

// A call whose context has ended does nothing and says so.
func TestCancelledCallsDoNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var box Outbox
	o := Options{KB: Fake, Mail: Fake, Outbox: &box}
	for name, input := range map[string]string{"search_kb": `{"query": "x"}`, "send_reply": `{"body": "x"}`} {
		got := call(t, ctx, o, name, input)
		if s, _ := got.Get("status"); s.JSON() != `"error"` {
			t.Errorf("%s: %s", name, got.JSON())
		}
	}
	if s, _ := call(t, ctx, o, "calc", `{"expr": "1"}`).AsString(); !strings.HasPrefix(s, "error: ") {
		t.Errorf("calc: %s", s)
	}
	if len(box.Messages()) != 0 {
		t.Error("a cancelled reply was sent")
	}
}

// The registrations carry what the policy table says, so that a host that fills
// its table from them gets the same.
func TestToolsAreDeclared(t *testing.T) {
	table := policy.Builtin()
	want := map[string]struct {
		class     policy.Class
		egress    bool
		sensitive string
	}{
		"calc":       {policy.Read, false, ""},
		"search_kb":  {policy.Read, false, ""},
		"send_reply": {policy.Effect, true, "to"},
	}
	tools := Tools(Options{})
	if len(tools) != len(want) {
		t.Errorf("%d tools", len(tools))
	}
	for _, tl := range tools {
		w, d := want[tl.Name], tl.Policy
		if d.Class != w.class || d.Egress() != w.egress || strings.Join(d.Sensitive, " ") != w.sensitive || len(d.MayCarry) > 0 || d.Labelled {
			t.Errorf("%s: %+v", tl.Name, d)
		}
		if b, ok := table[tl.Name]; !ok || b.Class != d.Class {
			t.Errorf("%s is not in the table", tl.Name)
		}
	}
}

func TestParseBackend(t *testing.T) {
	for _, b := range []Backend{Stub, Fake} {
		if got, err := ParseBackend(b.String()); err != nil || got != b {
			t.Errorf("%v: %v, %v", b, got, err)
		}
	}
	for _, s := range []string{"", "Fake", "real", "stub "} {
		if b, err := ParseBackend(s); err == nil || b != Stub {
			t.Errorf("%q: %v, %v", s, b, err)
		}
	}
}
