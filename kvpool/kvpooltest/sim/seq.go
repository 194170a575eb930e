package sim

import (
	"github.com/kvasir-engine/kvasir/handoff"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// seq is what the runner and the scheduler's shell know of a sequence.
type seq struct {
	id      page.Seq
	attempt kvpool.Attempt
	spec    *handoff.Spec
	client  *client
	export  bool
	said    int // tokens of the answer that the core was told
	domain  page.Domain
	tokens  []int32 // known so far: the prompt, then the answer
	chain   *kvpool.Chain
	hashes  []page.Hash // hashes[i] is the chain hash up to the start of page i
}

func (n *node) newSeq(fx *handoff.NodeEffect) *seq {
	s := n.s
	q := &seq{
		id: fx.Seq, attempt: fx.Attempt, spec: fx.Spec, client: s.clientOf(fx.Spec), export: fx.Export, domain: kvpool.DomainOf(s.key, fx.Spec.Domain),
		chain: kvpool.NewChain(s.key, fx.Spec.Domain, s.layout),
	}
	q.hashes = append(q.hashes, q.chain.Sum())
	q.add(s, fx.Spec.Prompt...)
	n.seqs[q.id] = q
	return q
}

// add makes more tokens known.
func (q *seq) add(s *sim, tokens ...int32) {
	q.tokens = append(q.tokens, tokens...)
	for end := len(q.hashes) * s.pageSize; end <= len(q.tokens); end += s.pageSize {
		q.chain.Add(q.tokens[end-s.pageSize : end])
		q.hashes = append(q.hashes, q.chain.Sum())
	}
}

// upTo is the chain hash to the end of the first n tokens, of which the last page is not full.
func (q *seq) upTo(s *sim, n int) page.Hash {
	c := kvpool.NewChain(s.key, q.spec.Domain, s.layout)
	c.Add(q.tokens[:n])
	return c.Sum()
}

// expect says what the headers of the sequence's pages must be.
func (q *seq) expect(s *sim) kvpool.Expect {
	return kvpool.Expect{Seq: q.id, Domain: q.domain, PageSize: s.pageSize, Chain: q.hashes}
}

// draw stands for the random numbers by which a choice's tokens are drawn.
func draw(spec *handoff.Spec) uint64 { return mix(spec.Seed, uint64(spec.Choice)) }
