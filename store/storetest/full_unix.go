//go:build unix

package storetest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const fullVariable = "PINFOLD_STORETEST_FULL"

// Full checks the fault of a disk that fills up, in the middle of a write: no
// file of the process may grow by more than a few kilobytes. Call it from a
// top-level test function and do nothing else in it: the limit is of the process,
// so the test binary runs that function again in a process apart.
func Full(t *testing.T, open Open) {
	if os.Getenv(fullVariable) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.v")
		cmd.Env = append(os.Environ(), fullVariable+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	if err := (Fault{Name: "full", Do: limit}).Check(t.Context(), t.TempDir(), open); err != nil {
		t.Error(err)
	}
}

// limit lets files grow to 20 kB more than the largest has.
func limit(place string) (func() error, error) {
	largest := int64(0)
	err := filepath.WalkDir(filepath.Dir(place), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			largest = max(largest, info.Size())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return nil, fmt.Errorf("limit of file sizes: %w", err)
	}
	signal.Ignore(syscall.SIGXFSZ) // an error of the write instead
	less := old
	set(&less.Cur, largest+20_000)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &less); err != nil {
		return nil, fmt.Errorf("limit of file sizes: %w", err)
	}
	return func() error {
		defer signal.Reset(syscall.SIGXFSZ)
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old)
	}, nil
}

// set is for the systems whose limits are signed.
func set[T int64 | uint64](limit *T, n int64) { *limit = T(n) }
