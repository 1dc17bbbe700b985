package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pinfold-dev/pinfold/llm"
	"github.com/pinfold-dev/pinfold/value"
)

const (
	maxBody     = 64 << 20
	retries     = 3
	firstWait   = 500 * time.Millisecond
	longestWait = 60 * time.Second
	// absurdWait is a Retry-After that nobody means.
	absurdWait = 24 * time.Hour
)

// answer is a 2xx body that is JSON and no error.
type answer struct{ body value.Value }

// exchange sends the request until there is an answer, an error that repeating
// does not cure, or no retry left.
func (m *Model) exchange(ctx context.Context, r *request) (answer, *failure) {
	for used := 0; ; {
		a, f := m.attempt(ctx, r.body())
		if f == nil {
			return a, nil
		}
		if ctx.Err() != nil {
			return answer{}, &failure{err: cancelled(ctx)}
		}
		if f.parameter && r.drop(f.err.Message, f.param) {
			m.Log.LogAttrs(ctx, slog.LevelWarn, "the provider refused a parameter; repeating without it",
				slog.String("provider", m.Provider), slog.String("parameter", r.dropped[len(r.dropped)-1]))
			continue
		}
		if !f.retry || used == retries {
			return answer{}, f
		}
		wait := m.wait(used, f.after)
		used++
		m.Log.LogAttrs(ctx, slog.LevelInfo, "repeating a call",
			slog.String("provider", m.Provider), slog.Int("status", f.err.Status), slog.Duration("wait", wait), slog.Int("attempt", used+1))
		if err := m.Sleep(ctx, wait); err != nil || ctx.Err() != nil {
			return answer{}, &failure{err: cancelled(ctx)}
		}
	}
}

// failure is why an attempt gave no answer, and what may be done about it.
type failure struct {
	err       *llm.Error
	retry     bool
	after     string // Retry-After
	parameter bool   // a parameter may be to blame
	param     string // the one that the provider names apart, ""
	theirs    bool   // the message is the provider's own
}

func cancelled(ctx context.Context) *llm.Error {
	err := ctx.Err()
	if err == nil {
		err = context.Canceled
	}
	return &llm.Error{Kind: llm.KindCancelled, Message: "cancelled", Err: err}
}

func (m *Model) attempt(ctx context.Context, body []byte) (answer, *failure) {
	var first atomic.Bool // whether a byte of the answer came
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: func() { first.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return answer{}, &failure{err: provider("%v", cause(err))}
	}
	req.GetBody = nil // the transport repeats nothing by itself
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "pinfold")
	if m.Key != "" {
		req.Header.Set("Authorization", "Bearer "+m.Key)
	}
	resp, err := m.client.Do(req)
	if err != nil {
		return answer{}, &failure{err: &llm.Error{Kind: llm.KindProvider, Message: "no answer: " + cause(err).Error(), Err: cause(err)}, retry: !first.Load()}
	}
	defer resp.Body.Close()
	var buf bytes.Buffer
	buf.Grow(int(min(max(resp.ContentLength, 4096), 1<<20)) + bytes.MinRead) // a header allocates no more than this
	_, err = buf.ReadFrom(io.LimitReader(resp.Body, maxBody+1))
	raw := buf.Bytes()
	if err != nil {
		// Part of an answer was used up: the call has cost and may have been answered.
		return answer{}, &failure{err: &llm.Error{Kind: llm.KindProvider, Message: "the answer broke off: " + cause(err).Error(), Status: resp.StatusCode, Err: cause(err)}}
	}
	if len(raw) > maxBody {
		return answer{}, &failure{err: &llm.Error{Kind: llm.KindProvider, Message: fmt.Sprintf("the answer is larger than %d MiB", maxBody>>20), Status: resp.StatusCode}}
	}
	return read(resp.StatusCode, resp.Header.Get("Retry-After"), raw)
}

