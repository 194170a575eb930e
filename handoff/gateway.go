package handoff

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
)

// Gateway is the rules of a gateway: where a request goes, what both its nodes are told, and what its client is. [Gateway.Step] is all that changes it. It is not safe for concurrent
// use. It holds nothing that outlives it: after a restart a new one learns the nodes from their hellos and reports, and they end what the old one has asked for.
type Gateway struct {
	cfg GatewayConfig
	now int64
	out []GatewayEffect // of the Step under way

	peers  []*peer             // all nodes that ever said hello, in order of the first
	peerOf map[page.Node]*peer // for lookup only
	turn   int                 // where the next choice begins to look

	jobs    list[job, *job]         // without an outcome
	byID    map[uint64]*job         // of jobs; for lookup only
	byName  map[kvpool.Attempt]*try // alive and closing; for lookup only
	closing list[try, *try]
	number  uint64 // of the last attempt
	arrival uint64 // of the last job
	held    uint64 // arrival of the oldest job that waits for room; 0: none does

	prefixes prefixes
	stats    GatewayStats
}

// peer is a node as the gateway knows it.
type peer struct {
	node   page.Node
	life   page.Incarnation // 0: the last one has ended
	up     bool
	lostAt int64
	silent bool   // lost for too long: its attempts have failed
	serial uint64 // of status
	status Status
	sent   int // sequences sent there since the status
	owed   int // pages that prompts will take which were sent there and whose answers have not begun

	hit int // pages of the prompt under the eyes of the choice that may be there
}

// GatewayStats counts what a gateway has seen since its start, and what it has now.
type GatewayStats struct {
	Requests int // without an outcome, now
	Waiting  int // of these without an attempt
	Closing  int // attempts that are over here and not yet at their nodes
	Tries    uint64
	Retries  uint64 // Tries that were not the first
	Local    uint64 // Tries without a hand-off
	Hits     uint64 // Tries that went where a prefix of theirs may be
	Strange  uint64 // messages that mean nothing
	Outcomes [Aborted + 1]uint64
}

// NewGateway makes a gateway that knows nobody. An error names the field of cfg at fault and what would be right.
func NewGateway(cfg GatewayConfig) (*Gateway, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	return &Gateway{
		cfg: cfg, peerOf: map[page.Node]*peer{}, byID: map[uint64]*job{}, byName: map[kvpool.Attempt]*try{}, prefixes: newPrefixes(cfg.MaxPrefixes),
	}, nil
}

// Step takes one event and appends to dst what must be done, in order. It is the only function that changes the gateway.
func (g *Gateway) Step(ev GatewayEvent, dst []GatewayEffect) []GatewayEffect {
	g.out, g.now = dst, max(g.now, ev.Now)
	switch ev.Kind {
	case EvRequest:
		g.request(&ev)
	case EvAbort:
		if j := g.byID[ev.Request]; j != nil {
			g.end(j, GatewayEffect{Outcome: Aborted, Reason: ReasonCancelled})
		}
	case EvNodeUp:
		g.nodeUp(ev.Node, ev.Life)
	case EvNodeLost:
		if p := g.peerOf[ev.Node]; p != nil && p.up {
			p.up, p.lostAt = false, g.now
		}
	case EvNodeEnded:
		if p := g.peerOf[ev.Node]; p != nil && p.life == ev.Life && ev.Life != 0 {
			g.nodeEnded(p)
		}
	case EvHeard:
		g.heard(ev.Node, ev.Life, ev.Message)
	case EvGatewayTick:
		g.tick()
	default:
		panic(fmt.Sprintf("handoff: unknown gateway event %d", ev.Kind))
	}
	dst, g.out = g.out, nil
	return dst
}

// Stats is what the gateway has seen.
func (g *Gateway) Stats() GatewayStats {
	s := g.stats
	s.Requests, s.Closing = int(g.jobs.len), int(g.closing.len)
	for j := g.jobs.head; j != nil; j = j.next {
		if j.try == nil {
			s.Waiting++
		}
	}
	return s
}

func (g *Gateway) emit(fx GatewayEffect) { g.out = append(g.out, fx) }

func (g *Gateway) nodeUp(node page.Node, life page.Incarnation) {
	if life == 0 {
		g.stats.Strange++
		return
	}
	p := g.peerOf[node]
	if p == nil {
		p = &peer{node: node}
		g.peers = append(g.peers, p)
		g.peerOf[node] = p
	}
	if p.life != life {
		if p.life != 0 {
			g.nodeEnded(p)
		}
		*p = peer{node: node, life: life}
	}
	p.up, p.silent = true, false
	g.legs(func(l *leg) { // it was not told while it was away
		if l.peer == p && l.life == life {
			l.wait = 0
			g.sayAgain(l)
		}
	})
}

