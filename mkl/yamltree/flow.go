package yamltree

// flow reads [ … ] or { … }.
func (r *reader) flow() (*Node, *Error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	open := r.pos
	line, column := r.place(open)
	before := r.count
	kind, closing := Sequence, byte(']')
	if r.src[r.pos] == '{' {
		kind, closing = Mapping, '}'
	}
	n, err := r.node(kind, open)
	if err != nil {
		return nil, err
	}
	n.style = flow
	base := len(r.stack)
	r.pos++
	for more := true; ; {
		if _, err := r.flowSkip(line, column, closing); err != nil {
			return nil, err
		}
		switch c := r.src[r.pos]; {
		case c == closing:
			r.pos++
			n.endsAt(r.pos)
			if kind == Mapping {
				return n, r.finishMapping(n, base, before)
			}
			r.finishSequence(n, base, before)
			return n, nil
		case c == ',' && more:
			return nil, r.syntax("expected a value before the ','")
		case c == ',':
			r.pos++
			more = true
			continue
		case !more:
			return nil, r.syntax("expected ',' or '%c', found %s (opened at %d:%d)", closing, r.found(), line, column)
		}
		more = false
		if kind == Mapping {
			if err := r.flowPair(n, line, column, closing); err != nil {
				return nil, err
			}
			continue
		}
		item, err := r.flowItem(line, column)
		if err != nil {
			return nil, err
		}
		r.stack = append(r.stack, item)
		n.height = max(n.height, item.height)
	}
}

// flowSkip moves to the next token of a flow collection that was opened at line, column.
func (r *reader) flowSkip(line, column int, closing byte) (bool, *Error) {
	crossed, err := r.skip(true)
	if err == nil && r.ended() {
		err = r.syntax("expected '%c' for what was opened at %d:%d, found the end of the document", closing, line, column)
	}
	return crossed, err
}

// colon reports that the ':' at pos ends a key: behind a quoted key or a
// collection it may stand alone, as JSON has it.
func (r *reader) colon(key *Node) bool {
	if r.src[r.pos] != ':' {
		return false
	}
	next := r.src[r.pos+1]
	return ends(next) || flowMark(next) || key != nil && (!key.Plain || key.Kind != Scalar) && !key.FromAlias
}

// flowPair reads one entry of { … }.
func (r *reader) flowPair(n *Node, line, column int, closing byte) *Error {
	explicit := r.src[r.pos] == '?' && ends(r.src[r.pos+1])
	if explicit {
		r.pos++
		if _, err := r.flowSkip(line, column, closing); err != nil {
			return err
		}
	}
	from := r.line
	key, err := r.flowNode()
	if err != nil {
		return err
	}
	if err := checkKey(key); err != nil {
		return err
	}
	if !explicit && r.line != from {
		return r.errorAt("MK103", int(key.off), "a key stands on one line")
	}
	if _, err := r.flowSkip(line, column, closing); err != nil {
		return err
	}
	val, err := r.flowValue(key, line, column, closing)
	if err != nil {
		return err
	}
	r.stack = append(r.stack, key, val)
	n.height = max(n.height, val.height)
	return nil
}

// flowValue reads ": value" behind a key, or the empty value when there is none.
func (r *reader) flowValue(key *Node, line, column int, closing byte) (*Node, *Error) {
	if !r.colon(key) {
		return r.empty(r.pos, props{})
	}
	r.pos++
	if _, err := r.flowSkip(line, column, closing); err != nil {
		return nil, err
	}
	if c := r.src[r.pos]; c == ',' || c == closing {
		return r.empty(r.pos, props{})
	}
	return r.flowNode()
}

// flowItem reads one entry of [ … ]: a node, or a single pair, which is a mapping.
func (r *reader) flowItem(line, column int) (*Node, *Error) {
	off, before, from := r.pos, r.count, r.line
	explicit := r.src[r.pos] == '?' && ends(r.src[r.pos+1])
	if explicit {
		r.pos++
		if _, err := r.flowSkip(line, column, ']'); err != nil {
			return nil, err
		}
	}
	key, err := r.flowNode()
	if err != nil {
		return nil, err
	}
	if !explicit {
		at := r.pos
		for blank(r.src[r.pos]) {
			r.pos++
		}
		if !r.colon(key) {
			r.pos = at
			return key, nil
		}
		if r.line != from {
			return nil, r.errorAt("MK103", int(key.off), "a key stands on one line")
		}
	} else if _, err := r.flowSkip(line, column, ']'); err != nil {
		return nil, err
	}
	if err := checkKey(key); err != nil {
		return nil, err
	}
	if err := r.enter(); err != nil {
		return nil, err
	}
	base := len(r.stack)
	n, err := r.node(Mapping, off)
	if err != nil {
		return nil, err
	}
	n.style = flow
	val, err := r.flowValue(key, line, column, ']')
	if err != nil {
		return nil, err
	}
	r.stack = append(r.stack, key, val)
	n.height = val.height
	if r.raw {
		n.raw.end = val.raw.end
	}
	return n, r.finishMapping(n, base, before)
}

// flowNode reads one node inside a flow collection.
func (r *reader) flowNode() (n *Node, err *Error) {
	p, _, err := r.properties(true)
	if err != nil {
		return nil, err
	}
	if r.ended() {
		return nil, r.syntax("expected a value, found the end of the document")
	}
	switch c := r.src[r.pos]; c {
	case '*':
		if p.any {
			return nil, r.syntax("an alias can have no anchor or tag of its own")
		}
		return r.aliasNode()
	case '"', '\'':
		n, err = r.quoted(c)
	case '[', '{':
		n, err = r.flow()
	case ',', ']', '}':
		if p.any {
			return r.empty(p.off, p)
		}
		return nil, r.syntax("expected a value, found %s", r.found())
	case '%', '@', '`', '#', '|', '>', '&', '!':
		return nil, r.syntax("a text cannot begin with %s here: put quotes around it", r.found())
	default:
		if next := r.src[r.pos+1]; (c == '-' || c == '?' || c == ':') && (ends(next) || flowMark(next)) {
			if c == ':' && p.any {
				return r.empty(p.off, p)
			}
			return nil, r.syntax("expected a value, found %s", r.found())
		}
		n, _, err = r.plain(-1, true)
	}
	if err != nil {
		return nil, err
	}
	return n, r.attach(n, p)
}
