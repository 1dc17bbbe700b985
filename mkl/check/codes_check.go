package check

import (
	"strings"

	"github.com/pinfold-dev/pinfold/mkl"
)

// semantics are the codes of Check, MK301 to MK318.
func semantics() []Documentation {
	return []Documentation{
		{
			Code: "MK301", Severity: mkl.Error,
			Title:    "entry names no state",
			Why:      "A run would halt before its first step. Nothing is said about paths, budget and unreachable states (MK304 to MK307) until this is put right: without an entry all of them would be.",
			Triggers: Example{Source: strings.Replace(head, "entry: answer", "entry: anwser", 1) + answer},
			Quiet:    Example{Source: head + answer},
		},
		{
			Code: "MK302", Severity: mkl.Error,
			Title: "a gate leads to a state that does not exist",
			Why:   "A run that takes this gate halts. `to` names a state of the same machine or END, in exactly that spelling.",
			Triggers: Example{Source: head + `  answer:
    structure: One paragraph.
    prompt: "Answer this: {{question}}"
    output: answer
    gates:
      - { when: the answer is a guess, then: ok, to: awnser }
      - { when: otherwise, then: ok, to: END }
`},
			Quiet: Example{Source: head + `  answer:
    structure: One paragraph.
    prompt: "Answer this: {{question}}"
    output: answer
    gates:
      - { when: the answer is a guess, then: ok, to: answer }
      - { when: otherwise, then: ok, to: END }
`},
		},
		{
			Code: "MK303", Severity: mkl.Error,
			Title:    "call names a machine that does not exist",
			Why:      "The registry of a file is the machines beside it, your own and the bundled ones. `call` names one by its `machine:` key, not by its file name. Without a registry, as in a check of a text alone, this is not looked at.",
			Triggers: Example{Source: head + calling, Machines: []string{}},
			Quiet:    Example{Source: head + calling, Machines: []string{summary}},
		},
		{
			Code: "MK304", Severity: mkl.Error,
			Title:    "no way to END",
			Why:      "No state that can be reached from `entry` has a gate to END, so no run can ever be done: it halts, or it spends its budget. Every gate counts as passable here, a repair or an escalation too.",
			Triggers: Example{Source: head + strings.Replace(gated("- { when: the answer is a guess, repair: 2, to: answer }"), "to: END", "to: answer", 1)},
			Quiet:    Example{Source: head + gated("- { when: the answer is a guess, repair: 2, to: answer }")},
		},
		{
			Code: "MK305", Severity: mkl.Error,
			Title:    "the budget is below the shortest path to END",
			Why:      "Even a run in which everything goes well stops `budget-exhausted`. The path is counted in states; a fan-out counts 1, though it is charged one step a branch when it runs.",
			Triggers: Example{Source: strings.Replace(head, "budget: 4", "budget: 1", 1) + twoSteps},
			Quiet:    Example{Source: head + twoSteps},
		},
		{
			Code: "MK306", Severity: mkl.Warning,
			Title:    "the budget leaves no room for one repair",
			Why:      "The shortest path to END fits, but going back once costs two steps or more, so the first repair ends in `budget-exhausted`. Give it two steps more than the shortest path at least.",
			Triggers: Example{Source: strings.Replace(head, "budget: 4", "budget: 2", 1) + answer},
			Quiet:    Example{Source: strings.Replace(head, "budget: 4", "budget: 3", 1) + answer},
		},
		{
			Code: "MK307", Severity: mkl.Warning,
			Title: "a state that cannot be reached",
			Why:   "No path of gates leads from `entry` to it. A gate is missing, or the state is left over. States are listed in the order of their ids.",
			Triggers: Example{Source: head + answer + `  shorten:
    structure: One sentence.
    prompt: "Shorten this: {{answer}}"
    output: answer
    gates:
      - { when: otherwise, then: ok, to: END }
`},
			Quiet: Example{Source: head + twoSteps},
		},
		{
			Code: "MK308", Severity: mkl.Warning,
			Title: "a state without an otherwise gate",
			Why:   "When no gate fires, the run halts `no-gate-matched`; when a judge gives no verdict, it halts `judge-unparseable`. An `otherwise` gate catches both. Lint says the same as MK404.",
			Triggers: Example{Also: []string{"MK404"}, Source: head + `  answer:
    structure: One paragraph.
    prompt: "Answer this: {{question}}"
    output: answer
    gates:
      - { when: the question is answered, then: ok, to: END }
      - { when: the question is not answered, repair: 2, to: answer }
`},
			Quiet: Example{Source: head + `  answer:
    structure: One paragraph.
    prompt: "Answer this: {{question}}"
    output: answer
    gates:
      - { when: the question is not answered, repair: 2, to: answer }
      - { when: otherwise, then: ok, to: END }
`},
		},
		{
			Code: "MK309", Severity: mkl.Warning,
			Title: "a hook that is not declared",
			Why:   "`hooks:` lists what the machine expects of its host. When it lists anything, it should list everything: a name that is missing there is probably misspelt, and an unknown hook halts the run. A document without `hooks:` is not looked at.",
			Triggers: Example{Source: `machine: example
entry: answer
budget: 4
hooks:
  - name: is_short
context:
  question: ""
states:
` + strings.Replace(answer, "      - {", "      - { when: it is short, hook: is_shrot, then: ok, to: END }\n      - {", 1)},
			Quiet: Example{Source: `machine: example
entry: answer
budget: 4
hooks:
  - name: is_short
context:
  question: ""
states:
` + strings.Replace(answer, "      - {", "      - { when: it is short, hook: is_short, then: ok, to: END }\n      - {", 1)},
		},
		{
			Code: "MK310", Severity: mkl.Warning,
			Title: "a tool that is not declared",
			Why:   "`tools:` lists what the machine expects of its host. When it lists anything, it should list everything: a name that is missing there is probably misspelt, and an unknown tool halts the run. A document without `tools:` is not looked at.",
			Triggers: Example{Source: `machine: example
entry: answer
budget: 4
tools:
  - name: search_kb
states:
` + lookup("serach_kb")},
			Quiet: Example{Source: `machine: example
entry: answer
budget: 4
tools:
  - name: search_kb
states:
` + lookup("search_kb")},
		},
		{
			Code: "MK311", Severity: mkl.Warning,
			Title:    "nothing writes the result",
			Why:      "`result` names the top-level key that a finished run returns, literally: a dot in it is part of the name. When no state has it as its `output` and no reply of a person goes there, the run returns what it was given, or null.",
			Triggers: Example{Source: "result: anwser\n" + head + answer},
			Quiet:    Example{Source: "result: answer\n" + head + answer},
		},
		{
			Code: "MK312", Severity: mkl.Warning,
			Title:    "unsupported version of the language",
			Why:      "`mklang` claims a version that this program does not know: it knows 0.2, 0.2.0, 0.3 and 0.4. The document is read as 0.4. With `--strict` this is an error whose message begins `version-unsupported:`.",
			Triggers: Example{Source: "mklang: \"0.9\"\n" + head + answer},
			Quiet:    Example{Source: "mklang: \"0.4\"\n" + head + answer},
		},
		{
			Code: "MK313", Severity: mkl.Warning,
			Title:    "a feature newer than the declared version",
			Why:      "`parse: list` came with 0.3; `parse: json`, `max_visits`, `ask` and `reply_to` came with 0.4. An interpreter of the version that the document declares would refuse or ignore them. Declare the version that the message names. A document that declares none is not looked at.",
			Triggers: Example{Source: "mklang: \"0.3\"\n" + head + answer + "    max_visits: 3\n"},
			Quiet:    Example{Source: "mklang: \"0.4\"\n" + head + answer + "    max_visits: 3\n"},
		},
		{
			Code: "MK314", Severity: mkl.Warning,
			Title: "the repairs of a state do not fit its max_visits",
			Why:   "The first entry counts as a visit, so a state that may repair itself N times needs N + 1 visits. With fewer, the run halts `loop-ceiling` while there are repairs left. The repair budgets of all gates that lead back to the state itself are added up.",
			Triggers: Example{Source: head + `  answer:
    structure: One paragraph.
    prompt: "Answer this: {{question}}"
    output: answer
    max_visits: 2
    gates:
      - { when: the question is not answered, repair: 2, to: answer }
      - { when: otherwise, then: ok, to: END }
`},
			Quiet: Example{Source: head + `  answer:
    structure: One paragraph.
    prompt: "Answer this: {{question}}"
    output: answer
    max_visits: 3
    gates:
      - { when: the question is not answered, repair: 2, to: answer }
      - { when: otherwise, then: ok, to: END }
`},
		},
		{
			Code: "MK315", Severity: mkl.Warning,
			Title:    "a state is named END",
			Why:      "`to: END` ends the run. A state of that name can be the entry, but no gate can lead to it, and whoever reads the machine will think otherwise.",
			Triggers: Example{Source: strings.Replace(head, "entry: answer", "entry: END", 1) + strings.Replace(answer, "  answer:\n", "  END:\n", 1)},
			Quiet:    Example{Source: head + answer},
		},
		{
			Code: "MK316", Severity: mkl.Warning,
			Title:    "over holds no placeholder",
			Why:      "`over` runs the state once for each item of the list that its first placeholder leads to. Without a placeholder there is no list, and the run halts when it reaches the state. The name of a key alone is not enough.",
			Triggers: Example{Source: overQuestions("questions")},
			Quiet:    Example{Source: overQuestions(`"{{questions}}"`)},
		},
		{
			Code: "MK318", Severity: mkl.Error,
			Title:    "a machine that can be called cannot be read",
			Why:      "A called machine is read as strictly as the one that calls it: a misspelt limit in a callee is a limit that is not there. The message names its file and its first error, and the machine through which it is reached when it is not called directly.",
			Triggers: Example{Source: head + calling, Machines: []string{strings.Replace(summary, "budget: 3\n", "", 1)}},
			Quiet:    Example{Source: head + calling, Machines: []string{summary}},
		},
	}
}

