package storetest

import (
	"context"
	"fmt"
	"slices"
)

// CheckOnly is Check of one section.
func CheckOnly(ctx context.Context, name, dir string, open Open, faults ...Fault) error {
	all := sections(faults)
	i := slices.IndexFunc(all, func(s section) bool { return s.name == name })
	if i < 0 {
		return fmt.Errorf("no section %q", name)
	}
	return check(ctx, dir, open, all[i:i+1])
}
