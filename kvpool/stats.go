package kvpool

import "fmt"

// Reason says why an event, or one ref of an event, was stale: it changed nothing (I6).
type Reason uint8

const (
	WrongNode        Reason = iota + 1 // the ref is of another node
	WrongIncarnation                   // the ref is of another life of this node
	NoSuchPage                         // the page's number is beyond the pool
	WrongGeneration                    // the ref is of another life of the page
	WrongState                         // the page is not in a state in which this can happen
	WrongOwner                         // the sequence does not own the page; EvMatch: it owns pages already
	NoSuchJob                          // no check of that number runs
	Malformed                          // no such kind of event, sequence 0, or an index outside the checks

	reasons = iota + 1
)

func (r Reason) String() string {
	names := [reasons]string{"", "wrong node", "wrong incarnation", "no such page", "wrong generation", "wrong state", "wrong owner", "no such job", "malformed"}
	if int(r) < len(names) && r != 0 {
		return names[r]
	}
	return fmt.Sprintf("Reason(%d)", uint8(r))
}

// eventKinds is one more than the last kind of event.
const eventKinds = EvPatrol + 1

func (k EventKind) String() string {
	names := [eventKinds]string{"unknown", "allot", "return", "spend", "seal", "match", "verified", "release", "bad page", "scrubbed", "patrol"}
	if k < eventKinds {
		return names[k]
	}
	return fmt.Sprintf("EventKind(%d)", uint8(k))
}

// Counts says how many pages there are in each state. Free, Allotted, Filling, Resident and Quarantined sum to the pool (I10).
type Counts struct {
	Free        int
	Allotted    int
	Filling     int
	Resident    int // Idle + Read
	Idle        int // of these: read by nobody but the prefix index (and maybe a check)
	Read        int // of these: read by sequences (or, just taken out of the prefix index, by a check that still runs)
	Quarantined int

	Indexed int // pages in the prefix index: all that are Idle, and some that are Read
}

// Counts costs the same whatever the size of the pool.
func (l *Ledger) Counts() Counts {
	return Counts{
		Free:        l.count[Free],
		Allotted:    l.count[Allotted],
		Filling:     l.count[Filling],
		Resident:    l.count[Resident],
		Idle:        l.idle.size,
		Read:        l.count[Resident] - l.idle.size,
		Quarantined: l.count[Quarantined],
		Indexed:     l.index.size,
	}
}

// Stats counts what has happened since New. Counters only grow.
type Stats struct {
	// Stale counts refs and events that changed nothing, by kind of event (0: of no known kind) and Reason.
	Stale [eventKinds][reasons]uint64

	Allotted    uint64 // pages given to the scheduler
	Sealed      uint64 // pages sealed
	Duplicates  uint64 // of these: full, but their prefix was in the index already
	Lookups     uint64 // EvMatch
	LookupPages uint64 // pages they asked for
	HitPages    uint64 // pages they got, verified
	Evicted     uint64 // pages that left the prefix index for want of Free ones
	Verified    uint64 // pages checked, for a match or on patrol
	Bad         uint64 // pages quarantined because they did not hold what they must: an alarm
	Distrusted  uint64 // pages that left the prefix index because they may have been computed from a bad one
	Failed      uint64 // sequences told to end because of a bad page
	Scrubbed    uint64 // pages that came home scrubbed
}

// Stats costs the same whatever the size of the pool.
func (l *Ledger) Stats() Stats { return l.stats }

// StaleTotal is the sum of Stale.
func (s *Stats) StaleTotal() uint64 {
	var n uint64
	for k := range s.Stale {
		for _, c := range s.Stale[k] {
			n += c
		}
	}
	return n
}
