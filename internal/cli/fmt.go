package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/registry"
	"github.com/pinfold-dev/pinfold/value"
)

type fmtCmd struct {
	Files []string `arg:"" name:"file" help:"Machines, or directories of them; - is standard input."`
	Check bool     `xor:"mode" help:"Write nothing; list the files that are not in the standard layout and exit 1."`
	Write bool     `short:"w" xor:"mode" help:"Rewrite the files in place."`
}

// run prints machines in the standard layout, or says which are not in it, or
// puts them into it.
func (c *fmtCmd) run(a *app) int {
	files, f := machines(c.Files)
	if f != nil {
		return a.fail(f)
	}
	return a.format(files, c.Check, c.Write, func(_ string, src []byte) ([]byte, error) { return mkl.Format(src) },
		"pinfold check lists everything that is wrong with it")
}

// format prints files as layout gives them, or with check says which differ from
// that, or with write rewrites them. Nothing is written before every file could be
// laid out.
func (a *app) format(files []string, check, write bool, layout func(file string, src []byte) ([]byte, error), hint string) int {
	type done struct {
		file     string
		old, new []byte
	}
	var all []done
	var broken []diagnostic
	for _, file := range files {
		src, err := readOrStdin(a, file)
		if err == nil && write && file == "-" {
			err = fmt.Errorf("standard input cannot be rewritten")
		}
		var out []byte
		if err == nil {
			out, err = layout(file, src)
		}
		if err != nil {
			broken = append(broken, diagnostic{severity: "error", message: err.Error(), path: file})
			continue
		}
		all = append(all, done{file, src, out})
	}
	if len(broken) > 0 {
		first := &failure{code: "invalid-input", message: broken[0].message, path: broken[0].path, hint: hint, also: broken[1:]}
		return a.fail(first)
	}
	changed := 0
	var items []value.Value
	for _, d := range all {
		status := "ok"
		if !bytes.Equal(d.old, d.new) {
			changed++
			status = "changed"
		}
		item := []value.Entry{kstr("path", d.file), kstr("status", status)}
		switch {
		case check:
			if status == "changed" && !a.json() {
				a.out.print(a.out.safe(d.file), "\n")
			}
		case write:
			if status == "changed" {
				if err := replace(d.file, d.new); err != nil {
					return a.fail(&failure{code: "invalid-input", message: "cannot write: " + err.Error(), path: d.file})
				}
				if !a.json() {
					a.out.print(a.out.safe(d.file), "\n")
				}
			}
		case a.json():
			item = append(item, kstr("formatted", string(d.new)))
		default:
			// A filter's output is exact; only a person's screen shows what it could
			// not draw.
			if a.out.terminal {
				a.out.print(a.out.block(string(d.new)))
			} else {
				a.out.w.Write(d.new)
			}
		}
		items = append(items, obj(item...))
	}
	ok := !(check && changed > 0)
	if a.json() {
		a.out.json(envelope(a.command, ok, items, nil, obj(kint("files", len(all)), kint("changed", changed))))
	}
	if !ok {
		return exitHalt
	}
	return exitOK
}

func readOrStdin(a *app, file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(io.LimitReader(a.env.Stdin, 4<<20+1))
	}
	return registry.ReadFile(file)
}

// replace writes a file whole or not at all: to a name of its own beside it,
// synced, then renamed over it.
func replace(path string, content []byte) error {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to // a link stays a link
	}
	return writeFile(path, content, mode)
}

func writeFile(path string, content []byte, mode os.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(content); err != nil {
		return err
	}
	if err = f.Chmod(mode); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
