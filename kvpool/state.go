package kvpool

import (
	"encoding/binary"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// Clone returns a ledger of its own that will behave as l does from now on.
func (l *Ledger) Clone() *Ledger {
	c := *l
	c.fx, c.refs, c.checks, c.run, c.offers = nil, nil, nil, nil, nil
	c.pages, c.groups = append([]slot(nil), l.pages...), append([]group(nil), l.groups...)
	c.index.places = append([]indexPlace(nil), l.index.places...)
	c.own.recs, c.own.edges = append([]ownerRec(nil), l.own.recs...), append([]edge(nil), l.own.edges...)
	c.own.names = newNames()
	for i := range c.own.recs {
		if name := c.own.recs[i].name; name.Kind != 0 {
			c.own.names.put(name, int32(i))
		}
	}
	c.handoff = l.handoff.clone()
	return &c
}

func (h *handoff) clone() handoff {
	c := *h
	c.links, c.peers = append([]link(nil), h.links...), append([]peer(nil), h.peers...)
	c.exports, c.imports = append([]export(nil), h.exports...), append([]importing(nil), h.imports...)
	c.linkOrder, c.exportOrder, c.importOrder = h.linkOrder.clone(), h.exportOrder.clone(), h.importOrder.clone()
	c.tombs, c.marks = append([]tomb(nil), h.tombs...), append([]mark(nil), h.marks...)
	c.byLink, c.byPeer = make(map[Link]int32, len(h.byLink)), make(map[page.Node]int32, len(h.byPeer))
	c.exportOf, c.importOf = make(map[Attempt]int32, len(h.exportOf)), make(map[Attempt]int32, len(h.importOf))
	c.exportsBy = make(map[page.Seq]int32, len(h.exportsBy))
	c.tombOf, c.markOf = make(map[Attempt]int32, len(h.tombOf)), make(map[markKey]int32, len(h.markOf))
	for i := range c.links {
		if c.links[i].used {
			c.byLink[c.links[i].name] = int32(i)
		}
	}
	for i := range c.peers {
		c.byPeer[c.peers[i].node] = int32(i)
	}
	for i := range c.exports {
		if x := &c.exports[i]; x.used {
			c.exportOf[x.attempt] = int32(i)
			c.exportsBy[x.seq] = h.exportsBy[x.seq]
		}
	}
	for i := range c.imports {
		x := &c.imports[i]
		x.places, x.kept = append([]place(nil), x.places...), append([]Offer(nil), x.kept...)
		if x.used {
			c.importOf[x.attempt] = int32(i)
		}
	}
	for i := c.oldest; i != none; i = c.tombs[i].next {
		c.tombOf[c.tombs[i].attempt] = i
	}
	for i := range c.marks {
		c.markOf[c.marks[i].markKey] = int32(i)
	}
	return c
}

// AppendState appends an encoding of all that decides what the ledger will do. Two ledgers of one Config with equal encodings answer the same further events with the same
// effects, but for the numbers of jobs and the order in which one event fails several sequences.
//
// In it: of each page, by its number, the state, generation, and as far as they count domain, chain, checksum and which indexed pages would be kept if it turned out
// bad; the orders of the free list and of the idle list, and the patrol's place; sequences with their pages in order; checks and copy jobs with theirs, known by their
// pages and not by their numbers; whether anything was copied out, and what was said against copies; links, exports and imports as they began, a read in flight being known by its place; peers; tombstones (in order of
// age only where Config.MaxTombstones bounds them expressly) and watermarks.
//
// Not in it: Stats, the count of steps and of jobs, the places of records in arrays, the order of a page's owners. Pages that differ in number alone make a difference. It
// is meant for small worlds: its cost grows with the square of what it encodes.
func (l *Ledger) AppendState(dst []byte) []byte {
	e := &encoder{l: l, b: dst}
	for i := range l.pages {
		e.page(page.Index(i))
	}
	for k := range l.groups {
		g := &l.groups[k]
		for i := g.free; i != none; i = l.pages[i].next {
			e.num(int(i))
		}
		e.num(-1)
		for i := g.idle.head; i != none; i = l.pages[i].next {
			e.num(int(i))
		}
		e.num(-1, int(g.idle.patrol))
	}
	e.num(l.alarms)
	e.flag(l.copies)
	e.set(len(l.own.recs), e.owner)
	for i := range l.linkOrder.all() {
		e.link(i)
	}
	e.num(-1)
	e.set(len(l.peers), func(i int) { e.u64(uint64(l.peers[i].node), uint64(l.peers[i].incarnation), l.peers[i].epoch) })
	for i := range l.exportOrder.all() {
		e.export(i)
	}
	e.num(-1)
	for i := range l.importOrder.all() {
		e.importing(i)
	}
	e.num(-1)
	if l.cfg.MaxTombstones != 0 {
		for i := l.oldest; i != none; i = l.tombs[i].next {
			e.tomb(&l.tombs[i])
		}
		e.num(-1)
	} else {
		e.set(len(l.tombs), func(i int) {
			if l.tombs[i].attempt.Valid() {
				e.tomb(&l.tombs[i])
			}
		})
	}
	e.set(len(l.marks), func(i int) { e.u64(uint64(l.marks[i].prefill), l.marks[i].gateway, l.marks[i].number) })
	return e.b
}

// encoder appends to b.
type encoder struct {
	l *Ledger
	b []byte
}

func (e *encoder) u64(n ...uint64) {
	for _, x := range n {
		e.b = binary.AppendUvarint(e.b, x)
	}
}

func (e *encoder) num(n ...int) {
	for _, x := range n {
		e.b = binary.AppendVarint(e.b, int64(x))
	}
}

func (e *encoder) flag(f ...bool) {
	for _, x := range f {
		if x {
			e.b = append(e.b, 1)
		} else {
			e.b = append(e.b, 0)
		}
	}
}

func (e *encoder) attempt(a Attempt) { e.u64(a.Gateway, a.Number, uint64(a.Prefill)) }

func (e *encoder) verdict(v verdict) { e.num(int(v.status), v.page, v.have, v.max) }

// set appends n records in an order that is theirs, whatever their places. A record that writes nothing is not there.
func (e *encoder) set(n int, record func(i int)) {
	start := len(e.b)
	var all []string
	for i := range n {
		record(i)
		if len(e.b) == start {
			continue
		}
		x := string(e.b[start:])
		e.b = e.b[:start]
		all = append(all, x)
		for k := len(all) - 1; k > 0 && all[k-1] > x; k-- {
			all[k-1], all[k] = x, all[k-1]
		}
	}
	e.num(len(all))
	for _, x := range all {
		e.b = append(e.b, x...)
	}
}

func (e *encoder) page(i page.Index) {
	s := &e.l.pages[i]
	e.num(int(s.state))
	e.u64(uint64(s.gen))
	switch s.state {
	case Resident:
		e.u64(uint64(s.domain), uint64(s.checksum))
		e.b = append(e.b, s.chain[:]...)
		e.flag(s.full, s.indexed)
		e.older(s.proved, func(a *slot) bool { return a.domain == s.domain })
	case Importing:
		if s.pins > 0 || e.l.accepted(s) {
			e.u64(uint64(s.checksum))
		}
	case Restoring:
		e.u64(uint64(s.domain), uint64(s.checksum))
		e.b = append(e.b, s.chain[:]...)
	}
}

// older appends which indexed pages were sealed no later than a Step: what is left of the clock.
func (e *encoder) older(than uint64, which func(a *slot) bool) {
	for i := range e.l.pages {
		if a := &e.l.pages[i]; a.indexed && a.sealed <= than && which(a) {
			e.num(i)
		}
	}
	e.num(-1)
}

// owner appends a sequence or a check.
func (e *encoder) owner(i int) {
	rec := &e.l.own.recs[i]
	switch rec.name.Kind {
	case Sequence:
		e.u64(1, rec.name.Number)
		e.flag(rec.failed)
		e.slid(rec)
	case Verify:
		e.u64(2)
		e.partner(rec)
		e.num(int(rec.prefix))
		e.older(rec.since, func(*slot) bool { return true })
		e.set(len(e.l.own.recs), func(i int) {
			if q := &e.l.own.recs[i]; q.slid > 0 && q.slid <= rec.since {
				e.u64(q.name.Number)
			}
		})
	case Copy:
		e.u64(3)
	case Restore:
		e.u64(4)
		e.partner(rec)
		e.flag(rec.failed)
	default:
		return
	}
	for x := rec.head; x != none; x = e.l.own.edges[x].ownNext {
		e.num(int(e.l.own.edges[x].page))
	}
	e.num(-1)
}

// slid appends which pages, if they turn out bad, a sequence may have read before they slid out of its window.
func (e *encoder) slid(rec *ownerRec) {
	for i := range e.l.pages {
		if s := &e.l.pages[i]; s.state == Resident && rec.slid > s.proved && rec.domain == s.domain {
			e.num(i)
		}
	}
	e.num(-1)
}

// partner appends the sequence or the attempt that waits for a job.
func (e *encoder) partner(rec *ownerRec) {
	if rec.partner == none {
		e.u64(0)
		return
	}
	name := e.l.own.recs[rec.partner].name
	e.u64(uint64(name.Kind))
	if name.Kind == Import {
		e.attempt(e.l.imports[name.Number].attempt)
	} else {
		e.u64(name.Number)
	}
}

func (e *encoder) link(i int32) {
	k := &e.l.links[i]
	e.num(0)
	e.linkName(i)
	e.flag(k.up, k.dead)
}

func (e *encoder) linkName(i int32) {
	k := e.l.links[i].name
	e.u64(uint64(k.Peer), uint64(k.Incarnation), k.Epoch)
}

func (e *encoder) seal(s SealOf) { e.num(s.Groups, s.Tokens, int(s.First)) }

func (e *encoder) export(i int32) {
	x := &e.l.exports[i]
	e.num(0)
	e.attempt(x.attempt)
	e.linkName(x.link)
	e.u64(uint64(x.seq))
	e.num(x.total, x.given, x.groups)
	e.flag(x.sealed, x.revoked)
	e.seal(x.seal)
	e.held(exporter(i))
}

func (e *encoder) importing(i int32) {
	x := &e.l.imports[i]
	e.num(0)
	e.attempt(x.attempt)
	e.linkName(x.link)
	e.num(int(x.phase), x.tokens)
	e.u64(uint64(x.seq), uint64(x.domain))
	e.flag(x.sealed)
	e.seal(x.seal)
	e.verdict(x.verdict)
	if x.phase == draining {
		e.held(importer(i))
		return
	}
	e.num(len(x.places), x.own, int(x.spare))
	for at, p := range x.places {
		e.b = append(e.b, p.chain[:]...)
		e.num(int(p.page), int(p.group))
		e.flag(p.ok)
		if at < x.own && p.group != none {
			o := &x.kept[at]
			e.u64(uint64(o.Ref.Page), uint64(o.Ref.Generation), uint64(o.Checksum))
		}
	}
}

// held appends the pages of an export or import, with their groups or places.
func (e *encoder) held(name Owner) {
	if r := e.l.own.find(name); r != none {
		for x := e.l.own.recs[r].head; x != none; x = e.l.own.edges[x].ownNext {
			e.num(int(e.l.own.edges[x].page), int(e.l.own.edges[x].at))
		}
	}
	e.num(-1)
}

func (e *encoder) tomb(t *tomb) {
	e.attempt(t.attempt)
	e.verdict(t.verdict)
}

// accepted reports whether the bytes of an Importing page have come and are those that were offered.
func (l *Ledger) accepted(s *slot) bool {
	e := &l.own.edges[s.edges]
	name := l.own.recs[e.owner].name
	return name.Kind == Import && int(e.at) < len(l.imports[name.Number].places) && l.imports[name.Number].places[e.at].ok
}
