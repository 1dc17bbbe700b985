package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"strconv"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/store"
)

// A journal is a head that names its format and run, and a line for each record:
//
//	{"pinfold_journal": 1, "run": "r1"}
//	{"seq": 0, "more": 1, "crc32c": "5f3c9a01", "record": {…}}
//	{"seq": 1, "more": 0, "crc32c": "00b12d77", "record": {…}}
//
// more is how many records of the same Append follow, so an Append that was cut
// short is told from a whole one; the sum is over seq, more and the record. What
// follows the last line end, and the lines of an Append whose last line is not
// there, were never durable and are no part of the journal: the next Append cuts
// them off. Anything else that is not as it was written is damage.

const journalSuffix = ".jsonl"

func journalName(run store.RunID) string {
	return path.Join(journals, fileName(string(run))+journalSuffix)
}

// head is the first line of a run's journal.
func head(run store.RunID) ([]byte, error) {
	name, err := text(run).MarshalJSON()
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "{\"pinfold_journal\": 1, \"run\": %s}\n", name), nil
}

// The pieces of a line. It is read by these, not as JSON: what a line says and
// what is summed are the bytes themselves.
const (
	lineSeq    = `{"seq": `
	lineMore   = `, "more": `
	lineSum    = `, "crc32c": "`
	lineRecord = `", "record": `
	lineEnd    = `}`
)

func sum(seq, more uint64, record []byte) uint32 {
	var b [48]byte
	n := strconv.AppendUint(b[:0], seq, 10)
	n = strconv.AppendUint(append(n, ' '), more, 10)
	table := crc32.MakeTable(crc32.Castagnoli) // made once, and by nobody who keeps no journal
	return crc32.Update(crc32.Checksum(n, table), table, record)
}

// appendLines appends the lines of one Append, which begins at seq.
func appendLines(dst []byte, seq uint64, records []engine.Record) ([]byte, error) {
	var record []byte
	for i := range records {
		var err error
		if record, err = store.AppendRecord(record[:0], &records[i]); err != nil {
			return nil, err
		}
		n, more := seq+uint64(i), uint64(len(records)-1-i)
		dst = strconv.AppendUint(append(dst, lineSeq...), n, 10)
		dst = strconv.AppendUint(append(dst, lineMore...), more, 10)
		dst = fmt.Appendf(append(dst, lineSum...), "%08x", sum(n, more, record))
		dst = append(append(append(dst, lineRecord...), record...), lineEnd...)
		dst = append(dst, '\n')
	}
	return dst, nil
}

// line is a line of a record, taken apart.
type line struct {
	seq, more uint64
	record    []byte // of the buffer it was read from
}

func parseLine(b []byte) (line, error) {
	var l line
	rest, ok := bytes.CutPrefix(b, []byte(lineSeq))
	number := func(end string) (n uint64) {
		digits, after, found := bytes.Cut(rest, []byte(end))
		n, err := strconv.ParseUint(string(digits), 10, 64)
		ok, rest = ok && found && err == nil, after
		return n
	}
	l.seq = number(lineMore)
	l.more = number(lineSum)
	digits, rest, found := bytes.Cut(rest, []byte(lineRecord))
	want, err := strconv.ParseUint(string(digits), 16, 32)
	l.record, ok = bytes.TrimSuffix(rest, []byte(lineEnd)), ok && found && err == nil && bytes.HasSuffix(rest, []byte(lineEnd))
	if !ok {
		return l, errors.New("expected a line of a journal")
	}
	if got := sum(l.seq, l.more, l.record); uint64(got) != want {
		return l, fmt.Errorf("the line does not have its checksum: expected %08x, found %08x", want, got)
	}
	return l, nil
}

// Append writes the records, in one piece, under a lock of the journal.
func (s *Store) Append(ctx context.Context, run store.RunID, seq uint64, records []engine.Record) error {
	if err := s.append(ctx, run, seq, records); err != nil {
		return fmt.Errorf("journal of run %s: %w", run, err)
	}
	return nil
}

