package kvpool

import "github.com/kvasir-engine/kvasir/kvpool/page"

// importing is one attempt of which this node is the decode node. While it has pages they are those of its owner record.
type importing struct {
	attempt  Attempt
	used     bool
	phase    phase
	link     int32
	seq      page.Seq
	domain   page.Domain
	tokens   int
	places   []place // of the prompt's pages, in order; a spare record keeps the memory
	spare    int32   // the page for the answer, or none
	out      int     // reads that may still land
	covered  int     // places offered
	accepted int
	sealed   bool
	seal     SealOf
	verdict  verdict // in draining
	next     int32   // spare records

	// [0, own)     places of pages that this node had: not read, accepted when they are verified
	// [own, ...)   places of pages that are read from the peer
	own     int
	kept    []Offer // of the places [0, own) that were offered: they may have to be read yet
	spoiled int     // the first place whose own page turned out bad in this step, or what own was
}

// phase is how far an import is. It has pages from reading on.
type phase uint8

const (
	expecting phase = iota // no offer has come
	reading
	draining // it has ended; reads are out
)

// place is one page of the prompt.
type place struct {
	chain page.Hash // as the gateway's tokens say
	page  int32     // reserved for it, or this node's own; none: not yet
	group int32     // that offered it, or none
	ok    bool      // the page was read as offered, or verified
}

func importer(i int32) Owner   { return Owner{Import, uint64(i)} }
func readJob(job uint64) Owner { return Owner{Read, job} }

// expect takes the gateway's word of what a prompt is. It reserves nothing: that is for the first offer.
func (l *Ledger) expect(ev *Event) {
	n, size := len(ev.Hashes), l.cfg.PageSize
	if !ev.Attempt.Valid() || ev.Seq == 0 || size < 1 || n < 1 || ev.Tokens <= (n-1)*size || ev.Tokens > n*size {
		l.stale(EvExpect, Malformed)
		return
	}
	if _, alive := l.importOf[ev.Attempt]; alive {
		l.stale(EvExpect, Repeated)
		return
	}
	refusal := Effect{Kind: FxRefused, Attempt: ev.Attempt, Seq: ev.Seq}
	i := l.upLink(ev.Link)
	switch {
	case ev.To != l.cfg.Incarnation:
		l.stale(EvExpect, WrongIncarnation)
		refusal.Status = Cancelled
	case l.closed(ev.Attempt):
		l.refuseAgain(&refusal)
	case ev.Attempt.Prefill != ev.Link.Incarnation:
		l.stale(EvExpect, WrongIncarnation)
		refusal.Status = Cancelled
		l.closeRefused(ev.Attempt, verdict{status: Cancelled})
	case i == none:
		l.stale(EvExpect, WrongLink)
		refusal.Status = Lost
		l.closeRefused(ev.Attempt, verdict{status: Cancelled})
	default:
		m := l.spareImport
		if m == none {
			m = int32(len(l.imports))
			l.imports = append(l.imports, importing{})
		} else {
			l.spareImport = l.imports[m].next
		}
		x := &l.imports[m]
		*x = importing{
			attempt: ev.Attempt, used: true, link: i, seq: ev.Seq, domain: ev.Domain, tokens: ev.Tokens, places: x.places[:0], spare: none, kept: x.kept[:0],
			next: none,
		}
		for _, h := range ev.Hashes {
			x.places = append(x.places, place{chain: h, page: none, group: none})
		}
		l.importOf[ev.Attempt] = m
		l.importOrder.add(m)
		return
	}
	l.emit(refusal)
}

// offered takes a group. First it is judged whole, then pages are reserved if it is the first, then all its pages are read.
func (l *Ledger) offered(link int32, m *Message) Reason {
	i, alive := l.importOf[m.Attempt]
	if !alive {
		return l.answer(link, m.Attempt)
	}
	x := &l.imports[i]
	switch {
	case x.link != link:
		return WrongLink
	case x.phase == draining:
		return WrongState
	}
	switch at, fit := x.judge(m, &l.links[link].name, l.cfg.PageSize); {
	case fit == again:
		return Repeated
	case fit == wrong:
		l.stop(i, verdict{status: Mismatch, page: at})
		return 0
	}
	if x.phase == expecting && !l.reserveImport(i) {
		return 0
	}
	if m.Seal != nil {
		x.sealed, x.seal = true, *m.Seal
	}
	l.readGroup(i, m)
	l.start(i)
	return 0
}

