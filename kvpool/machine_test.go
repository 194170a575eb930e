package kvpool

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// TestLedgerAgainstTwin lets rapid play scheduler and runner: mostly as they should, now and then with events that are old, or of another life.
func TestLedgerAgainstTwin(t *testing.T) {
	var total Stats
	rapid.Check(t, func(rt *rapid.T) {
		m := &machine{p: newPair(t, Config{
			Node: 3, Incarnation: 9,
			Pages:       rapid.IntRange(1, 9).Draw(rt, "pages"),
			PrefixCache: rapid.IntRange(0, 9).Draw(rt, "cache") > 0,
			Scrub:       rapid.Bool().Draw(rt, "scrub"),
		}), paths: map[page.Seq][]byte{}, sealed: map[page.Seq]int{}, kept: map[copyKey]Check{}}
		m.p.t = rt
		actions := rapid.StateMachineActions(m)
		for range 4 { // rapid's own length is short for a pool to fill
			rt.Repeat(actions)
		}
		m.p.drain()
		s := m.p.ledger.Stats()
		total.CopiedOut, total.Restored, total.RestoresRejected = total.CopiedOut+s.CopiedOut, total.Restored+s.Restored, total.RestoresRejected+s.RestoresRejected
	})
	t.Logf("%d pages copied out, %d restored, %d rejected", total.CopiedOut, total.Restored, total.RestoresRejected)
	if total.CopiedOut == 0 || total.Restored == 0 || total.RestoresRejected == 0 {
		t.Error("something never happened")
	}
}

// machine is the world round a ledger. A sequence computes a path, one token a page, from an alphabet of two: so prefixes are often shared.
type machine struct {
	p      *pair
	paths  map[page.Seq][]byte
	sealed map[page.Seq]int // pages of the path that are matched or sealed
	past   []Event

	kept   map[copyKey]Check // copies outside the pool
	alarms int               // FxDistrust heard
}

const maxDepth = 5

// Compute lets a sequence do in one go what it is there for: match, get the rest of its pages, fill and seal some of them.
func (m *machine) Compute(t *rapid.T) {
	s := m.seq(t)
	if len(m.p.twin.owned[s]) > 0 {
		t.Skip("has begun")
	}
	m.paths[s], m.sealed[s] = nil, 0
	m.path(t, s)
	if rapid.Bool().Draw(t, "match") { // else it may repeat what is cached
		m.match(t, s)
		m.do(Event{Kind: EvVerified, Job: m.p.ledger.jobs})
	}
	fx := m.do(Event{Kind: EvAllot, N: rapid.IntRange(1, maxDepth-m.sealed[s]+1).Draw(t, "n")})
	spend, seal := Event{Kind: EvSpend}, Event{Kind: EvSeal}
	for _, r := range fx[len(fx)-1].Refs {
		spend.Spends = append(spend.Spends, page.Spend{Ref: r, Seq: s})
		if m.sealed[s] < maxDepth {
			m.sealed[s]++
			seal.Seals = append(seal.Seals, Seal{Ref: r, Seq: s, Domain: domainOf(s), Full: true, Chain: pathHash(m.paths[s][:m.sealed[s]])})
		}
	}
	m.do(spend)
	m.do(seal)
}

// Check has nothing to add: pair.step checks.
func (m *machine) Check(*rapid.T) {}

func (m *machine) do(ev Event) []Effect {
	m.past = append(m.past, clone(ev))
	fx := m.p.step(ev)
	for _, x := range fx {
		switch x.Kind {
		case FxMatched:
			m.sealed[x.Seq] = x.N
		case FxRestored:
			m.sealed[x.Seq] += x.N
		case FxCopied:
			for _, c := range x.Checks {
				m.kept[copyKey{c.Domain, c.Chain}] = c
			}
		case FxDistrust:
			m.alarms = x.N
			maps.DeleteFunc(m.kept, func(_ copyKey, c Check) bool { return c.Domain == x.Domain })
		}
	}
	return fx
}

func (m *machine) Allot(t *rapid.T) { m.do(Event{Kind: EvAllot, N: rapid.IntRange(0, 4).Draw(t, "n")}) }

func (m *machine) Return(t *rapid.T) {
	m.do(Event{Kind: EvReturn, Refs: rapid.SliceOfN(rapid.SampledFrom(m.inState(t, Allotted)), 1, 2).Draw(t, "refs")})
}

