package engine

import "slices"

// steps is a trace that grows without moving what it holds: a long run would copy
// its trace again and again.
type steps struct {
	full [][]TraceStep // chunks, never written again
	last []TraceStep
	n    int // in full
}

const stepChunk = 64

// add is a new step at the end, to be filled in.
func (s *steps) add() *TraceStep {
	if len(s.last) == stepChunk {
		s.full = append(s.full, s.last)
		s.n += stepChunk
		s.last = nil
	}
	if len(s.last) == cap(s.last) {
		size := 4
		if s.n > 0 {
			size = stepChunk
		} else if len(s.last) > 0 {
			size = 2 * len(s.last)
		}
		grown := make([]TraceStep, len(s.last), size)
		copy(grown, s.last)
		s.last = grown
	}
	s.last = s.last[:len(s.last)+1]
	return &s.last[len(s.last)-1]
}

// all is the whole trace in one piece.
func (s *steps) all() []TraceStep {
	if s.n == 0 {
		return slices.Clip(s.last)
	}
	out := make([]TraceStep, 0, s.n+len(s.last))
	for _, c := range s.full {
		out = append(out, c...)
	}
	return append(out, s.last...)
}

// fork is the same trace for another run: neither sees what the other adds.
func (s *steps) fork() steps {
	return steps{full: slices.Clip(s.full), last: slices.Clip(s.last), n: s.n}
}

func stepsOf(trace []TraceStep) steps {
	if len(trace) <= stepChunk {
		return steps{last: slices.Clip(trace)}
	}
	return steps{full: [][]TraceStep{trace}, n: len(trace)}
}
