package checkpoint_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/checkpoint"
	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/store"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
)

func program(tb testing.TB, text string) *engine.Program {
	tb.Helper()
	m, diags := mkl.Parse(mkl.Source{Text: []byte(text), Authorship: mkl.AuthorshipOperator}, mkl.Strict)
	if m == nil {
		tb.Fatal(diags)
	}
	p, err := engine.Compile(m, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

const loop = `
machine: loop
entry: a
budget: 2000
context: { task: "", n: 1 }
states:
  a: { structure: s, prompt: "{{task}}", output: oa, gates: [ { when: otherwise, then: ok, to: b } ] }
  b: { structure: s, prompt: "{{oa}}", output: ob, gates: [ { when: otherwise, then: ok, to: a } ] }
`

// parked is a run of so many steps at its next loop top.
func parked(tb testing.TB, steps int) *checkpoint.Envelope {
	tb.Helper()
	p := program(tb, loop)
	r, err := engine.New(p, engine.Inputs{"task": trust.NewValue(value.FromString("a\x00é <data-0123456789ab>"), trust.From("host:task").WithSecrecy("pii"))},
		engine.Options{RunID: "r", OnTruncate: engine.TruncateReport})
	if err != nil {
		tb.Fatal(err)
	}
	for i := range steps {
		text := fmt.Sprintf("the text of step %d, of about the length that a line in a trace has: forty words or so are not rare, but most are short", i)
		if err := r.Step(r.Ready().Effects[0].ID(), engine.Produced{Text: text, Usage: engine.Usage{Input: 40, Output: 20}}); err != nil {
			tb.Fatal(err)
		}
	}
	e := &checkpoint.Envelope{
		Version: "0.1.0", Created: "2030-01-02T03:04:05Z", ID: strings.Repeat("0a", 16), Run: "r", Path: "loop.mkl",
		Reason: "budget-exhausted", CostBudget: 7, HasBudget: true, HITL: true, HasPolicy: true,
		Policy: checkpoint.Policy{Policies: policy.Policies{UntrustedFlow: policy.Ask, UntrustedArgument: policy.Report}, OnTruncate: engine.TruncateReport},
		Frames: r.Snapshot().Frames, Metadata: value.FromEntries(value.Entry{Key: "by", Value: value.FromString("test")}),
		Journal: 12, Turn: &checkpoint.Turn{Inject: map[string]value.Value{"a.b": value.FromInt(1)}, Approve: []string{"x"}, Forced: []string{"claimed"}, Unconfirmed: true},
	}
	e.Pin(p, []byte(loop))
	return e
}

// What is written reads back as it was, twice.
func TestRoundTrip(t *testing.T) {
	e := parked(t, 5)
	b := e.Encode()
	got, err := checkpoint.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Encode(), b) {
		t.Errorf("wrote\n%s\nread and wrote\n%s", b, got.Encode())
	}
	want, have := *e, *got
	want.Frames, have.Frames = nil, nil
	if !reflect.DeepEqual(want, have) {
		t.Errorf("got  %+v\nwant %+v", have, want)
	}
	if c := got.Frames[0].Board[0]; c.Key != "task" || c.Value.Label().String() != e.Frames[0].Board[0].Value.Label().String() {
		t.Errorf("the label of a key came back as %s", c.Value.Label())
	}
	if bytes.Contains(b, []byte(`"data-`)) || !bytes.HasPrefix(b, []byte("{\n  \"format\": 1,\n")) || b[len(b)-1] != '\n' {
		t.Errorf("got %.80s", b)
	}
}

// A file that is cut anywhere, or has anything behind it, is an error [C66].
func TestCutAnywhere(t *testing.T) {
	b := parked(t, 2).Encode()
	for i := range len(b) - 1 { // without its last line end it is whole
		if _, err := checkpoint.Parse(b[:i]); err == nil {
			t.Fatalf("cut at %d of %d it was read", i, len(b))
		}
	}
	for _, tail := range []string{"}", "x", "\x00", "{}", "//"} {
		var bad *checkpoint.Error
		if _, err := checkpoint.Parse(append(bytes.Clone(b), tail...)); !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), "bad checkpoint: ") {
			t.Errorf("with %q behind it: %v", tail, err)
		}
	}
}

