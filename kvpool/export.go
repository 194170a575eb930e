package kvpool

import "github.com/kvasir-engine/kvasir/kvpool/page"

// export is one attempt of which this node is the prefill node. Its pages are those of its owner record, in the prompt's order.
type export struct {
	attempt Attempt
	used    bool
	link    int32
	seq     page.Seq
	total   int // pages promised
	given   int // pages offered so far
	groups  int // groups offered so far
	sealed  bool
	revoked bool
	seal    SealOf
	sibling int32 // another export of the same sequence
	next    int32 // spare records
}

func exporter(i int32) Owner { return Owner{Export, uint64(i)} }

// reserve promises pages to an attempt. Only what it creates can be offered; a prompt that was rejected has nothing here to offer.
func (l *Ledger) reserve(ev *Event) {
	if !ev.Attempt.Valid() || ev.Seq == 0 || ev.N < 1 || l.cfg.PageSize < 1 {
		l.stale(EvReserve, Malformed)
		return
	}
	if _, alive := l.exportOf[ev.Attempt]; alive {
		l.stale(EvReserve, Repeated)
		return
	}
	refusal := Effect{Kind: FxRefused, Attempt: ev.Attempt, Seq: ev.Seq}
	i := l.upLink(ev.Link)
	switch {
	case ev.Attempt.Prefill != l.cfg.Incarnation:
		l.stale(EvReserve, WrongIncarnation)
		refusal.Status = Cancelled
	case l.closed(ev.Attempt):
		l.refuseAgain(&refusal)
	case i == none:
		l.stale(EvReserve, WrongLink)
		refusal.Status = Lost
		l.closeRefused(ev.Attempt, verdict{status: Cancelled})
	case ev.N > l.quota()-l.promised:
		refusal.Status, refusal.Have, refusal.Max = Refused, ev.N, l.quota()-l.promised
		l.closeRefused(ev.Attempt, verdict{status: Refused, have: refusal.Have, max: refusal.Max})
	default:
		l.promised += ev.N
		x := l.spareExport
		if x == none {
			x = int32(len(l.exports))
			l.exports = append(l.exports, export{})
		} else {
			l.spareExport = l.exports[x].next
		}
		sibling, has := l.exportsBy[ev.Seq]
		if !has {
			sibling = none
		}
		l.exportOrder.add(x)
		l.exports[x] = export{attempt: ev.Attempt, used: true, link: i, seq: ev.Seq, total: ev.N, sibling: sibling, next: none}
		l.exportOf[ev.Attempt], l.exportsBy[ev.Seq] = x, x
		return
	}
	l.emit(refusal)
}

// refuseAgain answers for an attempt that is closed, in the words of its end if that was a refusal. What was refused once is remembered and never accepted later (I12): whoever
// asked has told its client.
func (l *Ledger) refuseAgain(fx *Effect) {
	fx.Status = Cancelled
	if v, _ := l.epitaph(fx.Attempt); v.status == Refused {
		fx.Status, fx.Have, fx.Max = v.status, v.have, v.max
	}
}

// closeRefused remembers a refusal, unless the attempt is alive in this node's other role.
func (l *Ledger) closeRefused(a Attempt, v verdict) {
	_, exported := l.exportOf[a]
	_, imported := l.importOf[a]
	if !exported && !imported {
		l.bury(a, v)
	}
}

// quota bounds the pages promised to exports.
func (l *Ledger) quota() int {
	if l.cfg.ExportQuota > 0 {
		return l.cfg.ExportQuota
	}
	return l.cfg.Pages
}

