package kvpool

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// handing is a ledger in the middle of everything, with PageSize 2: page 0 is exported for attempt 1 (of two pages); pages 1 and 2 are read into for attempt 2, of which 1 is
// accepted; page 3 waits for the read of attempt 3, which was cancelled; attempt 4 is closed.
func handing(t *testing.T) *Ledger {
	l, err := New(Config{Node: 1, Incarnation: 10, Pages: 6, PrefixCache: true, PageSize: 2})
	if err != nil {
		t.Fatal(err)
	}
	k := Link{Peer: 2, Incarnation: 20, Epoch: 1}
	l.Step(Event{Kind: EvConnected, Link: k}, nil)
	ref := l.Step(Event{Kind: EvAllot, N: 1}, nil)[0].Refs[0]
	l.Step(Event{Kind: EvSpend, Spends: []page.Spend{{Ref: ref, Seq: 1}}}, nil)
	l.Step(Event{Kind: EvSeal, Seals: []Seal{{Ref: ref, Seq: 1, Chain: page.Hash{1}, Full: true}}}, nil)
	l.Step(Event{Kind: EvReserve, Attempt: attemptOf(1, 1, 10), Link: k, Seq: 1, N: 2}, nil)
	l.Step(Event{Kind: EvOffer, Attempt: attemptOf(1, 1, 10), Refs: []page.Ref{ref}}, nil)
	for n, tokens := range []int{2: 3, 3: 1} {
		if tokens == 0 {
			continue
		}
		a := attemptOf(1, uint64(n), 20)
		m := Message{Kind: MsgOffer, Attempt: a, From: 20, To: 10, Epoch: 1, Total: (tokens + 1) / 2}
		ev := Event{Kind: EvExpect, Attempt: a, Link: k, Seq: page.Seq(n), To: 10, Tokens: tokens}
		for i := range m.Total {
			ev.Hashes = append(ev.Hashes, page.Hash{9, byte(i)})
			m.Pages = append(m.Pages, Offer{Ref: page.Ref{Node: 2, Incarnation: 20, Generation: 1}, Chain: ev.Hashes[i], Fill: min(2, tokens-2*i)})
		}
		l.Step(ev, nil)
		l.Step(Event{Kind: EvMessage, Link: k, Message: m}, nil)
	}
	l.Step(Event{Kind: EvRead, Job: 1}, nil)
	l.Step(Event{Kind: EvCancel, Attempt: attemptOf(1, 3, 20)}, nil)
	l.Step(Event{Kind: EvCancel, Attempt: attemptOf(1, 4, 20)}, nil)
	if got := l.Owners(3); got != "Quarantined @1: read 3, import 1.3@14" || l.imports[0].accepted != 1 || l.stats.StaleTotal() != 0 {
		t.Fatalf("not as described: %s, %+v", got, l.stats)
	}
	return l
}

