package kvpooltest

import (
	"flag"
	"testing"
	"time"
)

var (
	states = flag.Int("states", 0, "states at most in each world")
	mem    = flag.Uint64("mem", 4<<30, "bytes of memory at most")
	brief  = flag.Bool("brief", false, "no scripts")
	which  = flag.String("worlds", "", "names of worlds")
)

func TestWorlds(t *testing.T) {
	for _, w := range Small() {
		t.Run(w.Name, func(t *testing.T) {
			r := Explore(w, Bounds{States: *states, Memory: *mem, Time: 10 * time.Minute})
			t.Log(&r)
			if r.Broken != nil {
				if *brief {
					t.Fatalf("BROKEN %v", r.Broken)
				}
				t.Fatalf("BROKEN %v\n%s", r.Broken, Script(w, &r))
			}
			for _, s := range w.Want {
				if !r.Situation[s] && r.Exhausted {
					t.Errorf("never: %s", s)
				}
			}
		})
	}
}

func TestSingles(t *testing.T) {
	for _, w := range SmallSingles() {
		t.Run(w.Name, func(t *testing.T) {
			r := ExploreSingle(w, Bounds{States: *states, Memory: *mem, Time: 10 * time.Minute})
			t.Log(&r)
			if r.Broken != nil {
				t.Fatalf("BROKEN %v\n%v", r.Broken, r.Trace)
			}
			for _, s := range w.Want {
				if !r.Situation[s] && r.Exhausted {
					t.Errorf("never: %s", s)
				}
			}
		})
	}
}
