package lane

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"github.com/pinfold-dev/pinfold/fence"
	"github.com/pinfold-dev/pinfold/trust"
)

// packing is one Assemble.
type packing struct {
	lanes    *Registry
	total    fence.Budget
	items    []item
	groups   []group    // in packing order, of one lane what goes bare first
	withheld []withheld // one a lane, in packing order
	notice   string
}

// group is what goes into one lane bare, or fenced.
type group struct {
	lane   int32
	bare   bool
	items  []item // in the order of the puts
	sister bool   // the group before it is of the same lane
	left   int    // of the lane's budget, after this group

	// In the unit of the total, with what parts the items:
	want  int // what it takes when only its lane's budget binds
	least int // what the smallest thing takes that it can be cut to
	give  int // what it was given
	use   int // what it takes
}

type item struct {
	put  *put
	size [units]int // of the value, and one; 0 when it was not counted
	fate fate
	own  bool         // what it is cut or dropped by is the lane's budget as declared
	by   fence.Budget // else: what was left for it
}

type fate uint8

const (
	whole fate = iota
	cut
	dropped
)

// sort makes the groups.
func (p *packing) sort(puts []put) {
	order := make([]uint64, len(puts))
	for i := range puts {
		l := &p.lanes.lanes[puts[i].lane]
		order[i] = uint64(puts[i].lane)<<33 | uint64(uint32(i))
		if !l.bare(puts[i].data.Label()) {
			order[i] |= 1 << 32
		}
	}
	slices.Sort(order)
	p.items = make([]item, len(puts))
	groups := 0
	for i := range order {
		p.items[i].put = &puts[uint32(order[i])]
		if i == 0 || order[i]>>32 != order[i-1]>>32 {
			groups++
		}
	}
	p.groups = make([]group, 0, groups)
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && order[j]>>32 == order[i]>>32 {
			j++
		}
		g := group{lane: int32(order[i] >> 33), bare: order[i]>>32&1 == 0, items: p.items[i:j]}
		g.sister = len(p.groups) > 0 && p.groups[len(p.groups)-1].lane == g.lane
		p.groups = append(p.groups, g)
		i = j
	}
}

// hold adds up what was withheld.
func (p *packing) hold(all []withheld) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b withheld) int { return int(a.lane - b.lane) })
	for _, w := range all {
		if last := len(p.withheld) - 1; last >= 0 && p.withheld[last].lane == w.lane {
			p.withheld[last].n = min(p.withheld[last].n+w.n, maxInteger)
		} else {
			p.withheld = append(p.withheld, w)
		}
	}
}

const unlimited = math.MaxInt

// mostTotal is more than any prompt, so that a share of it does not overflow.
const mostTotal = 1 << 40

// pack decides the fate of every item, and what is said of those that are missing.
func (p *packing) pack() error {
	if p.total.Set && (p.total.Unit >= units) {
		return fmt.Errorf("lane: total: expected characters, bytes or tokens, found %v", p.total.Unit)
	}
	p.total.Max = min(p.total.Max, mostTotal)
	if p.total.Set && !p.ample() {
		return p.packTotal()
	}
	p.total.Set = false
	for i := range p.groups {
		if err := p.serve(i, unlimited); err != nil {
			return err
		}
	}
	p.notice = p.missing()
	return nil
}

// ample says whether the total is so large that nothing has to be counted: no text has
// more characters or tokens than bytes.
func (p *packing) ample() bool {
	u := p.total.Unit
	n := p.lanes.talk[u]
	for i := range p.groups {
		g := &p.groups[i]
		l := &p.lanes.lanes[g.lane]
		for k := range g.items {
			n += l.cut[fence.Bytes] + len(g.items[k].put.data.Text()) + len(between)
		}
		n += mostNotice
	}
	n += len(p.withheld) * mostNotice
	return n <= p.total.Max
}

