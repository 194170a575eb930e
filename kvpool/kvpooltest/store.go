package kvpooltest

import (
	"sync"
	"sync/atomic"
)

const (
	shards      = 64
	chunkStates = 1 << 10
	none        = ^uint32(0)
)

// store keeps the states visited: of each, in 20 bytes, 96 bits of its hash, the state that it was first reached from, and by what. Among 10^9 states the chance that two share a hash is
// about 10^-11. A state's number tells its shard and its place there.
type store struct {
	shards [shards]shard
	count  atomic.Uint64
	bytes  atomic.Int64 // in use
}

type shard struct {
	sync.Mutex
	table  []uint32 // open addressing: 1 + place; 0: none
	chunks []*[chunkStates]visited
	n      uint32
	homes  []uint64 // a bit each
}

type visited struct {
	key    [3]uint32
	parent uint32
	by     Action
}

func newStore() *store {
	x := &store{}
	for i := range x.shards {
		x.shards[i].table = make([]uint32, 64)
	}
	return x
}

func (sh *shard) at(place uint32) *visited { return &sh.chunks[place/chunkStates][place%chunkStates] }

// slot is where a key is in the table, or would be.
func (sh *shard) slot(key [3]uint32) *uint32 {
	mask := uint32(len(sh.table) - 1)
	for i := key[0] & mask; ; i = (i + 1) & mask {
		if p := sh.table[i]; p == 0 || sh.at(p-1).key == key {
			return &sh.table[i]
		}
	}
}

// visit returns the number of the state with a hash, and whether it is new: if so it is kept, unless there are as many as there may be (0: no bound); then the number is none.
func (x *store) visit(hash [2]uint64, parent uint32, by Action, most uint64, home func() bool) (uint32, bool) {
	s := uint32(hash[0] >> 58)
	sh := &x.shards[s]
	key := [3]uint32{uint32(hash[0]), uint32(hash[1]), uint32(hash[1] >> 32)}
	sh.Lock()
	defer sh.Unlock()
	slot := sh.slot(key)
	if *slot != 0 {
		return (*slot-1)*shards + s, false
	}
	if most > 0 && x.count.Load() >= most || sh.n == none/shards {
		return none, false
	}
	place := sh.n
	if place%chunkStates == 0 {
		sh.chunks = append(sh.chunks, new([chunkStates]visited))
		x.bytes.Add(chunkStates*20 + 8)
	}
	*sh.at(place) = visited{key, parent, by}
	*slot = place + 1
	if place%64 == 0 {
		sh.homes = append(sh.homes, 0)
	}
	if home() {
		sh.homes[place/64] |= 1 << (place % 64)
	}
	sh.n++
	x.count.Add(1)
	if int(sh.n)*4 > len(sh.table)*3 {
		x.bytes.Add(int64(len(sh.table)) * 4)
		sh.table = make([]uint32, 2*len(sh.table))
		for p := range sh.n {
			*sh.slot(sh.at(p).key) = p + 1
		}
	}
	return place*shards + s, true
}

func (x *store) get(id uint32) *visited { return x.shards[id%shards].at(id / shards) }

func (x *store) home(id uint32) bool {
	return x.shards[id%shards].homes[id/shards/64]&(1<<(id/shards%64)) != 0
}

// numbers is one more than the largest number.
func (x *store) numbers() uint32 {
	var most uint32
	for i := range x.shards {
		most = max(most, x.shards[i].n)
	}
	return most * shards
}

// has reports whether there is a state of that number.
func (x *store) has(id uint32) bool { return id/shards < x.shards[id%shards].n }
