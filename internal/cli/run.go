package cli

type runCmd struct{}

func (c *runCmd) run(a *app) int {
	return a.fail(&failure{code: "unexpected-error", message: "not yet"})
}