// What changed is named: a byte of the file, a machine, one more or less.
func TestChanged(t *testing.T) {
	p := program(t, loop)
	other := program(t, strings.Replace(loop, "{{oa}}", "{{ob}}", 1))
	for name, c := range map[string]struct {
		change func(e *checkpoint.Envelope)
		p      *engine.Program
		file   string
		want   string
	}{
		"nothing":                   {func(*checkpoint.Envelope) {}, p, loop, "[]"},
		"a byte of the file":        {func(*checkpoint.Envelope) {}, p, loop + "#", "[loop]"},
		"no file":                   {func(*checkpoint.Envelope) {}, p, "", "[loop]"},
		"the machine":               {func(e *checkpoint.Envelope) { e.FileHash = "" }, other, loop, "[loop]"},
		"a callee is gone":          {func(e *checkpoint.Envelope) { e.Program = append(e.Program, checkpoint.Hash{Machine: "sub", Sum: "x"}) }, p, loop, "[sub]"},
		"a callee is new":           {func(e *checkpoint.Envelope) { e.Program = e.Program[:0] }, p, loop, "[loop]"},
		"nothing was pinned":        {func(e *checkpoint.Envelope) { e.Program, e.FileHash = nil, "" }, other, "", "[]"},
		"only the file was pinned":  {func(e *checkpoint.Envelope) { e.Program = nil }, other, loop, "[]"},
		"the file, not the program": {func(e *checkpoint.Envelope) { e.Program = nil }, p, "x", "[loop]"},
	} {
		e := parked(t, 1)
		c.change(e)
		var file []byte
		if c.file != "" {
			file = []byte(c.file)
		}
		if got := fmt.Sprint(e.Changed(c.p, file)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// Two hundred writers of one path: whoever is last, the file is whole and nothing is
// left beside it [C66].
func TestConcurrentWrites(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "for it")
	path := filepath.Join(dir, "run.json")
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			e := parked(t, i%7)
			if err := checkpoint.Write(path, e.Encode()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	b, err := checkpoint.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := checkpoint.Parse(b); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
	info, _ := os.Stat(path)
	in, _ := os.Stat(dir)
	if info.Mode().Perm() != 0o600 || in.Mode().Perm() != 0o700 {
		t.Errorf("modes %v in %v", info.Mode(), in.Mode())
	}
}

// A write that fails leaves the file as it was.
func TestFailedWriteLeavesTheFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.json")
	if err := checkpoint.Write(path, []byte("before")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := checkpoint.Write(filepath.Join(dir, "taken"), []byte("x")); err == nil {
		t.Error("a directory was overwritten")
	}
	if err := checkpoint.Write(filepath.Join(path, "below", "a file"), []byte("x")); err == nil {
		t.Error("a file was taken for a directory")
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "before" {
		t.Errorf("%q, %v", b, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("left %v", left)
	}
}

// Of many that claim one envelope one has it; who has it can give it back [C57].
func TestClaim(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, foreign := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "run.json")
		e := parked(t, 1)
		if foreign {
			e.ID = ""
		}
		content := e.Encode()
		var won atomic.Int32
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				by := fmt.Sprint("driver ", i)
				err := checkpoint.Claim(path, e, content, by, at)
				var claimed *store.ClaimedError
				switch {
				case err == nil:
					won.Add(1)
				case !errors.As(err, &claimed):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Errorf("%d won", won.Load())
		}
		var claimed *store.ClaimedError
		if err := checkpoint.Claim(path, e, content, "late", at); !errors.As(err, &claimed) || !strings.HasPrefix(claimed.By, "driver ") || !claimed.At.Equal(at) {
			t.Errorf("got %v", err)
		}
		if err := checkpoint.Release(path, e, content, "late"); err == nil {
			t.Error("a claim was released by somebody else")
		}
		if err := checkpoint.Release(path, e, content, claimed.By); err != nil {
			t.Error(err)
		}
		if err := checkpoint.Claim(path, e, content, "late", at); err != nil {
			t.Error(err)
		}
		other := parked(t, 1)
		other.ID = strings.Repeat("0b", 16)
		if err := checkpoint.Claim(path, other, other.Encode(), "another suspension", at); err != nil {
			t.Error(err)
		}
	}
}

// Where a document of the format says less, the strictest reading holds.
func TestMissingIsStrict(t *testing.T) {
	const frame = `{"machine": "loop", "state": "a", "ctx": {"task": 1}, "steps": 0, "total_in": 0, "total_out": 0, "feedback": "", "repair_left": [], "trace": []}`
	head := `{"format": 1, "mklang_version": "0.9", "machine": "loop", "machine_path": "loop.mkl", "machine_sha256": null, "frames": [` + frame + `]`
	e, err := checkpoint.Parse([]byte(head + `}`))
	if err != nil {
		t.Fatal(err)
	}
	if !e.Foreign || e.HasPolicy || e.Policy != (checkpoint.Policy{}) || !e.Unpinned() || !e.Frames[0].FlowTainted || !e.Frames[0].Board[0].Value.Label().External() || e.Frames[0].HasReply {
		t.Errorf("got %+v", e)
	}
	e, err = checkpoint.Parse([]byte(head + `, "policy": {"untrusted_flow": "report"}, "reason": "escalated"}`))
	if err != nil {
		t.Fatal(err)
	}
	if e.Policy.UntrustedFlow != policy.Report || e.Policy.UntrustedArgument != policy.Halt || e.Policy.SecretEgress != policy.Halt || e.Policy.OnTruncate != engine.TruncateHalt {
		t.Errorf("got %+v", e.Policy)
	}
	if f := e.Frames[0]; !f.HasReply || f.ReplyTo != "human.reply" {
		t.Error("an escalation of another writer has the standard reply path")
	}
	for _, bad := range []string{
		`"policy": {"untrusted_flow": "Report"}`, `"policy": {"on_truncate": "ask"}`, `"policy": []`, `"policy": {"secret_egress": 1}`, `"hitl": "yes"`,
		`"cost_budget": -1`, `"cost_budget": "7"`, `"journal": 1.5`, `"turn": []`, `"turn": {"approve": "x"}`, `"turn": {"approve": [1]}`, `"id": "../../x"`,
		`"program_sha256": []`, `"program_sha256": {"m": 1}`, `"machine_source": 1`, `"run": 5`,
	} {
		var e *checkpoint.Error
		if _, err := checkpoint.Parse([]byte(head + `, ` + bad + `}`)); !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "bad checkpoint: key '") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

const seeds = 4

func FuzzParse(f *testing.F) {
	n := 0
	for _, s := range [][]byte{parked(f, 0).Encode(), parked(f, 2).Encode(), []byte(`{"format": 1}`), []byte(`{"format": 1, "machine": "m", "machine_path": "p", "machine_sha256": null, "frames": [{}]}`)} {
		f.Add(s)
		n++
	}
	if n != seeds {
		f.Fatalf("%d seeds, want %d", n, seeds)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := checkpoint.Parse(b)
		if err != nil {
			return
		}
		again, err := checkpoint.Parse(e.Encode())
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if x, y := e.Encode(), again.Encode(); !bytes.Equal(x, y) {
			t.Fatalf("%s\nthen\n%s", x, y)
		}
	})
}

// The checkpoint of a 900-step run.
func BenchmarkEncode(b *testing.B) {
	e := parked(b, 900)
	n := len(e.Encode())
	b.SetBytes(int64(n))
	b.ReportAllocs()
	for b.Loop() {
		e.Encode()
	}
}

func BenchmarkParse(b *testing.B) {
	x := parked(b, 900).Encode()
	b.SetBytes(int64(len(x)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := checkpoint.Parse(x); err != nil {
			b.Fatal(err)
		}
	}
}

// Resume is from the bytes to the run's first effect.
func BenchmarkResume(b *testing.B) {
	e := parked(b, 900)
	p := program(b, loop)
	x := e.Encode()
	for b.Loop() {
		e, err := checkpoint.Parse(x)
		if err != nil {
			b.Fatal(err)
		}
		if names := e.Changed(p, []byte(loop)); names != nil {
			b.Fatal(names)
		}
		r, err := engine.Resume(p, e.Frames, engine.ResumeOptions{Options: engine.Options{RunID: "r"}})
		if err != nil || len(r.Ready().Effects) != 1 {
			b.Fatal(err)
		}
	}
}

func ExampleParse() {
	_, err := checkpoint.Parse([]byte(`{"format": 2}`))
	fmt.Println(err)
	_, err = checkpoint.Parse([]byte(`{"format": 1, "machine": "m", "machine_path": "m.mkl"}`))
	fmt.Println(err)
	// Output:
	// not a checkpoint (expected format 1)
	// checkpoint has no 'machine_sha256'
}
