//go:build unix

package cli

import "syscall"

// running says whether there is a process of this number; one that cannot be asked
// is there.
func running(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err != syscall.ESRCH
}
