package check

import (
	"strings"

	"github.com/pinfold-dev/pinfold/mkl"
)

// findings are the codes of Lint, MK4xx.
func findings() []Documentation {
	return []Documentation{
		{
			Code: "MK401", Severity: mkl.Finding,
			Title: "a comment cuts a text short",
			Why: "In an unquoted YAML scalar, white space and `#` begin a comment. `when: reply starts with # Summary` is the condition `reply starts with`, which a judge will answer somehow. The message says what was kept and what was lost. Put the text in quotes.\n\n" +
				"`when: otherwise # a note` is left alone: nothing that matters was cut.",
			Triggers: Example{Source: head + gated("- when: the answer starts with # Summary\n        then: ok\n        to: END")},
			Quiet:    Example{Source: head + gated("- when: \"the answer starts with # Summary\"\n        then: ok\n        to: END")},
		},
		{
			Code: "MK402", Severity: mkl.Finding,
			Title:    "gates after otherwise",
			Why:      "Gates are tried in order and `otherwise` always fires, so what stands after it never does. An `otherwise` gate that is a repair is different: once its budget is spent the gates after it have their turn, and they are not reported.",
			Triggers: Example{Source: head + answer + "      - { when: the question is not answered, repair: 2, to: answer }\n"},
			Quiet:    Example{Source: head + gated("- { when: the question is not answered, repair: 2, to: answer }")},
		},
		{
			Code: "MK403", Severity: mkl.Finding,
			Title:    "every gate of a state is a repair",
			Why:      "Repair budgets are spent and never refilled. When all of them are, no gate is left and the run halts `no-gate-matched`, even when the state could have gone on.",
			Triggers: Example{Also: []string{"MK308"}, Source: head + strings.Replace(answer, "when: otherwise, then: ok, to: END", "when: the question is answered, repair: 1, to: END", 1)},
			Quiet:    Example{Source: head + gated("- { when: the question is not answered, repair: 1, to: answer }")},
		},
		{
			Code: "MK404", Severity: mkl.Finding,
			Title:    "no catch-all",
			Why:      "A judge can answer *none of these*, and its reply can be unreadable. Only an `otherwise` gate catches both; without one the run halts `no-gate-matched` or `judge-unparseable`. Where every gate is a repair MK403 is said instead.",
			Triggers: Example{Also: []string{"MK308"}, Source: head + strings.Replace(answer, "when: otherwise", "when: the question is answered", 1)},
			Quiet:    Example{Source: head + answer},
		},
		{
			Code: "MK405", Severity: mkl.Finding,
			Title:    "the catch-all is a repair",
			Why:      "Every `otherwise` gate of the state is a repair. Once they are spent, nothing catches a judge that answers *none* or cannot be read. Add a second `otherwise` gate after it that goes on, escalates or fails.",
			Triggers: Example{Source: head + strings.Replace(answer, "{ when: otherwise, then: ok, to: END }", "{ when: the question is answered, then: ok, to: END }\n      - { when: otherwise, repair: 2, to: answer }", 1)},
			Quiet:    Example{Source: head + strings.Replace(answer, "{ when: otherwise, then: ok, to: END }", "{ when: the question is answered, then: ok, to: END }\n      - { when: otherwise, repair: 2, to: answer }\n      - { when: otherwise, fail: true }", 1)},
		},
		{
			Code: "MK406", Severity: mkl.Finding,
			Title:    "an output that nothing reads",
			Why:      "The state's work is lost, or a name is misspelt where it should be read. An output counts as read when a placeholder anywhere has it as its root (in `structure` and `execution` too), when it is the `result`, when a hook names it (`eq:`, `neq:`, or as an argument of another one, between `:` or `,` and `.`, `:`, `,` or the end), or when its state has a gate to END or a prose gate.",
			Triggers: Example{Source: head + strings.Replace(twoSteps, "output: answer\n    gates:\n      - { when: otherwise, then: ok, to: shorten }", "output: draft\n    gates:\n      - { when: otherwise, then: ok, to: shorten }", 1)},
			Quiet:    Example{Source: head + strings.Replace(strings.Replace(twoSteps, "output: answer\n    gates:\n      - { when: otherwise, then: ok, to: shorten }", "output: draft\n    gates:\n      - { when: otherwise, then: ok, to: shorten }", 1), "{{answer}}", "{{draft}}", 1)},
		},
		{
			Code: "MK407", Severity: mkl.Note,
			Title:    "the machine escalates",
			Why:      "Said once a machine, with the states that have an `escalate` gate. Where a judge decides whether to escalate, the same input may or may not reach a person. A hook decides the same way each time; with `--hitl` the run suspends and a person answers. Gates that stand after a misplaced `otherwise` are not counted.",
			Triggers: Example{Source: head + strings.Replace(answer, "      - {", "      - { when: the answer is a guess, escalate: true, to: doubt }\n      - {", 1) + doubt},
			Quiet:    Example{Source: head + strings.Replace(answer, "      - {", "      - { when: the answer is a guess, then: ok, to: doubt }\n      - {", 1) + doubt},
		},
		{
			Code: "MK408", Severity: mkl.Note,
			Title: "a judged decision leads to an effect",
			Why: "A judge reads the whole blackboard, so text from outside can talk it into a gate. When that gate leads to a tool that acts, outside text decides that something happens. Put a hook gate between, or run with `--untrusted-flow ask` or `halt`.\n\n" +
				"A state counts as judged when a prose gate leads to it, when an `otherwise` gate of a state with a prose gate does, or when an `otherwise` gate of a judged state does. This knows nothing of labels, so a machine that reads its author's data alone is noted too. A tool that nobody classified counts as one that acts.",
			Triggers: Example{Source: head + sending("- { when: the answer is complete, then: ok, to: send }")},
			Quiet:    Example{Source: head + sending("- { when: the answer is complete, hook: is_complete, then: ok, to: send }")},
		},
		{
			Code: "MK409", Severity: mkl.Note,
			Title:    "a judged decision leads to a machine that can act",
			Why:      "The same as MK408 for a `call`: the machine that it names, or one that this one calls, can reach an effectful tool. It takes a registry to see that.",
			Triggers: Example{Source: head + handing("- { when: the answer is complete, then: ok, to: hand_over }"), Machines: []string{deliver}},
			Quiet:    Example{Source: head + handing("- { when: the answer is complete, hook: is_complete, then: ok, to: hand_over }"), Machines: []string{deliver}},
		},
		{
			Code: "MK410", Severity: mkl.Finding,
			Title:    "a placeholder that leads nowhere",
			Why:      "Its first segment is no key of `context`, no state's `output` and no place of a reply, so it is filled with nothing. Said once a name and state. `structure` and `execution` are never filled in, but they are read for names too.",
			Triggers: Example{Source: head + strings.Replace(answer, "{{question}}", "{{qestion}}", 1)},
			Quiet:    Example{Source: head + answer},
		},
		{
			Code: "MK411", Severity: mkl.Finding,
			Title:    "item or index where there is none",
			Why:      "`item` and `index` exist in the branches of a fan-out: `index` in all of them, `item` only where `over` goes through a list. Elsewhere they are filled with nothing, and so is `item` in `over` itself, which is looked up before there are branches.",
			Triggers: Example{Source: head + strings.Replace(answer, "{{question}}", "{{question}} ({{index}})", 1)},
			Quiet:    Example{Source: head + strings.Replace(answer, "{{question}}", "{{question}} ({{index}})", 1) + "    sample: 3\n"},
		},
		{
			Code: "MK412", Severity: mkl.Finding,
			Title:    "a key that the context map does not have",
			Why:      "The map under `context` says which keys a machine expects. A placeholder that asks for another one is filled with nothing unless a host happens to supply it. The message lists the keys. Only the second segment is looked at, and only when no state and no reply replaces the map.",
			Triggers: Example{Source: ticket("{{ticket.text}}")},
			Quiet:    Example{Source: ticket("{{ticket.body}}")},
		},
		{
			Code: "MK413", Severity: mkl.Finding,
			Title:    "a placeholder inside a list or map under input",
			Why:      "Strings inside lists and maps are passed as they stand: what an author and a reviewer see as a constant stays one. The tool or machine gets the braces. Give the value an input key of its own, or build the text in a state before.",
			Triggers: Example{Source: head + strings.Replace(lookup("search_kb"), "query: opening hours", "query: opening hours, tags: [\"{{question}}\"]", 1)},
			Quiet:    Example{Source: head + strings.Replace(lookup("search_kb"), "query: opening hours", "query: opening hours, tag: \"{{question}}\"", 1)},
		},
		{
			Code: "MK414", Severity: mkl.Finding,
			Title:    "something that looks like a placeholder and is not",
			Why:      "A placeholder is `{{`, a path of letters, numbers, `_` and dots, and `}}`, with white space around the path if you like. Anything else, `{{a-b}}`, `{{ }}`, an unclosed `{{x`, stays in the text and reaches the model as it is.",
			Triggers: Example{Source: head + strings.Replace(answer, "{{question}}", "{{question}} {{first-name}}", 1)},
			Quiet:    Example{Source: head + answer},
		},
		{
			Code: "MK415", Severity: mkl.Finding,
			Title:    "a comparison with True, False or None",
			Why:      "`eq:` and `neq:` compare with the JSON text of a value: `true`, `false`, `null`. The other spelling is still read for booleans and null, because a `neq:` that it made true would let a run pass, but the text `True` and the value true are then not told apart.",
			Triggers: Example{Source: coin("eq:heads:True")},
			Quiet:    Example{Source: coin("eq:heads:true")},
		},
		{
			Code: "MK416", Severity: mkl.Note,
			Title: "a sensitive parameter comes from outside",
			Why: "The host declared this parameter of the tool sensitive: who gets the reply, where the file goes. Here its value comes from a key that can be External, so somebody outside the run may choose it.\n\n" +
				external,
			Triggers: Example{Source: mail("{{ticket.from}}")},
			Quiet:    Example{Source: mail("customer")},
		},
		{
			Code: "MK417", Severity: mkl.Note,
			Title: "a parametric hook confirms on outside text",
			Why: "A fired hook counts as a decision of host code and clears the flow flag. `eq:` and `neq:` over a key that can be External let outside text decide after all; the step records `confirmed_on_external`. Let a hook of the host decide, or a person.\n\n" +
				external,
			Triggers: Example{Source: head + verdict("eq:verdict:safe")},
			Quiet:    Example{Source: coin("eq:heads:true")},
		},
	}
}