// packTotal is pack under a total.
func (p *packing) packTotal() error {
	u := p.total.Unit
	parted := size(between, u)
	all := 0
	for i := range p.groups {
		g := &p.groups[i]
		if err := p.serve(i, unlimited); err != nil {
			return err
		}
		g.want, g.least = g.use, p.smallest(g)
		all += g.want
	}
	talk := func() int {
		for i := range p.groups {
			if g := &p.groups[i]; !g.bare && g.use > 0 {
				return p.lanes.talk[u]
			}
		}
		return 0
	}
	said := func(notice string) int {
		if notice == "" {
			return 0
		}
		return size(notice, u) + parted
	}
	p.notice = p.missing()
	if all+talk()+said(p.notice) <= p.total.Max {
		return nil
	}
	room := p.total.Max
	used, err := p.divide(true, room)
	if err != nil {
		return err
	}
	room -= used
	// What is said depends on what is dropped, and that on the room that it takes.
	reserve := said(p.missing())
	for range 4 {
		if used, err = p.divide(false, room-reserve-p.lanes.talk[u]); err != nil {
			return err
		}
		p.notice = p.missing()
		n := said(p.notice)
		if used+talk()+n <= room {
			return nil
		}
		reserve = max(reserve, n)
	}
	for _, brief := range []bool{true, false} {
		reserve = 0
		if brief {
			reserve = said(p.brief(len(p.items)))
		}
		if used, err = p.divide(false, room-reserve-p.lanes.talk[u]); err != nil {
			return err
		}
		if p.notice = ""; brief {
			p.notice = p.brief(p.dropped())
		}
		if used+talk()+said(p.notice) <= room {
			return nil
		}
	}
	return nil
}

// smallest is the least that something of g takes.
func (p *packing) smallest(g *group) int {
	u := p.total.Unit
	l := &p.lanes.lanes[g.lane]
	around := l.around[u]
	if g.bare {
		around = 0
	}
	least := unlimited
	for i := range g.items {
		if it := &g.items[i]; it.fate != dropped {
			least = min(least, p.least(l, g.bare, u), around+it.count(u))
		}
	}
	if least == unlimited {
		return 0
	}
	return least + size(between, u)
}

// divide gives the groups that go bare, or those that go fenced, their shares of room,
// serves them, and says what they take.
func (p *packing) divide(bare bool, room int) (used int, err error) {
	var claims []*group
	for i := range p.groups {
		g := &p.groups[i]
		if g.bare != bare {
			continue
		}
		if g.give = 0; g.want > 0 {
			claims = append(claims, g)
		}
	}
	p.shrink(claims, max(room, 0))
	for i := range p.groups {
		g := &p.groups[i]
		if g.bare != bare {
			continue
		}
		if err := p.serve(i, g.give); err != nil {
			return 0, err
		}
		used += g.use
	}
	return used, nil
}

