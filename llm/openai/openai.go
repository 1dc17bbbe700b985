// Package openai carries rendered prompts to chat completions, on any endpoint
// that is compatible with them (LANGUAGE.md §11).
//
// It decides nothing about a reply's meaning, executes no tool call, follows no
// redirect, and never shows the key: not in an error, not in a log.
//
//	m, err := openai.New(openai.Config{BaseURL: "http://127.0.0.1:8080/v1"})
//	reply, err := m.Produce(ctx, rendered, llm.Options{Model: "m", Temperature: 0.4})
//
// It stands on net/http and not on the provider's own client library. That one
// costs 23 MB of binary, 3.5 ms of every process start and 6.5 MB of memory
// (measured, of the 12 ms and 32 MiB that the command has in all), and more of
// the awkward answers in §11 had to be read around it than with it: error bodies
// under status 200, bodies of another content type, a cap on the body, parts
// where text was expected, which wait a retry takes, whether the first byte came.
package openai

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/llm"
)

// Config of a Model. BaseURL is required; the zero value of everything else works.
type Config struct {
	// BaseURL is what "/chat/completions" is appended to: http or https.
	BaseURL string
	// Key goes out as a bearer token; "" sends none.
	Key string
	// Provider is the name of the provider, for its quirks and in messages.
	Provider string
	// Where says where the model ids are configured, for messages about them.
	Where string
	// Timeout bounds the wait for the first byte of an answer; 0 is 10 minutes.
	Timeout time.Duration

	// Log is told about retries and dropped parameters; nil is silent.
	Log *slog.Logger
	// Sleep waits between attempts, until ctx ends; nil waits for real.
	Sleep func(ctx context.Context, d time.Duration) error
	// Jitter gives numbers from 0 up to 1; nil draws them.
	Jitter func() float64
	// Now is the time that a Retry-After date is measured from; nil is the clock.
	Now func() time.Time
}

// Model is one endpoint. It is safe for concurrent use.
type Model struct {
	Config
	url    string
	client *http.Client
}

var _ llm.Model = (*Model)(nil)

// New checks the configuration. It opens no connection.
func New(c Config) (*Model, error) {
	u, err := url.Parse(c.BaseURL)
	switch {
	case err != nil:
		// The text of the error holds the URL, which may hold a password.
		return nil, errors.New("base_url: it is no URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("base_url: expected http://… or https://…, found %q", u.Redacted())
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("base_url: expected no query and no fragment, found %q", u.Scheme+"://"+u.Host+u.Path)
	}
	if strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, errors.New("key: it holds white space or characters that no header can carry")
	}
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Minute
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	if c.Jitter == nil {
		c.Jitter = rand.Float64
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		ResponseHeaderTimeout: c.Timeout,
		TLSHandshakeTimeout:   10 * time.Second,
		MaxIdleConnsPerHost:   16, // a fan-out calls one host
		IdleConnTimeout:       90 * time.Second,
		ForceAttemptHTTP2:     true,
	}
	return &Model{
		Config: c,
		url:    strings.TrimRight(c.BaseURL, "/") + "/chat/completions",
		client: &http.Client{
			Transport: t,
			// A prompt goes where the operator sends it and nowhere else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Produce asks for text.
func (m *Model) Produce(ctx context.Context, p fence.Rendered, o llm.Options) (llm.Reply, error) {
	return m.do(ctx, p, o, false)
}

// Judge asks for a verdict. Params are not used.
func (m *Model) Judge(ctx context.Context, p fence.Rendered, o llm.Options) (llm.Reply, error) {
	return m.do(ctx, p, o, true)
}

func (m *Model) do(ctx context.Context, p fence.Rendered, o llm.Options, judge bool) (llm.Reply, error) {
	if !p.Valid() {
		return llm.Reply{}, provider("the prompt was not rendered")
	}
	req, e := m.request(p, o, judge)
	if e != nil {
		return llm.Reply{}, m.shown(e)
	}
	a, f := m.exchange(ctx, req)
	if f != nil {
		e := m.shown(f.err)
		if f.theirs {
			m.hint(e, o.Model)
		}
		return llm.Reply{Dropped: req.dropped}, e
	}
	reply, e := a.reply(p, o, judge)
	reply.Dropped = req.dropped
	if e != nil {
		return reply, m.shown(e)
	}
	return reply, nil
}

func provider(format string, args ...any) *llm.Error {
	return &llm.Error{Kind: llm.KindProvider, Message: fmt.Sprintf(format, args...)}
}

// shown makes an error fit to be shown: without the key and on one line.
func (m *Model) shown(e *llm.Error) *llm.Error {
	e.Message = oneLine(m.redact(e.Message)) // in this order: a cut key would not be found
	return e
}

// hint names the configured model in a provider's message that is about it.
func (m *Model) hint(e *llm.Error, model string) {
	lower := strings.ToLower(e.Message)
	if e.Kind != llm.KindProvider || !strings.Contains(lower, "model") && !strings.Contains(lower, "not found") {
		return
	}
	where := ""
	if m.Where != "" {
		where = " in " + m.Where
	}
	e.Message += fmt.Sprintf(" (configured model: %q%s)", model, where)
}

func (m *Model) redact(s string) string {
	if m.Key != "" {
		s = strings.ReplaceAll(s, m.Key, "[key]")
	}
	return s
}

// maxMessage bounds a provider's message, in characters.
const maxMessage = 500

// oneLine puts text on one line without control characters and bounds it.
func oneLine(s string) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range s {
		if r <= ' ' || r >= 0x7f && r <= 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff' {
			space = b.Len() > 0
			continue
		}
		if n >= maxMessage {
			return b.String() + "…"
		}
		if space {
			b.WriteByte(' ')
			space = false
			n++
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
