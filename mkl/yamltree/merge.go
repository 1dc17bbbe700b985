package yamltree

// smallMap is the number of keys up to which comparing beats hashing.
const smallMap = 16

// finishMapping builds the mapping from its entries on the stack: it refuses
// duplicate keys and puts merged content in.
func (r *reader) finishMapping(n *Node, base, before int) *Error {
	pairs := r.stack[base:]
	count := len(pairs) / 2
	all := make([]*Node, len(pairs))
	n.Keys, n.Values = all[:count:count], all[count:]
	merges := false
	for i := range count {
		k := pairs[2*i]
		n.Keys[i], n.Values[i] = k, pairs[2*i+1]
		merges = merges || isMerge(k)
	}
	r.stack = r.stack[:base]
	r.depth--
	n.height++
	n.size = int32(r.count - before)
	if r.raw {
		return nil
	}
	r.unique(n)
	if merges {
		return r.merge(n)
	}
	return nil
}

func isMerge(k *Node) bool { return k.Plain && !k.FromAlias && k.Text == "<<" }

func (r *reader) unique(n *Node) {
	if len(n.Keys) <= smallMap {
		for i, k := range n.Keys {
			for _, first := range n.Keys[:i] {
				if first.Text == k.Text {
					r.duplicate(first, k)
					break
				}
			}
		}
		return
	}
	n.index = make(map[string]int, len(n.Keys))
	for i, k := range n.Keys {
		if first, ok := n.index[k.Text]; ok {
			r.duplicate(n.Keys[first], k)
			continue
		}
		n.index[k.Text] = i
	}
}

func (r *reader) duplicate(first, again *Node) {
	e := r.errorAt("MK106", r.pos, "duplicate key ‹%s› on line %d: it stands on line %d already", clip(again.Text), again.Line, first.Line)
	e.Line, e.Column = again.Line, again.Column
	r.errs = append(r.errs, e)
}

// merge replaces << by the content it names. An explicit key wins over a merged
// one wherever it stands, an earlier map of a list over a later one. The work is
// bounded because every alias was counted with all that it expands to.
func (r *reader) merge(n *Node) *Error {
	taken := make(map[string]bool, len(n.Keys))
	for _, k := range n.Keys {
		if !isMerge(k) {
			taken[k.Text] = true
		}
	}
	var keys, values []*Node
	for i, k := range n.Keys {
		if !isMerge(k) {
			keys, values = append(keys, k), append(values, n.Values[i])
			continue
		}
		v := n.Values[i]
		from := []*Node{v}
		if v.Kind == Sequence {
			from = v.Items
		}
		for _, m := range from {
			if m.Kind != Mapping {
				return &Error{"MK203", m.Line, m.Column, "<< wants a mapping or a list of mappings, found " + m.What()}
			}
			for j, mk := range m.Keys {
				if !taken[mk.Text] {
					taken[mk.Text] = true
					keys, values = append(keys, mk), append(values, m.Values[j])
				}
			}
		}
	}
	n.Keys, n.Values, n.index = keys, values, nil
	if len(keys) > smallMap {
		n.index = make(map[string]int, len(keys))
		for i, k := range keys {
			if _, dup := n.index[k.Text]; !dup {
				n.index[k.Text] = i
			}
		}
	}
	return nil
}