// cause is the error without the URL that the client puts around it: a URL may
// hold what must not be shown.
func cause(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// read tells an answer from an error, by status and by content.
func read(status int, after string, raw []byte) (answer, *failure) {
	v, err := value.ParseJSON(raw)
	if 200 <= status && status < 300 {
		if err != nil {
			return answer{}, &failure{err: provider("the answer is not JSON: %v", err)}
		}
		fault, ok := v.Get("error")
		if v.Kind() != value.Map {
			return answer{}, &failure{err: provider("the answer is no JSON object")}
		}
		if !ok || fault.IsNull() {
			return answer{v}, nil
		}
	} else if err != nil {
		v = value.Value{}
	}
	e := errorOf(v)
	f := &failure{
		err:       &llm.Error{Kind: llm.KindProvider, Message: e.message, Status: status},
		theirs:    true,
		after:     after,
		param:     e.param,
		parameter: status == http.StatusBadRequest || status == http.StatusUnprocessableEntity,
		retry:     retried(status) || status < 300 && e.overloaded(),
	}
	if strings.TrimSpace(f.err.Message) == "" {
		f.err.Message, f.theirs = strings.TrimSpace("an error without a message "+http.StatusText(status)), false
	}
	if e.refused() {
		f.err.Kind = llm.KindRefusal
		f.retry, f.parameter = false, false
	}
	return answer{}, f
}

func retried(status int) bool {
	switch status {
	case 408, 409, 429, 500, 502, 503, 504, 529:
		return true
	}
	return false
}

// fault is what an error body says, in the shapes that endpoints use:
// {"error": {message, type, code, param}}, {"error": "…"}, {"message": "…"},
// {"detail": "…"}.
type fault struct {
	message, kind, code, param string
}

func errorOf(v value.Value) fault {
	var f fault
	e, _ := v.Get("error")
	if s, ok := e.AsString(); ok {
		f.message = s
		e = v
	} else if e.Kind() != value.Map {
		e = v
	}
	word := func(key string) string {
		x, _ := e.Get(key)
		if x.Kind() == value.Int {
			return x.JSON()
		}
		s, _ := x.AsString()
		return s
	}
	if f.message == "" {
		f.message = word("message")
	}
	if f.message == "" {
		f.message = word("detail")
	}
	f.kind, f.code, f.param = word("type"), word("code"), word("param")
	return f
}

// overloaded recognises an overload or rate error that came with status 200.
func (f fault) overloaded() bool {
	if n, err := strconv.Atoi(f.code); err == nil && retried(n) {
		return true
	}
	s := strings.ToLower(f.kind + " " + f.code + " " + f.message)
	for _, word := range []string{"overload", "rate_limit", "rate limit", "too many requests", "too_many_requests"} {
		if strings.Contains(s, word) {
			return true
		}
	}
	return false
}

// refused recognises a content filter's error.
func (f fault) refused() bool {
	for _, s := range []string{f.kind, f.code} {
		switch strings.ToLower(s) {
		case "content_filter", "content_policy_violation", "refusal":
			return true
		}
	}
	return false
}

// wait is the time before the repeat after n earlier ones: what the provider
// asks for when it is sane, else 0.5, 1, 2 s give or take a quarter.
func (m *Model) wait(n int, after string) time.Duration {
	if d, ok := retryAfter(after, m.Now()); ok {
		return d
	}
	return time.Duration(float64(firstWait<<n) * (0.75 + 0.5*m.Jitter()))
}

// retryAfter reads the header, seconds or a date. What is negative, past, absurd
// or unreadable is not followed.
func retryAfter(s string, now time.Time) (time.Duration, bool) {
	var d time.Duration
	s = strings.TrimSpace(s)
	if seconds, err := strconv.ParseUint(s, 10, 32); err == nil {
		d = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(s); err == nil {
		d = at.Sub(now)
	} else {
		return 0, false
	}
	if d < 0 || d > absurdWait {
		return 0, false
	}
	return min(d, longestWait), true
}
