package value

import (
	"strings"
	"testing"
)

func TestParseDocument(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	for n, want := range map[int][2]bool{100: {true, true}, 101: {false, true}, 200: {false, true}, 201: {false, false}} {
		_, err := ParseJSON(nested(n))
		_, doc := ParseDocument(nested(n))
		if (err == nil) != want[0] || (doc == nil) != want[1] {
			t.Errorf("%d levels: ParseJSON %v, ParseDocument %v", n, err, doc)
		}
	}
}
