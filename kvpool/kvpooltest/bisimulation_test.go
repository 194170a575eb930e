package kvpooltest

import (
	"maps"
	"testing"
)

// States that are merged go on alike, so that a search finds the same whichever it meets first: with one worker or two, and whatever the hashes.
func TestMergedStatesGoOnAlike(t *testing.T) {
	for _, w := range Small() {
		name, _ := w.Titled()
		t.Run(name, func(t *testing.T) {
			b := Bounds{Workers: 1, Compare: 50}
			if raced {
				b.States = 2000
			}
			r := w.Explore(b)
			if r.Broken != nil {
				t.Fatal(r.Broken)
			}
			if raced {
				return
			}
			other := w.Explore(Bounds{Workers: 2})
			if other.States != r.States || other.Edges != r.Edges || other.Depth != r.Depth || !maps.Equal(other.Situation, r.Situation) {
				t.Errorf("one worker:\n%v\ntwo:\n%v", &r, &other)
			}
		})
	}
}
