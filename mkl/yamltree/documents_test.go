package yamltree

import (
	"strings"

	"pgregory.net/rapid"
)

// fragments are what documents of the properties are made of: every indicator,
// the seams between styles, and text that looks like an indicator.
var fragments = []string{
	"a", "b: ", "- ", "key: value\n", "\n", "  ", "    ", " ", "? ", ": ", "[", "]", "{", "}", ", ",
	"\"q\"", "'s''x'", "\"e\\n\\\n  z\"", "|\n", "|-\n", ">\n", ">+\n", "|2\n", "text more\n", "# c\n", " # c\n",
	"&a ", "*a", "&b", "*b", "!!str ", "!!int 5", "<<", "<<: *a\n", "---\n", "...\n", "x:y", "-a", "?b", ":c",
	"\t", "é", "a: b\n", "- x\n", "  a: 1\n", "  - z\n", "\n\n", "'", "\"", "0", "no", "~", "%YAML 1.2\n",
	"a #b", "a#b", "\\", "@", "`", "  text\n", "    deeper\n", "yes", "017", "1e3", "\"a\\nb\"", "'two\n  lines'",
}

// bases are whole documents that the properties cut and splice.
var bases = []string{
	`# a machine of the tests
mklang: "0.4"
machine: base
entry: read   # where it begins
budget: 9

context:
  ticket: {body: "", id: 7}   # filled by the host
  notes: []
  limits: [1, 017,
    yes]   # two lines

states:
  # reads
  read: &read
    prompt: |
      Read {{ticket.body}}.

      Then say what it is.
    structure: one
      word
    output: kind
    gates:
      - {when: it is spam, then: ok, to: END}
      # the rest
      - when: "otherwise"
        then: ok
        to: act
        # a last word
  act:
    <<: *read
    prompt: >-
      Act on {{kind}},
      and no more.
    max_visits: 3
# the end
`,
	"a:\n- b: 1\n  c: [x, 'y', \"z\"]\n- - d\n  - e: {f: g}\n-\n  h: |+\n    keep\n\ni: &x !!str j\nk: *x\n",
	"? a\n: - b\n  - c # d\n? 'e f'\n: {g: h, i: [j, {k: l}]}\nm: >2-\n    n\n  o\n",
}

// documentGen draws texts that are documents more often than not.
func documentGen() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		fragment := rapid.SampledFrom(fragments)
		if rapid.Bool().Draw(t, "loose") {
			return strings.Join(rapid.SliceOfN(fragment, 1, 14).Draw(t, "parts"), "")
		}
		doc := rapid.SampledFrom(bases).Draw(t, "base")
		for range rapid.IntRange(0, 3).Draw(t, "edits") {
			from := rapid.IntRange(0, len(doc)).Draw(t, "from")
			to := min(len(doc), from+rapid.IntRange(0, 4).Draw(t, "cut"))
			doc = doc[:from] + fragment.Draw(t, "insert") + doc[to:]
		}
		return doc
	})
}

// commentedGen draws documents with comments and blank lines in any place.
func commentedGen() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		lines := strings.Split(rapid.SampledFrom(bases).Draw(t, "base"), "\n")
		var out []string
		for _, line := range lines {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				out = append(out, strings.Repeat(" ", rapid.IntRange(0, 8).Draw(t, "column"))+"# own", line)
			case 1:
				out = append(out, line+" # trailing")
			case 2:
				out = append(out, "", line)
			default:
				out = append(out, line)
			}
		}
		return strings.Join(out, "\n")
	})
}
