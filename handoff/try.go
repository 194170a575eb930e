package handoff

import (
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// job is one request that has no outcome yet.
type job struct {
	id       uint64
	spec     *Spec
	hashes   []page.Hash
	deadline int64

	arrival    uint64 // ascending
	try        *try   // the attempt under way, or nil: it waits for one
	tries      int
	held       bool  // it waits for room: whoever came later waits behind it
	refused    int   // attempts for which there was no room
	notBefore  int64 // of the next attempt
	waitsSince int64 // for a node
	avoid      *peer // that the last attempt failed at; another one is better
	recomputed bool  // an attempt was lost with its node
	told       int   // tokens that the client was told: from the first on there is no other attempt
	done       bool

	place[job]
}

// try is one attempt of a request: alive, or closing, until each of its nodes has closed it.
type try struct {
	attempt kvpool.Attempt
	job     *job // nil where closing
	legs    []*leg

	hasDetail bool // of the first token, from the prefill node
	detail    []byte
	total     int // tokens of the whole answer, once the decode node has ended
	reason    Reason

	place[try] // among the closing, the oldest first
}

// leg is one node's part of a try, as the gateway knows it.
type leg struct {
	try  *try
	peer *peer
	life page.Incarnation
	role Role
	link kvpool.Link

	owed    int   // pages that it will take for the prompt, until the answer begins
	heard   bool  // the node has said something of the attempt
	ended   bool  // its part is over, and well
	closed  bool  // it has closed the attempt, or its life has ended
	askedAt int64 // when it was told last
	saidAt  int64 // when it was told, or heard of, last
	wait    int64 // until it is told again; doubles with each repetition
}

// mostDoublings bounds how rare the repetitions of a word get.
const mostDoublings = 4

// say tells a node where its part of a try stands, and arms the repetition.
func (g *Gateway) say(l *leg) {
	t := l.try
	m := Message{Kind: MsgCancel, Attempt: t.attempt, Life: l.life}
	switch {
	case t.job == nil:
	case !l.heard:
		m.Kind, m.Role, m.Link, m.Spec, m.Remaining = MsgSubmit, l.role, l.link, t.job.spec, t.job.deadline-g.now
	default:
		m.Kind = MsgPoll
		if l.role != Prefill {
			m.Have = t.job.told
		}
	}
	l.saidAt, l.askedAt = g.now, g.now
	if l.peer.up && l.peer.life == l.life {
		g.emit(GatewayEffect{Kind: FxTell, Node: l.peer.node, Message: m})
	}
}

// sayAgain repeats what has had no answer for a while.
func (g *Gateway) sayAgain(l *leg) {
	if l.closed || l.ended && l.try.job != nil || g.now-l.saidAt < l.wait {
		return
	}
	l.wait = max(g.cfg.RepeatAfter, min(2*l.wait, g.cfg.RepeatAfter<<mostDoublings))
	g.say(l)
}

// hear notes a sign of life.
func (g *Gateway) hear(l *leg) { l.heard, l.saidAt, l.wait = true, g.now, g.cfg.RepeatAfter }

// drop ends a try at its nodes.
func (g *Gateway) drop(t *try) {
	if t.job == nil {
		panic("handoff: a try is dropped twice")
	}
	t.job.try, t.job = nil, nil
	g.closing.push(t)
	for _, l := range t.legs {
		l.paid()
		if !l.closed {
			l.wait = g.cfg.RepeatAfter
			g.say(l)
		}
	}
	g.settle(t)
	for g.closing.len > g.cfg.MaxClosing { // whatever is heard of it later is answered by MsgCancel
		old := g.closing.head
		g.closing.remove(old)
		delete(g.byName, old.attempt)
	}
}

// settle forgets a try that all its nodes have closed.
func (g *Gateway) settle(t *try) {
	for _, l := range t.legs {
		if !l.closed {
			return
		}
	}
	g.closing.remove(t)
	delete(g.byName, t.attempt)
}

// lost ends the legs of a node's life, which is over or as good as over. If that is proved nothing has to be closed there any more.
func (g *Gateway) lost(p *peer, life page.Incarnation, proved bool) {
	for t := g.closing.head; t != nil && proved; {
		next := t.next
		for _, l := range t.legs {
			l.closed = l.closed || l.peer == p && l.life == life
		}
		g.settle(t)
		t = next
	}
	for j := g.jobs.head; j != nil; {
		next := j.next
		if j.try != nil {
			g.loseLeg(j.try, p, life, proved)
		}
		j = next
	}
}

// loseLeg ends a try that needs a life which is over. Where the decode node has begun to answer, the prefill node has done its part.
func (g *Gateway) loseLeg(t *try, p *peer, life page.Incarnation, proved bool) {
	for _, l := range t.legs {
		if l.peer != p || l.life != life {
			continue
		}
		l.closed = l.closed || proved
		if l.role != Prefill || t.job.told == 0 && !l.ended {
			g.fail(t, nil, ReasonNodeEnded, "")
			return
		}
		l.ended = true
	}
}
