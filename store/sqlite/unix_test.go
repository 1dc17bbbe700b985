//go:build unix

package sqlite

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Opening a store does not drop the locks that this process has on the database:
// closing any descriptor of the file would, and then a program with an older
// SQLite that leaves takes itself for the last and removes the log that is in use
// here. Only another process sees whose lock there is.
func TestOpenKeepsLocks(t *testing.T) {
	const variable = "PINFOLD_TEST_LOCKS"
	if path := os.Getenv(variable); path != "" {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		// The bytes that every reader of a database in use has locked (SQLite, "File
		// Locking And Concurrency": SHARED_FIRST and SHARED_SIZE).
		lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: 0x40000002, Len: 510}
		if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lock); err != nil {
			t.Fatal(err)
		}
		if lock.Type != syscall.F_UNLCK {
			t.Log("locked by", lock.Pid)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "s.db")
	locked := func() bool {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOpenKeepsLocks$", "-test.count=1", "-test.v")
		cmd.Env = append(os.Environ(), variable+"="+path)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.Contains(string(out), fmt.Sprint("locked by ", os.Getpid(), "\n"))
	}
	s := openAt(t, path)
	if err := s.Append(t.Context(), "r", 0, recs("a")); err != nil {
		t.Fatal(err)
	}
	if !locked() {
		t.Fatal("a store in use has no lock")
	}
	again := openAt(t, path)
	if err := again.Append(t.Context(), "r", 1, recs("b")); err != nil {
		t.Fatal(err)
	}
	if !locked() {
		t.Error("a second opening drops the lock of the first")
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if !locked() {
		t.Error("closing the second drops the lock of the first")
	}
}
