package file_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pinfold-dev/pinfold/store"
	"github.com/pinfold-dev/pinfold/store/file"
)

// A suspended run is kept, found, and resumed once.
func Example() {
	dir, err := os.MkdirTemp("", "pinfold")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	s, err := file.Open(filepath.Join(dir, "runs"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()

	ctx := context.Background()
	at, err := s.Blobs().Put(ctx, "run-1", []byte("an envelope"))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := s.Put(ctx, store.RunInfo{Run: "run-1", Machine: "triage", Status: "suspended", Checkpoint: at}); err != nil {
		fmt.Println(err)
		return
	}

	for info, err := range s.List(ctx, store.Query{Status: "suspended"}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(info.Run, info.Machine)
		fmt.Println(s.Blobs().Claim(ctx, info.Checkpoint, "first resume"))
		var held *store.ClaimedError
		if errors.As(s.Blobs().Claim(ctx, info.Checkpoint, "second resume"), &held) {
			fmt.Println("claimed by", held.By)
		}
	}
	// Output:
	// run-1 triage
	// <nil>
	// claimed by first resume
}
