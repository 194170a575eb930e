package sim

import (
	"fmt"
	"slices"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/request"
	"github.com/kvasir-engine/kvasir/sched"
)

// submitted takes the gateway's word, which may come many times; the answer is what has become of the attempt so far.
func (n *node) submitted(m submit) {
	s := n.s
	j, known := n.byName[m.attempt]
	if !known {
		j = n.newJob(m)
		s.logf("node %d: attempt %v of request %d, role %d", n.id, m.attempt, m.request, m.role)
		switch m.role {
		case decodeOnly:
			j.open = true
			n.expect(j)
		default:
			ask := sched.Ask{Seqs: []page.Seq{j.seq}, Tenant: s.domain(m.tenant), PromptLen: len(m.prompt), MaxTokens: m.max}
			if m.role == prefillOnly {
				ask.MaxTokens = 1
			}
			n.tellSched(sched.Event{Kind: sched.EvSubmit, Ask: ask})
		}
	}
	if known && m.role != local && s.chance(30) { // the ledger must stand it
		j.link = n.linkTo(m)
		if m.role == decodeOnly {
			n.expect(j)
		} else if j.over {
			n.reserve(j)
		}
	}
	s.gw.hear(n, j)
}

func (n *node) newJob(m submit) *job {
	n.lastSeq++
	j := &job{submit: m, seq: n.lastSeq, since: n.s.now}
	j.domain = kvpool.DomainOf(n.s.key, j.cacheDomain(n.s))
	j.tokens = slices.Clone(m.prompt)
	j.report = report{attempt: m.attempt, life: n.life, role: m.role}
	n.jobs = append(n.jobs, j)
	n.byName[m.attempt] = j
	n.bySeq[j.seq] = j
	j.link = n.linkTo(m)
	return j
}

// linkTo is the latest link to the peer's life that the gateway means, or one that never was.
func (n *node) linkTo(m submit) kvpool.Link {
	if c := n.links[m.peer]; m.role != local && c != nil {
		if l := c.sides[c.side(n)].link; l.Incarnation == m.peerLife {
			return l
		}
	}
	return kvpool.Link{Peer: page.Node(m.peer), Incarnation: m.peerLife}
}

// expect tells the ledger what the prompt is.
func (n *node) expect(j *job) {
	s, m := n.s, &j.submit
	hashes := kvpool.PageHashes(s.key, j.cacheDomain(s), s.layout, m.prompt, s.pageSize)
	if len(m.prompt)%s.pageSize > 0 {
		hashes = append(hashes, chainOf(s, j.cacheDomain(s), m.prompt))
	}
	n.tellPool(kvpool.Event{Kind: kvpool.EvExpect, Attempt: m.attempt, Link: j.link, To: m.life, Seq: j.seq, Domain: j.domain, Tokens: len(m.prompt), Hashes: hashes})
}

// admitted: only now something may be exported.
func (n *node) admitted(j *job) {
	if j.submit.role != prefillOnly {
		return
	}
	if j.over {
		return
	}
	j.open, j.since = true, n.s.now
	n.reserve(j)
}

func (n *node) reserve(j *job) {
	n.tellPool(kvpool.Event{Kind: kvpool.EvReserve, Attempt: j.submit.attempt, Link: j.link, Seq: j.seq, N: pagesOf(n.s, len(j.submit.prompt))})
}

func pagesOf(s *sim, tokens int) int { return (tokens + s.pageSize - 1) / s.pageSize }

func (n *node) rejected(j *job, why *request.Rejection) {
	n.s.logf("node %d: attempt %v is rejected: %s", n.id, j.submit.attempt, why.Why)
	if j.submit.role == decodeOnly { // its prompt is here already
		n.tellPool(kvpool.Event{Kind: kvpool.EvRelease, Seq: j.seq})
	} else if j.submit.role == prefillOnly {
		n.tellPool(kvpool.Event{Kind: kvpool.EvCancel, Attempt: j.submit.attempt})
	}
	j.report.rejection = why
	n.conclude(j, "rejected: "+why.Why)
}

// conclude notes that nothing more comes of a job here. The first word counts.
func (n *node) conclude(j *job, why string) {
	if j.over {
		return
	}
	j.over, j.report.over, j.report.why = true, true, why
	n.s.gw.hear(n, j)
}

// offer is the event that exports what a step has sealed of a prompt, if that is anything.
func (n *node) offer(j *job, table []page.Ref, end int, last bool, first int32) []kvpool.Event {
	if j.submit.role != prefillOnly || j.quit || !j.open {
		return nil
	}
	upTo := end / n.s.pageSize
	if last {
		upTo = pagesOf(n.s, end)
	}
	if upTo <= j.given && !last {
		return nil
	}
	if n.s.between(0, 1) == 0 && !last { // now and then two steps make one group
		return nil
	}
	ev := kvpool.Event{Kind: kvpool.EvOffer, Attempt: j.submit.attempt, Refs: slices.Clone(table[min(j.given, upTo):upTo]),
		Last: last, Tokens: len(j.submit.prompt), First: first}
	j.given, j.since = upTo, n.s.now
	if last && end%n.s.pageSize == 0 && len(ev.Refs) > 0 && n.s.chance(50) { // now and then the seal comes alone
		pages := ev
		pages.Last = false
		ev.Refs = nil
		return []kvpool.Event{pages, ev}
	}
	return []kvpool.Event{ev}
}

