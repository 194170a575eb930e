package sim

import (
	"slices"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/sched"
)

// node is one address. What follows life is of its present life, and new with each.
type node struct {
	s               *sim
	id              int
	prefill, decode bool
	liar            bool
	pages           int
	config          sched.Config
	ledgerConfig    kvpool.Config
	slowness        int
	down            bool

	life    page.Incarnation
	pool    *kvpool.Ledger
	sched   *sched.Scheduler
	slab    slab
	boxes   [2]mailbox // of the pool and of the scheduler
	links   []*conn    // latest, by peer
	conns   []*conn    // with a link that is not fenced
	jobs    []*job
	byName  map[kvpool.Attempt]*job // for lookup only
	bySeq   map[page.Seq]*job       // for lookup only
	lastSeq page.Seq
	running bool // a batch is
	steps   int
	poolFx  []kvpool.Effect
	schedFx []sched.Effect
	allots  []int // pages asked for, not answered
	dry     bool  // the last answer was short
}

// job is one attempt at this node, as its shell knows it.
type job struct {
	submit submit
	seq    page.Seq
	tokens []int32 // known so far: the prompt, then the answer
	answer int     // tokens of the answer
	hashes []page.Hash
	domain page.Domain

	over   bool       // nothing more will come of it here, and report says what has
	report report     // for the gateway
	given  int        // pages offered
	since  int64      // of the export's last offer or revoke
	open   bool       // an export, or an import that has not ended
	quit   bool       // it was revoked, or cancelled
	refs   []page.Ref // of an import that has started and whose pages the scheduler does not know yet
	tail   page.Ref   // its last page, if partly filled
	asked  bool       // the scheduler has asked for refs
	link   kvpool.Link
}

const (
	poolBox = iota
	schedBox
)

// mailbox takes what an actor has to do, one thing at a time in its order.
type mailbox struct {
	letters []func()
	busy    bool
}

func (n *node) tell(box int, letter func()) {
	b := &n.boxes[box]
	b.letters = append(b.letters, letter)
	if !b.busy {
		b.busy = true
		n.serve(box)
	}
}

func (n *node) serve(box int) {
	life := n.life
	n.s.after(n.s.between(1, 15)*int64(n.slowness), func() {
		if n.life != life || n.down {
			return
		}
		b := &n.boxes[box]
		letter := b.letters[0]
		b.letters = slices.Delete(b.letters, 0, 1)
		letter()
		if b.busy = len(b.letters) > 0; b.busy {
			n.serve(box)
		}
	})
}

// tellPool has the ledger take an event. Where repetition is a fault, also what this node says itself may be said again, much later: it changes nothing then. (But hellos of one peer come
// in their order.)
func (n *node) tellPool(ev kvpool.Event) {
	n.tell(poolBox, func() { n.step(ev) })
	switch ev.Kind {
	case kvpool.EvReturn, kvpool.EvSpend, kvpool.EvSeal, kvpool.EvVerified, kvpool.EvScrubbed, kvpool.EvRead, kvpool.EvOffer, kvpool.EvLost, kvpool.EvFenced:
		if n.s.on(Repeat) && n.s.chance(15) {
			n.later(n.s.between(10, 5*milli)<<n.s.rng.IntN(4), func() { n.tell(poolBox, func() { n.step(ev) }) })
		}
	}
}

func (n *node) tellSched(ev sched.Event) { n.tell(schedBox, func() { n.plan(ev) }) }

// start begins a life with fresh memory.
func (n *node) start() {
	s := n.s
	s.lives++
	n.down, n.life = false, s.lives
	n.ledgerConfig.Incarnation = n.life
	var err error
	if n.pool, err = kvpool.New(n.ledgerConfig); err != nil {
		panic(err)
	}
	if n.sched, err = sched.New(n.config); err != nil {
		panic(err)
	}
	n.slab = newSlab(n.pages, s.pageSize)
	for i := range n.slab.bytes {
		n.slab.bytes[i] = 0xa5
	}
	n.boxes = [2]mailbox{}
	n.links, n.conns = make([]*conn, len(s.nodes)), nil
	n.jobs, n.byName, n.bySeq = nil, map[kvpool.Attempt]*job{}, map[page.Seq]*job{}
	n.running, n.dry, n.allots = false, false, nil
	s.logf("node %d: life %d begins", n.id, n.life)
	n.beat()
}

// beat is the node's own clock.
func (n *node) beat() {
	life := n.life
	wait := n.s.between(tickEvery/2, tickEvery*3/2)
	if n.s.on(Tick) {
		wait = n.s.between(1, 3*tickEvery)
	}
	n.s.after(wait*int64(n.slowness), func() {
		if n.life != life || n.down {
			return
		}
		n.tick()
		n.beat()
	})
}

