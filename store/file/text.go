package file

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// text is a string in JSON that comes back byte for byte: what is not UTF-8, as
// a path may be, is written as {"base64": …}.
type text string

type bytesOf struct {
	Base64 []byte `json:"base64"`
}

func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(bytesOf{[]byte(t)})
}

func (t *text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var raw bytesOf
		err := decode(b, &raw)
		*t = text(raw.Base64)
		return err
	}
	return json.Unmarshal(b, (*string)(t))
}

// encode is one line of JSON.
func encode(x any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(x)
	return b.Bytes(), err
}

// decode reads exactly one JSON value that has no key but x's.
func decode(b []byte, x any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(x); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("expected the end of the file at byte %d", d.InputOffset())
	}
	return nil
}
