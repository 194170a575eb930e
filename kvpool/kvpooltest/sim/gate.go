package sim

import (
	"slices"

	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
)

// gate is the shell of a gateway at one place. What follows life is of its present life.
type gate struct {
	s       *sim
	id      int
	only    []*node // it knows these alone: the prefill node and the decode node of a probe
	down    bool
	life    uint64
	core    *handoff.Gateway
	wires   []*wire // the latest to each node, by its number
	dialing []bool
	fx      []handoff.GatewayEffect
}

// client is one choice of one request, and what has become of it.
type client struct {
	id       int
	gate     *gate
	life     uint64 // of the gate
	tenant   int
	spec     *handoff.Spec
	max      int
	deadline int64
	want     []int32 // the right answer
	tokens   []int32
	outcome  Outcome
	why      string
	reason   handoff.Reason
	limit    request.Limit  // of a rejection
	last     kvpool.Attempt // the latest attempt
	tries    int
	probe    bool
}

// place is the gate's name among the nodes' gateways.
func (g *gate) place() page.Node { return page.Node(1_000_000 + g.id) }

func (s *sim) newGate(only ...*node) *gate {
	g := &gate{s: s, id: len(s.gates), only: only, wires: make([]*wire, len(s.nodes)), dialing: make([]bool, len(s.nodes))}
	s.gates = append(s.gates, g)
	g.start()
	return g
}

// start begins a life that knows nobody.
func (g *gate) start() {
	s := g.s
	s.lives++
	g.down, g.life = false, uint64(s.lives)
	var err error
	g.core, err = handoff.NewGateway(handoff.GatewayConfig{
		Incarnation: g.life, PageSize: int64(s.pageSize), RepeatAfter: 20 * milli * 1000, NodeGrace: 150 * milli * 1000, RetryAfter: 8 * milli * 1000, RetryMost: 500 * milli * 1000,
		MaxTries: int64(s.maxTries(g)), NodeWait: 3 * sec * 1000, MaxRequests: []int64{0, 0, 0, 8}[s.rng.IntN(4)], MaxClosing: []int64{0, 0, 1, 6}[s.rng.IntN(4)],
		MaxPrefixes: []int64{0, 5, 64}[s.rng.IntN(3)], LocalPrompts: int64(s.rng.IntN(2) * s.rng.IntN(4*s.pageSize)),
	})
	if err != nil {
		panic(err)
	}
	s.logf("gateway %d: life %d begins", g.id, g.life)
	for _, n := range s.nodes {
		if g.only == nil || slices.Contains(g.only, n) {
			s.connectGate(g, n)
		}
	}
	g.beat()
}

// maxTries: a probe must succeed where anything can.
func (s *sim) maxTries(g *gate) int {
	if g.only != nil {
		return 12
	}
	return 4
}

func (g *gate) beat() {
	life := g.life
	g.s.after(g.s.between(15*milli, 25*milli), func() {
		if g.life == life && !g.down {
			g.step(handoff.GatewayEvent{Kind: handoff.EvGatewayTick})
			g.beat()
		}
	})
}

// step feeds the core and performs what it says.
func (g *gate) step(ev handoff.GatewayEvent) {
	ev.Now = g.s.now * 1000
	fx := g.core.Step(ev, g.fx[:0])
	g.s.note(3000+uint64(g.id), uint64(ev.Kind), uint64(len(fx)))
	g.fx = nil
	for i := range fx {
		g.perform(&fx[i])
	}
	g.fx = fx
}

func (g *gate) perform(fx *handoff.GatewayEffect) {
	s := g.s
	switch fx.Kind {
	case handoff.FxTell:
		if m := &fx.Message; m.Kind == handoff.MsgSubmit {
			c := s.clientOf(m.Spec)
			if c.last != m.Attempt {
				c.last = m.Attempt
				c.tries++
			}
			if len(c.tokens) > 0 && s.attemptOf[m.Attempt] == nil {
				s.fail("gateway %d: request %d has a new attempt %v after its first token", g.id, c.id, m.Attempt)
			}
			s.attemptOf[m.Attempt] = c
		}
		s.sendNode(g, int(fx.Node), handoff.AppendMessage(make([]byte, 0, 256), &fx.Message))
	case handoff.FxTokens:
		g.tokens(s.clients[fx.Request], fx)
	case handoff.FxOutcome:
		g.outcome(s.clients[fx.Request], fx)
	}
}

