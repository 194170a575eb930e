package actors

import (
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/model"
	"github.com/kvasir-engine/kvasir/model/sample"
	"github.com/kvasir-engine/kvasir/request"
	"github.com/kvasir-engine/kvasir/sched"
)

// runner owns the device, the logits and the samplers. It does what a batch says, on pages that hold what the sequence's own tokens say they must.
type runner struct {
	node *Node
	seqs map[page.Seq]*runSeq

	// Reused from step to step: at most one batch is in flight, and the scheduler is done with a stepDone before it sends the next batch.
	done    stepDone
	parts   []part
	checks  []gpu.HeaderCheck
	owners  []int // checks[i] is about parts[owners[i]]
	bad     []int
	batch   model.Batch
	indexes []page.Index
	logits  []float32
}

// runSeq is what the runner knows of a sequence by itself: the tokens it was given and those it sampled.
type runSeq struct {
	seq     page.Seq
	domain  page.Domain
	tokens  []int32
	trail   *trail
	sampler *sample.Sampler
	export  bool
}

// part is one item of the batch on its way through a step.
type part struct {
	item   *sched.Item
	seq    *runSeq
	failed bool
}

func (r *runner) Receive(ctx actor.Context) {
	defer rethrow("runner")
	switch m := ctx.Message().(type) {
	case *begin:
		r.begin(m)
	case *stamp:
		r.stamp(m)
	case forget:
		delete(r.seqs, m.seq)
	case *run:
		r.node.tell(r.node.scheduler, r.step(m.batch))
	case *verify:
		r.verify(m)
	case scrub:
		r.node.dev.Scrub(r.node.slab, m.ref.Page)
		r.node.tellPool(kvpool.Event{Kind: kvpool.EvScrubbed, Ref: m.ref})
	}
}

