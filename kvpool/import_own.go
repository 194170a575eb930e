package kvpool

import "github.com/kvasir-engine/kvasir/kvpool/page"

// takeOwn makes an import a reader of the longest prefix of its prompt that this node has itself, as a match would.
func (l *Ledger) takeOwn(i int32) {
	x := &l.imports[i]
	for at := range x.tokens / l.cfg.PageSize {
		p := l.index.find(l.pages, 0, x.domain, &x.places[at].chain) // I5: the same prefix, in the same domain
		if p == none {
			break
		}
		s, reader := &l.pages[p], l.own.enrol(importer(i))
		if s.edges != none && l.own.edges[s.edges].owner == reader {
			break // the same hash twice: no chain has that
		}
		if s.idle {
			l.groups[0].idle.remove(l.pages, page.Index(p))
		}
		l.own.link(reader, page.Index(p), s)
		l.own.edges[s.edges].at = int32(at)
		x.places[at].page = p
		x.kept = append(x.kept, Offer{})
		x.own++
	}
	x.spoiled = x.own
}

// verifyOwn asks for the bytes of these pages to be verified: they gain a reader.
func (l *Ledger) verifyOwn(i int32) {
	x := &l.imports[i]
	if x.own == 0 {
		return
	}
	job := l.newJob(Verify)
	l.own.pair(l.own.find(importer(i)), job)
	for at := range x.own {
		l.pin(job, page.Index(x.places[at].page))
	}
	l.emit(Effect{Kind: FxVerify, Job: l.jobs, Checks: l.checks})
}

// importOfJob is the attempt whose own pages a job verifies, if there is one and it still waits.
func (l *Ledger) importOfJob(job int32) (Attempt, bool) {
	p := l.own.recs[job].partner
	if p == none || l.own.recs[p].name.Kind != Import {
		return Attempt{}, false
	}
	return l.imports[l.own.recs[p].name.Number].attempt, true
}

// ownVerified accepts the first good pages that this node had itself, and has the others read. The import may have ended in this very step.
func (l *Ledger) ownVerified(a Attempt, good int) {
	i, alive := l.importOf[a]
	if !alive || l.imports[i].phase != reading {
		return
	}
	x := &l.imports[i]
	l.own.part(l.own.find(importer(i)))
	for at := range min(good, x.own) {
		x.places[at].ok = true
		x.accepted++
	}
	l.stats.ImportHits += uint64(min(good, x.own))
	if good < x.own && !l.forgo(i, good) {
		return
	}
	l.start(i)
}

// spoil notes that page i is not to be trusted any more, for the imports that have it for their own.
func (l *Ledger) spoil(i page.Index) {
	for e := l.pages[i].edges; e != none; e = l.own.edges[e].pageNext {
		if name := l.own.recs[l.own.edges[e].owner].name; name.Kind == Import {
			x := &l.imports[name.Number]
			x.spoiled = min(x.spoiled, int(l.own.edges[e].at))
		}
	}
}

// forgoSpoiled has those imports read what they had for their own. Its cost is the number of imports; that is a rare alarm.
func (l *Ledger) forgoSpoiled() {
	for i := range l.importOrder.all() {
		if x := &l.imports[i]; x.phase == reading && x.spoiled < x.own {
			l.forgo(i, x.spoiled)
		}
	}
}

// forgo lets go of the pages that this node had itself from a place on, since what is behind a bad page was computed from it, and has these places read like any others. If there is no
// room for that the import ends as refused: it never waits. forgo reports whether it goes on.
func (l *Ledger) forgo(i int32, from int) bool {
	x := &l.imports[i]
	reader, need := l.own.find(importer(i)), x.own-from
	for at := x.own - 1; at >= from; at-- {
		p := &x.places[at]
		if p.ok {
			p.ok = false
			x.accepted--
		}
		l.letGo(l.own.edgeOf(reader, &l.pages[p.page]))
		p.page = none
	}
	x.own, x.spoiled = from, from
	if can := l.available(&l.groups[0], need); can < need {
		l.stop(i, verdict{status: Refused, have: need, max: can})
		return false
	}
	l.evict(&l.groups[0], need-l.groups[0].frees)
	for at := from; at < from+need; at++ {
		l.reservePlace(i, at)
		if x.places[at].group != none {
			l.readPlace(i, at, &x.kept[at])
		}
	}
	x.kept = x.kept[:from]
	return true
}
