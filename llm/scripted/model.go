package scripted

import (
	"bytes"
	"context"
	"strings"
	"sync"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/llm"
)

// Model is a Cursor as an llm.Model. Calls are answered in the order in which
// they arrive: concurrent callers and lists don't mix.
type Model struct {
	mu     sync.Mutex
	cursor Cursor
	tail   tail
}

// New is a model at the beginning of s.
func New(s *Script) *Model { return &Model{cursor: s.Cursor()} }

var _ llm.Model = (*Model)(nil)

// Produce answers from the script. It builds the user message only where the
// script is keyed by it.
func (m *Model) Produce(ctx context.Context, p fence.Rendered, o llm.Options) (llm.Reply, error) {
	if err := cancelled(ctx); err != nil {
		return llm.Reply{}, err
	}
	user := ""
	if m.cursor.NeedsUser() { // reads the script alone, which nobody changes
		user = p.User()
	}
	m.mu.Lock()
	reply, err := m.cursor.ProduceText(user)
	m.mu.Unlock()
	if err == nil && o.Reason {
		reply.Reasoning = Thought
	}
	return reply, err
}

// Judge answers from the script. A prompt does not carry the number of its
// conditions, so it is read from the message's last line, which the engine
// writes and no outside text can: it ends with the number of the none entry
// (LANGUAGE.md §10.1). A driver that knows the number calls Cursor.JudgeN.
func (m *Model) Judge(ctx context.Context, p fence.Rendered, o llm.Options) (llm.Reply, error) {
	if err := cancelled(ctx); err != nil {
		return llm.Reply{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tail.reset()
	if _, err := p.WriteUser(&m.tail); err != nil {
		return llm.Reply{}, &llm.Error{Kind: llm.KindScript, Message: "judge prompt: " + err.Error(), Err: err}
	}
	last, ok := m.tail.lastNumber()
	if !ok || last < 2 {
		return llm.Reply{}, &llm.Error{Kind: llm.KindScript, Message: "judge prompt: the last line does not end with the number of the last choice"}
	}
	return m.cursor.JudgeN(last - 1), nil
}

func cancelled(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &llm.Error{Kind: llm.KindCancelled, Message: "cancelled", Err: err}
	}
	return nil
}

// tail keeps the end of what is written to it, so that a judge prompt of any
// size is read without being built.
type tail struct {
	b [128]byte
	n int
}

func (t *tail) reset() { t.n = 0 }

func (t *tail) Write(p []byte) (int, error) {
	t.push(len(p), func(dst []byte, from int) { copy(dst, p[from:]) })
	return len(p), nil
}

// WriteString spares the writer of strings a copy.
func (t *tail) WriteString(s string) (int, error) {
	t.push(len(s), func(dst []byte, from int) { copy(dst, s[from:]) })
	return len(s), nil
}

func (t *tail) push(n int, fill func(dst []byte, from int)) {
	if n >= len(t.b) {
		fill(t.b[:], n-len(t.b))
		t.n = len(t.b)
		return
	}
	if over := t.n + n - len(t.b); over > 0 {
		copy(t.b[:], t.b[over:t.n])
		t.n -= over
	}
	fill(t.b[t.n:t.n+n], 0)
	t.n += n
}

// lastNumber is the run of digits that ends the last line that is not blank.
func (t *tail) lastNumber() (int, bool) {
	b := bytes.TrimRight(t.b[:t.n], " \t\r\n.")
	line := b[bytes.LastIndexByte(b, '\n')+1:]
	end := len(line)
	start := end
	for start > 0 && '0' <= line[start-1] && line[start-1] <= '9' {
		start--
	}
	if start == end || end-start > 6 {
		return 0, false
	}
	n := 0
	for _, c := range line[start:end] {
		n = n*10 + int(c-'0')
	}
	return n, true
}

// ParseVerdict reads an entry of a judge list that is a word: none, in any case.
func ParseVerdict(word string) (Verdict, bool) {
	if strings.EqualFold(word, "none") {
		return None(), true
	}
	return Verdict{}, false
}
