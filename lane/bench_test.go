package lane_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/lane"
	"github.com/pinfold-dev/pinfold/receipt"
	"github.com/pinfold-dev/pinfold/trust"
)

// twentyFive is 25 lanes of the given budget.
func twentyFive(b testing.TB, budget int) (*lane.Registry, []lane.Name) {
	var f strings.Builder
	f.WriteString("version = 1\n")
	all := make([]lane.Name, 25)
	for i := range all {
		all[i] = lane.Name(fmt.Sprintf("lane_%02d", i))
		fmt.Fprintf(&f, "[lane.%s]\ntrust = \"retrieved\"\nbudget = %d\norder = %d\n", all[i], budget, i)
	}
	return parse(b, f.String()), all
}

// BenchmarkAssemble is 25 lanes of 20,000 characters, from the puts to the bytes of a
// call with its rows: in lanes that hold them, in lanes that cut them, and with the
// records that a sink makes of the rows, digest of each value and all. The bytes go into a buffer that is used
// again.
func BenchmarkAssemble(b *testing.B) {
	prose := strings.Repeat("It was agreed on 4 March 2024 that whoever comes late pays the fare of 12.50 again, unless the delay is one that the company answers for. ", 200)[:20_000]
	data := make([]trust.Data, 25)
	for i := range data {
		data[i] = trust.External("web:example.org", prose)
	}
	draw := fence.Hex(rand.Reader)
	for _, c := range []struct {
		name    string
		budget  int
		total   fence.Budget
		digests bool
	}{
		{"whole", 21_000, fence.Budget{}, false},
		{"whole,total", 21_000, fence.Budget{Set: true, Max: 1_000_000}, false},
		{"whole,digests", 21_000, fence.Budget{}, true},
		{"cut", 20_000, fence.Budget{}, false},
		{"cut,digests", 20_000, fence.Budget{}, true},
		{"shrunk", 20_000, fence.Budget{Set: true, Max: 250_000}, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			lanes, all := twentyFive(b, c.budget)
			var buf []byte
			var records []receipt.Record
			b.ReportAllocs()
			for b.Loop() {
				asm := lane.New(lanes, c.total)
				for i, name := range all {
					if err := asm.Put(name, data[i]); err != nil {
						b.Fatal(err)
					}
				}
				p, err := asm.Assemble()
				if err != nil {
					b.Fatal(err)
				}
				r, rows, err := fence.Render(p, draw)
				if err != nil || len(rows) != 25 {
					b.Fatal(err)
				}
				buf = r.AppendUser(r.AppendSystem(buf[:0]))
				if c.digests {
					records = receipt.NewRecords(receipt.CallID{Run: "r", Effect: "e"}, rows, time.Time{})
				}
			}
			b.SetBytes(int64(len(buf)))
			_ = records
		})
	}
}

// BenchmarkPut is one put, of however many.
func BenchmarkPut(b *testing.B) {
	lanes, all := twentyFive(b, 20_000)
	v := trust.External("web:example.org", "text")
	b.ReportAllocs()
	asm := lane.New(lanes, fence.Budget{})
	n := 0
	for b.Loop() {
		if n++; n%1000 == 0 {
			asm = lane.New(lanes, fence.Budget{})
		}
		if err := asm.Put(all[n%25], v); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParse is a file of 10,000 lanes.
func BenchmarkParse(b *testing.B) {
	text := tenThousand()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := lane.Declared("lanes.toml", []byte(text)); err != nil {
			b.Fatal(err)
		}
	}
}

func tenThousand() string {
	var f strings.Builder
	f.WriteString("version = 1\n")
	for i := range 10_000 {
		fmt.Fprintf(&f, "[lane.lane_%d]\ntrust = \"retrieved\"\nbudget = { tokens = %d }\n", i, i)
	}
	return f.String()
}