// preparation are the codes of Prepare.
func preparation() []Documentation {
	return []Documentation{
		{
			Code: "MK320", Severity: mkl.Error,
			Title:    "the provider has no model for a tier",
			Why:      "A machine uses its `default_tier` and the tiers of its generative and call states. Each needs a model in the provider's `tiers`. This is looked at when a machine is about to run, not by `check`, because it depends on the host.",
			Triggers: Example{Source: head + answer + "    tier: reasoning\n", Host: &Host{Provider: "local", Tiers: []mkl.Tier{mkl.Fast, mkl.Balanced}}},
			Quiet:    Example{Source: head + answer + "    tier: fast\n", Host: &Host{Provider: "local", Tiers: []mkl.Tier{mkl.Fast, mkl.Balanced}}},
		},
		{
			Code: "MK321", Severity: mkl.Warning,
			Title:    "a tool or hook that the host does not know",
			Why:      "The run halts when it reaches it. This is looked at when a machine is about to run, not by `check`, because it depends on the host. The parametric hooks `eq:` and `neq:` are part of the language and always known.",
			Triggers: Example{Source: "machine: example\nentry: answer\nbudget: 4\nstates:\n" + lookup("search_web"), Host: exampleHost()},
			Quiet:    Example{Source: "machine: example\nentry: answer\nbudget: 4\nstates:\n" + lookup("search_kb"), Host: exampleHost()},
		},
	}
}

