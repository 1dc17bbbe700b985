package fence_test

import (
	"testing"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/trust"
)

// A copy that a Reset made stale stays so, whatever is done with it.
func TestGrowDoesNotReviveAStaleCopy(t *testing.T) {
	var d fence.Doc
	d.Text(trust.Const("first "))
	d.Data("a", trust.External("host:a", "first data"))
	c := d
	d.Reset()
	d.Text(trust.Const("second "))
	d.Data("b", trust.External("host:b", "second data"))
	c.Grow(200, 10)
	if r, _, err := fence.Render(fence.Prompt{User: c}, func(n *[12]byte) error { copy(n[:], "0123456789ab"); return nil }); err == nil {
		t.Errorf("the copy rendered: %q", r.User())
	}
}
