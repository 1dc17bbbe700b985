package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// System is what configuration is read from.
type System struct {
	// ReadFile reads a file. A file that is not there is an error that matches
	// fs.ErrNotExist.
	ReadFile func(path string) ([]byte, error)
	// LookupEnv reads one variable.
	LookupEnv func(name string) (string, bool)
}

// maxFile bounds what is read of one file: a configuration is small, and a path
// may lead to a device.
const maxFile = 4 << 20

// OS is the operating system.
func OS() System {
	return System{
		ReadFile: func(path string) ([]byte, error) {
			f, err := os.Open(path)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
			if err == nil && len(b) > maxFile {
				err = fmt.Errorf("%s: larger than %d MiB", path, maxFile>>20)
			}
			return b, err
		},
		LookupEnv: os.LookupEnv,
	}
}

// Env is the variable PINFOLD_‹name›, or MKLANG_‹name› where that one is unset
// (LANGUAGE.md §21.1). One that is set and empty hides the other.
func (s System) Env(name string) (string, bool) {
	if v, ok := s.LookupEnv("PINFOLD_" + name); ok {
		return v, true
	}
	return s.LookupEnv("MKLANG_" + name)
}

func (s System) lookup(name string) string {
	v, _ := s.LookupEnv(name)
	return v
}

// Dirs are the directories of this user; "" where none can be named.
type Dirs struct{ Config, Data, State string }

// Dirs finds them: a variable of ours, then XDG, then the home directory.
func (s System) Dirs() Dirs {
	dir := func(own, xdg, home string) string {
		if d, _ := s.Env(own); d != "" {
			return d
		}
		if d := s.lookup(xdg); filepath.IsAbs(d) { // the XDG rule: a relative one does not count
			return filepath.Join(d, "pinfold")
		}
		if h := s.lookup("HOME"); h != "" {
			return filepath.Join(h, home, "pinfold")
		}
		return ""
	}
	return Dirs{
		Config: dir("CONFIG_DIR", "XDG_CONFIG_HOME", ".config"),
		Data:   dir("DATA_DIR", "XDG_DATA_HOME", filepath.Join(".local", "share")),
		State:  dir("STATE_DIR", "XDG_STATE_HOME", filepath.Join(".local", "state")),
	}
}

// file reads path; ok is false when it is not there.
func (s System) file(path string) (content []byte, ok bool, err error) {
	content, err = s.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return content, err == nil, err
}
