package sim

import (
	"fmt"
	"strings"

	"github.com/kvasir-engine/kvasir/kvpool"
)

// Faults is a set of kinds of fault.
type Faults uint32

const (
	Loss      Faults = 1 << iota // messages are lost
	Repeat                       // messages come twice, also over a later connection
	Delay                        // messages and reads are late, in any order
	Clog                         // links stall one after the other and drain in another order
	Partition                    // links break, in one direction or both
	Stall                        // a read hangs past every timeout and lands later
	Crash                        // nodes end and start again with fresh memory
	Abort                        // 89 % of the requests are cancelled at a random moment
	Slow                         // nodes slow down
	Tick                         // ticks and suspicions at odd times
	Lie                          // one node lies to its peers
	Tiny                         // pools hold little more than one request
	Flip                         // bits of pages and of their headers turn over
	Restart                      // gateways end and start again
	Drop                         // connections between gateways and nodes break

	AllFaults = Drop<<1 - 1
)

var faultNames = []string{"loss", "repeat", "delay", "clog", "partition", "stall", "crash", "abort", "slow", "tick", "lie", "tiny", "flip", "restart", "drop"}

// String is the comma-separated list that ParseFaults takes.
func (f Faults) String() string {
	var names []string
	for i, name := range faultNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ",")
}

// ParseFaults takes "all", "none" or a comma-separated list of kinds.
func ParseFaults(s string) (Faults, error) {
	switch s {
	case "all":
		return AllFaults, nil
	case "none", "":
		return 0, nil
	}
	var f Faults
next:
	for _, word := range strings.Split(s, ",") {
		for i, name := range faultNames {
			if name == word {
				f |= 1 << i
				continue next
			}
		}
		return 0, fmt.Errorf("sim: %q is no kind of fault; kinds are %s", word, strings.Join(faultNames, ", "))
	}
	return f, nil
}

// Break is a rule of the shell that is broken on purpose, to show that the simulator sees it.
type Break int

const (
	BreakNothing       Break = iota
	BreakFenceEarly          // EvFenced is told before the reads are stopped
	BreakFailedRead          // a timeout is told as the end of a read
	BreakNoChecksum          // pages are served to anybody, and their bytes not hashed by who reads
	BreakReleaseEarly        // a cancelled import releases while reads are out
	BreakSwapPages           // two pages of an import change places in the page table
	BreakSpareLost           // the spare page of an import is forgotten
	BreakSealLate            // the runner offers before its bytes are written
	BreakSecondOutcome       // the gateway tells an outcome again
	BreakDomain              // all tenants share one cache domain
)

// Config says what is simulated. The seed decides the rest.
type Config struct {
	Seed     uint64
	Nodes    int // 2 to 64
	Requests int
	Faults   Faults
	Break    Break
	// Of the plan that the seed gives, these are left out.
	DropFaults, DropRequests []int
	// Trace keeps the last so many events as text. 0: none.
	Trace int
	// CheckEvery: each ledger's invariants are verified after every so many of its steps. 0: 16. It changes nothing else.
	CheckEvery int

	special *special
}

// Command repeats the run.
func (c Config) Command() string {
	s := fmt.Sprintf("go test ./kvpool/kvpooltest/sim -run 'TestSimulation$' -seed %d -nodes %d -requests %d -faults %v", c.Seed, c.Nodes, c.Requests, c.Faults)
	if c.Break != 0 {
		s += fmt.Sprintf(" -break %d", c.Break)
	}
	if len(c.DropFaults) > 0 {
		s += " -drop-faults " + numbers(c.DropFaults)
	}
	if len(c.DropRequests) > 0 {
		s += " -drop-requests " + numbers(c.DropRequests)
	}
	return s
}

func numbers(n []int) string { return strings.ReplaceAll(strings.Trim(fmt.Sprint(n), "[]"), " ", ",") }

// Result is what a run came to.
type Result struct {
	Err error // what broke, or nil
	// What the seed planned, before anything was left out.
	PlannedFaults, PlannedRequests int
	Requests                       int
	Outcomes                       [outcomes]int
	Pools                          Pools
	Events                         int
	Steps                          uint64 // of all ledgers
	Reads                          int    // pages read from peers
	Imports                        int    // answers started from another node's pages
	Crashes, GateCrashes           int
	Preempted                      int
	Flips, Flaws                   int // bits turned over, and what was noticed of them
	Fences                         int
	Digest                         uint64 // of everything that happened; equal for equal runs
	Micros                         int64  // virtual time
	Trace                          []string
}

// Pools adds up the statistics of all ledgers.
type Pools struct {
	Exported, ImportsEnded                                    [kvpool.Lost + 1]uint64 // by status
	HitPages, Evicted, Scrubbed, ReadsRejected, Folded, Stale uint64
}

func (p *Pools) add(s kvpool.Stats) {
	for i := range s.Exported {
		p.Exported[i] += s.Exported[i]
		p.ImportsEnded[i] += s.ImportsEnded[i]
	}
	p.HitPages += s.HitPages
	p.Evicted += s.Evicted
	p.Scrubbed += s.Scrubbed
	p.ReadsRejected += s.ReadsRejected
	p.Folded += s.Folded
	p.Stale += s.StaleTotal()
}

func (p *Pools) addAll(q *Pools) {
	for i := range p.Exported {
		p.Exported[i] += q.Exported[i]
		p.ImportsEnded[i] += q.ImportsEnded[i]
	}
	p.HitPages += q.HitPages
	p.Evicted += q.Evicted
	p.Scrubbed += q.Scrubbed
	p.ReadsRejected += q.ReadsRejected
	p.Folded += q.Folded
	p.Stale += q.Stale
}

// Outcome is a request's end.
type Outcome int

const (
	Pending Outcome = iota
	Completed
	Cancelled
	Rejected // admission at a node refused it, for ever
	Failed   // after several tries

	outcomes = iota
)
