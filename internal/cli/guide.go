package cli

// guide is what bare pinfold prints.
const guide = `pinfold draws trust boundaries through LLM programs: who chose these characters,
and what are they about to cause?

  pinfold demo injection            see it work, offline
  pinfold check FILE…               errors and warnings in machines (*.mkl)
  pinfold lint FILE…                what is probably not meant
  pinfold fmt FILE…                 the standard layout
  pinfold test MACHINE --script F   run a machine's scenarios
  pinfold run MACHINE --set K=V     run a machine against a model
  pinfold resume RUN                go on with a run that waits, or was interrupted
  pinfold approvals list            what runs wait for a person to approve
  pinfold conformance DIR           run every conformance case of a directory
  pinfold gen DIR                   typed Go constructors for *.prompt templates
  pinfold gen lanes FILE            typed Go constants for the lanes of a lane file
  pinfold lanes check FILE…         what is wrong with lane files, and where
  pinfold receipts stats FILE…      what was declared, and what was fenced

pinfold COMMAND --help lists a command's flags.
`

type versionCmd struct{}

func (versionCmd) run(a *app) int {
	if a.flags.Format == "json" {
		a.out.json(obj(kstr("version", Version)))
	} else {
		a.out.print("pinfold ", Version, "\n")
	}
	return exitOK
}
