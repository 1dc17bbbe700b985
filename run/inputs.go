package run

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/trust/unchecked"
	"github.com/pinfold-dev/pinfold/value"
)

// Setting is one host input: a value at a path of the context. A path of one
// segment is a top-level key.
type Setting struct {
	Path  []string
	Value value.Value
}

// Host is what the host of a fresh run brings (LANGUAGE.md §8.1, §21.4). The zero
// Host brings nothing.
type Host struct {
	// Settings are merged in order into a copy of the machine's context; later
	// ones win. Maps on the way are created, and replace what is no map.
	Settings []Setting

	// Vouch maps a top-level key to the operator's written reason: such an input
	// is Author. It never covers what came over MCP or HTTP.
	Vouch map[string]string

	// Clock fills in today and now where the context has them empty; nil fills
	// nothing.
	Clock func() time.Time
}

// Inputs merges and labels what the host brings. A nested setting makes the whole
// of its top-level key External, since the key carries one label: who chose a part
// of it has a say in all of it. The engine still counts a value that equals the
// author's own literal as the author's.
func (h Host) Inputs(p *engine.Program) (engine.Inputs, error) {
	in := make(engine.Inputs, len(h.Settings))
	board := p.Context()
	var order []string
	for _, s := range h.Settings {
		if len(s.Path) == 0 || s.Path[0] == "" {
			return nil, fmt.Errorf("host input with an empty path: expected segments joined by dots")
		}
		if len(s.Path) == 1 {
			board = board.With(s.Path[0], s.Value)
		} else {
			board = board.SetPath(s.Path, s.Value)
		}
		order = append(order, s.Path[0])
	}
	machine := p.Machine().Name
	for _, key := range order {
		v, _ := board.Get(key)
		if reason, ok := h.Vouch[key]; ok {
			vouched, err := unchecked.Declared(v, machine, key, reason)
			if err != nil {
				return nil, err
			}
			in[key] = vouched
			continue
		}
		in[key] = trust.NewValue(v, trust.From("host:"+key))
	}
	if h.Clock != nil {
		now := h.Clock()
		for key, text := range map[string]string{
			"today": now.Format("2006-01-02"),
			"now":   now.Format("2006-01-02T15:04:05-07:00"),
		} {
			if v, ok := board.Get(key); ok && empty(v) {
				in[key] = unchecked.Clock(value.FromString(text))
			}
		}
	}
	return in, nil
}

func empty(v value.Value) bool {
	s, text := v.AsString()
	return v.IsNull() || text && s == ""
}

// ParseSetting reads PATH=VALUE as --set takes it (LANGUAGE.md §20.1): the value
// is JSON where it is JSON, else the text itself. Text that is JSON but for a
// duplicate key or a number out of range is an error and no text: two readers
// would disagree about it.
func ParseSetting(arg string) (Setting, error) {
	path, text, ok := strings.Cut(arg, "=")
	if !ok {
		return Setting{}, fmt.Errorf("'%s': expected PATH=VALUE", arg)
	}
	segments := strings.Split(path, ".")
	for _, s := range segments {
		switch {
		case s == "":
			return Setting{}, fmt.Errorf("'%s': a path is segments joined by dots, none of them empty", path)
		case strings.TrimSpace(s) != s:
			return Setting{}, fmt.Errorf("'%s': white space at the end of a path segment", path)
		}
	}
	v, err := value.ParseJSON([]byte(text))
	switch {
	case errors.Is(err, value.ErrDuplicateKey), errors.Is(err, value.ErrNumberRange):
		return Setting{}, fmt.Errorf("'%s': %w", path, err)
	case err != nil:
		v = value.FromString(text)
	}
	return Setting{Path: segments, Value: v}, nil
}
