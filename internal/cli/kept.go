package cli

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/config"
	"github.com/pinfold-dev/pinfold/run/durable"
	"github.com/pinfold-dev/pinfold/store"
	"github.com/pinfold-dev/pinfold/store/file"
	"github.com/pinfold-dev/pinfold/store/sqlite"
)

// me names this process as the driver of a run: host, process, and what sets it
// apart from an earlier process of that number.
func (a *app) me() string {
	if a.driver == "" {
		var b [4]byte
		rand.Read(b[:]) // of a name only; it never fails
		a.driver = strconv.Itoa(os.Getpid()) + "@" + hostname() + "/" + hex.EncodeToString(b[:])
	}
	return a.driver
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}

// gone says that a driver of this host is certain to run no more. Of another host
// nothing is certain.
func gone(by string) bool {
	pid, rest, ok := strings.Cut(by, "@")
	host, _, ok2 := strings.Cut(rest, "/")
	n, err := strconv.Atoi(pid)
	return ok && ok2 && err == nil && n > 0 && n != os.Getpid() && host == hostname() && host != "unknown" && !running(n)
}

// keeper opens the store that the configuration names: SQLite under the state
// directory where it names none. Only a command that needs it opens it.
func (a *app) keeper(from *config.Resolved) (*durable.Keeper, *failure) {
	where := from.Store
	if where.Path != "" && !filepath.IsAbs(where.Path) { // as the file that names it sees it
		where.Path = filepath.Join(filepath.Dir(from.Path), where.Path)
	}
	st, err := a.openStore(where)
	if err != nil {
		return nil, err
	}
	return &durable.Keeper{Store: st, By: a.me(), Gone: gone, Clock: a.env.Clock}, nil
}

// storeFor is the keeper of a command that has no machine yet: a project's own file
// has no say in where runs are kept.
func (a *app) storeFor(explicit string) (*durable.Keeper, *failure) {
	r, err := config.Load(a.sys, config.Request{Explicit: explicit, Accepted: a.accepted})
	if err != nil {
		return nil, configFailure(err)
	}
	return a.keeper(r)
}

func (a *app) openStore(c config.Store) (store.Store, *failure) {
	path := c.Path
	if path == "" {
		state := a.sys.Dirs().State
		if state == "" {
			return nil, &failure{code: "prepare-config", message: "no directory to keep runs in: there is no home directory", hint: "set PINFOLD_STATE_DIR, or store.path in the configuration"}
		}
		if err := os.MkdirAll(state, 0o700); err != nil {
			return nil, &failure{code: "prepare-config", path: state, message: "the state directory cannot be made: " + err.Error()}
		}
		path = filepath.Join(state, "runs")
	}
	var st store.Store
	var err error
	switch c.Kind {
	case "", "sqlite":
		if c.Path == "" {
			path += ".db"
		}
		st, err = sqlite.Open(path)
	case "file":
		st, err = file.Open(path)
	default:
		return nil, &failure{code: "prepare-config", message: "store.kind: this version has no " + c.Kind, hint: "sqlite and file are there"}
	}
	if err != nil {
		return nil, &failure{code: "prepare-config", path: path, message: "the store of runs cannot be opened: " + err.Error()}
	}
	return st, nil
}
