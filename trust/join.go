package trust

// JoinReusing is the join of parts, in any order. Where it equals old it is old: a
// loop that computes the same label again and again allocates nothing for it. The
// join of nothing is External.
func JoinReusing(old Label, parts []Label) Label {
	if len(parts) == 0 {
		return Label{}
	}
	level, unplaced, placed := parts[0].level, false, false
	for i := range parts {
		level = min(level, parts[i].level)
		unplaced = unplaced || parts[i].unplaced()
		placed = placed || parts[i].sources.p != nil
	}
	if level == old.level && (!unplaced || !placed || old.sources.Has(unknown)) &&
		covers(old.sources, parts, Label.Sources, unplaced && placed) &&
		covers(old.secrecy, parts, Label.Secrecy, false) {
		return old
	}
	l := parts[0]
	for _, p := range parts[1:] {
		l = l.Join(p)
	}
	return l
}

// covers reports whether old is exactly the union of what the parts hold, the
// unknown origin besides where the join leaves one.
func covers(old Set, parts []Label, of func(Label) Set, leavesUnknown bool) bool {
	for i := range parts {
		if !of(parts[i]).SubsetOf(old) {
			return false
		}
	}
	for _, item := range old.items() {
		found := item == unknown && leavesUnknown
		for i := 0; i < len(parts) && !found; i++ {
			found = of(parts[i]).Has(item)
		}
		if !found {
			return false
		}
	}
	return true
}
