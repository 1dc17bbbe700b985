// Package jsonl writes receipts as JSON Lines (PROMPTS-AND-LANES.md), one line a row,
// and one a call where receipt.Keep is used, and reads them back.
//
// A line stays one line whatever a channel or an origin is called: line
// separators of every kind, controls and deletes are escaped. It never writes
// the text of a value, only its digest, and never rewrites what is in the file.
//
//	sink, err := jsonl.Open("receipts.jsonl", time.Now)
//	defer sink.Close()
package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/receipt"
)

// Sink writes to one writer. It is safe for concurrent use; the rows of a call
// are written together, in one Write.
type Sink struct {
	now func() time.Time

	mu     sync.Mutex
	w      io.Writer
	close  func() error
	buf    []byte
	failed error
}

var _ receipt.CallSink = (*Sink)(nil)

// New writes to w, with the time of now.
func New(w io.Writer, now func() time.Time) *Sink { return &Sink{w: w, now: now} }

// Open appends to the file at path. A new file can be read by its owner alone:
// receipts name keys and origins.
func Open(path string, now func() time.Time) (*Sink, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("receipts: %w", err)
	}
	s := New(f, now)
	s.close = f.Close
	return s, nil
}

// Receipts writes one line a row. It writes also when ctx has ended: the call is
// about to happen or has happened. After a failed write, which may have left half
// a line, every later call fails with the same error: a file with a hole in it
// must not look whole.
func (s *Sink) Receipts(_ context.Context, call receipt.CallID, rows []fence.Row) error {
	at := s.now()
	records := receipt.NewRecords(call, rows, at) // digests outside the lock
	return s.write(func(dst []byte) []byte {
		for i := range records {
			dst = append(Append(dst, &records[i]), '\n')
		}
		return dst
	})
}

// Call writes one line on the whole call.
func (s *Sink) Call(_ context.Context, call receipt.CallID, r fence.Rendered) error {
	c := receipt.NewCall(call, r, s.now())
	return s.write(func(dst []byte) []byte { return append(AppendCall(dst, &c), '\n') })
}

// write writes what lines appends.
func (s *Sink) write(lines func([]byte) []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	if s.buf = lines(s.buf[:0]); len(s.buf) == 0 {
		return nil
	}
	n, err := s.w.Write(s.buf)
	if err == nil && n < len(s.buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		s.failed = fmt.Errorf("receipts: %w", err)
	}
	return s.failed
}

// ErrClosed is what a closed sink gives.
var ErrClosed = errors.New("receipts: the sink is closed")

// Close closes the file that Open opened. The error is that of the last write
// where there was one.
func (s *Sink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(s.failed, ErrClosed) {
		return nil
	}
	err := s.failed
	s.failed = ErrClosed
	if s.close != nil {
		if cerr := s.close(); cerr != nil && err == nil {
			err = fmt.Errorf("receipts: %w", cerr)
		}
	}
	return err
}

// Append appends the JSON of one record, without a line end.
func Append(dst []byte, r *receipt.Record) []byte {
	dst = append(dst, '{')
	dst = text(dst, "channel", r.Channel)
	dst = text(dst, "kind", r.Kind)
	dst = text(dst, "origin", r.Origin)
	dst = text(dst, "trust", r.Trust)
	dst = boolean(dst, "fenced", r.Fenced)
	dst = text(dst, "level", r.Level)
	dst = boolean(dst, "authoritative", r.Authoritative)
	dst = boolean(dst, "admitted", r.Admitted)
	dst = boolean(dst, "required", r.Required)
	dst = text(dst, "fence_style", r.FenceStyle)
	dst = text(dst, "banner", r.Banner)
	dst = number(dst, "bytes_in", r.BytesIn)
	dst = number(dst, "bytes_out", r.BytesOut)
	dst = key(dst, "budget")
	if r.Budget.Set {
		dst = append(dst, '{')
		dst = number(dst, "max", r.Budget.Max)
		dst = text(dst, "unit", r.Budget.Unit.String())
		dst = append(dst, '}')
	} else {
		dst = append(dst, "null"...)
	}
	dst = boolean(dst, "truncated", r.Truncated)
	dst = boolean(dst, "dropped", r.Dropped)
	dst = boolean(dst, "altered", r.Altered)
	dst = number(dst, "invisible", r.Invisible)
	dst = number(dst, "position", r.Position)
	dst = text(dst, "sha256", r.SHA256)
	dst = text(dst, "call_id", r.CallID)
	return at(dst, r.Time)
}

// AppendCall appends the JSON of a record of a call, without a line end.
func AppendCall(dst []byte, c *receipt.Call) []byte {
	dst = append(dst, '{')
	dst = text(dst, "call_id", c.CallID)
	dst = number(dst, "system_bytes", c.SystemBytes)
	dst = number(dst, "user_bytes", c.UserBytes)
	dst = append(key(dst, "prefix"), '[')
	for i, m := range c.Prefix {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, '{')
		dst = number(dst, "bytes", m.Bytes)
		dst = text(dst, "sha256", m.SHA256)
		dst = append(dst, '}')
	}
	return at(append(dst, ']'), c.Time)
}

// at ends a line with its time.
func at(dst []byte, t time.Time) []byte {
	dst = append(key(dst, "time"), '"')
	dst = t.UTC().AppendFormat(dst, time.RFC3339Nano)
	return append(dst, '"', '}')
}

func key(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ", "...)
	}
	dst = append(dst, '"')
	dst = append(dst, name...)
	return append(dst, `": `...)
}

func boolean(dst []byte, name string, b bool) []byte { return strconv.AppendBool(key(dst, name), b) }

func number(dst []byte, name string, n int) []byte {
	return strconv.AppendInt(key(dst, name), int64(n), 10)
}

// text writes a string so that no reader of lines sees a line end in it.
func text(dst []byte, name, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(key(dst, name), '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			if c == '"' || c == '\\' {
				dst = append(dst, '\\', c)
			} else {
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if (r != utf8.RuneError || size > 1) && r > 0x9f && r != '\u2028' && r != '\u2029' {
			i += size
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		i += size
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}
