package kvpool

import "github.com/kvasir-engine/kvasir/kvpool/page"

// allot gives up to n pages of a group to the scheduler: Free ones, and for the rest those that only the prefix index reads.
//
// With Config.Scrub an evicted page comes home only when it is scrubbed, which FxFreed tells. Pages on that way are counted
// as what an earlier call has evicted already, so that asking again does not empty the index.
func (l *Ledger) allot(group, n int) {
	g := l.groupAt(EvAllot, group)
	if g == nil {
		return
	}
	n = max(n, 0)
	l.evict(g, n-g.frees-g.scrubbing)
	for len(l.refs) < n && g.free != none {
		l.refs = append(l.refs, l.ref(l.takeFree(g)))
	}
	l.stats.Allotted += uint64(len(l.refs))
	l.emit(Effect{Kind: FxAllotted, N: len(l.refs), Refs: l.refs})
}

// giveBack takes allotted pages back. Nothing was written into them in this life.
func (l *Ledger) giveBack(refs []page.Ref) {
	for _, r := range refs {
		if l.live(EvReturn, r, oneOf(Allotted)) != nil {
			l.putFree(r.Page)
		}
	}
}

// spend makes sequences the writers of allotted pages.
func (l *Ledger) spend(spends []page.Spend) {
	for _, sp := range spends {
		if sp.Seq == 0 {
			l.stale(EvSpend, Malformed)
			continue
		}
		if s := l.live(EvSpend, sp.Ref, oneOf(Allotted)); s != nil {
			l.own.link(l.own.enrol(sequence(sp.Seq)), sp.Ref.Page, s) // I2: an allotted page had no owner; this is its one writer
			l.move(s, Filling)
		}
	}
}

// seal turns a page's writer into its first reader, and lets the prefix index read it too if it is full.
func (l *Ledger) seal(x *Seal) {
	s := l.live(EvSeal, x.Ref, oneOf(Filling))
	if s == nil {
		return
	}
	writer := &l.own.recs[l.own.edges[s.edges].owner]
	if writer.name != sequence(x.Seq) {
		l.stale(EvSeal, WrongOwner)
		return
	}
	s.domain, s.chain, s.checksum = x.Domain, x.Chain, x.Checksum
	s.sealed, s.proved, s.full = l.now, l.now, x.Full
	l.move(s, Resident)
	l.stats.Sealed++

	// I5: what was computed from a bad page is itself not what its chain hash says.
	if x.Full && !writer.failed {
		l.enter(x.Ref.Page)
	}
}

// enter lets the prefix index read a full page that has just become Resident, unless it has one of that prefix.
func (l *Ledger) enter(i page.Index) {
	s := &l.pages[i]
	if !l.cfg.PrefixCache {
		return
	}
	if l.index.find(l.pages, s.group, s.domain, &s.chain) != none {
		l.stats.Duplicates++
		return
	}
	l.index.insert(l.pages, i)
}

// release ends all that seq owns, the page gained last first: of an indexed chain the deeper pages then are evicted before
// those that they are of no use without.
//
// What is exported for it and not offered to its end is revoked: nothing more of it will ever be offered.
func (l *Ledger) release(seq page.Seq) {
	l.giveUpOn(seq, false)
	r := l.own.find(sequence(seq))
	if r == none {
		return
	}
	l.letGoAll(r)
}

// letGoAll ends all that the owner of record r owns, and tells how many pages may be had now that could not be had before.
func (l *Ledger) letGoAll(r int32) int {
	n := 0
	for e := l.own.recs[r].tail; e != none; {
		x := l.own.edges[e]
		l.letGo(e)
		if s := &l.pages[x.page]; s.state == Free || s.idle && s.pins == 0 {
			n++
		}
		e = x.ownPrev
	}
	return n
}

// letGo ends the ownership e and decides what becomes of its page.
func (l *Ledger) letGo(e int32) {
	i := l.own.edges[e].page
	l.own.unlink(e, &l.pages[i])
	l.settle(i)
}

func sequence(s page.Seq) Owner { return Owner{Sequence, uint64(s)} }
func verify(job uint64) Owner   { return Owner{Verify, job} }
