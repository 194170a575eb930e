package kvpooltest

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Action is one thing that can happen in a state; what its fields mean is the model's.
type Action struct{ Kind, A, B, C uint8 }

// model is a world as the search sees it: states of type S, which are values and compared as such.
type model[S comparable] interface {
	initial() S
	// next calls yield for each action that can happen in s, with what comes of it, or with the invariant that it breaks.
	next(s *S, yield func(a Action, n *S, err error))
	// canonical is the state that stands for s and all that differ from it in names only.
	canonical(s *S) S
	// check verifies the invariants that can be seen in a state.
	check(s *S) error
	// home: everything is over and all pages are Free.
	home(s *S) bool
}

// Bounds end a search that is larger than one wants to wait for. 0: no bound.
type Bounds struct {
	States  int
	Memory  uint64 // bytes in use by the process
	Time    time.Duration
	Workers int // 0: one for each processor

	// Compare is for tests of the search itself: of so many states that were reached before one has its successors compared with those of the state that it is merged with (0: none).
	// All states are then kept.
	Compare int
}

// Report is what a search has found.
type Report struct {
	World     string
	States    int
	Edges     int
	Depth     int  // of the deepest state
	Exhausted bool // every reachable state was visited: what was not found does not exist
	Broken    error
	Trace     []Action // the shortest way to what is broken
	Stuck     int      // I11: states from which home cannot be reached (only where Exhausted)
	Time      time.Duration
	Situation map[string]bool // reached
}

// errStuck is what is broken where home cannot be reached.
var errStuck = errors.New("I11: from here the pages cannot all come home")

// String is a row of a table.
func (r *Report) String() string {
	all := "exhausted"
	if !r.Exhausted {
		all = "NOT exhausted"
	}
	return fmt.Sprintf("%-20s %9d states %10d edges, depth %3d, %s, %d stuck, %v; reached: %s", r.World, r.States, r.Edges, r.Depth, all, r.Stuck, r.Time.Round(time.Millisecond),
		strings.Join(slices.Sorted(maps.Keys(r.Situation)), "; "))
}

const shards = 64

type shard struct {
	sync.Mutex
	ids map[[2]uint64]uint32
}

// search visits the states of a model breadth first, so that the first thing found broken is the nearest. It keeps of a state 128 bits of its hash, its parent and the action between
// them; the states themselves live as long as their layer. 10^8 states have a chance of about 10^-23 that two of them share a hash.
type search[S comparable] struct {
	model[S]
	bounds Bounds
	start  time.Time
	seeds  [2]maphash.Seed
	seen   [shards]shard
	count  atomic.Uint32
	cut    atomic.Bool // a bound was met
	merged atomic.Uint64

	grow    sync.RWMutex
	parents []uint32
	actions []Action
	homes   []bool

	firsts sync.Map // for Bounds.Compare: the state first found of each number

	brokenMu sync.Mutex
	broken   error
	brokenAt uint32
	brokenBy Action
}

type found[S comparable] struct {
	id uint32
	s  S
}

type edge struct{ from, to uint32 }

