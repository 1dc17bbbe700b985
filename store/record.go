package store

import (
	"bytes"
	"fmt"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/value"
)

// RecordError says that a record has no form that would read back as a record: a
// value nested too deeply, say. A journal with one such record could never be
// folded again, so it is refused where it would enter.
type RecordError struct {
	ID  engine.EffectID
	Err error
}

func (e *RecordError) Error() string {
	return fmt.Sprintf("journal record of state %s at %s cannot be kept: %v", e.ID.State, e.ID.Path, e.Err)
}

func (e *RecordError) Unwrap() error { return e.Err }

// AppendRecord appends the JSON text of a record, on one line, after reading it
// back. The error is a *RecordError.
func AppendRecord(dst []byte, r *engine.Record) ([]byte, error) {
	n := len(dst)
	dst = r.Value().AppendJSON(dst)
	if _, err := ParseRecord(dst[n:]); err != nil {
		return dst[:n], &RecordError{r.ID, err}
	}
	return dst, nil
}

// ParseRecord reads what AppendRecord wrote, as far as engine.RecordOf does: of a
// deposit, a step and an outcome it reads the beginning alone, which is most of
// the time that a journal takes.
func ParseRecord(b []byte) (engine.Record, error) {
	if n := kindAndID(b); n > 0 {
		b = append(append(make([]byte, 0, 256), b[:n]...), '}')
	}
	v, err := value.ParseDocument(b)
	if err != nil {
		return engine.Record{}, err
	}
	return engine.RecordOf(v)
}

// forPeople begins the records of which nobody reads more than kind and id.
var forPeople = [...]string{`{"kind": "deposit", "id": {`, `{"kind": "step", "id": {`, `{"kind": "outcome", "id": {`}

// kindAndID is the length of kind and id, if b is a record for people. The id is
// a map of scalars: it ends at the first brace outside a string.
func kindAndID(b []byte) int {
	if !bytes.HasSuffix(b, []byte{'}'}) {
		return 0
	}
	for _, begin := range forPeople {
		if !bytes.HasPrefix(b, []byte(begin)) {
			continue
		}
		for i, quoted := len(begin), false; i < len(b)-1; i++ {
			switch c := b[i]; {
			case c == '\\' && quoted:
				i++
			case c == '"':
				quoted = !quoted
			case c == '}' && !quoted:
				return i + 1
			}
		}
	}
	return 0
}