// legs calls f for each part of each attempt, alive or closing. f ends none.
func (g *Gateway) legs(f func(*leg)) {
	for j := g.jobs.head; j != nil; j = j.next {
		if j.try != nil {
			for _, l := range j.try.legs {
				f(l)
			}
		}
	}
	for t := g.closing.head; t != nil; t = t.next {
		for _, l := range t.legs {
			f(l)
		}
	}
}

// nodeEnded takes the proof that a node's present life is over.
func (g *Gateway) nodeEnded(p *peer) {
	life := p.life
	p.life, p.up, p.silent, p.status = 0, false, false, Status{}
	g.lost(p, life, true)
}

// request takes a client's wish.
func (g *Gateway) request(ev *GatewayEvent) {
	if ev.Spec == nil || g.byID[ev.Request] != nil {
		panic(fmt.Sprintf("handoff: request %d asks for nothing, or twice", ev.Request))
	}
	g.arrival++
	j := &job{arrival: g.arrival, id: ev.Request, spec: ev.Spec, hashes: ev.Hashes, deadline: ev.Deadline, waitsSince: g.now}
	if g.jobs.len >= g.cfg.MaxRequests {
		g.outcome(GatewayEffect{Request: j.id, Outcome: Rejected, Rejection: &request.Rejection{
			Limit: request.LimitQueue, Have: int(g.jobs.len) + 1, Max: int(g.cfg.MaxRequests),
			Why: fmt.Sprintf("The server is busy: %d requests are under way and at most %d may. Please try again later.", g.jobs.len, g.cfg.MaxRequests)}})
		return
	}
	g.jobs.push(j)
	g.byID[j.id] = j
	g.advance(j)
}

// advance makes a job's next attempt if it is time for one and there is a node for it, or ends the job if there was none for too long.
func (g *Gateway) advance(j *job) {
	switch {
	case g.now >= j.deadline:
		g.end(j, GatewayEffect{Outcome: Failed, Reason: ReasonDeadline})
	case j.try != nil || g.now < j.notBefore || g.place(j):
	case j.held:
		j.waitsSince = g.now // there are nodes: it waits for its turn, until its deadline
	case g.now-j.waitsSince >= g.cfg.NodeWait:
		g.end(j, GatewayEffect{Outcome: Failed, Reason: ReasonNoNode})
	}
}

// fail ends a try at both nodes. The request is tried anew elsewhere, unless its client has been told a token, or that would help nobody. culprit, if not nil, is the node that said so.
func (g *Gateway) fail(t *try, culprit *peer, why Reason, text string) {
	j := t.job
	g.drop(t)
	lostNode := why == ReasonNodeEnded || why == ReasonFault
	noRoom := why == ReasonNoRoom // passes by itself: there are others before it
	if noRoom {
		j.refused++
	}
	if j.told > 0 || !retryable(why) || j.tries-j.refused >= int(g.cfg.MaxTries) || lostNode && j.recomputed {
		g.end(j, GatewayEffect{Outcome: Failed, Reason: why, Why: text})
		return
	}
	j.avoid, j.waitsSince = culprit, g.now
	switch {
	case lostNode:
		j.recomputed = true
	case noRoom:
		g.hold(j)
		j.notBefore = g.now + min(g.cfg.RetryAfter<<min(j.refused-1, 30), g.cfg.RetryMost/8)
	default:
		j.notBefore = g.now + min(g.cfg.RetryAfter<<min(j.tries-1, 30), g.cfg.RetryMost)
	}
	g.advance(j)
}

// retryable reports whether another attempt may go better.
func retryable(why Reason) bool {
	switch why {
	case ReasonModel, ReasonDeadline:
		return false
	}
	return true
}

// end tells a client the one outcome of its request (I12).
func (g *Gateway) end(j *job, fx GatewayEffect) {
	if j.done {
		panic(fmt.Sprintf("handoff: I12: a second outcome of request %d", j.id))
	}
	j.done = true
	g.jobs.remove(j)
	g.letPass(j)
	delete(g.byID, j.id)
	if j.try != nil {
		g.drop(j.try)
	}
	fx.Request, fx.Tries = j.id, j.tries
	g.outcome(fx)
}

func (g *Gateway) outcome(fx GatewayEffect) {
	fx.Kind = FxOutcome
	g.stats.Outcomes[fx.Outcome]++
	g.emit(fx)
}

// tick is the gateway's patience.
func (g *Gateway) tick() {
	for _, p := range g.peers {
		if !p.up && !p.silent && p.life != 0 && g.now-p.lostAt >= g.cfg.NodeGrace {
			p.silent = true
			g.lost(p, p.life, false)
		}
	}
	g.legs(g.sayAgain)
	for j := g.jobs.head; j != nil; {
		next := j.next
		g.advance(j)
		j = next
	}
}
