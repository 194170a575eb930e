package kvpool

import "github.com/kvasir-engine/kvasir/kvpool/page"

// match makes seq a reader of the longest cached prefix of hashes and asks for its bytes to be verified.
//
// Each page found has two new owners: seq, which may end at any time, and the check, which pins the page until EvVerified.
func (l *Ledger) match(seq page.Seq, d page.Domain, hashes []page.Hash) {
	switch {
	case seq == 0:
		l.stale(EvMatch, Malformed)
		return
	case l.own.find(sequence(seq)) != none:
		// It owns pages, or an earlier match of its runs: this is no beginning.
		l.stale(EvMatch, WrongOwner)
		return
	}
	l.stats.Lookups++
	l.stats.LookupPages += uint64(len(hashes))

	job := none
	if l.plain() {
		job = l.gainRun(seq, d, hashes)
	} else if n := l.matchable(d, hashes); n > 0 {
		job = l.gainPrefix(seq, d, hashes[:n])
	}
	if job == none {
		l.emit(Effect{Kind: FxMatched, Seq: seq})
		return
	}
	l.emit(Effect{Kind: FxVerify, Job: l.jobs, Checks: l.checks})
}

// gainRun makes a sequence, and the check of its match, owners of the longest cached prefix. It returns the job, or none if there is no prefix.
func (l *Ledger) gainRun(seq page.Seq, d page.Domain, hashes []page.Hash) int32 {
	reader, job := none, none
	for i := range hashes {
		p := l.index.find(l.pages, 0, d, &hashes[i]) // I5: the same prefix, in the same domain
		if p == none {
			break
		}
		if job == none {
			reader, job = l.own.enrol(sequence(seq)), l.newJob(Verify)
			l.own.pair(reader, job)
		}
		if !l.gain(reader, job, page.Index(p)) {
			break // the same hash twice: no chain has that
		}
	}
	return job
}

// newJob returns the record of a new job: a check or a copy.
func (l *Ledger) newJob(kind OwnerKind) int32 {
	l.jobs++
	r := l.own.enrol(Owner{kind, l.jobs})
	l.own.recs[r].since = l.now
	return r
}

// pin makes job an owner of page i and adds i to what the job is told of.
func (l *Ledger) pin(job int32, i page.Index) {
	l.own.link(job, i, &l.pages[i])
	l.checks = append(l.checks, l.checkOf(i))
}

// checkOf says what page i must hold.
func (l *Ledger) checkOf(i page.Index) Check {
	s := &l.pages[i]
	return Check{Ref: l.ref(i), Domain: s.domain, Chain: s.chain, Checksum: s.checksum}
}

// pagesOf lists the pages of a job in the order in which it was told of them. The list is valid until the next call.
func (l *Ledger) pagesOf(job int32) []page.Index {
	l.run = l.run[:0]
	for e := l.own.recs[job].head; e != none; e = l.own.edges[e].ownNext {
		l.run = append(l.run, l.own.edges[e].page)
	}
	return l.run
}

// verified ends a check. A page was found good if it is not in bad and still in the index: it may have left that
// meanwhile for another reason.
func (l *Ledger) verified(number uint64, bad []int) {
	job := l.own.find(verify(number))
	if job == none {
		l.stale(EvVerified, NoSuchJob)
		return
	}
	run := l.pagesOf(job)
	l.stats.Verified += uint64(len(run))

	// [0, good) found good without a gap
	good := len(run)
	for i, p := range run {
		if !l.pages[p].indexed {
			good = min(good, i)
		}
	}
	for _, b := range bad {
		if b < 0 || b >= len(run) {
			l.stale(EvVerified, Malformed)
			continue
		}
		good = min(good, b)
	}
	if a, ok := l.importOfJob(job); ok {
		l.judge(run, bad, l.own.recs[job].since)
		l.unpin(job)
		l.ownVerified(a, good)
		return
	}
	n := good
	if !l.plain() { // what a shorter prefix needs was not matched
		if n = int(l.own.recs[job].prefix); good < len(run) {
			n, good = 0, 0
		}
	}
	seq := l.partnerOf(job, run[good:])
	l.judge(run, bad, l.own.recs[job].since)
	l.unpin(job)
	if seq != 0 {
		l.matched(seq, n, run[:good])
	}
}

// partnerOf ends the wait of the sequence that waits for job, which lets go of the pages that it does not get. It returns 0 if there was none, or it has let go or failed
// meanwhile.
func (l *Ledger) partnerOf(job int32, lost []page.Index) page.Seq {
	reader := l.own.recs[job].partner
	if reader == none {
		return 0
	}
	seq := page.Seq(l.own.recs[reader].name.Number)
	l.own.part(reader)
	for i := len(lost) - 1; i >= 0; i-- {
		l.letGo(l.own.edgeOf(reader, &l.pages[lost[i]]))
	}
	return seq
}

// judge quarantines the bad pages of a run that was asked for at Step since, and notes of the others that they were good then.
func (l *Ledger) judge(run []page.Index, bad []int, since uint64) {
	for _, b := range bad {
		if b >= 0 && b < len(run) && l.pages[run[b]].state == Resident {
			l.quarantine(run[b], none)
		}
	}
	for _, p := range run {
		if s := &l.pages[p]; s.state == Resident {
			s.proved = max(s.proved, since)
		}
	}
}

// unpin ends a job's ownership, and tells how many pages may be had now that could not be had before: a scheduler that got
// fewer than it asked for may be waiting for them, and nobody else would tell it.
func (l *Ledger) unpin(job int32) {
	if n := l.letGoAll(job); n > 0 {
		l.emit(Effect{Kind: FxFreed, N: n})
	}
}

// matched tells seq which pages it reads: the first n of its prompt, as far as the groups need them.
func (l *Ledger) matched(seq page.Seq, n int, run []page.Index) {
	for _, p := range run {
		l.refs = append(l.refs, l.ref(p))
	}
	l.stats.HitPages += uint64(len(run))
	l.emit(Effect{Kind: FxMatched, Seq: seq, N: n, Refs: l.refs})
}

// patrol asks for a check of up to n pages of a group that only the prefix index reads. It goes round the idle list, from the page
// where it stopped last, and leaves the order of the list as it is: being checked is not being used.
func (l *Ledger) patrol(group, n int) {
	g := l.groupAt(EvPatrol, group)
	if g == nil {
		return
	}
	job, i := none, g.idle.patrol
	for left := g.idle.size; left > 0 && n > 0; left-- {
		if i == none {
			i = g.idle.head
		}
		s := &l.pages[i]
		if s.pins == 0 {
			if job == none {
				job = l.newJob(Verify)
			}
			l.pin(job, page.Index(i))
			n--
		}
		i = s.next
	}
	g.idle.patrol = i
	if job != none {
		l.emit(Effect{Kind: FxVerify, Job: l.jobs, Checks: l.checks})
	}
}
