package kvpool

import "github.com/kvasir-engine/kvasir/kvpool/page"

// badPage takes the runner's word that a page in seq's table does not hold what it must.
func (l *Ledger) badPage(ref page.Ref, seq page.Seq) {
	s := l.live(EvBadPage, ref, oneOf(Filling, Resident))
	if s == nil {
		return
	}
	reporter := l.own.find(sequence(seq))
	if reporter == none || l.own.edgeOf(reporter, s) == none {
		l.stale(EvBadPage, WrongOwner)
		return
	}
	l.quarantine(ref.Page, reporter)
}

// quarantine takes a bad page out of use: nobody can gain it any more, and every sequence that owns it must end with an error. They keep it until they are
// released, since a step that reads it may be running. The reporter (none: nobody) knows already and is not told.
//
// Preconditions: the page is Filling or Resident, and has an owner by name: it is scrubbed when the last of these lets go.
func (l *Ledger) quarantine(i page.Index, reporter int32) {
	s := &l.pages[i]
	wasSealed := s.state == Resident
	l.leaveIndex(i)
	l.move(s, Quarantined)
	l.stats.Bad++
	for e := s.edges; e != none; e = l.own.edges[e].pageNext {
		l.fail(l.own.edges[e].owner, l.own.edges[e].owner == reporter, i)
	}
	if wasSealed {
		l.failSlid(i)
		l.spoil(i)
		l.distrust(s.domain, s.proved)
		l.forgoSpoiled()
	}
}

// fail marks a sequence that has read page i, or was about to. It is told once, and no FxMatched comes after that.
func (l *Ledger) fail(r int32, knows bool, i page.Index) {
	rec := &l.own.recs[r]
	if rec.name.Kind == Export {
		l.giveUp(int32(rec.name.Number)) // its peer must not take what is bad
	}
	if rec.name.Kind != Sequence || rec.failed {
		return
	}
	rec.failed = true
	l.own.part(r)
	l.giveUpOn(page.Seq(rec.name.Number), true)
	if !knows {
		l.stats.Failed++
		l.emit(Effect{Kind: FxFailed, Seq: page.Seq(rec.name.Number), Ref: l.ref(i)})
	}
}

// distrust takes out of the index what may have been computed from a page of domain d that was last known to be good at Step since: whatever was
// sealed in that domain later. The checksums of such pages fit their bytes, so no check would find them, and once the bad page is computed anew they would be
// matched again (I5).
//
// Its cost is the size of the pool; that is a rare alarm, not the steady state.
func (l *Ledger) distrust(d page.Domain, since uint64) {
	l.distrustCopies(d)
	for k := range l.groups {
		for i := l.groups[k].idle.head; i != none; { // first the idle ones, which go home, in the order of their use and not of their numbers
			next := l.pages[i].next
			l.distrustPage(page.Index(i), d, since)
			i = next
		}
	}
	for i := range l.pages {
		l.distrustPage(page.Index(i), d, since)
	}
}

func (l *Ledger) distrustPage(i page.Index, d page.Domain, since uint64) {
	s := &l.pages[i]
	if !s.indexed || s.domain != d || s.sealed <= since {
		return
	}
	l.leaveIndex(i)
	l.stats.Distrusted++
	l.spoil(i)
	if s.edges == none {
		l.retire(i)
	}
}

// scrub asks for a Quarantined page without an owner to be zeroed.
func (l *Ledger) scrub(i page.Index) {
	l.groupOf(i).scrubbing++
	l.emit(Effect{Kind: FxScrub, Ref: l.ref(i)})
}

// scrubbed takes a page home. A page that still has an owner was not to be scrubbed, and is not home.
func (l *Ledger) scrubbed(ref page.Ref) {
	s := l.live(EvScrubbed, ref, oneOf(Quarantined))
	if s == nil {
		return
	}
	if s.edges != none {
		l.stale(EvScrubbed, WrongState)
		return
	}
	l.groupOf(ref.Page).scrubbing--
	l.putFree(ref.Page)
	l.stats.Scrubbed++
	l.emit(Effect{Kind: FxFreed, N: 1})
}