// offer exports the next pages of an attempt as one group and sends it.
func (l *Ledger) offer(ev *Event) {
	i, ok := l.exportOf[ev.Attempt]
	if !ok {
		l.stale(EvOffer, NoSuchAttempt)
		return
	}
	x := &l.exports[i]
	n := x.given + len(ev.Refs)
	ends := n == x.total && ev.Tokens > (n-1)*l.cfg.PageSize && ev.Tokens <= n*l.cfg.PageSize
	seq := l.own.find(sequence(x.seq))
	switch {
	case !l.links[x.link].up:
		l.stale(EvOffer, WrongLink)
		return
	case x.revoked || x.sealed:
		l.stale(EvOffer, WrongState)
		return
	case n > x.total, ev.Last && !ends, !ev.Last && len(ev.Refs) == 0:
		l.stale(EvOffer, Malformed)
		return
	case len(ev.Refs) > 0 && seq == none:
		l.stale(EvOffer, WrongOwner)
		return
	case seq != none && l.own.recs[seq].failed: // I5: what was computed from a bad page is not what its chain hash says
		l.stale(EvOffer, WrongState)
		return
	}
	room := ev.Last && ev.Tokens < n*l.cfg.PageSize // the last page has room
	for k, ref := range ev.Refs {
		if !l.expose(i, seq, ref, room && k == len(ev.Refs)-1) {
			for range k { // nothing, if not all
				e := l.own.recs[l.own.find(exporter(i))].tail
				l.own.unlink(e, &l.pages[l.own.edges[e].page])
			}
			return
		}
	}
	x.given, x.sealed = n, ev.Last
	x.groups++
	if ev.Last {
		x.seal = SealOf{Groups: x.groups, Tokens: ev.Tokens, First: ev.First}
	}
	e := none
	if len(ev.Refs) > 0 {
		e = l.own.recs[l.own.find(exporter(i))].tail
		for range len(ev.Refs) - 1 {
			e = l.own.edges[e].ownPrev
		}
	}
	l.sendGroup(x, x.groups-1, n-len(ev.Refs), e)
}

// expose makes export i a reader of a page that seq reads.
func (l *Ledger) expose(i, seq int32, ref page.Ref, room bool) bool {
	s := l.live(EvOffer, ref, oneOf(Resident))
	if s == nil {
		return false
	}
	if l.own.edgeOf(seq, s) == none {
		l.stale(EvOffer, WrongOwner)
		return false
	}
	if s.full == room {
		l.stale(EvOffer, WrongState)
		return false
	}
	r := l.own.enrol(exporter(i))
	if l.own.edgeOf(r, s) != none {
		l.stale(EvOffer, Repeated)
		return false
	}
	l.own.link(r, ref.Page, s)
	l.own.edges[s.edges].at = int32(l.exports[i].groups)
	return true
}

// sendGroup sends one group of an export: the pages from edge e on that belong to it, the first at place first. It returns what follows.
func (l *Ledger) sendGroup(x *export, group, first int, e int32) (nextPlace int, next int32) {
	from := len(l.offers)
	for ; e != none && int(l.own.edges[e].at) == group; e = l.own.edges[e].ownNext {
		p := l.own.edges[e].page
		s := &l.pages[p]
		fill := l.cfg.PageSize
		if !s.full {
			fill = x.seal.Tokens - (x.total-1)*l.cfg.PageSize
		}
		l.offers = append(l.offers, Offer{Ref: l.ref(p), Chain: s.chain, Checksum: s.checksum, Fill: fill})
	}
	pages := l.offers[from:len(l.offers):len(l.offers)]
	m := Message{Kind: MsgOffer, Attempt: x.attempt, Total: x.total, Group: group, First: first, Pages: pages}
	if x.sealed && group == x.groups-1 {
		m.Seal = &x.seal
	}
	l.send(x.link, m)
	return first + len(pages), e
}

// tick repeats what has had no answer: nothing that was sent is known to have arrived.
func (l *Ledger) tick() {
	for i := range l.exportOrder.all() {
		x := &l.exports[i]
		switch {
		case !l.links[x.link].up:
		case x.revoked:
			l.send(x.link, Message{Kind: MsgRevoke, Attempt: x.attempt})
		default:
			place, e := 0, none
			if r := l.own.find(exporter(i)); r != none {
				e = l.own.recs[r].head
			}
			for g := range x.groups {
				place, e = l.sendGroup(x, g, place, e)
			}
		}
	}
}

func (l *Ledger) revoke(a Attempt) {
	switch i, ok := l.exportOf[a]; {
	case !ok:
		l.stale(EvRevoke, NoSuchAttempt)
	case !l.giveUp(i):
		l.stale(EvRevoke, Repeated)
	}
}

// giveUp offers nothing more and asks the peer to stop. The pages stay: the peer may be reading (I8). It reports whether that is new.
func (l *Ledger) giveUp(i int32) bool {
	x := &l.exports[i]
	if x.revoked {
		return false
	}
	x.revoked = true
	l.send(x.link, Message{Kind: MsgRevoke, Attempt: x.attempt})
	return true
}

