//go:build !unix

package cli

// running is not known here: nobody is given up for gone.
func running(int) bool { return true }
