package kvpool

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// State is where a page is in its life. See the package comment.
type State uint8

const (
	// Free: nobody's; it leaves with a new generation.
	Free State = iota
	// Allotted: the scheduler's, to spend or return.
	Allotted
	// Filling: written by one sequence, read by no other.
	Filling
	// Resident: sealed and read only, owned by its readers.
	Resident
	// Quarantined: nobody may gain it. It goes home when its last owner has let go and its bytes are scrubbed.
	Quarantined
	// Importing: an import's, written by this node's own reads from a peer.
	Importing
	// Restoring: a copy job's, which writes it from a copy that was kept outside the pool. A sequence may hold it, to read it afterwards.
	Restoring

	states = iota
)

func (s State) String() string {
	switch s {
	case Free:
		return "Free"
	case Allotted:
		return "Allotted"
	case Filling:
		return "Filling"
	case Resident:
		return "Resident"
	case Quarantined:
		return "Quarantined"
	case Importing:
		return "Importing"
	case Restoring:
		return "Restoring"
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// stateSet is a set of states.
type stateSet uint8

func oneOf(s ...State) stateSet {
	var set stateSet
	for _, x := range s {
		set |= 1 << x
	}
	return set
}

func (set stateSet) has(s State) bool { return set&(1<<s) != 0 }

// none ends a list. Lists run through arrays by number, not by pointer: nothing is allocated and the collector has nothing to follow.
const none int32 = -1

// slot is what the ledger knows of one page.
type slot struct {
	gen      page.Generation
	domain   page.Domain // domain, chain and checksum as sealed; of no meaning before
	chain    page.Hash
	sealed   uint64 // the Step of its seal
	proved   uint64 // a Step since which its bytes were found good
	checksum uint32

	edges   int32 // its owners, latest first
	readers int32 // sequences, exports and imports among them (in Filling: its writer)
	pins    int32 // checks, reads and copy jobs among them

	prev, next int32 // neighbours in the free list (next alone) or the idle list
	state      State
	indexed    bool // the prefix index is a reader
	idle       bool // in the idle list: indexed, and neither sequence nor export reads it
	full       bool // every slot was filled when it was sealed
	group      uint8
}

// move is the only place where a page's state changes.
func (l *Ledger) move(s *slot, to State) {
	l.count[s.state]--
	l.count[to]++
	s.state = to
}

// takeFree makes one Free page of a group Allotted.
//
// Preconditions: there is one.
//
// The page freed last leaves first: its bytes are likeliest to be in a cache, a pool that is never full touches little memory, and a
// mistaken use of a page meets the page's next life soon, where the checks see it, instead of lying unnoticed.
func (l *Ledger) takeFree(g *group) page.Index {
	i := g.free
	s := &l.pages[i]
	g.free, s.next = s.next, none
	g.frees--
	s.gen++ // I6: no life of a page has the name of an earlier one
	l.move(s, Allotted)
	return page.Index(i)
}

// putFree makes page i Free.
//
// Preconditions: nobody owns it, the prefix index included.
func (l *Ledger) putFree(i page.Index) {
	s := &l.pages[i]
	if s.edges != none || s.indexed { // I1
		panic(fmt.Sprintf("kvpool: I1: page %d would become Free but is owned: %s", i, l.Owners(i)))
	}
	l.move(s, Free)
	g := l.groupOf(i)
	s.next, g.free = g.free, int32(i)
	g.frees++
}

// retire sends a page home that was written and has no owner any more: to Free, or first to be scrubbed.
func (l *Ledger) retire(i page.Index) {
	if l.cfg.Scrub {
		l.move(&l.pages[i], Quarantined)
		l.scrub(i)
		return
	}
	l.putFree(i)
}

// settle decides what becomes of page i after an owner has let go of it.
func (l *Ledger) settle(i page.Index) {
	s := &l.pages[i]
	switch {
	case s.state == Quarantined && s.edges == none:
		l.scrub(i)
	case s.state == Filling && s.edges == none:
		l.retire(i)
	case s.state == Resident && s.indexed && s.readers == 0 && !s.idle:
		l.groupOf(i).idle.pushTail(l.pages, i)
	case s.state == Resident && !s.indexed && s.edges == none:
		l.touchTwin(i)
		l.retire(i)
	}
}