func explore[S comparable](m model[S], b Bounds) Report {
	x := &search[S]{model: m, bounds: b, start: time.Now(), seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	if b.Workers == 0 {
		x.bounds.Workers = runtime.GOMAXPROCS(0)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(200))
	for i := range x.seen {
		x.seen[i].ids = map[[2]uint64]uint32{}
	}
	s := m.initial()
	id, _ := x.visit(&s, 0, Action{})
	if err := m.check(&s); err != nil {
		x.breaks(err, id, Action{})
	}
	if b.Compare > 0 {
		x.firsts.Store(id, s)
	}
	layer, edges, depth := []found[S]{{id, s}}, []edge(nil), 0
	for len(layer) > 0 && x.broken == nil {
		next, more := x.layer(layer)
		edges = append(edges, more...)
		layer = next
		if len(layer) > 0 {
			depth++
		}
	}
	r := Report{States: int(x.count.Load()), Edges: len(edges), Depth: depth, Exhausted: !x.cut.Load() && x.broken == nil, Broken: x.broken}
	if x.broken != nil {
		r.Trace = x.trace(x.brokenAt, x.brokenBy)
	} else if r.Exhausted {
		if stuck, n := x.stuck(edges); n > 0 {
			r.Stuck, r.Broken = n, errStuck
			r.Trace = x.trace(stuck, Action{})
		}
	}
	r.Time = time.Since(x.start)
	return r
}

// layer visits the successors of all states of a layer, on several workers.
func (x *search[S]) layer(layer []found[S]) ([]found[S], []edge) {
	var wg sync.WaitGroup
	var at atomic.Int64
	nexts, edges := make([][]found[S], x.bounds.Workers), make([][]edge, x.bounds.Workers)
	for w := range x.bounds.Workers {
		wg.Go(func() {
			for {
				i := int(at.Add(1)) - 1
				if i >= len(layer) || x.cut.Load() {
					return
				}
				if i%1024 == 0 {
					x.look()
				}
				from := &layer[i]
				x.next(&from.s, func(a Action, n *S, err error) {
					if err != nil {
						x.breaks(err, from.id, a)
						return
					}
					id, fresh := x.visit(n, from.id, a)
					if id == none {
						return
					}
					if b := x.bounds.Compare; b > 0 && fresh {
						x.firsts.Store(id, *n)
					} else if b > 0 && x.merged.Add(1)%uint64(b) == 0 {
						if err := x.compare(n, id); err != nil {
							x.breaks(err, from.id, a)
						}
					}
					if fresh {
						if err := x.check(n); err != nil {
							x.breaks(err, from.id, a)
							return
						}
						nexts[w] = append(nexts[w], found[S]{id, *n})
					}
					if id != from.id {
						edges[w] = append(edges[w], edge{from.id, id})
					}
				})
			}
		})
	}
	wg.Wait()
	var next []found[S]
	var all []edge
	for w := range nexts {
		next, all = append(next, nexts[w]...), append(all, edges[w]...)
	}
	return next, all
}

const none = ^uint32(0)

// visit returns the number of a state, and whether it is new.
func (x *search[S]) visit(s *S, parent uint32, a Action) (uint32, bool) {
	c := x.canonical(s)
	key := [2]uint64{maphash.Comparable(x.seeds[0], c), maphash.Comparable(x.seeds[1], c)}
	sh := &x.seen[key[0]%shards]
	sh.Lock()
	defer sh.Unlock()
	if id, ok := sh.ids[key]; ok {
		return id, false
	}
	if x.bounds.States > 0 && int(x.count.Load()) >= x.bounds.States {
		x.cut.Store(true)
		return none, false
	}
	home := x.home(s)
	x.grow.Lock()
	id := x.count.Add(1) - 1
	x.parents, x.actions, x.homes = append(x.parents, parent), append(x.actions, a), append(x.homes, home)
	x.grow.Unlock()
	sh.ids[key] = id
	return id, true
}

// look asks whether time or memory is used up.
func (x *search[S]) look() {
	if x.bounds.Time > 0 && time.Since(x.start) > x.bounds.Time {
		x.cut.Store(true)
	}
	if x.bounds.Memory > 0 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		if sample[0].Value.Uint64() > x.bounds.Memory {
			x.cut.Store(true)
		}
	}
}

func (x *search[S]) breaks(err error, at uint32, by Action) {
	x.brokenMu.Lock()
	defer x.brokenMu.Unlock()
	if x.broken == nil {
		x.broken, x.brokenAt, x.brokenBy = err, at, by
	}
}

// trace is the way to a state, and one action more if it is one.
func (x *search[S]) trace(to uint32, last Action) []Action {
	var t []Action
	if last != (Action{}) {
		t = append(t, last)
	}
	for ; to != 0; to = x.parents[to] {
		t = append(t, x.actions[to])
	}
	for i, k := 0, len(t)-1; i < k; i, k = i+1, k-1 {
		t[i], t[k] = t[k], t[i]
	}
	return t
}

// stuck counts the states from which no home can be reached, by going back from the homes, and names the one found first (I11).
func (x *search[S]) stuck(edges []edge) (first uint32, n int) {
	states := int(x.count.Load())
	start := make([]uint32, states+1)
	for _, e := range edges {
		start[e.to+1]++
	}
	for i := range states {
		start[i+1] += start[i]
	}
	into := make([]uint32, len(edges))
	at := append([]uint32(nil), start...)
	for _, e := range edges {
		into[at[e.to]] = e.from
		at[e.to]++
	}
	ok, queue := make([]bool, states), []uint32(nil)
	for i := range states {
		if x.homes[i] {
			ok[i] = true
			queue = append(queue, uint32(i))
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, from := range into[start[queue[0]]:start[queue[0]+1]] {
			if !ok[from] {
				ok[from] = true
				queue = append(queue, from)
			}
		}
	}
	first = none
	for i := range states {
		if !ok[i] {
			if n == 0 {
				first = uint32(i)
			}
			n++
		}
	}
	return first, n
}
