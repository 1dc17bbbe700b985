package cli

import (
	"path/filepath"
	"strconv"

	"github.com/pinfold-dev/pinfold/registry"
)

func itoa(n int) string { return strconv.Itoa(n) }

// dir is a directory of this user: its own variable, then XDG, then the home
// directory (LANGUAGE.md §21.1).
func (a *app) dir(name, xdg, home string) string {
	if d := a.getenv(name); d != "" {
		return d
	}
	if d := a.env.Getenv(xdg); d != "" {
		return filepath.Join(d, "pinfold")
	}
	if h := a.env.Getenv("HOME"); h != "" {
		return filepath.Join(h, home, "pinfold")
	}
	return ""
}

// scope is what the machine at path can call.
func (a *app) scope(path string) *registry.Registry {
	base := []string{"/usr/share/pinfold/machines"}
	if d := a.dir("DATA_DIR", "XDG_DATA_HOME", ".local/share"); d != "" {
		base = append(base, filepath.Join(d, "machines"))
	}
	return registry.Beside(path, base...)
}
