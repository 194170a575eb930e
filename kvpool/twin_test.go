package kvpool

import (
	"slices"

	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// twin is the ledger written for the eye alone: maps, slices and searches from end to end. The tests hold every effect and count of the
// ledger against it.
type twin struct {
	cfg   Config
	pages []*twinPage
	free  []page.Index // the last leaves first
	idle  []page.Index // the first is evicted first
	jobs  map[uint64]*twinJob
	owned map[page.Seq][]page.Index // in the order in which they were gained
	fail  map[page.Seq]bool

	copies bool // something was copied out
	alarms int  // that was said against copies

	number    uint64 // of the last job
	cursor    int    // the patrol's next page, or -1
	now       uint64
	staleRefs uint64
	fx        []Effect
}

type twinPage struct {
	state    State
	gen      page.Generation
	domain   page.Domain
	chain    page.Hash
	checksum uint32
	indexed  bool
	full     bool
	owners   []Owner // latest first
	sealed   uint64
	proved   uint64
}

type twinJob struct {
	kind       OwnerKind
	pages      []page.Index
	seq        page.Seq // 0: nobody waits for the verdict
	since      uint64
	distrusted bool
}

func newTwin(cfg Config) *twin {
	w := &twin{cfg: cfg, jobs: map[uint64]*twinJob{}, owned: map[page.Seq][]page.Index{}, fail: map[page.Seq]bool{}, cursor: -1}
	for i := range cfg.Pages {
		w.pages = append(w.pages, &twinPage{})
		w.free = append(w.free, page.Index(cfg.Pages-1-i))
	}
	return w
}

func (w *twin) step(ev Event) []Effect {
	w.now++
	w.fx = nil
	switch ev.Kind {
	case EvAllot:
		w.allot(ev.N)
	case EvReturn:
		for _, r := range ev.Refs {
			if w.live(r, Allotted) {
				w.home(r.Page)
			}
		}
	case EvSpend:
		for _, sp := range ev.Spends {
			if sp.Seq == 0 {
				w.staleRefs++
			} else if w.live(sp.Ref, Allotted) {
				w.pages[sp.Ref.Page].state = Filling
				w.gain(sequence(sp.Seq), sp.Ref.Page)
			}
		}
	case EvSeal:
		for _, x := range ev.Seals {
			w.seal(x)
		}
	case EvMatch:
		w.match(ev)
	case EvVerified:
		w.verified(ev)
	case EvRelease:
		w.release(ev.Seq)
	case EvBadPage:
		if !w.live(ev.Ref, Filling, Resident) {
			break
		}
		if !slices.Contains(w.pages[ev.Ref.Page].owners, sequence(ev.Seq)) {
			w.staleRefs++
			break
		}
		w.quarantine(ev.Ref.Page, ev.Seq)
	case EvScrubbed:
		if !w.live(ev.Ref, Quarantined) {
			break
		}
		if len(w.pages[ev.Ref.Page].owners) > 0 {
			w.staleRefs++
			break
		}
		w.home(ev.Ref.Page)
		w.emit(Effect{Kind: FxFreed, N: 1})
	case EvPatrol:
		w.patrol(ev.N)
	case EvCopyOut:
		w.copyOut(ev)
	case EvSlide: // nothing slides where there is no window
		if len(w.owned[ev.Seq]) == 0 {
			w.staleRefs++
			break
		}
		for _, r := range ev.Refs {
			if w.live(r, Resident) {
				w.staleRefs++
			}
		}
	case EvCopied:
		w.copied(ev)
	case EvRestore:
		w.restore(ev)
	case EvRestored:
		w.restored(ev)
	default:
		w.staleRefs++
	}
	return w.fx
}

func (w *twin) emit(fx Effect) { w.fx = append(w.fx, fx) }

func (w *twin) ref(i page.Index) page.Ref {
	return page.Ref{Node: w.cfg.Node, Incarnation: w.cfg.Incarnation, Page: i, Generation: w.pages[i].gen}
}

func (w *twin) live(r page.Ref, want ...State) bool {
	ok := int(r.Page) < len(w.pages) && r.Generation != 0 && r == w.ref(r.Page) && slices.Contains(want, w.pages[r.Page].state)
	if !ok {
		w.staleRefs++
	}
	return ok
}

func (w *twin) allot(n int) {
	scrubbing := 0
	for _, p := range w.pages {
		if p.state == Quarantined && len(p.owners) == 0 {
			scrubbing++
		}
	}
	for evict := max(n, 0) - len(w.free) - scrubbing; evict > 0; evict-- {
		at := slices.IndexFunc(w.idle, func(i page.Index) bool { return len(w.pages[i].owners) == 0 })
		if at < 0 {
			break
		}
		i := w.idle[at]
		w.unindex(i)
		w.retire(i)
	}
	var refs []page.Ref
	for len(refs) < n && len(w.free) > 0 {
		i := w.free[len(w.free)-1]
		w.free = w.free[:len(w.free)-1]
		w.pages[i].state = Allotted
		w.pages[i].gen++
		refs = append(refs, w.ref(i))
	}
	w.emit(Effect{Kind: FxAllotted, N: len(refs), Refs: refs})
}

func (w *twin) seal(x Seal) {
	if !w.live(x.Ref, Filling) {
		return
	}
	p := w.pages[x.Ref.Page]
	if p.owners[0] != sequence(x.Seq) {
		w.staleRefs++
		return
	}
	p.state, p.domain, p.chain, p.checksum = Resident, x.Domain, x.Chain, x.Checksum
	p.sealed, p.proved, p.full = w.now, w.now, x.Full
	p.indexed = x.Full && w.cfg.PrefixCache && !w.fail[x.Seq] && w.find(x.Domain, x.Chain) < 0
}

func (w *twin) find(d page.Domain, h page.Hash) int {
	return slices.IndexFunc(w.pages, func(p *twinPage) bool { return p.indexed && p.domain == d && p.chain == h })
}

func (w *twin) match(ev Event) {
	if ev.Seq == 0 || len(w.owned[ev.Seq]) > 0 {
		w.staleRefs++
		return
	}
	var run []page.Index
	for _, h := range ev.Hashes {
		i := w.find(ev.Domain, h)
		if i < 0 || slices.Contains(run, page.Index(i)) {
			break
		}
		run = append(run, page.Index(i))
	}
	if len(run) == 0 {
		w.emit(Effect{Kind: FxMatched, Seq: ev.Seq})
		return
	}
	for _, i := range run {
		w.gain(sequence(ev.Seq), i)
		w.unidle(i)
	}
	w.check(run, ev.Seq)
}

func (w *twin) check(run []page.Index, seq page.Seq) {
	w.number++
	w.jobs[w.number] = &twinJob{kind: Verify, pages: run, seq: seq, since: w.now}
	var checks []Check
	for _, i := range run {
		w.gain(verify(w.number), i)
		checks = append(checks, w.checkOf(i))
	}
	w.emit(Effect{Kind: FxVerify, Job: w.number, Checks: checks})
}

func (w *twin) verified(ev Event) {
	job := w.endJob(Verify, ev.Job)
	if job == nil {
		return
	}
	good := 0
	for good < len(job.pages) && w.pages[job.pages[good]].indexed && !slices.Contains(ev.Bad, good) {
		good++
	}
	if job.seq != 0 {
		for _, i := range backward(job.pages[good:]) {
			w.lose(sequence(job.seq), i)
		}
	}
	for _, b := range ev.Bad {
		if b < 0 || b >= len(job.pages) {
			w.staleRefs++
		} else if w.pages[job.pages[b]].state == Resident {
			w.quarantine(job.pages[b], 0)
		}
	}
	for _, i := range job.pages {
		if p := w.pages[i]; p.state == Resident {
			p.proved = max(p.proved, job.since)
		}
	}
	w.unpin(job, ev.Job)
	if job.seq != 0 {
		var refs []page.Ref
		for _, i := range job.pages[:good] {
			refs = append(refs, w.ref(i))
		}
		w.emit(Effect{Kind: FxMatched, Seq: job.seq, N: good, Refs: refs})
	}
}

func (w *twin) release(seq page.Seq) {
	w.forget(seq)
	delete(w.fail, seq)
	for _, i := range backward(w.owned[seq]) {
		w.lose(sequence(seq), i)
	}
}

// forget: nobody waits for the verdict on what seq has matched.
func (w *twin) forget(seq page.Seq) {
	for _, job := range w.jobs {
		if job.seq == seq {
			job.seq = 0
		}
	}
}

func (w *twin) quarantine(i page.Index, reporter page.Seq) {
	p := w.pages[i]
	was := p.state
	w.unindex(i)
	p.state = Quarantined
	for _, o := range p.owners {
		s := page.Seq(o.Number)
		if o.Kind != Sequence || w.fail[s] {
			continue
		}
		w.fail[s] = true
		w.forget(s)
		if s != reporter {
			w.emit(Effect{Kind: FxFailed, Seq: s, Ref: w.ref(i)})
		}
	}
	if was != Resident {
		return
	}
	w.distrustCopies(p.domain)
	order := slices.Clone(w.idle)
	for j := range w.pages {
		order = append(order, page.Index(j))
	}
	for _, j := range order {
		if q := w.pages[j]; q.indexed && q.domain == p.domain && q.sealed > p.proved {
			w.unindex(j)
			if len(q.owners) == 0 {
				w.retire(j)
			}
		}
	}
}

func (w *twin) patrol(n int) {
	var run []page.Index
	at := slices.Index(w.idle, page.Index(w.cursor))
	if w.cursor < 0 {
		at = 0
	}
	for range len(w.idle) {
		if len(run) >= n {
			break
		}
		at %= len(w.idle)
		if i := w.idle[at]; len(w.pages[i].owners) == 0 {
			run = append(run, i)
		}
		at++
	}
	w.cursor = -1
	if at < len(w.idle) {
		w.cursor = int(w.idle[at])
	}
	if len(run) > 0 {
		w.check(run, 0)
	}
}

func (w *twin) gain(o Owner, i page.Index) {
	p := w.pages[i]
	p.owners = slices.Insert(p.owners, 0, o)
	if o.Kind == Sequence {
		w.owned[page.Seq(o.Number)] = append(w.owned[page.Seq(o.Number)], i)
	}
}

func (w *twin) lose(o Owner, i page.Index) {
	p := w.pages[i]
	p.owners = slices.DeleteFunc(p.owners, func(x Owner) bool { return x == o })
	if o.Kind == Sequence {
		s := page.Seq(o.Number)
		w.owned[s] = slices.DeleteFunc(slices.Clone(w.owned[s]), func(x page.Index) bool { return x == i })
	}
	read := slices.ContainsFunc(p.owners, func(x Owner) bool { return x.Kind == Sequence })
	switch {
	case p.indexed && !read && !slices.Contains(w.idle, i):
		w.idle = append(w.idle, i)
	case p.indexed || len(p.owners) > 0:
	case p.state == Quarantined:
		w.emit(Effect{Kind: FxScrub, Ref: w.ref(i)})
	default:
		if twin := w.find(p.domain, p.chain); p.state == Resident && twin >= 0 && slices.Contains(w.idle, page.Index(twin)) {
			w.unidle(page.Index(twin))
			w.idle = append(w.idle, page.Index(twin))
		}
		w.retire(i)
	}
}

func (w *twin) unidle(i page.Index) {
	at := slices.Index(w.idle, i)
	if at < 0 {
		return
	}
	w.idle = slices.Delete(w.idle, at, at+1)
	if w.cursor == int(i) {
		w.cursor = -1
		if at < len(w.idle) {
			w.cursor = int(w.idle[at])
		}
	}
}

func (w *twin) unindex(i page.Index) {
	w.pages[i].indexed = false
	w.unidle(i)
}

func (w *twin) retire(i page.Index) {
	if w.cfg.Scrub {
		w.pages[i].state = Quarantined
		w.emit(Effect{Kind: FxScrub, Ref: w.ref(i)})
		return
	}
	w.home(i)
}

func (w *twin) home(i page.Index) {
	w.pages[i].state = Free
	w.free = append(w.free, i)
}

func (w *twin) counts() Counts {
	var c Counts
	for _, p := range w.pages {
		switch p.state {
		case Free:
			c.Free++
		case Allotted:
			c.Allotted++
		case Filling:
			c.Filling++
		case Quarantined:
			c.Quarantined++
		case Restoring:
			c.Restoring++
		case Resident:
			c.Resident++
			if p.indexed && !slices.ContainsFunc(p.owners, func(o Owner) bool { return o.Kind == Sequence }) {
				c.Idle++
			} else {
				c.Read++
			}
		}
		if p.indexed {
			c.Indexed++
		}
	}
	return c
}

func backward[T any](s []T) []T {
	r := slices.Clone(s)
	slices.Reverse(r)
	return r
}
