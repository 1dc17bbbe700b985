package flow

import "strings"

// A Class says who can set the bytes of an origin: AUTHORITY or AUTHORITY:KIND,
// such as author:constant, operator:env, user:http-request, remote:file.
type Class string

// Authorities, the part of a Class before the colon.
const (
	Author   = "author"   // the code's own text
	Embedded = "embedded" // a file that is compiled in
	Computed = "computed" // made by the program and unable to carry anybody's text: a length, a digest, randomness
	Operator = "operator" // flags, environment, configuration
	Vouched  = "vouched"  // an unchecked call, with its reason
	User     = "user"
	Remote   = "remote"
	Model    = "model"
	SQL      = "sql" // a column; its authorship decides
	Unknown  = "unknown"
)

// Classes that the walk itself assigns.
const (
	Constant    Class = "author:constant"
	Embed       Class = "embedded:file"
	Length      Class = "computed:length"
	Random      Class = "computed:random"
	Digest      Class = "computed:digest"
	Flag        Class = "operator:flag"
	Stdin       Class = "user:stdin"
	VouchedText Class = "vouched:reason"
	SQLColumn   Class = "sql:column"
	ORMField    Class = "sql:orm"

	UnknownCall      Class = "unknown:call"      // a function whose source is not at hand and which no table names
	UnknownParameter Class = "unknown:parameter" // of a function that nothing here calls
	UnknownField     Class = "unknown:field"     // nothing here stores to it
	UnknownTemplate  Class = "unknown:template"  // its text is chosen at run time
	UnknownDynamic   Class = "unknown:dynamic"   // a call whose targets are not known
	UnknownLimit     Class = "unknown:limit"     // the walk gave up
	UnknownError     Class = "unknown:error"     // the text of an error made elsewhere
	UnknownValue     Class = "unknown:value"     // an instruction the walk does not model
)

// Authority is the part of c before the colon.
func (c Class) Authority() string {
	a, _, _ := strings.Cut(string(c), ":")
	return a
}

// Kind is the part after it.
func (c Class) Kind() string {
	_, k, _ := strings.Cut(string(c), ":")
	return k
}

// Trust is one of the three answers about an origin.
type Trust uint8

// The zero Trust is the one that asks for attention.
const (
	TrustUnknown Trust = iota
	Untrusted
	Trusted
)

func (t Trust) String() string {
	switch t {
	case Trusted:
		return "trusted"
	case Untrusted:
		return "untrusted"
	}
	return "unknown"
}

// Trust of a class by default; a SQL column is untrusted until somebody names
// its author.
func (c Class) Trust() Trust {
	switch c.Authority() {
	case Author, Embedded, Computed, Operator, Vouched:
		return Trusted
	case User, Remote, Model, SQL:
		return Untrusted
	}
	return TrustUnknown
}

// Who is the class in words, for a table that a person reads.
func (c Class) Who() string {
	if w, ok := who[c]; ok {
		return w
	}
	switch c.Authority() {
	case Author:
		return "the author of the code"
	case Embedded:
		return "the author of the code (embedded file)"
	case Computed:
		return "nobody (computed)"
	case Operator:
		return "the operator (" + c.Kind() + ")"
	case Vouched:
		return "vouched for"
	case User:
		return "a user (" + c.Kind() + ")"
	case Remote:
		return "somebody else (" + c.Kind() + ")"
	case Model:
		return "a model"
	case SQL:
		return "whoever writes the column"
	}
	return "unknown"
}

var who = map[Class]string{
	UnknownCall:      "unknown: a call that was not followed",
	UnknownParameter: "unknown: a parameter that nothing here fills",
	UnknownField:     "unknown: a field that nothing here stores to",
	UnknownTemplate:  "unknown: a template chosen at run time",
	UnknownDynamic:   "unknown: a dynamic call",
	UnknownLimit:     "unknown: the walk gave up",
	UnknownError:     "unknown: the text of an error",
	UnknownValue:     "unknown",
}
