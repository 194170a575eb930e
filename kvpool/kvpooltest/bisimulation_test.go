package kvpooltest

import (
	"maps"
	"testing"
)

// A search finds the same with one worker or two, and whatever the hashes.
func TestSearchesAgree(t *testing.T) {
	if raced {
		t.Skip("too long under the race detector")
	}
	for _, w := range Small() {
		name, _ := w.Titled()
		t.Run(name, func(t *testing.T) {
			a, b := w.Explore(Bounds{Workers: 1}), w.Explore(Bounds{Workers: 2})
			if a.States != b.States || a.Edges != b.Edges || a.Depth != b.Depth || !maps.Equal(a.Situation, b.Situation) {
				t.Errorf("one worker:\n%v\ntwo:\n%v", &a, &b)
			}
		})
	}
}

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
			b := Bounds{Workers: 1, Compare: 20, States: 60000}
			if raced {
				b.States = 2000
			}
			if r := w.Explore(b); r.Broken != nil {
				t.Fatal(r.Broken)
			}
		})
	}
}