// TestCheckSeesHandOff breaks the hand-off from inside, one fact at a time, and wants Check to name the invariant.
func TestCheckSeesHandOff(t *testing.T) {
	for _, c := range []struct {
		what, want string
		do         func(l *Ledger)
	}{
		{"an exported page that is not Resident", "I1", func(l *Ledger) { l.leaveIndex(0); l.move(&l.pages[0], Allotted) }},
		{"an export that forgets a page", "I8", func(l *Ledger) { l.exports[0].given = 0 }},
		{"an export to a life that has ended", "I8", func(l *Ledger) { l.links[0].dead, l.links[0].up = true, false }},
		{"a promise that is not counted", "I10", func(l *Ledger) { l.promised-- }},
		{"an export that cannot be found", "I1", func(l *Ledger) { delete(l.exportOf, attemptOf(1, 1, 10)) }},
		{"an export that its sequence does not know", "I11", func(l *Ledger) { delete(l.exportsBy, 1) }},
		{"an import that cannot be found", "I1", func(l *Ledger) { delete(l.importOf, attemptOf(1, 2, 20)) }},
		{"an import over a link that is not up", "I7", func(l *Ledger) { l.links[0].up = false }},
		{"a read that is not counted", "I7", func(l *Ledger) { l.imports[0].out-- }},
		{"a read that nobody waits for", "I4", func(l *Ledger) { l.imports[0].places[1].ok = true }},
		{"a read into a page that has gone elsewhere", "I4", func(l *Ledger) { l.own.unlink(l.own.edges[l.pages[2].edges].pageNext, &l.pages[2]) }},
		{"a page given away while a read is out", "I4", func(l *Ledger) { l.move(&l.pages[2], Resident) }},
		{"a page that an ended import did not quarantine", "I8", func(l *Ledger) { l.move(&l.pages[3], Importing) }},
		{"a place that has another's page", "I4", func(l *Ledger) { l.imports[0].places[1].page = 3 }},
		{"a page taken for this node's own", "I5", func(l *Ledger) { l.imports[0].own = 1 }},
		{"an offer that is not counted", "I9", func(l *Ledger) { l.imports[0].covered-- }},
		{"a page accepted that is not counted", "I9", func(l *Ledger) { l.imports[0].accepted = 0 }},
		{"an import that is closed", "I9", func(l *Ledger) { l.bury(attemptOf(1, 2, 20), verdict{status: Done}) }},
		{"an export that is closed", "I9", func(l *Ledger) { l.bury(attemptOf(1, 1, 10), verdict{status: Done}) }},
		{"a tombstone out of its list", "I9", func(l *Ledger) { l.tombs[l.oldest].prev = 0 }},
		{"more tombstones than may be", "I9", func(l *Ledger) { l.maxTombs = 0 }},
		{"a link that is not its peer's latest", "I7", func(l *Ledger) { l.peers[0].epoch++ }},
		{"an imported page with a reader", "I2", func(l *Ledger) { l.own.link(l.own.enrol(sequence(8)), 1, &l.pages[1]) }},
	} {
		t.Run(c.what, func(t *testing.T) {
			l := handing(t)
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

// TestAppendState: what makes no difference for the future is not in the encoding, and what makes one is.
func TestAppendState(t *testing.T) {
	k := Link{Peer: 2, Incarnation: 20, Epoch: 1}
	base := handing(t).AppendState(nil)
	for _, c := range []struct {
		what string
		same bool
		ev   Event
	}{
		{"a tick", true, Event{Kind: EvTick}},
		{"a stale read", true, Event{Kind: EvRead, Job: 1}},
		{"a cancel that came before", true, Event{Kind: EvCancel, Attempt: attemptOf(1, 4, 20)}},
		{"a new cancel", false, Event{Kind: EvCancel, Attempt: attemptOf(1, 5, 20)}},
		{"a cancel of an import", false, Event{Kind: EvCancel, Attempt: attemptOf(1, 2, 20)}},
		{"a revoke", false, Event{Kind: EvRevoke, Attempt: attemptOf(1, 1, 10)}},
		{"a read", false, Event{Kind: EvRead, Job: 2}},
		{"a late read", false, Event{Kind: EvRead, Job: 3}},
		{"a reservation", false, Event{Kind: EvReserve, Attempt: attemptOf(1, 9, 10), Link: k, Seq: 9, N: 1}},
		{"an expectation", false, Event{Kind: EvExpect, Attempt: attemptOf(1, 9, 20), Link: k, Seq: 9, To: 10, Tokens: 1, Hashes: []page.Hash{{3}}}},
		{"a lost link", false, Event{Kind: EvLost, Link: k}},
		{"another peer", false, Event{Kind: EvConnected, Link: Link{Peer: 3, Incarnation: 30, Epoch: 1}}},
		{"an allotment", false, Event{Kind: EvAllot, N: 1}},
	} {
		l := handing(t)
		c2 := l.Clone()
		l.Step(c.ev, nil)
		if got := bytes.Equal(l.AppendState(nil), base); got != c.same {
			t.Errorf("%s: the same state: %v", c.what, got)
		}
		if !bytes.Equal(c2.AppendState(nil), base) {
			t.Errorf("%s changed the clone", c.what)
		}
	}
	// The order of cancels, the records that attempts happen to have, and the numbers of jobs leave no trace.
	x, y := handing(t), handing(t)
	for i, l := range []*Ledger{x, y} {
		for n := range 2 {
			l.Step(Event{Kind: EvCancel, Attempt: attemptOf(1, uint64(20+(n+i)%2), 20)}, nil)
		}
		if i == 1 { // an attempt that has come and gone
			l.Step(Event{Kind: EvReserve, Attempt: attemptOf(1, 40, 10), Link: k, Seq: 9, N: 1}, nil)
		}
		for n := range uint64(2) {
			l.Step(Event{Kind: EvReserve, Attempt: attemptOf(1, 30+n, 10), Link: k, Seq: 9, N: 1}, nil)
		}
		if i == 0 {
			l.Step(Event{Kind: EvReserve, Attempt: attemptOf(1, 40, 10), Link: k, Seq: 9, N: 1}, nil)
		}
		l.Step(Event{Kind: EvMessage, Link: k, Message: Message{Kind: MsgRelease, Attempt: attemptOf(1, 40, 10), From: 20, To: 10, Epoch: 1, Status: Cancelled}}, nil)
	}
	y.jobs += 100
	if !bytes.Equal(x.AppendState(nil), y.AppendState(nil)) {
		t.Error("what is over makes a difference")
	}
	// The order of those that live does: if their link is fenced their pages go home in it.
	x, y = handing(t), handing(t)
	for i, l := range []*Ledger{x, y} {
		for n := range 2 {
			l.Step(Event{Kind: EvReserve, Attempt: attemptOf(1, uint64(30+(n+i)%2), 10), Link: k, Seq: 9, N: 1}, nil)
		}
	}
	if bytes.Equal(x.AppendState(nil), y.AppendState(nil)) {
		t.Error("the order of live attempts makes no difference")
	}
}

// FuzzHandOff throws arbitrary events of small numbers at a ledger: it must neither panic nor break.
func FuzzHandOff(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(noise(seed, 300)) // short: what is found is made smaller byte by byte, and nothing else is tried meanwhile
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1024 {
			t.Skip("longer is not different")
		}
		playNoise(t, data)
	})
}

// TestArbitraryHandOffs does the same with noise.
func TestArbitraryHandOffs(t *testing.T) {
	var s Stats
	for seed := range uint64(150) {
		got := playNoise(t, noise(seed, 6000))
		for i := range s.Exported {
			s.Exported[i] += got.Exported[i]
			s.ImportsEnded[i] += got.ImportsEnded[i]
		}
		s.Imported += got.Imported
		s.ImportHits += got.ImportHits
		s.CopiedOut += got.CopiedOut
		s.Restored += got.Restored
		s.RestoresRejected += got.RestoresRejected
	}
	if s.Imported == 0 || s.Exported[Lost] == 0 || s.Exported[Refused]+s.Exported[Mismatch]+s.Exported[Cancelled] == 0 || s.ImportsEnded[Mismatch] == 0 || s.ImportsEnded[Cancelled] == 0 ||
		s.ImportHits*s.CopiedOut*s.Restored*s.RestoresRejected == 0 {
		t.Error("the noise met too little")
	}
	t.Logf("exported %v, imports ended %v, pages imported %d and %d had, copied out %d, restored %d, rejected %d",
		s.Exported, s.ImportsEnded, s.Imported, s.ImportHits, s.CopiedOut, s.Restored, s.RestoresRejected)
}

func playNoise(t *testing.T, data []byte) Stats {
	d := &decoder{data: data}
	l, err := New(Config{
		Node: 1, Incarnation: 1, Pages: 1 + d.small(8), PrefixCache: d.small(4) > 0, Scrub: d.small(3) == 0, PageSize: 2, MaxTombstones: d.small(4) - 1, ExportQuota: d.small(5),
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{ledger: l, twin: newTwin(l.cfg)}
	for len(d.data) > 0 {
		for i := range l.pages { // so that refs are often right
			p.twin.pages[i].gen = l.pages[i].gen
		}
		l.Step(d.handOff(p), nil)
		if err := l.Check(); err != nil {
			t.Fatal(err)
		}
	}
	return l.Stats()
}

func (d *decoder) handOff(p *pair) Event {
	switch d.small(8) {
	case 0, 1:
		return d.event(p)
	case 2, 3:
		return d.likely(p)
	}
	peer := 2 + d.small(2)
	k := Link{Peer: page.Node(peer), Incarnation: page.Incarnation(peer), Epoch: 1 + p.ledger.now/300 + uint64(d.small(32)/31)}
	a := Attempt{Gateway: 1, Number: 1 + p.ledger.now/30 + uint64(d.small(2)), Prefill: page.Incarnation([]int{1, peer}[d.small(2)])}
	kind := EvConnected + EventKind(d.small(int(EvCopyOut-EvConnected)))
	if kind < EvMessage && d.small(24) > 0 {
		kind = []EventKind{EvConnected, EvMessage, EvMessage, EvRead, EvExpect, EvExpect}[d.small(6)]
	}
	ev := Event{
		Kind: kind, Link: k, Attempt: a, Seq: page.Seq(1 + d.small(3)), N: 1 + d.small(3), To: 1, Tokens: 1 + int(a.Number)%5,
		Last: d.small(2) == 0, Failed: d.small(6) == 0, Job: p.ledger.jobs - uint64(d.small(4)),
	}
	for range (ev.Tokens + 1) / 2 {
		ev.Hashes = append(ev.Hashes, page.Hash{byte(len(ev.Hashes))})
	}
	if a.Prefill == 1 {
		ev.N = len(ev.Hashes)
	}
	for range d.small(3) {
		ev.Refs = append(ev.Refs, d.ref(p))
	}
	m := Message{Kind: []MessageKind{MsgOffer, MsgOffer, MsgOffer, MsgRelease, MsgRevoke, 4}[d.small(6)], Attempt: a, From: k.Incarnation, To: 1, Epoch: k.Epoch, Total: (ev.Tokens + 1) / 2, Status: Status(d.small(6))}
	m.Group = d.small(m.Total)
	m.First = m.Group
	for i := range 1 + d.small(8)/7 {
		m.Pages = append(m.Pages, Offer{
			Ref: page.Ref{Node: k.Peer, Incarnation: k.Incarnation, Generation: 1}, Chain: page.Hash{byte(m.First + i)}, Fill: min(2, ev.Tokens-2*(m.First+i)),
		})
	}
	if m.Group == m.Total-1 != (d.small(8) == 0) {
		m.Seal = &SealOf{Groups: m.Group + 1, Tokens: ev.Tokens}
	}
	if d.small(8) == 0 {
		n := []int{-1, 1 << 62, -1 << 63, 1<<31 - 1}[d.small(4)]
		*[]*int{&m.Total, &m.Group, &m.First, &ev.N, &ev.Tokens, &m.Page}[d.small(6)] = n
	}
	ev.Message = m
	return ev
}

// likely is an event that a page is ready for: what is allotted is spent, what is filled is sealed, and what is out comes to its end.
func (d *decoder) likely(p *pair) Event {
	l := p.ledger
	i := page.Index(d.small(len(l.pages)))
	s, ref := &l.pages[i], l.ref(i)
	ev := Event{Kind: EvAllot, N: 1 + d.small(2)}
	last := none
	if s.edges != none {
		last = l.own.edges[s.edges].owner
	}
	switch s.state {
	case Allotted:
		ev = Event{Kind: EvSpend, Spends: []page.Spend{{Ref: ref, Seq: page.Seq(1 + d.small(3))}}}
	case Filling:
		ev = Event{Kind: EvSeal, Seals: []Seal{{Ref: ref, Seq: page.Seq(l.own.recs[last].name.Number), Chain: page.Hash{byte(d.small(3))}, Full: d.small(4) > 0}}}
	case Resident:
		ev = Event{Kind: EvCopyOut, Refs: []page.Ref{ref, d.ref(p)}}
	case Quarantined:
		ev = Event{Kind: EvScrubbed, Ref: ref}
	}
	if last == none {
		return ev
	}
	switch name := l.own.recs[last].name; name.Kind {
	case Sequence:
		if s.state == Resident && d.small(2) == 0 {
			ev = Event{Kind: EvRelease, Seq: page.Seq(name.Number)}
		}
	case Verify:
		ev = Event{Kind: EvVerified, Job: name.Number}
		if d.small(8) == 0 {
			ev.Bad = []int{0}
		}
	case Read:
		ev = Event{Kind: EvRead, Job: name.Number, Failed: d.small(8) == 0}
	case Copy:
		ev = Event{Kind: EvCopied, Job: name.Number}
	case Restore:
		ev = Event{Kind: EvRestored, Job: name.Number}
		d.copies(p, &ev)
	}
	return ev
}

func attemptOf(gateway, number uint64, prefill page.Incarnation) Attempt {
	return Attempt{Gateway: gateway, Number: number, Prefill: prefill}
}
