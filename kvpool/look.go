package kvpool

import "github.com/kvasir-engine/kvasir/kvpool/page"

// Page tells the state and the generation of page i. Preconditions: the pool has it.
func (l *Ledger) Page(i page.Index) (State, page.Generation) { return l.pages[i].state, l.pages[i].gen }

// Renumbered returns a ledger that differs from l in nothing but the numbers of its pages: page i is page to[i] there. The checker merges states that differ in no more than that.
//
// Preconditions: to is a permutation of the pool's pages that leaves each in its group.
func (l *Ledger) Renumbered(to []page.Index) *Ledger {
	c := l.Clone()
	at := func(i *int32) {
		if *i != none {
			*i = int32(to[*i])
		}
	}
	for i := range l.pages {
		s := l.pages[i]
		at(&s.prev)
		at(&s.next)
		c.pages[to[i]] = s
	}
	for i := range c.own.edges {
		if e := &c.own.edges[i]; e.owner != none {
			e.page = to[e.page]
		}
	}
	for i := range c.imports {
		at(&c.imports[i].spare)
		for k := range c.imports[i].places {
			at(&c.imports[i].places[k].page)
		}
	}
	for i := range c.index.places {
		if p := &c.index.places[i]; p.page != 0 {
			p.page = uint32(to[p.page-1]) + 1
		}
	}
	for k := range c.groups {
		g := &c.groups[k]
		for _, i := range []*int32{&g.free, &g.idle.head, &g.idle.tail, &g.idle.patrol} {
			at(i)
		}
	}
	return c
}
