package file

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/store"
)

// journal is the file of run r of a new store, three Appends: a b, c, d e f.
func journal(t *testing.T) (s *Store, name string, whole []byte, ends []int) {
	t.Helper()
	dir := t.TempDir()
	s = openAt(t, dir)
	name = filepath.Join(dir, filepath.FromSlash(journalName("r")))
	for _, c := range []string{"a b", "c", "d e f"} {
		var records []engine.Record
		for _, text := range strings.Fields(c) {
			records = append(records, rec(text))
		}
		n := 0
		if len(ends) > 0 {
			n = []int{0, 2, 3}[len(ends)]
		}
		if err := s.Append(t.Context(), "r", uint64(n), records); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		whole = b
		ends = append(ends, len(b))
	}
	return s, name, whole, ends
}

func put(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

var all = []string{"a", "b", "c", "d", "e", "f"}

// A journal cut at every length, with what file systems leave behind the cut:
// whole Appends are read, no part of another, and the next Append goes on there.
func TestTorn(t *testing.T) {
	s, name, whole, ends := journal(t)
	for cut := range len(whole) {
		want := all[:0]
		switch {
		case cut >= ends[1]:
			want = all[:3]
		case cut >= ends[0]:
			want = all[:2]
		}
		for i, tail := range []string{"", "\x00", strings.Repeat("\x00", 10_000)} {
			if i != cut%3 && cut%100 > 2 {
				continue // each cut with one of them, some with all
			}
			if tail != "" && cut < bytes.IndexByte(whole, '\n')+1 && cut+len(tail) >= bytes.IndexByte(whole, '\n')+1 {
				continue // see TestTornHead
			}
			torn := append(slices.Clone(whole[:cut]), tail...)
			put(t, name, torn)
			got, err := texts(t, s, "r")
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("cut at %d and %d NULs: expected %q, found %q, %v", cut, len(tail), want, got, err)
			}
			if b, err := os.ReadFile(name); err != nil || !bytes.Equal(b, torn) {
				t.Fatal("a reader changed the file")
			}
			if cut%40 != 0 && !slices.ContainsFunc(ends, func(end int) bool { return cut == end || cut == end-1 }) {
				continue // what follows waits for the disk
			}
			var seq *store.SequenceError
			if err := s.Append(t.Context(), "r", uint64(len(want)+1), []engine.Record{rec("x")}); !errors.As(err, &seq) || seq.Have != uint64(len(want)) {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			if err := s.Append(t.Context(), "r", uint64(len(want)), []engine.Record{rec("x"), rec("y")}); err != nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			got, err = texts(t, s, "r")
			if want := append(slices.Clone(want), "x", "y"); err != nil || !slices.Equal(got, want) {
				t.Fatalf("cut at %d, appended: expected %q, found %q, %v", cut, want, got, err)
			}
		}
	}
}

// The end of a file without a line end may be anything: it was never durable.
func TestTornEnd(t *testing.T) {
	s, name, whole, _ := journal(t)
	for _, tail := range []string{"}", "x", `{"seq": 6, "more": 0, "crc32c": "`, "\xff\x00", strings.Repeat("x", 100_000)} {
		put(t, name, append(slices.Clone(whole), tail...))
		if got, err := texts(t, s, "r"); err != nil || !slices.Equal(got, all) {
			t.Fatalf("tail %.20q: %q, %v", tail, got, err)
		}
		if err := s.Append(t.Context(), "r", 6, []engine.Record{rec("x")}); err != nil {
			t.Fatalf("tail %.20q: %v", tail, err)
		}
		if got, err := texts(t, s, "r"); err != nil || len(got) != 7 || got[6] != "x" {
			t.Fatalf("tail %.20q, appended: %q, %v", tail, got, err)
		}
	}
}

// A file that is as long as a head and does not begin with one is no torn head.
func TestTornHead(t *testing.T) {
	s, name, whole, _ := journal(t)
	head := bytes.IndexByte(whole, '\n') + 1
	for _, content := range []string{strings.Repeat("\x00", head), string(whole[:5]) + "x", string(whole[:head-1]) + "\x00", "x", "{}\n", string(whole[head:]), strings.Replace(string(whole), `l": 1`, `l": 2`, 1), strings.Replace(string(whole), `"r"`, `"s"`, 1)} {
		put(t, name, []byte(content))
		refused(t, s, name, "line 1", nil)
	}
}

// refused checks that a damaged journal is read up to want and no further, is not
// appended to, and stays as it is.
func refused(t *testing.T, s *Store, name, where string, want []string) {
	t.Helper()
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got, err := texts(t, s, "r")
	if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), where) || !slices.Equal(got, want) {
		t.Errorf("%.300q: expected %q and damage in %s, found %q, %v", before, want, where, got, err)
	}
	if after, err := os.ReadFile(name); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file changed to %q, %v", after, err)
	}
}

