package kvpooltest

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// Kinds of action of a cluster.
const (
	actDeliver   = iota + 1 // A,B: message number, C: connection
	actSubmit               // A: attempt; so the next ones
	actHear                 // the gateway hears of an end
	actCancel               // the gateway cancels
	actReserve              // Submit reaches the prefill node
	actCancelP              // Cancel reaches the prefill node
	actPrefill              // the next group is computed and offered
	actRevoke               // the prefill node gives up
	actReleaseP             // the sequence at the prefill node ends
	actExpect               // Submit reaches the decode node
	actCancelD              // Cancel reaches the decode node
	actFinish               // the sequence at the decode node ends
	actSample               // A: read: a half is read
	actLand                 // A: read: its bytes have landed
	actFail                 // A: read: it has failed
	actConnect              // A, B: nodes; A knows first
	actHello                // A: connection, B: end
	actLose                 // A: connection, B: end
	actFence                // A: connection, B: end
	actCrash                // A: node
	actOther                // A: node: an unrelated sequence begins
	actOtherEnds            // A: node
	actScrub                // A: node, B: page
	actVerify               // A: node, B: page
	actTick                 // A: node
	actFlip                 // A: node, B: page
)

func actionName(kind uint8) string {
	return [...]string{"", "a message arrives", "the gateway submits", "the gateway hears of an end", "the gateway cancels", "Submit reaches the prefill node", "Cancel reaches the prefill node",
		"a group is computed and offered", "the prefill node gives up", "the sequence ends at the prefill node", "Submit reaches the decode node", "Cancel reaches the decode node",
		"the sequence ends at the decode node", "a page, or half of one, is read", "the read's bytes have landed", "the read has failed", "a connection is made", "hello at the other end",
		"a link is suspected", "a fence is complete", "crash", "an unrelated sequence begins", "an unrelated sequence ends", "a page is zeroed", "a page is verified", "tick", "bytes go bad"}[kind]
}

// next tries all that may happen. What changes nothing is left out. The state that yield is given is good until it returns.
func (c *cluster) next(s *state, yield func(a Action, n *state, err error)) {
	t := &turn{cluster: c}
	c.actions(s, func(a Action) {
		t.s, t.err = *s, nil
		t.do(a)
		if t.err != nil {
			yield(a, nil, t.err)
		} else if t.s != *s {
			yield(a, &t.s, nil)
		}
	})
}

// actions names what may happen in a state. It is generous: do finds that nothing comes of some.
func (c *cluster) actions(s *state, can func(a Action)) {
	act := func(kind uint8, args ...int) {
		a := Action{Kind: kind}
		for i, x := range args {
			*[]*uint8{&a.A, &a.B, &a.C}[i] = uint8(x)
		}
		can(a)
	}
	for _, id := range s.messages {
		if id == 0 {
			break
		}
		to := int(c.net(id).to)
		for k := range s.conns {
			if e, ok := s.end(&s.conns[k], to); ok && s.conns[k].sides[e] != unknown && int(s.conns[k].nodes[1-e]) == int(c.net(id).from) {
				act(actDeliver, int(id&255), int(id>>8), k)
			}
		}
	}
	for t := range c.Requests {
		c.requestActions(s, t, func(kind uint8) { act(kind, t) })
	}
	for i := range s.reads {
		if s.reads[i].used {
			act(actSample, i)
			act(actLand, i)
			act(actFail, i)
			act(actFail, i, 1)
		}
	}
	c.connectionActions(s, act)
	for i := range c.Nodes {
		c.nodeActions(s, i, act)
	}
}

func (c *cluster) requestActions(s *state, t int, act func(kind uint8)) {
	a := &s.attempts[t]
	if !a.submitted {
		act(actSubmit)
		return
	}
	act(actReserve)
	act(actExpect)
	if a.told == nothing {
		act(actHear)
		if c.Cancel {
			act(actCancel)
		}
	}
	if a.cancelled {
		act(actCancelP)
		act(actCancelD)
	}
	if a.p == open && !a.halted && !a.released {
		act(actPrefill)
	}
	if c.Revoke && a.p == open {
		act(actRevoke)
	}
	if a.have > 0 && !a.released {
		act(actReleaseP)
	}
	if a.d == running {
		act(actFinish)
	}
}

