package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/mkl"
)

func machine(name, callee string) string {
	state := "structure: s, prompt: p"
	if callee != "" {
		state = "call: " + callee
	}
	return fmt.Sprintf("machine: %s\nentry: a\nbudget: 3\nstates:\n  a: { %s, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }\n", name, state)
}

// tree writes files under a new directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Which files a path can see (LANGUAGE.md §22, scope of a path).
func TestScope(t *testing.T) {
	dir := tree(t, map[string]string{
		"plain/a.mkl":          machine("a", ""),
		"plain/b.mkl":          machine("b", ""),
		"plain/b.test.yaml":    "machine: not_this",
		"plain/deep/c.mkl":     machine("c", ""),
		"proj/top.mkl":         machine("top", ""),
		"proj/both.mkl":        machine("both", "parent"),
		"proj/machines/x.mkl":  machine("x", ""),
		"proj/machines/b2.mkl": machine("both", "dir"),
		"base/std.mkl":         machine("std", ""),
		"base/a.mkl":           machine("a", "base"),
	})
	in := func(name string, base ...string) *Registry {
		for i := range base {
			base[i] = filepath.Join(dir, base[i])
		}
		return Beside(filepath.Join(dir, name), base...)
	}
	for _, c := range []struct {
		reg  *Registry
		want string
	}{
		{in("plain/a.mkl"), "a b"},
		{in("plain/nothing-there.mkl"), "a b"},
		{in("plain/deep/c.mkl"), "c"},
		{in("proj/top.mkl"), "both top x"},
		{in("proj/machines/x.mkl"), "both top x"},
		{in("plain/a.mkl", "base", "nowhere"), "a b std"},
	} {
		if got := strings.Join(c.reg.Names(), " "); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	// The directory wins over its parent, wherever the path stands; what is
	// beside the file wins over the base.
	for _, path := range []string{"proj/top.mkl", "proj/machines/x.mkl"} {
		if got, _ := in(path).Path("both"); !strings.HasSuffix(filepath.ToSlash(got), "machines/b2.mkl") {
			t.Errorf("%s: both is %s", path, got)
		}
	}
	if m, _ := in("plain/a.mkl", "base").Machine("a"); m == nil || m.States[0].Kind != mkl.Generative {
		t.Error("the base won over the file's own directory")
	}
}

func TestRelativePaths(t *testing.T) {
	dir := tree(t, map[string]string{"machines/a.mkl": machine("a", ""), "b.mkl": machine("b", "")})
	t.Chdir(filepath.Join(dir, "machines"))
	if got := strings.Join(Beside("a.mkl").Names(), " "); got != "a b" {
		t.Errorf("from inside machines: %q", got)
	}
	t.Chdir(dir)
	reg := Beside("b.mkl")
	if path, _ := reg.Path("a"); path != filepath.Join("machines", "a.mkl") {
		t.Errorf("path as it was given: %q", path)
	}
}

// Found leniently, read strictly when reached.
func TestLenientThenStrict(t *testing.T) {
	dir := tree(t, map[string]string{
		"top.mkl":    machine("top", "typo"),
		"typo.mkl":   "machine: typo\nbudgte: 3\n" + strings.TrimPrefix(machine("typo", ""), "machine: typo\n"),
		"half.mkl":   "machine: half",
		"junk.mkl":   "- no machine",
		"broken.mkl": "machine: [",
	})
	reg := Beside(filepath.Join(dir, "top.mkl"))
	if got := strings.Join(reg.Names(), " "); got != "half top typo" {
		t.Errorf("found %q", got)
	}
	m, fault, ok := reg.Lookup("typo")
	if m != nil || !ok || fault == nil || fault.Code != "MK202" || !strings.HasSuffix(fault.File, "typo.mkl") || fault.Line != 2 {
		t.Errorf("%v %v %v", m, fault, ok)
	}
	if m, ok := reg.Machine("typo"); m != nil || ok {
		t.Error("a machine with an error was handed to the engine")
	}
	top, _ := reg.Machine("top")
	if faults := reg.Reach(top); len(faults) != 1 || faults[0].Code != "MK202" {
		t.Errorf("reach: %v", faults)
	}
	if got := reg.Warnings(); len(got) != 0 {
		t.Errorf("nobody asked for what was skipped: %q", got)
	}
	if _, _, ok := reg.Lookup("broken"); ok {
		t.Error("broken was found")
	}
	if got := strings.Join(reg.Warnings(), "\n"); !strings.Contains(got, "broken.mkl: skipped while looking for machine 'broken'") || !strings.Contains(got, "junk.mkl") {
		t.Errorf("warnings %q", got)
	}
}

func TestOneNameTwice(t *testing.T) {
	dir := tree(t, map[string]string{"1.mkl": machine("m", ""), "2.mkl": machine("m", "later"), "3.mkl": machine("n", "")})
	reg := Beside(filepath.Join(dir, "x.mkl"))
	m, _ := reg.Machine("m")
	if m == nil || m.States[0].Callee != "later" {
		t.Error("the later file by name must win")
	}
	if got := reg.Warnings(); len(got) != 1 || !strings.Contains(got[0], "1.mkl") || !strings.Contains(got[0], "2.mkl") {
		t.Errorf("warnings %q", got)
	}
	target := &mkl.Machine{Name: "m"}
	reg.SetTarget(target)
	if m, _ := reg.Machine("m"); m != target {
		t.Error("the target replaces its entry")
	}
	if !slices.Contains(reg.Names(), "m") {
		t.Error("the target has a name")
	}
}

// A link that leads out of the directory is not followed.
func TestLinks(t *testing.T) {
	dir := tree(t, map[string]string{"in/a.mkl": machine("a", ""), "out/secret.mkl": machine("secret", "")})
	for link, to := range map[string]string{
		"in/inside.mkl":   "a.mkl",
		"in/outside.mkl":  "../out/secret.mkl",
		"in/dangling.mkl": "nowhere.mkl",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	reg := Beside(filepath.Join(dir, "in", "x.mkl"))
	if got := strings.Join(reg.Names(), " "); got != "a" {
		t.Errorf("found %q", got)
	}
	reg.Lookup("secret")
	if got := strings.Join(reg.Warnings(), "\n"); !strings.Contains(got, "outside.mkl: skipped while looking for machine 'secret': a symbolic link that leaves its directory") {
		t.Errorf("warnings %q", got)
	}
}

func TestReadFile(t *testing.T) {
	dir := tree(t, map[string]string{"big.mkl": strings.Repeat("#", 5<<20)})
	src, err := ReadFile(filepath.Join(dir, "big.mkl"))
	if err != nil || len(src) != maxSource {
		t.Errorf("%d bytes, %v", len(src), err)
	}
	if _, err := ReadFile(filepath.Join(dir, "none.mkl")); err == nil || err.Error() != "no such file or directory" {
		t.Errorf("%v", err)
	}
	if _, err := ReadFile(dir); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("%v", err)
	}
	files, err := Files(dir)
	if err != nil || len(files) != 1 {
		t.Errorf("%v %v", files, err)
	}
	if _, err := Files(filepath.Join(dir, "none")); err == nil {
		t.Error("no directory")
	}
}

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{"top.mkl": machine("top", "sub"), "sub.mkl": machine("sub", "")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			panic(err)
		}
	}
	reg := Beside(filepath.Join(dir, "top.mkl"))
	m, ok := reg.Machine("sub")
	fmt.Println(m.Name, ok, reg.Names())
	// Output: sub true [sub top]
}