func (s *Store) append(ctx context.Context, run store.RunID, seq uint64, records []engine.Record) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := checkRun(run); err != nil {
		return err
	}
	first, err := head(run)
	if err != nil {
		return err
	}
	var b []byte
	if seq == 0 {
		b = append(b, first...)
	}
	if b, err = appendLines(b, seq, records); err != nil {
		return err
	}
	flags := os.O_RDWR
	if seq == 0 && len(records) > 0 {
		flags |= os.O_CREATE
	}
	f, err := s.root.OpenFile(journalName(run), flags, 0o600)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return place(run, 0, seq)
	case err != nil:
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := s.lock(ctx, f, true); err != nil {
		return err
	}
	have, end, size, err := tail(f, first)
	if err != nil {
		return err
	}
	if err := place(run, have, seq); err != nil || len(records) == 0 {
		return err
	}
	if have == 0 {
		end = 0 // the head again: it may be all that is there
	}
	return extend(f, b, size, end, func() error {
		if have > 0 {
			return nil
		}
		return s.syncDir(journals) // an earlier Append may have made the name and no more
	})
}

// appended is what extend needs of a file.
type appended interface {
	io.WriterAt
	Truncate(size int64) error
	Sync() error
}

// extend puts b where the last whole Append ends, in place of what is left of a
// torn one.
func extend(f appended, b []byte, size, end int64, name func() error) error {
	if size > end {
		if err := f.Truncate(end); err != nil {
			return err
		}
	}
	_, err := f.WriteAt(b, end)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = name()
	}
	if err != nil {
		// What may not last is not there: the writer was told so. Where even that
		// fails the next Append finds what is left, and its writer is told of that.
		return errors.Join(err, f.Truncate(end))
	}
	return nil
}

// place compares where the writer is with where the journal is.
func place(run store.RunID, have, seq uint64) error {
	if have != seq {
		return &store.SequenceError{Run: run, Have: have, Got: seq}
	}
	return nil
}

// tail finds how many records a journal has, the end of the last, and the size
// of the file. It reads the head and the last line: the rest is Read's.
func tail(f *os.File, first []byte) (have uint64, end, size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, 0, 0, err
	}
	size = info.Size()
	whole, err := checkHead(f, first, size)
	if err != nil || !whole {
		return 0, 0, size, err
	}
	last, start, end, err := lastLine(f, size)
	if err != nil {
		return 0, 0, 0, err
	}
	if start == 0 { // the head
		return 0, end, size, nil
	}
	l, err := parseLine(last)
	if err != nil {
		return 0, 0, 0, damaged(f, fmt.Sprintf("the line at byte %d", start), err)
	}
	if l.more == 0 {
		return l.seq + 1, end, size, nil
	}
	// A torn Append: where it began only the lines before it say.
	j := newScanner(io.NewSectionReader(f, 0, size), int64(len(first)))
	for {
		if _, _, err := j.next(); err == io.EOF {
			return j.have, j.end, size, nil
		} else if err != nil {
			return 0, 0, 0, damaged(f, fmt.Sprintf("line %d", j.number), err)
		}
	}
}

// checkHead says whether the head is there. What a crash leaves of the first
// write is no journal yet: a part of the head, or nothing that was written.
func checkHead(f *os.File, first []byte, size int64) (bool, error) {
	b := make([]byte, min(size, int64(len(first))))
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		return false, err
	}
	if bytes.Equal(b, first) {
		return true, nil
	}
	if size < int64(len(first)) && bytes.HasPrefix(first, bytes.TrimRight(b, "\x00")) {
		return false, nil
	}
	return false, damaged(f, "line 1", fmt.Errorf("expected %q, found %q", clip(string(first)), clip(string(b))))
}

func damaged(f *os.File, where string, err error) error {
	return fmt.Errorf("%s, %s: %w: %w", f.Name(), where, store.ErrDamaged, err)
}

// lastLine is the last line that has an end, without it, and where it is.
func lastLine(f io.ReaderAt, size int64) (last []byte, start, end int64, err error) {
	for n := int64(8 << 10); ; n *= 8 {
		n = min(n, size)
		b := make([]byte, n)
		if _, err := f.ReadAt(b, size-n); err != nil && err != io.EOF {
			return nil, 0, 0, err
		}
		if stop := bytes.LastIndexByte(b, '\n'); stop >= 0 {
			begin := bytes.LastIndexByte(b[:stop], '\n') + 1
			if begin > 0 || n == size {
				return b[begin:stop], size - n + int64(begin), size - n + int64(stop) + 1, nil
			}
		}
		if n == size {
			return nil, 0, 0, io.ErrUnexpectedEOF // there is a head
		}
	}
}