// step feeds the ledger and performs what it says.
func (n *node) step(ev kvpool.Event) {
	s := n.s
	n.poolFx = n.pool.Step(ev, n.poolFx[:0])
	n.steps++
	s.res.Steps++
	s.note(uint64(n.id), uint64(ev.Kind), uint64(len(n.poolFx)))
	if n.steps%checkEvery == 0 {
		if err := n.pool.Check(); err != nil {
			s.fail("node %d: %v", n.id, err)
		}
	}
	fx := n.poolFx
	n.poolFx = nil // an effect may step again
	for i := range fx {
		n.perform(&fx[i])
	}
	n.poolFx = fx
}

// perform does what the ledger says. Slices are the ledger's, so what is kept is a copy.
func (n *node) perform(fx *kvpool.Effect) {
	s := n.s
	switch fx.Kind {
	case kvpool.FxAllotted:
		n.tellSched(sched.Event{Kind: sched.EvAllotted, Refs: slices.Clone(fx.Refs)})
	case kvpool.FxMatched:
		n.tellSched(sched.Event{Kind: sched.EvMatched, Seq: fx.Seq, Refs: slices.Clone(fx.Refs)})
	case kvpool.FxVerify:
		number, checks := fx.Job, slices.Clone(fx.Checks)
		n.later(s.between(10, 300), func() { n.verify(number, checks) })
	case kvpool.FxScrub:
		ref := fx.Ref
		n.later(s.between(10, 300), func() {
			clear(n.slab.page(ref.Page))
			n.tellPool(kvpool.Event{Kind: kvpool.EvScrubbed, Ref: ref})
		})
	case kvpool.FxFailed:
		s.fail("node %d: sequence %d has read page %v, which is said to be bad", n.id, fx.Seq, fx.Ref)
	case kvpool.FxFreed:
		n.tellSched(sched.Event{Kind: sched.EvPagesFreed})
	default:
		n.handOff(fx)
	}
}

// later has this life do something after a while.
func (n *node) later(delay int64, run func()) {
	life := n.life
	n.s.after(delay*int64(n.slowness), func() {
		if n.life == life && !n.down {
			run()
		}
	})
}

func (n *node) verify(number uint64, checks []kvpool.Check) {
	var bad []int
	for i, c := range checks {
		if checksum(n.slab.page(c.Ref.Page)) != c.Checksum {
			bad = append(bad, i)
			n.s.fail("node %d: page %v does not hold what was sealed in it", n.id, c.Ref)
		}
	}
	n.tellPool(kvpool.Event{Kind: kvpool.EvVerified, Job: number, Bad: bad})
}

// plan feeds the scheduler and performs what it says.
func (n *node) plan(ev sched.Event) {
	if ev.Kind == sched.EvAllotted {
		n.dry, n.allots = len(ev.Refs) < n.allots[0], n.allots[1:]
	}
	n.schedFx = n.sched.Step(ev, n.schedFx[:0])
	n.s.note(uint64(n.id), 1000+uint64(ev.Kind), uint64(len(n.schedFx)))
	fx := n.schedFx
	n.schedFx = nil
	for i := range fx {
		n.performPlan(&fx[i])
	}
	n.schedFx = fx
	if ev.Kind == sched.EvAllotted {
		n.makeRoom()
	}
}

func (n *node) performPlan(fx *sched.Effect) {
	j := n.bySeq[fx.Seq]
	switch fx.Kind {
	case sched.FxAdmitted:
		n.admitted(j)
	case sched.FxRejected:
		n.rejected(j, fx.Rejection)
	case sched.FxMatch:
		n.match(j, fx.Known)
	case sched.FxAllot:
		n.allots = append(n.allots, fx.N)
		n.tellPool(kvpool.Event{Kind: kvpool.EvAllot, N: fx.N})
	case sched.FxReturn:
		n.tellPool(kvpool.Event{Kind: kvpool.EvReturn, Refs: slices.Clone(fx.Refs)})
	case sched.FxRun:
		if len(fx.Batch.Spends) > 0 {
			n.tellPool(kvpool.Event{Kind: kvpool.EvSpend, Spends: slices.Clone(fx.Batch.Spends)})
		}
		n.running = true
		batch := fx.Batch
		n.later(n.s.between(200, milli), func() { n.compute(batch) })
	case sched.FxRelease:
		j.refs, j.tail = nil, page.Ref{}
		n.tellPool(kvpool.Event{Kind: kvpool.EvRelease, Seq: fx.Seq})
	case sched.FxToken:
		if j.submit.role != prefillOnly {
			n.token(j, fx.Token)
		}
	case sched.FxEnd:
		n.ended(j, fx.End)
	case sched.FxPreempted:
		if j.submit.role == prefillOnly && j.given > 0 { // what it has exported may be what others wait for
			n.revoke(j)
			n.tellSched(sched.Event{Kind: sched.EvCancel, Seq: j.seq})
		}
	}
}

