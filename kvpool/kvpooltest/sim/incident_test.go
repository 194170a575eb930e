package sim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kvasir-engine/kvasir/sched"
)

// The numbers of a deployment whose prefill pool held fewer tokens than the context it promised. Rejected requests were handed off all the same, and
// their clients got text of other people's sessions.
const (
	contextTokens = 1_048_576
	poolTokens    = 681_280
)

func incident(s *special) {
	s.pageSize = 64
	s.node = func(n *node) {
		n.prefill, n.decode, n.liar = n.id == 0, n.id == 1, false
		tokens := poolTokens
		n.pages = poolTokens / s.pageSize
		if n.id == 1 {
			tokens = contextTokens
			n.pages = contextTokens/s.pageSize + 1 + 64
		}
		n.config = sched.Config{PageSize: s.pageSize, TotalPages: n.pages, MaxModelLen: tokens, MaxNumSeqs: 8, MaxBatchedTokens: 1 << 17, MaxQueue: 64}
		n.ledgerConfig.Pages, n.ledgerConfig.PageSize, n.ledgerConfig.ExportQuota, n.ledgerConfig.MaxTombstones = n.pages, s.pageSize, 0, 0
		n.ledgerConfig.PrefixCache = true
	}
	s.plan = func(s *sim) {
		s.plan.end = 400 * milli
		shared := s.tokens(700)
		ask := func(at int64, tenant, length, max int) {
			prompt := append(make([]int32, 0, length), shared[:min(len(shared), length/2)]...)
			prompt = append(prompt, s.tokens(length-len(prompt))...)
			for i := 5; i < len(prompt); i += 97 {
				prompt[i] = int32(canary + tenant*canaries + i%7)
			}
			s.plan.requests = append(s.plan.requests, arrival{at: at, tenant: tenant, prompt: prompt, max: max, deadline: 30 * sec})
		}
		for i, over := range []int{1, 3000, 150_000, contextTokens - poolTokens - 8} {
			ask(int64(2+10*i)*milli, i%tenants, poolTokens+over, 4)
		}
		for i := range 24 {
			ask(int64(1+2*i)*milli, i%tenants, 300+i*41, 5)
		}
		ask(100*milli, 0, poolTokens-1, 3) // fits to the last slot
	}
}

// TestSmallPoolIsRefused: a node does not start with a pool that holds less than the context.
func TestSmallPoolIsRefused(t *testing.T) {
	_, err := sched.New(sched.Config{PageSize: 64, TotalPages: poolTokens / 64, MaxModelLen: contextTokens, MaxNumSeqs: 8, MaxBatchedTokens: 8192, MaxQueue: 64})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprint(poolTokens)) || !strings.Contains(err.Error(), fmt.Sprint(contextTokens)) {
		t.Fatalf("got %v, want an error that names %d and %d", err, poolTokens, contextTokens)
	}
}

// TestIncidentRejectedPromptsHandOffNothing: the gateway promises the whole context all the same. Each prompt that the prefill pool cannot hold ends with a rejection that says how long it is
// and what there is; no page of it is computed, exported or read; the decode node is told to forget it; and everybody else's answers are right.
func TestIncidentRejectedPromptsHandOffNothing(t *testing.T) {
	for _, faults := range []Faults{0, Loss | Repeat | Delay | Stall} {
		t.Run(faults.String(), func(t *testing.T) {
			if testing.Short() && faults != 0 {
				t.Skip("a million tokens once are enough")
			}
			sp := &special{}
			incident(sp)
			s := simulate(Config{Seed: 7, Nodes: 2, Faults: faults, special: sp})
			if s.err != nil {
				t.Fatal(s.err)
			}
			rejected := 0
			for _, r := range s.clients {
				if len(r.spec.Prompt) < poolTokens {
					if faults == 0 && r.outcome != Completed {
						t.Errorf("request %d of %d tokens: outcome %d %s", r.id, len(r.spec.Prompt), r.outcome, r.why)
					}
					continue
				}
				rejected++
				if r.outcome != Rejected || r.tokens != nil || !strings.Contains(r.why, fmt.Sprint(len(r.spec.Prompt))) || !strings.Contains(r.why, fmt.Sprint(poolTokens)) {
					t.Errorf("request %d of %d tokens: outcome %d with %d tokens: %s", r.id, len(r.spec.Prompt), r.outcome, len(r.tokens), r.why)
				}
				if s.moved[r.last] != 0 {
					t.Errorf("request %d: %d pages were offered or read", r.id, s.moved[r.last])
				}
			}
			pools := s.res.Pools
			if want := uint64(rejected); rejected == 0 || pools.ImportsEnded[2] < want {
				t.Errorf("%d rejected, %d imports cancelled", rejected, pools.ImportsEnded[2])
			}
			if faults == 0 && int(pools.Exported[1]) != len(s.clients)-rejected {
				t.Errorf("%d exports done, of %d requests with %d rejected", pools.Exported[1], len(s.clients), rejected)
			}
			t.Logf("%d requests, %d pages read", s.res.Requests, s.res.Reads)
		})
	}
}
