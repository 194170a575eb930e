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
	NoSuchJob                          // no job of that kind and number runs
	Malformed                          // no such kind of event, sequence 0, or an index outside the checks; nonsense in a message or an attempt's name
	WrongLink                          // the link is not up, or not the attempt's
	NoSuchAttempt                      // nothing is known of the attempt, or it is closed
	Repeated                           // known already

	reasons = iota + 1
)

func (r Reason) String() string {
	names := [reasons]string{"", "wrong node", "wrong incarnation", "no such page", "wrong generation", "wrong state", "wrong owner", "no such job", "malformed",
		"wrong link", "no such attempt", "repeated"}
	if int(r) < len(names) && r != 0 {
		return names[r]
	}
	return fmt.Sprintf("Reason(%d)", uint8(r))
}

const (
	// eventKinds is one more than the last kind of event that one node alone knows.
	eventKinds = EvPatrol + 1
	// allKinds is one more than the last kind of event.
	allKinds = EvSlide + 1
)

func (k EventKind) String() string {
	names := [allKinds]string{
		"unknown", "allot", "return", "spend", "seal", "match", "verified", "release", "bad page", "scrubbed", "patrol",
		"connected", "lost", "fenced", "message", "cancel", "tick", "reserve", "offer", "revoke", "expect", "read",
		"copy out", "copied", "restore", "restored", "slide",
	}
	if k < allKinds {
		return names[k]
	}
	return fmt.Sprintf("EventKind(%d)", uint8(k))
}

// Counts says how many pages there are in each state. Free, Allotted, Filling, Resident, Quarantined, Importing and Restoring sum to the pool (I10).
type Counts struct {
	Free        int
	Allotted    int
	Filling     int
	Resident    int // Idle + Read
	Idle        int // of these: read by nobody but the prefix index (and maybe a check)
	Read        int // of these: read by sequences or exports (or, just taken out of the prefix index, by a check that still runs)
	Quarantined int
	Importing   int
	Restoring   int

	Indexed int // pages in the prefix index: all that are Idle, and some that are Read

	Exports    int // attempts alive at this node as the prefill node
	Promised   int // pages promised to them: what Config.ExportQuota bounds
	Imports    int // attempts alive at this node as the decode node
	Tombstones int // attempts remembered as closed
}

// Counts costs the same whatever the size of the pool.
func (l *Ledger) Counts() Counts {
	idle := 0
	for i := range l.groups {
		idle += l.groups[i].idle.size
	}
	return Counts{
		Free:        l.count[Free],
		Allotted:    l.count[Allotted],
		Filling:     l.count[Filling],
		Resident:    l.count[Resident],
		Idle:        idle,
		Read:        l.count[Resident] - idle,
		Quarantined: l.count[Quarantined],
		Importing:   l.count[Importing],
		Restoring:   l.count[Restoring],
		Indexed:     l.index.size,
		Exports:     len(l.exportOf),
		Promised:    l.promised,
		Imports:     len(l.importOf),
		Tombstones:  len(l.tombOf),
	}
}

// Stats counts what has happened since New. Counters only grow.
type Stats struct {
	// Stale counts refs and events that changed nothing, by kind of event (0: of no known kind) and Reason.
	Stale [allKinds][reasons]uint64

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

	CopiedOut        uint64 // pages copied out whose copies may be kept
	Restored         uint64 // pages copied in, verified
	RestoresRejected uint64 // pages into which a copy failed, or was not what it should be

	Exported      [Lost + 1]uint64 // attempts ended at this prefill node, by Status
	ImportsEnded  [Lost + 1]uint64 // attempts ended at this decode node, by Status; Done: started
	Imported      uint64           // pages read from peers and accepted
	ImportHits    uint64           // pages of imports that this node had itself, verified, and did not read
	ReadsRejected uint64           // reads that failed, or whose bytes were not as offered
	Fences        uint64           // FxFence
	Folded        uint64           // tombstones folded into a watermark
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
