package kvpool

import (
	"encoding/binary"
	"math/bits"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// prefixIndex finds the one indexed page of a domain and chain hash: a hash table with open addressing, at most half full, so that it never grows and is never rehashed. A chain hash is
// keyed and evenly spread already: its first bits are a page's tag, and the tag's last bits are its place. A search looks at no page but those of its tag, so that it costs one miss of the caches, and
// another where it finds something.
type prefixIndex struct {
	places []indexPlace
	size   int
}

// indexPlace is empty if page is 0.
type indexPlace struct {
	tag  uint32
	page uint32 // 1 + the page's number
}

func newPrefixIndex(cfg Config) prefixIndex {
	n := 1
	if cfg.PrefixCache {
		n = 2 << bits.Len(uint(cfg.Pages-1))
	}
	return prefixIndex{places: make([]indexPlace, n)}
}

func (x *prefixIndex) mask() uint32 { return uint32(len(x.places) - 1) }

func tagOf(h *page.Hash) uint32 { return binary.LittleEndian.Uint32(h[:4]) }

// find returns the indexed page of a group for (d, h), or none.
func (x *prefixIndex) find(pages []slot, group uint8, d page.Domain, h *page.Hash) int32 {
	tag := tagOf(h)
	for i := tag & x.mask(); x.places[i].page != 0; i = (i + 1) & x.mask() {
		if x.places[i].tag != tag {
			continue
		}
		if p := x.places[i].page - 1; pages[p].chain == *h && pages[p].domain == d && pages[p].group == group {
			return int32(p)
		}
	}
	return none
}

// insert enters page i. Preconditions: no page of its group is entered for its domain and chain.
func (x *prefixIndex) insert(pages []slot, i page.Index) {
	s := &pages[i]
	tag := tagOf(&s.chain)
	at := tag & x.mask()
	for x.places[at].page != 0 {
		at = (at + 1) & x.mask()
	}
	x.places[at] = indexPlace{tag, uint32(i) + 1}
	s.indexed = true
	x.size++
}

// remove takes page i out, and closes the gap, so that a search never has to look past one. Preconditions: it is in.
func (x *prefixIndex) remove(pages []slot, i page.Index) {
	s := &pages[i]
	at := tagOf(&s.chain) & x.mask()
	for x.places[at].page != uint32(i)+1 {
		at = (at + 1) & x.mask()
	}
	for next := (at + 1) & x.mask(); x.places[next].page != 0; next = (next + 1) & x.mask() {
		if home := x.places[next].tag & x.mask(); (next-home)&x.mask() >= (next-at)&x.mask() {
			x.places[at], at = x.places[next], next
		}
	}
	x.places[at] = indexPlace{}
	s.indexed = false
	x.size--
}

// idleList holds the indexed pages that no sequence reads, least recently used first. A page that a check pins stays in its place.
type idleList struct {
	head, tail int32
	patrol     int32 // the page that the patrol looks at next, or none: the head
	size       int
}

func (q *idleList) pushTail(pages []slot, i page.Index) {
	s := &pages[i]
	s.prev, s.next, s.idle = q.tail, none, true
	if q.tail != none {
		pages[q.tail].next = int32(i)
	} else {
		q.head = int32(i)
	}
	q.tail = int32(i)
	q.size++
}

func (q *idleList) remove(pages []slot, i page.Index) {
	s := &pages[i]
	if q.patrol == int32(i) {
		q.patrol = s.next
	}
	if s.prev != none {
		pages[s.prev].next = s.next
	} else {
		q.head = s.next
	}
	if s.next != none {
		pages[s.next].prev = s.prev
	} else {
		q.tail = s.prev
	}
	s.prev, s.next, s.idle = none, none, false
	q.size--
}

// leaveIndex ends the prefix index's hold on page i, if it has one.
func (l *Ledger) leaveIndex(i page.Index) {
	s := &l.pages[i]
	if s.idle {
		l.groupOf(i).idle.remove(l.pages, i)
	}
	if s.indexed {
		l.index.remove(l.pages, i)
	}
}

// touchTwin counts the end of page i, which repeats an indexed page, as a use of that page: pages further down the chain were sealed by the
// same sequence and are of no use without it.
func (l *Ledger) touchTwin(i page.Index) {
	s := &l.pages[i]
	t := l.index.find(l.pages, s.group, s.domain, &s.chain)
	if q := &l.groups[s.group].idle; t != none && l.pages[t].idle {
		q.remove(l.pages, page.Index(t))
		q.pushTail(l.pages, page.Index(t))
	}
}

// evict takes up to n pages of a group which only the prefix index reads out of it, least recently used first. A page under a check is passed over: something outside
// the ledger is still reading it.
func (l *Ledger) evict(g *group, n int) {
	for i := g.idle.head; i != none && n > 0; {
		s := &l.pages[i]
		next := s.next
		if s.pins == 0 {
			l.leaveIndex(page.Index(i))
			l.retire(page.Index(i))
			l.stats.Evicted++
			n--
		}
		i = next
	}
}

// available is how many pages of a group, of need, can be had in this step: Free ones, and idle ones where these come home at once.
//
// With Config.Scrub they do not, but are evicted, so that a later attempt finds room.
func (l *Ledger) available(g *group, need int) int {
	have := g.frees
	if l.cfg.Scrub {
		l.evict(g, need-have-g.scrubbing)
		return have
	}
	for i := g.idle.head; i != none && have < need; i = l.pages[i].next {
		if l.pages[i].pins == 0 {
			have++
		}
	}
	return have
}
