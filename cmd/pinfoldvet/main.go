// Command pinfoldvet runs pinfold's analyzers: alone on packages, or under go vet.
//
//	pinfoldvet ./...
//	go vet -vettool=$(which pinfoldvet) ./...
package main

import (
	"os"
	"strings"

	"golang.org/x/tools/go/analysis/multichecker"
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/pinfold-dev/pinfold/analyzers"
)

func main() {
	// go vet asks for -V=full and -flags, and then hands over one .cfg a package.
	for _, a := range os.Args[1:] {
		if a == "-V=full" || a == "-flags" || strings.HasSuffix(a, ".cfg") {
			unitchecker.Main(analyzers.All()...)
		}
	}
	multichecker.Main(analyzers.All()...)
}
