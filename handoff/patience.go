package handoff

import "github.com/kvasir-engine/kvasir/kvpool"

// tick is the node's patience. It frees nothing: it has things said again, gives up on what has taken long, and suspects a peer that then does not answer.
func (n *Node) tick(load Load) {
	n.ticked, n.load = true, load
	for _, g := range n.callers {
		if !g.up && n.now-g.lostAt >= n.cfg.GatewayGrace {
			n.abandon(g)
		}
	}
	exports := false
	for p := n.live.head; p != nil; {
		next := p.next
		n.wait(p)
		exports = exports || p.open && p.role == Prefill
		p = next
	}
	if exports && n.now-n.repeatAt >= n.cfg.RepeatAfter {
		n.repeatAt = n.now
		n.tellPool(kvpool.Event{Kind: kvpool.EvTick})
	}
	if n.now-n.statusAt >= n.cfg.StatusEvery || n.serial == 0 || n.roomier() && n.now-n.statusAt >= n.cfg.StatusEvery/16 {
		n.statusToAll()
	}
}

// roomier: gateways may hold back requests for want of pages that have come home since the last report.
func (n *Node) roomier() bool {
	return n.load.FreePages-n.reported.FreePages > n.load.TotalPages/32 || n.load.Waiting == 0 && n.reported.Waiting > 0
}

// wait looks whether a part has waited too long.
func (n *Node) wait(p *part) {
	switch waited := n.now - p.since; {
	case !p.over && n.now >= p.deadline:
		n.fail(p, end{reason: ReasonDeadline})
	case !p.over && p.role == Prefill && p.open && p.given > 0 && waited >= n.cfg.ReleaseTimeout:
		n.fail(p, end{reason: ReasonRevoked, why: "the decode node has not released the pages"})
	case p.over && p.open && waited >= n.cfg.SuspectTimeout:
		p.since = n.now
		n.stats.Suspected++
		n.emit(NodeEffect{Kind: FxSuspect, Attempt: p.attempt, Link: p.link})
	}
}

// statusToAll says how the node is. Before the first tick there is no load to tell of, and the node is not ready.
func (n *Node) statusToAll() {
	if !n.ticked {
		return
	}
	n.statusAt = n.now
	m := n.status()
	for _, g := range n.callers {
		n.report(g, m)
	}
}

func (n *Node) status() Message {
	n.serial++
	n.reported = n.load
	return Message{Kind: MsgStatus, Status: &Status{
		Serial: n.serial, Ready: true, Draining: n.draining, Prefill: n.cfg.Prefill, Decode: n.cfg.Decode, Load: n.load, Limits: n.cfg.Limits, Links: n.links,
	}}
}
