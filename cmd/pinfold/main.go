// Command pinfold runs machines of the .mkl language behind trust boundaries:
// fenced, labelled, judged, and refused where they must be. All of it is in
// internal/cli; run pinfold without arguments for a guide.
package main

import (
	"os"

	"github.com/pinfold-dev/pinfold/internal/cli"
)

func main() { os.Exit(cli.Main()) }