// begin takes in what is known of a request's sequences: the prompt, and for an imported one the first token of its answer, and its pages.
func (r *runner) begin(m *begin) {
	t := m.trail(r.node)
	for i, q := range m.seqs {
		if i > 0 {
			t = t.clone()
		}
		sampler, err := sample.New(m.spec.Sampling, r.node.model.Config().Vocab, m.choice+i, m.spec.Seed, m.spec.Prompt)
		if err != nil {
			panic(fmt.Errorf("actors: Submit let pass what cannot be sampled: %w", err))
		}
		s := &runSeq{seq: q, domain: r.node.domain(m.spec.Tenant), trail: t, sampler: sampler, export: m.export,
			tokens: append(make([]int32, 0, len(m.spec.Prompt)+64), m.spec.Prompt...)}
		r.seqs[q] = s
		if m.imported != nil {
			s.sampler.Accept(m.imported.first)
			s.tokens = append(s.tokens, m.imported.first)
			r.stampImported(s, m.imported)
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

// step checks, computes, seals and samples one batch.
func (r *runner) step(b *sched.Batch) *stepDone {
	began := time.Now()
	r.open(b)
	r.stampNew()
	r.checkHeaders()
	out := r.forward()
	r.closePages()
	r.sample(b, out)
	r.node.metrics.step.Observe(time.Since(began).Seconds())
	r.node.metrics.stepTokens.Observe(float64(len(r.batch.Rows)))
	return &r.done
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

// checkHeaders compares the header of every page in the batch, the new ones too, with what the sequence's own tokens say it must be. It comes after
// all stamping, so that a page stamped for one sequence is noticed by any other that still reads it.
func (r *runner) checkHeaders() {
	size := r.node.layout.PageSize
	r.checks, r.owners = r.checks[:0], r.owners[:0]
	for i := range r.parts {
		p := &r.parts[i]
		expect := kvpool.Expect{Seq: p.seq.seq, Domain: p.seq.domain, PageSize: size, Chain: p.seq.trail.hashes}
		for at := 0; at*size < p.item.Start+p.item.Count && !p.failed; at++ {
			ref := p.item.Pages[at]
			if !r.node.ours(ref) {
				r.fail(p, ref)
				break
			}
			c := gpu.HeaderCheck{Page: ref.Page, AnyChecksum: true, Want: kvpool.HeaderFilling(ref.Generation, p.seq.seq, expect.Chain[at], 0)}
			if at*size < p.item.Start {
				c.Want = expect.Header(at, ref.Generation, p.item.Start)
			}
			r.checks, r.owners = append(r.checks, c), append(r.owners, i)
		}
	}
	r.bad = r.node.dev.CheckHeaders(r.node.slab, r.checks, r.bad[:0])
	for _, i := range r.bad {
		r.fail(&r.parts[r.owners[i]], page.Ref{Node: r.node.cfg.Node, Incarnation: r.node.incarnation,
			Page: r.checks[i].Page, Generation: r.checks[i].Want.Generation})
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

// forward computes the parts that passed. The returned logits have one row for each of them that samples, in order.
func (r *runner) forward() gpu.Matrix {
	b := &r.batch
	b.Tokens, b.Rows, b.Tables, b.Logits, r.indexes = b.Tokens[:0], b.Rows[:0], b.Tables[:0], b.Logits[:0], r.indexes[:0]
	for i := range r.parts {
		p := &r.parts[i]
		if p.failed {
			continue
		}
		from := len(r.indexes)
		for _, ref := range p.item.Pages {
			r.indexes = append(r.indexes, ref.Page)
		}
		for pos := p.item.Start; pos < p.item.Start+p.item.Count; pos++ {
			b.Tokens = append(b.Tokens, p.seq.tokens[pos])
			b.Rows = append(b.Rows, gpu.Row{Seq: int32(len(b.Tables)), Pos: int32(pos)})
		}
		// A later append may move indexes, but what this slice points to stays as it is.
		b.Tables = append(b.Tables, r.indexes[from:len(r.indexes):len(r.indexes)])
		if p.item.Sample {
			b.Logits = append(b.Logits, int32(len(b.Rows)-1))
		}
	}
	if len(b.Rows) == 0 {
		return gpu.Matrix{}
	}
	out, err := r.node.model.Forward(b, r.node.slab)
	if err != nil {
		panic(fmt.Errorf("actors: forward: %w", err))
	}
	return out
}

// closePages brings the headers up to date with what was written, and seals the pages that are full, or that another node is to have.
func (r *runner) closePages() {
	size := r.node.layout.PageSize
	var seals []kvpool.Seal
	for i := range r.parts {
		p := &r.parts[i]
		if p.failed {
			continue
		}
		end := p.item.Start + p.item.Count
		for at := p.item.Start / size; at*size < end; at++ {
			switch ref, filled := p.item.Pages[at], min(end-at*size, size); {
			case filled == size:
				seals = append(seals, r.seal(p.seq, ref, p.seq.trail.hashes[at+1], filled))
			case p.seq.export && p.item.Sample:
				r.node.dev.ZeroTail(r.node.slab, ref.Page, filled) // stale bytes of others never travel
				seals = append(seals, r.seal(p.seq, ref, p.seq.trail.end(), filled))
			default:
				r.node.dev.WriteHeader(r.node.slab, ref.Page, kvpool.HeaderFilling(ref.Generation, p.seq.seq, p.seq.trail.hashes[at], filled))
			}
		}
	}
	if len(seals) > 0 {
		r.node.tellPool(kvpool.Event{Kind: kvpool.EvSeal, Seals: seals})
	}
}

// seal stamps a page of s that will not be written again; chain is the hash up to its last filled slot.
func (r *runner) seal(s *runSeq, ref page.Ref, chain page.Hash, filled int) kvpool.Seal {
	x := kvpool.Seal{Ref: ref, Seq: s.seq, Domain: s.domain, Chain: chain,
		Checksum: r.node.dev.Checksum(r.node.slab, ref.Page), Full: filled == r.node.layout.PageSize}
	r.node.dev.WriteHeader(r.node.slab, ref.Page, kvpool.HeaderSealed(ref.Generation, x.Domain, chain, filled, x.Checksum))
	return x
}

// sample draws the next token of each part that asked for one and passed.
func (r *runner) sample(b *sched.Batch, out gpu.Matrix) {
	d := &r.done
	d.step, d.results, d.tokens, d.causes, d.prefixes = b.Step, d.results[:0], d.tokens[:0], d.causes[:0], d.prefixes[:0]
	row := 0
	for i := range r.parts {
		p := &r.parts[i]
		tok, cause := sample.Result{ID: sample.None}, error(nil)
		switch {
		case p.failed:
			cause = request.ErrPageCheck
		case p.item.Sample:
			r.node.dev.Download(r.logits, out, row, 1)
			row++
			if tok = p.seq.sampler.Sample(r.logits, len(p.seq.tokens)); tok.ID == sample.None {
				cause = request.ErrNoLogits
				r.node.log.Error("the model computed no usable logits; the sequence ends with an error", zapSeq(p.seq.seq))
				break
			}
			p.seq.sampler.Accept(tok.ID)
			p.seq.tokens = append(p.seq.tokens, tok.ID)
			p.seq.trail.add(tok.ID)
		}
		d.results = append(d.results, sched.Result{Seq: p.seq.seq, Failed: cause != nil, Token: tok.ID})
		d.tokens, d.causes = append(d.tokens, tok), append(d.causes, cause)
		if p.seq.export && cause == nil {
			d.prefixes = append(d.prefixes, r.prefix(p, tok))
		}
	}
}

// prefix is what can be offered of the prompt of a part that was computed; first is the token that it gave, if it has one.
func (r *runner) prefix(p *part, first sample.Result) prefix {
	size, end := r.node.layout.PageSize, p.item.Start+p.item.Count
	if p.item.Sample {
		return prefix{seq: p.seq.seq, pages: p.item.Pages, tokens: end, last: true, first: first}
	}
	return prefix{seq: p.seq.seq, pages: p.item.Pages[:end/size], tokens: end / size * size}
}

// verify hashes the bytes of pages that are about to gain a reader, or that the patrol looks at. What is more than the budget is left for after the messages that wait, so
// that a long prefix does not keep everybody else from their tokens.
func (r *runner) verify(m *verify) {
	for budget := r.node.cfg.verifyBudget; m.done < len(m.checks) && budget > 0; m.done++ {
		c := m.checks[m.done]
		budget -= r.node.layout.PageBytes()
		want := kvpool.HeaderSealed(c.Ref.Generation, c.Domain, c.Chain, r.node.layout.PageSize, c.Checksum)
		got := r.node.dev.ReadHeader(r.node.slab, c.Ref.Page)
		if got == want && r.node.dev.Checksum(r.node.slab, c.Ref.Page) == c.Checksum {
			continue
		}
		m.bad = append(m.bad, m.done)
		r.node.metrics.checkFailures.WithLabelValues("bytes").Inc()
		r.node.log.Error("a cached page does not hold what was sealed in it; it is taken out of use", zapRef(c.Ref))
	}
	if m.done < len(m.checks) {
		r.node.tell(r.node.runner, m)
		return
	}
	r.node.tellPool(kvpool.Event{Kind: kvpool.EvVerified, Job: m.job, Bad: m.bad})
}