type fit uint8

const (
	fits fit = iota
	again
	wrong
)

// judge holds an offer against what the gateway said and what was offered before. If it is wrong it names the page's place, or -1.
//
// A group that repeats the places of one known is not looked at again: the first offer of a page counts.
func (x *importing) judge(m *Message, peer *Link, pageSize int) (int, fit) {
	total, n := len(x.places), len(m.Pages)
	switch {
	case m.Total != total, m.Group < 0, m.Group > total, n > total, m.First < 0, m.First > total-n:
		return -1, wrong
	case n == 0 && m.Seal == nil:
		return -1, wrong
	case n == 0 && x.sealed && x.seal == *m.Seal, n > 0 && x.has(m.Group, m.First, n):
		return 0, again
	case n > 0 && x.joins(m.Group, m.First, n):
		return m.First, wrong
	case m.Seal != nil && (x.sealed || m.Seal.Tokens != x.tokens || m.Seal.Groups != m.Group+1):
		return -1, wrong
	}
	for k := range m.Pages {
		o, at := &m.Pages[k], m.First+k
		p := &x.places[at]
		fill := min(pageSize, x.tokens-at*pageSize)
		if p.group != none || o.Chain != p.chain || o.Fill != fill ||
			o.Ref.Node != peer.Peer || o.Ref.Incarnation != peer.Incarnation || o.Ref.Generation == 0 {
			return at, wrong
		}
	}
	return 0, fits
}

// has reports whether exactly the n places from first on were offered as that group.
func (x *importing) has(group, first, n int) bool {
	for _, p := range x.places[first : first+n] {
		if int(p.group) != group {
			return false
		}
	}
	return !x.joins(group, first, n)
}

// joins reports whether a place next to these belongs to that group.
func (x *importing) joins(group, first, n int) bool {
	return first > 0 && int(x.places[first-1].group) == group || first+n < len(x.places) && int(x.places[first+n].group) == group
}

// whole reports whether groups 0, 1, ... have offered the prompt without a gap, and the seal says the same.
//
// Preconditions: every place is offered, and the seal known.
func (x *importing) whole() bool {
	group := 0
	for k, p := range x.places {
		if k > 0 && int(p.group) == group+1 {
			group++
		}
		if int(p.group) != group {
			return false
		}
	}
	return x.seal.Groups == group+1 || x.seal.Groups == group+2 // the last group may hold the seal alone
}

// spares is how many pages an import takes beyond its prompt's: one for the answer if the last has no room.
func (x *importing) spares(pageSize int) int {
	if x.tokens == len(x.places)*pageSize {
		return 1
	}
	return 0
}

// reserveImport takes all pages that an import will need, or none and refuses. It never waits: two nodes that wait for each other's pages would do so for ever.
func (l *Ledger) reserveImport(i int32) bool {
	x := &l.imports[i]
	l.takeOwn(i)
	need := len(x.places) + x.spares(l.cfg.PageSize) - x.own
	if can := l.available(&l.groups[0], need); can < need {
		l.stop(i, verdict{status: Refused, have: need, max: can})
		return false
	}
	l.evict(&l.groups[0], need-l.groups[0].frees)
	for at := x.own; at < len(x.places); at++ {
		l.reservePlace(i, at)
	}
	if x.spares(l.cfg.PageSize) > 0 {
		x.spare = l.importPage(i, len(x.places))
	}
	x.phase = reading
	l.verifyOwn(i)
	return true
}

func (l *Ledger) reservePlace(i int32, at int) { l.imports[i].places[at].page = l.importPage(i, at) }

// importPage takes a page for a place of an import. Preconditions: one is Free.
func (l *Ledger) importPage(i int32, at int) int32 {
	p := l.takeFree(&l.groups[0])
	s := &l.pages[p]
	l.move(s, Importing)
	l.own.link(l.own.enrol(importer(i)), p, s)
	l.own.edges[s.edges].at = int32(at)
	return int32(p)
}

