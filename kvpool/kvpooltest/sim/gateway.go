package sim

import (
	"slices"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
)

// role is what a node is for an attempt.
type role int

const (
	prefillOnly role = iota
	decodeOnly
	local // both, at one node: no hand-off
)

// submit is the gateway's word to one node of an attempt. Cancel says that it is over.
type submit struct {
	attempt  kvpool.Attempt
	request  int
	role     role
	life     page.Incarnation // of the node, as the gateway knows it
	peer     int
	peerLife page.Incarnation
	tenant   int
	prompt   []int32
	max      int
	cancel   bool
}

// report is a node's word to the gateway: all that has become of the attempt there.
type report struct {
	attempt   kvpool.Attempt
	life      page.Incarnation
	role      role
	tokens    []int32
	over      bool
	exported  bool
	why       string // it did not end well
	rejection *request.Rejection
}

// gateway hands requests to nodes, one try after another, and tells each client one outcome. Every word is repeated until it is answered.
type gateway struct {
	s        *sim
	requests []*client
	tries    []*try                  // that some node may still have to hear of
	byName   map[kvpool.Attempt]*try // for lookup only
	lives    []page.Incarnation      // of nodes, as far as is known here; 0: down
	number   uint64
	probed   bool
}

// client is one request and what has become of it.
type client struct {
	id      int
	tenant  int
	prompt  []int32
	max     int
	want    []int32 // the right answer
	tokens  []int32
	outcome Outcome
	why     string
	tried   int
	try     *try
	probe   bool
	nodes   [2]int // where a probe goes
	pinned  bool   // nodes are given
}

// try is one attempt of a request.
type try struct {
	client *client
	part   [2]submit // the second is unused where local
	parts  int
	heard  [2]bool // the node has answered what it was told last
	over   bool
	began  int64
}

func (g *gateway) done() bool {
	for _, r := range g.requests {
		if r.outcome == Pending {
			return false
		}
	}
	return len(g.tries) == 0
}

// begin takes a request.
func (g *gateway) begin(r *client) {
	r.id = len(g.requests)
	g.requests = append(g.requests, r)
	r.want = answer(salt(r.tenant), r.prompt, r.max)
	g.next(r)
}

// next makes one more attempt, or gives up.
func (g *gateway) next(r *client) {
	if r.outcome != Pending {
		return
	}
	if r.tried >= maxTries && !r.probe || r.tried >= 2*maxTries {
		g.end(r, Failed)
		return
	}
	p, d, ok := g.choose(r)
	if !ok {
		g.s.after(20*milli, func() { g.next(r) })
		return
	}
	r.tried++
	g.number++
	t := &try{client: r, began: g.s.now, parts: 2}
	a := kvpool.Attempt{Gateway: gatewayName, Number: g.number, Prefill: g.lives[p]}
	common := submit{attempt: a, request: r.id, tenant: r.tenant, prompt: r.prompt, max: r.max}
	for i := range t.part {
		t.part[i] = common
	}
	t.part[0].role, t.part[0].life, t.part[0].peer, t.part[0].peerLife = prefillOnly, g.lives[p], d, g.lives[d]
	t.part[1].role, t.part[1].life, t.part[1].peer, t.part[1].peerLife = decodeOnly, g.lives[d], p, g.lives[p]
	if p == d {
		t.part[0].role, t.parts = local, 1
	}
	r.try = t
	g.byName[a] = t
	g.tries = append(g.tries, t)
	g.say(t)
}

// choose finds two nodes that are up, as far as is known here.
func (g *gateway) choose(r *client) (p, d int, ok bool) {
	s := g.s
	if r.pinned {
		p, d = r.nodes[0], r.nodes[1]
		return p, d, g.lives[p] != 0 && g.lives[d] != 0
	}
	for range 32 {
		p, d = s.rng.IntN(len(s.nodes)), s.rng.IntN(len(s.nodes))
		if p == d && !(s.nodes[p].prefill && s.nodes[p].decode && s.chance(50)) {
			continue
		}
		if s.nodes[p].prefill && s.nodes[d].decode && g.lives[p] != 0 && g.lives[d] != 0 {
			return p, d, true
		}
	}
	return 0, 0, false
}

// say tells both nodes what they have not answered.
func (g *gateway) say(t *try) {
	first := 0
	if g.s.chance(50) {
		first = 1
	}
	for k := range 2 {
		if i := (first + k) % 2; i < t.parts && !t.heard[i] {
			g.send(t, i)
		}
	}
}

// nodeOf is where part i of a try goes.
func (t *try) nodeOf(i int) int {
	switch {
	case t.parts == 1:
		return t.part[0].peer
	default:
		return t.part[1-i].peer
	}
}

func (t *try) honest(s *sim) bool {
	return !s.nodes[t.nodeOf(0)].liar && (t.parts == 1 || !s.nodes[t.nodeOf(1)].liar)
}

