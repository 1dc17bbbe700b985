package jsonl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/receipt"
	"github.com/pinfold-dev/pinfold/receipt/jsonl"
	"github.com/pinfold-dev/pinfold/receipt/receipttest"
	"github.com/pinfold-dev/pinfold/trust"
	"github.com/pinfold-dev/pinfold/value"
	"pgregory.net/rapid"
)

func clock() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 789, time.FixedZone("x", 3600)) }

func TestSuite(t *testing.T) {
	receipttest.Test(t, func() (receipt.Sink, func() ([]receipt.Record, error), error) {
		path := filepath.Join(t.TempDir(), "r.jsonl")
		s, err := jsonl.Open(path, clock)
		return s, func() ([]receipt.Record, error) {
			if err := s.Close(); err != nil {
				return nil, err
			}
			return readFile(path)
		}, err
	})
}

func readFile(path string) ([]receipt.Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var records []receipt.Record
	for r, err := range jsonl.Read(f) {
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}

func one(t testing.TB, d trust.Data) []fence.Row {
	t.Helper()
	var p fence.Prompt
	p.User.Data("question", d)
	_, rows, err := fence.Render(p, func(n *[12]byte) error { copy(n[:], "0123456789ab"); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// The line, key by key: fenced stands right beside trust.
func TestLine(t *testing.T) {
	var b bytes.Buffer
	s := jsonl.New(&b, clock)
	if err := s.Receipts(t.Context(), receipt.CallID{Run: "r", Effect: "m/s"}, one(t, trust.External("host:q", "abc"))); err != nil {
		t.Fatal(err)
	}
	// 3 bytes in; <data-…>\n and \n</data-…> are 20 and 21 more. The digest is that of "abc" in FIPS 180-2.
	want := `{"channel": "question", "kind": "key", "origin": "host:q", "trust": "", "fenced": true, "level": "external", ` +
		`"authoritative": false, "admitted": false, "required": true, "fence_style": "data", "banner": "", "bytes_in": 3, "bytes_out": 44, "budget": null, ` +
		`"truncated": false, "dropped": false, "altered": false, "invisible": 0, "position": 0, ` +
		`"sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "call_id": "r/m/s", "time": "2026-02-03T03:05:06.000000789Z"}` + "\n"
	if b.String() != want {
		t.Errorf("got  %swant %s", b.String(), want)
	}
}

func TestFileIsTheOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	for range 2 { // the second appends
		s, err := jsonl.Open(path, clock)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Receipts(t.Context(), receipt.CallID{}, one(t, trust.External("host:q", "x"))); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if records, err := readFile(path); err != nil || len(records) != 2 {
		t.Errorf("%d records, %v", len(records), err)
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	if _, err := jsonl.Open(filepath.Join(t.TempDir(), "no", "r.jsonl"), clock); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "receipts: ") {
		t.Errorf("got %v", err)
	}
}

type torn struct {
	bytes.Buffer
	after int
	err   error
}

func (w *torn) Write(p []byte) (int, error) {
	if w.after--; w.after != -1 { // fails once, then again takes everything
		return w.Buffer.Write(p)
	}
	n, _ := w.Buffer.Write(p[:len(p)/2])
	return n, w.err
}

var errFull = errors.New("disk full")

// A failed write surfaces, also at every later call: half a line may be there.
func TestWriteErrorsSurface(t *testing.T) {
	for name, err := range map[string]error{"error": errFull, "short": nil} {
		want := err
		if want == nil {
			want = io.ErrShortWrite
		}
		w := &torn{after: 1, err: err}
		s := jsonl.New(w, clock)
		rows := one(t, trust.External("host:q", "x"))
		if err := s.Receipts(t.Context(), receipt.CallID{}, rows); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := s.Receipts(t.Context(), receipt.CallID{}, rows); !errors.Is(err, want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if strings.Count(w.String(), "\n") != 1 {
			t.Errorf("%s: wrote on after a failure: %q", name, w.String())
		}
		if err := s.Close(); !errors.Is(err, want) {
			t.Errorf("%s: closing hides it: %v", name, err)
		}
	}
	s := jsonl.New(io.Discard, clock)
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if err := s.Receipts(t.Context(), receipt.CallID{}, nil); !errors.Is(err, jsonl.ErrClosed) {
		t.Errorf("a closed sink takes rows: %v", err)
	}
}

// Whatever a record holds, it is one line for every kind of line reader, and
// reads back as it was.
func TestOneRecordIsOneLine(t *testing.T) {
	texts := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune{'\n', '\r', '\u0085', '\u2028', '\u2029', '\u007f', '\u009b', '"', '\\', 'é', '😀', 0, '\ufffd', '\u202e'})))
	rapid.Check(t, func(t *rapid.T) {
		r := receipt.Record{
			Channel: texts.Draw(t, "channel"), Kind: texts.Draw(t, "kind"), Origin: texts.Draw(t, "origin"), Trust: texts.Draw(t, "trust"),
			Fenced: rapid.Bool().Draw(t, "fenced"), Level: texts.Draw(t, "level"), Authoritative: rapid.Bool().Draw(t, "authoritative"),
			FenceStyle: texts.Draw(t, "style"), Banner: texts.Draw(t, "banner"),
			BytesIn: rapid.Int().Draw(t, "in"), BytesOut: rapid.Int().Draw(t, "out"),
			Truncated: rapid.Bool().Draw(t, "truncated"), Dropped: rapid.Bool().Draw(t, "dropped"), Altered: rapid.Bool().Draw(t, "altered"),
			Invisible: rapid.Int().Draw(t, "invisible"), Position: rapid.Int().Draw(t, "position"),
			SHA256: texts.Draw(t, "sha"), CallID: texts.Draw(t, "call"),
			Time: time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC(),
		}
		if rapid.Bool().Draw(t, "budgeted") {
			r.Budget = fence.Budget{Set: true, Max: rapid.Int().Draw(t, "max"), Unit: rapid.SampledFrom([]fence.Unit{fence.Characters, fence.Bytes, fence.Tokens}).Draw(t, "unit")}
		}
		line := jsonl.Append(nil, &r)
		if strings.ContainsAny(string(line), "\n\r\v\f\u0085\u2028\u2029\x1c\x1d\x1e") {
			t.Fatalf("more than one line: %q", line)
		}
		got, err := jsonl.Parse(line)
		if err != nil || got != r {
			t.Fatalf("%s\ngot  %+v (%v)\nwant %+v", line, got, err, r)
		}
	})
}

func TestParseIsStrict(t *testing.T) {
	r := receipt.Record{Channel: "c", Budget: fence.Budget{Set: true, Max: 5}, Time: clock()}
	line := string(jsonl.Append(nil, &r))
	if _, err := jsonl.Parse([]byte(line)); err != nil {
		t.Fatal(err)
	}
	v, err := value.ParseJSON([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	if n := reflect.TypeFor[receipt.Record]().NumField(); v.Len() != n {
		t.Errorf("a line has %d keys, a record %d fields", v.Len(), n)
	}
	for i := range v.Len() { // without one key, and with each of them of another kind
		var rest, wrong []value.Entry
		for j := range v.Len() {
			e := value.Entry{Key: v.Key(j), Value: v.At(j)}
			if i == j {
				wrong = append(wrong, value.Entry{Key: e.Key, Value: value.FromList()})
				continue
			}
			rest, wrong = append(rest, e), append(wrong, e)
		}
		for _, entries := range [][]value.Entry{rest, wrong} {
			if _, err := jsonl.Parse([]byte(value.FromEntries(entries...).JSON())); err == nil || !strings.Contains(err.Error(), v.Key(i)) {
				t.Errorf("without %s: %v", v.Key(i), err)
			}
		}
	}
	for _, bad := range []string{
		"", "{}", "[]", "null", line + line, line[:len(line)-1],
		strings.Replace(line, `"kind"`, `"kinds"`, 1),
		strings.Replace(line, `"kind"`, `"channel"`, 1), // twice
		strings.Replace(line, `{"channel"`, `{"new": 1, "channel"`, 1),
		strings.Replace(line, `"characters"`, `"Characters"`, 1),
		strings.Replace(line, `{"max": 5, `, `{"max": 5, "new": 1, `, 1),
		strings.Replace(line, `"time": "2026`, `"time": "x2026`, 1),
	} {
		if _, err := jsonl.Parse([]byte(bad)); err == nil {
			t.Errorf("reads as a record: %s", bad)
		}
	}
	for r, err := range jsonl.Read(strings.NewReader(line + "\n" + line + "\nx\n" + line + "\n")) {
		if err != nil {
			if !strings.Contains(err.Error(), "line 3") {
				t.Errorf("got %v", err)
			}
			continue
		}
		if r.Channel != "c" {
			t.Errorf("got %+v", r)
		}
	}
}

var parseSeeds = []string{"{}", "", "[]", `{"channel": "c"}`, "{\"time\": \"2026-02-03T03:05:06Z\"}", "\xff", `{"budget": {"max": 1e400}}`, `{"position": 1.0}`}

func TestParseSeedCount(t *testing.T) {
	if len(parseSeeds) < 8 {
		t.Fatalf("%d seeds", len(parseSeeds))
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range parseSeeds {
		f.Add([]byte(s))
	}
	r := receipt.Record{Time: clock(), Budget: fence.Budget{Set: true}}
	f.Add(jsonl.Append(nil, &r))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := jsonl.Parse(line)
		if err != nil {
			return
		}
		again, err := jsonl.Parse(jsonl.Append(nil, &r))
		if err != nil || again != r {
			t.Errorf("%q: %+v, then %+v (%v)", line, r, again, err)
		}
	})
}

func ExampleSink() {
	var question fence.Prompt
	question.User.Data("question", trust.External("host:question", "Is it open?"))
	_, rows, err := fence.Render(question, func(n *[12]byte) error { copy(n[:], "0123456789ab"); return nil })
	if err != nil {
		panic(err)
	}
	var log bytes.Buffer
	sink := jsonl.New(&log, func() time.Time { return time.Unix(0, 0) })
	if err := sink.Receipts(context.Background(), receipt.CallID{Run: "r1", Effect: "triage/ask"}, rows); err != nil {
		panic(err)
	}
	for r, err := range jsonl.Read(&log) {
		fmt.Println(r.Channel, r.Level, r.Fenced, r.CallID, err)
	}
	// Output: question external true r1/triage/ask <nil>
}

func BenchmarkReceipts(b *testing.B) {
	s := jsonl.New(io.Discard, clock)
	rows := one(b, trust.External("host:q", strings.Repeat("word ", 200)))
	b.SetBytes(1000)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Receipts(b.Context(), receipt.CallID{Run: "r", Effect: "e"}, rows); err != nil {
			b.Fatal(err)
		}
	}
}

// Lines on calls stand between those on rows, and are read back whole; whoever wants
// rows alone reads rows alone.
func TestCalls(t *testing.T) {
	var p fence.Prompt
	p.System.Text(trust.Const("A system message that is long enough to have a mark at sixty-four bytes, and then some."))
	p.User.Data("question", trust.External("host:q", "abc"))
	r, rows, err := fence.Render(p, func(n *[12]byte) error { copy(n[:], "0123456789ab"); return nil })
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	s := jsonl.New(&b, clock)
	call := receipt.CallID{Run: "r", Effect: "e\n"}
	for range 2 {
		if err := receipt.Keep(t.Context(), s, call, r, rows); err != nil {
			t.Fatal(err)
		}
	}
	if lines := strings.Split(strings.TrimSpace(b.String()), "\n"); len(lines) != 4 || strings.Contains(b.String(), "0123456789ab") {
		t.Fatalf("expected four lines without the nonce, found\n%s", b.String())
	}
	want := receipt.NewCall(call, r, clock())
	var kinds []string
	for e, err := range jsonl.ReadAll(bytes.NewReader(b.Bytes())) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.Row != nil:
			kinds = append(kinds, e.Row.Channel)
		case !reflect.DeepEqual(*e.Call, want):
			t.Errorf("%+v, want %+v", *e.Call, want)
		default:
			kinds = append(kinds, "call")
		}
	}
	if strings.Join(kinds, " ") != "question call question call" {
		t.Error(kinds)
	}
	n := 0
	for r, err := range jsonl.Read(&b) {
		if err != nil || r.Channel != "question" {
			t.Errorf("%+v %v", r, err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d rows", n)
	}

	line := string(jsonl.AppendCall(nil, &want))
	if got, err := jsonl.ParseCall([]byte(line)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v", got, err)
	}
	for _, bad := range []string{
		"", "{}", "[]", strings.Replace(line, "call_id", "callid", 1), strings.Replace(line, `{"call_id"`, `{"new": 1, "call_id"`, 1),
		strings.Replace(line, `"bytes": 64`, `"bytes": "64"`, 1), strings.Replace(line, `{"bytes": 64`, `{"new": 1, "bytes": 64`, 1), strings.Replace(line, `"prefix": [`, `"prefix": [1, `, 1),
	} {
		if _, err := jsonl.ParseCall([]byte(bad)); err == nil {
			t.Errorf("reads as a call: %s", bad)
		}
	}
}
