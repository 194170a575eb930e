package handoff

import (
	"fmt"
	"slices"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
)

// submit begins an attempt, or refuses it. Admission comes first: nothing is reserved, expected or computed before.
func (n *Node) submit(g *caller, m *Message, seq page.Seq) {
	busy := n.live.len >= n.cfg.MaxAttempts
	if m.Spec == nil || m.Role < Prefill || m.Role > Local {
		n.stats.Strange++
		return
	}
	p := n.enter(g, m)
	switch {
	case n.draining:
		n.refuse(p, &request.Rejection{Limit: request.LimitClosing, Why: "The server is shutting down. Please try again."})
		return
	case busy:
		n.refuse(p, &request.Rejection{Limit: request.LimitQueue, Have: int(n.live.len), Max: int(n.cfg.MaxAttempts), Why: fmt.Sprintf(
			"The server is busy: %d attempts are under way and at most %d may. Please try again later.", n.live.len-1, n.cfg.MaxAttempts)})
		return
	case !n.can(p):
		n.fail(p, end{reason: ReasonLink, why: fmt.Sprintf("this node cannot be %v in attempt %v over link %v", p.role, p.attempt, p.link)})
		return
	}
	if seq == 0 || n.bySeq[seq] != nil {
		panic(fmt.Sprintf("handoff: sequence %d is nobody's name, or used twice", seq))
	}
	p.seq = seq
	n.bySeq[seq] = p
	fx := NodeEffect{Kind: FxAsk, Attempt: p.attempt, Seq: seq, Spec: p.spec, MaxTokens: p.spec.MaxTokens, Waiting: n.stats.Imports}
	switch p.role {
	case Prefill:
		fx.MaxTokens, fx.Export = 1, true
	case Decode:
		fx.Kind = FxAdmit
	}
	n.emit(fx)
}

// can reports whether this node can have that role in that attempt, which names the life of the prefill node that it is for.
func (n *Node) can(p *part) bool {
	switch p.role {
	case Prefill:
		return n.cfg.Prefill && p.attempt.Prefill == n.cfg.Incarnation
	case Decode:
		return n.cfg.Decode && p.attempt.Prefill == p.link.Incarnation
	default: // a decode node may read prompts itself
		return n.cfg.Decode && p.attempt.Prefill == n.cfg.Incarnation
	}
}

// refuse ends a part that admission does not let in. The pool closes the attempt, so that what the other node says of it has an answer.
func (n *Node) refuse(p *part, why *request.Rejection) {
	p.rejection = why
	n.stats.Rejected++
	n.fail(p, end{})
}

func (n *Node) rejected(seq page.Seq, why *request.Rejection) {
	if p := n.bySeq[seq]; p != nil && !p.over {
		n.refuse(p, why)
	}
}

// admitted: now the pool is told.
func (n *Node) admitted(seq page.Seq, most int) {
	p := n.bySeq[seq]
	if p == nil || p.over || p.open || p.scheduled {
		panic(fmt.Sprintf("handoff: sequence %d is admitted, and was not asked for", seq))
	}
	n.stats.Began++
	if most < 1 {
		panic(fmt.Sprintf("handoff: sequence %d is admitted for an answer of %d tokens", seq, most))
	}
	p.most, p.since = most, n.now
	pages := n.pages(len(p.spec.Prompt))
	switch p.role {
	case Prefill:
		p.scheduled, p.open = true, true
		n.tellPool(kvpool.Event{Kind: kvpool.EvReserve, Attempt: p.attempt, Link: p.link, Seq: p.seq, N: pages})
	case Decode:
		p.open = true
		n.stats.Imports++
		n.tellPool(kvpool.Event{
			Kind: kvpool.EvExpect, Attempt: p.attempt, Link: p.link, To: n.cfg.Incarnation, Seq: p.seq,
			Domain: kvpool.DomainOf(n.cfg.Key, p.spec.Domain), Tokens: len(p.spec.Prompt), Hashes: n.hashes(p.spec),
		})
	case Local:
		p.scheduled = true
	}
	n.tell(p, 0)
}

// pages is how many hold so many tokens.
func (n *Node) pages(tokens int) int { return (tokens + int(n.cfg.PageSize) - 1) / int(n.cfg.PageSize) }

// hashes are the chain hashes to the end of each page of a prompt, the last though it may not be full.
func (n *Node) hashes(s *Spec) []page.Hash {
	chain := kvpool.NewChain(n.cfg.Key, s.Domain, n.cfg.Layout)
	hashes := make([]page.Hash, 0, n.pages(len(s.Prompt)))
	for tokens := range slices.Chunk(s.Prompt, int(n.cfg.PageSize)) {
		chain.Add(tokens)
		hashes = append(hashes, chain.Sum())
	}
	return hashes
}

