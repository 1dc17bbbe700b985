//go:build !treesitter || !cgo

package sourcescan

import (
	"errors"
	"testing"
)

// Without syntax trees a scan says so; it never says that nothing was found.
func TestNoParser(t *testing.T) {
	if _, err := Scan("../../testdata/scan/ts", Options{}); !errors.Is(err, ErrNoParser) {
		t.Errorf("got %v, want ErrNoParser", err)
	}
}
