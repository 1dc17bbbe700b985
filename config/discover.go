package config

import (
	_ "embed"
	"fmt"
	"path/filepath"
)

//go:embed bundled.yaml
var bundled []byte

const systemFile = "/etc/pinfold/pinfold.yaml"

// Project is the directory that a machine's configuration is looked for in: that
// of its file, or the parent where the file lies in machines/; without a file, dir.
func Project(machine, dir string) string {
	if machine == "" {
		if dir == "" {
			return "."
		}
		return dir
	}
	d := filepath.Dir(machine)
	switch abs, err := filepath.Abs(d); {
	case filepath.Base(d) == "machines":
		return filepath.Dir(d)
	case err == nil && filepath.Base(abs) == "machines":
		return filepath.Join(d, "..") // named from inside it, as m.mkl or ./m.mkl
	}
	return d
}

// ProjectFiles are the names of a project's configuration, from its directory; the
// first that is there is looked at.
func ProjectFiles() []string {
	return []string{"pinfold.yaml", filepath.Join("config", "pinfold.yaml"), filepath.Join("config", "runtime.yaml"), "runtime.yaml"}
}

// Check reads a configuration and says what is wrong with it: a *FileError, or nil.
func Check(path string, content []byte) error {
	_, err := read(path, content)
	return err
}

// discovery is the winning file, and a project file that nobody accepted.
type discovery struct {
	layer   Layer
	path    string
	content []byte

	found        string
	foundContent []byte
}

func discover(sys System, req Request) (discovery, error) {
	var d discovery
	take := func(layer Layer, path string) (bool, error) {
		content, ok, err := sys.file(path)
		if err != nil {
			return false, fmt.Errorf("configuration (%s): %w", layer, err)
		}
		if ok {
			d.layer, d.path, d.content = layer, path, content
		}
		return ok, nil
	}
	// A file that the operator named must be there.
	named := func(layer Layer, path string) (discovery, error) {
		ok, err := take(layer, path)
		if err == nil && !ok {
			err = fmt.Errorf("configuration (%s): no file %s", layer, path)
		}
		return d, err
	}
	if req.Explicit != "" {
		return named(LayerExplicit, req.Explicit)
	}
	if path, _ := sys.Env("CONFIG"); path != "" {
		return named(LayerEnv, path)
	}

	project := Project(req.Machine, req.Dir)
	for _, name := range ProjectFiles() {
		path := filepath.Join(project, name)
		ok, err := take(LayerProject, path)
		if err != nil {
			return d, err
		}
		if !ok {
			continue
		}
		if req.accepts(path, d.content) {
			return d, nil
		}
		d.found, d.foundContent = path, d.content
		break
	}

	var own []string
	if dir := sys.Dirs().Config; dir != "" {
		own = []string{filepath.Join(dir, "pinfold.yaml"), filepath.Join(dir, "runtime.yaml")}
	}
	for _, path := range own {
		if ok, err := take(LayerUser, path); ok || err != nil {
			return d, err
		}
	}
	if ok, err := take(LayerSystem, systemFile); ok || err != nil {
		return d, err
	}
	d.layer, d.path, d.content = LayerBundled, "", bundled
	return d, nil
}

func (r Request) accepts(path string, content []byte) bool {
	return r.Accepted != nil && r.Accepted(path, content)
}
