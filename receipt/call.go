package receipt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/fence"
)

// Call is what a sink keeps of a whole call, beside its rows: how long its messages are,
// and by what their beginning is known again. Providers keep the beginning of a prompt;
// of two calls only what stands before the nonce can be the same, so that is what is
// digested. The nonce is not kept, and neither is any text.
type Call struct {
	CallID      string
	SystemBytes int
	UserBytes   int
	// Prefix is of the messages as one text, the system message first: at 64 bytes, twice
	// that and so on, and where the first nonce stands, or the text ends.
	Prefix []Mark
	Time   time.Time
}

// Mark is the digest of that many bytes from the beginning.
type Mark struct {
	Bytes  int
	SHA256 string // the first 16 hex digits: enough to know it again
}

// firstMark is where the first mark is: no provider keeps less.
const firstMark = 64

// NewCall is the record of a call. It costs a digest of what stands before the nonce.
func NewCall(call CallID, r fence.Rendered, at time.Time) Call {
	c := Call{CallID: call.String(), SystemBytes: r.SystemLen(), UserBytes: r.UserLen(), Time: at.UTC()}
	m := marks{h: sha256.New(), next: firstMark}
	if m.add(r.System(), r.Nonce()) {
		m.add(r.User(), r.Nonce())
	}
	m.mark()
	c.Prefix = m.all
	return c
}

type marks struct {
	h    hash.Hash
	n    int // bytes so far
	next int
	all  []Mark
}

// add digests a message up to the nonce, and says whether it is not in it.
func (m *marks) add(text, nonce string) bool {
	whole := true
	if nonce != "" {
		text, _, whole = strings.Cut(text, nonce)
		whole = !whole
	}
	for text != "" {
		n := min(len(text), m.next-m.n)
		write(m.h, text[:n])
		m.n, text = m.n+n, text[n:]
		if m.n == m.next {
			m.mark()
			m.next *= 2
		}
	}
	return whole
}

// mark notes the digest of what there is so far.
func (m *marks) mark() {
	if m.n == 0 || len(m.all) > 0 && m.all[len(m.all)-1].Bytes == m.n {
		return
	}
	var sum [sha256.Size]byte
	m.all = append(m.all, Mark{m.n, hex.EncodeToString(m.h.Sum(sum[:0])[:8])})
}

// CallSink is a Sink that keeps a record of each call as well. Its two methods may be
// used at the same time.
type CallSink interface {
	Sink
	Call(ctx context.Context, call CallID, r fence.Rendered) error
}

// Keep gives a sink what there is to keep of one call, before it is made: its rows, and
// the record of the call where the sink keeps such records.
//
//	rendered, rows, err := fence.Render(prompt, nonces)
//	err = receipt.Keep(ctx, sink, receipt.CallID{Run: run, Effect: effect}, rendered, rows)
func Keep(ctx context.Context, s Sink, call CallID, r fence.Rendered, rows []fence.Row) error {
	if !r.Valid() {
		return fmt.Errorf("receipts: call %s: %w", call, fence.ErrNotRendered)
	}
	if err := s.Receipts(ctx, call, rows); err != nil {
		return err
	}
	if c, ok := s.(CallSink); ok {
		return c.Call(ctx, call, r)
	}
	return nil
}
