package host

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/gpu"
)

const (
	// attentionQueries is about how many query heads, of neighbouring rows of a sequence, are worked on together: keys and values are decoded once for all of them.
	attentionQueries = 48
	// attentionBlock is how many positions are worked on together: [0, 256), [256, 512) and so on. Pages hold fewer, and divide it. A softmax over a block is whole; those
	// of a row's blocks are merged in ascending order. So results depend on it, and on nothing that batches, pages and threads change.
	attentionBlock = 256
	// attentionPartials is how many floats of results of blocks are kept for being merged later, if there are pairs enough for all workers.
	attentionPartials = 1 << 20
)

// attentionTask is one attention operation, over all pairs of a span of rows and a KV head. Block i is such a pair, all of whose positions one worker goes through.
// Where there are few pairs for the workers, or few rows, it is a block of positions of one, so that all heads of a page are read together; in a second step, when all
// these are done, it is a pair whose results are merged.
type attentionTask struct {
	d      *Device
	out, q []float32
	cols   int // of out and q
	group  int // query heads that share a KV head
	s      *gpu.Slab
	slab   []byte
	layer  int
	rows   []gpu.Row
	tables gpu.Tables
	scale  float32
	step   attentionStep

	// Kept from one call to the next.
	spans    []span
	partials []float32
}

type attentionStep uint8

const (
	attendWhole attentionStep = iota
	attendBlocks
	mergeBlocks
)

// span is rows [first, first+count) of a batch, all of one sequence, at ascending positions.
type span struct {
	first, count int
	positions    int // that the last row sees
	firstBlock   int // blocks of positions of all spans before
	firstFloat   int // of its partial results
}

func (sp span) blocks() int { return (sp.positions + attentionBlock - 1) / attentionBlock }

func (d *Device) Attention(out, q gpu.Matrix, s *gpu.Slab, layer int, rows []gpu.Row, tables gpu.Tables, scale float32) {
	mustMatch("attention", out, q)
	l := s.Layout
	if q.Rows != len(rows) || q.Cols%(l.KVHeads*l.HeadDim) != 0 || layer < 0 || layer >= l.Layers || attentionBlock%l.PageSize != 0 {
		panic(fmt.Sprintf("host: attention of %dx%d for %d rows over layer %d of %v", q.Rows, q.Cols, len(rows), layer, l))
	}
	group := q.Cols / (l.KVHeads * l.HeadDim)
	t := &d.attention
	*t = attentionTask{d: d, out: floats(out), q: floats(q), cols: q.Cols, group: group, s: s, slab: bytesOf(s.Data), layer: layer, rows: rows, tables: tables,
		scale: scale, spans: appendSpans(t.spans[:0], rows, attentionQueries/group), partials: t.partials}
	cost, blocks, size := 0, 0, 0
	for i := range t.spans {
		sp := &t.spans[i]
		sp.positions = int(rows[sp.first+sp.count-1].Pos) + 1
		sp.firstBlock, sp.firstFloat = blocks, size
		blocks += sp.blocks()
		size += sp.blocks() * l.KVHeads * partialSize(sp.count*group, l.HeadDim)
		cost += sp.count * sp.positions * q.Cols * 2
	}
	pairs := len(t.spans) * l.KVHeads
	if pairs >= 2*d.pool.workers() && size > attentionPartials || blocks == len(t.spans) {
		d.run(t, pairs, cost)
		return
	}
	t.partials = grow(t.partials, size)
	t.step = attendBlocks
	d.run(t, blocks*l.KVHeads, cost)
	t.step = mergeBlocks
	d.run(t, pairs, 4*size)
}

// appendSpans cuts rows into spans of at most this many rows, and at least one.
func appendSpans(spans []span, rows []gpu.Row, most int) []span {
	for i, r := range rows {
		if n := len(spans); n > 0 && i > 0 && spans[n-1].count < most && rows[i-1].Seq == r.Seq && rows[i-1].Pos < r.Pos {
			spans[n-1].count++
			continue
		}
		spans = append(spans, span{first: i, count: 1})
	}
	return spans
}

func (t *attentionTask) do(worker, i int) {
	heads, s := t.s.Layout.KVHeads, &t.d.scratch[worker]
	switch t.step {
	case attendWhole:
		a := t.attend(s, t.spans[i/heads], i%heads)
		s.partial = grow(s.partial, partialSize(a.queries(), a.dim))
		part := a.partial(s.partial)
		for block := range a.span.blocks() {
			a.block(block, part)
			a.merge(part)
		}
		a.finish()
	case attendBlocks:
		n := 0
		for n+1 < len(t.spans) && t.spans[n+1].firstBlock <= i/heads {
			n++
		}
		a := t.attend(s, t.spans[n], i%heads)
		block := i/heads - a.span.firstBlock
		a.block(block, t.blockPartial(a, block))
	case mergeBlocks:
		a := t.attend(s, t.spans[i/heads], i%heads)
		for block := range a.span.blocks() {
			a.merge(t.blockPartial(a, block))
		}
		a.finish()
	}
}

// blockPartial is where the result of a block of positions is kept.
func (t *attentionTask) blockPartial(a attention, block int) partial {
	size := partialSize(a.queries(), a.dim)
	return a.partial(t.partials[a.span.firstFloat+(block*t.s.Layout.KVHeads+a.kvHead)*size:][:size])
}
