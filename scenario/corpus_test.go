package scenario

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// corpora are the directories of cases: our own must be there, the published and
// the generated ones are run where they lie beside the repository.
var corpora = []struct {
	dir      string
	required bool
}{
	{"../testdata/conformance", true},
	{"../../shared/conformance", false},
	{"../../shared/conformance-generated", false},
}

// eachCase loads every case of every corpus that is there.
func eachCase(t *testing.T, f func(t *testing.T, c *Case)) {
	for _, corpus := range corpora {
		files, err := filepath.Glob(filepath.Join(corpus.dir, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			if corpus.required {
				t.Errorf("%s: no cases", corpus.dir)
			}
			continue
		}
		t.Run(filepath.Base(corpus.dir), func(t *testing.T) {
			for _, file := range files {
				t.Run(filepath.Base(file), func(t *testing.T) {
					src, err := os.ReadFile(file)
					if err != nil {
						t.Fatal(err)
					}
					c, err := LoadCase(file, src)
					if err != nil {
						t.Fatal(err)
					}
					f(t, c)
				})
			}
		})
	}
}

func TestCorpora(t *testing.T) {
	eachCase(t, func(t *testing.T, c *Case) {
		rep, err := c.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range rep.Mismatches {
			t.Error(m)
		}
		if rep.Result == nil {
			t.Error("did not run")
		}
	})
}
