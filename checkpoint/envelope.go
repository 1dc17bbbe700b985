package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/value"
)

// Inline is the machine_path of a machine without a file.
const Inline = "<inline>"

// Envelope is a parked run with everything that a resume must know of it.
type Envelope struct {
	Version string // of the program that wrote it
	Foreign bool   // written by another reader of the format
	Created string // UTC, ISO, seconds
	ID      string // 32 hex characters, this envelope's own; "" in a foreign one
	Run     string

	Machine  string
	Path     string // of the machine's file, as given; Inline without one
	FileHash string // hex SHA-256 of the file's bytes; "" without a file
	Program  []Hash // by machine; nil where none are recorded
	Source   string // of an inline machine
	Inlined  bool   // there is a Source

	Reason     string // of the suspension; "" while the turn goes on
	CostBudget int
	HasBudget  bool
	HITL       bool // an escalation suspends
	Policy     Policy
	HasPolicy  bool

	Frames   engine.Frames
	Metadata value.Value // the host's own

	// With a store: Journal is how many records the run had when the envelope was
	// made, and Turn says how the turn began that the records since belong to; nil
	// in the envelope of a suspension.
	Journal uint64
	Turn    *Turn
}

// Hash is the hash of the canonical form of one machine.
type Hash struct{ Machine, Sum string }

// Policy is what was in force. The zero Policy halts on everything.
type Policy struct {
	policy.Policies
	OnTruncate engine.Truncate
}

// Turn is what a resume brought to the frames that it started from; the zero
// Turn is a run's first.
type Turn struct {
	Inject                 map[string]value.Value // External, whatever they say
	Unconfirmed            bool
	Approve, Deny, Expired []string
	DropApprovals          bool
	Forced                 []string
}

// Pin fills in the hashes of what runs: the file's bytes (nil without a file) and
// every machine that can be reached.
func (e *Envelope) Pin(p *engine.Program, file []byte) {
	e.Machine = p.Machine().Name
	e.FileHash = ""
	if file != nil {
		e.FileHash = hash(file)
	}
	e.Program = Hashes(p)
}

// Hashes are the hashes of a program's machines, the top one first.
func Hashes(p *engine.Program) []Hash {
	ms := p.Reachable()
	out := make([]Hash, len(ms))
	for i, m := range ms {
		out[i] = Hash{m.Name, mkl.Hash(m)}
	}
	return out
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Changed names the machines that are not what the envelope pins (LANGUAGE.md
// §18.3, 2): the file's bytes, a machine's canonical form, one that came or went.
func (e *Envelope) Changed(p *engine.Program, file []byte) []string {
	var names []string
	if e.FileHash != "" && (file == nil || hash(file) != e.FileHash) {
		names = append(names, e.Machine)
	}
	if e.Program == nil {
		return names
	}
	now := Hashes(p)
	for _, h := range e.Program {
		if !slices.Contains(now, h) && !slices.Contains(names, h.Machine) {
			names = append(names, h.Machine)
		}
	}
	for _, h := range now {
		if !slices.Contains(e.Program, h) && !slices.Contains(names, h.Machine) {
			names = append(names, h.Machine)
		}
	}
	return names
}

// Unpinned says that the envelope does not pin all that would run: a foreign one
// that records no hash of the machines.
func (e *Envelope) Unpinned() bool { return e.Program == nil }

// Pending are the approvals that wait in the frames, by level and branch.
func (e *Envelope) Pending() []engine.Approval { return pending(e.Frames, nil) }

func pending(f engine.Frames, out []engine.Approval) []engine.Approval {
	for i := range f {
		if a := f[i].Approval; a != nil {
			out = append(out, *a)
		}
		for j := range f[i].Branches {
			b := &f[i].Branches[j]
			if b.Approval != nil {
				out = append(out, *b.Approval)
			}
			out = pending(b.Frames, out)
		}
	}
	return out
}

// Expired are the ids of the pending approvals whose time is over at now. One
// whose time cannot be read is over.
func (e *Envelope) Expired(now time.Time) []string { return e.Frames.Expired(now) }
