package kvpool

import (
	"encoding/binary"
	"math/bits"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// prefixIndex finds the one indexed page of a domain and chain hash: a hash table whose buckets are lists through the slots, so that it never grows and is
// never rehashed. A chain hash is keyed and evenly spread already; part of it is the bucket's number.
type prefixIndex struct {
	buckets []int32
	size    int
}

func newPrefixIndex(cfg Config) prefixIndex {
	n := 1
	if cfg.PrefixCache {
		n = 1 << bits.Len(uint(cfg.Pages-1))
	}
	x := prefixIndex{buckets: make([]int32, n)}
	for i := range x.buckets {
		x.buckets[i] = none
	}
	return x
}

func (x *prefixIndex) bucket(h *page.Hash) *int32 {
	return &x.buckets[binary.LittleEndian.Uint64(h[:8])&uint64(len(x.buckets)-1)]
}

// find returns the indexed page of (d, h), or none.
func (x *prefixIndex) find(pages []slot, d page.Domain, h *page.Hash) int32 {
	i := *x.bucket(h)
	for i != none && (pages[i].chain != *h || pages[i].domain != d) {
		i = pages[i].bucket
	}
	return i
}

// insert enters page i. Preconditions: no page is entered for its domain and chain.
func (x *prefixIndex) insert(pages []slot, i page.Index) {
	s := &pages[i]
	b := x.bucket(&s.chain)
	s.bucket, *b = *b, int32(i)
	s.indexed = true
	x.size++
}

// remove takes page i out. Preconditions: it is in.
func (x *prefixIndex) remove(pages []slot, i page.Index) {
	s := &pages[i]
	b := x.bucket(&s.chain)
	for *b != int32(i) {
		b = &pages[*b].bucket
	}
	*b, s.bucket = s.bucket, none
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
		l.idle.remove(l.pages, i)
	}
	if s.indexed {
		l.index.remove(l.pages, i)
	}
}

// touchTwin counts the end of page i, which repeats an indexed page, as a use of that page: pages further down the chain were sealed by the
// same sequence and are of no use without it.
func (l *Ledger) touchTwin(i page.Index) {
	s := &l.pages[i]
	t := l.index.find(l.pages, s.domain, &s.chain)
	if t != none && l.pages[t].idle {
		l.idle.remove(l.pages, page.Index(t))
		l.idle.pushTail(l.pages, page.Index(t))
	}
}

// evict takes up to n pages which only the prefix index reads out of it, least recently used first. A page under a check is passed over: something outside
// the ledger is still reading it.
func (l *Ledger) evict(n int) {
	for i := l.idle.head; i != none && n > 0; {
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
