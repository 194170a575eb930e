package kvpooltest

import (
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// sample reads one half of a page of the prefill node: whatever lies there now.
func (t *turn) sample(i int) {
	r := &t.s.reads[i]
	if r.half == 2 || !t.readable(r) {
		return
	}
	x := &t.s.conns[r.conn]
	p := t.Requests[r.attempt].Prefill
	b := t.s.nodes[p].bytes[r.src.page]
	t.seen.note(staleBytes, t.ledger(&t.s, p).pages[r.src.page].gen != r.src.gen)
	if t.Served {
		e, _ := t.s.end(x, p)
		if !t.ledger(&t.s, p).mayRead(t.link(x, e), t.name(&t.s, int(r.attempt)), t.full(&t.s, p, r.src)) {
			t.seen.note(servedRefused, true)
			return
		}
		if at := t.ledger(&t.s, p).pages[r.src.page]; at.gen != r.src.gen || at.state != kvpool.Resident || t.s.attempts[r.attempt].p != open {
			t.broken("I8: page %d of node %d is served @%d, and is %v @%d, its export open: %v", r.src.page, p+1, r.src.gen, at.state, at.gen, t.s.attempts[r.attempt].p == open)
			return
		}
	}
	if r.half == 0 {
		r.first = b
	} else {
		r.second = b
	}
	r.half++
	if !t.Torn && r.half == 1 {
		r.half, r.second = 2, b
	}
	t.seen.note(tornRead, r.half == 2 && r.first != r.second)
}

// readable: the prefill node lives, and has not fenced the connection.
func (t *turn) readable(r *read) bool {
	x := &t.s.conns[r.conn]
	e, alive := t.s.end(x, t.Requests[r.attempt].Prefill)
	return alive && (x.sides[e] == up || x.sides[e] == lost)
}

// land: the bytes are in the decode node's page, whatever its ledger thinks of that page, and then it is told.
func (t *turn) land(i int) {
	r := t.s.reads[i]
	if r.half < 2 {
		return
	}
	b := r.first
	if r.first != r.second {
		b = torn
	}
	t.over(i, b, kvpool.Event{Kind: kvpool.EvRead, Checksum: checksum(b)})
}

// fail: no more of the read will land. Some may have. Or it is not known what has: there is no checksum.
func (t *turn) fail(i int, unknown bool) {
	r := t.s.reads[i]
	x := &t.s.conns[r.conn]
	d, _ := t.s.end(x, t.Requests[r.attempt].Decode)
	if cause := !t.readable(&r) || x.sides[d] != up || x.sides[1-d] != up || t.Served && !t.served(&r); !cause || unknown {
		if int(t.s.failures) >= t.Failures {
			return
		}
		t.s.failures++
	}
	b := t.s.nodes[t.Requests[r.attempt].Decode].bytes[r.dst.page]
	if r.half > 0 {
		b = torn
	}
	t.over(i, b, kvpool.Event{Kind: kvpool.EvRead, Failed: !unknown})
}

func (t *turn) served(r *read) bool {
	x, p := &t.s.conns[r.conn], t.Requests[r.attempt].Prefill
	e, alive := t.s.end(x, p)
	return alive && t.ledger(&t.s, p).mayRead(t.link(x, e), t.name(&t.s, int(r.attempt)), t.full(&t.s, p, r.src))
}

func (t *turn) over(i int, b bytes, ev kvpool.Event) {
	r := t.s.reads[i]
	t.s.reads[i] = read{}
	t.s.sortReads()
	d := t.Requests[r.attempt].Decode
	t.s.nodes[d].bytes[r.dst.page] = b
	t.stepJob(d, ev, r.dst, 0)
}

// connect makes a connection; nobody knows of it yet. Its first end is i's.
func (t *turn) connect(i, k int) int {
	epoch := uint8(1)
	for n := range t.s.conns {
		x := &t.s.conns[n]
		if x.epoch == 0 {
			*x = conn{nodes: [2]uint8{uint8(i), uint8(k)}, lives: [2]uint8{t.s.nodes[i].life, t.s.nodes[k].life}, epoch: epoch}
			return n
		}
		_, mine := t.s.end(x, i)
		if _, theirs := t.s.end(x, k); mine && theirs {
			epoch = x.epoch + 1 // they ascend for a pair of lives, and begin anew with each
		}
	}
	panic("kvpooltest: too many connections: raise maxConns")
}

// hello: one end is told of the connection. Hellos of a pair come in their order.
func (t *turn) hello(k, e int) {
	x := &t.s.conns[k]
	i, peer := int(x.nodes[e]), x.nodes[1-e]
	for n := k + 1; n < maxConns; n++ {
		if f, mine := t.s.end(&t.s.conns[n], i); mine && t.s.conns[n].nodes[1-f] == peer && t.s.conns[n].sides[f] != unknown {
			return // a later one has been told: this one never is
		}
	}
	before := t.ledger(&t.s, i).counts.Exports
	was := t.s.nodes[i].ledger
	t.step(i, kvpool.Event{Kind: kvpool.EvConnected, Link: t.link(x, e)})
	x.sides[e] = up
	if t.s.nodes[i].ledger == was {
		t.broken("I11: node %d does not take %v", i+1, t.link(x, e))
	}
	t.seen.note(exportRestarted, t.err == nil && t.ledger(&t.s, i).counts.Exports < before)
}

// lose: one end suspects the connection. It may be wrong, if the world has losses left.
func (t *turn) lose(k, e int) {
	x := &t.s.conns[k]
	other, alive := t.s.end(x, int(x.nodes[1-e]))
	if alive && x.sides[other] <= up {
		if int(t.s.losses) >= t.Losses {
			return
		}
		t.s.losses++
	}
	t.step(int(x.nodes[e]), kvpool.Event{Kind: kvpool.EvLost, Link: t.link(x, e)})
	if t.err == nil && x.sides[e] != lost {
		t.broken("I8: node %d suspects %v and does not fence it", x.nodes[e]+1, t.link(x, e))
	}
}

// fence: this end can be read from no more, and no read that it issued will land.
func (t *turn) fence(k, e int) {
	x := &t.s.conns[k]
	i := int(x.nodes[e])
	x.sides[e] = fenced
	for n := range t.s.reads {
		r := &t.s.reads[n]
		if r.used && int(r.conn) == k && t.Requests[r.attempt].Decode == i && !t.LateReads {
			if r.half > 0 {
				t.s.nodes[i].bytes[r.dst.page] = torn
			}
			*r = read{}
		}
	}
	t.s.sortReads()
	t.step(i, kvpool.Event{Kind: kvpool.EvFenced, Link: t.link(x, e)})
}

// crash: amnesia, a new incarnation, memory that no old read can reach.
func (t *turn) crash(i int) {
	for n := range t.s.reads {
		r := &t.s.reads[n]
		t.seen.note(readOfDeadPeer, r.used && t.Requests[r.attempt].Prefill == i)
		if r.used && t.Requests[r.attempt].Decode == i {
			*r = read{}
		}
	}
	t.s.sortReads()
	for k := range t.Requests {
		a := &t.s.attempts[k]
		if t.Requests[k].Prefill == i {
			a.p, a.table, a.have, a.offered, a.groups, a.halted, a.released, a.without, a.sealed = notAsked, [maxPrompt]ref{}, 0, 0, 0, false, false, false, false
		}
		if t.Requests[k].Decode == i {
			a.d, a.landed, a.spare, a.vouched, a.stopped = notTold, [maxPrompt]ref{}, ref{}, false, false
		}
	}
	t.s.nodes[i] = t.born(i, t.s.nodes[i].life+1)
	t.s.crashes++
	if t.tell != nil {
		t.tell(i, kvpool.Event{}, ref{})
	}
}

// otherBegins: a sequence that has nothing to do with any hand-off takes a page and fills it.
func (t *turn) otherBegins(i int) {
	fx := t.step(i, kvpool.Event{Kind: kvpool.EvAllot, N: 1})
	if t.err != nil || fx[0].N == 0 {
		return
	}
	n := &t.s.nodes[i]
	p := fx[0].Refs[0]
	n.other = small(p)
	n.bytes[p.Page] = other
	t.seen.note(reusedAtDecode, p.Generation > 1)
	t.step(i, kvpool.Event{Kind: kvpool.EvSpend, Spends: []page.Spend{{Ref: p, Seq: otherSeq(n.others)}}})
}

func (t *turn) otherEnds(i int) {
	n := &t.s.nodes[i]
	t.step(i, kvpool.Event{Kind: kvpool.EvRelease, Seq: otherSeq(n.others)})
	n.other = ref{}
	n.others++
}

func (t *turn) scrub(i, p int) {
	n := &t.s.nodes[i]
	n.scrubs[p] = false
	n.bytes[p] = zero
	t.step(i, kvpool.Event{Kind: kvpool.EvScrubbed, Ref: t.full(&t.s, i, ref{uint8(p), t.ledger(&t.s, i).pages[p].gen})})
	t.seen.note(quarantinedThenHome, true)
}

// verify: a page that was doubted is hashed, truly.
func (t *turn) verify(i, p, which int) {
	n := &t.s.nodes[i]
	n.checks[p]--
	of := ref{uint8(p), t.ledger(&t.s, i).pages[p].gen}
	ev := kvpool.Event{Kind: kvpool.EvVerified}
	if jobs := t.ledger(&t.s, i).jobs[of]; len(jobs) > 0 && checksum(n.bytes[p]) != jobs[0].checksum {
		ev.Bad = []int{0}
	}
	t.stepJob(i, ev, of, which)
}
