package cli

import "github.com/pinfold-dev/pinfold/audit"

// auditCmd stands in the grammar for --help alone: the audit has flags, formats and
// exit codes of its own, so its words are handed to it as they are.
type auditCmd struct {
	Args []string `arg:"" optional:"" passthrough:"all" name:"flags and packages"`
}

func (c *auditCmd) run(a *app) int { return a.audit(c.Args) }

func (a *app) audit(args []string) int { return audit.Main(args, a.env.Stdout, a.env.Stderr) }
