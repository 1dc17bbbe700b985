package run

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"
)

// entropy is the operating system's CSPRNG, read some calls' worth at a time: one
// system call serves a small run. Bytes are handed out once and wiped: a nonce is
// never used again. It is safe for concurrent use.
type entropy struct {
	mu   sync.Mutex
	left int
	buf  [96]byte
}

func (e *entropy) Read(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for n < len(p) {
		if e.left == 0 {
			if _, err := rand.Read(e.buf[:]); err != nil {
				return n, err
			}
			e.left = len(e.buf)
		}
		k := copy(p[n:], e.buf[len(e.buf)-e.left:])
		clear(e.buf[len(e.buf)-e.left:][:k])
		e.left -= k
		n += k
	}
	return n, nil
}

func (c *Config) newID() (string, error) {
	if c.NewID != nil {
		return c.NewID()
	}
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(b[:]), nil
}

// expiry is when an approval that is asked for now stops being good.
func (c *Config) expiry() string {
	now, ttl := time.Now, c.ApprovalTTL
	if c.Clock != nil {
		now = c.Clock
	}
	if ttl <= 0 {
		ttl = DefaultApprovalTTL
	}
	return now().Add(ttl).UTC().Format(time.RFC3339)
}
