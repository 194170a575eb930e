package kvpooltest

import (
	"flag"
	"strings"
	"testing"
	"time"
)

var (
	worlds   = flag.String("worlds", "", "search the worlds whose names contain this, large ones too; large: all large ones")
	states   = flag.Int("states", 0, "states at most in each world")
	memory   = flag.Int64("mem", 6<<30, "bytes of memory at most")
	duration = flag.Duration("time", 10*time.Minute, "at most, in each world")
	brief    = flag.Bool("brief", false, "no scripts")
)

// The small worlds are searched to their end, and get into every situation that they are for.
func TestWorlds(t *testing.T) {
	for _, w := range Small() {
		name, want := w.Titled()
		t.Run(name, func(t *testing.T) {
			r := searched(t, w)
			if !r.Exhausted && *states == 0 && !raced {
				t.Error("not searched to the end")
			}
			for _, s := range want {
				if !r.Situation[s] && r.Exhausted {
					t.Errorf("never: %s", s)
				}
			}
		})
	}
}

// The large worlds are searched by `make check-protocol`, as far as the bounds let.
func TestLargeWorlds(t *testing.T) {
	if *worlds == "" {
		t.Skip("run by `make check-protocol`")
	}
	for _, w := range Large() {
		if name, _ := w.Titled(); *worlds == "large" || strings.Contains(name, *worlds) {
			t.Run(name, func(t *testing.T) { searched(t, w) })
		}
	}
}

func searched(t *testing.T, w Explorable) Report {
	b := Bounds{States: *states, Memory: *memory, Time: *duration}
	if raced && b.States == 0 {
		b.States = 2000
	}
	r := w.Explore(b)
	t.Log(&r)
	switch {
	case r.Broken != nil && *brief:
		t.Fatalf("BROKEN %v", r.Broken)
	case r.Broken != nil:
		t.Fatalf("BROKEN %v\n%s", r.Broken, w.Script(&r))
	}
	return r
}
