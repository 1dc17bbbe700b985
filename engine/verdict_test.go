package engine

import (
	"strconv"
	"strings"
	"testing"
)

// verdicts are replies and how they read: the number, or -1 for unparseable.
var verdicts = []struct {
	reply  string
	want   int
	method Method
}{
	{`{"choice": 2}`, 2, MethodJSON},
	{`{"choice":2}`, 2, MethodJSON},
	{`{"choice": "2"}`, 2, MethodJSON},
	{" \n{\"choice\": 2}\n", 2, MethodJSON},
	{`{"why": "because {\"choice\": 9}", "choice": 1}`, 1, MethodJSON},
	{`3`, 3, MethodBare},
	{" 03 ", 3, MethodBare},
	{"```json\n{\"choice\": 1}\n```", 1, MethodJSON},
	{"```json\r\n{\"choice\": 1}\r\n```", 1, MethodJSON},
	{"````\n{\"choice\": 1}\n````", 1, MethodJSON},
	{"```\n2\n```", 2, MethodBare},
	{"{\"why\": \"it holds ``` and ```\", \"choice\": 2}", 2, MethodJSON},
	{"<think>1? no</think>{\"choice\":2}", 2, MethodJSON},
	{"<think>1? no</think>\n```json\n{\"choice\":2}\n```", 2, MethodJSON},
	{`{"choice": 0}`, 0, MethodJSON},
	{`{"choice": 9}`, 9, MethodJSON},
	{`{"choice": 99999999999999999999999999}`, 1<<63 - 1, MethodJSON},
	{`{"choice": 1.5}`, -1, ""},
	{`{"choice": 1.0}`, -1, ""},
	{`{"choice": true}`, -1, ""},
	{`{"choice": null}`, -1, ""},
	{`{"choice": -1}`, -1, ""},
	{`{"choice": " 2"}`, -1, ""},
	{`{"choice": 02}`, -1, ""},
	{`{"choice": [1]}`, -1, ""},
	{`[1]`, -1, ""},
	{`{}`, -1, ""},
	{`{"Choice": 1}`, -1, ""},
	{`{"choice":2,"Choice":1}`, -1, ""},
	{`{"choice":2,"choice":1}`, -1, ""},
	{`{"choice": 1} trailing`, -1, ""},
	{`{"choice": 1}{"choice": 2}`, -1, ""},
	{`The answer is 2`, -1, ""},
	{`The answer says {"choice": 1} but I pick {"choice": 2}`, -1, ""},
	{`Condition 1 fails, so 2`, -1, ""},
	{`-1`, -1, ""},
	{`none`, -1, ""},
	{"\uff12", -1, ""},                                         // full-width digit
	{"\u0662", -1, ""},                                         // Arabic digit
	{"Here:\n```json\n{\"choice\": 1}\n```", -1, ""},           // prose and a fence
	{"```json\n{\"choice\": 1}\n``` or 2", -1, ""},             // something after it
	{"```json\n{\"choice\": 1}", -1, ""},                       // cut off
	{"{\"choice\": 1", -1, ""},                                 // cut off
	{"<think>{\"choice\": 1}", -1, ""},                         // never closed
	{"{\"choice\": 1}<think>2</think>", -1, ""},                // not at the start
	{"<think>a</think><think>b</think>{\"choice\":1}", -1, ""}, // one block, no more
	{"", -1, ""},
	{"```\n```", -1, ""},
	{"```", -1, ""},
}

func TestReadVerdict(t *testing.T) {
	for _, v := range verdicts {
		n, m, ok := ReadVerdict(v.reply, false)
		if !ok {
			n = -1
		}
		if n != v.want || m != v.method {
			t.Errorf("%q: got %d %q, want %d %q", v.reply, n, m, v.want, v.method)
		}
	}
}

func TestReadVerdictLenient(t *testing.T) {
	for reply, want := range map[string]int{
		`The answer is 2`:             2,
		`Condition 1 fails, so 2`:     2,
		`I pick {"choice": 2} not 1!`: 1,
		`it is -1`:                    -1,
		`it is 3 - 1`:                 1,
		`none of them`:                -1,
		`{"choice":2,"Choice":1}`:     1,
		`{"choice": 1.5}`:             5,
		`{"choice": 2}`:               2,
	} {
		n, m, ok := ReadVerdict(reply, true)
		if !ok {
			n = -1
		}
		if n != want || ok && m != MethodLastNumber && reply != `{"choice": 2}` {
			t.Errorf("%q: got %d by %q, want %d", reply, n, m, want)
		}
	}
}

// FuzzReadVerdict: strictly read, a number was the whole reply. Reading it again
// in the plainest form gives the same; what surrounds it can't have been prose.
func FuzzReadVerdict(f *testing.F) {
	for _, v := range verdicts {
		f.Add(v.reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		n, m, ok := ReadVerdict(reply, false)
		if !ok {
			if m != "" || n != 0 {
				t.Fatalf("%q: unparseable, and yet %d %q", reply, n, m)
			}
			return
		}
		if n < 0 {
			t.Fatalf("%q: %d", reply, n)
		}
		if again, _, ok := ReadVerdict(`{"choice": `+strconv.Itoa(n)+`}`, false); !ok || again != n {
			t.Fatalf("%q: read as %d, which reads as %d", reply, n, again)
		}
		if m == MethodJSON && !strings.Contains(reply, "choice") && !strings.Contains(reply, `\u`) {
			t.Fatalf("%q: read as JSON without a choice", reply)
		}
		if _, lm, ok := ReadVerdict(reply, true); !ok || lm != m {
			t.Fatalf("%q: strict says %q, lenient %q", reply, m, lm)
		}
	})
}

func TestFuzzSeeds(t *testing.T) {
	if len(verdicts) < 40 {
		t.Errorf("%d seeds for the judge-reply reader, expected 40 at least", len(verdicts))
	}
}

func TestParseOutput(t *testing.T) {
	for text, want := range map[string]string{
		`["a", "b"]`:                `["a", "b"]`,
		" \n{\"a\": 1}\n":           `{"a": 1}`,
		"null":                      `null`,
		"```json\n[1]\n```":         `[1]`,
		"```\r\n[1]\r\n```":         `[1]`,
		"````json\n[\"```\"]\n````": "[\"```\"]",
		"```[1]```":                 `[1]`,
		"``` [1] ```":               `[1]`,
		"```json\n[1]":              `[1]`, // the closing fence may be missing
		"```json\n[1]\n`````":       `[1]`, // or longer
		"```json [1]```":            "",    // on one line only the backticks go
		"~~~\n[1]\n~~~":             "",
		"Here: [1]":                 "",
		"[1] done":                  "",
		"[1,]":                      "",
		`{"a": 1, "a": 2}`:          "",
		"":                          "",
		"```\n```":                  "",
		"[NaN]":                     "",
	} {
		v, err := parseOutput(text)
		got := ""
		if err == nil {
			got = v.JSON()
		}
		if got != want {
			t.Errorf("%q: got %q (%v), want %q", text, got, err, want)
		}
	}
}
