package config

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/policy"
)

// tighten takes from a file that was merely found what makes r stricter, and
// says of everything else that it is ignored (LANGUAGE.md §21.3).
func (r *Resolved) tighten(f *file) {
	ignored := map[string]bool{}
	ignore := func(key string) { ignored[key] = true }

	// What opens, or decides where prompts, keys and files go, is not looked at.
	for _, key := range f.written {
		switch top, _, _ := strings.Cut(key, "."); top {
		case "active", "providers", "vouch", "mcp", "store", "audit", "lanes":
			ignore(top)
		}
		if f.opens[key] {
			ignore(key)
		}
	}

	if f.judgeLenient != nil {
		if *f.judgeLenient {
			ignore("judge.lenient")
		} else {
			r.JudgeLenient = false
		}
	}
	for i, to := range []*policy.Action{&r.Policies.UntrustedFlow, &r.Policies.UntrustedArgument, &r.Policies.SecretEgress} {
		switch a := f.actions[i]; {
		case a == nil:
		case *a <= *to: // a smaller action is stricter
			*to = *a
		default:
			ignore("policy." + rules()[i])
		}
	}
	if t := f.onTruncate; t != nil {
		if *t == engine.TruncateHalt {
			r.OnTruncate = *t
		} else if r.OnTruncate == engine.TruncateHalt {
			ignore("policy.on_truncate")
		}
	}
	if d := f.approvalTTL; d != nil {
		if *d <= r.ApprovalTTL {
			r.ApprovalTTL = *d
		} else {
			ignore("policy.approval_ttl")
		}
	}

	for _, name := range f.rules {
		if !filepath.IsLocal(name) { // it has no business with other files
			ignore("policy.rules")
			continue
		}
		r.Rules = append(slices.Clip(r.Rules), beside(f.path, name))
	}

	for _, d := range f.declarations {
		path := "tools." + d.Tool + "."
		if c := d.Declaration.Class; c != nil && *c == policy.Read {
			ignore(path + "class")
		}
		if d.Declaration.MayCarry != nil {
			ignore(path + "may_carry")
		}
		if d.Declaration.Labelled != nil {
			ignore(path + "labelled")
		}
		if e := d.Declaration.Egress; e != nil && !*e {
			ignore(path + "egress")
		}
		r.Tightened = append(r.Tightened, d) // applied by policy.Tighten, which takes the rest alone
	}
	if len(f.secrecy) > 0 {
		secrecy := map[string][]string{}
		for key, tags := range r.Secrecy {
			secrecy[key] = slices.Clone(tags)
		}
		for key, tags := range f.secrecy {
			for _, tag := range tags {
				if !slices.Contains(secrecy[key], tag) {
					secrecy[key] = append(secrecy[key], tag)
				}
			}
		}
		r.Secrecy = secrecy
	}

	for _, key := range f.written { // in the order of the file
		if !ignored[key] {
			continue
		}
		at := f.at[key]
		r.warn("%s:%d:%d: %s is ignored: the file was found beside the machine and can only tighten until somebody accepts it: pinfold trust %s",
			f.path, at.line, at.column, key, trustDir(f.path))
	}
}

// trustDir is the project that a project file belongs to.
func trustDir(path string) string {
	d := filepath.Dir(path)
	if filepath.Base(d) == "config" {
		return filepath.Dir(d)
	}
	return d
}