// readGroup reads the pages of a group that was judged to fit, each into the page reserved for its place (I4); what this node has itself is not read.
func (l *Ledger) readGroup(i int32, m *Message) {
	x := &l.imports[i]
	for k := range m.Pages {
		at := m.First + k
		x.places[at].group = int32(m.Group)
		x.covered++
		if at < x.own {
			x.kept[at] = m.Pages[k]
		} else {
			l.readPlace(i, at, &m.Pages[k])
		}
	}
}

func (l *Ledger) readPlace(i int32, at int, o *Offer) {
	x := &l.imports[i]
	p := page.Index(x.places[at].page)
	s := &l.pages[p]
	s.chain, s.checksum = o.Chain, o.Checksum
	l.jobs++
	l.own.link(l.own.enrol(readJob(l.jobs)), p, s)
	l.own.edges[s.edges].at = int32(at)
	x.out++
	l.emit(Effect{
		Kind: FxRead, Job: l.jobs, Attempt: x.attempt, Link: l.links[x.link].name, Src: o.Ref, Dst: l.ref(p), Checksum: o.Checksum,
	})
}

// read ends one read. The page is accepted if the bytes that landed are those that were offered; a missing checksum is none that fits.
func (l *Ledger) read(job uint64, failed bool, checksum uint32) {
	r := l.own.find(readJob(job))
	if r == none {
		l.stale(EvRead, NoSuchJob)
		return
	}
	e := l.own.recs[r].head
	p, at := l.own.edges[e].page, int(l.own.edges[e].at)
	s := &l.pages[p]
	l.own.unlink(e, s)
	i := int32(l.own.recs[l.own.edges[s.edges].owner].name.Number) // the import is its only owner now
	x := &l.imports[i]
	x.out--
	switch {
	case x.phase == draining:
		l.letGo(s.edges)
		if x.out == 0 {
			l.endImport(i, x.verdict)
		}
	case failed || checksum != s.checksum:
		l.stats.ReadsRejected++
		x.places[at].page = none
		l.move(s, Quarantined)
		l.letGo(s.edges)
		l.stop(i, verdict{status: Mismatch, page: at})
	default:
		l.stats.Imported++
		x.places[at].ok = true
		x.accepted++
		l.start(i)
	}
}

// start turns an import into a sequence when every page is accepted and the seal covers exactly these (I9).
func (l *Ledger) start(i int32) {
	x := &l.imports[i]
	if !x.sealed || x.accepted < len(x.places) || x.covered < len(x.places) {
		return
	}
	switch {
	case !x.whole():
		l.stop(i, verdict{status: Mismatch, page: -1})
		return
	case l.own.find(sequence(x.seq)) != none: // it has begun otherwise: the scheduler's doing
		l.stop(i, verdict{status: Cancelled})
		return
	}
	seq, reader, from := l.own.enrol(sequence(x.seq)), l.own.find(importer(i)), len(l.refs)
	fx := Effect{Kind: FxStart, Attempt: x.attempt, Seq: x.seq, N: len(x.places), Have: x.own, First: x.seal.First}
	for k := range x.places {
		p := page.Index(x.places[k].page)
		s := &l.pages[p]
		l.own.unlink(l.own.edgeOf(reader, s), s)
		l.own.link(seq, p, s)
		if k >= x.own {
			l.arrived(p, x, (k+1)*l.cfg.PageSize <= x.tokens)
		}
		l.refs = append(l.refs, l.ref(p))
	}
	if x.spare != none {
		s := &l.pages[x.spare]
		l.own.unlink(s.edges, s)
		l.move(s, Allotted)
		fx.Spare = l.ref(page.Index(x.spare))
	}
	fx.Refs = l.refs[from:len(l.refs):len(l.refs)]
	l.emit(fx)
	l.stats.ImportsEnded[Done]++
	l.endImport(i, verdict{status: Done})
}

// arrived makes an accepted page its sequence's: read only if it is full, and else to be filled further.
func (l *Ledger) arrived(p page.Index, x *importing, full bool) {
	s := &l.pages[p]
	if !full {
		l.move(s, Filling)
		return
	}
	s.domain, s.full = x.domain, true // I5: the chain is the gateway's word
	s.sealed, s.proved = l.now, l.now
	l.move(s, Resident)
	l.enter(p)
}

