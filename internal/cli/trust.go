package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/checkpoint"
	"github.com/pinfold-dev/pinfold/config"
	"github.com/pinfold-dev/pinfold/registry"
	"github.com/pinfold-dev/pinfold/value"
)

// What the operator has accepted is kept in the state directory: one small file a
// pair of path and content, named by its hash, so that a file that changed is not
// the one that was accepted (TRUST.md §5, who may open).

// accepted says whether the operator accepted these bytes under this path.
func (a *app) accepted(path string, content []byte) bool {
	name, err := a.acceptance(path, content)
	if err != nil {
		return false
	}
	info, err := os.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// acceptance is the file that records it. The path is part of it: a copy of an
// accepted file elsewhere is another file. A machine without a file is its text.
func (a *app) acceptance(path string, content []byte) (string, error) {
	state := a.sys.Dirs().State
	if state == "" {
		return "", errors.New("no state directory: there is no home directory; set PINFOLD_STATE_DIR")
	}
	if path != checkpoint.Inline {
		abs, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			abs = real
		}
		path = abs
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s:", len(path), path)
	h.Write(content)
	return filepath.Join(state, "accepted", hex.EncodeToString(h.Sum(nil))), nil
}

type trustCmd struct {
	Path string `arg:"" help:"A project's directory, whose configuration then counts, or a file: a configuration, or a machine's."`
	List bool   `help:"Only say what would be accepted, and whether it is already."`
}

// run accepts what the operator names. It is the operator who types it: nothing in
// a project, no model and no remote caller can.
func (c *trustCmd) run(a *app) int {
	info, err := os.Stat(c.Path)
	if err != nil {
		return a.fail(&failure{code: "invalid-input", path: c.Path, message: "cannot be read: " + err.Error()})
	}
	var files []string
	if info.IsDir() {
		for _, name := range config.ProjectFiles() {
			if p := filepath.Join(c.Path, name); exists(p) {
				files = append(files, p)
				break // the first is the one that is looked at
			}
		}
		if files == nil {
			return a.fail(&failure{code: "invalid-input", path: c.Path, message: "there is no configuration here: expected one of " + strings.Join(config.ProjectFiles(), ", ")})
		}
	} else {
		files = []string{c.Path}
	}
	for _, path := range files {
		content, err := a.readAccepted(path)
		if err != nil {
			return a.fail(&failure{code: "invalid-input", path: path, message: err.Error()})
		}
		sum := sha256.Sum256(content)
		short := hex.EncodeToString(sum[:])
		known := a.accepted(path, content)
		if !known && !c.List {
			if err := a.accept(path, content); err != nil {
				return a.fail(&failure{code: "unexpected-error", path: path, message: "could not be recorded: " + err.Error()})
			}
		}
		word := "accepted"
		switch {
		case known:
			word = "accepted already"
		case c.List:
			word = "not accepted"
		}
		if a.json() {
			a.out.json(envelope(a.command, true, []value.Value{obj(kstr("path", path), kstr("sha256", short), kstr("status", word))}, nil, obj()))
		} else {
			a.out.print(word, ": ", a.out.safe(path), " · sha256 ", short, "\n")
		}
	}
	return exitOK
}

// readAccepted reads what is to be accepted. A configuration that says something
// wrong, or what is neither, is not accepted by mistake.
func (a *app) readAccepted(path string) ([]byte, error) {
	if filepath.Ext(path) == registry.Ext {
		return registry.ReadFile(path)
	}
	content, err := a.sys.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := config.Check(path, content); err != nil {
		return nil, err
	}
	return content, nil
}

func (a *app) accept(path string, content []byte) error {
	name, err := a.acceptance(path, content)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %q\n", a.env.Clock().UTC().Format(time.RFC3339), path)
	if err := checkpoint.Write(name, b.Bytes()); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
