//go:build !treesitter || !cgo

package sourcescan

type parser struct{}

func newParser(Options) (*parser, error) { return nil, ErrNoParser }

func (*parser) close()                                       {}
func (*parser) matters([]byte) bool                          { return false }
func (*parser) file(_, _ string, _ []byte) ([]Finding, bool) { return nil, false }
