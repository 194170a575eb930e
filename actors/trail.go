package actors

import (
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// A trail is the token-chain hashes of one sequence, page by page, as its tokens become known. The scheduler's side asks the pool for prefixes with its
// trail; the runner's side, from tokens it was given or sampled itself, says what each header must be. The two are kept apart on purpose.
type trail struct {
	chain    *kvpool.Chain
	pageSize int
	start    page.Hash   // before the first token
	ends     []page.Hash // ends[i] is the hash to the end of page i
}

func newTrail(chain *kvpool.Chain, pageSize int) *trail {
	return &trail{chain: chain, pageSize: pageSize, start: chain.Sum()}
}

// add makes tokens known, in order.
func (t *trail) add(tokens ...int32) {
	for len(tokens) > 0 {
		n := min(t.pageSize-t.chain.Len()%t.pageSize, len(tokens))
		t.chain.Add(tokens[:n])
		tokens = tokens[n:]
		if t.chain.Len()%t.pageSize == 0 {
			t.ends = append(t.ends, t.chain.Sum())
		}
	}
}

// begin is the hash up to the start of page i.
func (t *trail) begin(i int) page.Hash {
	if i == 0 {
		return t.start
	}
	return t.ends[i-1]
}

// end is the hash up to the end of page i, whose tokens must all be known.
func (t *trail) end(i int) page.Hash { return t.ends[i] }

// prefix are the hashes of the full pages that lie within the first known-1 tokens: a hit never covers the last token, whose logits are needed.
func (t *trail) prefix(known int) []page.Hash { return t.ends[:(known-1)/t.pageSize] }
