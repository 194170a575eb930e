package kvpooltest

import (
	"flag"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

var (
	worlds   = flag.String("worlds", "", "search the worlds whose names contain this, large ones too; large: all large ones")
	states   = flag.Int("states", 0, "states at most in each world")
	memory   = flag.Float64("mem", 6, "GiB of memory at most, of all worlds that are searched at a time")
	duration = flag.Duration("time", 10*time.Minute, "at most, in each world")
	brief    = flag.Bool("brief", false, "no scripts")
	markdown = flag.Bool("markdown", false, "print rows of the tables of docs/protocol.md")
)

// The small worlds are searched to their end, and get into every situation that they are for. Another search, with one worker and other hashes, finds the same.
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
			if *states > 0 || raced {
				return
			}
			again := w.Explore(Bounds{Workers: 1})
			if again.States != r.States || again.Edges != r.Edges || again.Depth != r.Depth || !maps.Equal(again.Situation, r.Situation) {
				t.Errorf("another search found\n%v", &again)
			}
		})
	}
}

// The large worlds are searched by `make check-protocol`, as far as the bounds let: as many at a time as there are processors, each by one worker and with its share of the memory.
func TestLargeWorlds(t *testing.T) {
	if *worlds == "" {
		t.Skip("run by `make check-protocol`")
	}
	var chosen []Explorable
	for _, w := range Large() {
		if name, _ := w.Titled(); *worlds == "large" || strings.Contains(name, *worlds) {
			chosen = append(chosen, w)
		}
	}
	if len(chosen) == 0 {
		t.Fatalf("no world's name contains %q", *worlds)
	}
	most := int64(*memory * (1 << 30))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(most)) // the collector works harder before it lets the process grow beyond
	atATime := min(len(chosen), runtime.GOMAXPROCS(0))
	b := Bounds{States: *states, Time: *duration, Memory: most * 3 / 4 / int64(atATime), Workers: runtime.GOMAXPROCS(0) / atATime}
	t.Run("all", func(t *testing.T) {
		slots := make(chan struct{}, atATime)
		for _, w := range chosen {
			name, _ := w.Titled()
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				debug.FreeOSMemory() // of the worlds before
				within(t, w, b)
			})
		}
	})
}

func searched(t *testing.T, w Explorable) Report {
	b := Bounds{States: *states, Memory: int64(*memory * (1 << 30)), Time: *duration}
	if raced && b.States == 0 {
		b.States = 2000
	}
	return within(t, w, b)
}

func within(t *testing.T, w Explorable, b Bounds) Report {
	r := w.Explore(b)
	if *markdown {
		fmt.Print(r.Row())
	} else {
		t.Log(&r)
	}
	switch {
	case r.Broken != nil && *brief:
		t.Fatalf("BROKEN %v\nafter %d actions", r.Broken, len(r.Trace))
	case r.Broken != nil:
		t.Fatalf("BROKEN %v\nafter %d actions\n%s", r.Broken, len(r.Trace), w.Script(&r))
	}
	return r
}
