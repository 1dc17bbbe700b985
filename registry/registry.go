// Package registry finds the machines that a machine can call: those beside it
// and those of the directories that every machine sees (LANGUAGE.md §22).
//
// It reads files and nothing else; it never runs or checks a machine. Discovery
// is lazy: a machine that calls nothing costs no look at its neighbours.
//
//	reg := registry.Beside("machines/triage.mkl")
//	prog, err := engine.Compile(m, reg)
//
// A file that is only found is read leniently, for its name. One that is reached
// by name is read strictly: a typo in the limit of a callee must not vanish.
package registry

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/mkl/yamltree"
)

// Ext is the ending of a machine's file.
const Ext = ".mkl"

// dirName is the directory that machines are kept in by convention.
const dirName = "machines"

// maxSource is one byte more than a source may have, so that the reader sees one
// that is too long and says so.
const maxSource = 4<<20 + 1

// Registry is the scope of one machine. It serves engine.Compile and
// check.Check. It is used by one goroutine.
type Registry struct {
	dirs   []string // later ones win
	looked bool
	found  map[string]*entry
	broken []skipped
	target *mkl.Machine
	warned []string
}

type entry struct {
	name    string
	path    string
	source  []byte
	also    []string // paths that declare the same name and lost
	read    bool
	machine *mkl.Machine
	fault   *mkl.Diagnostic
}

type skipped struct{ path, why string }

// Beside is the scope of the machine file at path: base directories first, then
// the file's neighbours. A file in a directory named machines sees that directory
// and its parent, as does one beside such a directory; of the two, machines wins.
func Beside(path string, base ...string) *Registry {
	dir := filepath.Dir(path)
	return In(dir, base...)
}

// In is the scope of a directory: what a machine file in it would see.
func In(dir string, base ...string) *Registry {
	r := &Registry{dirs: slices.Clone(base)}
	switch {
	case named(dir) == dirName:
		r.dirs = append(r.dirs, filepath.Join(dir, ".."), dir)
	case isDir(filepath.Join(dir, dirName)):
		r.dirs = append(r.dirs, dir, filepath.Join(dir, dirName))
	default:
		r.dirs = append(r.dirs, dir)
	}
	return r
}

// named is the directory's own name, also where it is written as . or ...
func named(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		abs = dir
	}
	return filepath.Base(abs)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// SetTarget makes m, which was read strictly by the caller, the machine of its
// name.
func (r *Registry) SetTarget(m *mkl.Machine) { r.target = m }

// Lookup finds a machine by name, read strictly. A machine whose document has an
// error is found with a nil machine and the first error.
func (r *Registry) Lookup(name string) (*mkl.Machine, *mkl.Diagnostic, bool) {
	if r.target != nil && r.target.Name == name {
		return r.target, nil, true
	}
	r.discover()
	e, ok := r.found[name]
	if !ok {
		for _, s := range r.broken {
			r.warn("%s: skipped while looking for machine '%s': %s", s.path, name, s.why)
		}
		return nil, nil, false
	}
	for _, lost := range e.also {
		r.warn("machine '%s' is declared by %s and %s: the latter is used", name, lost, e.path)
	}
	if !e.read {
		e.read = true
		m, diags := mkl.Parse(mkl.Source{Name: e.path, Text: e.source, Authorship: mkl.AuthorshipOperator}, mkl.Strict)
		e.machine = m
		for i := range diags {
			if diags[i].Severity == mkl.Error {
				d := diags[i]
				d.File = e.path
				e.machine, e.fault = nil, &d
				break
			}
		}
		e.source = nil
	}
	return e.machine, e.fault, true
}

// Machine is Lookup without the reason: a machine that cannot be read is none.
func (r *Registry) Machine(name string) (*mkl.Machine, bool) {
	m, _, _ := r.Lookup(name)
	return m, m != nil
}

// Path is the file that declares a machine.
func (r *Registry) Path(name string) (string, bool) {
	r.discover()
	if e, ok := r.found[name]; ok {
		return e.path, true
	}
	return "", false
}