const external = "A key can be External when a tool's answer is written there; when a call writes it whose inputs can be External, or whose machine uses a tool, has a fan-out or can be answered by a person, or was not looked at; when a generative state writes it whose prompt or `over` reads such a key; when a fan-out writes it, because a failed branch leaves its error text; when a reply is written there; and when it is a key of `context`, because a host input may replace it. A key that only states write is no input. A gate that reads the output its own state has just set sees that output alone. Vouches of the operator are outside the document and are not looked for."

// gated is a state that repairs, asks or goes on: gate, then otherwise.
func gated(gate string) string {
	return strings.Replace(answer, "      - {", "      "+gate+"\n      - {", 1)
}

const doubt = `  doubt:
    structure: One sentence that says what is not known.
    prompt: "Say what is missing: {{answer}}"
    output: answer
    gates:
      - { when: otherwise, then: ok, to: END }
`

func sending(gate string) string {
	return gated(gate) + `  send:
    tool: send_reply
    input: { body: "{{answer}}" }
    output: sent
    gates:
      - { when: otherwise, then: ok, to: END }
`
}

func handing(gate string) string {
	return gated(gate) + `  hand_over:
    call: deliver
    input: { text: "{{answer}}" }
    output: sent
    gates:
      - { when: otherwise, then: ok, to: END }
`
}

