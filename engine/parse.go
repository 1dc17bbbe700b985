package engine

import (
	"errors"
	"strings"

	"github.com/pinfold-dev/pinfold/value"
)

// parseOutput reads the text of a state with parse: one JSON value, in a code
// fence or bare (LANGUAGE.md §6).
func parseOutput(text string) (value.Value, error) {
	return value.ParseJSON([]byte(stripFence(strings.TrimSpace(text))))
}

func stripFence(s string) string {
	ticks := len(s) - len(strings.TrimLeft(s, "`"))
	if ticks < 3 {
		return s
	}
	body := s[ticks:]
	if at := strings.IndexByte(body, '\n'); at >= 0 {
		body = body[at+1:] // the info word goes with its line
	}
	body = strings.TrimSpace(body)
	if shut := strings.TrimRight(body, "`"); len(body)-len(shut) >= ticks {
		body = shut
	}
	return strings.TrimSpace(body)
}

func errNotList(k value.Kind) error {
	return errors.New("expected an array, found a " + kindName(k))
}
