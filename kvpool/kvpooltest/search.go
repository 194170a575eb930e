package kvpooltest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"runtime"
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
	// encode appends the bytes that a state takes; two states are equal if theirs are. decode is its inverse.
	encode(b []byte, s *S) []byte
	decode(b []byte) S
	// check verifies the invariants that can be seen in a state.
	check(s *S) error
	// home: everything is over and all pages are Free.
	home(s *S) bool
	// size is about how many bytes the model keeps for itself.
	size() int64
}

// Bounds end a search that is larger than one wants to wait for. 0: no bound.
type Bounds struct {
	States  int
	Memory  int64 // bytes that the search keeps
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
	Bytes     int64           // that the search kept in the end
	Layers    int64           // bytes of the largest layer
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
	return fmt.Sprintf("%-20s %9d states %10d edges, depth %3d, %s, %d stuck, %v, %d bytes a state; reached: %s", r.World, r.States, r.Edges, r.Depth, all, r.Stuck, r.Time.Round(time.Millisecond),
		r.Bytes/int64(max(r.States, 1)),
		strings.Join(slices.Sorted(maps.Keys(r.Situation)), "; "))
}

// Row is a row of a table in markdown, but for what the world is for.
func (r *Report) Row() string {
	all := "to its end"
	if !r.Exhausted {
		all = "as far as the bound let"
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %s | %.0f s | %d |\n", r.World, r.States, r.Edges, r.Depth, all, r.Time.Seconds(), r.Bytes/int64(max(r.States, 1)))
}

// search visits the states of a model breadth first, so that the first thing found broken is among the nearest. The states themselves live as long as their layer waits, as bytes.
type search[S comparable] struct {
	model[S]
	bounds  Bounds
	start   time.Time
	seeds   [2]maphash.Seed
	visited *store
	edges   edges
	waiting atomic.Int64 // bytes of layers
	largest int64        // of waiting
	stop    atomic.Bool  // something is broken, or a bound was met
	cut     atomic.Bool  // a bound was met

	merged atomic.Uint64
	firsts sync.Map // for Bounds.Compare: the state first found of each number

	brokenMu sync.Mutex
	broken   error
	brokenAt uint32
	brokenBy Action
}

func explore[S comparable](m model[S], b Bounds) Report {
	x := &search[S]{model: m, bounds: b, start: time.Now(), seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, visited: newStore()}
	if b.Workers == 0 {
		x.bounds.Workers = runtime.GOMAXPROCS(0)
	}
	s := m.initial()
	root, layer := x.begin(&s)
	depth := 0
	for x.broken == nil {
		if layer = x.layer(layer); len(layer) == 0 {
			break
		}
		depth++
	}
	states := int(x.visited.count.Load())
	r := Report{
		States: states, Edges: int(x.edges.count.Load()), Depth: depth, Exhausted: !x.cut.Load() && x.broken == nil, Broken: x.broken, Bytes: x.size(), Layers: x.largest,
	}
	if x.broken != nil {
		r.Trace = x.trace(root, x.brokenAt, x.brokenBy)
	} else if r.Exhausted {
		if stuck, n := stuck(x.visited, &x.edges); n > 0 {
			r.Stuck, r.Broken = n, errStuck
			r.Trace = x.trace(root, stuck, Action{})
		}
	}
	r.Time = time.Since(x.start)
	return r
}

func (x *search[S]) begin(s *S) (root uint32, layer [][]byte) {
	w := &worker[S]{search: x}
	root, _ = w.visit(s, none, Action{})
	if err := x.check(s); err != nil {
		x.breaks(err, root, Action{})
	}
	if x.bounds.Compare > 0 {
		x.firsts.Store(root, *s)
	}
	w.keep(root, s)
	w.flush()
	return root, w.next
}

// layer visits the successors of all states of a layer, on several workers.
func (x *search[S]) layer(layer [][]byte) [][]byte {
	var wg sync.WaitGroup
	var at atomic.Int64
	workers := make([]*worker[S], x.bounds.Workers)
	for i := range workers {
		w := &worker[S]{search: x, edges: edgeWriter{to: &x.edges}}
		workers[i] = w
		wg.Go(func() {
			defer w.flush()
			for {
				i := int(at.Add(1)) - 1
				if i >= len(layer) {
					return
				}
				x.look()
				for block := layer[i]; len(block) > 0 && !x.stop.Load(); {
					block = w.expand(block)
				}
				x.waiting.Add(-int64(cap(layer[i])))
				layer[i] = nil
			}
		})
	}
	wg.Wait()
	var next [][]byte
	for _, w := range workers {
		next = append(next, w.next...)
	}
	return next
}

// size is how many bytes are kept.
func (x *search[S]) size() int64 {
	return x.visited.bytes.Load() + x.edges.bytes.Load() + x.waiting.Load() + x.model.size()
}

// look asks whether time or memory is used up.
func (x *search[S]) look() {
	if x.bounds.Time > 0 && time.Since(x.start) > x.bounds.Time || x.bounds.Memory > 0 && x.size() > x.bounds.Memory {
		x.bound()
	}
}

func (x *search[S]) bound() {
	x.cut.Store(true)
	x.stop.Store(true)
}

func (x *search[S]) breaks(err error, at uint32, by Action) {
	x.brokenMu.Lock()
	defer x.brokenMu.Unlock()
	if x.broken == nil {
		x.broken, x.brokenAt, x.brokenBy = err, at, by
	}
	x.stop.Store(true)
}

// trace is the way to a state, and one action more if it is one.
func (x *search[S]) trace(root, to uint32, last Action) []Action {
	var t []Action
	if last != (Action{}) {
		t = append(t, last)
	}
	for ; to != root; to = x.visited.get(to).parent {
		t = append(t, x.visited.get(to).by)
	}
	slices.Reverse(t)
	return t
}

// layerBlock is how many bytes of states a worker takes at a time.
const layerBlock = 1 << 14

// worker visits states of a layer.
type worker[S comparable] struct {
	*search[S]
	edges edgeWriter
	b     []byte   // states found, in a block under way: their numbers, sizes and bytes
	next  [][]byte // blocks
	to    []uint32
	buf   []byte
}

// expand visits the successors of the first state of a block and returns the others.
func (w *worker[S]) expand(block []byte) []byte {
	id := binary.LittleEndian.Uint32(block)
	size, n := binary.Uvarint(block[4:])
	block = block[4+n:]
	s := w.decode(block[:size])
	w.to = w.to[:0]
	w.model.next(&s, func(a Action, n *S, err error) {
		if err != nil {
			w.breaks(err, id, a)
			return
		}
		to, fresh := w.visit(n, id, a)
		if to == none {
			w.bound()
			return
		}
		if to != id {
			w.search.edges.count.Add(1)
			if !fresh {
				w.to = append(w.to, to)
			}
		}
		if fresh {
			if err := w.check(n); err != nil {
				w.breaks(err, id, a)
				return
			}
			w.keep(to, n)
		}
		if w.bounds.Compare > 0 {
			w.compareMerged(n, to, fresh, id, a)
		}
	})
	w.edges.add(id, w.to)
	return block[size:]
}

// visit returns the number of a state, and whether it is new.
func (w *worker[S]) visit(s *S, parent uint32, by Action) (uint32, bool) {
	c := w.canonical(s)
	w.buf = w.encode(w.buf[:0], &c)
	hash := [2]uint64{maphash.Bytes(w.seeds[0], w.buf), maphash.Bytes(w.seeds[1], w.buf)}
	return w.visited.visit(hash, parent, by, uint64(w.bounds.States), func() bool { return w.home(s) })
}

// keep appends a state to the next layer.
func (w *worker[S]) keep(id uint32, s *S) {
	w.buf = w.encode(w.buf[:0], s)
	w.b = binary.LittleEndian.AppendUint32(w.b, id)
	w.b = binary.AppendUvarint(w.b, uint64(len(w.buf)))
	w.b = append(w.b, w.buf...)
	if len(w.b) > layerBlock {
		w.flushLayer()
	}
}

func (w *worker[S]) flushLayer() {
	if len(w.b) == 0 {
		return
	}
	b := append([]byte(nil), w.b...)
	w.waiting.Add(int64(cap(b)))
	w.next = append(w.next, b)
	w.b = w.b[:0]
}

func (w *worker[S]) flush() {
	w.flushLayer()
	if w.edges.to != nil {
		w.edges.flush()
	}
	w.brokenMu.Lock()
	defer w.brokenMu.Unlock()
	w.largest = max(w.largest, w.waiting.Load())
}