func (c *cluster) connectionActions(s *state, act func(kind uint8, args ...int)) {
	for k := range s.conns {
		x := &s.conns[k]
		for e := range 2 {
			if x.epoch == 0 || x.lives[e] != s.nodes[x.nodes[e]].life {
				continue
			}
			switch x.sides[e] {
			case unknown:
				act(actHello, k, e)
			case up:
				act(actLose, k, e)
			case lost:
				act(actFence, k, e)
			}
		}
	}
	for i := range c.Nodes {
		for k := range c.Nodes {
			if i != k && s.connections < uint8(c.Connections) && c.talk(i, k) && s.broken(i, k) {
				act(actConnect, i, k)
			}
		}
	}
}

// broken: two nodes have no connection that both can use.
func (s *state) broken(i, k int) bool {
	for n := range s.conns {
		x := &s.conns[n]
		e, mine := s.end(x, i)
		f, theirs := s.end(x, k)
		if mine && theirs && x.sides[e] <= up && x.sides[f] <= up {
			return false
		}
	}
	return true
}

func (c *cluster) nodeActions(s *state, i int, act func(kind uint8, args ...int)) {
	n := &s.nodes[i]
	if int(s.crashes) < c.Crashes {
		act(actCrash, i)
	}
	if n.other.gen != 0 {
		act(actOtherEnds, i)
	} else if int(n.others) < c.Nodes[i].Others {
		act(actOther, i)
	}
	for p := range c.Nodes[i].Pages {
		if n.scrubs[p] {
			act(actScrub, i, p)
		}
		for which := range n.checks[p] { // the ledger tells them apart, by when they began
			act(actVerify, i, p, int(which))
		}
		if int(s.flips) < c.Flips && c.ledger(s, i).pages[p].state == kvpool.Resident && !c.decodes(i) {
			act(actFlip, i, p)
		}
	}
	act(actTick, i)
}

func (c *cluster) decodes(i int) bool {
	for _, r := range c.Requests {
		if r.Decode == i {
			return true
		}
	}
	return false
}

// do performs an action.
func (t *turn) do(a Action) {
	i := int(a.A)
	switch a.Kind {
	case actDeliver:
		t.deliver(uint16(a.A)|uint16(a.B)<<8, int(a.C))
	case actSubmit:
		r := &t.Requests[i]
		x := &t.s.attempts[i]
		x.submitted, x.pLife, x.dLife = true, t.s.nodes[r.Prefill].life, t.s.nodes[r.Decode].life
	case actHear:
		t.hear(i)
	case actCancel:
		t.s.attempts[i].told, t.s.attempts[i].cancelled = cancelled, true
	case actReserve:
		t.reserve(i)
	case actCancelP:
		t.step(t.Requests[i].Prefill, kvpool.Event{Kind: kvpool.EvCancel, Attempt: t.name(&t.s, i)})
	case actPrefill:
		t.prefill(i)
	case actRevoke:
		t.step(t.Requests[i].Prefill, kvpool.Event{Kind: kvpool.EvRevoke, Attempt: t.name(&t.s, i)})
	case actReleaseP:
		t.releaseAtPrefill(i)
	case actExpect:
		t.expect(i)
	case actCancelD:
		t.cancelAtDecode(i)
	case actFinish:
		t.finish(i)
	case actSample:
		t.sample(i)
	case actLand:
		t.land(i)
	case actFail:
		t.fail(i, a.B == 1)
	case actConnect:
		t.hello(t.connect(i, int(a.B)), 0)
		t.s.connections++
	case actHello:
		t.hello(i, int(a.B))
	case actLose:
		t.lose(i, int(a.B))
	case actFence:
		t.fence(i, int(a.B))
	case actCrash:
		t.crash(i)
	case actOther:
		t.otherBegins(i)
	case actOtherEnds:
		t.otherEnds(i)
	case actScrub:
		t.scrub(i, int(a.B))
	case actVerify:
		t.verify(i, int(a.B), int(a.C))
	case actTick:
		t.step(i, kvpool.Event{Kind: kvpool.EvTick})
	case actFlip:
		t.s.nodes[i].bytes[a.B] = flip
		t.s.flips++
	default:
		panic(fmt.Sprintf("kvpooltest: no such action: %v", a))
	}
}

