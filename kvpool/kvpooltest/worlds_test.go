package kvpooltest

import (
	"flag"
	"testing"
	"time"
)

var (
	states = flag.Int("states", 0, "states at most in each world")
	mem    = flag.Uint64("mem", 4<<30, "bytes of memory at most")
	which  = flag.String("worlds", "", "names of worlds")
)

func TestWorlds(t *testing.T) {
	for _, w := range Small() {
		t.Run(w.Name, func(t *testing.T) {
			r := Explore(w, Bounds{States: *states, Memory: *mem, Time: 10 * time.Minute})
			t.Logf("%+v", r)
			if r.Broken != nil {
				for _, a := range r.Trace {
					t.Logf("%s %d %d %d", actionName(a.Kind), a.A, a.B, a.C)
				}
				t.Fatal(r.Broken)
			}
		})
	}
}
