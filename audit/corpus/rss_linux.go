package main

import (
	"os"
	"syscall"
)

// maxRSS is the most memory that a process held, in MB.
func maxRSS(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss >> 10
	}
	return 0
}
