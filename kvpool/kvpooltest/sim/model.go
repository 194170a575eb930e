package sim

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// slotBytes is the size of a token's keys and values: 8 bytes that depend on all tokens so far, the token, and its place.
const slotBytes = 16

// canary is the first of the tokens that tenants put into their prompts; tenant t's are those from canary+t*canaries on. No other token is as large.
const (
	canary   = 1 << 20
	canaries = 1 << 10
)

func mix(a, b uint64) uint64 {
	x := a ^ b*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// slab is the memory of one life of one node. It is never cleared but by a scrub.
type slab struct {
	bytes    []byte
	pageSize int
}

func newSlab(pages, pageSize int) slab {
	return slab{make([]byte, pages*pageSize*slotBytes), pageSize}
}

func (s slab) page(i page.Index) []byte {
	n := s.pageSize * slotBytes
	return s.bytes[int(i)*n : (int(i)+1)*n]
}

func (s slab) slot(table []page.Ref, pos int) []byte {
	return s.page(table[pos/s.pageSize].Page)[pos%s.pageSize*slotBytes:][:slotBytes]
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// putSlot writes the keys and values of a token, given those of the token before.
func putSlot(slot []byte, before uint64, token int32, pos int) {
	binary.LittleEndian.PutUint64(slot, mix(before+uint64(pos), uint64(token)))
	binary.LittleEndian.PutUint32(slot[8:], uint32(token))
	binary.LittleEndian.PutUint32(slot[12:], uint32(pos))
}

// attention is the state of the model's look at its context.
type attention uint64

func (a *attention) see(slot []byte) {
	*a = attention(mix(uint64(*a)^binary.LittleEndian.Uint64(slot[8:]), binary.LittleEndian.Uint64(slot)))
}

// drawn is the look under the eyes of one choice.
func (a attention) drawn(draw uint64) attention { return attention(mix(uint64(a), draw)) }

// next is the token that follows n tokens: mostly a number, now and then one of the context's tokens.
func (a attention) next(n int, slot func(pos int) []byte) int32 {
	if a%4 == 0 {
		return int32(binary.LittleEndian.Uint32(slot(int(uint64(a) / 4 % uint64(n)))[8:]) & 0x7fffffff)
	}
	return int32(a>>8) & 0xffff
}

// fill computes tokens [from, to) of a sequence through its page table.
func (s slab) fill(salt uint64, table []page.Ref, tokens []int32, from, to int) {
	before := salt
	if from > 0 {
		before = binary.LittleEndian.Uint64(s.slot(table, from-1))
	}
	for pos := from; pos < to; pos++ {
		slot := s.slot(table, pos)
		putSlot(slot, before, tokens[pos], pos)
		before = binary.LittleEndian.Uint64(slot)
	}
}

// sample reads n tokens through the page table and returns what follows, by the random numbers of a choice.
func (s slab) sample(table []page.Ref, n int, draw uint64) int32 {
	var a attention
	for pos := range n {
		a.see(s.slot(table, pos))
	}
	return a.drawn(draw).next(n, func(pos int) []byte { return s.slot(table, pos) })
}

// answer is what a single undisturbed node answers, from the tokens alone.
func answer(salt, draw uint64, prompt []int32, n int) []int32 {
	var a attention
	var slots []byte
	var out []int32
	before, seen := salt, 0
	slot := func(pos int) []byte { return slots[pos*slotBytes:][:slotBytes] }
	add := func(tokens ...int32) {
		for _, t := range tokens {
			slots = append(slots, make([]byte, slotBytes)...)
			putSlot(slot(seen), before, t, seen)
			before = binary.LittleEndian.Uint64(slot(seen))
			a.see(slot(seen))
			seen++
		}
	}
	add(prompt...)
	for range n {
		t := a.drawn(draw).next(seen, slot)
		out = append(out, t)
		add(t)
	}
	return out
}
