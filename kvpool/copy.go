package kvpool

import "github.com/kvasir-engine/kvasir/kvpool/page"

func copyJob(job uint64) Owner    { return Owner{Copy, job} }
func restoreJob(job uint64) Owner { return Owner{Restore, job} }

// copyOut makes a copy job a reader of pages: it pins them as a check does, whatever becomes of the sequences that read them.
//
// Only what the prefix index has may be copied: what it would not keep no other tier may keep either. For a page that repeats an indexed one that one is
// copied.
func (l *Ledger) copyOut(refs []page.Ref) {
	job := none
	for _, ref := range refs {
		s := l.live(EvCopyOut, ref, oneOf(Resident))
		if s == nil {
			continue
		}
		p := int32(ref.Page)
		if !s.indexed {
			if p = l.index.find(l.pages, s.group, s.domain, &s.chain); p == none || !s.full {
				l.stale(EvCopyOut, WrongState)
				continue
			}
			s = &l.pages[p]
		}
		if job == none {
			job = l.newJob(Copy)
		} else if s.edges != none && l.own.edges[s.edges].owner == job {
			l.stale(EvCopyOut, Repeated)
			continue
		}
		l.pin(job, page.Index(p))
	}
	if job != none {
		l.copies = true
		l.emit(Effect{Kind: FxCopyOut, Job: l.jobs, Checks: l.checks})
	}
}

// copied ends a copy job. Of what it has copied those pages may be kept that are still in the index: they were good all the while.
func (l *Ledger) copied(number uint64, failed bool) {
	job := l.own.find(copyJob(number))
	if job == none {
		l.stale(EvCopied, NoSuchJob)
		return
	}
	for e := l.own.recs[job].head; e != none && !failed; e = l.own.edges[e].ownNext {
		if p := l.own.edges[e].page; l.pages[p].indexed {
			l.checks = append(l.checks, l.checkOf(p))
		}
	}
	l.stats.CopiedOut += uint64(len(l.checks))
	l.emit(Effect{Kind: FxCopied, Job: number, Checks: l.checks})
	l.unpin(job)
}

// restore takes a page for each copy that seq wants back, behind the pages that it has, or none if there are not enough. The job is their one writer until it ends;
// seq holds them meanwhile and reads nothing (I2).
func (l *Ledger) restore(ev *Event) {
	seq, want := ev.Seq, ev.Checks
	g := l.groupAt(EvRestore, ev.Group)
	reader := l.own.find(sequence(seq))
	switch {
	case g == nil:
		return
	case seq == 0 || len(want) == 0:
		l.stale(EvRestore, Malformed)
		return
	case reader != none && (l.own.recs[reader].failed || l.own.recs[reader].partner != none):
		l.stale(EvRestore, WrongState)
		return
	case ev.N != l.alarms: // I5: the copy may be one that an alarm under way will have dropped
		l.stale(EvRestore, WrongState)
		l.emit(Effect{Kind: FxRestored, Seq: seq})
		return
	case l.available(g, len(want)) < len(want):
		l.emit(Effect{Kind: FxRestored, Seq: seq})
		return
	}
	l.evict(g, len(want)-g.frees)
	reader, job := l.own.enrol(sequence(seq)), l.newJob(Restore)
	l.own.pair(reader, job)
	for i := range want {
		p := l.takeFree(g)
		s := &l.pages[p]
		l.move(s, Restoring)
		s.domain, s.chain, s.checksum = want[i].Domain, want[i].Chain, want[i].Checksum
		l.own.link(reader, p, s)
		l.pin(job, p)
	}
	l.emit(Effect{Kind: FxRestore, Seq: seq, Job: l.jobs, Checks: l.checks})
}

// restored ends a copy job into pages. A page is good if what landed in it, as its header and its bytes say, is what was asked for, in every point: then it is as if it had
// been sealed now. Every other page may hold anything, and is quarantined.
func (l *Ledger) restored(number uint64, landed []Check, failed bool) {
	job := l.own.find(restoreJob(number))
	if job == none {
		l.stale(EvRestored, NoSuchJob)
		return
	}
	run := l.pagesOf(job)
	if len(landed) > len(run) {
		l.stale(EvRestored, Malformed)
		failed = true
	}
	trusted := !failed && !l.own.recs[job].failed
	good := 0 // [0, good) are good without a gap
	for i, p := range run {
		s := &l.pages[p]
		if !trusted || i >= len(landed) || landed[i] != l.checkOf(p) {
			l.stats.RestoresRejected++
			l.move(s, Quarantined)
			continue
		}
		if good == i {
			good++
		}
		l.stats.Restored++
		s.sealed, s.proved, s.full = l.now, l.now, true
		l.move(s, Resident)
		l.enter(p)
	}
	seq := l.partnerOf(job, run[good:])
	l.unpin(job)
	if seq == 0 {
		return
	}
	for _, p := range run[:good] {
		l.refs = append(l.refs, l.ref(p))
	}
	l.emit(Effect{Kind: FxRestored, Seq: seq, N: good, Refs: l.refs})
}

// distrustCopies tells that pages copied out of domain d may have been computed from a bad one: their checksums fit, so a restore would not find them (I5). Restores that run
// are not trusted any more either.
func (l *Ledger) distrustCopies(d page.Domain) {
	if !l.copies {
		return
	}
	l.alarms++
	l.emit(Effect{Kind: FxDistrust, Domain: d, N: l.alarms})
	for i := range l.pages {
		if s := &l.pages[i]; s.state == Restoring && s.domain == d {
			l.own.recs[l.own.edges[s.edges].owner].failed = true // the job's edge is the latest: nobody gains such a page
		}
	}
}