// Damage anywhere else is an error, with what comes before it read and nothing
// after, however the damage looks.
func TestDamaged(t *testing.T) {
	s, name, whole, ends := journal(t)
	lines := strings.SplitAfter(string(whole), "\n") // head, six, ""
	join := func(order ...int) []byte {
		var b []byte
		for _, i := range order {
			b = append(b, lines[i]...)
		}
		return b
	}
	another, err := appendLines(nil, 4, []engine.Record{rec("e")})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		content []byte
		where   string
		want    []string
	}{
		{join(0, 2, 3, 4, 5, 6), "line 2", nil},                                 // a line is gone
		{join(0, 1, 3, 4, 5, 6), "line 3", nil},                                 // of an Append that goes on
		{join(0, 1, 2, 4, 5, 6), "line 4", all[:2]},                             //
		{join(0, 1, 2, 3, 5, 4, 6), "line 5", all[:3]},                          // lines are exchanged
		{join(0, 1, 2, 3, 3, 4, 5, 6), "line 5", all[:3]},                       // one is there twice
		{join(0, 1, 2, 0, 1, 2), "line 4", all[:2]},                             // a journal after a journal
		{join(0, 1, 2, 3, 4, 0), "line 6", all[:3]},                             //
		{append(join(0, 1, 2, 3, 4), another...), "line 6", all[:3]},            // an Append is cut short by another
		{append(join(0, 1, 2, 3), "x\n"...), "line 5", all[:3]},                 // garbage with an end
		{append(join(0, 1, 2, 3), "\n"...), "line 5", all[:3]},                  //
		{append(join(0, 1, 2, 3), "{}\n"...), "line 5", all[:3]},                //
		{append(join(0, 1, 2), lines[3][10:]...), "line 4", all[:2]},            // the beginning of the last is gone
		{append(join(0, 1, 2), "\x00\x00\x00\x00\x00\n"...), "line 4", all[:2]}, // it was not written
		{bytes.Replace(whole, []byte(`"text": "c"`), []byte(`"text": "C"`), 1), "line 4", all[:2]},
		{bytes.Replace(whole, []byte(`"text": "f"`), []byte(`"text": "F"`), 1), "line 7", all[:3]},
	} {
		put(t, name, c.content)
		refused(t, s, name, c.where, c.want)
	}
	// An Append looks at the last line: where that is damaged it does nothing.
	for _, content := range [][]byte{append(slices.Clone(whole), "x\n"...), whole[:len(whole)-3], bytes.Replace(whole, []byte(`"text": "f"`), []byte(`"text": "F"`), 1), append(slices.Clone(whole[:ends[0]]), lines[4]...)} {
		if content[len(content)-1] != '\n' {
			content = append(slices.Clone(content), '\n')
		}
		put(t, name, content)
		for _, seq := range []uint64{0, 2, 6, 7} {
			if err := s.Append(t.Context(), "r", seq, []engine.Record{rec("x")}); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("append to %.300q: %v", content, err)
			}
		}
		if after, err := os.ReadFile(name); err != nil || !bytes.Equal(after, content) {
			t.Errorf("the file changed to %q, %v", after, err)
		}
	}
}

// Every byte, changed in three bits, of all over all: never another record than was written.
func TestFlipped(t *testing.T) {
	s, name, whole, _ := journal(t)
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	refusals := 0
	for i := range whole {
		for _, bit := range []int{0, 5, i % 8, 8} { // the last time as it was
			b := whole[i] ^ byte(1<<bit)
			if _, err := f.WriteAt([]byte{b}, int64(i)); err != nil {
				t.Fatal(err)
			}
			if bit == 8 {
				continue
			}
			got, err := texts(t, s, "r")
			switch {
			case !slices.Equal(got, all[:len(got)]) || len(got) != 0 && len(got) != 2 && len(got) != 3 && len(got) != 6:
				t.Fatalf("byte %d, bit %d: found %q", i, bit, got)
			case errors.Is(err, store.ErrDamaged):
				refusals++
			case err != nil:
				t.Fatalf("byte %d, bit %d: %v", i, bit, err)
			case len(got) == 6 && bit == 5: // a hexadecimal digit in capitals
			case i != len(whole)-1:
				t.Fatalf("byte %d, bit %d: %q is read as whole with %q in the place of %q", i, bit, got, b, whole[i])
			}
		}
	}
	if refusals < 5*len(whole)/2 {
		t.Errorf("%d of %d changes were found", refusals, 3*len(whole))
	}
}

