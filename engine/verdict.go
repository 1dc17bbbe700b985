package engine

import (
	"strings"

	"github.com/pinfold-dev/pinfold/value"
)

// Method says how a judge's reply was read.
type Method string

const (
	MethodJSON       Method = "json"
	MethodBare       Method = "bare"
	MethodLastNumber Method = "last-number" // the lenient host switch
)

// ReadVerdict reads a judge's reply (LANGUAGE.md §10.3): the number it holds, or
// ok false when it is unparseable. Whether the number is in range is the
// caller's to see: it is never clamped. A number too large for an int comes
// back as the largest int.
func ReadVerdict(reply string, lenient bool) (choice int, method Method, ok bool) {
	s := strings.TrimSpace(reply)
	if c, ok := plainChoice(s); ok {
		return c, MethodJSON, true
	}
	s = unfence(withoutThinking(s))
	if n, ok := digits(s); ok {
		return n, MethodBare, true
	}
	if n, ok := choiceObject(s); ok {
		return n, MethodJSON, true
	}
	if lenient {
		if n, ok := lastNumber(s); ok {
			return n, MethodLastNumber, true
		}
	}
	return 0, "", false
}

// plainChoice reads the reply that nearly every judge gives, {"choice": 3},
// without building a value.
func plainChoice(s string) (int, bool) {
	const key = `{"choice":`
	if !strings.HasPrefix(s, key) || !strings.HasSuffix(s, "}") {
		return 0, false
	}
	n := strings.Trim(s[len(key):len(s)-1], " ")
	if len(n) > 1 && n[0] == '0' { // not JSON
		return 0, false
	}
	return digits(n)
}

func withoutThinking(s string) string {
	const open, shut = "<think>", "</think>"
	if !strings.HasPrefix(s, open) {
		return s
	}
	end := strings.Index(s, shut)
	if end < 0 {
		return s
	}
	return strings.TrimSpace(s[end+len(shut):])
}

// unfence takes what lies between a first line of three or more backticks with
// an optional info word and a last line of as many.
func unfence(s string) string {
	ticks := len(s) - len(strings.TrimLeft(s, "`"))
	if ticks < 3 {
		return s
	}
	first, rest, found := strings.Cut(s, "\n")
	if !found {
		return s
	}
	info := strings.TrimSpace(first[ticks:])
	if strings.ContainsAny(info, "` \t") {
		return s
	}
	at := strings.LastIndexByte(rest, '\n')
	last := rest[at+1:] // the whole rest when there is one line
	if strings.TrimRight(last, " \t\r") != s[:ticks] {
		return s
	}
	return strings.TrimSpace(rest[:max(at, 0)])
}

func digits(s string) (int, bool) {
	if s == "" {
		return 0, false
	}
	n := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		if n > (1<<62)/10 {
			n = 1<<63 - 1
			continue
		}
		if n != 1<<63-1 {
			n = n*10 + int(c-'0')
		}
	}
	return n, true
}

func choiceObject(s string) (int, bool) {
	if !strings.HasPrefix(s, "{") {
		return 0, false
	}
	v, err := value.ParseJSON([]byte(s))
	if err != nil || v.Kind() != value.Map {
		return 0, false
	}
	var choice value.Value
	found := false
	for i := range v.Len() {
		k := v.Key(i)
		switch {
		case k == "choice":
			choice, found = v.At(i), true
		case strings.EqualFold(k, "choice"):
			return 0, false
		}
	}
	if !found {
		return 0, false
	}
	switch choice.Kind() {
	case value.Int:
		return digits(choice.JSON()) // a sign makes it unparseable
	case value.String:
		t, _ := choice.AsString()
		return digits(t)
	}
	return 0, false
}

// lastNumber is the last run of ASCII digits, unless a minus stands right before it.
func lastNumber(s string) (int, bool) {
	end := strings.LastIndexAny(s, "0123456789") + 1
	if end == 0 {
		return 0, false
	}
	start := end
	for start > 0 && s[start-1] >= '0' && s[start-1] <= '9' {
		start--
	}
	if start > 0 && s[start-1] == '-' {
		return 0, false
	}
	return digits(s[start:end])
}
