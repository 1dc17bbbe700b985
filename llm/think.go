package llm

import "strings"

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// SplitThink moves one leading <think>…</think> block out of text
// (LANGUAGE.md §9). An adapter calls it for a produce that asked for reasoning
// when the provider returned none apart from the text. Both parts come back
// trimmed. A text that does not begin with a block, or whose block is never
// closed, comes back as it is with ok false: cutting an unclosed block would
// guess where the answer begins.
func SplitThink(text string) (reasoning, rest string, ok bool) {
	t := strings.TrimSpace(text)
	if !strings.HasPrefix(t, thinkOpen) {
		return "", text, false
	}
	reasoning, rest, ok = strings.Cut(t[len(thinkOpen):], thinkClose)
	if !ok {
		return "", text, false
	}
	return strings.TrimSpace(reasoning), strings.TrimSpace(rest), true
}
