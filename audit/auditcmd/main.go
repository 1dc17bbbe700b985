// Command auditcmd runs an audit without the rest of pinfold's command line.
package main

import (
	"os"

	"github.com/pinfold-dev/pinfold/audit"
)

func main() { os.Exit(audit.Main(os.Args[1:], os.Stdout, os.Stderr)) }
