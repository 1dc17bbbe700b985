package builtin

import (
	"slices"
	"sync"
)

// Message is a reply that the fake mail backend was given.
type Message struct{ To, Body string }

// Outbox keeps the messages of the fake mail backend in order. The zero Outbox
// is empty and ready to use; a nil one keeps nothing. It is safe for concurrent use.
type Outbox struct {
	mu       sync.Mutex
	messages []Message
}

func (o *Outbox) add(m Message) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.messages = append(o.messages, m)
}

// Messages is a copy of what was sent so far.
func (o *Outbox) Messages() []Message {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.messages)
}
