//go:build !unix

package file

import "github.com/pinfold-dev/pinfold/store/storetest"

func faults() []storetest.Fault { return nil }
