package openai

import (
	"maps"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/llm"
	"github.com/pinfold-dev/pinfold/value"
)

// request is one call's body: what never changes, and the parameters that a
// provider may refuse.
type request struct {
	fixed   []byte // {"model": …, "messages": […]
	params  []value.Entry
	dropped []string
}

const defaultMaxTokens = 4096

// dropOrder is the order in which refused parameters are dropped; extra body
// keys come after these (LANGUAGE.md §11). It is also their order in the body.
var dropOrder = [...]string{"temperature", "response_format", "reasoning_effort", "max_tokens", "top_p", "seed"}

// reserved are body keys that tier params must not set. What reaches a model has
// been through the renderer: a second list of messages, a tool or an answer in
// pieces would go around it, or around this adapter.
func reserved(key string) bool {
	switch key {
	case "model", "messages", "prompt", "input", "stream", "stream_options", "n",
		"tools", "tool_choice", "parallel_tool_calls", "functions", "function_call":
		return true
	}
	return false
}

func (m *Model) request(p fence.Rendered, o llm.Options, judge bool) (*request, *llm.Error) {
	r := &request{}
	b := make([]byte, 0, p.SystemLen()+p.UserLen()+len(o.Model)+512)
	b = append(b, `{"model": `...)
	b = value.FromString(o.Model).AppendJSON(b)
	b = append(b, `, "messages": [`...)
	if system := p.System(); system != "" {
		b = append(b, `{"role": "system", "content": `...)
		b = value.FromString(system).AppendJSON(b)
		b = append(b, "}, "...)
	}
	b = append(b, `{"role": "user", "content": `...)
	b = value.FromString(p.User()).AppendJSON(b)
	r.fixed = append(b, "}]"...)

	temperature, err := value.FromFloat(o.Temperature)
	if err != nil {
		return nil, provider("temperature: %v", err)
	}
	params := map[string]value.Value{"temperature": temperature}
	if judge {
		if o.JSON {
			params["response_format"] = value.FromEntries(value.Entry{Key: "type", Value: value.FromString("json_object")})
		}
	} else {
		if _, other := o.Params["max_completion_tokens"]; !other {
			params["max_tokens"] = value.FromInt(defaultMaxTokens)
		}
		for _, key := range slices.Sorted(maps.Keys(o.Params)) {
			if reserved(key) {
				return nil, provider("params: %q cannot be set", key)
			}
			v, err := value.FromAny(o.Params[key])
			if err != nil {
				return nil, provider("params: %q: %v", key, err)
			}
			params[key] = v
			if v.IsNull() {
				delete(params, key) // a default that is not wanted
			}
		}
	}
	if m.Provider == "deepseek" {
		if kind, _ := params["thinking"].Lookup([]string{"type"}); kind.Kind() == value.String {
			if s, _ := kind.AsString(); s == "enabled" {
				delete(params, "temperature")
			}
		}
	}
	for _, key := range dropOrder {
		if v, ok := params[key]; ok {
			r.params = append(r.params, value.Entry{Key: key, Value: v})
			delete(params, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(params)) {
		r.params = append(r.params, value.Entry{Key: key, Value: params[key]})
	}
	return r, nil
}

func (r *request) body() []byte {
	b := slices.Clone(r.fixed)
	for _, p := range r.params {
		b = append(b, ", "...)
		b = value.FromString(p.Key).AppendJSON(b)
		b = append(b, ": "...)
		b = p.Value.AppendJSON(b)
	}
	return append(b, '}')
}

// drop removes the first parameter that an error names, so each at most once.
func (r *request) drop(message, param string) bool {
	for i, p := range r.params {
		if p.Key == param || names(message, p.Key) {
			r.params = slices.Delete(r.params, i, i+1)
			r.dropped = append(r.dropped, p.Key)
			return true
		}
	}
	return false
}

// names reports whether text holds key as a word of its own: max_tokens is not
// named by max_tokens_per_day.
func names(text, key string) bool {
	if key == "" {
		return false
	}
	word := func(c byte) bool {
		return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	for from := 0; ; {
		i := strings.Index(text[from:], key)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(key)
		if (start == 0 || !word(text[start-1])) && (end == len(text) || !word(text[end])) {
			return true
		}
		from = start + 1
	}
}
