package llmtest

import (
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/value"
)

// read checks a request to the letter and takes it apart.
func (s *Server) read(r *http.Request, req *Request) error {
	auth := r.Header.Values("Authorization")
	switch {
	case s.Key == "":
		req.Authorized = len(auth) == 0
	default:
		req.Authorized = len(auth) == 1 && auth[0] == "Bearer "+s.Key
	}
	if !req.Authorized {
		return fmt.Errorf("authorization: expected one bearer key, the server's, or none where it has none; found %d headers", len(auth))
	}
	if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" || r.URL.RawQuery != "" {
		return fmt.Errorf("expected POST /v1/chat/completions, found %s %s", r.Method, r.URL)
	}
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" || params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8") {
		return fmt.Errorf("content type: expected application/json, found %q", r.Header.Get("Content-Type"))
	}
	body, err := value.ParseJSON([]byte(req.Raw)) // duplicate keys and bytes after it are errors
	if err != nil {
		return fmt.Errorf("body: %w", err)
	}
	if body.Kind() != value.Map {
		return fmt.Errorf("body: expected an object")
	}
	req.Body = body
	for i := range body.Len() {
		if err := s.key(body.Key(i), body.At(i), req); err != nil {
			return fmt.Errorf("body: %s: %w", body.Key(i), err)
		}
	}
	if req.Model == "" {
		return fmt.Errorf("body: model is missing")
	}
	if _, ok := body.Get("messages"); !ok {
		return fmt.Errorf("body: messages is missing")
	}
	return nil
}

func (s *Server) key(name string, v value.Value, req *Request) error {
	between := func(low, high float64) error {
		if f, ok := v.AsFloat(); !ok || f < low || f > high {
			return fmt.Errorf("expected a number from %v to %v, found %s", low, high, v.JSON())
		}
		return nil
	}
	switch name {
	case "model":
		m, ok := v.AsString()
		if !ok || strings.TrimSpace(m) == "" {
			return fmt.Errorf("expected text, found %s", v.JSON())
		}
		req.Model = m
	case "messages":
		return messages(v, req)
	case "temperature":
		return between(0, 2)
	case "top_p":
		return between(0, 1)
	case "max_tokens", "max_completion_tokens":
		if n, ok := v.AsInt(); !ok || n < 1 {
			return fmt.Errorf("expected a positive integer, found %s", v.JSON())
		}
	case "seed":
		if _, ok := v.AsInt(); !ok {
			return fmt.Errorf("expected an integer, found %s", v.JSON())
		}
	case "reasoning_effort":
		if effort, ok := v.AsString(); !ok || effort == "" {
			return fmt.Errorf("expected text, found %s", v.JSON())
		}
	case "response_format":
		t, _ := v.Get("type")
		if kind, _ := t.AsString(); kind != "json_object" || v.Len() != 1 {
			return fmt.Errorf("expected a JSON object, found %s", v.JSON())
		}
		// A known rule of the original: the word must stand in a message.
		if !strings.Contains(req.Raw, "JSON") {
			return fmt.Errorf("a JSON object is asked for and no message says so")
		}
	case "stream":
		if on, ok := v.AsBool(); !ok || on {
			return fmt.Errorf("this server does not stream")
		}
	default:
		if !slices.Contains(s.Extra, name) {
			return fmt.Errorf("unknown key")
		}
	}
	return nil
}

// messages takes an optional system message and one user message, both text.
func messages(v value.Value, req *Request) error {
	var roles []string
	for i := range v.Len() {
		m := v.At(i)
		r, _ := m.Get("role")
		c, _ := m.Get("content")
		role, ok := r.AsString()
		content, isText := c.AsString()
		if v.Kind() != value.List || !ok || !isText || m.Len() != 2 {
			return fmt.Errorf("message %d: expected a role and a text, found %s", i, m.JSON())
		}
		roles = append(roles, role)
		switch role {
		case "system":
			req.System = content
		case "user":
			req.User = content
		}
	}
	if !slices.Equal(roles, []string{"system", "user"}) && !slices.Equal(roles, []string{"user"}) {
		return fmt.Errorf("expected a system and a user message, found %q", roles)
	}
	return nil
}