// match answers from what was imported, or asks the pool.
func (n *node) match(j *job, known int) {
	if j.refs != nil {
		j.asked = true
		full := j.refs
		if j.tail != (page.Ref{}) {
			full = j.refs[:len(j.refs)-1]
		}
		n.tellSched(sched.Event{Kind: sched.EvMatched, Seq: j.seq, Refs: slices.Clone(full)})
		return
	}
	full := (known - 1) / n.s.pageSize
	j.hash(n.s, full)
	n.tellPool(kvpool.Event{Kind: kvpool.EvMatch, Seq: j.seq, Domain: j.domain, Hashes: j.hashes[:full]})
}

// hash brings the chain hashes of the first full pages up to date.
func (j *job) hash(s *sim, full int) {
	if len(j.hashes) < full {
		j.hashes = kvpool.PageHashes(s.key, j.cacheDomain(s), s.layout, j.tokens, s.pageSize)
	}
}

// compute is the runner: it reads and writes through the page tables, seals what is full, offers it, and answers.
func (n *node) compute(b *sched.Batch) {
	s := n.s
	done := sched.Event{Kind: sched.EvStepDone, Step: b.Step}
	var seals []kvpool.Seal
	var offers []kvpool.Event
	for i := range b.Items {
		it := &b.Items[i]
		j := n.bySeq[it.Seq]
		end := it.Start + it.Count
		last := it.Sample && j.submit.role == prefillOnly
		j.hash(s, end/s.pageSize)
		if s.cfg.Break == BreakSealLate {
			life := n.life
			s.after(5*milli, func() {
				if n.life == life {
					n.write(j, it.Pages, it.Start, end)
				}
			})
		} else {
			n.write(j, it.Pages, it.Start, end)
		}
		r := sched.Result{Seq: it.Seq}
		if it.Sample {
			r.Token = n.slab.sample(it.Pages, end)
			if j.submit.role != prefillOnly {
				j.tokens = append(j.tokens, r.Token)
			}
		}
		done.Results = append(done.Results, r)
		for at := it.Start / s.pageSize; at*s.pageSize < end; at++ {
			if full := (at+1)*s.pageSize <= end; full || last {
				seals = append(seals, n.seal(j, it.Pages[at], at, full, end))
			}
		}
		offers = append(offers, n.offer(j, it.Pages, end, last, r.Token)...)
	}
	n.running = false
	if len(seals) > 0 {
		n.tellPool(kvpool.Event{Kind: kvpool.EvSeal, Seals: seals})
	}
	for _, ev := range offers {
		n.tellPool(ev)
	}
	n.tellSched(done)
}

// write computes tokens [start, end). The tail of an imported prompt is not computed but copied from the page that came.
func (n *node) write(j *job, table []page.Ref, start, end int) {
	size := n.s.pageSize
	if j.tail != (page.Ref{}) && start < len(j.submit.prompt) {
		upTo := min(end, len(j.submit.prompt))
		for pos := start; pos < upTo; pos++ {
			copy(n.slab.slot(table, pos), n.slab.page(j.tail.Page)[pos%size*slotBytes:][:slotBytes])
		}
		start = upTo
	}
	n.slab.fill(salt(j.submit.tenant), table, j.tokens, start, end)
}

// seal hashes a page that is full, or the prompt's last, whose tail is zeroed: stale bytes do not travel.
func (n *node) seal(j *job, ref page.Ref, at int, full bool, end int) kvpool.Seal {
	size := n.s.pageSize
	seal := kvpool.Seal{Ref: ref, Seq: j.seq, Domain: j.domain, Full: full}
	if full {
		seal.Chain = j.hashes[at]
	} else {
		clear(n.slab.page(ref.Page)[(end-at*size)*slotBytes:])
		seal.Chain = chainOf(n.s, j.cacheDomain(n.s), j.tokens[:end])
	}
	seal.Checksum = checksum(n.slab.page(ref.Page))
	return seal
}

func chainOf(s *sim, domain string, tokens []int32) page.Hash {
	c := kvpool.NewChain(s.key, domain, s.layout)
	c.Add(tokens)
	return c.Sum()
}

func (j *job) cacheDomain(s *sim) string {
	if s.cfg.Break == BreakDomain {
		return s.domain(0)
	}
	return s.domain(j.submit.tenant)
}

// atRest: nothing of an attempt is left, and all pages are home.
func (n *node) atRest() bool {
	c := n.pool.Counts()
	for i := range n.boxes {
		if len(n.boxes[i].letters) > 0 {
			return false
		}
	}
	return !n.running && c.Exports == 0 && c.Imports == 0 && c.Free+c.Idle == n.pages
}
