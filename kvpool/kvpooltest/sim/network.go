package sim

import (
	"slices"

	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// network is every connection and every obstacle between nodes.
type network struct {
	s     *sim
	n     int
	block []block // [from*n+to]
	pairs []*pair // [low*n+high]
}

// block stops what goes from one node to another until a time.
type block struct {
	since, until int64
	drops        bool // lost, not held
}

// pair is what two nodes have of each other.
type pair struct {
	a, b      *node
	conn      *conn // the latest
	beginning bool
	lives     [2]page.Incarnation // of the latest connection
	epoch     uint64              // of these
}

// conn is one connection of two lives.
type conn struct {
	epoch uint64
	pair  *pair
	sides [2]side
}

// side is one end of a connection.
type side struct {
	node *node
	life page.Incarnation
	link kvpool.Link // how this side calls it
	up   bool        // hello done
	over bool        // lost, fencing
	shut bool        // fenced, or its process has ended: nothing is served and nothing lands here
	out  []*read     // this side's own reads, that may land
}

func (c *conn) side(n *node) int {
	if c.sides[0].node == n {
		return 0
	}
	return 1
}

func newNetwork(s *sim, n int) network {
	return network{s: s, n: n, block: make([]block, n*n), pairs: make([]*pair, n*n)}
}

func (w *network) pair(a, b *node) *pair {
	if a.id > b.id {
		a, b = b, a
	}
	p := w.pairs[a.id*w.n+b.id]
	if p == nil {
		p = &pair{a: a, b: b}
		w.pairs[a.id*w.n+b.id] = p
	}
	return p
}

// way is the delay of something from one node to another, and whether it gets there at all.
func (w *network) way(from, to *node) (delay int64, arrives bool) {
	s := w.s
	delay = s.between(30, 300)
	if s.on(Delay) && s.chance(20) {
		delay = s.between(100, 20*milli)
	}
	b := &w.block[from.id*w.n+to.id]
	if b.until > s.now {
		if b.drops {
			return 0, false
		}
		delay += b.until - s.now + s.between(0, 5*milli) // drains in any order
	}
	return delay * int64(to.slowness), true
}

// connect begins a new connection, as soon as both nodes and the way between them are up.
func (w *network) connect(p *pair) {
	if p.beginning {
		return
	}
	p.beginning = true
	w.s.after(w.s.between(200, 10*milli), func() { w.dial(p) })
}

func (w *network) dial(p *pair) {
	s := w.s
	if c := p.conn; c != nil && !c.sides[0].shut && !c.sides[0].over && !c.sides[1].shut && !c.sides[1].over {
		p.beginning = false
		return
	}
	ab, ba := w.block[p.a.id*w.n+p.b.id], w.block[p.b.id*w.n+p.a.id]
	if p.a.down || p.b.down || ab.until > s.now || ba.until > s.now {
		s.after(s.between(2*milli, 20*milli), func() { w.dial(p) })
		return
	}
	if lives := [2]page.Incarnation{p.a.life, p.b.life}; p.lives != lives {
		p.lives, p.epoch = lives, 0
	}
	p.epoch++
	c := &conn{epoch: p.epoch, pair: p}
	p.conn = c
	for i, n := range []*node{p.a, p.b} {
		peer := []*node{p.b, p.a}[i]
		c.sides[i] = side{node: n, life: n.life, link: kvpool.Link{Peer: page.Node(peer.id), Incarnation: peer.life, Epoch: c.epoch}}
	}
	left := 2
	for i := range c.sides {
		s.after(s.between(20, 2*milli), func() {
			if left--; left == 0 {
				p.beginning = false
				if c.sides[0].shut || c.sides[1].shut {
					w.connect(p)
				}
			}
			w.hello(c, i)
		})
	}
}

// hello is one side's end of the handshake.
func (w *network) hello(c *conn, i int) {
	m := &c.sides[i]
	if m.shut || m.over || m.node.down || m.node.life != m.life {
		return
	}
	m.up = true
	m.node.links[c.sides[1-i].node.id] = c
	m.node.conns = append(m.node.conns, c)
	w.s.logf("node %d: connected with %d, epoch %d", m.node.id, m.link.Peer, c.epoch)
	m.node.tellPool(kvpool.Event{Kind: kvpool.EvConnected, Link: m.link})
	m.node.tellCore(handoff.NodeEvent{Kind: handoff.EvLinkUp, Link: m.link})
}

// send carries a message of the ledger.
func (w *network) send(from *node, link kvpool.Link, m kvpool.Message) {
	s := w.s
	c := from.connOf(link)
	if c == nil {
		return
	}
	i := c.side(from)
	if c.sides[i].shut || !w.lie(from, &m) {
		return
	}
	times := 1
	if s.on(Repeat) && s.chance(10) {
		times = 2 + s.rng.IntN(2)
	}
	for k := range times {
		if s.on(Loss) && s.chance(10) {
			continue
		}
		delay, arrives := w.way(from, c.sides[1-i].node)
		if !arrives {
			continue
		}
		s.after(delay, func() { w.deliver(c, 1-i, m, k > 0 && s.chance(30)) })
	}
}

// deliver hands a message to the life it was sent to, or (late) to whoever is at that address over the latest connection.
func (w *network) deliver(c *conn, i int, m kvpool.Message, late bool) {
	to := &c.sides[i]
	if late && c.pair.conn != nil {
		to = &c.pair.conn.sides[i]
	}
	if to.shut || !to.up || to.node.down || to.node.life != to.life {
		return
	}
	w.s.note(uint64(to.node.id), uint64(m.Kind), m.Attempt.Number)
	w.s.logf("node %d: from %d: %v", to.node.id, to.link.Peer, describe(m))
	to.node.tellPool(kvpool.Event{Kind: kvpool.EvMessage, Link: to.link, Message: m})
}

// lie changes a message as a liar would. It reports whether the message is sent.
func (w *network) lie(from *node, m *kvpool.Message) bool {
	if !from.liar {
		return true
	}
	s := w.s
	switch {
	case m.Kind == kvpool.MsgRelease:
		return mix(m.Attempt.Number, 5)%2 == 0 // of some attempts never
	case m.Kind != kvpool.MsgOffer || s.chance(40):
		return true
	}
	if m.Seal != nil && s.chance(30) {
		m.Seal.Groups += s.rng.IntN(3) - 1
		m.Seal.Tokens += s.rng.IntN(3) - 1
	}
	if len(m.Pages) == 0 {
		return true
	}
	o := &m.Pages[s.rng.IntN(len(m.Pages))]
	switch s.rng.IntN(6) {
	case 0:
		o.Ref.Generation += page.Generation(1 + s.rng.IntN(3))
	case 1:
		o.Checksum++
	case 2:
		o.Ref.Page = page.Index(s.rng.IntN(2 * from.pages)) // perhaps there is none
	case 3:
		o.Chain[3]++
	case 4:
		m.Total++
	case 5:
		o.Fill++
	}
	return true
}

// lost tells one side of a connection that it is over, if it has not heard.
func (w *network) lost(c *conn, i int) {
	m := &c.sides[i]
	if m.shut || m.node.down || m.node.life != m.life {
		return
	}
	if !m.up { // no hello yet, and none any more
		m.shut = true
		return
	}
	if !m.over {
		w.s.logf("node %d: lost %d, epoch %d", m.node.id, m.link.Peer, c.epoch)
		m.node.tellPool(kvpool.Event{Kind: kvpool.EvLost, Link: m.link})
	}
}

// fence ends one side of a connection: nothing is served over it and none of its reads land. Then the other side hears that it is closed.
func (w *network) fence(n *node, link kvpool.Link) {
	c := n.connOf(link)
	if c == nil {
		w.s.fail("node %d: a fence for a link that it does not have: %+v", n.id, link)
		return
	}
	i := c.side(n)
	c.sides[i].over = true
	w.s.res.Fences++
	life := n.life
	if w.s.cfg.Break == BreakFenceEarly {
		n.tellPool(kvpool.Event{Kind: kvpool.EvFenced, Link: link})
	}
	w.s.after(w.s.between(50, 20*milli), func() {
		if n.life != life || n.down {
			return
		}
		if w.s.cfg.Break == BreakFenceEarly {
			w.s.after(sec, func() { w.shut(c, i) })
			w.connect(c.pair)
			return
		}
		w.shut(c, i)
		w.s.logf("node %d: fenced %d, epoch %d", n.id, link.Peer, c.epoch)
		n.tellPool(kvpool.Event{Kind: kvpool.EvFenced, Link: link})
		w.connect(c.pair)
	})
}

// shut ends a side's serving and its reads, and lets the other side know.
func (w *network) shut(c *conn, i int) {
	m := &c.sides[i]
	m.shut = true
	for _, r := range m.out {
		r.over = true
	}
	m.out = nil
	m.node.conns = slices.DeleteFunc(m.node.conns, func(x *conn) bool { return x == c })
	w.s.after(w.s.between(50, 50*milli)<<w.s.rng.IntN(3), func() { w.lost(c, 1-i) })
}

func (n *node) connOf(link kvpool.Link) *conn {
	for _, c := range n.conns {
		if c.sides[c.side(n)].link == link {
			return c
		}
	}
	return nil
}