// tokens gives a client what comes next in its answer.
func (g *gate) tokens(c *client, fx *handoff.GatewayEffect) {
	s := g.s
	if c.outcome != Pending || fx.First != len(c.tokens) || c.spec.Details != (len(fx.Details) == len(fx.Tokens)) {
		s.fail("I12: request %d with outcome %d has %d tokens, and gets %d (%d details) from number %d on", c.id, c.outcome, len(c.tokens), len(fx.Tokens), len(fx.Details), fx.First)
	}
	for i, t := range fx.Tokens {
		s.check(c, fx.First+i, t, "the gateway")
		if c.spec.Details && !slices.Equal(fx.Details[i], detailOf(t)) {
			s.fail("token %d of request %d has another token's detail", fx.First+i, c.id)
		}
	}
	c.tokens = append(c.tokens, fx.Tokens...)
}

// detailOf stands for a token's log-probabilities.
func detailOf(t int32) []byte { return []byte{byte(t), byte(t >> 8), byte(t >> 16), 1} }

func (g *gate) outcome(c *client, fx *handoff.GatewayEffect) {
	o := map[handoff.Outcome]Outcome{handoff.Completed: Completed, handoff.Rejected: Rejected, handoff.Failed: Failed, handoff.Aborted: Cancelled}[fx.Outcome]
	c.reason, c.why = fx.Reason, fx.Reason.String()+" "+fx.Why
	if fx.Rejection != nil {
		c.why, c.limit = fx.Rejection.Why, fx.Rejection.Limit
	}
	g.s.end(c, o)
	if g.s.cfg.Break == BreakSecondOutcome && o == Completed && c.id%7 == 3 {
		g.s.end(c, Failed)
	}
}

// end gives a client its outcome: once.
func (s *sim) end(c *client, o Outcome) {
	if c.outcome != Pending {
		s.fail("I12: request %d has outcome %d, and %d after it", c.id, c.outcome, o)
		return
	}
	s.logf("request %d: outcome %d %s", c.id, o, c.why)
	s.note(2000, uint64(c.id), uint64(o))
	c.outcome = o
}

// check holds a token against the right answer, at the moment it leaves its node and when the client gets it.
func (s *sim) check(c *client, at int, t int32, where string) {
	if other := int(t-canary) / canaries; t >= canary && other < tenants && other != c.tenant {
		s.fail("%s: the answer to request %d of tenant %d has a canary of tenant %d", where, c.id, c.tenant, other)
	}
	if at >= len(c.want) || t != c.want[at] {
		s.fail("%s: wrong token: token %d of the answer to request %d (%v) is %d", where, at, c.id, c.last, t)
	}
}

// ask has a client's request begin at a gate.
func (s *sim) ask(g *gate, c *client) {
	c.id, c.gate, c.life = len(s.clients), g, g.life
	c.spec.Request = requestName(c.id)
	c.spec.Tenant, c.spec.Domain, c.spec.MaxTokens = s.domain(c.tenant), s.cacheDomain(c.tenant), c.max
	c.want = answer(salt(c.tenant), draw(c.spec), c.spec.Prompt, c.max)
	s.clients = append(s.clients, c)
	if g.down { // nobody takes it
		c.why = "the gateway is down"
		s.end(c, Failed)
		return
	}
	hashes := kvpool.PageHashes(s.key, c.spec.Domain, s.layout, c.spec.Prompt, s.pageSize)
	g.step(handoff.GatewayEvent{Kind: handoff.EvRequest, Request: uint64(c.id), Spec: c.spec, Hashes: hashes, Deadline: (s.now + c.deadline) * 1000})
}

// abort has a client go away, also one that was told its outcome.
func (s *sim) abort(c *client) {
	if !c.gate.down && c.gate.life == c.life {
		c.gate.step(handoff.GatewayEvent{Kind: handoff.EvAbort, Request: uint64(c.id)})
	}
}

// crashGate ends a gateway's life. Its clients see their connections break.
func (s *sim) crashGate(g *gate, last int64) {
	if g.down {
		return
	}
	s.res.GateCrashes++
	s.logf("gateway %d: life %d ends", g.id, g.life)
	g.down = true
	for _, c := range s.clients {
		if c.gate == g && c.outcome == Pending {
			c.why = "the gateway has ended"
			s.end(c, Failed)
		}
	}
	for _, w := range g.wires {
		if w != nil {
			s.cut(w)
		}
	}
	s.after(s.between(100, last), g.start)
}

// atRest: nobody waits, and every node has closed what was asked of it.
func (g *gate) atRest() bool {
	st := g.core.Stats()
	return !g.down && st.Requests == 0 && st.Closing == 0
}
