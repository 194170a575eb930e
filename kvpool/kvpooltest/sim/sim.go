package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
)

// Times of the shells, far below the bound within which all must come to rest.
const (
	tickEvery     = 10 * milli
	revokeAfter   = 300 * milli // an export without a Release
	suspectAfter  = 300 * milli // a revoked export, or a draining import, after that
	restWithin    = 60 * sec    // after the faults
	incarnationOf = 1000        // the first life's number
)

// sim is one run.
type sim struct {
	cfg    Config
	rng    *rand.Rand
	queue  queue
	now    int64
	number int64 // of the last event
	err    error
	res    Result

	key      kvpool.Key
	layout   [32]byte
	pageSize int
	oneSided bool // reads take the bytes without asking the node that has them

	plan    plan
	faults  bool // are on
	resting bool // nothing is left to do
	nodes   []*node
	net     network
	gates   []*gate
	clients []*client
	probed  bool

	moved     map[kvpool.Attempt]int // pages offered and read
	attemptOf map[kvpool.Attempt]*client
	lives     page.Incarnation // so far
	trace     []string         // ring
}

// Run simulates one seed. It returns when all has come to rest, or something broke.
func Run(cfg Config) Result { return simulate(cfg).res }

func simulate(cfg Config) *sim {
	if cfg.CheckEvery == 0 {
		cfg.CheckEvery = 16
	}
	s := &sim{cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 0x6b766173)), faults: true, lives: incarnationOf, moved: map[kvpool.Attempt]int{}, attemptOf: map[kvpool.Attempt]*client{}}
	func() {
		defer func() {
			if p := recover(); p != nil {
				s.fail("panic: %v", p)
			}
		}()
		s.build()
		s.run()
	}()
	s.finish()
	return s
}

// run takes events until all is at rest.
func (s *sim) run() {
	for s.err == nil && len(s.queue) > 0 {
		e := s.queue.pop()
		s.now = e.at
		e.run()
		s.res.Events++
		if s.resting {
			return
		}
		if s.now > s.plan.end+restWithin {
			s.fail("%s", s.whatWaits())
			return
		}
	}
}

func (s *sim) finish() {
	if s.err == nil {
		s.judge()
	}
	s.res.Err, s.res.Micros = s.err, s.now
	s.res.Requests = len(s.clients)
	for _, r := range s.clients {
		s.res.Outcomes[r.outcome]++
	}
	for _, n := range s.nodes {
		if n.pool != nil && !n.down {
			s.res.Pools.add(n.pool.Stats())
		}
	}
	if n := s.cfg.Trace; n > 0 && len(s.trace) > 0 {
		from := max(0, len(s.trace)-n)
		s.res.Trace = s.trace[from:]
	}
}

// after has something happen in so many microseconds.
func (s *sim) after(delay int64, run func()) {
	s.number++
	s.queue.push(event{s.now + max(delay, 0), s.number, run})
}

// fail notes what broke first.
func (s *sim) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
		s.logf("BROKEN: %v", s.err)
	}
}

// logf adds to the digest that something happened, and to the trace what.
func (s *sim) logf(format string, args ...any) {
	if s.cfg.Trace > 0 {
		s.trace = append(s.trace, fmt.Sprintf("%9.3fms  ", float64(s.now)/1000)+fmt.Sprintf(format, args...))
		if len(s.trace) > 4*s.cfg.Trace {
			s.trace = append(s.trace[:0], s.trace[len(s.trace)-s.cfg.Trace:]...)
		}
	}
}

// note makes the run's digest depend on what happened.
func (s *sim) note(what ...uint64) {
	d := s.res.Digest ^ uint64(s.now)
	for _, w := range what {
		d = mix(d, w)
	}
	s.res.Digest = d
}

func (s *sim) chance(percent int) bool       { return s.rng.IntN(100) < percent }
func (s *sim) between(low, high int64) int64 { return low + s.rng.Int64N(high-low+1) }

