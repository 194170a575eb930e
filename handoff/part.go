package handoff

import (
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
)

// part is one attempt at this node.
//
//	live     the pool or the scheduler still owes its end, or the gateway was told none
//	ended    all is over here, and the gateway may ask what has become of it
//	closed   only its number is left, in the gateway's closed set
type part struct {
	attempt  kvpool.Attempt
	gateway  *caller
	seq      page.Seq
	spec     *Spec // nil where ended
	role     Role
	link     kvpool.Link
	deadline int64
	most     int // tokens of the answer

	open      bool // the pool owes FxExported, or FxStart or FxImportEnded
	scheduled bool // the scheduler owes EvEnded
	over      bool // the gateway was told an end, or wants none
	quit      bool // the gateway is done with it: nothing more is said but MsgClosed
	given     int  // pages offered
	since     int64

	// What has become of it: a rejection, or tokens and (where over) an end.
	rejection *request.Rejection
	tokens    []int32
	details   [][]byte
	detailed  bool // each token has a detail
	end       end

	place[part]
}

// end is how a part ended.
type end struct {
	reason    Reason
	need, max int
	why       string
}

// settled: nobody owes this part anything.
func (p *part) settled() bool { return p.over && !p.open && !p.scheduled }

// paired: another node has a part of the same attempt, and the pools of both know it.
func (p *part) paired() bool { return p.role != Local }

// caller is one life of a gateway.
type caller struct {
	node   page.Node
	life   uint64
	up     bool
	lostAt int64 // where it is not up
	gone   bool  // its attempts have been cancelled
	parts  int   // live and ended
	closed closedSet
}

// closedSet remembers attempts that are over, by their numbers: some by name, and all up to a floor. The floor says more than was known of each, which is safe: a gateway's numbers ascend, so what it
// closes unheard is as old as all that was forgotten for its sake, and is tried anew under another number.
type closedSet struct {
	floor  uint64
	named  map[uint64]struct{} // for lookup only
	oldest []uint64            // ring of the named
	at     int
}

func (c *closedSet) has(number uint64) bool {
	if number <= c.floor {
		return true
	}
	_, ok := c.named[number]
	return ok
}

// add remembers a number, and raises the floor to the oldest one where there are more than most.
func (c *closedSet) add(number uint64, most int64) {
	if c.has(number) {
		return
	}
	if c.named == nil {
		c.named = map[uint64]struct{}{}
	}
	c.named[number] = struct{}{}
	if int64(len(c.oldest)) < most {
		c.oldest = append(c.oldest, number)
		return
	}
	old := c.oldest[c.at]
	c.oldest[c.at] = number
	c.at = (c.at + 1) % len(c.oldest)
	delete(c.named, old)
	c.floor = max(c.floor, old)
}
