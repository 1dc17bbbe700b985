package trust

import (
	"github.com/pinfold-dev/pinfold/value"
)

// unknown is the origin, or secrecy tag, that could not be named or read. No class
// admits it and no tool may carry it unless somebody lists it by its empty name.
const unknown = ""

// Label is level × sources × secrecy. The zero Label is External, from nowhere
// in particular, not secret. A Label is only a statement: constructors of Value
// and Data decide which labels they accept, and none but those of unchecked
// accepts one above Model.
type Label struct {
	level   Level
	sources Set
	secrecy Set
}

// From is External, from the given origins.
func From(origins ...string) Label { return Label{sources: NewSet(origins...)} }

// ModelLabel is Model, from the given origins.
func ModelLabel(origins ...string) Label {
	return Label{level: LevelModel, sources: NewSet(origins...)}
}

// Level is who chose the value.
func (l Label) Level() Level { return l.level }

// Sources are the origins: host:question, tool:search_kb, model:draft.
func (l Label) Sources() Set { return l.sources }

// Secrecy are the tags that say what must not leave: pii, billing.
func (l Label) Secrecy() Set { return l.secrecy }

// Tainted says whether anybody but the author had a hand in it.
func (l Label) Tainted() bool { return l.level != LevelAuthor }

// External says whether somebody outside the run had a hand in it.
func (l Label) External() bool { return l.level == LevelExternal }

// Join is the label of something made from both: the lower level, all sources, all
// tags (TRUST.md §2). It is associative, commutative and idempotent.
//
// A tainted label without sources is from somewhere all the same. Joined with one
// that has sources, it leaves the unknown origin "" behind: otherwise data from
// nowhere in particular would pass for data of the other's origins, and a lane that
// admits those would let it in unfenced.
func (l Label) Join(m Label) Label {
	j := Label{min(l.level, m.level), l.sources.Union(m.sources), l.secrecy.Union(m.secrecy)}
	if j.sources.p != nil && (l.unplaced() || m.unplaced()) && !j.sources.Has(unknown) {
		j.sources = j.sources.Union(NewSet(unknown))
	}
	return j
}

func (l Label) unplaced() bool { return l.level != LevelAuthor && l.sources.p == nil }

// WithSecrecy adds tags.
func (l Label) WithSecrecy(tags ...string) Label {
	if len(tags) > 0 {
		l.secrecy = l.secrecy.Union(NewSet(tags...))
	}
	return l
}

// WithSources adds origins.
func (l Label) WithSources(origins ...string) Label {
	if len(origins) > 0 {
		l.sources = l.sources.Union(NewSet(origins...))
	}
	return l
}

// Lowered is l with a level of at most to.
func (l Label) Lowered(to Level) Label {
	l.level = min(l.level, to)
	return l
}

// Equal says whether the labels have the same level, sources and tags.
func (l Label) Equal(m Label) bool {
	return l.level == m.level && l.sources.Equal(m.sources) && l.secrecy.Equal(m.secrecy)
}

// joined is the join of the labels, or External when there are none, lowered to at
// most Model: the label that public constructors give.
func joined(from []Label) Label {
	if len(from) == 0 {
		return Label{}
	}
	l := from[0]
	for _, m := range from[1:] {
		l = l.Join(m)
	}
	return l.Lowered(LevelModel)
}

// Value is the label as a value, {"level", "sources", "secrecy"}, for files.
func (l Label) Value() value.Value {
	list := func(s Set) value.Value {
		items := make([]value.Value, 0, s.Len())
		for _, item := range s.items() {
			items = append(items, value.FromString(item))
		}
		return value.FromList(items...)
	}
	return value.FromEntries(
		value.Entry{Key: "level", Value: value.FromString(l.level.String())},
		value.Entry{Key: "sources", Value: list(l.sources)},
		value.Entry{Key: "secrecy", Value: list(l.secrecy)},
	)
}

// LabelOf reads what Label.Value wrote, or the text form of a label in a string.
// What is missing or unknown reads as External; sources and tags are kept where
// they can be read, and what stands in their place otherwise reads as the unknown
// origin or tag, so that a damaged label loses no restriction.
//
// LabelOf is for fields that our own files keep labels in. It is never applied to
// a value that somebody supplied.
func LabelOf(v value.Value) Label {
	if s, ok := v.AsString(); ok {
		return parseLabel(s)
	}
	if v.Kind() != value.Map {
		return Label{}
	}
	var l Label
	name, _ := v.Get("level")
	s, _ := name.AsString()
	level, whole := levelOf(s)
	list := func(key string) Set {
		field, ok := v.Get(key)
		if !ok {
			return Set{}
		}
		if field.Kind() != value.List {
			whole = false
			return NewSet(unknown)
		}
		items := make([]string, field.Len())
		for i := range items {
			s, ok := field.At(i).AsString()
			if !ok {
				whole, s = false, unknown
			}
			items[i] = s
		}
		return NewSet(items...)
	}
	l.sources, l.secrecy = list("sources"), list("secrecy")
	if whole {
		l.level = level
	}
	return l
}

// MarshalJSON writes the object that Value gives.
func (l Label) MarshalJSON() ([]byte, error) { return []byte(l.Value().JSON()), nil }

// UnmarshalJSON reads an object or the text form, in the manner of LabelOf: it
// fails on nothing, and gives External for what it cannot read.
func (l *Label) UnmarshalJSON(b []byte) error {
	*l = Label{}
	if v, err := value.ParseJSON(b); err == nil {
		*l = LabelOf(v)
	}
	return nil
}
