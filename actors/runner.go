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
	done   stepDone
	parts  []part
	room   []gpu.HeaderCheck
	bad    []int
	batch  model.Batch
	logits []float32
}

// runSeq is what the runner knows of a sequence by itself: the tokens it was given and those it sampled.
type runSeq struct {
	seq     page.Seq
	domain  page.Domain
	tokens  []int32
	trail   *trail
	sampler *sample.Sampler
	export  bool
	view    pageView
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

// step checks, computes, seals and samples one batch.
func (r *runner) step(b *sched.Batch) *stepDone {
	began := time.Now()
	r.open(b)
	r.stampNew()
	r.checkHeaders()
	out := r.forward()
	r.closePages()
	r.sample(b, out)
	r.done.took = time.Since(began)
	r.node.metrics.step.Observe(r.done.took.Seconds())
	r.node.metrics.stepTokens.Observe(float64(len(r.batch.Rows)))
	return &r.done
}

// forward computes the parts that passed. The returned logits have one row for each of them that samples, in order.
func (r *runner) forward() gpu.Matrix {
	r.rows()
	if len(r.batch.Rows) == 0 {
		return gpu.Matrix{}
	}
	out, err := r.node.model.Forward(&r.batch, r.node.slab)
	if err != nil {
		panic(fmt.Errorf("actors: forward: %w", err))
	}
	return out
}

// rows makes the model's batch of the parts that passed.
func (r *runner) rows() {
	b := &r.batch
	b.Tokens, b.Rows, b.Tables, b.Logits = b.Tokens[:0], b.Rows[:0], b.Tables[:0], b.Logits[:0]
	for i := range r.parts {
		p := &r.parts[i]
		if p.failed {
			continue
		}
		for pos := p.item.Start; pos < p.item.Start+p.item.Count; pos++ {
			b.Tokens = append(b.Tokens, p.seq.tokens[pos])
			b.Rows = append(b.Rows, gpu.Row{Seq: int32(len(b.Tables)), Pos: int32(pos)})
		}
		b.Tables = append(b.Tables, p.seq.view.indexes)
		if p.item.Sample {
			b.Logits = append(b.Logits, int32(len(b.Rows)-1))
		}
	}
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
