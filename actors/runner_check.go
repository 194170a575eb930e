package actors

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/sched"
)

// pageView is what the runner keeps of a sequence's pages from step to step, so that a step costs a comparison for each page and no more. It is never believed: each step holds it against the
// batch's page table, and each header against it.
type pageView struct {
	pages   []page.Ref        // the page table; all of this life of this node
	indexes []page.Index      // of pages, for the device
	sealed  []gpu.HeaderCheck // what the first pages, those without room, must be
}

// follow takes over a page table from where it is another than before: behind its end, or wherever the sequence was given other pages. It returns the place of the first reference that names no page
// of this life, or -1.
func (v *pageView) follow(n *Node, table []page.Ref) int {
	same := 0
	for same < min(len(table), len(v.pages)) && table[same] == v.pages[same] {
		same++
	}
	v.pages, v.indexes, v.sealed = v.pages[:same], v.indexes[:same], v.sealed[:min(same, len(v.sealed))]
	for at, ref := range table[same:] {
		if !n.ours(ref) {
			return same + at
		}
		v.pages, v.indexes = append(v.pages, ref), append(v.indexes, ref.Page)
	}
	return -1
}

// expect makes v.sealed what the first full pages must be.
func (v *pageView) expect(x *kvpool.Expect, full int) {
	v.sealed = v.sealed[:min(full, len(v.sealed))]
	for at := len(v.sealed); at < full; at++ {
		ref := v.pages[at]
		v.sealed = append(v.sealed, gpu.HeaderCheck{Page: ref.Page, AnyChecksum: true, Want: x.Header(at, ref.Generation, full*x.PageSize)})
	}
}

// open looks the batch's sequences up and asserts what the scheduler promises.
func (r *runner) open(b *sched.Batch) {
	r.parts = r.parts[:0]
	for i := range b.Items {
		it := &b.Items[i]
		s := r.seqs[it.Seq]
		switch end := it.Start + it.Count; {
		case s == nil:
			panic(fmt.Sprintf("actors: batch %d names sequence %d, which the runner does not know", b.Step, it.Seq))
		case it.Count < 1 || end > len(s.tokens):
			panic(fmt.Sprintf("actors: batch %d wants tokens [%d, %d) of sequence %d, which has %d", b.Step, it.Start, end, it.Seq, len(s.tokens)))
		case it.Sample && end != len(s.tokens):
			panic(fmt.Sprintf("actors: batch %d samples sequence %d after token %d of %d", b.Step, it.Seq, end, len(s.tokens)))
		case len(it.Pages)*r.node.layout.PageSize < end:
			panic(fmt.Sprintf("actors: batch %d has %d pages for %d tokens of sequence %d", b.Step, len(it.Pages), end, it.Seq))
		}
		r.parts = append(r.parts, part{item: it, seq: s})
		if at := s.view.follow(r.node, it.Pages); at >= 0 {
			r.fail(&r.parts[i], it.Pages[at])
		}
	}
}

// stampNew writes the headers of pages that are filled from this step on.
func (r *runner) stampNew() {
	size := r.node.layout.PageSize
	for i := range r.parts {
		p := &r.parts[i]
		for at := (p.item.Start + size - 1) / size; at*size < p.item.Start+p.item.Count && !p.failed; at++ {
			ref := p.item.Pages[at]
			if r.wasSpent(ref) {
				r.fail(p, ref)
				continue
			}
			r.node.dev.WriteHeader(r.node.slab, ref.Page, kvpool.HeaderFilling(ref.Generation, p.seq.seq, p.seq.trail.hashes[at], 0))
		}
	}
}

// stampImported writes the header of the imported page that s is to fill on: what it must be by the tokens that the sequence was given, not by what the other node said. A reference that
// is a replay changes nothing (I6), and the check before the first step will find that it does. The full pages have theirs by stamp.
func (r *runner) stampImported(s *runSeq, m *adopt) {
	size := r.node.layout.PageSize
	expect := kvpool.Expect{Seq: s.seq, Domain: s.domain, PageSize: size, Chain: s.trail.hashes}
	at := len(m.refs) - 1
	if h := expect.Header(at, m.refs[at].Generation, len(s.tokens)-1); !h.Sealed && !r.wasSpent(m.refs[at]) {
		r.node.dev.WriteHeader(r.node.slab, m.refs[at].Page, h)
	}
}

// stamp writes the headers of pages that came from another node.
func (r *runner) stamp(m *stamp) {
	for _, c := range m.pages {
		if !r.wasSpent(c.Ref) {
			r.node.dev.WriteHeader(r.node.slab, c.Ref.Page, kvpool.HeaderSealed(c.Ref.Generation, c.Domain, c.Chain, r.node.layout.PageSize, c.Checksum))
		}
	}
}

// wasSpent: ref is not a page of this life, or its header shows this generation or a later one. Such a reference is a replay, and stamping it would take the page from its
// owner (I6).
func (r *runner) wasSpent(ref page.Ref) bool {
	return !r.node.ours(ref) || r.node.dev.ReadHeader(r.node.slab, ref.Page).Generation >= ref.Generation
}

// checkHeaders compares the header of every page in the batch, the new ones too, with what the sequence's own tokens say it must be. It comes after
// all stamping, so that a page stamped for one sequence is noticed by any other that still reads it.
func (r *runner) checkHeaders() {
	size := r.node.layout.PageSize
	for i := range r.parts {
		p := &r.parts[i]
		if p.failed {
			continue
		}
		s, start, end := p.seq, p.item.Start, p.item.Start+p.item.Count
		x := kvpool.Expect{Seq: s.seq, Domain: s.domain, PageSize: size, Chain: s.trail.hashes}
		s.view.expect(&x, start/size)
		r.room = r.room[:0]
		for at := start / size; at*size < end; at++ { // these have room
			ref := s.view.pages[at]
			want := kvpool.HeaderFilling(ref.Generation, s.seq, x.Chain[at], max(0, start-at*size))
			r.room = append(r.room, gpu.HeaderCheck{Page: ref.Page, AnyChecksum: true, Want: want})
		}
		r.compare(p, s.view.sealed)
		r.compare(p, r.room)
	}
}

// compare fails p for each header that differs.
func (r *runner) compare(p *part, checks []gpu.HeaderCheck) {
	r.bad = r.node.dev.CheckHeaders(r.node.slab, checks, r.bad[:0])
	for _, i := range r.bad {
		r.fail(p, page.Ref{Node: r.node.cfg.Node, Incarnation: r.node.incarnation, Page: checks[i].Page, Generation: checks[i].Want.Generation})
	}
}

// fail takes a part out of the step and tells the pool which page was at fault. Only this sequence is harmed.
func (r *runner) fail(p *part, ref page.Ref) {
	p.failed = true
	r.node.metrics.checkFailures.WithLabelValues("header").Inc()
	r.node.log.Error("a page does not hold what its sequence's tokens say it must; the sequence ends with an error",
		zapSeq(p.seq.seq), zapRef(ref))
	r.node.tellPool(kvpool.Event{Kind: kvpool.EvBadPage, Ref: ref, Seq: p.seq.seq})
}
