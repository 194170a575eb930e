package kvpool

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

func TestNewRefuses(t *testing.T) {
	for _, pages := range []int{0, -1, MaxPages + 1} {
		if _, err := New(Config{Pages: pages}); err == nil || !strings.Contains(err.Error(), "Config.Pages") {
			t.Errorf("%d pages: %v", pages, err)
		}
	}
}

// TestCheckSees breaks a ledger from inside, one fact at a time, and wants Check to name the invariant.
func TestCheckSees(t *testing.T) {
	for _, c := range []struct {
		what, want string
		do         func(l *Ledger)
	}{
		{"a page lost to all lists", "I11", func(l *Ledger) { l.groups[0].free = l.pages[l.groups[0].free].next }},
		{"a page counted twice", "I10", func(l *Ledger) { l.count[Free]++ }},
		{"a page free and owned", "I1", func(l *Ledger) { l.move(&l.pages[1], Free) }},
		{"a writer and a reader", "I2", func(l *Ledger) { l.own.link(l.own.enrol(sequence(8)), 1, &l.pages[1]) }},
		{"no generation", "I6", func(l *Ledger) { l.pages[1].gen = 0 }},
		{"an owner that does not know", "I1", func(l *Ledger) { l.own.recs[0].head = l.own.edges[l.own.recs[0].head].ownNext }},
		{"an owner without a name", "I1", func(l *Ledger) { l.own.names.remove(sequence(1)) }},
		{"a Filling page in the index", "I2", func(l *Ledger) { l.pages[1].indexed = true }},
		{"an index that finds nothing", "I5", func(l *Ledger) { clear(l.index.places) }},
		{"an index that miscounts", "I5", func(l *Ledger) { l.index.size++ }},
		{"a page read by nobody", "I11", func(l *Ledger) { l.leaveIndex(2) }},
		{"an idle page that cannot be evicted", "I11", func(l *Ledger) { l.groups[0].idle.remove(l.pages, 2) }},
		{"a scrub that nobody asked for", "I11", func(l *Ledger) { l.groups[0].scrubbing++ }},
		{"a page of another group", "I10", func(l *Ledger) { l.groups[0].first = 1 }},
		{"a page copied and written", "I2", func(l *Ledger) { l.own.link(l.own.enrol(copyJob(9)), 1, &l.pages[1]) }},
		{"a page copied and free", "I1", func(l *Ledger) { l.own.link(l.own.enrol(copyJob(9)), 3, &l.pages[3]) }},
		{"a page restored by nobody", "I3", func(l *Ledger) { l.leaveIndex(0); l.move(&l.pages[0], Restoring) }},
		{"a page restored and readable", "I3", func(l *Ledger) { l.own.link(l.own.enrol(restoreJob(9)), 0, &l.pages[0]) }},
		{"a page restored and checked", "I2", func(l *Ledger) {
			l.leaveIndex(0)
			l.move(&l.pages[0], Restoring)
			l.own.link(l.own.enrol(restoreJob(9)), 0, &l.pages[0])
			l.own.link(l.own.enrol(verify(8)), 0, &l.pages[0])
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			l := settled(t)
			if err := l.Check(); err != nil {
				t.Fatalf("before: %v", err)
			}
			c.do(l)
			if err := l.Check(); err == nil || !strings.HasPrefix(err.Error(), "kvpool: "+c.want+":") {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// settled is a ledger of 4 pages: 0 Resident and read by seq 1, 1 Filling by it, 2 idle, 3 Free.
func settled(t *testing.T) *Ledger {
	l, err := New(Config{Pages: 4, PrefixCache: true})
	if err != nil {
		t.Fatal(err)
	}
	refs := l.Step(Event{Kind: EvAllot, N: 3}, nil)[0].Refs
	l.Step(Event{Kind: EvSpend, Spends: []page.Spend{{Ref: refs[0], Seq: 1}, {Ref: refs[1], Seq: 1}, {Ref: refs[2], Seq: 2}}}, nil)
	l.Step(Event{Kind: EvSeal, Seals: []Seal{
		{Ref: refs[0], Seq: 1, Chain: page.Hash{1}, Full: true}, {Ref: refs[2], Seq: 2, Chain: page.Hash{2}, Full: true},
	}}, nil)
	l.Step(Event{Kind: EvRelease, Seq: 2}, nil)
	return l
}

// life drives sequences of one shape through a ledger without ever allocating itself: match, verify, allot, spend, seal, release.
type life struct {
	l      *Ledger
	seq    page.Seq
	fx     []Effect
	hashes []page.Hash
	spends []page.Spend
	seals  []Seal
}

const lifePages = 8

// once lives one life, whose first half is a prefix shared with every other one.
func (x *life) once() {
	x.seq++
	x.hashes, x.spends, x.seals = x.hashes[:0], x.spends[:0], x.seals[:0]
	for i := range lifePages {
		n := uint64(i + 1)
		if i >= lifePages/2 {
			n += uint64(x.seq) * lifePages
		}
		x.hashes = append(x.hashes, spread(n))
	}
	x.step(Event{Kind: EvMatch, Seq: x.seq, Hashes: x.hashes})
	have := 0
	if x.fx[0].Kind == FxVerify {
		x.step(Event{Kind: EvVerified, Job: x.fx[0].Job})
		have = x.fx[len(x.fx)-1].N
	}
	x.step(Event{Kind: EvAllot, N: lifePages - have})
	for i, r := range x.fx[0].Refs {
		x.spends = append(x.spends, page.Spend{Ref: r, Seq: x.seq})
		x.seals = append(x.seals, Seal{Ref: r, Seq: x.seq, Chain: x.hashes[have+i], Full: true})
	}
	x.step(Event{Kind: EvSpend, Spends: x.spends})
	x.step(Event{Kind: EvSeal, Seals: x.seals})
	x.step(Event{Kind: EvRelease, Seq: x.seq})
}

// spread is a hash whose bytes are spread like those of a real chain hash.
func spread(n uint64) (h page.Hash) {
	binary.LittleEndian.PutUint64(h[:], n*0x9e3779b97f4a7c15)
	binary.LittleEndian.PutUint64(h[8:], n)
	return h
}

func (x *life) step(ev Event) { x.fx = x.l.Step(ev, x.fx[:0]) }

// TestStepDoesNotAllocate: once a pool is full and evicts, Step lives from what it has.
func TestStepDoesNotAllocate(t *testing.T) {
	l, err := New(Config{Pages: 256, PrefixCache: true})
	if err != nil {
		t.Fatal(err)
	}
	x := &life{l: l}
	for range 1000 {
		x.once()
	}
	if n := testing.AllocsPerRun(1000, x.once); n != 0 {
		t.Errorf("%v allocations a life", n)
	}
	if s := l.Stats(); s.Evicted == 0 || s.HitPages == 0 || s.StaleTotal() != 0 {
		t.Errorf("the lives were not what they should be: %+v", s)
	}
}

// TestCopiesDoNotAllocate: neither do copies out of the pool and back.
func TestCopiesDoNotAllocate(t *testing.T) {
	x := newRelay(t, 100, 24)
	var checks []Check
	once := func() {
		x.prepare()
		x.fx = x.p.Step(Event{Kind: EvCopyOut, Refs: x.refs}, x.fx[:0])
		checks = append(checks[:0], x.fx[0].Checks...)
		x.fx = x.p.Step(Event{Kind: EvCopied, Job: x.fx[0].Job}, x.fx[:0])
		x.fx = x.p.Step(Event{Kind: EvRelease, Seq: page.Seq(x.count)}, x.fx[:0])
		x.fx = x.p.Step(Event{Kind: EvRestore, Seq: 1 << 40, Checks: checks}, x.fx[:0])
		checks = append(checks[:0], x.fx[0].Checks...)
		x.fx = x.p.Step(Event{Kind: EvRestored, Job: x.fx[0].Job, Checks: checks}, x.fx[:0])
		x.fx = x.p.Step(Event{Kind: EvRelease, Seq: 1 << 40}, x.fx[:0])
	}
	for range 100 {
		once()
	}
	if n := testing.AllocsPerRun(100, once); n != 0 {
		t.Errorf("%v allocations a copy", n)
	}
	if s := x.p.Stats(); s.Restored != 24*x.count || s.CopiedOut != 24*x.count || s.StaleTotal() != 0 {
		t.Errorf("the copies were not what they should be: %+v", s)
	}
}

// BenchmarkLife is one sequence's life of 8 pages, 4 of them a shared prefix, in a pool that is full of cached pages: 6 events.
func BenchmarkLife(b *testing.B) {
	for _, pages := range []int{1_000, 2_000_000} {
		b.Run(fmt.Sprintf("pages=%d", pages), func(b *testing.B) {
			l, err := New(Config{Pages: pages, PrefixCache: true})
			if err != nil {
				b.Fatal(err)
			}
			x := &life{l: l}
			for l.Stats().Evicted == 0 {
				x.once()
			}
			b.ReportAllocs()
			for b.Loop() {
				x.once()
			}
		})
	}
}
