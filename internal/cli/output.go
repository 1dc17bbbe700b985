package cli

import (
	"io"
	"strings"

	"github.com/pinfold-dev/pinfold/display"
	"github.com/pinfold-dev/pinfold/value"
)

// stream is one of the two output streams. A closed pipe ends the program, as the
// runtime does by itself for standard output; any other failed write is not
// something that a command could report on the same stream.
type stream struct {
	w        io.Writer
	terminal bool
	colour   bool
}

func (a *app) stream(w io.Writer) stream {
	return stream{w: w, terminal: a.env.terminal || isTerminal(w)}
}

// print writes pinfold's own fixed wording, or text that was escaped before.
func (s *stream) print(parts ...string) { io.WriteString(s.w, strings.Join(parts, "")) }

// style is how escapes stand out on this stream.
func (s *stream) style() display.Style {
	if s.colour {
		return display.Colour()
	}
	return display.Style{}
}

// safe is outside text on one line of this stream; block keeps its line ends.
func (s *stream) safe(text string) string  { return s.style().Line(text) }
func (s *stream) block(text string) string { return s.style().Block(text) }

// paint puts pinfold's own word in a colour.
func (s *stream) paint(word string) string {
	if !s.colour {
		return word
	}
	code := ""
	switch word {
	case "OK", "PASS", "DONE":
		code = "32"
	case "WARNING", "SUSPENDED":
		code = "33"
	case "ERROR", "FAIL", "HALT":
		code = "31"
	default:
		return word
	}
	return "\x1b[" + code + "m" + word + "\x1b[39m"
}

// json writes a value: exact, but on a terminal without a character that a person
// could not see.
func (s *stream) json(v value.Value) {
	b := v.AppendIndentJSON(nil, "")
	if s.terminal {
		b = display.AppendJSON(nil, string(b))
	}
	s.w.Write(append(b, '\n'))
}

// Building wire maps.

func obj(entries ...value.Entry) value.Value { return value.FromEntries(entries...) }

func kv(key string, v value.Value) value.Entry { return value.Entry{Key: key, Value: v} }
func kstr(key, s string) value.Entry           { return kv(key, value.FromString(s)) }
func kint(key string, n int) value.Entry       { return kv(key, value.FromInt(int64(n))) }
func kbool(key string, b bool) value.Entry     { return kv(key, value.FromBool(b)) }
func kstrs(key string, list []string) value.Entry {
	items := make([]value.Value, len(list))
	for i, s := range list {
		items[i] = value.FromString(s)
	}
	return kv(key, value.FromList(items...))
}

// failure is a command that could not do its work (exit 2), or a remark of one
// that could.
type failure struct {
	code    string // of LANGUAGE.md §20
	message string
	path    string
	hint    string
	stack   string       // PINFOLD_DEBUG: of an error of ours
	also    []diagnostic // what stands behind it, in order
}

// diagnostic is one entry of an envelope's diagnostics.
type diagnostic struct {
	severity, message, code, path, hint string
}

func (d diagnostic) value() value.Value {
	orNull := func(s string) value.Value {
		if s == "" {
			return value.Value{}
		}
		return value.FromString(s)
	}
	return obj(kstr("severity", d.severity), kstr("message", d.message), kv("code", orNull(d.code)),
		kv("path", orNull(d.path)), kv("hint", orNull(d.hint)))
}

// fail writes a failure to stderr in the chosen format and gives the exit code.
func (a *app) fail(f *failure) int {
	all := append([]diagnostic{{"error", f.message, f.code, f.path, f.hint}}, f.also...)
	if a.json() {
		a.err.json(envelope(a.command, false, nil, all, obj()))
		return exitUsage
	}
	a.err.print(a.err.paint("ERROR"), " ", a.err.safe(where(f.path, f.message)), "\n")
	if f.hint != "" {
		a.err.print("  hint: ", a.err.safe(f.hint), "\n")
	}
	if f.stack != "" {
		a.err.print(a.err.block(f.stack), "\n")
	}
	for _, d := range f.also {
		a.err.print("  ", d.severity, ": ", a.err.safe(where(d.path, d.message)), "\n")
		if d.hint != "" {
			a.err.print("    hint: ", a.err.safe(d.hint), "\n")
		}
	}
	return exitUsage
}

func where(path, message string) string {
	if path == "" {
		return message
	}
	return path + ": " + message
}

// envelope is what every command but run writes in JSON.
func envelope(command string, ok bool, items []value.Value, diagnostics []diagnostic, summary value.Value) value.Value {
	d := make([]value.Value, len(diagnostics))
	for i := range diagnostics {
		d[i] = diagnostics[i].value()
	}
	return obj(kstr("command", command), kbool("ok", ok), kv("items", value.FromList(items...)),
		kv("diagnostics", value.FromList(d...)), kv("summary", summary))
}

// warn writes a line of the kind that never changes what a command does.
func (a *app) warn(text string) {
	a.err.print("warning: ", a.err.safe(text), "\n")
}