func (n *node) revoke(j *job) {
	if j.quit {
		return
	}
	j.quit, j.since = true, n.s.now
	n.tellPool(kvpool.Event{Kind: kvpool.EvRevoke, Attempt: j.submit.attempt})
}

// handOff performs what the ledger says of attempts and links.
func (n *node) handOff(fx *kvpool.Effect) {
	j := n.byName[fx.Attempt]
	switch fx.Kind {
	case kvpool.FxSend:
		m := fx.Message
		n.s.moved[m.Attempt] += len(m.Pages)
		m.Pages = slices.Clone(m.Pages)
		if m.Seal != nil {
			seal := *m.Seal
			m.Seal = &seal
		}
		n.s.net.send(n, fx.Link, m)
	case kvpool.FxFence:
		n.s.net.fence(n, fx.Link)
	case kvpool.FxRead:
		n.s.net.read(n, *fx)
	case kvpool.FxRefused:
		n.refused(j, fx)
	case kvpool.FxExported:
		if !j.open {
			n.s.fail("I12: node %d: the export of %v has ended twice, or was never begun", n.id, fx.Attempt)
		}
		j.open = false
		if fx.Status != kvpool.Done {
			n.tellSched(sched.Event{Kind: sched.EvCancel, Seq: j.seq})
			n.conclude(j, fmt.Sprintf("the export ended with status %d", fx.Status))
		} else {
			j.report.exported = true
			n.conclude(j, "")
		}
	case kvpool.FxStart:
		n.started(j, fx)
	case kvpool.FxImportEnded:
		if !j.open {
			n.s.fail("I12: node %d: the import of %v has ended twice, or was never begun", n.id, fx.Attempt)
		}
		j.open = false
		n.conclude(j, fmt.Sprintf("the import ended with status %d, page %d, %d of %d", fx.Status, fx.Page, fx.Have, fx.Max))
	}
}

func (n *node) refused(j *job, fx *kvpool.Effect) {
	if !j.open {
		return
	}
	j.open = false
	if j.submit.role == prefillOnly {
		n.tellSched(sched.Event{Kind: sched.EvCancel, Seq: j.seq})
	}
	n.conclude(j, fmt.Sprintf("refused with status %d, %d of %d", fx.Status, fx.Have, fx.Max))
}

// started: the prompt is here. The scheduler is asked for the rest of the answer, and finds the pages when it asks for a match.
func (n *node) started(j *job, fx *kvpool.Effect) {
	s := n.s
	if !j.open || j.answer > 0 {
		s.fail("I9: node %d: attempt %v starts twice, or after its end", n.id, fx.Attempt)
	}
	j.open = false
	s.res.Imports++
	refs := slices.Clone(fx.Refs)
	if s.cfg.Break == BreakSwapPages && len(refs) > 2 {
		refs[0], refs[1] = refs[1], refs[0]
	}
	if fx.Spare != (page.Ref{}) && s.cfg.Break != BreakSpareLost { // an answer to no FxAllot would be taken for one
		n.tellPool(kvpool.Event{Kind: kvpool.EvReturn, Refs: []page.Ref{fx.Spare}})
		n.tellSched(sched.Event{Kind: sched.EvPagesFreed})
	}
	n.checkImported(j, refs)
	j.tokens = append(j.tokens, fx.First)
	n.token(j, fx.First)
	if j.answer == j.submit.max || j.quit {
		n.tellPool(kvpool.Event{Kind: kvpool.EvRelease, Seq: j.seq})
		n.tellSched(sched.Event{Kind: sched.EvPagesFreed})
		n.conclude(j, "")
		return
	}
	j.refs = refs
	if len(j.submit.prompt)%s.pageSize > 0 {
		j.tail = refs[len(refs)-1]
	}
	ask := sched.Ask{Seqs: []page.Seq{j.seq}, Tenant: s.domain(j.submit.tenant), PromptLen: len(j.tokens), MaxTokens: j.submit.max - 1}
	n.tellSched(sched.Event{Kind: sched.EvSubmit, Ask: ask})
	n.tell(schedBox, n.makeRoom)
}

// checkImported holds every byte of an imported prompt against what the tokens say.
func (n *node) checkImported(j *job, refs []page.Ref) {
	if n.s.cfg.Break != BreakNothing {
		return // the answer must show it
	}
	want := newSlab(len(refs), n.s.pageSize)
	table := make([]page.Ref, len(refs))
	for i := range table {
		table[i].Page = page.Index(i)
	}
	want.fill(salt(j.submit.tenant), table, j.submit.prompt, 0, len(j.submit.prompt))
	for i, ref := range refs {
		if !slices.Equal(want.page(page.Index(i)), n.slab.page(ref.Page)) {
			n.s.fail("I5: node %d: attempt %v starts and page %d of its prompt does not hold its tokens", n.id, j.submit.attempt, i)
		}
	}
}