// deliver brings a message over a connection: its own, or another between the same two nodes, which the ledger must tell apart.
func (t *turn) deliver(id uint16, k int) {
	m := t.net(id)
	i := int(m.to)
	x := &t.s.conns[k]
	e, _ := t.s.end(x, i)
	a := &t.s.attempts[t.attemptOf(m.m.Attempt)]
	before := t.s.nodes[i].ledger
	t.seen.note(restartStale, m.m.To != incarnation(i, t.s.nodes[i].life))
	t.seen.note(oldLinkMessage, m.m.Epoch != uint64(x.epoch) && m.m.To == incarnation(i, t.s.nodes[i].life))
	if m.m.Kind == kvpool.MsgOffer {
		t.seen.note(offerFirst, a.d == notTold)
	}
	dBefore := a.d
	fx := t.step(i, kvpool.Event{Kind: kvpool.EvMessage, Link: t.link(x, e), Message: m.m})
	if m.m.Kind == kvpool.MsgRevoke && (t.s.nodes[i].ledger != before || len(fx) > 0) {
		a.stopped = true
		t.seen.note(revokeUnknown, dBefore == notTold)
	}
	t.seen.note(releaseLost, len(fx) == 1 && fx[0].Kind == kvpool.FxSend && t.s.nodes[i].ledger == before)
}

// hear: the gateway hears how an attempt has ended at one node, or that the node has, and cancels the other side if it has failed.
func (t *turn) hear(i int) {
	a, r := &t.s.attempts[i], &t.Requests[i]
	switch {
	case a.d == finished:
		a.told = done
		return
	case a.p == refused, a.d == rejectedThere:
		a.told = rejected
	case a.d == ended, a.without, a.pLife != t.s.nodes[r.Prefill].life, a.dLife != t.s.nodes[r.Decode].life:
		a.told = failed
	default:
		return
	}
	a.cancelled = true
}

func (t *turn) upOr(i, peer int) kvpool.Link {
	if k, e := t.s.live(i, peer); k >= 0 {
		return t.link(&t.s.conns[k], e)
	}
	return kvpool.Link{Peer: nodeName(peer), Incarnation: incarnation(peer, t.s.nodes[peer].life)}
}

func (t *turn) reserve(i int) {
	r, a := &t.Requests[i], &t.s.attempts[i]
	before := t.ledger(&t.s, r.Prefill).counts.Exports
	t.step(r.Prefill, kvpool.Event{Kind: kvpool.EvReserve, Attempt: t.name(&t.s, i), Link: t.upOr(r.Prefill, r.Decode), Seq: prefillSeq(i), N: t.pages(i)})
	if t.ledger(&t.s, r.Prefill).counts.Exports > before {
		if a.p != notAsked {
			t.broken("I12: %v is admitted again", t.name(&t.s, i))
		}
		a.p = open
	}
}

// prefill computes the next group and offers it. With a prefix cache it begins with what is cached.
func (t *turn) prefill(i int) {
	r, a := &t.Requests[i], &t.s.attempts[i]
	node, seq := r.Prefill, prefillSeq(i)
	if int(a.groups) == len(r.Groups) {
		return
	}
	if t.Nodes[node].PrefixCache && a.have == 0 {
		t.match(i)
	}
	size := r.Groups[a.groups]
	need := max(int(a.offered)+size-int(a.have), 0)
	fx := t.step(node, kvpool.Event{Kind: kvpool.EvAllot, N: need})
	if t.err != nil {
		return
	}
	got := fx[0].Refs
	if len(got) < need {
		t.step(node, kvpool.Event{Kind: kvpool.EvReturn, Refs: got})
		return
	}
	spend, seal := kvpool.Event{Kind: kvpool.EvSpend}, kvpool.Event{Kind: kvpool.EvSeal}
	for _, p := range got {
		b := t.content[i][a.have]
		spend.Spends = append(spend.Spends, page.Spend{Ref: p, Seq: seq})
		seal.Seals = append(seal.Seals, kvpool.Seal{
			Ref: p, Seq: seq, Domain: t.domains[i], Chain: t.hashes[i][a.have], Checksum: checksum(b), Full: int(a.have)+1 < t.pages(i) || !t.lastIsPartial(i),
		})
		t.seen.note(reusedAtPrefill, p.Generation > 1)
		t.s.nodes[node].bytes[p.Page] = b
		a.table[a.have] = small(p)
		a.have++
	}
	if len(got) > 0 {
		t.step(node, spend)
		t.step(node, seal)
	}
	t.offer(i, size)
}