// shrink divides room among claims: to each what it wants or its share of what is left,
// whichever is less. Claims give way, the last first, until no share is too small for
// anything.
func (p *packing) shrink(claims []*group, room int) {
	byNeed := make([]int, len(claims))
	for i := range byNeed {
		byNeed[i] = i
	}
	share := func(i int) int { return p.lanes.lanes[claims[i].lane].Share }
	slices.SortStableFunc(byNeed, func(i, j int) int {
		a, b := claims[i].want*share(j), claims[j].want*share(i)
		switch {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	})
	// divide among the first n; false when one of them has too little
	divide := func(n int) bool {
		left, shares := room, 0
		for i := range claims {
			if claims[i].give = 0; i < n {
				shares += share(i)
			}
		}
		enough := true
		for _, i := range byNeed {
			if i >= n {
				continue
			}
			g := claims[i]
			g.give = min(g.want, left*share(i)/shares)
			left -= g.give
			shares -= share(i)
			enough = enough && g.give >= g.least
		}
		return enough
	}
	low, high := 0, len(claims)
	for low < high {
		mid := int(uint(low+high+1) / 2)
		if divide(mid) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	divide(low)
}

// serve decides the fate of the items of a group, of which the total leaves room.
func (p *packing) serve(at, room int) error {
	g := &p.groups[at]
	l := &p.lanes.lanes[g.lane]
	left := l.Budget.Max
	if g.sister {
		left = p.groups[at-1].left
	}
	// Without a total nobody needs to know what the last thing on a lane leaves.
	last := !p.total.Set && (at+1 == len(p.groups) || !p.groups[at+1].sister)
	if last && p.plenty(g, l, left) {
		for k := range g.items {
			g.items[k].fate = whole
		}
		return nil
	}
	parted := 0
	if p.total.Set {
		parted = size(between, p.total.Unit)
	}
	g.use = 0
	for k := range g.items {
		it := &g.items[served(k, len(g.items), l.Keep)]
		space := room
		if room != unlimited {
			space -= parted
		}
		if last && k == len(g.items)-1 && left >= p.least(l, g.bare, l.Budget.Unit) && left > 0 {
			it.decide(cut, fence.Budget{Set: true, Max: left, Unit: l.Budget.Unit}, left == l.Budget.Max)
			break // whole or cut, it is not dropped: package fence sees to the rest
		}
		ofLane, ofTotal, err := p.admit(l, it, g.bare, left, space)
		if err != nil {
			return err
		}
		left -= ofLane
		if it.fate != dropped {
			g.use += ofTotal + parted
			if room != unlimited {
				room = space - ofTotal
			}
		}
	}
	g.left = left
	return nil
}

// plenty says whether left holds everything, however it is counted: no text has more
// characters or tokens than bytes.
func (p *packing) plenty(g *group, l *registered, left int) bool {
	budget := left
	around := l.around[l.Budget.Unit]
	if g.bare {
		around = 0
	}
	for k := range g.items {
		left -= around + len(g.items[k].put.data.Text())
	}
	return left >= 0 && budget > 0
}

// admit decides the fate of one item, for which its lane has so much left and the total
// so much space, and says what it takes of either: at most so much.
func (p *packing) admit(l *registered, it *item, bare bool, left, space int) (ofLane, ofTotal int, err error) {
	own := fence.Budget{Set: true, Max: max(left, 0), Unit: l.Budget.Unit}
	f, ofLane, err := p.fit(l, it, bare, own.Unit, left)
	if err != nil {
		return 0, 0, err
	}
	it.decide(f, own, own == l.Budget)
	if f == dropped || !p.total.Set {
		return ofLane, 0, nil
	}
	total := fence.Budget{Set: true, Max: max(space, 0), Unit: p.total.Unit}
	fTotal, ofTotal, err := p.fit(l, it, bare, total.Unit, space)
	switch {
	case err != nil:
		return 0, 0, err
	case fTotal == dropped:
		it.decide(dropped, total, false)
		return 0, 0, nil
	case f == whole && fTotal == whole:
		return ofLane, ofTotal, nil
	case own.Unit == total.Unit:
		if space < left {
			it.decide(cut, total, false)
			return space, space, nil
		}
		return ofLane, ofLane, nil
	}
	// Two budgets that count differently: what one leaves is measured by the other.
	if f == cut {
		if _, ofTotal, err = p.take(l, it, bare, own, total.Unit); err != nil || ofTotal <= space {
			return ofLane, ofTotal, err
		}
	}
	it.decide(cut, total, false)
	if _, ofLane, err = p.take(l, it, bare, total, own.Unit); err != nil || ofLane <= left {
		return ofLane, space, err
	}
	// What is left over by either is too much for the other: the mark of a cut can be
	// longer than what it stands for.
	own.Max = min(left, ofLane) - 1
	for ; own.Max >= p.least(l, bare, own.Unit); own.Max -= 1 + own.Max/8 {
		if f, ofTotal, err = p.take(l, it, bare, own, total.Unit); err != nil {
			return 0, 0, err
		}
		if f == cut && ofTotal <= space {
			it.decide(cut, own, false)
			return own.Max, ofTotal, nil
		}
	}
	it.decide(dropped, fence.Budget{Set: true, Unit: own.Unit}, false)
	return 0, 0, nil
}

func (it *item) decide(f fate, by fence.Budget, own bool) { it.fate, it.by, it.own = f, by, own }

// served is the place of the item that is served as the k-th of n: what is to be kept
// comes first.
func served(k, n int, keep fence.Keep) int {
	switch {
	case keep == fence.KeepTail, keep == fence.KeepBoth && k%2 == 1:
		if keep == fence.KeepBoth {
			return n - 1 - k/2
		}
		return n - 1 - k
	case keep == fence.KeepBoth:
		return k / 2
	}
	return k
}

// least is what a value takes of which nothing is left but the mark of a cut.
func (p *packing) least(l *registered, bare bool, u fence.Unit) int {
	if bare {
		return p.lanes.marker[u]
	}
	return l.cut[u]
}

// fit says what becomes of an item that has room, in units u, and what it takes of it
// then: at most so much.
func (p *packing) fit(l *registered, it *item, bare bool, u fence.Unit, room int) (f fate, takes int, err error) {
	around := l.around[u]
	if bare {
		around = 0
	}
	switch {
	case room <= 0:
		return dropped, 0, nil
	case it.count(u) <= room-around:
		return whole, around + it.count(u), nil
	case u != fence.Tokens && room >= p.least(l, bare, u):
		return cut, room, nil
	case u != fence.Tokens:
		return dropped, 0, nil
	}
	// Estimates do not add up exactly: package fence measures the whole of a part.
	f, takes, err = p.take(l, it, bare, fence.Budget{Set: true, Max: room, Unit: u}, u)
	return f, min(room, takes), err
}

// take says what becomes of an item under a budget, and what it takes then in units u.
func (p *packing) take(l *registered, it *item, bare bool, b fence.Budget, u fence.Unit) (f fate, takes int, err error) {
	f, kept, err := try(l, it, b)
	if err != nil || f == dropped {
		return dropped, 0, err
	}
	if !bare {
		takes = l.around[u]
	}
	return f, takes + size(kept, u), nil
}

func (it *item) count(u fence.Unit) int {
	if it.size[u] == 0 {
		it.size[u] = size(it.put.data.Text(), u) + 1
	}
	return it.size[u] - 1
}

// try has package fence cut an item to a budget, and says what it kept. Nothing else of
// what it renders is used.
func try(l *registered, it *item, b fence.Budget) (f fate, kept string, err error) {
	part := l.part
	part.Data, part.Budget = it.put.data, b
	var d fence.Doc
	d.Put(part)
	_, rows, err := fence.Render(fence.Prompt{User: d}, unlike(it.put.data))
	switch {
	case err != nil:
		return dropped, "", fmt.Errorf("lane: %s: %w", l.Name, err)
	case rows[0].Dropped:
		return dropped, "", nil
	case rows[0].Value() == part.Data.Text():
		return whole, rows[0].Value(), nil
	}
	return cut, rows[0].Value(), nil
}

// unlike gives nonces for a trial. They protect nothing, but must not occur in what is
// tried: its author, who may know this source, would else make the trial fail. He
// cannot write a text that holds its own digest.
func unlike(v trust.Data) fence.Nonces {
	var sum [sha256.Size]byte
	next := 0
	return func(nonce *[12]byte) error {
		if next == 0 {
			sum = sha256.Sum256([]byte(v.Text()))
		}
		if next+6 > len(sum) {
			sum, next = sha256.Sum256(sum[:]), 0
		}
		hex.Encode(nonce[:], sum[next:next+6])
		next += 6
		return nil
	}
}

// prompt writes the prompt.
func (p *packing) prompt() (fence.Prompt, error) {
	var system, user message
	for i := range p.groups {
		if g := &p.groups[i]; g.bare {
			for k := range g.items {
				to := &user
				if g.items[k].put.data.Label().Level() == trust.LevelAuthor {
					to = &system
				}
				if err := to.item(&p.lanes.lanes[g.lane], &g.items[k]); err != nil {
					return fence.Prompt{}, err
				}
			}
		}
	}
	if p.notice != "" {
		user.text(p.notice)
	}
	for i := range p.groups {
		if g := &p.groups[i]; !g.bare {
			for k := range g.items {
				if err := user.item(&p.lanes.lanes[g.lane], &g.items[k]); err != nil {
					return fence.Prompt{}, err
				}
			}
		}
	}
	var when fence.Doc
	if system.any {
		when.Text(parting)
	}
	when.Append(p.lanes.explain)
	system.doc.WhenFenced(when)
	s, err := system.filled()
	if err != nil {
		return fence.Prompt{}, err
	}
	u, err := user.filled()
	return fence.Prompt{System: s, User: u}, err
}

// message is one of the two messages as it is written.
type message struct {
	doc   fence.Doc
	fills []fence.Fill
	any   bool // something stands in it
}

func (m *message) part() {
	if m.any {
		m.doc.Text(parting)
	}
	m.any = true
}

func (m *message) text(s string) {
	m.part()
	m.doc.Text(said(s))
}

func (m *message) item(l *registered, it *item) error {
	form := l.form
	if it.fate != whole && !it.own {
		part := l.part
		part.Budget = it.by
		var err error
		if form, err = fence.Prepare(part); err != nil {
			return err
		}
	}
	if it.fate != dropped {
		m.part()
	}
	m.doc.Hole()
	m.fills = append(m.fills, form.Data(it.put.data))
	return nil
}

func (m *message) filled() (fence.Doc, error) {
	return m.doc.Filled(m.fills[:len(m.fills):len(m.fills)])
}
