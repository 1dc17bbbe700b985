package engine

import "github.com/pinfold-dev/pinfold/trust"

// Frames is a parked run, one Frame per call level, outermost first
// (LANGUAGE.md §18.2). Value and FramesOf are their wire form.
type Frames []Frame

// Frame is one call level.
type Frame struct {
	Machine, State string
	Board          []Cell
	Steps          int
	In, Out        int
	Estimated      bool
	Feedback       string
	HasFeedback    bool
	RepairLeft     []RepairLeft
	Trace          []TraceStep
	Entered        bool
	Visits         []Visit // sorted by state
	FlowTainted    bool
	FlowBy         string
	ReplyTo        string
	Ask            string
	HasReply       bool
	HasAsk         bool
	Approval       *Approval
	Branches       []BranchFrame
	ResumeInjected []string
	Outside        bool // a resume put outside data into this level or below it
}

// Cell is one key of a frame's blackboard, in insertion order.
type Cell struct {
	Key     string
	Value   trust.Value
	Version uint32
}

// RepairLeft is what is left of one repair gate's budget.
type RepairLeft struct {
	State string
	Gate  int
	Left  int
}

// Visit counts the entries of one state.
type Visit struct {
	State string
	Count int
}

// BranchFrame is one branch of a suspended fan-out.
type BranchFrame struct {
	Index        int
	Done         bool
	Output       trust.Value
	HasOutput    bool
	Reasoning    string
	SubTrace     []TraceStep
	HasSubTrace  bool
	Usage        Usage
	Error        string
	Truncated    bool
	FinishReason string
	Approval     *Approval
	Frames       Frames
}
