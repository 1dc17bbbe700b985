package receipt_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/receipt"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/trust/unchecked"
)

// input renders a prompt: an author's own system message with the nonce at its end, and
// data, if there is any.
func input(t fatal, system, data, nonce string) (fence.Rendered, []fence.Row) {
	var p fence.Prompt
	p.System.Text(unchecked.Vouch(system, "a test's own"))
	var when fence.Doc
	when.Text(trust.Const(" Nonce: "))
	when.Nonce()
	p.System.WhenFenced(when)
	p.User.Text(trust.Const("Read this: "))
	if data != "" {
		p.User.Data("page", trust.External("web:x", data))
	}
	r, rows, err := fence.Render(p, func(n *[12]byte) error { copy(n[:], nonce); return nil })
	if err != nil {
		t.Fatalf("%v", err)
	}
	return r, rows
}

type fatal interface {
	Fatalf(format string, args ...any)
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// The marks stand at powers of two and where the nonce does, over what stands there.
func TestCall(t *testing.T) {
	system := strings.Repeat("0123456789", 30)
	r, _ := input(t, system, "x", "aaaa00001111")
	at := time.Unix(5, 0)
	c := receipt.NewCall(receipt.CallID{Run: "r", Effect: "e"}, r, at)
	before := system + " Nonce: "
	want := []receipt.Mark{{64, digest(before[:64])}, {128, digest(before[:128])}, {256, digest(before[:256])}, {308, digest(before)}}
	if fmt.Sprint(c.Prefix) != fmt.Sprint(want) || c.SystemBytes != len(r.System()) || c.UserBytes != len(r.User()) || c.CallID != "r/e" || !c.Time.Equal(at) {
		t.Errorf("%+v\nwant %v", c, want)
	}
	if strings.Contains(fmt.Sprint(c), "aaaa00001111") {
		t.Error("the nonce is kept")
	}
	// With nothing fenced both messages are the prefix.
	r, _ = input(t, system, "", "")
	c = receipt.NewCall(receipt.CallID{}, r, at)
	if last := c.Prefix[len(c.Prefix)-1]; last.Bytes != 300+11 || last.SHA256 != digest(system+"Read this: ") {
		t.Errorf("%+v", c.Prefix)
	}
	// A nonce at once, and no text at all, have no prefix.
	var p fence.Prompt
	p.User.Data("", trust.External("", "x"))
	for _, p := range []fence.Prompt{{}, p} {
		r, _, err := fence.Render(p, func(n *[12]byte) error { copy(n[:], "aaaa00001111"); return nil })
		if err != nil {
			t.Fatal(err)
		}
		if c := receipt.NewCall(receipt.CallID{}, r, at); len(c.Prefix) > 1 || len(c.Prefix) == 1 && c.Prefix[0].Bytes > len("<data-") {
			t.Errorf("%+v", c.Prefix)
		}
	}
}

// What a summary says is the same of two inputs is the same, and all of what stands
// before the nonce when that is.
func TestIdenticalPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab ")), 0, 600, -1)
		base := text.Draw(t, "base")
		var s receipt.Summary
		var inputs, befores []string
		for i := range rapid.IntRange(1, 5).Draw(t, "calls") {
			system := base
			if rapid.Bool().Draw(t, "other") {
				system = base[:rapid.IntRange(0, len(base)).Draw(t, "cut")] + text.Draw(t, "more")
			}
			r, _ := input(t, system, rapid.SampledFrom([]string{"", "x"}).Draw(t, "data"), fmt.Sprintf("aaaa%08d", i))
			c := receipt.NewCall(receipt.CallID{}, r, time.Time{})
			s.Call(&c)
			all := r.System() + r.User()
			before := all
			if r.Nonce() != "" {
				before, _, _ = strings.Cut(all, r.Nonce())
			}
			p := s.Calls()[i]
			if p.Bytes != len(all) {
				t.Fatalf("%d bytes of %d", p.Bytes, len(all))
			}
			same, whole := p.Same == 0, false
			for j := range inputs {
				same = same || p.Same <= len(inputs[j]) && inputs[j][:p.Same] == all[:p.Same]
				whole = whole || befores[j] == before
			}
			if !same {
				t.Fatalf("call %d: %d bytes are not the same as before", i, p.Same)
			}
			if whole && p.Same != len(before) {
				t.Fatalf("call %d: %d of %d bytes before the nonce, expected all", i, p.Same, len(before))
			}
			inputs, befores = append(inputs, all), append(befores, before)
		}
	})
}

// kept is a sink that keeps calls, and rows what it is given.
type kept struct {
	rows  []fence.Row
	calls []receipt.Call
	fail  error
}

func (k *kept) Receipts(_ context.Context, _ receipt.CallID, rows []fence.Row) error {
	k.rows = append(k.rows, rows...)
	return k.fail
}

type keptCalls struct{ kept }

func (k *keptCalls) Call(_ context.Context, call receipt.CallID, r fence.Rendered) error {
	k.calls = append(k.calls, receipt.NewCall(call, r, time.Time{}))
	return nil
}

func TestKeep(t *testing.T) {
	r, rows := input(t, "s", "x", "aaaa00001111")
	plain, calls := &kept{}, &keptCalls{}
	for _, s := range []receipt.Sink{plain, calls} {
		if err := receipt.Keep(t.Context(), s, receipt.CallID{}, r, rows); err != nil {
			t.Fatal(err)
		}
	}
	if len(plain.rows) != 1 || len(calls.rows) != 1 || len(calls.calls) != 1 {
		t.Errorf("%+v %+v", plain, calls)
	}
	calls.fail = errors.New("full")
	if err := receipt.Keep(t.Context(), calls, receipt.CallID{}, r, rows); !errors.Is(err, calls.fail) || len(calls.calls) != 1 {
		t.Errorf("%v, %d calls", err, len(calls.calls))
	}
	if err := receipt.Keep(t.Context(), calls, receipt.CallID{}, fence.Rendered{}, nil); !errors.Is(err, fence.ErrNotRendered) {
		t.Errorf("what was never rendered: %v", err)
	}
}

// Records made side by side are those made one by one.
func TestRecordsOfLargeValues(t *testing.T) {
	var p fence.Prompt
	for i := range 40 {
		p.User.Data(fmt.Sprint("k", i), trust.External("web:x", strings.Repeat(fmt.Sprint(i, " "), 10_000)))
	}
	_, rows, err := fence.Render(p, func(n *[12]byte) error { copy(n[:], "aaaabbbbcccc"); return nil })
	if err != nil {
		t.Fatal(err)
	}
	call := receipt.CallID{Run: "r", Effect: "e"}
	for i, got := range receipt.NewRecords(call, rows, time.Unix(1, 0)) {
		sum := sha256.Sum256([]byte(rows[i].Value()))
		if want := receipt.NewRecord(call, &rows[i], time.Unix(1, 0)); got != want || got.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%+v\nwant %+v", got, want)
		}
	}
	if got := receipt.NewRecords(call, nil, time.Time{}); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// BenchmarkRecords is the digests of 25 values of 20,000 characters.
func BenchmarkRecords(b *testing.B) {
	var p fence.Prompt
	for i := range 25 {
		p.User.Data(fmt.Sprint("k", i), trust.External("web:x", strings.Repeat("text ", 4000)))
	}
	_, rows, err := fence.Render(p, func(n *[12]byte) error { copy(n[:], "aaaabbbbcccc"); return nil })
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(25 * 20_000)
	b.ReportAllocs()
	for b.Loop() {
		receipt.NewRecords(receipt.CallID{Run: "r", Effect: "e"}, rows, time.Time{})
	}
}
