package receipttest_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/receipt"
	"github.com/pinfold-dev/pinfold/receipt/receipttest"
)

// memory is a sink with one fault.
type memory struct {
	mu      sync.Mutex
	fault   string
	records []receipt.Record
	kept    [][]fence.Row
	calls   []receipt.CallID
}

func (m *memory) Receipts(ctx context.Context, call receipt.CallID, rows []fence.Row) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fault == "gives up" && ctx.Err() != nil {
		return ctx.Err()
	}
	if m.fault == "keeps the rows" {
		m.kept, m.calls = append(m.kept, rows), append(m.calls, call)
		return nil
	}
	for i := range rows {
		r := receipt.NewRecord(call, &rows[i], time.Unix(1, 0))
		switch m.fault {
		case "copies the declaration":
			r.Fenced = !r.Authoritative
		case "no time":
			r.Time = time.Time{}
		case "loses the dropped":
			if r.Dropped {
				continue
			}
		case "digests something else":
			r.SHA256 = ""
		case "not together":
			m.mu.Unlock()
			time.Sleep(time.Microsecond)
			m.mu.Lock()
		}
		m.records = append(m.records, r)
	}
	if m.fault == "reversed" {
		slices.Reverse(m.records)
	}
	return nil
}

func (m *memory) read() ([]receipt.Record, error) {
	for i, rows := range m.kept {
		for j := range rows {
			m.records = append(m.records, receipt.NewRecord(m.calls[i], &rows[j], time.Unix(1, 0)))
		}
	}
	return m.records, nil
}

func TestCheck(t *testing.T) {
	for _, fault := range []string{"", "gives up", "keeps the rows", "copies the declaration", "no time", "loses the dropped", "digests something else", "not together", "reversed"} {
		err := receipttest.Check(t.Context(), func() (receipt.Sink, func() ([]receipt.Record, error), error) {
			m := &memory{fault: fault}
			return m, m.read, nil
		})
		if (err == nil) != (fault == "") {
			t.Errorf("fault %q: %v", fault, err)
		}
	}
}

func TestRowsHaveEveryKind(t *testing.T) {
	rows, err := receipttest.Rows()
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for i := range rows {
		r := &rows[i]
		has["fenced"] = has["fenced"] || r.Fenced
		has["bare"] = has["bare"] || !r.Fenced && !r.Dropped
		has["truncated"] = has["truncated"] || r.Truncated
		has["dropped"] = has["dropped"] || r.Dropped
		has["altered"] = has["altered"] || r.Altered
		has["invisible"] = has["invisible"] || r.Invisible() > 0
		has["banner"] = has["banner"] || strings.Contains(r.Banner, `"`)
		has["inline"] = has["inline"] || r.Style == fence.StyleInline
	}
	for _, kind := range []string{"fenced", "bare", "truncated", "dropped", "altered", "invisible", "banner", "inline"} {
		if !has[kind] {
			t.Errorf("no row is %s", kind)
		}
	}
	// question, line end, name, page had to be fenced and were; owner is admitted,
	// none was dropped, count is a number.
	c := receipt.Cover(rows)
	if (c != receipt.Coverage{Parts: 7, Declared: 4, Required: 4, Enforced: 4}) {
		t.Errorf("%+v", c)
	}
}