const deliver = `machine: deliver
entry: send
budget: 3
context:
  text: ""
states:
  send:
    tool: send_reply
    input: { body: "{{text}}" }
    output: sent
    gates:
      - { when: otherwise, then: ok, to: END }
`

func ticket(placeholder string) string {
	return `machine: example
entry: answer
budget: 4
context:
  ticket: { from: "", body: "" }
states:
` + strings.Replace(answer, "{{question}}", placeholder, 1)
}

func mail(to string) string {
	return `machine: example
entry: send
budget: 4
context:
  ticket: { from: "" }
states:
  send:
    tool: send_reply
    input: { to: "` + to + `", body: We have received your message. }
    output: sent
    gates:
      - { when: otherwise, then: ok, to: END }
`
}

func verdict(hook string) string {
	return `  answer:
    structure: One word, safe or unsafe.
    prompt: "Is this safe? {{question}}"
    output: verdict
    gates:
      - { when: it is safe, hook: "` + hook + `", then: ok, to: END }
      - { when: otherwise, fail: true }
`
}

func coin(hook string) string {
	return `machine: example
entry: throw
budget: 4
states:
  throw:
    structure: "true or false."
    prompt: Throw a coin. Is heads up?
    parse: json
    output: heads
    gates:
      - { when: heads is up, hook: "` + hook + `", then: ok, to: END }
      - { when: otherwise, fail: true }
`
}
