package check

import "github.com/pinfold-dev/pinfold/mkl"

// Status sums a report up (LANGUAGE.md §5).
type Status string

const (
	StatusOK      Status = "ok"
	StatusWarning Status = "warning" // a warning, a finding or a note
	StatusError   Status = "error"
)

// Report is everything there is to say about one document.
type Report struct {
	File        string
	Machine     *mkl.Machine     // nil when the document fails MK1xx or MK2xx
	Diagnostics []mkl.Diagnostic // by line; MK307s among themselves by id
}

// File reads a document strictly and checks it; with o.Lint it lints it too. A
// document that fails MK1xx or MK2xx gets nothing else: rules about meaning
// would speak about a machine that nobody wrote. It reads no file, whatever its
// name says: src holds the text.
func File(src mkl.Source, o Options) Report {
	m, found := mkl.Parse(src, mkl.Strict)
	if m != nil {
		a := analyse(m, o)
		a.check()
		if o.Lint {
			a.lint()
		}
		found = append(found, a.found...)
	}
	return Report{File: src.Name, Machine: m, Diagnostics: listed(found)}
}

// Unreadable is the report on a document whose bytes could not be had (MK101);
// err is the system's reason.
func Unreadable(name string, err error) Report {
	return Report{File: name, Diagnostics: []mkl.Diagnostic{{
		Code: "MK101", Severity: mkl.Error, File: name, Message: "cannot read the file: " + err.Error(),
	}}}
}

// Status is StatusError when there is an error, StatusWarning when there is
// anything else to say.
func (r Report) Status() Status {
	status := StatusOK
	for i := range r.Diagnostics {
		if r.Diagnostics[i].Severity == mkl.Error {
			return StatusError
		}
		status = StatusWarning
	}
	return status
}

// Fails reports whether the document should stop a build: it has an error, or
// with strict a finding that is not a note.
func (r Report) Fails(strict bool) bool {
	for i := range r.Diagnostics {
		switch r.Diagnostics[i].Severity {
		case mkl.Error:
			return true
		case mkl.Finding:
			if strict {
				return true
			}
		}
	}
	return false
}

// Errors, Warnings and Findings are the diagnostics as strings; notes are among
// the findings and begin "note: ".
func (r Report) Errors() []string   { return r.strings(mkl.Error, mkl.Error) }
func (r Report) Warnings() []string { return r.strings(mkl.Warning, mkl.Warning) }
func (r Report) Findings() []string { return r.strings(mkl.Finding, mkl.Note) }

func (r Report) strings(x, y mkl.Severity) []string {
	list := []string{} // never nil: an empty list in JSON
	for i := range r.Diagnostics {
		if s := r.Diagnostics[i].Severity; s == x || s == y {
			list = append(list, r.Diagnostics[i].String())
		}
	}
	return list
}