// stop ends an import that has not started. Pages into which a read may still land stay until that is over (I8), and only then is the attempt released (I7).
// The first reason counts; stop reports whether this is it.
func (l *Ledger) stop(i int32, v verdict) bool {
	x := &l.imports[i]
	if x.phase == draining {
		return false
	}
	x.phase, x.verdict = draining, v
	l.stats.ImportsEnded[v.status]++
	l.emit(Effect{Kind: FxImportEnded, Attempt: x.attempt, Seq: x.seq, Status: v.status, Page: v.page, Have: v.have, Max: v.max})
	reader, home := l.own.find(importer(i)), 0
	if x.spare != none {
		home += l.vacate(reader, x.spare, false)
	}
	for at := len(x.places) - 1; at >= 0; at-- {
		if p := &x.places[at]; p.page != none {
			home += l.vacate(reader, p.page, p.ok)
		}
	}
	x.own = 0
	if x.out == 0 {
		l.endImport(i, v)
	}
	if home > 0 {
		l.emit(Effect{Kind: FxFreed, N: home})
	}
	return true
}

// vacate ends an import's hold on a page, unless a read may still land in it. It returns 1 if the page may be had now.
func (l *Ledger) vacate(reader, i int32, written bool) int {
	s := &l.pages[i]
	switch {
	case s.state == Resident: // this node's own, before
		l.letGo(l.own.edgeOf(reader, s))
	case s.pins > 0:
		l.move(s, Quarantined)
	default:
		l.own.unlink(s.edges, s)
		if written {
			l.retire(page.Index(i))
		} else {
			l.putFree(page.Index(i))
		}
	}
	if s.state == Free || s.idle && s.pins == 0 {
		return 1
	}
	return 0
}

// stopImports stops every import over a link.
func (l *Ledger) stopImports(link int32) {
	for i := range l.importOrder.all() {
		if l.imports[i].link == link {
			l.stop(i, verdict{status: Lost})
		}
	}
}

// endReads ends every read over a link that is fenced, and with them the imports, which have stopped before.
func (l *Ledger) endReads(link int32) {
	for i := range l.importOrder.all() {
		x := &l.imports[i]
		if x.link != link {
			continue
		}
		r := l.own.find(importer(i))
		for x.out > 0 {
			p := l.own.edges[l.own.recs[r].head].page
			l.own.unlink(l.pages[p].edges, &l.pages[p]) // the read came last
			l.letGo(l.pages[p].edges)
			x.out--
		}
		l.endImport(i, x.verdict)
	}
}

// endImport closes an attempt and says so.
//
// Preconditions: no read of it is out, and it owns no page (I7).
func (l *Ledger) endImport(i int32, v verdict) {
	x := &l.imports[i]
	if x.out != 0 {
		panic("kvpool: I7: an import ends while reads are out")
	}
	a, link := x.attempt, x.link
	delete(l.importOf, a)
	l.importOrder.remove(i)
	*x = importing{places: x.places[:0], kept: x.kept[:0], next: l.spareImport}
	l.spareImport = i
	if l.links[link].dead {
		return // nobody can speak of it any more
	}
	if v.status == Lost {
		v = verdict{status: Cancelled} // what a peer may be told
	}
	l.bury(a, v)
	l.sendRelease(link, a, v)
}

// revoked takes the prefill node's word that it has given up.
func (l *Ledger) revoked(link int32, a Attempt) Reason {
	i, alive := l.importOf[a]
	switch {
	case !alive:
		if !l.closed(a) {
			l.bury(a, verdict{status: Cancelled}) // it may be expected yet
		}
		return l.answer(link, a)
	case l.imports[i].link != link:
		return WrongLink
	case l.imports[i].phase == draining:
		return Repeated // answered when the last read is over
	}
	l.stop(i, verdict{status: Cancelled})
	return 0
}

// answer repeats the release of a closed attempt. It is true over any link: the attempt has no read out over any, and never will.
func (l *Ledger) answer(link int32, a Attempt) Reason {
	v, closed := l.epitaph(a)
	if !closed {
		return NoSuchAttempt
	}
	l.sendRelease(link, a, v)
	return 0
}

func (l *Ledger) sendRelease(link int32, a Attempt, v verdict) {
	l.send(link, Message{Kind: MsgRelease, Attempt: a, Status: v.status, Page: v.page, Have: v.have, Max: v.max})
}
