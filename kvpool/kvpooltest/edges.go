package kvpooltest

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
)

const edgeBlock = 1 << 16

// edges keeps which states follow which, but for the state that each was first reached from, which the store knows. I11 is shown with them.
type edges struct {
	mu     sync.Mutex
	blocks [][]byte // in about the order in which they were found
	count  atomic.Int64
	bytes  atomic.Int64
}

// edgeWriter is one worker's block under way: for each state its number as a difference from the one before, how many follow it, and these as differences from it.
type edgeWriter struct {
	to   *edges
	b    []byte
	last uint32
}

func (w *edgeWriter) add(from uint32, to []uint32) {
	if len(to) == 0 {
		return
	}
	w.b = binary.AppendVarint(w.b, int64(from)-int64(w.last))
	w.b = binary.AppendUvarint(w.b, uint64(len(to)))
	for _, id := range to {
		w.b = binary.AppendVarint(w.b, int64(id)-int64(from))
	}
	w.last = from
	if len(w.b) > edgeBlock {
		w.flush()
	}
}

func (w *edgeWriter) flush() {
	if len(w.b) == 0 {
		return
	}
	b := append([]byte(nil), w.b...)
	w.to.bytes.Add(int64(cap(b)) + 24)
	w.to.mu.Lock()
	defer w.to.mu.Unlock()
	w.to.blocks = append(w.to.blocks, b)
	w.b, w.last = w.b[:0], 0
}

// edge is one of them.
type edge struct{ from, to uint32 }

// decode appends the edges of a block.
func decodeEdges(block []byte, all []edge) []edge {
	take := func() int64 {
		x, n := binary.Varint(block)
		block = block[n:]
		return x
	}
	for from := int64(0); len(block) > 0; {
		from += take()
		n, size := binary.Uvarint(block)
		block = block[size:]
		for range n {
			all = append(all, edge{uint32(from), uint32(from + take())})
		}
	}
	return all
}

// stuck counts the states from which no home can be reached, and names one found early (I11). It goes over all edges from the last found to the first, until nothing new comes home: most edges lead
// to a state found later, so that few rounds are needed, and no edge need be found by where it leads.
func stuck(visited *store, found *edges) (first uint32, n int) {
	numbers := visited.numbers()
	ok := make([]uint64, numbers/64+1)
	is := func(id uint32) bool { return ok[id/64]&(1<<(id%64)) != 0 }
	for id := range numbers {
		if visited.has(id) && visited.home(id) {
			ok[id/64] |= 1 << (id % 64)
		}
	}
	var all []edge
	for changed := true; changed; {
		changed = false
		mark := func(from, to uint32) {
			if is(to) && !is(from) {
				ok[from/64] |= 1 << (from % 64)
				changed = true
			}
		}
		for i := len(found.blocks) - 1; i >= 0; i-- {
			all = decodeEdges(found.blocks[i], all[:0])
			for k := len(all) - 1; k >= 0; k-- {
				mark(all[k].from, all[k].to)
			}
		}
		for id := numbers; id > 0; id-- {
			if visited.has(id-1) && visited.get(id-1).parent != none {
				mark(visited.get(id-1).parent, id-1)
			}
		}
	}
	first = none
	for id := range numbers {
		if visited.has(id) && !is(id) {
			if n == 0 {
				first = id
			}
			n++
		}
	}
	return first, n
}
