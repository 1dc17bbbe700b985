package storetest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/store"
)

// The test binary starts itself for the other processes, which find here what
// they are to do.
const roleVariable = "PINFOLD_STORETEST_ROLE"

// role is what a child does, and says on its output, a line of JSON a step.
type role struct {
	Do    string // claim, append, die
	Place string
	Name  string
	At    []store.Location
}

// Said is a step of a child.
type said struct {
	Ready  bool
	Won    bool
	Holder string
	Seq    uint64
	Blob   store.Location
	Err    string
}

// Processes checks what only several processes can show: one winner of a claim,
// one driver of a journal, and nothing lost or half there when a process is
// killed while it writes. Call it from a top-level test function and do nothing
// else in it: the test binary runs that function again in the other processes.
func Processes(t *testing.T, open Open) {
	if r := os.Getenv(roleVariable); r != "" {
		if err := child(t.Context(), r, open); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if strings.Contains(t.Name(), "/") {
		t.Fatal("expected a top-level test")
	}
	for name, f := range map[string]func(ctx context.Context, test, place string, open Open) error{
		"claim": claimProcesses, "append": appendProcesses, "kill": killProcesses,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			test, _, _ := strings.Cut(t.Name(), "/")
			if err := f(ctx, test, filepath.Join(t.TempDir(), "store"), open); err != nil {
				t.Error(err)
			}
		})
	}
}

func child(ctx context.Context, description string, open Open) error {
	var r role
	if err := json.Unmarshal([]byte(description), &r); err != nil {
		return err
	}
	s, err := open(r.Place)
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	say := func(x said) {
		if err := out.Encode(x); err != nil { // the parent is gone
			os.Exit(1)
		}
	}
	say(said{Ready: true})
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil && err != io.EOF {
		return err
	}
	switch r.Do {
	case "claim":
		for _, at := range r.At {
			err := s.Blobs().Claim(ctx, at, r.Name)
			var held *store.ClaimedError
			if err != nil && !errors.As(err, &held) {
				return err
			}
			if x := (said{Won: err == nil}); err == nil {
				say(x)
			} else {
				x.Holder = held.By
				say(x)
			}
		}
	case "append":
		for at, n := uint64(0), 0; n < 10; {
			err := s.Append(ctx, "r", at, []engine.Record{produced(n+1, r.Name), produced(n+1, r.Name+" again")})
			var seq *store.SequenceError
			switch {
			case err == nil:
				at, n = at+2, n+1
			case errors.As(err, &seq):
				at = seq.Have
			default:
				return err
			}
		}
	case "die":
		have := 0
		for _, err := range s.Read(ctx, "r") {
			if err != nil {
				return err
			}
			have++
		}
		for ; ; have += 3 { // until it is killed
			if err := s.Append(ctx, "r", uint64(have), batch(have, 3)); err != nil {
				return err
			}
			say(said{Seq: uint64(have + 3)})
			at, err := s.Blobs().Put(ctx, "k", noise(uint64(have), 50_000))
			if err != nil {
				return err
			}
			say(said{Blob: at, Seq: uint64(have)})
			if err := s.Put(ctx, store.RunInfo{Run: "r", Reason: strings.Repeat("x", have)}); err != nil {
				return err
			}
		}
	}
	return s.Close()
}

// process is a child that is ready.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
	err *strings.Builder
}

func spawn(ctx context.Context, test string, r role) (*process, error) {
	description, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	p := &process{err: &strings.Builder{}}
	p.cmd = exec.CommandContext(ctx, os.Args[0], "-test.run=^"+test+"$", "-test.count=1")
	p.cmd.Env = append(os.Environ(), roleVariable+"="+string(description))
	p.cmd.Stderr = p.err
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = json.NewDecoder(bufio.NewReader(out))
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if x, err := p.next(); err != nil || !x.Ready {
		return nil, errors.Join(fmt.Errorf("process %s does not start", r.Name), err, p.wait())
	}
	return p, nil
}

func (p *process) next() (x said, err error) {
	err = p.out.Decode(&x)
	return x, err
}

func (p *process) wait() error {
	_ = p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, p.err)
	}
	return nil
}

