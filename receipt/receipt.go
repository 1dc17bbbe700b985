// Package receipt is the contract of receipt sinks: rows leave the hot path as
// the renderer wrote them; a sink computes digests, joins the call id, writes
// (TRUST.md §3).
//
// A receipt says what was done to each part of a prompt, never what somebody
// declared should be done: every field comes from the row. A sink never holds
// the text of a value, only its digest. Implementations must pass receipttest.
//
//	rendered, rows, err := fence.Render(prompt, nonces)
//	// before the prompt goes anywhere:
//	err = sink.Receipts(ctx, receipt.CallID{Run: run, Effect: effect}, rows)
package receipt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pinfold-dev/pinfold/fence"
)

// CallID names one model call: the run id and the effect's canonical text.
type CallID struct{ Run, Effect string }

// String joins the two with a slash. A run id has none.
func (c CallID) String() string { return c.Run + "/" + c.Effect }

// Sink takes the rows of one call. It is safe for concurrent use, keeps the rows
// of a call together and in order, and does not keep rows after it returns. An
// error means that some of them may not be kept.
type Sink interface {
	Receipts(ctx context.Context, call CallID, rows []fence.Row) error
}

// Record is one row as a sink writes it, in the order of its keys
// (PROMPTS-AND-LANES.md). Fenced stands beside Trust: what was done beside what
// was declared.
type Record struct {
	Channel       string
	Kind          string
	Origin        string // the sources, as the text of a label writes them
	Trust         string // the declared class, "" when none was
	Fenced        bool
	Level         string // external, model, author
	Authoritative bool   // as declared
	Admitted      bool   // went bare because its class admits all its origins
	Required      bool   // had to be fenced (fence.Row.HadToBeFenced)
	FenceStyle    string // "" when not fenced
	Banner        string // as it was emitted
	BytesIn       int
	BytesOut      int
	Budget        fence.Budget
	Truncated     bool
	Dropped       bool
	Altered       bool
	Invisible     int
	Position      int
	SHA256        string // hex, of what was carried of the value
	CallID        string
	Time          time.Time
}

// NewRecord is the record of one row of a call. It costs a digest of the value.
func NewRecord(call CallID, row *fence.Row, at time.Time) Record {
	r := newRecord(call.String(), row, at)
	r.read(row)
	return r
}

// NewRecords is the records of the rows of one call. Where there is much to read, it is
// done on as many processors as there are; nothing is left running.
func NewRecords(call CallID, rows []fence.Row, at time.Time) []Record {
	const much = 128 << 10 // bytes: about 100 µs of work for one processor
	id, bytes := call.String(), 0
	records := make([]Record, len(rows))
	for i := range rows {
		records[i] = newRecord(id, &rows[i], at)
		bytes += len(rows[i].Value())
	}
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)); i <= len(rows); i = int(next.Add(1)) {
			records[i-1].read(&rows[i-1])
		}
	}
	var wg sync.WaitGroup
	if bytes >= much {
		for range min(runtime.GOMAXPROCS(0), len(rows), bytes/(much/2)) - 1 {
			wg.Go(work)
		}
	}
	work()
	wg.Wait()
	return records
}

// read fills in what takes a look at the whole value.
func (r *Record) read(row *fence.Row) {
	r.SHA256 = digest(row.Value())
	r.Invisible = row.Invisible()
}

// digest is the SHA-256 of s in hex. A piece at a time, so that s is not copied whole.
func digest(s string) string {
	h := sha256.New()
	write(h, s)
	var sum [sha256.Size]byte
	return hex.EncodeToString(h.Sum(sum[:0]))
}

func write(h hash.Hash, s string) {
	var piece [2048]byte
	for len(s) > 0 {
		n := copy(piece[:], s)
		h.Write(piece[:n])
		s = s[n:]
	}
}

func newRecord(id string, row *fence.Row, at time.Time) Record {
	r := Record{
		Channel:       row.Channel,
		Kind:          row.Kind,
		Origin:        row.Origin(),
		Trust:         row.Trust,
		Fenced:        row.Fenced,
		Level:         row.Label.Level().String(),
		Authoritative: row.Authoritative,
		Admitted:      row.Admitted,
		Required:      row.HadToBeFenced(),
		Banner:        row.Banner,
		BytesIn:       row.BytesIn,
		BytesOut:      row.BytesOut,
		Budget:        row.Budget,
		Truncated:     row.Truncated,
		Dropped:       row.Dropped,
		Altered:       row.Altered,
		Position:      row.Position,
		CallID:        id,
		Time:          at.UTC(),
	}
	if row.Fenced {
		r.FenceStyle = row.Style.String()
	}
	return r
}
