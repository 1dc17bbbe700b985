//go:build unix

package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pinfold-dev/pinfold/store"
	"github.com/pinfold-dev/pinfold/store/storetest"
)

func faults() []storetest.Fault {
	all := []storetest.Fault{
		{Name: "locked", Do: lockAll, Err: store.ErrLocked},
	}
	if os.Geteuid() != 0 { // modes do not bind root
		all = append(all,
			storetest.Fault{Name: "directory read-only", Do: func(place string) (func() error, error) { return chmodAll(place, 0o500, 0o600) }, Err: fs.ErrPermission},
			storetest.Fault{Name: "files read-only", Do: func(place string) (func() error, error) { return chmodAll(place, 0o700, 0o400) }, Err: fs.ErrPermission},
		)
	}
	return all
}

// lockAll locks every file as another process would.
func lockAll(place string) (func() error, error) {
	var held []*os.File
	err := filepath.WalkDir(place, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		held = append(held, f)
		if ok, err := tryLock(f, true); !ok || err != nil {
			return errors.Join(errors.New("it is locked already"), err)
		}
		return nil
	})
	return func() (err error) {
		for _, f := range held {
			err = errors.Join(err, f.Close())
		}
		return err
	}, err
}

func chmodAll(place string, dir, file fs.FileMode) (func() error, error) {
	all := func(dir, file fs.FileMode) error {
		return filepath.WalkDir(place, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir():
				return os.Chmod(name, dir|0o200) // to go on walking and writing modes
			}
			return os.Chmod(name, file)
		})
	}
	strict := func() error {
		return filepath.WalkDir(place, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			return os.Chmod(name, dir)
		})
	}
	return func() error { return all(0o700, 0o600) }, errors.Join(all(dir, file), strict())
}
