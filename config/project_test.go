package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pinfold-dev/pinfold/config"
)

// A project's file tightens wherever the machine is named from.
func TestProjectFromInsideMachines(t *testing.T) {
	root := t.TempDir()
	machines := filepath.Join(root, "machines")
	if err := os.Mkdir(machines, 0o755); err != nil {
		t.Fatal(err)
	}
	for dir, names := range map[string][]string{
		root:     {"machines/m.mkl", "./machines/m.mkl", filepath.Join(machines, "m.mkl")},
		machines: {"m.mkl", "./m.mkl", "../machines/m.mkl", filepath.Join(machines, "m.mkl")},
	} {
		t.Chdir(dir)
		for _, name := range names {
			got, err := filepath.Abs(config.Project(name, ""))
			if err != nil {
				t.Fatal(err)
			}
			if same, err := filepath.EvalSymlinks(got); err != nil || same != mustEval(t, root) {
				t.Errorf("%s in %s: project %s, want %s", name, dir, got, root)
			}
		}
	}
}

func mustEval(t *testing.T, path string) string {
	t.Helper()
	p, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
