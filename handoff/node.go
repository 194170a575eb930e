package handoff

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// Node is the rules of a node round its parts of attempts. [Node.Step] is all that changes it. It is not safe for concurrent use.
type Node struct {
	cfg NodeConfig
	now int64
	out []NodeEffect // of the Step under way

	callers []*caller          // in order of their first hello
	byLife  map[uint64]*caller // for lookup only
	links   []kvpool.Link      // that are up, in order of their beginning

	byName map[kvpool.Attempt]*part // live and ended; for lookup only
	bySeq  map[page.Seq]*part       // live; for lookup only
	live   list[part, *part]
	ended  list[part, *part]

	ticked   bool
	draining bool
	load     Load
	reported Load // the last
	serial   uint64
	statusAt int64 // when the last status was sent
	repeatAt int64 // when the pool was last asked to repeat
	stats    NodeStats
}

// NodeStats counts what a node has seen since its start, and what it has now.
type NodeStats struct {
	Live, Ended int      // attempts now
	Imports     int      // of Live: prompts that are awaited from other nodes
	Began       uint64   // attempts that were accepted
	Rejected    uint64   // attempts that admission refused
	Strange     uint64   // messages that mean nothing: of another life, of a gateway that is not up, malformed
	Suspected   uint64   // links
	Ends        []uint64 // by Reason; to be read only
}

// NewNode makes a node that knows nobody. An error names the field of cfg at fault and what would be right.
func NewNode(cfg NodeConfig) (*Node, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	return &Node{
		cfg: cfg, byLife: map[uint64]*caller{}, byName: map[kvpool.Attempt]*part{}, bySeq: map[page.Seq]*part{},
		stats: NodeStats{Ends: make([]uint64, len(reasons))},
	}, nil
}

// Step takes one event and appends to dst what must be done, in order. It is the only function that changes the node.
func (n *Node) Step(ev NodeEvent, dst []NodeEffect) []NodeEffect {
	n.out, n.now = dst, max(n.now, ev.Now)
	switch ev.Kind {
	case EvGatewayUp:
		n.gatewayUp(ev.Gateway, ev.GatewayLife)
	case EvGatewayLost:
		n.gatewayLost(ev.GatewayLife)
	case EvTold:
		n.told(&ev)
	case EvLinkUp:
		n.dropLinks(func(l kvpool.Link) bool { return l.Peer == ev.Link.Peer })
		n.links = append(n.links, ev.Link)
		n.statusToAll()
	case EvLinkLost:
		if n.dropLinks(func(l kvpool.Link) bool { return l == ev.Link }) {
			n.statusToAll()
		}
	case EvAdmitted:
		n.admitted(ev.Seq, ev.MaxTokens)
	case EvRejected:
		n.rejected(ev.Seq, ev.Rejection)
	case EvSealed:
		n.sealed(&ev)
	case EvToken:
		n.token(&ev)
	case EvPreempted:
		n.preempted(ev.Seq)
	case EvEnded:
		n.seqEnded(&ev)
	case EvPool:
		n.pool(ev.Pool)
	case EvDrain:
		n.draining = true
		n.statusToAll()
	case EvNodeTick:
		n.tick(ev.Load)
	default:
		panic(fmt.Sprintf("handoff: unknown node event %d", ev.Kind))
	}
	dst, n.out = n.out, nil
	return dst
}

// Stats is what the node has seen.
func (n *Node) Stats() NodeStats {
	s := n.stats
	s.Live, s.Ended = int(n.live.len), int(n.ended.len)
	return s
}

func (n *Node) emit(fx NodeEffect) { n.out = append(n.out, fx) }

func (n *Node) tellPool(ev kvpool.Event) { n.emit(NodeEffect{Kind: FxPool, Pool: ev}) }

// report sends m to a gateway. One that is not up asks again when it is back.
func (n *Node) report(g *caller, m Message) {
	if g.up {
		m.Life = n.cfg.Incarnation
		n.emit(NodeEffect{Kind: FxReport, GatewayLife: g.life, Message: m})
	}
}

func (n *Node) dropLinks(drop func(kvpool.Link) bool) bool {
	kept := n.links[:0]
	for _, l := range n.links {
		if !drop(l) {
			kept = append(kept, l)
		}
	}
	dropped := len(kept) < len(n.links)
	n.links = kept
	return dropped
}