// Names lists the machines that were found, sorted.
func (r *Registry) Names() []string {
	r.discover()
	names := make([]string, 0, len(r.found)+1)
	for name := range r.found {
		names = append(names, name)
	}
	if r.target != nil && r.found[r.target.Name] == nil {
		names = append(names, r.target.Name)
	}
	slices.Sort(names)
	return names
}

// Warnings lists what is to be said about the names that were looked up, each
// once: two files that declare one of them, files that were skipped while one was
// not found.
func (r *Registry) Warnings() []string { return slices.Clone(r.warned) }

func (r *Registry) warn(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if !slices.Contains(r.warned, line) {
		r.warned = append(r.warned, line)
	}
}

func (r *Registry) discover() {
	if r.looked {
		return
	}
	r.looked = true
	r.found = map[string]*entry{}
	for _, dir := range r.dirs {
		files, err := os.ReadDir(dir) // by file name
		if err != nil {
			if !os.IsNotExist(err) {
				r.broken = append(r.broken, skipped{dir, err.Error()})
			}
			continue
		}
		for _, f := range files {
			if strings.HasSuffix(f.Name(), Ext) && !f.IsDir() {
				r.take(dir, f)
			}
		}
	}
}

func (r *Registry) take(dir string, f os.DirEntry) {
	path := filepath.Join(dir, f.Name())
	if f.Type()&os.ModeSymlink != 0 && leaves(dir, path) {
		r.broken = append(r.broken, skipped{path, "a symbolic link that leaves its directory"})
		return
	}
	src, err := ReadFile(path)
	if err != nil {
		r.broken = append(r.broken, skipped{path, err.Error()})
		return
	}
	name, ok := declared(src)
	if !ok {
		r.broken = append(r.broken, skipped{path, "no machine can be read from it"})
		return
	}
	e := &entry{name: name, path: path, source: src}
	if old := r.found[name]; old != nil {
		if filepath.Dir(old.path) == dir {
			e.also = append(old.also, old.path)
		}
	}
	r.found[name] = e
}

// declared is the name that a document gives its machine, as far as it can be
// read at all: what else is wrong with it matters to those who call it.
func declared(src []byte) (string, bool) {
	root, errs := yamltree.Read(src)
	if len(errs) > 0 || root == nil || root.Kind != yamltree.Mapping {
		// A duplicate key leaves a tree; the name is still what it says.
		if root == nil || root.Kind != yamltree.Mapping {
			return "", false
		}
	}
	n, ok := root.Get("machine")
	if !ok {
		return "", false
	}
	name, err := n.AsString()
	return name, err == nil
}

// leaves says whether a link leads out of dir.
func leaves(dir, path string) bool {
	to, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return true
	}
	rel, err := filepath.Rel(root, to)
	return err != nil || !filepath.IsLocal(rel)
}

// ReadFile reads a source, no more of it than tells that it is too long.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, reason(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("is a directory")
	}
	src, err := io.ReadAll(io.LimitReader(f, maxSource))
	if err != nil {
		return nil, reason(err)
	}
	return src, nil
}

// reason is the system's reason without the path, which every caller says itself.
func reason(err error) error {
	if p, ok := err.(*os.PathError); ok {
		return p.Err
	}
	return err
}

// Files lists the machine files of a directory, by name.
func Files(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, reason(err)
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), Ext) && !e.IsDir() {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out, nil
}

// Reach reads every machine that m can reach by call: and gives the first fault
// of each that cannot be read, in the order in which they are met. A name that
// nobody declares is no fault here: the run halts when it reaches it.
func (r *Registry) Reach(m *mkl.Machine) []mkl.Diagnostic {
	var faults []mkl.Diagnostic
	seen := map[string]bool{m.Name: true}
	queue := []*mkl.Machine{m}
	for len(queue) > 0 {
		m, queue = queue[0], queue[1:]
		for i := range m.States {
			s := &m.States[i]
			if s.Kind != mkl.Call || seen[s.Callee] {
				continue
			}
			seen[s.Callee] = true
			callee, fault, _ := r.Lookup(s.Callee)
			if fault != nil {
				faults = append(faults, *fault)
			}
			if callee != nil {
				queue = append(queue, callee)
			}
		}
	}
	return faults
}
