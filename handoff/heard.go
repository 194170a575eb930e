package handoff

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
)

// heard takes a node's message, if it is from the node's present life, of an attempt of this gateway. What a node says is believed of its own part alone.
func (g *Gateway) heard(node page.Node, life page.Incarnation, m *Message) {
	p := g.peerOf[node]
	if p == nil || p.life != life || life == 0 || m == nil || m.Life != life {
		g.stats.Strange++
		return
	}
	if m.Kind == MsgStatus {
		g.statusOf(p, m.Status)
		return
	}
	t := g.byName[m.Attempt]
	if m.Kind < MsgAccepted || m.Kind > MsgClosed || m.Attempt.Gateway != g.cfg.Incarnation || t == nil && m.Attempt.Number > g.number {
		g.stats.Strange++
		return
	}
	if t == nil { // it was closed, or there was too much to close
		if m.Kind != MsgClosed && p.up {
			g.emit(GatewayEffect{Kind: FxTell, Node: p.node, Message: Message{Kind: MsgCancel, Attempt: m.Attempt, Life: life}})
		}
		return
	}
	for _, l := range t.legs {
		if l.peer == p && l.life == life {
			if t.job == nil {
				g.heardLate(l, m)
			} else {
				g.heardOf(l, m)
			}
			return
		}
	}
	g.stats.Strange++
}

func (g *Gateway) statusOf(p *peer, s *Status) {
	if s == nil || s.Serial <= p.serial {
		g.stats.Strange++
		return
	}
	links := append(p.status.Links[:0], s.Links...)
	p.status, p.serial, p.sent = *s, s.Serial, 0
	p.status.Links = links
}

// heardLate takes a word on a try that is over here.
func (g *Gateway) heardLate(l *leg, m *Message) {
	if m.Kind == MsgClosed && !l.closed {
		l.closed = true
		g.settle(l.try)
	}
}

// heardOf takes a word on a try that is alive.
func (g *Gateway) heardOf(l *leg, m *Message) {
	g.hear(l)
	if l.ended { // a late or repeated word
		return
	}
	switch m.Kind {
	case MsgRejected:
		g.rejected(l, m.Rejection)
	case MsgPrefilled:
		g.prefilled(l, m)
	case MsgTokens:
		g.tokens(l, m)
	case MsgEnd:
		g.legEnded(l, m)
	case MsgClosed:
		l.closed = true
		if l.role == Prefill && l.try.job.told > 0 { // it has done its part, and forgotten it since
			l.ended = true
			return
		}
		g.fail(l.try, l.peer, ReasonForgotten, "")
	}
}

// rejected: admission at a node refuses the request, for good, or because there is too much to do.
func (g *Gateway) rejected(l *leg, why *request.Rejection) {
	switch {
	case why == nil || l.try.job.told > 0:
		g.strange(l, "a rejection that says nothing, or after the first token")
	case why.Limit != request.LimitQueue && why.Limit != request.LimitClosing, l.try.job.tries-l.try.job.refused >= int(g.cfg.MaxTries):
		g.end(l.try.job, GatewayEffect{Outcome: Rejected, Rejection: why})
	default:
		g.fail(l.try, l.peer, ReasonBusy, why.Why)
	}
}

// strange ends a try whose node says what cannot be.
func (g *Gateway) strange(l *leg, what string) {
	g.stats.Strange++
	g.fail(l.try, l.peer, ReasonFault, fmt.Sprintf("node %d says %s", l.peer.node, what))
}

// prefilled notes the first token's detail, which does not travel with the pages.
func (g *Gateway) prefilled(l *leg, m *Message) {
	t := l.try
	if l.role != Prefill || !t.job.spec.Details || len(m.Tokens) != 1 || len(m.Details) != 1 {
		g.stats.Strange++
		return
	}
	if t.hasDetail {
		return
	}
	t.hasDetail, t.detail = true, append([]byte(nil), m.Details[0]...)
	for _, d := range t.legs {
		if d.role == Decode && d.heard { // it may have said tokens that could not be told
			g.say(d)
		}
	}
}

// tokens takes what continues the answer without a gap. What is missing will be asked for.
func (g *Gateway) tokens(l *leg, m *Message) {
	t := l.try
	j := t.job
	details := j.spec.Details
	switch have := m.First + len(m.Tokens); {
	case l.role == Prefill, m.First < 0, have < 0, details != (len(m.Details) > 0), details && len(m.Details) != len(m.Tokens):
		g.strange(l, "tokens that cannot be")
		return
	case j.spec.MaxTokens > 0 && have > j.spec.MaxTokens:
		g.strange(l, fmt.Sprintf("%d tokens where %d were asked for", have, j.spec.MaxTokens))
		return
	case m.First > j.told: // what came before has been lost, or is late
		if g.now-l.askedAt >= g.cfg.RepeatAfter/8 {
			g.say(l)
		}
		return
	case have <= j.told:
		return
	}
	skip := j.told - m.First
	fx := GatewayEffect{Kind: FxTokens, Request: j.id, First: j.told, Tokens: m.Tokens[skip:]}
	if details {
		fx.Details = m.Details[skip:]
		if j.told == 0 && l.role == Decode {
			if !t.hasDetail {
				return
			}
			fx.Details = append([][]byte{t.detail}, fx.Details[1:]...)
		}
	}
	l.paid()
	j.told += len(fx.Tokens)
	g.emit(fx)
	g.complete(t)
}

// legEnded takes the end of a node's part.
func (g *Gateway) legEnded(l *leg, m *Message) {
	t := l.try
	j := t.job
	switch {
	case l.role == Prefill && m.Reason == ReasonExported && j.told == 0 && j.spec.Details && !t.hasDetail:
		g.say(l)
	case l.role == Prefill && (m.Reason == ReasonExported || j.told > 0): // the decode node has what it needs
		l.ended = true
	case l.role == Prefill || !m.Reason.Whole():
		g.fail(t, l.peer, m.Reason, m.Why)
	case m.Total < max(1, j.told), j.spec.MaxTokens > 0 && m.Total > j.spec.MaxTokens, t.total != 0 && t.total != m.Total:
		g.strange(l, fmt.Sprintf("that the answer has %d tokens", m.Total))
	default:
		t.total, t.reason = m.Total, m.Reason
		if j.told < t.total { // tokens have been lost on their way, or are late
			g.say(l)
		}
		g.complete(t)
	}
}

// complete ends a request whose answer is whole and told.
func (g *Gateway) complete(t *try) {
	if j := t.job; t.total > 0 && j.told == t.total {
		g.end(j, GatewayEffect{Outcome: Completed, Reason: t.reason})
	}
}
