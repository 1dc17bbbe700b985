// Package llmtest is the suite that every adapter to a model must pass
// (LANGUAGE.md §11), and the local endpoint that it runs against.
//
// The endpoint speaks chat completions and is strict where real ones are lax: a
// request that is not exactly right is refused and noted. It never reads a
// prompt for meaning, beyond telling a judge call from a produce, and it listens
// where it is told to and nowhere else.
//
//	func TestContract(t *testing.T) {
//		llmtest.Test(t, func(t *testing.T, s *llmtest.Server) llm.Model {
//			m, err := openai.New(openai.Config{BaseURL: s.URL(), Key: s.Key, Sleep: s.Sleep, Jitter: s.Jitter, Now: s.Now})
//			…
//		})
//	}
//
// As an endpoint of its own:
//
//	s := &llmtest.Server{Brain: llmtest.Obedient{Text: "done", Choice: 1}}
//	err := s.Start("127.0.0.1:8080")
package llmtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pinfold-dev/pinfold/value"
)

// Request is one request as it came.
type Request struct {
	System, User string
	Model        string
	Body         value.Value // all of it
	Raw          string
	Authorized   bool // with the server's key, or without one where the server has none
}

// Choices is the number of the last entry of a judge call; false for a produce.
func (r Request) Choices() (int, bool) {
	lines := strings.Split(strings.TrimSpace(r.User), "\n")
	last := lines[len(lines)-1]
	if !strings.Contains(last, `{"choice"`) {
		return 0, false
	}
	n, digits := 0, false
	for _, c := range last {
		switch {
		case '0' <= c && c <= '9':
			if !digits {
				n = 0
			}
			n, digits = min(n*10+int(c-'0'), 1_000_000), true
		default:
			digits = false
		}
	}
	return n, n > 0
}

// Server is the endpoint. Set its fields before Start. Its methods are safe for
// concurrent use.
type Server struct {
	// Key that a request must carry; "" refuses a request that carries one.
	Key string
	// Extra names request keys that are taken beside those of chat completions.
	Extra []string
	// Brain answers when nothing was pushed; nil refuses.
	Brain Brain
	// Clock is the time of Now; the zero time stands still at 2026-01-01.
	Clock time.Time
	// JitterValue is what Jitter gives: 0 is the shortest wait.
	JitterValue float64

	mu       sync.Mutex
	queue    []Behaviour
	requests []Request
	faults   []error
	waits    []time.Duration
	http     *http.Server
	listener net.Listener
}

// Start listens at addr, "127.0.0.1:0" for any port of this host.
func (s *Server) Start(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("llmtest: %w", err)
	}
	s.listener = l
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go s.http.Serve(l) //nolint:errcheck // it always ends with ErrServerClosed
	return nil
}

// URL is the base URL of a started server, without a slash at the end.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/v1" }

// Close stops the server and cuts its connections.
func (s *Server) Close() error { return s.http.Close() }

// Push queues answers; each answers one request.
func (s *Server) Push(b ...Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, b...)
}

// Requests are the requests so far, refused ones included.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Pending is the number of pushed answers that no request has taken.
func (s *Server) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue)
}

// Fault joins what was wrong with requests so far.
func (s *Server) Fault() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.faults...)
}

// Sleep stands in for an adapter's waiting: it notes the wait and does not wait,
// unless ctx has ended.
func (s *Server) Sleep(ctx context.Context, d time.Duration) error {
	s.mu.Lock()
	s.waits = append(s.waits, d)
	s.mu.Unlock()
	return ctx.Err()
}

// Waits are the waits that Sleep noted.
func (s *Server) Waits() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.waits)
}

// Jitter stands in for an adapter's random source.
func (s *Server) Jitter() float64 { return s.JitterValue }

// Now stands in for an adapter's clock.
func (s *Server) Now() time.Time {
	if s.Clock.IsZero() {
		return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return s.Clock
}

const maxRequest = 64 << 20

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	req := Request{Raw: string(body)}
	if err == nil {
		err = s.read(r, &req)
	}
	b, ok := s.take(req, err)
	switch {
	case err != nil:
		b = Status(http.StatusBadRequest, "llmtest: "+err.Error())
		if !req.Authorized {
			b.Status = http.StatusUnauthorized
		}
	case ok:
	case s.Brain != nil:
		b = s.Brain.Answer(req)
	default:
		b = Status(http.StatusTeapot, "llmtest: nothing was pushed for this request")
	}
	b.serve(w, r)
}

// take notes a request and what is wrong with it, and gives the next pushed answer.
func (s *Server) take(req Request, fault error) (Behaviour, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	if fault != nil {
		s.faults = append(s.faults, fmt.Errorf("request %d: %w", len(s.requests), fault))
		return Behaviour{}, false
	}
	if len(s.queue) == 0 {
		if s.Brain == nil {
			s.faults = append(s.faults, fmt.Errorf("request %d: nothing was pushed for it", len(s.requests)))
		}
		return Behaviour{}, false
	}
	b := s.queue[0]
	s.queue = s.queue[1:]
	return b, true
}

func (b Behaviour) serve(w http.ResponseWriter, r *http.Request) {
	if b.Delay > 0 {
		timer := time.NewTimer(b.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return
		}
	}
	if b.Reset || b.HalfHeader {
		before := ""
		if b.HalfHeader {
			before = "HTTP/1.1 200 OK\r\nContent-Ty"
		}
		cut(w, before)
		return
	}
	for key, values := range b.Header {
		w.Header()[key] = values
	}
	contentType := b.ContentType
	if contentType == "" {
		contentType = "application/json"
	}
	w.Header().Set("Content-Type", contentType)
	status := b.Status
	if status == 0 {
		status = http.StatusOK
	}
	body := b.Body
	size := int64(len(body)) + b.Pad
	if b.Torn {
		size++
		body = body[:len(body)/2]
	}
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	w.WriteHeader(status)
	if _, err := io.WriteString(w, body); err != nil {
		return
	}
	if b.Pad > 0 {
		space := strings.Repeat(" ", 1<<20)
		for left := b.Pad; left > 0; left -= int64(len(space)) {
			if _, err := io.WriteString(w, space[:min(left, int64(len(space)))]); err != nil {
				return
			}
		}
	}
	if b.Torn {
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		cut(w, "")
	}
}

// cut closes the connection, after some raw bytes.
func cut(w http.ResponseWriter, before string) {
	h, ok := w.(http.Hijacker)
	if !ok {
		return
	}
	conn, _, err := h.Hijack()
	if err != nil {
		return
	}
	if before != "" {
		_, _ = io.WriteString(conn, before)
	} else if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a reset, not an orderly end
	}
	_ = conn.Close()
}