// giveUpOn gives up on what is exported for a sequence that will not finish it: all of it where the sequence has read a bad page (I5), and what is not offered to its
// end where the sequence has ended.
func (l *Ledger) giveUpOn(seq page.Seq, all bool) {
	i, has := l.exportsBy[seq]
	for has && i != none {
		x := &l.exports[i]
		if all || !x.sealed {
			l.giveUp(i)
		}
		i = x.sibling
	}
}

// disown takes export i out of the exports of its sequence.
func (l *Ledger) disown(i int32) {
	x := &l.exports[i]
	at, next := l.exportsBy[x.seq], x.sibling
	switch {
	case at != i:
		for l.exports[at].sibling != i {
			at = l.exports[at].sibling
		}
		l.exports[at].sibling = next
	case next == none:
		delete(l.exportsBy, x.seq)
	default:
		l.exportsBy[x.seq] = next
	}
}

// released ends an export: its peer says that it reads nothing of it and never will (I7).
func (l *Ledger) released(link int32, m *Message) Reason {
	i, ok := l.exportOf[m.Attempt]
	if !ok {
		return NoSuchAttempt
	}
	x := &l.exports[i]
	switch {
	case x.link != link:
		return WrongLink
	case m.Status < Done || m.Status > Mismatch:
		return Malformed
	case m.Status == Done && !x.sealed: // nobody can have accepted all of it
		return WrongState
	}
	if m.Status == Mismatch {
		l.suspect(i, m.Page)
	}
	l.endExport(i, verdict{status: m.Status, page: m.Page, have: m.Have, max: m.Max})
	return 0
}

// suspect has the page at a place checked that did not arrive as offered, and keeps it from new readers: the fault may be here.
func (l *Ledger) suspect(i int32, place int) {
	x := &l.exports[i]
	if place < 0 || place >= x.given {
		return
	}
	e := l.own.recs[l.own.find(exporter(i))].head
	for range place {
		e = l.own.edges[e].ownNext
	}
	p := l.own.edges[e].page
	if l.pages[p].state != Resident {
		return
	}
	l.leaveIndex(p)
	l.pin(l.newJob(Verify), p)
	l.emit(Effect{Kind: FxVerify, Job: l.jobs, Checks: l.checks})
}

// endExports ends every export over a link: its peer cannot read any more.
func (l *Ledger) endExports(link int32) {
	for i := range l.exportOrder.all() {
		if l.exports[i].link == link {
			l.endExport(i, verdict{status: Lost})
		}
	}
}

// endExport lets go of the pages of an export and closes its attempt.
//
// Preconditions: a Release, a completed fence, or the proof of the peer's restart (I8).
func (l *Ledger) endExport(i int32, v verdict) {
	x := &l.exports[i]
	l.promised -= x.total
	n := 0
	if r := l.own.find(exporter(i)); r != none {
		n = l.letGoAll(r)
	}
	delete(l.exportOf, x.attempt)
	l.exportOrder.remove(i)
	l.disown(i)
	l.bury(x.attempt, v)
	l.stats.Exported[v.status]++
	l.emit(Effect{Kind: FxExported, Attempt: x.attempt, Seq: x.seq, Status: v.status, Page: v.page, Have: v.have, Max: v.max})
	*x = export{next: l.spareExport}
	l.spareExport = i
	if n > 0 {
		l.emit(Effect{Kind: FxFreed, N: n})
	}
}

// MayRead reports whether the page ref may be served over name for an attempt: only an export that is alive, to that peer, over that link, is served. Where this
// node's own process serves the bytes it asks at the moment of reading.
func (l *Ledger) MayRead(name Link, a Attempt, ref page.Ref) bool {
	i, ok := l.exportOf[a]
	if !ok || l.links[l.exports[i].link].name != name || !l.links[l.exports[i].link].up || int64(ref.Page) >= int64(len(l.pages)) {
		return false
	}
	r := l.own.find(exporter(i))
	s := &l.pages[ref.Page]
	return r != none && ref == l.ref(ref.Page) && s.state == Resident && l.own.edgeOf(r, s) != none
}