// several starts n children, lets them go together, and waits; each is heard by a
// goroutine of its own.
func several(ctx context.Context, test string, n int, r role, hear func(i int, p *process) error) error {
	children := make([]*process, n)
	for i := range children {
		r.Name = fmt.Sprint("process ", i)
		p, err := spawn(ctx, test, r)
		if err != nil {
			return err
		}
		children[i] = p
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i, p := range children {
		_ = p.in.Close() // go
		wg.Go(func() { errs[i] = errors.Join(hear(i, p), p.wait()) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func claimProcesses(ctx context.Context, test, place string, open Open) error {
	s, err := open(place)
	if err != nil {
		return err
	}
	defer s.Close()
	const processes, suspensions = 3, 30
	r := role{Do: "claim", Place: place}
	for range suspensions {
		at, err := s.Blobs().Put(ctx, "k", nil)
		if err != nil {
			return err
		}
		r.At = append(r.At, at)
	}
	var answers [processes][suspensions]said
	err = several(ctx, test, processes, r, func(i int, p *process) (err error) {
		for k := range suspensions {
			if answers[i][k], err = p.next(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for k, at := range r.At {
		winners, winner := 0, ""
		for i := range processes {
			if answers[i][k].Won {
				winners, winner = winners+1, fmt.Sprint("process ", i)
			}
		}
		if winners != 1 {
			return fmt.Errorf("checkpoint %d has %d winners", k, winners)
		}
		for i := range processes {
			if x := answers[i][k]; !x.Won && x.Holder != winner {
				return fmt.Errorf("checkpoint %d: process %d was told that %q holds it, it is %s", k, i, x.Holder, winner)
			}
		}
		if err := expectClaimed("after all", s.Blobs().Claim(ctx, at, "late"), winner); err != nil {
			return err
		}
	}
	return nil
}

func appendProcesses(ctx context.Context, test, place string, open Open) error {
	const processes = 3
	if err := several(ctx, test, processes, role{Do: "append", Place: place}, func(int, *process) error { return nil }); err != nil {
		return err
	}
	s, err := open(place)
	if err != nil {
		return err
	}
	defer s.Close()
	got, err := read(ctx, s, "r")
	if err != nil {
		return err
	}
	next := map[string]int{}
	for i := 0; i+1 < len(got); i += 2 {
		a, _ := got[i].Result.(engine.Produced)
		b, _ := got[i+1].Result.(engine.Produced)
		next[a.Text]++
		if b.Text != a.Text+" again" || int(got[i].ID.Visit) != next[a.Text] || got[i+1].ID != got[i].ID {
			return fmt.Errorf("records %d and %d, %q and %q, are not append %d of one process", i, i+1, a.Text, b.Text, next[a.Text])
		}
	}
	if len(got) != processes*10*2 || len(next) != processes {
		return fmt.Errorf("%d processes appended 10 times 2 records, found %d of %d processes", processes, len(got), len(next))
	}
	return nil
}

func killProcesses(ctx context.Context, test, place string, open Open) error {
	kept := map[store.Location]uint64{}
	acknowledged := uint64(0)
	for round := range 3 {
		p, err := spawn(ctx, test, role{Do: "die", Place: place})
		if err != nil {
			return err
		}
		_ = p.in.Close() // go
		for steps := 0; ; steps++ {
			x, err := p.next()
			if err != nil {
				break // it is dead, or the last line was cut
			}
			if x.Blob != "" {
				kept[x.Blob] = x.Seq
			} else {
				acknowledged = x.Seq
			}
			if steps == 5+3*round {
				if err := p.cmd.Process.Kill(); err != nil {
					return err
				}
			}
		}
		if err := p.wait(); err == nil || p.err.Len() > 0 {
			return fmt.Errorf("the process was not killed: %w: %s", err, p.err)
		}
		s, err := open(place)
		if err != nil {
			return fmt.Errorf("after a kill: %w", err)
		}
		err = func() error {
			got, err := read(ctx, s, "r")
			if err != nil {
				return err
			}
			n := uint64(len(got))
			if n < acknowledged || n > acknowledged+3 || n%3 != 0 {
				return fmt.Errorf("%d records in appends of 3 were acknowledged, found %d", acknowledged, n)
			}
			if err := expectJournal(ctx, s, "r", batch(0, len(got))); err != nil {
				return err
			}
			if err := s.Append(ctx, "r", n, batch(len(got), 3)); err != nil {
				return err
			}
			acknowledged = n + 3
			for at, seed := range kept {
				if err := expectBlob(ctx, s.Blobs(), at, noise(seed, 50_000)); err != nil {
					return err
				}
			}
			_, err = list(ctx, s, store.Query{})
			return err
		}()
		if err := errors.Join(err, s.Close()); err != nil {
			return fmt.Errorf("after a kill: %w", err)
		}
	}
	if len(kept) == 0 || acknowledged < 9 {
		return fmt.Errorf("the processes died before they wrote")
	}
	return nil
}
