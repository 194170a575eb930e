package kvpool

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// OwnerKind is the kind of an owner that holds pages by name.
type OwnerKind uint8

const (
	// Sequence writes a page in Filling and reads it afterwards. Its number is its page.Seq.
	Sequence OwnerKind = iota + 1
	// Verify is a check of bytes that runs outside the ledger. It pins pages and reads for nobody but itself. Its number is that of the job.
	Verify
	// Export reads a page for an attempt whose decode node may read it. Its number is internal to the ledger, and belongs to one attempt at a time.
	Export
	// Import holds the pages into which an attempt's prompt is read. Its number is as an Export's.
	Import
	// Read is one read from a peer that may still land. Its number is that of the job.
	Read
	// Copy is a job that copies pages out of the pool. It pins them as a check does.
	Copy
	// Restore is a job that copies into pages, their one writer.
	Restore

	ownerKinds = iota + 1
)

// Owner names who holds a page.
type Owner struct {
	Kind   OwnerKind
	Number uint64
}

func (o Owner) String() string {
	switch o.Kind {
	case Sequence:
		return fmt.Sprintf("seq %d", o.Number)
	case Verify:
		return fmt.Sprintf("verify %d", o.Number)
	case Export:
		return fmt.Sprintf("export %d", o.Number)
	case Import:
		return fmt.Sprintf("import %d", o.Number)
	case Read:
		return fmt.Sprintf("read %d", o.Number)
	case Copy:
		return fmt.Sprintf("copy %d", o.Number)
	case Restore:
		return fmt.Sprintf("restore %d", o.Number)
	}
	return fmt.Sprintf("owner %d/%d", o.Kind, o.Number)
}

// owners is the graph of who owns what (I1): an edge for each pair of an owner and a page of its, in two lists at once, the owner's and the page's. Records and
// edges come from arrays with free lists, so that nothing is allocated once the arrays have grown to what is in use at a time.
type owners struct {
	names names
	recs  []ownerRec
	edges []edge

	freeRec, freeEdge int32 // spare ones, linked by head and pageNext
}

// ownerRec exists as long as its owner owns a page.
type ownerRec struct {
	name       Owner // Kind 0: a spare record
	head, tail int32 // edges, in the order in which the pages were gained
	// partner joins a sequence and the check of what it has matched, or what is restored for it, while both last.
	partner int32
	since   uint64 // of a check: the Step that asked for it
	prefix  int32  // of the check of a match, over groups: the pages of the prompt that it would give
	slid    uint64 // of a sequence: the last Step in which it let go of a page that was out of its window, one of domain
	domain  page.Domain
	failed  bool // of a sequence: it has read a bad page; of a restore: its copies are not trusted any more
}

// edge says that owner owns page.
type edge struct {
	owner              int32
	page               page.Index
	pagePrev, pageNext int32
	ownPrev, ownNext   int32
	at                 int32 // of an export: the page's group; of an import or a read: the page's place in the prompt
}

func newOwners() owners {
	return owners{names: newNames(), freeRec: none, freeEdge: none}
}

// find returns the record of an owner, or none if it owns nothing.
func (o *owners) find(name Owner) int32 {
	r := o.names.get(name)
	if r != none && o.recs[r].name != name {
		return none // the job of that number is of another kind
	}
	return r
}

// enrol returns the record of an owner that owns something or is about to.
func (o *owners) enrol(name Owner) int32 {
	if r := o.names.get(name); r != none {
		return r
	}
	r := o.freeRec
	if r == none {
		r = int32(len(o.recs))
		o.recs = append(o.recs, ownerRec{})
	} else {
		o.freeRec = o.recs[r].head
	}
	o.recs[r] = ownerRec{name: name, head: none, tail: none, partner: none}
	o.names.put(name, r)
	return r
}

// link makes r an owner of page i, whose slot is s. The edge is the last of r's and the first of the page's.
func (o *owners) link(r int32, i page.Index, s *slot) {
	e := o.freeEdge
	if e == none {
		e = int32(len(o.edges))
		o.edges = append(o.edges, edge{})
	} else {
		o.freeEdge = o.edges[e].pageNext
	}
	rec := &o.recs[r]
	o.edges[e] = edge{owner: r, page: i, pagePrev: none, pageNext: s.edges, ownPrev: rec.tail, ownNext: none}
	if s.edges != none {
		o.edges[s.edges].pagePrev = e
	}
	s.edges = e
	if rec.tail != none {
		o.edges[rec.tail].ownNext = e
	} else {
		rec.head = e
	}
	rec.tail = e
	*s.counter(rec.name.Kind)++
}

// unlink ends edge e of the page whose slot is s, and the owner's record with its last edge.
func (o *owners) unlink(e int32, s *slot) {
	x := o.edges[e]
	rec := &o.recs[x.owner]
	if x.pagePrev != none {
		o.edges[x.pagePrev].pageNext = x.pageNext
	} else {
		s.edges = x.pageNext
	}
	if x.pageNext != none {
		o.edges[x.pageNext].pagePrev = x.pagePrev
	}
	if x.ownPrev != none {
		o.edges[x.ownPrev].ownNext = x.ownNext
	} else {
		rec.head = x.ownNext
	}
	if x.ownNext != none {
		o.edges[x.ownNext].ownPrev = x.ownPrev
	} else {
		rec.tail = x.ownPrev
	}
	*s.counter(rec.name.Kind)--
	o.edges[e] = edge{owner: none, pageNext: o.freeEdge}
	o.freeEdge = e
	if rec.head == none {
		o.drop(x.owner)
	}
}

// drop ends a record without edges.
func (o *owners) drop(r int32) {
	o.part(r)
	o.names.remove(o.recs[r].name)
	o.recs[r] = ownerRec{head: o.freeRec}
	o.freeRec = r
}

// pair joins a sequence and its check or restore; part parts them.
func (o *owners) pair(a, b int32) { o.recs[a].partner, o.recs[b].partner = b, a }

func (o *owners) part(r int32) {
	if p := o.recs[r].partner; p != none {
		o.recs[r].partner, o.recs[p].partner = none, none
	}
}

// edgeOf returns the edge from r to the page whose slot is s, or none. Its cost is the number of the page's owners.
func (o *owners) edgeOf(r int32, s *slot) int32 {
	for e := s.edges; e != none; e = o.edges[e].pageNext {
		if o.edges[e].owner == r {
			return e
		}
	}
	return none
}

// counter is the slot's count of owners of kind k.
func (s *slot) counter(k OwnerKind) *int32 {
	switch k {
	case Sequence, Export, Import:
		return &s.readers
	}
	return &s.pins
}