func (m *machine) Spend(t *rapid.T) {
	free := m.inState(t, Allotted)
	ev := Event{Kind: EvSpend}
	for range rapid.IntRange(1, 3).Draw(t, "n") {
		ev.Spends = append(ev.Spends, page.Spend{Ref: rapid.SampledFrom(free).Draw(t, "ref"), Seq: m.seq(t)})
	}
	m.do(ev)
}

func (m *machine) Seal(t *rapid.T) {
	ev := Event{Kind: EvSeal}
	for range rapid.IntRange(1, 2).Draw(t, "n") {
		r := rapid.SampledFrom(m.inState(t, Filling)).Draw(t, "ref")
		s := page.Seq(m.p.twin.pages[r.Page].owners[0].Number)
		full := m.sealed[s] < maxDepth && rapid.IntRange(0, 9).Draw(t, "full") > 0
		x := Seal{Ref: r, Seq: s, Domain: domainOf(s), Full: full, Checksum: rapid.Uint32().Draw(t, "checksum")}
		if full {
			m.sealed[s]++
			x.Chain = pathHash(m.path(t, s)[:m.sealed[s]])
		}
		ev.Seals = append(ev.Seals, x)
	}
	m.do(ev)
}

func (m *machine) Match(t *rapid.T) { m.match(t, m.seq(t)) }

func (m *machine) match(t *rapid.T, s page.Seq) {
	ev := Event{Kind: EvMatch, Seq: s, Domain: domainOf(s)}
	for i := range m.path(t, s) {
		ev.Hashes = append(ev.Hashes, pathHash(m.paths[s][:i+1]))
	}
	m.do(ev)
}

func (m *machine) Verified(t *rapid.T) {
	if len(m.p.jobs) == 0 {
		t.Skip("no job")
	}
	ev := Event{Kind: EvVerified}
	var jobs []uint64
	for j := range m.p.jobs {
		jobs = append(jobs, j)
	}
	slices.Sort(jobs)
	ev.Job = rapid.SampledFrom(jobs).Draw(t, "job")
	if rapid.IntRange(0, 3).Draw(t, "any bad") == 0 {
		ev.Bad = rapid.SliceOfN(rapid.IntRange(-1, m.p.jobs[ev.Job]), 1, 3).Draw(t, "bad")
	}
	m.do(ev)
}

func (m *machine) Release(t *rapid.T) {
	s := m.seq(t)
	m.do(Event{Kind: EvRelease, Seq: s})
	delete(m.paths, s)
	delete(m.sealed, s)
}

func (m *machine) BadPage(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "rarely") > 0 {
		t.Skip("not now")
	}
	m.do(Event{Kind: EvBadPage, Ref: rapid.SampledFrom(m.inState(t, Filling, Resident)).Draw(t, "ref"), Seq: m.seq(t)})
}

func (m *machine) Scrubbed(t *rapid.T) {
	if len(m.p.scrubs) == 0 {
		t.Skip("no scrub")
	}
	m.do(Event{Kind: EvScrubbed, Ref: rapid.SampledFrom(m.p.scrubs).Draw(t, "ref")})
}

func (m *machine) Patrol(t *rapid.T) {
	m.do(Event{Kind: EvPatrol, N: rapid.IntRange(0, 4).Draw(t, "n")})
}

// Replay repeats an old event.
func (m *machine) Replay(t *rapid.T) {
	if len(m.past) == 0 {
		t.Skip("no past")
	}
	m.p.step(clone(rapid.SampledFrom(m.past).Draw(t, "old")))
}

// OtherLife repeats an old event as if from another node, another incarnation, or another life of its pages. It must change nothing.
func (m *machine) OtherLife(t *rapid.T) {
	if len(m.past) == 0 {
		t.Skip("no past")
	}
	ev := clone(rapid.SampledFrom(m.past).Draw(t, "old"))
	change := rapid.SampledFrom([]func(*page.Ref){
		func(r *page.Ref) { r.Node++ },
		func(r *page.Ref) { r.Incarnation-- },
		func(r *page.Ref) { r.Generation += 1000 },
		func(r *page.Ref) { r.Generation = 0 },
		func(r *page.Ref) { r.Page += 1000 },
	}).Draw(t, "change")
	change(&ev.Ref)
	for i := range ev.Refs {
		change(&ev.Refs[i])
	}
	for i := range ev.Spends {
		change(&ev.Spends[i].Ref)
	}
	for i := range ev.Seals {
		change(&ev.Seals[i].Ref)
	}
	switch ev.Kind {
	case EvReturn, EvSpend, EvSeal, EvBadPage, EvScrubbed:
	default:
		t.Skip("names no page")
	}
	before := m.p.ledger.Counts()
	if fx := m.p.step(ev); len(fx) != 0 || m.p.ledger.Counts() != before {
		t.Fatalf("I6: %+v had effects %+v", ev, fx)
	}
}

