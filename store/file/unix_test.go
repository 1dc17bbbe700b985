//go:build unix

package file

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pinfold-dev/pinfold/store"
	"github.com/pinfold-dev/pinfold/store/storetest"
)

// The limit is of the process, and the go command has it write a log of its own:
// a process apart.
func TestFull(t *testing.T) {
	const variable = "PINFOLD_TEST_FULL"
	if os.Getenv(variable) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFull$", "-test.v")
		cmd.Env = append(os.Environ(), variable+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestFull") {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	if err := (storetest.Fault{Name: "full", Do: limit}).Check(t.Context(), t.TempDir(), opener); err != nil {
		t.Error(err)
	}
}

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

// limit lets no file of this process grow over 20 kB: a write that crosses it is
// cut short, as on a disk that fills up.
func limit(string) (func() error, error) {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return nil, err
	}
	signal.Ignore(syscall.SIGXFSZ)
	less := old
	less.Cur = 20_000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &less); err != nil {
		return nil, err
	}
	return func() error {
		defer signal.Reset(syscall.SIGXFSZ)
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old)
	}, nil
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
