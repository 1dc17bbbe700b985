package store

import (
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

// ParseRecord reads what AppendRecord wrote, as far as engine.RecordOf does.
func ParseRecord(b []byte) (engine.Record, error) {
	v, err := value.ParseJSON(b)
	if err != nil {
		return engine.Record{}, err
	}
	return engine.RecordOf(v)
}
