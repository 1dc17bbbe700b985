package check

import (
	"strings"

	"github.com/pinfold-dev/pinfold/mkl"
)

// documents are the codes of the YAML front, MK1xx.
func documents() []Documentation {
	return []Documentation{
		{
			Code: "MK101", Severity: mkl.Error,
			Title:    "the file cannot be read",
			Why:      "The message ends with the system's own reason: no such file, no permission, a directory. Nothing is known about the machine, so nothing else is reported.",
			Triggers: Example{Missing: true},
			Quiet:    Example{Source: head + answer},
		},
		{
			Code: "MK102", Severity: mkl.Error,
			Title:    "not UTF-8, or a forbidden control character",
			Why:      "A document is UTF-8 text, with or without a byte order mark. Bytes that are none, and control characters other than tab and line ends, read differently in different programs, and a person who reviews the file does not see them. The message gives the byte offset. Write a control character as an escape in a double-quoted string if a value needs one.",
			Triggers: Example{Source: strings.Replace(head, `""`, "\"caf\xe9\"", 1) + answer},
			Quiet:    Example{Source: strings.Replace(head, `""`, `"café"`, 1) + answer},
		},
		{
			Code: "MK103", Severity: mkl.Error,
			Title:    "the YAML does not parse",
			Why:      "The message says what was expected at that place. The place is where reading stopped, which may lie after the mistake: an unclosed bracket is noticed at the end of the file.",
			Triggers: Example{Source: strings.Replace(head, `""`, `[`, 1) + answer},
			Quiet:    Example{Source: strings.Replace(head, `""`, `[]`, 1) + answer},
		},
		{
			Code: "MK104", Severity: mkl.Error,
			Title:    "more than one document",
			Why:      "A file holds one machine. A second document after `---` would be ignored by one reader and merged by another. Put it in a file of its own.",
			Triggers: Example{Source: head + answer + "---\n" + head + answer},
			Quiet:    Example{Source: "---\n" + head + answer},
		},
		{
			Code: "MK105", Severity: mkl.Error,
			Title:    "empty, or the root is not a mapping",
			Why:      "A machine is a mapping with the keys `machine`, `entry`, `budget` and `states`. An empty file, a list or a single text is none.",
			Triggers: Example{Source: "- machine: example\n"},
			Quiet:    Example{Source: head + answer},
		},
		{
			Code: "MK106", Severity: mkl.Error,
			Title:    "duplicate key",
			Why:      "Most YAML readers keep the last of two equal keys and say nothing, so one of two states of the same name is silently gone, and with it its gates. The message names the key and both lines. This holds everywhere, in values too.",
			Triggers: Example{Source: head + answer + answer},
			Quiet:    Example{Source: head + answer},
		},
		{
			Code: "MK107", Severity: mkl.Error,
			Title: "unknown alias, an alias inside its own anchor, or too much expansion",
			Why:   "An alias repeats what an anchor names. One that names nothing is a misspelling; one that contains itself has no end; aliases of aliases can expand a few hundred bytes to gigabytes. A document may expand to 250,000 nodes. Ordinary use of anchors and merge keys stays far below that.",
			Triggers: Example{Source: `machine: example
entry: answer
budget: 4
context:
  question: &question ["why?", *question]
states:
` + answer},
			Quiet: Example{Source: `machine: example
entry: answer
budget: 4
context:
  question: &question "why?"
  repeated: *question
states:
` + answer},
		},
		{
			Code: "MK108", Severity: mkl.Error,
			Title:    "too large or nested too deep",
			Why:      "A document may have 4 MiB and be nested 100 levels deep. The bounds are checked before anything of that size is built, so that a hostile file costs nothing. Data of that size belongs in a tool, not in a machine.",
			Triggers: Example{Source: strings.Replace(head, `""`, strings.Repeat("[", 101)+strings.Repeat("]", 101), 1) + answer},
			Quiet:    Example{Source: strings.Replace(head, `""`, strings.Repeat("[", 9)+strings.Repeat("]", 9), 1) + answer},
		},
		{
			Code: "MK109", Severity: mkl.Error,
			Title:    "foreign tag",
			Why:      "A tag tells a reader to build something other than plain data, and what that is depends on the reader. Only the core tags exist here: `!!str`, `!!int`, `!!float`, `!!bool`, `!!null`, `!!seq`, `!!map`.",
			Triggers: Example{Source: strings.Replace(head, `""`, `!env QUESTION`, 1) + answer},
			Quiet:    Example{Source: strings.Replace(head, `""`, `!!str 17`, 1) + answer},
		},
		{
			Code: "MK110", Severity: mkl.Warning,
			Title:    "another YAML reader takes this scalar for something else",
			Why:      "YAML 1.1 readers turn `no`, `on`, `y`, `017`, `1_000`, `1:30`, `1e3` and dates into booleans, numbers and times; YAML 1.2 readers do not. pinfold decides by the place where a value stands, so the meaning here is certain, but an editor, a formatter or another interpreter may disagree. The same goes for an unquoted version number and for a number or `null` where a text is expected. Quote it.",
			Triggers: Example{Source: strings.Replace(head, `""`, `no`, 1) + answer},
			Quiet:    Example{Source: strings.Replace(head, `""`, `"no"`, 1) + answer},
		},
		{
			Code: "MK111", Severity: mkl.Error,
			Title:    "not a number, or infinite",
			Why:      "`.nan` and `.inf` are no values of the language: they have no JSON text, and they are not equal to themselves. Use null, or a text.",
			Triggers: Example{Source: strings.Replace(head, `""`, `.inf`, 1) + answer},
			Quiet:    Example{Source: strings.Replace(head, `""`, `1.5`, 1) + answer},
		},
	}
}