// sealed offers the pages of a prompt that are sealed and not offered yet, in groups of some, and in the end all.
func (n *Node) sealed(ev *NodeEvent) {
	p := n.bySeq[ev.Seq]
	if p == nil || p.role != Prefill || p.over || !p.open {
		return
	}
	upTo := ev.Computed / int(n.cfg.PageSize)
	if ev.Last {
		upTo = n.pages(len(p.spec.Prompt))
	}
	if len(ev.Pages) < upTo || upTo < p.given {
		panic(fmt.Sprintf("handoff: %d pages of sequence %d are sealed, %d are offered, and the shell names %d", upTo, ev.Seq, p.given, len(ev.Pages)))
	}
	if !ev.Last && int64(upTo-p.given) < n.cfg.GroupPages {
		return
	}
	n.tellPool(kvpool.Event{
		Kind: kvpool.EvOffer, Attempt: p.attempt, Refs: ev.Pages[p.given:upTo], Last: ev.Last, Tokens: len(p.spec.Prompt), First: ev.Token,
	})
	p.given, p.since = upTo, n.now
	if ev.Last {
		n.add(p, ev.Token, ev.Detail)
	}
}

// preempted: a sequence loses its pages, and its new ones cannot take their place in the attempt, which the pool revokes. What it has offered may be what others wait for.
func (n *Node) preempted(seq page.Seq) {
	if p := n.bySeq[seq]; p != nil && p.role == Prefill {
		n.fail(p, end{reason: ReasonPreempted})
	}
}

func (n *Node) token(ev *NodeEvent) {
	if p := n.bySeq[ev.Seq]; p != nil && p.role != Prefill && !p.over {
		n.add(p, ev.Token, ev.Detail)
	}
}

// seqEnded: the scheduler is done with a sequence. A prefill node's part goes on until its pages are released.
func (n *Node) seqEnded(ev *NodeEvent) {
	p := n.bySeq[ev.Seq]
	if p == nil {
		return
	}
	p.scheduled = false
	switch {
	case p.role == Prefill && ev.Reason.Whole():
		n.settle(p)
	case p.role == Prefill && !p.over:
		n.fail(p, end{reason: ev.Reason, why: ev.Why})
	default:
		n.conclude(p, end{reason: ev.Reason, why: ev.Why})
	}
}

// pool takes what the pool says of attempts.
func (n *Node) pool(fx *kvpool.Effect) {
	p := n.byName[fx.Attempt]
	if fx.Kind == kvpool.FxRefused && (p == nil || !p.open) {
		return // an event was repeated
	}
	if p == nil || !p.open {
		panic(fmt.Sprintf("handoff: I12: the pool ends attempt %v twice, or one that never began", fx.Attempt))
	}
	p.open = false
	if p.role == Decode {
		n.stats.Imports--
	}
	switch fx.Kind {
	case kvpool.FxStart:
		n.started(p, fx)
	case kvpool.FxExported:
		if fx.Status == kvpool.Done {
			n.conclude(p, end{reason: ReasonExported})
			return
		}
		fallthrough
	case kvpool.FxRefused, kvpool.FxImportEnded:
		n.fail(p, endOf(fx))
		n.settle(p)
	default:
		panic(fmt.Sprintf("handoff: effect %d of the pool is not a word about an attempt", fx.Kind))
	}
}

// endOf is what the pool's word on an attempt means to a gateway.
func endOf(fx *kvpool.Effect) end {
	switch fx.Status {
	case kvpool.Refused:
		return end{reason: ReasonNoRoom, need: fx.Have, max: fx.Max, why: fmt.Sprintf("%d pages are needed and %d can be had", fx.Have, fx.Max)}
	case kvpool.Mismatch:
		return end{reason: ReasonMismatch, why: fmt.Sprintf("page %d", fx.Page)}
	case kvpool.Lost:
		return end{reason: ReasonLink}
	}
	return end{reason: ReasonRevoked}
}

// started: the prompt is here, and with it the first token. The scheduler goes on from there, unless that was all.
func (n *Node) started(p *part, fx *kvpool.Effect) {
	if p.over {
		n.letGo(p, fx)
		n.settle(p)
		return
	}
	n.add(p, fx.First, nil)
	stop := slices.Contains(p.spec.StopTokens, fx.First)
	if stop || p.most == 1 {
		n.letGo(p, fx)
		n.conclude(p, end{reason: map[bool]Reason{true: ReasonStop, false: ReasonLength}[stop]})
		return
	}
	p.scheduled = true
	n.emit(NodeEffect{Kind: FxAdopt, Attempt: p.attempt, Seq: p.seq, Spec: p.spec, MaxTokens: p.most - 1, Refs: fx.Refs, Spare: fx.Spare, Token: fx.First})
}

// letGo gives back the pages of a prompt that nobody runs.
func (n *Node) letGo(p *part, fx *kvpool.Effect) {
	n.tellPool(kvpool.Event{Kind: kvpool.EvRelease, Seq: p.seq})
	if fx.Spare != (page.Ref{}) {
		n.tellPool(kvpool.Event{Kind: kvpool.EvReturn, Refs: []page.Ref{fx.Spare}})
	}
	n.emit(NodeEffect{Kind: FxFreed})
}
