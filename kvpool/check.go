package kvpool

import (
	"fmt"
	"strings"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// Check verifies every invariant that can be seen in the ledger's present state, and returns an error that names the first one broken and where. An error is a bug of the ledger.
//
// It costs time and memory in proportion to pages and owners; it is called by tests after every Step, and by a node when asked to.
func (l *Ledger) Check() error {
	for _, check := range []func() error{
		l.checkCounts, l.checkEdges, l.checkOwners, l.checkPages, l.checkFree, l.checkIdle, l.checkIndex,
		l.checkLinks, l.checkForeign, l.checkExports, l.checkImports, l.checkTombstones,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func broken(invariant, format string, args ...any) error {
	return fmt.Errorf("kvpool: %s: %s", invariant, fmt.Sprintf(format, args...))
}

// checkCounts: the states of the pages add up to the pool.
func (l *Ledger) checkCounts() error {
	var have [states]int
	for i := range l.pages {
		have[l.pages[i].state]++
	}
	if have != l.count {
		return broken("I10", "counts by state are %v, pages say %v", l.count, have)
	}
	return nil
}

// checkEdges: each ownership known to a page is known to the owner, and the other way round.
func (l *Ledger) checkEdges() error {
	fromPages := make([]bool, len(l.own.edges))
	n := 0
	for i := range l.pages {
		s := &l.pages[i]
		var seen [ownerKinds]int32
		before := none
		for e := s.edges; e != none; before, e = e, l.own.edges[e].pageNext {
			x := l.own.edges[e]
			if fromPages[e] || x.pagePrev != before || x.page != page.Index(i) || x.owner == none || l.own.recs[x.owner].name.Kind == 0 {
				return broken("I1", "page %d has a broken list of owners", i)
			}
			fromPages[e] = true
			n++
			seen[l.own.recs[x.owner].name.Kind]++
		}
		if s.readers != seen[Sequence]+seen[Export]+seen[Import] || s.pins != seen[Verify]+seen[Read]+seen[Copy]+seen[Restore] {
			return broken("I1", "page %d counts %d readers and %d pins, has owners %v by kind", i, s.readers, s.pins, seen)
		}
	}
	for r := range l.own.recs {
		rec := &l.own.recs[r]
		if rec.name.Kind == 0 {
			continue
		}
		before := none
		for e := rec.head; e != none; before, e = e, l.own.edges[e].ownNext {
			x := l.own.edges[e]
			if !fromPages[e] || x.owner != int32(r) || x.ownPrev != before {
				return broken("I1", "%v has page %d, which does not know", rec.name, x.page)
			}
			fromPages[e] = false
			n--
		}
		if rec.tail != before || before == none {
			return broken("I1", "%v has a broken list of pages, or none", rec.name)
		}
	}
	if n != 0 {
		return broken("I1", "%d ownerships are known to the page alone", n)
	}
	return nil
}

// checkOwners: an owner has one record, found by its name, and a page once; a match in flight is known to both its sides.
func (l *Ledger) checkOwners() error {
	live := 0
	last := make([]int32, len(l.pages)) // 1 + the record that was seen last to own the page
	for r := range l.own.recs {
		rec := &l.own.recs[r]
		if rec.name.Kind == 0 {
			continue
		}
		live++
		if l.own.find(rec.name) != int32(r) {
			return broken("I1", "%v cannot be found by name", rec.name)
		}
		if p := rec.partner; p != none && (l.own.recs[p].partner != int32(r) || l.own.recs[p].name.Kind == rec.name.Kind) {
			return broken("I1", "%v has a match in flight whose other side does not know", rec.name)
		}
		for e := rec.head; e != none; e = l.own.edges[e].ownNext {
			if p := l.own.edges[e].page; last[p] == int32(r)+1 {
				return broken("I1", "%v owns page %d twice", rec.name, p)
			} else {
				last[p] = int32(r) + 1
			}
		}
	}
	if live != l.own.names.size {
		return broken("I1", "%d owners by name, %d records", l.own.names.size, live)
	}
	return nil
}

// checkPages: what each state allows.
func (l *Ledger) checkPages() error {
	var scrubbing [MaxGroups]int
	for i := range l.pages {
		s := &l.pages[i]
		switch {
		case page.Index(i) < l.groupOf(page.Index(i)).first || i >= int(l.groupOf(page.Index(i)).first)+l.groupOf(page.Index(i)).Pages:
			return broken("I10", "page %d is not in the range of its group, %d", i, s.group)
		case s.state != Free && s.gen == 0:
			return broken("I6", "page %d is %v without a generation", i, s.state)
		case s.indexed && s.state != Resident:
			return broken("I2", "page %d is %v and in the prefix index", i, s.state)
		case (s.state == Free || s.state == Allotted) && s.edges != none:
			return broken("I1", "page %d is %v and owned: %s", i, s.state, l.Owners(page.Index(i)))
		case s.state == Filling && (s.readers != 1 || s.pins != 0):
			return broken("I2", "page %d is Filling and not one sequence's alone: %s", i, l.Owners(page.Index(i)))
		case s.state == Resident && s.edges == none && !s.indexed:
			return broken("I11", "page %d is Resident and nobody will ever release it", i)
		case s.idle != (s.indexed && s.readers == 0):
			return broken("I11", "page %d: in the idle list %v, indexed %v, readers %d", i, s.idle, s.indexed, s.readers)
		}
		if s.state == Quarantined && s.edges == none {
			scrubbing[s.group]++
		}
	}
	for i := range l.groups {
		if scrubbing[i] != l.groups[i].scrubbing {
			return broken("I11", "%d pages await their scrub, %d are counted", scrubbing[i], l.groups[i].scrubbing)
		}
	}
	return nil
}

// checkFree: the free lists of the groups hold their Free pages.
func (l *Ledger) checkFree() error {
	total := 0
	for k := range l.groups {
		g, n := &l.groups[k], 0
		for i := g.free; i != none; i = l.pages[i].next {
			if n++; n > g.frees || l.pages[i].state != Free || int(l.pages[i].group) != k {
				return broken("I1", "page %d (%v) is in the free list, place %d of %d", i, l.pages[i].state, n, g.frees)
			}
		}
		if n != g.frees {
			return broken("I11", "%d of %d Free pages are in the free list", n, g.frees)
		}
		total += n
	}
	if total != l.count[Free] {
		return broken("I11", "%d of %d Free pages are in the free lists", total, l.count[Free])
	}
	return nil
}

// checkIdle: the idle lists of the groups hold their idle pages.
func (l *Ledger) checkIdle() error {
	var idle [MaxGroups]int
	for i := range l.pages {
		if l.pages[i].idle {
			idle[l.pages[i].group]++
		}
	}
	for k := range l.groups {
		q := &l.groups[k].idle
		n, before, patrol := 0, none, q.patrol == none
		for i := q.head; i != none; before, i = i, l.pages[i].next {
			if n++; n > q.size || !l.pages[i].idle || l.pages[i].prev != before || int(l.pages[i].group) != k {
				return broken("I11", "page %d breaks the idle list", i)
			}
			patrol = patrol || i == q.patrol
		}
		if n != q.size || n != idle[k] || q.tail != before || !patrol {
			return broken("I11", "the idle list has %d pages, counts %d, pages say %d", n, q.size, idle[k])
		}
	}
	return nil
}

// checkIndex: a page in the prefix index is the one that is found there.
func (l *Ledger) checkIndex() error {
	n := 0
	for i := range l.pages {
		s := &l.pages[i]
		if !s.indexed {
			continue
		}
		n++
		if got := l.index.find(l.pages, s.group, s.domain, &s.chain); got != int32(i) {
			return broken("I5", "page %d is in the prefix index, which finds %d in its place", i, got)
		}
	}
	if n != l.index.size {
		return broken("I5", "the prefix index counts %d pages, %d are in it", l.index.size, n)
	}
	return nil
}

// Owners tells state, generation and owners of a page in words, for people.
func (l *Ledger) Owners(i page.Index) string {
	if int64(i) >= int64(len(l.pages)) {
		return fmt.Sprintf("page %d: none such", i)
	}
	return l.owners(&l.pages[i])
}

func (l *Ledger) owners(s *slot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v @%d", s.state, s.gen)
	sep := ": "
	if s.indexed {
		b.WriteString(sep + "prefix index")
		sep = ", "
	}
	for e := s.edges; e != none; e = l.own.edges[e].pageNext {
		b.WriteString(sep + l.nameOf(l.own.recs[l.own.edges[e].owner].name))
		sep = ", "
	}
	return b.String()
}

// nameOf is an owner's name in words; exports and imports are told by their attempts.
func (l *Ledger) nameOf(o Owner) string {
	switch {
	case o.Kind == Export && o.Number < uint64(len(l.exports)):
		return "export " + l.exports[o.Number].attempt.String()
	case o.Kind == Import && o.Number < uint64(len(l.imports)):
		return "import " + l.imports[o.Number].attempt.String()
	}
	return o.String()
}
