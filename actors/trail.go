package actors

import (
	"slices"

	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// A trail is the token-chain hashes of one sequence, page by page, as its tokens become known. The scheduler's side asks the pool for prefixes with its
// trail; the runner's side, from tokens it was given or sampled itself, says what each header must be. The two are kept apart on purpose.
type trail struct {
	chain    *kvpool.Chain
	pageSize int
	hashes   []page.Hash // hashes[i] is the hash up to the start of page i, which is the end of page i-1
}

func newTrail(chain *kvpool.Chain, pageSize int, tokens []int32) *trail {
	t := &trail{chain: chain, pageSize: pageSize, hashes: append(make([]page.Hash, 0, len(tokens)/pageSize+4), chain.Sum())}
	t.add(tokens...)
	return t
}

// clone is for another choice over the same prompt.
func (t *trail) clone() *trail {
	return &trail{chain: t.chain.Clone(), pageSize: t.pageSize, hashes: slices.Clone(t.hashes)}
}

// add makes tokens known, in order.
func (t *trail) add(tokens ...int32) {
	for len(tokens) > 0 {
		n := min(t.pageSize-t.chain.Len()%t.pageSize, len(tokens))
		t.chain.Add(tokens[:n])
		tokens = tokens[n:]
		if t.chain.Len()%t.pageSize == 0 {
			t.hashes = append(t.hashes, t.chain.Sum())
		}
	}
}

// end is the hash up to the last known token.
func (t *trail) end() page.Hash { return t.chain.Sum() }

// trail is that of what is known when m's sequences begin.
func (m *begin) trail(n *Node) *trail {
	t := newTrail(n.chain(m.spec.Tenant), n.layout.PageSize, m.spec.Prompt)
	if m.imported != nil {
		t.add(m.imported.first)
	}
	return t
}

// prefix are the hashes to the ends of the full pages that lie within the first known-1 tokens: a hit never covers the last token, whose logits are needed.
func (t *trail) prefix(known int) []page.Hash { return t.hashes[1 : 1+(known-1)/t.pageSize] }
