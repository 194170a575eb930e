package kvpool

import (
	"fmt"
	"testing"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// relay hands prompts of n pages, in groups, from one ledger to another without ever allocating itself.
type relay struct {
	p, d   *Ledger
	n      int
	count  uint64
	toD    Link
	toP    Link
	fx     []Effect
	back   []Effect
	spends []page.Spend
	seals  []Seal
	refs   []page.Ref
	hashes []page.Hash
	jobs   []uint64
}

func newRelay(tb testing.TB, pool, n int) *relay {
	x := &relay{n: n, toD: Link{Peer: 2, Incarnation: 20, Epoch: 1}, toP: Link{Peer: 1, Incarnation: 10, Epoch: 1}}
	for i, l := range []**Ledger{&x.p, &x.d} {
		var err error
		if *l, err = New(Config{
			Node: page.Node(i + 1), Incarnation: page.Incarnation(10 * (i + 1)), Pages: pool, PrefixCache: true, PageSize: 16, MaxTombstones: 64,
		}); err != nil {
			tb.Fatal(err)
		}
	}
	x.p.Step(Event{Kind: EvConnected, Link: x.toD}, nil)
	x.d.Step(Event{Kind: EvConnected, Link: x.toP}, nil)
	return x
}

const relayGroups = 4

// allotSpend begins a sequence of n pages.
func (x *relay) allotSpend() {
	x.count++
	x.spends = x.spends[:0]
	x.fx = x.p.Step(Event{Kind: EvAllot, N: x.n}, x.fx[:0])
	for _, r := range x.fx[0].Refs {
		x.spends = append(x.spends, page.Spend{Ref: r, Seq: page.Seq(x.count)})
	}
	x.fx = x.p.Step(Event{Kind: EvSpend, Spends: x.spends}, x.fx[:0])
}

// prepare computes a prompt that nobody has seen.
func (x *relay) prepare() {
	x.allotSpend()
	x.seals, x.refs, x.hashes = x.seals[:0], x.refs[:0], x.hashes[:0]
	for i, s := range x.spends {
		h := spread(x.count*uint64(x.n) + uint64(i))
		x.hashes, x.refs = append(x.hashes, h), append(x.refs, s.Ref)
		x.seals = append(x.seals, Seal{Ref: s.Ref, Seq: s.Seq, Chain: h, Checksum: 7, Full: true})
	}
	x.fx = x.p.Step(Event{Kind: EvSeal, Seals: x.seals}, x.fx[:0])
}

// handOff takes it from the reservation to the release, and ends it at both.
func (x *relay) handOff() {
	a := Attempt{Gateway: 1, Number: x.count, Prefill: 10}
	seq := page.Seq(x.count)
	x.fx = x.p.Step(Event{Kind: EvReserve, Attempt: a, Link: x.toD, Seq: seq, N: x.n}, x.fx[:0])
	x.fx = x.d.Step(Event{Kind: EvExpect, Attempt: a, Link: x.toP, Seq: seq, To: 20, Hashes: x.hashes, Tokens: x.n * 16}, x.fx[:0])
	for g := range relayGroups {
		from, to := g*x.n/relayGroups, (g+1)*x.n/relayGroups
		x.fx = x.p.Step(Event{Kind: EvOffer, Attempt: a, Refs: x.refs[from:to], Last: to == x.n, Tokens: x.n * 16}, x.fx[:0])
		x.back = x.d.Step(Event{Kind: EvMessage, Link: x.toP, Message: x.fx[0].Message}, x.back[:0])
		x.jobs = x.jobs[:0]
		for i := range x.back {
			x.jobs = append(x.jobs, x.back[i].Job)
		}
		for _, job := range x.jobs {
			x.back = x.d.Step(Event{Kind: EvRead, Job: job, Checksum: 7}, x.back[:0])
		}
	}
	start := x.back[0] // FxStart, FxSend
	x.fx = x.p.Step(Event{Kind: EvMessage, Link: x.toD, Message: x.back[1].Message}, x.fx[:0])
	x.fx = x.p.Step(Event{Kind: EvRelease, Seq: seq}, x.fx[:0])
	x.refs = append(x.refs[:0], start.Spare)
	x.back = x.d.Step(Event{Kind: EvReturn, Refs: x.refs}, x.back[:0])
	x.back = x.d.Step(Event{Kind: EvRelease, Seq: seq}, x.back[:0])
}

// TestHandOffDoesNotAllocate: once pools are full and tombstones are folded, the hand-off lives from what it has.
func TestHandOffDoesNotAllocate(t *testing.T) {
	x := newRelay(t, 100, 24)
	once := func() { x.prepare(); x.handOff() }
	for range 500 {
		once()
	}
	if n := testing.AllocsPerRun(500, once); n != 0 {
		t.Errorf("%v allocations a hand-off", n)
	}
	p, d := x.p.Stats(), x.d.Stats()
	if n := x.count; p.Exported[Done] != n || d.ImportsEnded[Done] != n || p.StaleTotal()+d.StaleTotal() != 0 || d.Folded == 0 || d.Evicted == 0 {
		t.Errorf("the hand-offs were not what they should be:\n%+v\n%+v", p, d)
	}
	for _, l := range []*Ledger{x.p, x.d} {
		if err := l.Check(); err != nil {
			t.Error(err)
		}
	}
}

var poolSizes = []int{1_024, 65_536, 2_000_000}

// BenchmarkAllotSpend is one allotment of 1,000 pages and their spending, in a pool that has been used to its last page.
func BenchmarkAllotSpend(b *testing.B) {
	benchmarkPages(b, func(x *relay, timed func(func())) {
		timed(x.allotSpend)
		x.fx = x.p.Step(Event{Kind: EvRelease, Seq: page.Seq(x.count)}, x.fx[:0])
	})
}

// BenchmarkFree is the end of a sequence of 1,000 pages, of which all go home.
func BenchmarkFree(b *testing.B) {
	benchmarkPages(b, func(x *relay, timed func(func())) {
		x.allotSpend()
		timed(func() { x.fx = x.p.Step(Event{Kind: EvRelease, Seq: page.Seq(x.count)}, x.fx[:0]) })
	})
}

func benchmarkPages(b *testing.B, once func(x *relay, timed func(func()))) {
	for _, pool := range poolSizes {
		b.Run(fmt.Sprintf("pages=%d", pool), func(b *testing.B) {
			x := newRelay(b, pool, 1000)
			refs := append([]page.Ref(nil), x.p.Step(Event{Kind: EvAllot, N: pool}, nil)[0].Refs...)
			x.p.Step(Event{Kind: EvReturn, Refs: refs}, nil)
			once(x, func(f func()) { f() })
			b.ReportAllocs()
			b.ResetTimer()
			b.StopTimer()
			for range b.N {
				once(x, func(f func()) {
					b.StartTimer()
					f()
					b.StopTimer()
				})
			}
		})
	}
}

// BenchmarkHandOff is the hand-off of a prompt of 1,000 pages in four groups, from EvReserve to the end of both sequences, at both ledgers, in pools that are full of
// cached pages.
func BenchmarkHandOff(b *testing.B) {
	for _, pool := range poolSizes {
		b.Run(fmt.Sprintf("pages=%d", pool), func(b *testing.B) {
			x := newRelay(b, pool, 1000)
			for x.d.Stats().Evicted == 0 {
				x.prepare()
				x.handOff()
			}
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				x.prepare()
				b.StartTimer()
				x.handOff()
			}
		})
	}
}
