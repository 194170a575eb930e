package kvpool

import (
	"slices"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

func (w *twin) checkOf(i page.Index) Check {
	p := w.pages[i]
	return Check{Ref: w.ref(i), Domain: p.domain, Chain: p.chain, Checksum: p.checksum}
}

// endJob takes a job out of those that run.
func (w *twin) endJob(kind OwnerKind, number uint64) *twinJob {
	job := w.jobs[number]
	if job == nil || job.kind != kind {
		w.staleRefs++
		return nil
	}
	delete(w.jobs, number)
	return job
}

func (w *twin) unpin(job *twinJob, number uint64) {
	freed := 0
	for _, i := range backward(job.pages) {
		w.lose(Owner{job.kind, number}, i)
		if p := w.pages[i]; p.state == Free || slices.Contains(w.idle, i) && len(p.owners) == 0 {
			freed++
		}
	}
	if freed > 0 {
		w.emit(Effect{Kind: FxFreed, N: freed})
	}
}

func (w *twin) copyOut(ev Event) {
	job := &twinJob{kind: Copy}
	var checks []Check
	for _, r := range ev.Refs {
		if !w.live(r, Resident) {
			continue
		}
		i, p := int(r.Page), w.pages[r.Page]
		if !p.indexed {
			i = -1
			if p.full {
				i = w.find(p.domain, p.chain)
			}
		}
		if i < 0 || slices.Contains(job.pages, page.Index(i)) {
			w.staleRefs++
			continue
		}
		job.pages = append(job.pages, page.Index(i))
		checks = append(checks, w.checkOf(page.Index(i)))
		w.gain(copyJob(w.number+1), page.Index(i))
	}
	if len(checks) == 0 {
		return
	}
	w.number++
	w.jobs[w.number] = job
	w.copies = true
	w.emit(Effect{Kind: FxCopyOut, Job: w.number, Checks: checks})
}

func (w *twin) copied(ev Event) {
	job := w.endJob(Copy, ev.Job)
	if job == nil {
		return
	}
	var keep []Check
	for _, i := range job.pages {
		if w.pages[i].indexed && !ev.Failed {
			keep = append(keep, w.checkOf(i))
		}
	}
	w.emit(Effect{Kind: FxCopied, Job: ev.Job, Checks: keep})
	w.unpin(job, ev.Job)
}

func (w *twin) restore(ev Event) {
	waits := false
	for _, job := range w.jobs {
		waits = waits || job.seq == ev.Seq
	}
	if ev.Seq == 0 || len(ev.Checks) == 0 || w.fail[ev.Seq] || waits {
		w.staleRefs++
		return
	}
	if ev.N != w.alarms {
		w.staleRefs++
		w.emit(Effect{Kind: FxRestored, Seq: ev.Seq})
		return
	}
	n := len(ev.Checks)
	if !w.room(n) {
		w.emit(Effect{Kind: FxRestored, Seq: ev.Seq})
		return
	}
	w.number++
	job := &twinJob{kind: Restore, seq: ev.Seq}
	w.jobs[w.number] = job
	var checks []Check
	for _, c := range ev.Checks {
		i := w.free[len(w.free)-1]
		w.free = w.free[:len(w.free)-1]
		p := w.pages[i]
		p.state, p.gen, p.domain, p.chain, p.checksum = Restoring, p.gen+1, c.Domain, c.Chain, c.Checksum
		w.gain(sequence(ev.Seq), i)
		w.gain(restoreJob(w.number), i)
		job.pages = append(job.pages, i)
		checks = append(checks, w.checkOf(i))
	}
	w.emit(Effect{Kind: FxRestore, Seq: ev.Seq, Job: w.number, Checks: checks})
}

// room makes n pages Free, if it can. Where an evicted page has to be scrubbed first it is of no use now, and is evicted for the next who asks.
func (w *twin) room(n int) bool {
	evictable := func() (all []page.Index) {
		for _, i := range w.idle {
			if len(w.pages[i].owners) == 0 {
				all = append(all, i)
			}
		}
		return all
	}
	if !w.cfg.Scrub && len(w.free)+len(evictable()) < n {
		return false
	}
	evict := n - len(w.free)
	if w.cfg.Scrub {
		for _, p := range w.pages {
			if p.state == Quarantined && len(p.owners) == 0 {
				evict--
			}
		}
	}
	ok := !w.cfg.Scrub || len(w.free) >= n
	for _, i := range evictable() {
		if evict > 0 {
			w.unindex(i)
			w.retire(i)
			evict--
		}
	}
	return ok
}

func (w *twin) restored(ev Event) {
	job := w.endJob(Restore, ev.Job)
	if job == nil {
		return
	}
	none := ev.Failed || job.distrusted
	if len(ev.Checks) > len(job.pages) {
		w.staleRefs++
		none = true
	}
	good := 0
	for k, i := range job.pages {
		p := w.pages[i]
		if none || k >= len(ev.Checks) || ev.Checks[k] != w.checkOf(i) {
			p.state = Quarantined
			continue
		}
		if good == k {
			good++
		}
		p.indexed = w.cfg.PrefixCache && w.find(p.domain, p.chain) < 0
		p.state, p.sealed, p.proved, p.full = Resident, w.now, w.now, true
	}
	if job.seq != 0 {
		for _, i := range backward(job.pages[good:]) {
			w.lose(sequence(job.seq), i)
		}
	}
	w.unpin(job, ev.Job)
	if job.seq != 0 {
		var refs []page.Ref
		for _, i := range job.pages[:good] {
			refs = append(refs, w.ref(i))
		}
		w.emit(Effect{Kind: FxRestored, Seq: job.seq, N: good, Refs: refs})
	}
}

func (w *twin) distrustCopies(d page.Domain) {
	if !w.copies {
		return
	}
	w.alarms++
	w.emit(Effect{Kind: FxDistrust, Domain: d, N: w.alarms})
	for _, job := range w.jobs {
		for _, i := range job.pages {
			job.distrusted = job.distrusted || job.kind == Restore && w.pages[i].domain == d
		}
	}
}