func exampleHost() *Host {
	return &Host{
		Provider: "local",
		Tiers:    []mkl.Tier{mkl.Fast, mkl.Balanced, mkl.Reasoning},
		Tools:    func(name string) bool { return name == "search_kb" },
	}
}

const (
	calling = `  answer:
    call: summary
    input: { text: "{{question}}" }
    output: answer
    gates:
      - { when: otherwise, then: ok, to: END }
`
	summary = `machine: summary
entry: shorten
budget: 3
context:
  text: ""
states:
  shorten:
    structure: One sentence.
    prompt: "Shorten this: {{text}}"
    output: short
    gates:
      - { when: otherwise, then: ok, to: END }
`
	twoSteps = `  answer:
    structure: One paragraph.
    prompt: "Answer this: {{question}}"
    output: answer
    gates:
      - { when: otherwise, then: ok, to: shorten }
  shorten:
    structure: One sentence.
    prompt: "Shorten this: {{answer}}"
    output: answer
    gates:
      - { when: otherwise, then: ok, to: END }
`
)

func lookup(tool string) string {
	return `  answer:
    tool: ` + tool + `
    input: { query: opening hours }
    output: answer
    gates:
      - { when: otherwise, then: ok, to: END }
`
}

func overQuestions(over string) string {
	return `machine: example
entry: answer
budget: 8
context:
  questions: []
states:
  answer:
    structure: One paragraph.
    prompt: "Answer this: {{item}}"
    over: ` + over + `
    output: answers
    gates:
      - { when: otherwise, then: ok, to: END }
`
}
