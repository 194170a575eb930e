package kvpool

import (
	"fmt"
	"testing"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// decoding is a ledger in which 64 sequences write, four of which fill a page in each step, and so many others wait with a cached prefix in hand. (The scheduler lets one wait
// so; more would show a cost that grows.)
type decoding struct {
	life
	held []int // pages of each running sequence
	next int   // the next sequence to fill a page
	made uint64
}

const (
	runningSeqs  = 64
	filledPages  = 4 // in a step: 64 sequences over 16 slots
	decodedPages = 32
)

func newDecoding(tb testing.TB, waiting int) *decoding {
	l, err := New(Config{Pages: 1 << 16, PrefixCache: true})
	if err != nil {
		tb.Fatal(err)
	}
	d := &decoding{life: life{l: l}, held: make([]int, runningSeqs)}
	d.once() // leaves the prefix
	for i := range waiting {
		q := page.Seq(1<<32 + i)
		d.life.step(Event{Kind: EvMatch, Seq: q, Hashes: d.hashes[:1]})
		if d.fx[0].Kind == FxVerify {
			d.life.step(Event{Kind: EvVerified, Job: d.fx[0].Job})
		}
		if last := d.fx[len(d.fx)-1]; last.Kind != FxMatched || last.N != 1 {
			tb.Fatalf("sequence %d was told %+v", i, last)
		}
	}
	return d
}

// step is what the pool does in one step of the node: pages allotted, spent, and sealed when they are full; and a sequence that has its answer goes home.
func (d *decoding) step() {
	d.life.step(Event{Kind: EvAllot, N: filledPages})
	d.spends, d.seals = d.spends[:0], d.seals[:0]
	for _, r := range d.fx[0].Refs {
		d.made++
		q := page.Seq(1 + d.next)
		d.spends = append(d.spends, page.Spend{Ref: r, Seq: q})
		d.seals = append(d.seals, Seal{Ref: r, Seq: q, Chain: spread(1<<40 + d.made), Full: true})
		d.held[d.next]++
		d.next = (d.next + 1) % runningSeqs
	}
	d.life.step(Event{Kind: EvSpend, Spends: d.spends})
	d.life.step(Event{Kind: EvSeal, Seals: d.seals})
	for i, n := range d.held {
		if n == decodedPages {
			d.held[i] = 0
			d.life.step(Event{Kind: EvRelease, Seq: page.Seq(1 + i)})
		}
	}
}

// TestDecodingIsWhatItSays: nothing the benchmark does is refused.
func TestDecodingIsWhatItSays(t *testing.T) {
	d := newDecoding(t, 100)
	for range 1000 {
		d.step()
	}
	if err := d.l.Check(); err != nil {
		t.Error(err)
	}
	if s := d.l.Stats(); s.StaleTotal() != 0 || s.Allotted < 1000*filledPages {
		t.Errorf("%+v", s)
	}
}

// BenchmarkStep is the ledger's work for one step of 64 sequences that decode, by how many wait.
func BenchmarkStep(b *testing.B) {
	for _, waiting := range []int{10, 100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			d := newDecoding(b, waiting)
			b.ReportAllocs()
			for b.Loop() {
				d.step()
			}
		})
	}
}
