package kvpooltest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// States that are merged go on alike, and so do ledgers that are taken for one: else a search depends on which it meets first, and misses what follows from the other.
func TestMergedStatesGoOnAlike(t *testing.T) {
	fenced := &World{
		Name: "two exports, fenced", Nodes: []Node{{Pages: 2}, {Pages: 1}}, Losses: 1, Requests: []Request{
			{Prefill: 0, Decode: 1, Tenant: "alice", Text: "a", Groups: []int{1}},
			{Prefill: 0, Decode: 1, Tenant: "bob", Text: "b", Groups: []int{1}},
		},
	}
	for _, w := range append(Small(), fenced) {
		name, _ := w.Titled()
		t.Run(name, func(t *testing.T) {
			b := Bounds{Workers: 1, Compare: 20, States: 25000}
			if raced {
				b.States = 2000
			}
			if r := w.Explore(b); r.Broken != nil {
				t.Fatal(r.Broken)
			}
		})
	}
}

// apart is a world in which attempts that are alike are told apart. It counts how many of its states differ in more than their names.
type apart struct {
	*cluster
	mu     sync.Mutex
	orbits map[string]bool
}

func (x *apart) canonical(s *state) state {
	merged := x.cluster.canonical(s)
	x.mu.Lock()
	x.orbits[string(x.encode(nil, &merged))] = true
	x.mu.Unlock()
	return least(x.under(s, 0, nil), x.encode)
}

// Attempts of equal requests are merged by name: a search that tells them apart finds the same, in as many states as the merged ones stand for.
func TestAttemptsAlike(t *testing.T) {
	alike := Request{Prefill: 0, Decode: 1, Tenant: "alice", Text: "a", Groups: []int{1}}
	for _, c := range []struct {
		world  *World
		broken string
	}{
		{&World{Name: "alike", Nodes: []Node{{Pages: 2}, {Pages: 1}}, Requests: []Request{alike, alike}, Failures: 1}, ""},
		{&World{Name: "alike, served", Nodes: []Node{{Pages: 1, Scrub: true}, {Pages: 2}}, Requests: []Request{alike, alike}, Served: true}, ""},
		{&World{Name: "alike, late reads", Nodes: []Node{{Pages: 2}, {Pages: 2}}, Requests: []Request{alike, alike}, Losses: 1, LateReads: true}, "I4"},
	} {
		t.Run(c.world.Name, func(t *testing.T) {
			b := Bounds{}
			if raced {
				b.States = 2000
			}
			merged := c.world.Explore(b)
			x := &apart{cluster: newCluster(c.world), orbits: map[string]bool{}}
			all := explore[state](x, b)
			for _, r := range []Report{merged, all} {
				if got := fmt.Sprint(r.Broken); r.Broken != nil && c.broken == "" || !strings.HasPrefix(got, c.broken) && !raced {
					t.Errorf("broken: %v", got)
				}
			}
			if c.broken != "" || raced {
				return
			}
			if merged.States != len(x.orbits) || all.States <= merged.States || merged.Depth != all.Depth {
				t.Errorf("merged: %d states, depth %d; apart: %d states, which are %d, depth %d", merged.States, merged.Depth, all.States, len(x.orbits), all.Depth)
			}
			t.Logf("%d states apart, %d merged", all.States, merged.States)
			if r := c.world.Explore(Bounds{Workers: 1, Compare: 10}); r.Broken != nil {
				t.Error(r.Broken)
			}
		})
	}
}