func (g *gateway) send(t *try, i int) {
	s := g.s
	n, m := s.nodes[t.nodeOf(i)], t.part[i]
	times := 1
	if s.on(Loss) && s.chance(5) {
		times = 0
	} else if s.on(Repeat) && s.chance(10) {
		times = 2
	}
	for range times {
		delay := s.between(50, 500)
		if s.on(Delay) && s.chance(20) {
			delay = s.between(100, 30*milli)
		}
		s.after(delay*int64(n.slowness), func() {
			switch {
			case n.down || n.life != m.life && (m.role == local || s.chance(50)): // or another life is there: it must not take the attempt
			case m.cancel:
				n.cancelled(m)
			default:
				n.submitted(m)
			}
		})
	}
}

// hear carries a node's report to the gateway.
func (g *gateway) hear(n *node, j *job) {
	r := j.report
	r.tokens = slices.Clone(r.tokens)
	cancelled := j.quit
	delay := g.s.between(50, 500)
	if g.s.on(Delay) && g.s.chance(20) {
		delay = g.s.between(100, 30*milli)
	}
	g.s.after(delay, func() { g.heard(&r, cancelled) })
}

// heard takes a report. It may be late, and repeated.
func (g *gateway) heard(m *report, cancelled bool) {
	t := g.byName[m.attempt]
	if t == nil {
		return
	}
	i := 0
	if m.role == decodeOnly {
		i = 1
	}
	if t.part[i].cancel {
		t.heard[i] = t.heard[i] || cancelled
		return
	}
	c := t.client
	if t.over || c.outcome != Pending {
		return
	}
	if len(m.tokens) > len(c.tokens) {
		c.tokens = m.tokens
	}
	switch {
	case m.rejection != nil && m.rejection.Limit != request.LimitQueue:
		c.why = m.why
		g.end(c, Rejected)
	case len(c.tokens) == c.max && m.role != prefillOnly:
		g.end(c, Completed)
	case m.over && (m.why != "" || m.role != prefillOnly):
		c.why = m.why
		g.retry(t)
	}
	if g.s.cfg.Break == BreakSecondOutcome && c.outcome == Completed && c.id%7 == 3 {
		g.end(c, Failed)
	}
}

// check holds a token against the right answer at the moment it leaves its node.
func (g *gateway) check(n *node, j *job) {
	r := g.requests[j.submit.request]
	at := len(j.report.tokens) - 1
	t := j.report.tokens[at]
	if other := int(t-canary) / canaries; t >= canary && other < tenants && other != r.tenant {
		g.s.fail("node %d: the answer to request %d of tenant %d has a canary of tenant %d", n.id, r.id, r.tenant, other)
	}
	if at >= len(r.want) || t != r.want[at] {
		g.s.fail("node %d: wrong token: token %d of the answer to request %d (%v, role %d) is %d", n.id, at, r.id, j.submit.attempt, j.submit.role, t)
	}
}

// retry ends a try and makes another, after a while.
func (g *gateway) retry(t *try) {
	g.s.logf("gateway: attempt %v is over: %s", t.part[0].attempt, t.client.why)
	g.drop(t)
	c := t.client
	g.s.after(g.s.between(5*milli, 30*milli)<<min(c.tried, 6), func() { g.next(c) })
}

// drop ends a try at both nodes.
func (g *gateway) drop(t *try) {
	if t.over {
		return
	}
	t.over = true
	for i := range t.part {
		t.part[i].cancel, t.heard[i] = true, false
	}
	g.say(t)
}

// end tells the client its outcome: once.
func (g *gateway) end(r *client, o Outcome) {
	if r.outcome != Pending {
		g.s.fail("I12: request %d has outcome %d, and %d after it", r.id, r.outcome, o)
		return
	}
	g.s.logf("gateway: request %d: outcome %d %s", r.id, o, r.why)
	g.s.note(2000, uint64(r.id), uint64(o))
	r.outcome = o
	if r.try != nil {
		g.drop(r.try)
	}
}

// tick repeats what has had no answer.
func (g *gateway) tick() {
	s := g.s
	left := g.tries[:0]
	for _, t := range g.tries {
		gone := true
		for i := range t.parts {
			if g.lives[t.nodeOf(i)] != t.part[i].life { // it has ended, and with it what it had of this
				t.heard[i] = t.over
				if !t.over {
					t.client.why = "a node has ended"
					g.retry(t)
				}
			}
			gone = gone && t.over && t.heard[i]
		}
		if !t.over && s.now-t.began > deadline {
			if t.client.why = "deadline"; s.now-s.plan.end > deadline*2/3 && !s.faults && t.honest(s) {
				s.fail("attempt %v between honest nodes waited for its deadline, long after the faults", t.part[0].attempt)
			}
			g.retry(t)
		}
		if !gone {
			left = append(left, t)
			g.say(t)
		}
	}
	g.tries = left
	s.after(s.between(15*milli, 25*milli), g.tick)
}