func (m *machine) inState(t *rapid.T, want ...State) []page.Ref {
	var refs []page.Ref
	for i, p := range m.p.twin.pages {
		if slices.Contains(want, p.state) {
			refs = append(refs, m.p.twin.ref(page.Index(i)))
		}
	}
	if len(refs) == 0 {
		t.Skip("no such page")
	}
	return refs
}

func (m *machine) seq(t *rapid.T) page.Seq { return page.Seq(rapid.IntRange(1, 7).Draw(t, "seq")) }

func (m *machine) path(t *rapid.T, s page.Seq) []byte {
	if m.paths[s] == nil {
		m.paths[s] = rapid.SliceOfN(rapid.ByteRange(0, 1), maxDepth, maxDepth).Draw(t, "path")
	}
	return m.paths[s]
}

// domainOf puts few sequences into a domain of their own.
func domainOf(s page.Seq) page.Domain { return page.Domain(1 + s/6) }

// pathHash stands for a chain hash; its bucket is the depth, so buckets are shared by many.
func pathHash(path []byte) page.Hash {
	h := page.Hash{0: byte(len(path))}
	copy(h[8:], path)
	return h
}

// FuzzStep throws arbitrary events at ledger and twin.
func FuzzStep(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(noise(seed, 400))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1024 {
			t.Skip("longer is not different")
		}
		d := &decoder{data: data}
		p := newPair(t, Config{Node: 1, Incarnation: 1, Pages: 1 + d.small(6), PrefixCache: d.small(4) > 0, Scrub: d.small(2) > 0})
		for len(d.data) > 0 {
			p.step(d.event(p))
		}
		p.drain()
	})
}

// TestArbitraryEvents does the same with noise, for longer than the fuzzer's seeds.
func TestArbitraryEvents(t *testing.T) {
	for seed := range uint64(100) {
		d := &decoder{data: noise(seed, 6000)}
		p := newPair(t, Config{Node: 1, Incarnation: 1, Pages: 1 + d.small(6), PrefixCache: true, Scrub: d.small(2) > 0})
		for len(d.data) > 0 {
			p.step(d.event(p))
		}
		p.drain()
	}
}

func noise(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// decoder makes events of bytes. Numbers are small, so that events meet.
type decoder struct{ data []byte }

func (d *decoder) small(n int) int {
	if len(d.data) == 0 {
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return int(b) % n
}

func (d *decoder) event(p *pair) Event {
	kind := EventKind(d.small(int(eventKinds) + 6))
	if kind > eventKinds {
		kind += EvCopyOut - eventKinds - 1
	}
	ev := Event{
		Kind: kind, N: d.small(9) - 1, Seq: page.Seq(d.small(5)), Domain: page.Domain(d.small(2)), Ref: d.ref(p),
		Job: p.ledger.jobs - uint64(d.small(3)),
	}
	if ev.N == 7 {
		ev.N = 1 << (60 + d.small(4)) // 1<<63 is negative
	}
	for range d.small(4) {
		ev.Refs = append(ev.Refs, d.ref(p))
		ev.Hashes = append(ev.Hashes, page.Hash{byte(d.small(3))})
		ev.Spends = append(ev.Spends, page.Spend{Ref: d.ref(p), Seq: page.Seq(d.small(5))})
		ev.Seals = append(ev.Seals, Seal{
			Ref: d.ref(p), Seq: page.Seq(d.small(5)), Domain: page.Domain(d.small(2)), Chain: page.Hash{byte(d.small(3))}, Full: d.small(4) > 0,
		})
	}
	if d.small(3) == 0 {
		ev.Bad = append(ev.Bad, d.small(5)-1, d.small(5)-1)
	}
	if kind >= EvCopyOut && kind <= EvRestored {
		d.copies(p, &ev)
	}
	return ev
}

func (d *decoder) ref(p *pair) page.Ref {
	r := page.Ref{Node: 1, Incarnation: 1, Page: page.Index(d.small(7))}
	if int(r.Page) < len(p.twin.pages) {
		r.Generation = p.twin.pages[r.Page].gen
	}
	switch d.small(24) {
	case 0:
		r.Node = 2
	case 1:
		r.Incarnation = 0
	case 2:
		r.Generation--
	case 3:
		r.Page = 1 << 31
	}
	return r
}
