package scenario

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// seeds of FuzzLoad: scenarios of our own machines, and what is wrong in one way.
func seeds(tb testing.TB) [][]byte {
	files, err := filepath.Glob("../examples/*.test.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	more, err := filepath.Glob("../testdata/conformance/*.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	var out [][]byte
	for i, f := range append(files, more...) {
		if i >= len(files) && i%10 != 0 {
			continue
		}
		src, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, src)
	}
	for _, s := range []string{"", "scenarios: [", "scenarios: [{expect: {status: 1}, run: {max_workers: 0}}]", "case: a\nmachine: {machine: m}"} {
		out = append(out, []byte(s))
	}
	return out
}

func TestSeeds(t *testing.T) {
	if n := len(seeds(t)); n < 20 {
		t.Errorf("%d seeds, expected at least 20", n)
	}
}

// Whatever stands in a file, it is read or refused with a place, and the two
// readers never both take it for their own kind without a machine or a list.
func FuzzLoad(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if c, err := LoadCase("f.yaml", src); err == nil {
			if c.Machine == nil || c.Registry == nil {
				t.Error("a case without a machine")
			}
		} else {
			placed(t, err)
		}
		cases, err := Load("f.yaml", src)
		if err != nil {
			placed(t, err)
			return
		}
		if len(cases) == 0 {
			t.Error("no scenario and no error")
		}
		for _, c := range cases {
			if c.Name == "" || c.Line == 0 {
				t.Errorf("a scenario without a name or a place: %+v", c)
			}
		}
	})
}

func placed(t *testing.T, err error) {
	var many Errors
	if !errors.As(err, &many) || len(many) == 0 {
		t.Errorf("an error that is no list: %v", err)
		return
	}
	for _, e := range many {
		if e.Message == "" || e.File != "f.yaml" {
			t.Errorf("%#v", e)
		}
	}
}
