package sim

import (
	"slices"

	"github.com/kvasir-engine/kvasir/handoff"
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
	coreConfig      handoff.NodeConfig
	slowness        int
	down            bool

	life    page.Incarnation
	pool    *kvpool.Ledger
	sched   *sched.Scheduler
	core    *handoff.Node // lives with the scheduler
	slab    slab
	headers []page.Header
	boxes   [2]mailbox        // of the pool, and of the scheduler and the core
	links   []*conn           // latest, by peer
	conns   []*conn           // with a link that is not fenced
	seqs    map[page.Seq]*seq // for lookup only
	lastSeq page.Seq
	running bool // a batch is
	steps   int
	poolFx  []kvpool.Effect
	schedFx []sched.Effect
	coreFx  []handoff.NodeEffect
	tables  map[page.Seq][]page.Ref // the pages that each sequence reads; for lookup only
	readers []page.Seq              // the sequences of tables, in any order
	doubt   []int8                  // of each page: checks that have hashed it, and whose verdict the pool does not know yet
	hashed  []int64                 // of each page: when a check last hashed it
	awaited []awaited
}

// awaited is the EvExpect of an import whose end is awaited.
type awaited struct {
	kvpool.Event
	since int64
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
	life, delay := n.life, n.s.between(1, 15)
	if n.s.on(Delay) && n.s.chance(2) { // an actor that others keep from its turn
		delay = n.s.between(200, 5*milli)
	}
	n.s.after(delay*int64(n.slowness), func() {
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
	case kvpool.EvReturn, kvpool.EvSpend, kvpool.EvSeal, kvpool.EvVerified, kvpool.EvReserve, kvpool.EvExpect, kvpool.EvScrubbed, kvpool.EvRead, kvpool.EvOffer, kvpool.EvLost, kvpool.EvFenced:
		if n.s.on(Repeat) && n.s.chance(15) {
			n.later(n.s.between(10, 5*milli)<<n.s.rng.IntN(4), func() { n.tell(poolBox, func() { n.step(ev) }) })
		}
	}
}

func (n *node) tellSched(ev sched.Event) { n.tell(schedBox, func() { n.plan(ev) }) }

func (n *node) tellCore(ev handoff.NodeEvent) { n.tell(schedBox, func() { n.stepCore(ev) }) }

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
	n.coreConfig.Incarnation = n.life
	if n.core, err = handoff.NewNode(n.coreConfig); err != nil {
		panic(err)
	}
	n.slab, n.headers = newSlab(n.pages, s.pageSize), make([]page.Header, n.pages)
	for i := range n.slab.bytes {
		n.slab.bytes[i] = 0xa5
	}
	n.boxes = [2]mailbox{}
	n.links, n.conns = make([]*conn, len(s.nodes)), nil
	n.seqs, n.tables, n.readers, n.doubt, n.awaited = map[page.Seq]*seq{}, map[page.Seq][]page.Ref{}, nil, make([]int8, n.pages), nil
	n.hashed = make([]int64, n.pages)
	n.running = false
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
	if n.steps%s.cfg.CheckEvery == 0 {
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
		n.reads(fx.Seq, slices.Clone(fx.Refs))
		n.tellSched(sched.Event{Kind: sched.EvMatched, Seq: fx.Seq, Refs: slices.Clone(fx.Refs)})
	case kvpool.FxVerify:
		number, checks := fx.Job, slices.Clone(fx.Checks)
		n.later(s.between(10, 300), func() { n.verify(number, checks) })
	case kvpool.FxScrub:
		ref := fx.Ref
		n.later(s.between(10, 300), func() {
			clear(n.slab.page(ref.Page))
			n.headers[ref.Page] = page.Header{}
			n.tellPool(kvpool.Event{Kind: kvpool.EvScrubbed, Ref: ref})
		})
	case kvpool.FxFailed:
		n.flaw("node %d: sequence %d has read page %v, which is said to be bad", n.id, fx.Seq, fx.Ref)
		n.tellSched(sched.Event{Kind: sched.EvFailed, Seq: fx.Seq})
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

// reads notes which pages a sequence reads from now on.
func (n *node) reads(id page.Seq, table []page.Ref) {
	if _, known := n.tables[id]; !known {
		n.readers = append(n.readers, id)
	}
	n.tables[id] = table
}

func (n *node) readsNoMore(id page.Seq) {
	if _, known := n.tables[id]; known {
		delete(n.tables, id)
		i := slices.Index(n.readers, id)
		n.readers[i] = n.readers[len(n.readers)-1]
		n.readers = n.readers[:len(n.readers)-1]
	}
}

// isQuiet: page i is sealed, and no sequence reads it, or is about to. Its bytes will be hashed before anybody does.
func (n *node) isQuiet(i page.Index) bool {
	if state, _ := n.pool.Page(i); state != kvpool.Resident || n.doubt[i] > 0 {
		return false
	}
	for _, a := range n.awaited { // it may have found the page here, and had it hashed
		if a.since <= n.hashed[i] {
			return false
		}
	}
	for _, q := range n.readers {
		for _, ref := range n.tables[q] {
			if ref.Page == i {
				return false
			}
		}
	}
	return true
}

// plan feeds the scheduler and performs what it says.
func (n *node) plan(ev sched.Event) {
	fx := n.sched.Step(ev, n.schedFx[:0])
	n.s.note(uint64(n.id), 1000+uint64(ev.Kind), uint64(len(fx)))
	n.schedFx = nil // an effect may step again
	for i := range fx {
		n.performPlan(&fx[i])
	}
	n.schedFx = fx
}

func (n *node) performPlan(fx *sched.Effect) {
	switch q := n.seqs[fx.Seq]; fx.Kind {
	case sched.FxAdmitted:
		n.stepCore(handoff.NodeEvent{Kind: handoff.EvAdmitted, Seq: fx.Seq, MaxTokens: fx.Admitted.MaxTokens()})
	case sched.FxRejected:
		n.stepCore(handoff.NodeEvent{Kind: handoff.EvRejected, Seq: fx.Seq, Rejection: fx.Rejection})
	case sched.FxMatch:
		n.tellPool(kvpool.Event{Kind: kvpool.EvMatch, Seq: q.id, Domain: q.domain, Hashes: q.hashes[1 : 1+(fx.Known-1)/n.s.pageSize]})
	case sched.FxAllot:
		n.tellPool(kvpool.Event{Kind: kvpool.EvAllot, N: fx.N})
	case sched.FxReturn:
		n.tellPool(kvpool.Event{Kind: kvpool.EvReturn, Refs: slices.Clone(fx.Refs)})
	case sched.FxRun:
		if len(fx.Batch.Spends) > 0 {
			n.tellPool(kvpool.Event{Kind: kvpool.EvSpend, Spends: slices.Clone(fx.Batch.Spends)})
		}
		for i := range fx.Batch.Items {
			n.reads(fx.Batch.Items[i].Seq, fx.Batch.Items[i].Pages)
		}
		n.running = true
		batch := fx.Batch
		n.later(n.s.between(200, milli), func() { n.compute(batch) })
	case sched.FxRelease:
		n.readsNoMore(fx.Seq)
		n.tellPool(kvpool.Event{Kind: kvpool.EvRelease, Seq: fx.Seq})
	case sched.FxToken:
		if !q.export {
			ev := handoff.NodeEvent{Kind: handoff.EvToken, Seq: q.id, Token: fx.Token}
			n.sampled(q, q.said, fx.Token, &ev.Detail)
			q.said++
			n.stepCore(ev)
		}
	case sched.FxEnd:
		why := map[sched.End]handoff.Reason{sched.EndStop: handoff.ReasonStop, sched.EndLength: handoff.ReasonLength, sched.EndCancelled: handoff.ReasonCancelled, sched.EndFailed: handoff.ReasonPageCheck}
		n.stepCore(handoff.NodeEvent{Kind: handoff.EvEnded, Seq: q.id, Reason: why[fx.End]})
	case sched.FxPreempted:
		n.s.res.Preempted++
		n.stepCore(handoff.NodeEvent{Kind: handoff.EvPreempted, Seq: q.id})
	}
}

// atRest: nothing of an attempt is left, and all pages are home.
func (n *node) atRest() bool {
	c := n.pool.Counts()
	for i := range n.boxes {
		if len(n.boxes[i].letters) > 0 {
			return false
		}
	}
	return !n.running && n.core.Stats().Live == 0 && c.Exports == 0 && c.Imports == 0 && c.Free+c.Idle == n.pages
}
