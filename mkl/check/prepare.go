package check

import (
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/mkl"
)

// Host is what a machine is about to run on. The zero Host has nothing: every
// tier is missing, every tool and hook unknown.
type Host struct {
	Provider string     // its name, for messages
	Tiers    []mkl.Tier // for which the provider has a model
	// Tools and Hooks say whether a name is bound. Parametric hooks (eq:, neq:)
	// are part of the language and need no binding.
	Tools func(name string) bool
	Hooks func(name string) bool
}

// Prepare says what a host lacks for a machine, before anything runs: MK320 for
// a tier without a model, MK321 for a tool or hook that halts the run when it
// is reached. A machine uses its default_tier and the tiers of its generative
// and call states. It is listed by line.
func Prepare(m *mkl.Machine, h Host) []mkl.Diagnostic {
	a := &analysis{m: m}
	missing := make(map[mkl.Tier]bool)
	tier := func(t mkl.Tier, pos mkl.Pos, state string) {
		if t == "" || slices.Contains(h.Tiers, t) || missing[t] {
			return
		}
		missing[t] = true
		a.add(mkl.Error, "MK320", pos, state, "name a model for it in the provider's tiers",
			"provider %s has no model for tier %s; it has %s", quoted(h.Provider), t, available(h.Tiers))
	}
	tier(m.DefaultTier, m.Pos, "")
	for i := range m.States {
		s := &m.States[i]
		switch s.Kind {
		case mkl.Generative, mkl.Call:
			tier(s.Tier, at(s, "tier"), s.ID)
		case mkl.Tool:
			if h.Tools == nil || !h.Tools(s.Tool) {
				a.add(mkl.Warning, "MK321", at(s, "tool"), s.ID, "bind the tool, or correct the name",
					"tool %s is not known here: the run halts when state %s is reached", quoted(s.Tool), quoted(s.ID))
			}
		}
		for j := range s.Gates {
			g := &s.Gates[j]
			if !hooked(g) {
				continue
			}
			if _, ok := compares(g.Hook); ok || h.Hooks != nil && h.Hooks(g.Hook) {
				continue
			}
			a.add(mkl.Warning, "MK321", gateAt(g, "hook"), s.ID, "bind the hook, or correct the name",
				"hook %s is not known here: the run halts when state %s reaches it", quoted(g.Hook), quoted(s.ID))
		}
	}
	return listed(a.found)
}

func available(tiers []mkl.Tier) string {
	if len(tiers) == 0 {
		return "none"
	}
	names := make([]string, len(tiers))
	for i, t := range tiers {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}
