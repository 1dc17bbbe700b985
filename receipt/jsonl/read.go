package jsonl

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/receipt"
	"github.com/pinfold-dev/pinfold/value"
)

// maxLine bounds one line: a record holds names and numbers, never a value.
const maxLine = 1 << 20

// Read reads the rows of a file of receipts, and passes over what it says of whole
// calls. It stops at the first line that is neither, with the line's number. An empty
// file has no records, which is the caller's to refuse.
func Read(r io.Reader) iter.Seq2[receipt.Record, error] {
	return func(yield func(receipt.Record, error) bool) {
		for e, err := range ReadAll(r) {
			if err != nil {
				yield(receipt.Record{}, err)
				return
			}
			if e.Row != nil && !yield(*e.Row, nil) {
				return
			}
		}
	}
}

// Entry is one line: either a row or a call.
type Entry struct {
	Row  *receipt.Record
	Call *receipt.Call
}

// ReadAll reads a file of receipts, as Read does, with what it says of whole calls.
func ReadAll(r io.Reader) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxLine)
		n := 0
		for lines.Scan() {
			n++
			e, err := parse(lines.Bytes())
			if err != nil {
				yield(Entry{}, fmt.Errorf("receipts: line %d: %w", n, err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Entry{}, fmt.Errorf("receipts: after line %d: %w", n, err))
		}
	}
}

// parse reads one line of either kind: only a call has a prefix.
func parse(line []byte) (Entry, error) {
	v, err := object(line)
	if err != nil {
		return Entry{}, err
	}
	if _, ok := v.Get("prefix"); ok {
		c, err := call(v)
		return Entry{Call: &c}, err
	}
	r, err := record(v)
	return Entry{Row: &r}, err
}

func object(line []byte) (value.Value, error) {
	v, err := value.ParseJSON(line)
	if err == nil && v.Kind() != value.Map {
		err = errors.New("expected an object")
	}
	return v, err
}

// Parse reads one line. A missing key, a key that a record does not have, or a
// value of the wrong kind is an error: a record that lost its fenced must not
// read as one that says false.
func Parse(line []byte) (receipt.Record, error) {
	v, err := object(line)
	if err != nil {
		return receipt.Record{}, err
	}
	return record(v)
}

// ParseCall reads one line on a whole call, as strictly as Parse reads a row.
func ParseCall(line []byte) (receipt.Call, error) {
	v, err := object(line)
	if err != nil {
		return receipt.Call{}, err
	}
	return call(v)
}

func call(v value.Value) (receipt.Call, error) {
	f := fields{v: v}
	c := receipt.Call{CallID: f.text("call_id"), SystemBytes: f.number("system_bytes"), UserBytes: f.number("user_bytes")}
	marks := f.get("prefix", "a list")
	f.expect(marks.Kind() == value.List, "prefix", "a list", marks)
	for i := range marks.Len() {
		in := fields{v: marks.At(i)}
		c.Prefix = append(c.Prefix, receipt.Mark{Bytes: in.number("bytes"), SHA256: in.text("sha256")})
		if in.closed(); in.err != nil && f.err == nil {
			f.err = fmt.Errorf("prefix: %w", in.err)
		}
	}
	c.Time = f.time("time")
	f.closed()
	if f.err != nil {
		return receipt.Call{}, f.err
	}
	return c, nil
}

func record(v value.Value) (receipt.Record, error) {
	f := fields{v: v}
	r := receipt.Record{
		Channel: f.text("channel"), Kind: f.text("kind"), Origin: f.text("origin"), Trust: f.text("trust"),
		Fenced: f.boolean("fenced"), Level: f.text("level"), Authoritative: f.boolean("authoritative"),
		Admitted: f.boolean("admitted"), Required: f.boolean("required"),
		FenceStyle: f.text("fence_style"), Banner: f.text("banner"),
		BytesIn: f.number("bytes_in"), BytesOut: f.number("bytes_out"), Budget: f.budget("budget"),
		Truncated: f.boolean("truncated"), Dropped: f.boolean("dropped"), Altered: f.boolean("altered"),
		Invisible: f.number("invisible"), Position: f.number("position"),
		SHA256: f.text("sha256"), CallID: f.text("call_id"),
	}
	r.Time = f.time("time")
	f.closed()
	if f.err != nil {
		return receipt.Record{}, f.err
	}
	return r, nil
}

// fields takes the keys of a map one by one and keeps the first thing that is
// wrong with it.
type fields struct {
	v     value.Value
	taken int
	err   error
}

func (f *fields) get(key, want string) value.Value {
	x, ok := f.v.Get(key)
	if ok {
		f.taken++
	} else if f.err == nil {
		f.err = fmt.Errorf("%s: expected %s, found nothing", key, want)
	}
	return x
}

func (f *fields) expect(ok bool, key, want string, x value.Value) {
	if !ok && f.err == nil {
		f.err = fmt.Errorf("%s: expected %s, found %s", key, want, x.JSON())
	}
}

func (f *fields) text(key string) string {
	x := f.get(key, "text")
	s, ok := x.AsString()
	f.expect(ok, key, "text", x)
	return s
}

func (f *fields) boolean(key string) bool {
	x := f.get(key, "a boolean")
	b, ok := x.AsBool()
	f.expect(ok, key, "a boolean", x)
	return b
}

func (f *fields) number(key string) int {
	x := f.get(key, "an integer")
	n, ok := x.AsInt()
	f.expect(ok, key, "an integer", x)
	return int(n)
}

func (f *fields) time(key string) time.Time {
	s := f.text(key)
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("%s: expected RFC 3339, found %q", key, s)
	}
	return t.UTC()
}

func (f *fields) budget(key string) fence.Budget {
	x := f.get(key, "an object or null")
	if x.IsNull() {
		return fence.Budget{}
	}
	f.expect(x.Kind() == value.Map, key, "an object or null", x)
	in := fields{v: x}
	b := fence.Budget{Set: true, Max: in.number("max")}
	unit := in.text("unit")
	for b.Unit = fence.Characters; b.Unit.String() != unit; b.Unit++ {
		if b.Unit == fence.Tokens {
			in.expect(false, "unit", "characters, bytes or tokens", value.FromString(unit))
			break
		}
	}
	in.closed()
	if in.err != nil && f.err == nil {
		f.err = fmt.Errorf("%s: %w", key, in.err)
	}
	return b
}

func (f *fields) closed() {
	if f.err != nil || f.taken == f.v.Len() {
		return
	}
	f.err = fmt.Errorf("%d keys that a record does not have", f.v.Len()-f.taken)
}