// gatewayUp notes a hello. What an earlier life of the same gateway has asked for is nobody's any more.
func (n *Node) gatewayUp(node page.Node, life uint64) {
	if life == 0 {
		n.stats.Strange++
		return
	}
	for _, g := range n.callers {
		if g.node == node && g.life != life {
			g.up = false
			n.abandon(g)
		}
	}
	g := n.byLife[life]
	if g == nil {
		if !n.makeRoomForCaller() {
			n.stats.Strange++
			return
		}
		g = &caller{node: node, life: life}
		n.callers = append(n.callers, g)
		n.byLife[life] = g
	}
	g.up, g.gone = true, false
	if n.ticked {
		n.report(g, n.status())
	}
}

// makeRoomForCaller makes room for a gateway that says hello, which it does once. Where there are too many, those that are gone and have nothing here any more are forgotten; then the one that was lost first loses its
// grace. What they have closed is forgotten too: should one live after all, it has ended those attempts itself. Only gateways that are up are refused for their number; the others have parts, which are bounded.
func (n *Node) makeRoomForCaller() bool {
	if int64(len(n.callers)) < n.cfg.MaxGateways {
		return true
	}
	var lost *caller
	up := int64(0)
	for _, g := range n.callers {
		switch {
		case g.up:
			up++
		case !g.gone && (lost == nil || g.lostAt < lost.lostAt):
			lost = g
		}
	}
	if lost != nil && !n.forgetGone() {
		n.abandon(lost)
	}
	n.forgetGone()
	return up < n.cfg.MaxGateways
}

// forgetGone forgets gateways that are gone and have no part here, and reports whether there was one.
func (n *Node) forgetGone() bool {
	kept := n.callers[:0]
	for _, g := range n.callers {
		if g.gone && !g.up && g.parts == 0 {
			delete(n.byLife, g.life)
			continue
		}
		kept = append(kept, g)
	}
	forgotten := len(kept) < len(n.callers)
	clear(n.callers[len(kept):])
	n.callers = kept
	return forgotten
}

func (n *Node) gatewayLost(life uint64) {
	if g := n.byLife[life]; g != nil && g.up {
		g.up, g.lostAt = false, n.now
	}
}

// abandon ends all that a gateway has asked for, and which it will not ask for again.
func (n *Node) abandon(g *caller) {
	if g.gone {
		return
	}
	g.gone = true
	for p := n.live.head; p != nil; {
		next := p.next
		if p.gateway == g {
			n.quit(p, ReasonGateway)
		}
		p = next
	}
	for p := n.ended.head; p != nil; {
		next := p.next
		if p.gateway == g {
			n.quit(p, ReasonGateway)
		}
		p = next
	}
}

// told takes a gateway's message, if it is from a gateway that is up, for this life, of an attempt of its own.
func (n *Node) told(ev *NodeEvent) {
	m, g := ev.Message, n.byLife[ev.GatewayLife]
	if g == nil || !g.up || m == nil || m.Life != n.cfg.Incarnation || !m.Attempt.Valid() || m.Attempt.Gateway != g.life {
		n.stats.Strange++
		return
	}
	p := n.byName[m.Attempt]
	switch {
	case m.Kind < MsgSubmit || m.Kind > MsgCancel:
		n.stats.Strange++
	case m.Kind == MsgCancel:
		n.cancel(g, p, m.Attempt)
	case p != nil:
		n.tell(p, m.Have)
	case m.Kind == MsgSubmit && !g.closed.has(m.Attempt.Number):
		n.submit(g, m, ev.Seq)
	default: // closed; or polled, and so heard of once, but forgotten
		n.close(g, m.Attempt)
		n.report(g, Message{Kind: MsgClosed, Attempt: m.Attempt})
	}
}

func (n *Node) close(g *caller, a kvpool.Attempt) { g.closed.add(a.Number, n.cfg.MaxClosed) }

// cancel takes the gateway's word that an attempt is over. It is remembered where it comes first, here and in the pool: offers of that attempt must have an answer.
func (n *Node) cancel(g *caller, p *part, a kvpool.Attempt) {
	if p != nil {
		n.quit(p, ReasonCancelled)
	} else if !g.closed.has(a.Number) {
		n.close(g, a)
		n.tellPool(kvpool.Event{Kind: kvpool.EvCancel, Attempt: a})
	}
	n.report(g, Message{Kind: MsgClosed, Attempt: a})
}