// scanner reads the lines of a journal after its head.
type scanner struct {
	r       *bufio.Reader
	long    []byte // a line longer than the reader's buffer
	at, end int64  // after the last line; after the last whole Append
	have    uint64 // records of whole Appends
	seq     uint64 // the seq of the next line
	more    uint64 // what the last line announced
	number  int    // of the last line, from 1
}

func newScanner(r *io.SectionReader, head int64) *scanner {
	_, _ = r.Seek(head, io.SeekStart) // a section's never fails
	return &scanner{r: bufio.NewReaderSize(r, 64<<10), at: head, end: head, number: 1}
}

// next is the record of the next line, good until the call after, and whether
// it ends its Append. io.EOF comes at the end of the journal, before or after a
// torn one; another error says why the line is not a record of this place.
func (j *scanner) next() (record []byte, whole bool, err error) {
	b, err := j.line()
	if err != nil {
		return nil, false, err
	}
	j.number++
	l, err := parseLine(b)
	if err != nil {
		return nil, false, err
	}
	if l.seq != j.seq {
		return nil, false, fmt.Errorf("expected record %d, found record %d", j.seq, l.seq)
	}
	if j.seq > j.have && l.more != j.more-1 {
		return nil, false, fmt.Errorf("expected a record that %d of its append follow, found one that %d do", j.more-1, l.more)
	}
	j.seq++
	j.more = l.more
	if l.more == 0 {
		j.have, j.end = j.seq, j.at
	}
	return l.record, l.more == 0, nil
}

// line is the next line that has an end, without it.
func (j *scanner) line() ([]byte, error) {
	b, err := j.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		j.long = append(j.long[:0], b...)
		for err == bufio.ErrBufferFull {
			b, err = j.r.ReadSlice('\n')
			j.long = append(j.long, b...)
		}
		b = j.long
	}
	if err != nil {
		return nil, err // io.EOF: what came has no end
	}
	j.at += int64(len(b))
	return b[:len(b)-1], nil
}

// Read gives the records of a run.
func (s *Store) Read(ctx context.Context, run store.RunID) iter.Seq2[engine.Record, error] {
	return func(yield func(engine.Record, error) bool) {
		if err := s.readJournal(ctx, run, yield); err != nil {
			yield(engine.Record{}, fmt.Errorf("journal of run %s: %w", run, err))
		}
	}
}

// readJournal returns nil when all was given or the reader left.
func (s *Store) readJournal(ctx context.Context, run store.RunID, yield func(engine.Record, error) bool) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := checkRun(run); err != nil {
		return err
	}
	f, err := s.root.Open(journalName(run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := s.settled(ctx, f)
	if err != nil {
		return err
	}
	first, err := head(run)
	if err != nil {
		return err
	}
	if whole, err := checkHead(f, first, size); err != nil || !whole {
		return err
	}
	j := newScanner(io.NewSectionReader(f, 0, size), int64(len(first)))
	var torn []engine.Record // of an Append whose end is not read yet
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, whole, err := j.next()
		if err == io.EOF {
			return nil
		}
		var r engine.Record
		if err == nil {
			r, err = store.ParseRecord(b)
		}
		if err != nil {
			return damaged(f, fmt.Sprintf("line %d", j.number), err)
		}
		torn = append(torn, r)
		if !whole {
			continue
		}
		for _, r := range torn {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !yield(r, nil) {
				return nil
			}
		}
		torn = torn[:0]
	}
}

// settled is the size of a journal at a moment when nobody writes it: a reader
// acts only on what is durable.
func (s *Store) settled(ctx context.Context, f *os.File) (int64, error) {
	if err := s.lock(ctx, f, false); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err := errors.Join(err, unlock(f)); err != nil {
		return 0, err
	}
	return info.Size(), nil
}
