package receipt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/receipt"
	"github.com/pinfold-dev/pinfold/receipt/receipttest"
	"github.com/pinfold-dev/pinfold/trust"
)

// What records come to is what rows come to: a scalar and an admitted origin did not
// have to be fenced, and a record still knows.
func TestSummaryIsCover(t *testing.T) {
	for _, undelimited := range []bool{false, true} {
		all := rows(t, undelimited)
		more, err := receipttest.Rows()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, more...)
		var s receipt.Summary
		var channels, origins receipt.Coverage
		for _, r := range receipt.NewRecords(receipt.CallID{}, all, time.Time{}) {
			s.Row(&r)
		}
		for _, c := range s.Channels() {
			channels = channels.Add(c.Coverage)
		}
		for _, c := range s.Origins() {
			origins = origins.Add(c.Coverage)
		}
		if want := receipt.Cover(all); s.Total != want || channels != want || origins != want {
			t.Errorf("total %+v, by channel %+v, by origin %+v, want %+v", s.Total, channels, origins, want)
		}
		if s.Dropped != 1 || s.Altered != 1 || s.Admitted != 1 || s.Truncated != 1 || s.Overruled != 0 {
			t.Errorf("%+v", s)
		}
	}
}

func TestSummaryByName(t *testing.T) {
	var p fence.Prompt
	both := trust.DataOf("x", trust.From("web:a"), trust.From("web:b c"))
	p.User.Put(fence.Part{Channel: "page", Kind: "lane", Data: both, Trust: "retrieved"})
	p.User.Put(fence.Part{Channel: "page", Kind: "slot", Data: trust.External("web:a", "x"), Trust: "outside"})
	p.User.Put(fence.Part{Channel: "owner", Kind: "lane", Data: trust.External("web:a", "x"), Trust: "owner", Authoritative: true})
	p.User.Undelimited("q", trust.External("", "x"))
	p.User.Put(fence.Part{Channel: "page", Kind: "lane", Data: trust.External("web:a", "x"), Trust: "retrieved", Budget: fence.Budget{Set: true}})
	_, all, err := fence.Render(p, func(n *[12]byte) error { copy(n[:], "aaaabbbbcccc"); return nil })
	if err != nil {
		t.Fatal(err)
	}
	var s receipt.Summary
	for _, r := range receipt.NewRecords(receipt.CallID{}, all, time.Time{}) {
		s.Row(&r)
	}
	var got []string
	for _, c := range slices.Concat(s.Channels(), s.Origins()) {
		got = append(got, fmt.Sprintf("%s %s %d/%d %d/%d dropped %d", c.Kind, c.Name, c.Declared, c.Parts, c.Enforced, c.Required, c.Dropped))
	}
	want := []string{
		"key q 0/1 0/1 dropped 0", "lane owner 1/1 1/1 dropped 0", "lane page 2/2 1/1 dropped 1", "slot page 1/1 1/1 dropped 0",
		" ? 0/1 0/1 dropped 0", " web:a 4/4 3/3 dropped 1", " web:b%20c 1/1 1/1 dropped 0",
	}
	if !slices.Equal(got, want) || s.Overruled != 1 {
		t.Errorf("got\n%s\nwant\n%s\noverruled %d", strings.Join(got, "\n"), strings.Join(want, "\n"), s.Overruled)
	}
}