// on reports whether faults of a kind happen now.
func (s *sim) on(f Faults) bool { return s.faults && s.cfg.Faults&f != 0 }

func (s *sim) domain(tenant int) string { return fmt.Sprintf("tenant %d", tenant) }

// cacheDomain is the domain of a tenant's pages.
func (s *sim) cacheDomain(tenant int) string {
	if s.cfg.Break == BreakDomain {
		return s.domain(0)
	}
	return s.domain(tenant)
}

// salt stands for the cache domain in the model, so that a page of another tenant is seen in the answer even where the tokens are the same.
func salt(tenant int) uint64 { return mix(0x74656e616e74, uint64(tenant)) }

// watch looks now and then whether all is at rest.
func (s *sim) watch() {
	if s.resting = !s.faults && s.atRest(); !s.resting {
		s.after(s.between(milli, 3*milli), s.watch)
	}
}

// atRest reports whether nothing is left to do. The first time, new requests are made, so that what still works is seen.
func (s *sim) atRest() bool {
	if s.now < s.plan.end {
		return false
	}
	for _, g := range s.gates {
		if !g.atRest() {
			return false
		}
	}
	for _, n := range s.nodes {
		if n.down || !n.atRest() {
			return false
		}
	}
	if !s.probed {
		s.probed = true
		s.probe()
		return false
	}
	return true
}

// whatWaits says what did not come to rest.
func (s *sim) whatWaits() string {
	text := fmt.Sprintf("after %d ms without faults not all is at rest:", restWithin/milli)
	for _, r := range s.clients {
		if r.outcome == Pending {
			text += fmt.Sprintf(" request %d is pending;", r.id)
		}
	}
	for _, g := range s.gates {
		if !g.atRest() {
			text += fmt.Sprintf(" gateway %d has %+v;", g.id, g.core.Stats())
		}
	}
	for _, n := range s.nodes {
		if !n.down && !n.atRest() {
			text += fmt.Sprintf(" node %d has %+v of %d, scheduler %+v, attempts %+v, runs %v, letters %d and %d;", n.id, n.pool.Counts(), n.pages, n.sched.Counts(), n.core.Stats(), n.running, len(n.boxes[0].letters), len(n.boxes[1].letters))
		}
	}
	return text
}

// judge holds the end against what must be.
func (s *sim) judge() {
	for _, r := range s.clients {
		if r.outcome == Pending {
			s.fail("request %d has no outcome", r.id)
		}
		if r.outcome == Completed && len(r.tokens) != r.max {
			s.fail("request %d completed with %d of %d tokens", r.id, len(r.tokens), r.max)
		}
		if r.outcome == Rejected && (len(r.tokens) > 0 || r.limit != request.LimitQueue && s.moved[r.last] > 0) {
			s.fail("I12: request %d was rejected and has %d tokens, and %d pages were offered or read", r.id, len(r.tokens), s.moved[r.last])
		}
		if len(r.spec.Prompt) > s.mostTokens() && (r.outcome == Completed) && s.cfg.special == nil {
			s.fail("request %d completed, and no node can hold it", r.id)
		}
		rotten := s.cfg.Faults&Flip != 0 && r.reason == handoff.ReasonPageCheck // a bit that turned over before is noticed only now
		// A node that remembers few ended parts may have forgotten one whose last words are still on their way.
		forgotten := r.reason == handoff.ReasonForgotten && slices.ContainsFunc(s.nodes, func(n *node) bool { return n.coreConfig.MaxEnded > 0 })
		if r.probe && r.outcome != Completed && !rotten && !forgotten {
			s.fail("request %d, made between honest nodes after the faults, has outcome %d: %s", r.id, r.outcome, r.why)
		}
	}
	for _, n := range s.nodes {
		if err := n.pool.Check(); err != nil {
			s.fail("node %d: %v", n.id, err)
		}
		if c := n.pool.Counts(); c.Free+c.Idle != n.pages {
			s.fail("node %d has lost pages: %+v of %d", n.id, c, n.pages)
		}
	}
}
