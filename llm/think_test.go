package llm

import "testing"

func TestSplitThink(t *testing.T) {
	for _, c := range []struct {
		text, reasoning, rest string
		ok                    bool
	}{
		{"<think>a</think>b", "a", "b", true},
		{" \n<think>\n a \n</think>\n\nb ", "a", "b", true},
		{"<think></think>b", "", "b", true},
		{"<think>a</think>", "a", "", true},
		{"<think>a</think><think>b</think>c", "a", "<think>b</think>c", true}, // one block
		{"<think>a<think>b</think>c</think>d", "a<think>b", "c</think>d", true},
		{"x<think>a</think>b", "", "x<think>a</think>b", false}, // not leading
		{"<think>a", "", "<think>a", false},                     // never closed
		{"<THINK>a</THINK>b", "", "<THINK>a</THINK>b", false},   // as the models write it
		{"<thinking>a</thinking>", "", "<thinking>a</thinking>", false},
		{"", "", "", false},
		{" b ", "", " b ", false},
	} {
		reasoning, rest, ok := SplitThink(c.text)
		if reasoning != c.reasoning || rest != c.rest || ok != c.ok {
			t.Errorf("%q: %q, %q, %v", c.text, reasoning, rest, ok)
		}
	}
}
