//go:build !unix

package storetest

import "testing"

// Full skips the test: this system has no limit of file sizes.
func Full(t *testing.T, _ Open) { t.Skip("no limit of file sizes") }
