package handoff

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

const second = int64(1e9)

// NodeConfig is what a node is. A zero stands for the default named at the field, unless it is required. Times are nanoseconds.
type NodeConfig struct {
	Incarnation page.Incarnation // required; the pool's
	Prefill     bool             // can be a prefill node
	Decode      bool             // can be a decode node. One of the two is required; with both the node is local too
	Key         kvpool.Key       // of the cluster, for chain hashes
	Layout      [32]byte         // the layout hash
	PageSize    int64            // slots of a page; required
	Limits      Limits           // for the status report alone: the scheduler's admission decides

	GroupPages     int64 // pages that are offered together while the prompt is computed; 8
	RepeatAfter    int64 // the pool is asked so often to repeat what has had no answer from its peers; 1 s
	ReleaseTimeout int64 // an export that had no Release so long after its last offer is revoked; 30 s
	SuspectTimeout int64 // a revoked export or a cancelled import that has not ended after so long makes the link suspected; 10 s
	GatewayGrace   int64 // a gateway that was lost so long ago is taken to be gone; 10 s
	StatusEvery    int64 // between two reports that nothing else gave cause for; 1 s
	MaxRemaining   int64 // an attempt may take so long at most, whatever its Submit says; 24 h
	MaxAttempts    int64 // attempts that have not ended, beyond which a Submit is rejected (LimitQueue); 4096
	MaxEnded       int64 // attempts that have ended and are remembered with what became of them until the gateway cancels them; 4096
	MaxClosed      int64 // closed attempts remembered by name, for each gateway; 4096
	MaxGateways    int64 // lives of gateways known at a time; 256
}

func (c *NodeConfig) complete() error {
	switch {
	case c.Incarnation == 0:
		return fmt.Errorf("handoff: Incarnation is 0; it must be new at each start")
	case !c.Prefill && !c.Decode:
		return fmt.Errorf("handoff: neither Prefill nor Decode is set; one or both must be")
	case c.PageSize < 1:
		return fmt.Errorf("handoff: PageSize is %d; it must be at least 1", c.PageSize)
	}
	return complete([]setting{
		{"GroupPages", &c.GroupPages, 8},
		{"RepeatAfter", &c.RepeatAfter, second},
		{"ReleaseTimeout", &c.ReleaseTimeout, 30 * second},
		{"SuspectTimeout", &c.SuspectTimeout, 10 * second},
		{"GatewayGrace", &c.GatewayGrace, 10 * second},
		{"StatusEvery", &c.StatusEvery, second},
		{"MaxRemaining", &c.MaxRemaining, 24 * 3600 * second},
		{"MaxAttempts", &c.MaxAttempts, 4096},
		{"MaxEnded", &c.MaxEnded, 4096},
		{"MaxClosed", &c.MaxClosed, 4096},
		{"MaxGateways", &c.MaxGateways, 256},
	})
}

// GatewayConfig is what a gateway is. A zero stands for the default named at the field, unless it is required. Times are nanoseconds.
type GatewayConfig struct {
	Incarnation uint64 // required; new at each start, and no other gateway's
	PageSize    int64  // slots of a page at the nodes; required

	RepeatAfter  int64 // a word without an answer is said again after so long; 200 ms
	NodeGrace    int64 // a node that was lost so long ago is taken to have ended; 5 s
	RetryAfter   int64 // the wait before a second attempt; it doubles with each more; 20 ms
	RetryMost    int64 // and ends here; 2 s
	MaxTries     int64 // attempts of a request, but for those that were refused for want of pages: it waits for room to its deadline; 6
	NodeWait     int64 // a request for which there is no node fails after so long; 10 s
	MaxRequests  int64 // requests without an outcome, beyond which one is rejected (LimitQueue); 65536
	MaxClosing   int64 // attempts that are over here and not yet acknowledged by their nodes; 65536
	MaxPrefixes  int64 // pages of prompts whose place is remembered; 1 << 20
	LocalPrompts int64 // a decode node alone may read prompts of up to so many tokens where no prefill node can be reached; 0: none
}

func (c *GatewayConfig) complete() error {
	switch {
	case c.Incarnation == 0:
		return fmt.Errorf("handoff: Incarnation is 0; it must be new at each start")
	case c.PageSize < 1:
		return fmt.Errorf("handoff: PageSize is %d; it must be at least 1", c.PageSize)
	}
	return complete([]setting{
		{"RepeatAfter", &c.RepeatAfter, second / 5},
		{"NodeGrace", &c.NodeGrace, 5 * second},
		{"RetryAfter", &c.RetryAfter, second / 50},
		{"RetryMost", &c.RetryMost, 2 * second},
		{"MaxTries", &c.MaxTries, 6},
		{"NodeWait", &c.NodeWait, 10 * second},
		{"MaxRequests", &c.MaxRequests, 65536},
		{"MaxClosing", &c.MaxClosing, 65536},
		{"MaxPrefixes", &c.MaxPrefixes, 1 << 20},
		{"LocalPrompts", &c.LocalPrompts, 0},
	})
}

// setting is a field that must not be negative, and what it is where it is 0.
type setting struct {
	name  string
	value *int64
	zero  int64
}

func complete(settings []setting) error {
	for _, s := range settings {
		if *s.value < 0 {
			return fmt.Errorf("handoff: %s is %d; it must be positive, or 0 for %d", s.name, *s.value, s.zero)
		}
		if *s.value == 0 {
			*s.value = s.zero
		}
	}
	return nil
}
