package cli

import (
	"path/filepath"
	"strconv"

	"github.com/pinfold-dev/pinfold/registry"
)

func itoa(n int) string { return strconv.Itoa(n) }

// systemMachines is where a system keeps machines for everybody.
const systemMachines = "/usr/share/pinfold/machines"

// scope is what the machine at path can call (LANGUAGE.md §22).
func (a *app) scope(path string) *registry.Registry {
	base := []string{systemMachines}
	if d := a.sys.Dirs().Data; d != "" {
		base = append(base, filepath.Join(d, "machines"))
	}
	return registry.Beside(path, base...)
}