func (t *turn) offer(i, size int) {
	r, a := &t.Requests[i], &t.s.attempts[i]
	ev := kvpool.Event{Kind: kvpool.EvOffer, Attempt: t.name(&t.s, i)}
	for _, p := range a.table[a.offered : int(a.offered)+size] {
		ev.Refs = append(ev.Refs, t.full(&t.s, r.Prefill, p))
	}
	if int(a.groups) == len(r.Groups)-1 {
		ev.Last, ev.Tokens, ev.First = true, len(r.Text), 7
	}
	if len(t.step(r.Prefill, ev)) == 0 {
		a.halted = true // it has been stopped or its link is lost, and takes no more
		return
	}
	a.offered += uint8(size)
	a.groups++
}

// match takes what is cached of a prompt, less its last token.
func (t *turn) match(i int) {
	r, a := &t.Requests[i], &t.s.attempts[i]
	node := r.Prefill
	most := (len(r.Text) - 1) / pageSize
	ev := kvpool.Event{Kind: kvpool.EvMatch, Seq: prefillSeq(i), Domain: t.domains[i], Hashes: t.hashes[i][:most]}
	for _, fx := range t.step(node, ev) {
		if fx.Kind != kvpool.FxVerify {
			continue
		}
		if len(fx.Checks) == 1 {
			t.s.nodes[node].checks[fx.Checks[0].Ref.Page]-- // it is done here
		}
		v := kvpool.Event{Kind: kvpool.EvVerified, Bad: t.bad(node, fx.Checks)}
		for _, fx := range t.stepJob(node, v, small(fx.Checks[0].Ref), 0) {
			if fx.Kind == kvpool.FxMatched {
				for k, p := range fx.Refs {
					a.table[k] = small(p)
				}
				a.have = uint8(len(fx.Refs))
			}
		}
	}
}

// bad compares bytes with what they should be.
func (t *turn) bad(i int, checks []kvpool.Check) (bad []int) {
	for k, c := range checks {
		if checksum(t.s.nodes[i].bytes[c.Ref.Page]) != c.Checksum {
			bad = append(bad, k)
		}
	}
	return bad
}

func (t *turn) releaseAtPrefill(i int) {
	a := &t.s.attempts[i]
	if a.p == open && !a.halted && int(a.groups) < len(t.Requests[i].Groups) {
		return // still at work
	}
	t.step(t.Requests[i].Prefill, kvpool.Event{Kind: kvpool.EvRelease, Seq: prefillSeq(i)})
	a.released = true
}

func (t *turn) expect(i int) {
	r, a := &t.Requests[i], &t.s.attempts[i]
	before := t.ledger(&t.s, r.Decode).counts.Imports
	t.step(r.Decode, kvpool.Event{
		Kind: kvpool.EvExpect, Attempt: t.name(&t.s, i), Link: t.upOr(r.Decode, r.Prefill), To: incarnation(r.Decode, a.dLife), Seq: decodeSeq(i), Domain: t.domains[i],
		Hashes: t.hashes[i], Tokens: len(r.Text),
	})
	if t.err == nil && t.ledger(&t.s, r.Decode).counts.Imports > before {
		if a.d != notTold {
			t.broken("I9: %v is expected again", t.name(&t.s, i))
		}
		a.d = expecting
	}
}

func (t *turn) cancelAtDecode(i int) {
	a := &t.s.attempts[i]
	t.seen.note(cancelFirst, a.d == notTold)
	t.step(t.Requests[i].Decode, kvpool.Event{Kind: kvpool.EvCancel, Attempt: t.name(&t.s, i)})
	a.stopped = true
}

// finish: the sequence writes an answer and ends.
func (t *turn) finish(i int) {
	r, a := &t.Requests[i], &t.s.attempts[i]
	n := &t.s.nodes[r.Decode]
	if a.spare.gen != 0 {
		n.bytes[a.spare.page] = answer
		t.step(r.Decode, kvpool.Event{Kind: kvpool.EvSpend, Spends: []page.Spend{{Ref: t.full(&t.s, r.Decode, a.spare), Seq: decodeSeq(i)}}})
	} else {
		n.bytes[a.landed[t.pages(i)-1].page] = answer
	}
	t.step(r.Decode, kvpool.Event{Kind: kvpool.EvRelease, Seq: decodeSeq(i)})
	a.d, a.landed, a.spare = finished, [maxPrompt]ref{}, ref{}
}