// structure are the codes of the machine's shape, MK2xx.
func structure() []Documentation {
	return []Documentation{
		{
			Code: "MK201", Severity: mkl.Error,
			Title:    "a required key is missing",
			Why:      "A machine needs `machine`, `entry`, `budget` and `states`; a state needs `output` and `gates`, and a generative one `structure`; a gate needs `when`. There is no default for any of them: a budget that nobody chose bounds nothing.",
			Triggers: Example{Source: strings.Replace(head, "budget: 4\n", "", 1) + answer},
			Quiet:    Example{Source: head + answer},
		},
		{
			Code: "MK202", Severity: mkl.Error,
			Title:    "unknown key",
			Why:      "A misspelt limit that is ignored is a limit that is not there. The message names the nearest key that exists.",
			Triggers: Example{Source: head + answer + "    max_visit: 3\n"},
			Quiet:    Example{Source: head + answer + "    max_visits: 3\n"},
		},
		{
			Code: "MK203", Severity: mkl.Error,
			Title:    "wrong type",
			Why:      "Every key has one type, and the message says which, and what was found. Where a text is expected any scalar is one, as it is written; where a number, a boolean, a list or a mapping is expected nothing else will do. An empty value is no text.",
			Triggers: Example{Source: strings.Replace(head, "budget: 4", "budget: four", 1) + answer},
			Quiet:    Example{Source: head + answer},
		},
		{
			Code: "MK204", Severity: mkl.Error,
			Title:    "value not allowed",
			Why:      "Some keys take one of a few words or a number from some minimum on: `tier` and `default_tier`, `parse`, `then`, `escalate`, `fail`, `budget`, `repair`, `sample`, `max_visits`. The message lists what is allowed.",
			Triggers: Example{Source: head + answer + "    tier: cheap\n"},
			Quiet:    Example{Source: head + answer + "    tier: fast\n"},
		},
		{
			Code: "MK205", Severity: mkl.Error,
			Title: "a state is none or several of prompt, call, tool",
			Why:   "A state asks a model, calls a machine or uses a tool. Which one is decided by the key that is there, so there has to be exactly one. A merge key that brings in a second one counts.",
			Triggers: Example{Source: head + `  answer:
    output: answer
    gates:
      - { when: otherwise, then: ok, to: END }
`},
			Quiet: Example{Source: head + answer},
		},
		{
			Code: "MK206", Severity: mkl.Error,
			Title: "key not allowed for this kind of state",
			Why:   "`structure`, `execution`, `reason` and `parse` speak to a model, and `input` hands values to a machine or a tool. On another kind of state they would do nothing, and somebody would believe that they did.",
			Triggers: Example{Source: head + `  answer:
    tool: calc
    execution: Be exact.
    input: { expr: "1 + 1" }
    output: answer
    gates:
      - { when: otherwise, then: ok, to: END }
`},
			Quiet: Example{Source: head + `  answer:
    tool: calc
    input: { expr: "1 + 1" }
    output: answer
    gates:
      - { when: otherwise, then: ok, to: END }
`},
		},
		{
			Code: "MK207", Severity: mkl.Error,
			Title:    "sample together with over",
			Why:      "`sample: N` runs one prompt N times, `over` runs it once for each item of a list. A state does one or the other; chain two states for both.",
			Triggers: Example{Source: head + answer + "    sample: 3\n    over: \"{{question}}\"\n"},
			Quiet:    Example{Source: head + answer + "    sample: 3\n"},
		},
		{
			Code: "MK208", Severity: mkl.Error,
			Title:    "a gate has no policy, or several",
			Why:      "A gate says what happens when it fires: `then: ok`, `repair: N`, `escalate: true` or `fail: true`, one of them. With two it would depend on the reader which one counts.",
			Triggers: Example{Source: head + strings.Replace(answer, "then: ok, ", "", 1)},
			Quiet:    Example{Source: head + answer},
		},
		{
			Code: "MK209", Severity: mkl.Error,
			Title:    "to is missing, or present on a fail gate",
			Why:      "Every gate leads to a state or to END, except one that fails: it ends the run there.",
			Triggers: Example{Source: head + strings.Replace(answer, ", to: END", "", 1)},
			Quiet:    Example{Source: head + answer},
		},
		{
			Code: "MK210", Severity: mkl.Error,
			Title:    "ask or reply_to on another policy, or a malformed reply_to",
			Why:      "Only an `escalate` gate asks a person, so only there `ask` says what and `reply_to` says where the answer goes. `reply_to` is a dotted path without empty segments.",
			Triggers: Example{Source: head + strings.Replace(answer, "then: ok, ", "then: ok, ask: Is it right?, ", 1)},
			Quiet:    Example{Source: head + answer},
		},
		{
			Code: "MK211", Severity: mkl.Error,
			Title: "no gates, or no states",
			Why:   "A state without gates cannot be left and a machine without states cannot be entered.",
			Triggers: Example{Source: head + `  answer:
    structure: One paragraph.
    prompt: "Answer this: {{question}}"
    output: answer
    gates: []
`},
			Quiet: Example{Source: head + answer},
		},
	}
}
