// Package scripted is the model of scenarios and conformance cases
// (LANGUAGE.md §19): it answers from a list or a map that the test wrote.
//
// It never looks at who chose a text and never sleeps, retries or draws
// anything: the same script and the same order of calls give the same replies.
//
// A Script is shared and immutable; a Cursor is one run's place in it:
//
//	s := scripted.Script{Texts: []string{"draft"}, Verdicts: []scripted.Verdict{scripted.None()}}
//	c := s.Cursor()                        // copied per run, used by one goroutine
//	reply, err := c.ProduceText(user)      // "draft", then "ok" for ever
//	reply = c.JudgeN(2)                    // {"choice": 3}
//
// New wraps a cursor as an llm.Model for callers that hold a rendered prompt
// and may be concurrent.
package scripted

import (
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/llm"
)

// Script is what a scripted model says. The zero Script produces "ok" and
// judges the last condition true. It must not be changed once a Cursor exists.
type Script struct {
	// Texts are produced in order, then "ok" for ever. Used unless Keyed.
	Texts []string
	// Keyed makes Matches answer: the first whose Key is a substring of the
	// rendered user message. None: the produce fails (llm.KindScript), an empty
	// Matches always.
	Keyed   bool
	Matches []Match

	// Input and Output are the tokens that every produce reports.
	Input, Output int

	// Verdicts answer judge calls in order, the last repeats for ever. None at
	// all: the last condition.
	Verdicts []Verdict
	// Unparseable makes every judge call reply without a verdict.
	Unparseable bool
}

// Match is one entry of a produce map.
type Match struct{ Key, Text string }

// Verdict is one entry of a judge list. The zero Verdict is the first condition.
type Verdict struct {
	index int
	none  bool
}

// Index is the verdict for condition i of the presented batch, from 0. An index
// that the batch does not have is no verdict; in particular the number of
// conditions is not the none verdict.
func Index(i int) Verdict { return Verdict{index: i} }

// None is the verdict that no condition holds.
func None() Verdict { return Verdict{none: true} }

// Replies without a verdict. They hold no digit, so the lenient reading of a
// judge's reply (LANGUAGE.md §10.3) finds none in them either.
const (
	unparseable = "the script says: unparseable"
	outOfRange  = "the script's index is out of range"
)

// NoMatch is the message of the error of a produce that no map entry matches.
const NoMatch = "no scripted text matches the prompt"

// Thought is the reasoning of every produce that asks for one.
const Thought = "thought"

// Cursor is one run's place in a Script. Copying it forks the run. It is used
// by one goroutine.
type Cursor struct {
	script           *Script
	produced, judged int
}

// Cursor is a cursor at the beginning.
func (s *Script) Cursor() Cursor { return Cursor{script: s} }

// NeedsUser reports whether ProduceText looks at its argument: a caller that
// would have to build the message for it need not.
func (c *Cursor) NeedsUser() bool { return c.script.Keyed }

// ProduceText answers the next produce. user is the rendered user message. The
// reply holds no reasoning: the caller adds Thought where it was asked for.
func (c *Cursor) ProduceText(user string) (llm.Reply, error) {
	s := c.script
	reply := llm.Reply{Text: "ok", FinishReason: "stop", Usage: engine.Usage{Input: s.Input, Output: s.Output}}
	if !s.Keyed {
		if c.produced < len(s.Texts) {
			reply.Text = s.Texts[c.produced]
			c.produced++
		}
		return reply, nil
	}
	for i := range s.Matches {
		if strings.Contains(user, s.Matches[i].Key) {
			reply.Text = s.Matches[i].Text
			return reply, nil
		}
	}
	return llm.Reply{}, &llm.Error{Kind: llm.KindScript, Message: NoMatch}
}

// JudgeN answers the next judge call over n conditions with a reply as a model
// would write it: {"choice": k}, where n+1 is none of them, or words that hold
// no verdict. It reports no tokens.
func (c *Cursor) JudgeN(n int) llm.Reply {
	return llm.Reply{Text: c.verdict(n), FinishReason: "stop"}
}

func (c *Cursor) verdict(n int) string {
	s := c.script
	if s.Unparseable {
		return unparseable
	}
	if len(s.Verdicts) == 0 {
		return choice(n)
	}
	v := s.Verdicts[min(c.judged, len(s.Verdicts)-1)]
	if c.judged < len(s.Verdicts) {
		c.judged++
	}
	switch {
	case v.none:
		return choice(n + 1)
	case v.index < 0 || v.index >= n:
		return outOfRange
	}
	return choice(v.index + 1)
}

// choices holds the common replies, so that a judge call allocates nothing.
const choices = `{"choice": 1}{"choice": 2}{"choice": 3}{"choice": 4}{"choice": 5}{"choice": 6}{"choice": 7}{"choice": 8}{"choice": 9}`

func choice(k int) string {
	const size = len(choices) / 9
	if 1 <= k && k <= 9 {
		return choices[(k-1)*size : k*size]
	}
	return `{"choice": ` + strconv.Itoa(k) + `}`
}
