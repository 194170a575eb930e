package sim

import (
	"slices"

	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/sched"
)

// compute is the runner: it checks the headers of a batch's pages, reads and writes through the page tables, seals what is full, and answers.
func (n *node) compute(b *sched.Batch) {
	done := sched.Event{Kind: sched.EvStepDone, Step: b.Step}
	failed := make([]bool, len(b.Items))
	for i := range b.Items {
		failed[i] = !n.stampNew(&b.Items[i])
	}
	for i := range b.Items { // after all stamping, so that a page stamped for one sequence is noticed by any other that reads it
		failed[i] = failed[i] || !n.checkHeaders(&b.Items[i])
	}
	var seals []kvpool.Seal
	var offers []handoff.NodeEvent
	for i := range b.Items {
		it := &b.Items[i]
		if failed[i] {
			done.Results = append(done.Results, sched.Result{Seq: it.Seq, Failed: true})
			continue
		}
		q := n.seqs[it.Seq]
		end := it.Start + it.Count
		n.write(q, it.Pages, it.Start, end)
		r := sched.Result{Seq: it.Seq}
		if it.Sample {
			r.Token = n.slab.sample(it.Pages, end, draw(q.spec))
		}
		last := it.Sample && q.export
		seals = n.closePages(q, it, last, seals)
		if it.Sample {
			q.add(n.s, r.Token)
		}
		done.Results = append(done.Results, r)
		if q.export {
			ev := handoff.NodeEvent{Kind: handoff.EvSealed, Seq: q.id, Pages: it.Pages[:end/n.s.pageSize], Computed: end, Last: last, Token: r.Token}
			if last {
				ev.Pages = it.Pages
				n.sampled(q, 0, r.Token, &ev.Detail)
			}
			offers = append(offers, ev)
		}
	}
	n.running = false
	if len(seals) > 0 {
		n.tellPool(kvpool.Event{Kind: kvpool.EvSeal, Seals: seals})
	}
	for _, ev := range offers {
		n.tellCore(ev)
	}
	n.tellSched(done)
}

// sampled holds a token against the right answer, and makes its detail if one is wanted.
func (n *node) sampled(q *seq, at int, t int32, detail *[]byte) {
	n.s.check(q.client, at, t, "a node")
	if q.spec.Details {
		*detail = detailOf(t)
	}
}

// stampNew writes the headers of pages that are filled from this step on.
func (n *node) stampNew(it *sched.Item) bool {
	size, q := n.s.pageSize, n.seqs[it.Seq]
	for at := (it.Start + size - 1) / size; at*size < it.Start+it.Count; at++ {
		ref := it.Pages[at]
		if !n.stamp(ref, kvpool.HeaderFilling(ref.Generation, q.id, q.hashes[at], 0)) {
			n.badPage(q, ref)
			return false
		}
	}
	return true
}

// checkHeaders compares what the pages of an item show with what the sequence's own tokens say.
func (n *node) checkHeaders(it *sched.Item) bool {
	size, q := n.s.pageSize, n.seqs[it.Seq]
	x := q.expect(n.s)
	for at := 0; at*size < it.Start+it.Count; at++ {
		ref := it.Pages[at]
		want := kvpool.HeaderFilling(ref.Generation, q.id, q.hashes[at], 0)
		if at*size < it.Start {
			want = x.Header(at, ref.Generation, it.Start)
		}
		got := n.headers[ref.Page]
		got.Checksum = 0
		if got != want {
			n.badPage(q, ref)
			return false
		}
	}
	return true
}

func (n *node) badPage(q *seq, ref page.Ref) {
	n.flaw("node %d: page %v in the table of sequence %d does not show what its tokens say: %+v", n.id, ref, q.id, n.headers[ref.Page])
	n.tellPool(kvpool.Event{Kind: kvpool.EvBadPage, Seq: q.id, Ref: ref})
}

// flaw is something that happens only where bits flip.
func (n *node) flaw(format string, args ...any) {
	n.s.res.Flaws++
	if n.s.cfg.Faults&Flip == 0 {
		n.s.fail(format, args...)
		return
	}
	n.s.logf(format, args...)
}

func (n *node) write(q *seq, table []page.Ref, start, end int) {
	if n.s.cfg.Break != BreakSealLate {
		n.slab.fill(salt(q.client.tenant), table, q.tokens, start, end)
		return
	}
	n.later(5*milli, func() { n.slab.fill(salt(q.client.tenant), table, q.tokens, start, end) })
}

// closePages brings headers up to date and seals the pages that are full, or that another node is to have; of such a page the tail is zeroed: stale bytes do not travel.
func (n *node) closePages(q *seq, it *sched.Item, last bool, seals []kvpool.Seal) []kvpool.Seal {
	size, end := n.s.pageSize, it.Start+it.Count
	for at := it.Start / size; at*size < end; at++ {
		ref, fill := it.Pages[at], min(end-at*size, size)
		seal := kvpool.Seal{Ref: ref, Seq: q.id, Domain: q.domain, Full: fill == size}
		switch {
		case seal.Full:
			seal.Chain = q.hashes[at+1]
		case last:
			clear(n.slab.page(ref.Page)[fill*slotBytes:])
			seal.Chain = q.upTo(n.s, end)
		default:
			n.headers[ref.Page] = kvpool.HeaderFilling(ref.Generation, q.id, q.hashes[at], fill)
			continue
		}
		seal.Checksum = checksum(n.slab.page(ref.Page))
		n.headers[ref.Page] = kvpool.HeaderSealed(ref.Generation, q.domain, seal.Chain, fill, seal.Checksum)
		seals = append(seals, seal)
	}
	return seals
}