// makeRoom lets go of imported prompts that wait for their turn, the last first, when the pool has nothing for those who have theirs: they are found again in
// the prefix index, or computed. Otherwise the one that runs could wait for pages of those that wait for it.
func (n *node) makeRoom() {
	if !n.dry || n.s.cfg.Break == BreakKeepImports {
		return
	}
	for i := len(n.jobs) - 1; i >= 0; i-- {
		if j := n.jobs[i]; j.refs != nil && !j.asked {
			j.refs, j.tail = nil, page.Ref{}
			n.tellPool(kvpool.Event{Kind: kvpool.EvRelease, Seq: j.seq})
			n.tell(poolBox, func() { n.tellSched(sched.Event{Kind: sched.EvPagesFreed}) })
			return
		}
	}
}

func (n *node) token(j *job, t int32) {
	j.answer++
	j.report.tokens = append(j.report.tokens, t)
	n.s.gw.check(n, j)
	n.s.gw.hear(n, j)
}

// ended: the scheduler is done with a sequence.
func (n *node) ended(j *job, end sched.End) {
	if j.submit.role == prefillOnly {
		if end != sched.EndLength && j.open {
			n.revoke(j)
		}
		return
	}
	n.conclude(j, map[bool]string{true: "", false: "cancelled"}[end == sched.EndLength])
}

// cancelled takes the gateway's word that an attempt is over.
func (n *node) cancelled(m submit) {
	j := n.byName[m.attempt]
	if j == nil {
		j = n.newJob(m) // it may come before its submit
		j.over = true
	}
	j.quit, j.since = true, n.s.now
	if m.role != local {
		n.tellPool(kvpool.Event{Kind: kvpool.EvCancel, Attempt: m.attempt})
	}
	if n.s.cfg.Break == BreakReleaseEarly && m.role == decodeOnly && j.open {
		n.s.net.send(n, j.link, kvpool.Message{Kind: kvpool.MsgRelease, Attempt: m.attempt, From: n.life, To: j.link.Incarnation, Epoch: j.link.Epoch, Status: kvpool.Cancelled})
	}
	n.tellSched(sched.Event{Kind: sched.EvCancel, Seq: j.seq})
	n.conclude(j, "cancelled")
	n.s.gw.hear(n, j)
}

// tick is the shell's patience. It frees nothing: it has things sent again, gives up on what has taken long, and suspects a peer that then does not answer.
func (n *node) tick() {
	s := n.s
	n.tellPool(kvpool.Event{Kind: kvpool.EvTick})
	if s.chance(5) {
		n.tellPool(kvpool.Event{Kind: kvpool.EvPatrol, N: 4})
	}
	live := n.jobs[:0]
	for _, j := range n.jobs {
		waited := s.now - j.since
		if j.open && j.submit.role == prefillOnly && !j.quit && j.given > 0 && waited > revokeAfter {
			n.revoke(j)
		} else if j.open && j.quit && waited > revokeAfter+suspectAfter {
			n.suspect(j.link)
		}
		if j.open || !j.over || j.refs != nil {
			live = append(live, j)
		}
	}
	clear(n.jobs[len(live):])
	n.jobs = live
	for _, c := range slices.Clone(n.conns) {
		i := c.side(n)
		if out := c.sides[i].out; len(out) > 0 && s.now-out[0].began > revokeAfter+suspectAfter {
			n.suspect(c.sides[i].link)
		}
		if peer := c.sides[1-i].node; s.net.block[peer.id*s.net.n+n.id].until > s.now && s.now-s.net.block[peer.id*s.net.n+n.id].since > 50*milli {
			n.suspect(c.sides[i].link) // nothing has been heard
		}
	}
	if len(n.conns) > 0 && s.on(Tick) && s.chance(3) {
		c := n.conns[s.rng.IntN(len(n.conns))]
		n.suspect(c.sides[c.side(n)].link)
	}
}

func (n *node) suspect(link kvpool.Link) {
	if c := n.connOf(link); c != nil && !c.sides[c.side(n)].over {
		n.s.net.lost(c, c.side(n))
	}
}

func describe(m kvpool.Message) string {
	switch m.Kind {
	case kvpool.MsgOffer:
		return fmt.Sprintf("offer %v group %d: pages %d to %d of %d, seal %v", m.Attempt, m.Group, m.First, m.First+len(m.Pages), m.Total, m.Seal)
	case kvpool.MsgRelease:
		return fmt.Sprintf("release %v status %d", m.Attempt, m.Status)
	}
	return fmt.Sprintf("revoke %v", m.Attempt)
}