// Lines around the sizes of the buffers, each the last for one Append.
func TestLineLengths(t *testing.T) {
	s := openAt(t, t.TempDir())
	var want []string
	line, err := appendLines(nil, 10, []engine.Record{rec("")})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{4 << 10, 8 << 10, 64 << 10, 128 << 10, 512 << 10} {
		for d := -2; d <= 2; d++ {
			text := strings.Repeat("x", size+d-len(line))
			if err := s.Append(t.Context(), "r", uint64(len(want)), []engine.Record{rec(text)}); err != nil {
				t.Fatalf("%d%+d: %v", size, d, err)
			}
			want = append(want, text)
		}
	}
	got, err := texts(t, s, "r")
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("found %d records of %d, %v", len(got), len(want), err)
	}
}

const formatLines = `{"seq": 0, "more": 1, "crc32c": "d010c07f", "record": {"kind": "result", "id": {"path": "m", "state": "s", "visit": 1, "phase": "produce"}, "result": {"type": "produced", "text": "one"}}}
{"seq": 1, "more": 0, "crc32c": "ce5e46b5", "record": {"kind": "result", "id": {"path": "m", "state": "s", "visit": 1, "phase": "produce"}, "result": {"type": "produced", "text": "two"}}}
`

// The form of a line is that of version 1: what was written by another release
// reads back.
func TestFormat(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir)
	// The sums are CRC-32C of "0 1" and "1 0", each with the record right after it, computed apart.
	content := `{"pinfold_journal": 1, "run": {"base64":"/3I="}}` + "\n" + formatLines
	put(t, filepath.Join(dir, journals, "%ffr.jsonl"), []byte(content))
	if got, err := texts(t, s, "\xffr"); err != nil || fmt.Sprint(got) != "[one two]" {
		t.Errorf("%q, %v", got, err)
	}
	other := openAt(t, t.TempDir())
	if err := other.Append(t.Context(), "\xffr", 0, []engine.Record{rec("one"), rec("two")}); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(other.dir, journals, "%ffr.jsonl")); err != nil || string(b) != content {
		t.Errorf("expected %s, found %s, %v", content, b, err)
	}
}

// A disk that fails at each step: what was there stays, and what may not last is
// taken back.
func TestExtend(t *testing.T) {
	for i, c := range []struct {
		size, end int64
		fails     string
		want      string
	}{
		{10, 10, "", "write 10, sync, name"},
		{15, 10, "", "truncate 10, write 10, sync, name"},
		{15, 10, "truncate 10", "truncate 10"},
		{10, 10, "write 10", "write 10, truncate 10"},
		{10, 10, "sync", "write 10, sync, truncate 10"},
		{0, 0, "name", "write 0, sync, name, truncate 0"},
	} {
		var d disk
		d.fails = c.fails
		err := extend(&d, []byte("lines"), c.size, c.end, func() error { return d.do("name") })
		if got := strings.Join(d.done, ", "); got != c.want || (err == nil) != (c.fails == "") || err != nil && !errors.Is(err, errDisk) {
			t.Errorf("%d: expected %q, found %q, %v", i, c.want, got, err)
		}
	}
}

var errDisk = errors.New("disk")

// disk is a file that fails at one step.
type disk struct {
	fails string
	done  []string
}

func (d *disk) do(step string) error {
	d.done = append(d.done, step)
	if step == d.fails {
		return errDisk
	}
	return nil
}

func (d *disk) WriteAt(b []byte, at int64) (int, error) {
	return len(b), d.do(fmt.Sprint("write ", at))
}
func (d *disk) Truncate(size int64) error { return d.do(fmt.Sprint("truncate ", size)) }
func (d *disk) Sync() error               { return d.do("sync") }