// verify hashes pages that are about to gain a reader. What went bad while nobody looked is found now.
func (n *node) verify(number uint64, checks []kvpool.Check) {
	var bad []int
	for i, c := range checks {
		if n.s.on(Flip) && n.s.chance(10) && n.isQuiet(c.Ref.Page) {
			n.flip(c.Ref.Page, n.s.chance(50))
		}
		got := n.headers[c.Ref.Page]
		fill := int(got.Fill) // a prompt's last page is checked too, when a peer says that it is wrong
		if got != kvpool.HeaderSealed(c.Ref.Generation, c.Domain, c.Chain, fill, c.Checksum) || checksum(n.slab.page(c.Ref.Page)) != c.Checksum {
			bad = append(bad, i)
			n.flaw("node %d: page %v does not hold what was sealed in it", n.id, c.Ref)
		}
	}
	for _, c := range checks {
		n.doubt[c.Ref.Page]++
		n.hashed[c.Ref.Page] = n.s.now
	}
	n.tellPool(kvpool.Event{Kind: kvpool.EvVerified, Job: number, Bad: bad})
	n.tell(poolBox, func() {
		for _, c := range checks {
			n.doubt[c.Ref.Page]--
		}
	})
}

// flip turns a bit over, of a page's bytes or of its header.
func (n *node) flip(i page.Index, header bool) {
	n.s.res.Flips++
	if !header {
		b := n.slab.page(i)
		b[n.s.rng.IntN(len(b))] ^= 1 << n.s.rng.IntN(8)
		return
	}
	var b [page.HeaderSize]byte
	n.headers[i].Encode(b[:])
	b[n.s.rng.IntN(49)] ^= 1 << n.s.rng.IntN(8)
	n.headers[i].Decode(b[:])
}

// stampImported writes the headers of an imported prompt's full pages, by what the gateway's tokens say. It comes with FxStart: they are in the prefix index from then on. The first
// own of them were this node's before.
func (n *node) stampImported(expect *kvpool.Event, refs []page.Ref, own int) {
	for at, ref := range refs[:expect.Tokens/n.s.pageSize] {
		if at < own {
			continue
		}
		n.stamp(ref, kvpool.HeaderSealed(ref.Generation, expect.Domain, expect.Hashes[at], n.s.pageSize, checksum(n.slab.page(ref.Page))))
	}
}

// stamp writes a page's header, unless the page shows a later life. Then the check before the first step finds that it does.
func (n *node) stamp(ref page.Ref, h page.Header) bool {
	if n.headers[ref.Page].Generation >= ref.Generation {
		n.flaw("node %d: page %v shows another life: %+v", n.id, ref, n.headers[ref.Page])
		return false
	}
	n.headers[ref.Page] = h
	return true
}

// adopt hands an imported prompt to the scheduler.
func (n *node) adopt(fx *handoff.NodeEffect) {
	s := n.s
	q := n.newSeq(fx)
	s.res.Imports++
	refs := slices.Clone(fx.Refs)
	if s.cfg.Break == BreakSwapPages && len(refs) > 2 {
		refs[0], refs[1] = refs[1], refs[0]
	}
	n.checkImported(q, refs)
	q.add(s, fx.Token)
	n.sampled(q, 0, fx.Token, new([]byte))
	q.said = 1
	if at := len(fx.Spec.Prompt) / s.pageSize; at < len(refs) { // its own to fill on
		x := q.expect(s)
		n.stamp(refs[at], x.Header(at, refs[at].Generation, len(fx.Spec.Prompt)))
	}
	spare := fx.Spare
	if s.cfg.Break == BreakSpareLost {
		spare = page.Ref{}
	}
	ask := sched.Ask{Seqs: []page.Seq{q.id}, Tenant: fx.Spec.Tenant, PromptLen: len(q.tokens), MaxTokens: fx.MaxTokens, StopTokens: fx.Spec.StopTokens}
	n.plan(sched.Event{Kind: sched.EvAdopt, Ask: ask, Refs: refs, Computed: len(fx.Spec.Prompt), Spare: spare})
}

// checkImported holds every byte of an imported prompt against what the tokens say.
func (n *node) checkImported(q *seq, refs []page.Ref) {
	if n.s.cfg.Break != BreakNothing {
		return // the answer must show it
	}
	want := newSlab(len(refs), n.s.pageSize)
	table := make([]page.Ref, len(refs))
	for i := range table {
		table[i].Page = page.Index(i)
	}
	want.fill(salt(q.client.tenant), table, q.spec.Prompt, 0, len(q.spec.Prompt))
	for i, ref := range refs {
		if !slices.Equal(want.page(page.Index(i)), n.slab.page(ref.Page)) {
			n.s.fail("I5: node %d: attempt %v starts and page %d of its prompt does not hold its tokens", n.id, q.attempt, i)
		}
	}
}
