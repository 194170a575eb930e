package handoff

import "github.com/kvasir-engine/kvasir/kvpool"

// enter makes the record of an attempt that is new here.
func (n *Node) enter(g *caller, m *Message) *part {
	p := &part{attempt: m.Attempt, gateway: g, spec: m.Spec, role: m.Role, link: m.Link, since: n.now, detailed: m.Spec.Details}
	p.deadline = n.now + max(0, min(m.Remaining, n.cfg.MaxRemaining))
	n.byName[p.attempt] = p
	n.live.push(p)
	g.parts++
	return p
}

// tell says what has become of a part, of its answer from token have on.
func (n *Node) tell(p *part, have int) {
	m := Message{Attempt: p.attempt}
	switch {
	case p.quit:
		m.Kind = MsgClosed
	case p.rejection != nil:
		m.Kind, m.Rejection = MsgRejected, p.rejection
	default:
		said := n.tellTokens(p, have)
		switch {
		case p.over:
			m.Kind, m.Reason, m.Need, m.Max, m.Why = MsgEnd, p.end.reason, p.end.need, p.end.max, p.end.why
			if p.role != Prefill {
				m.Total = len(p.tokens)
			}
		case said:
			return
		default:
			m.Kind = MsgAccepted
		}
	}
	n.report(p.gateway, m)
}

// tellTokens says the tokens of a part's answer from the one numbered from on. It reports whether there are any.
func (n *Node) tellTokens(p *part, from int) bool {
	if from < 0 || from >= len(p.tokens) || p.role == Prefill && !p.detailed {
		return false
	}
	m := Message{Kind: MsgTokens, Attempt: p.attempt, First: from, Tokens: p.tokens[from:]}
	if p.role == Prefill {
		m.Kind = MsgPrefilled
	}
	if p.detailed {
		m.Details = p.details[from:]
	}
	n.report(p.gateway, m)
	return true
}

// add puts a token at the end of a part's answer and says it.
func (n *Node) add(p *part, token int32, detail []byte) {
	p.tokens = append(p.tokens, token)
	if p.detailed {
		p.details = append(p.details, detail)
	}
	n.tellTokens(p, len(p.tokens)-1)
}

// conclude notes that nothing more comes of a part here, and says so. The first word counts.
func (n *Node) conclude(p *part, e end) {
	if !p.over {
		p.over, p.end = true, e
		n.stats.Ends[e.reason]++
		if !p.quit {
			n.tell(p, len(p.tokens))
		}
	}
	n.settle(p)
}

// settle takes a part that nobody owes anything out of the live ones.
func (n *Node) settle(p *part) {
	if !p.settled() || p.in != &n.live {
		return
	}
	n.live.remove(p)
	p.spec = nil
	if p.seq != 0 {
		delete(n.bySeq, p.seq)
	}
	if p.quit {
		n.forget(p)
		return
	}
	n.ended.push(p)
	for n.ended.len > n.cfg.MaxEnded {
		old := n.ended.head
		n.ended.remove(old)
		n.close(old.gateway, old.attempt)
		n.forget(old)
	}
}

// forget removes the record of a part that is closed.
func (n *Node) forget(p *part) {
	delete(n.byName, p.attempt)
	p.gateway.parts--
}

// quit ends a part with which its gateway is done. What the pool and the scheduler owe is waited for.
func (n *Node) quit(p *part, why Reason) {
	if p.quit {
		return
	}
	p.quit = true
	n.close(p.gateway, p.attempt)
	if p.in == &n.ended {
		n.ended.remove(p)
		n.forget(p)
		return
	}
	n.stop(p)
	n.conclude(p, end{reason: why})
}

// stop has the pool and the scheduler end what they have of a part. The pool lets go of no page by this that somebody may still read or write.
func (n *Node) stop(p *part) {
	p.since = n.now
	if p.paired() {
		n.tellPool(kvpool.Event{Kind: kvpool.EvCancel, Attempt: p.attempt})
	}
	if p.scheduled {
		n.emit(NodeEffect{Kind: FxStop, Attempt: p.attempt, Seq: p.seq})
	}
}

// fail ends a part that the gateway has not ended.
func (n *Node) fail(p *part, e end) {
	if p.over {
		return
	}
	n.stop(p)
	n.conclude(p, e)
}
