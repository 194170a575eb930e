package host

import (
	"math"

	"github.com/kvasir-engine/kvasir/gpu"
)

const (
	// scoreStride is the distance of rows of scores.
	scoreStride = attentionBlock
	// keyRun is how many positions' keys or values are decoded at a time: they shall stay in the first-level cache.
	keyRun = 64
	// keyStride is the distance of rows of turned keys: not a power of two, since columns of these would share few places in the cache.
	keyStride = keyRun + 16
)

// attention is the work on the rows of a span and the query heads that share a KV head. Its queries are these heads of the first row, then of the next, and so on.
type attention struct {
	t      *attentionTask
	s      *scratch
	span   span
	kvHead int
	dim    int
	merged partial // of the blocks so far; a query that has seen none has sum 0
}

// partial is the softmax over some positions and the values mixed by it, for each query: mixed is the sum of e^(score-highest)*value, sum that of e^(score-highest). Sum is 0
// where no position is visible.
type partial struct{ mixed, highest, sum []float32 }

func partialSize(queries, dim int) int { return queries * (dim + 2) }

// partial is a partial result in this memory.
func (a attention) partial(memory []float32) partial {
	n := a.queries()
	return partial{memory[:n*a.dim], memory[n*a.dim:][:n], memory[n*a.dim+n:][:n]}
}

func (a attention) queries() int { return a.span.count * a.t.group }

// attend begins the work: it gathers the queries.
func (t *attentionTask) attend(s *scratch, sp span, kvHead int) attention {
	a := attention{t: t, s: s, span: sp, kvHead: kvHead, dim: t.s.Layout.HeadDim}
	row := t.group * a.dim
	s.queries = grow(s.queries, sp.count*row)
	for i := range sp.count {
		copy(s.queries[i*row:(i+1)*row], t.q[(sp.first+i)*t.cols+kvHead*row:])
	}
	s.merged = grow(s.merged, partialSize(a.queries(), a.dim))
	a.merged = a.partial(s.merged)
	clear(a.merged.sum)
	return a
}

// visible is how many of n positions, from one on, row i of the span sees.
func (a attention) visible(i, from, n int) int {
	return min(max(0, int(a.t.rows[a.span.first+i].Pos)+1-from), n)
}

// block sets part to what a block of positions gives.
func (a attention) block(block int, part partial) {
	k, s, group := a.t.d.kernels, a.s, a.t.group
	from := block * attentionBlock
	n := min(attentionBlock, a.span.positions-from)
	s.scores = grow(s.scores, a.queries()*scoreStride)
	for at := 0; at < n; at += keyRun {
		run := min(keyRun, n-at)
		k.scores(s.scores[at:], s.queries, a.keys(from+at, run), a.dim, run)
	}
	for i := range part.sum {
		part.highest[i], part.sum[i] = float32(math.Inf(-1)), 0
		if seen := a.visible(i/group, from, n); seen > 0 {
			part.highest[i], part.sum[i] = k.exponentials(s.scores[i*scoreStride:][:seen], a.t.scale)
		}
	}
	clear(part.mixed)
	for at := 0; at < n; at += keyRun {
		end := min(at+keyRun, n)
		values := a.values(from+at, end-at)
		common := max(at, a.visible(0, from, end))
		a.mix(part, values, 0, a.span.count, at, at, common)
		for i := range a.span.count {
			a.mix(part, values, i, 1, at, common, a.visible(i, from, end))
		}
	}
}

// mix adds positions [first, end) of the block to the results of rows of the span. values are those of positions from at on.
func (a attention) mix(part partial, values []float32, row, rows, at, first, end int) {
	if first >= end {
		return
	}
	out := part.mixed[row*a.t.group*a.dim : (row+rows)*a.t.group*a.dim]
	a.t.d.kernels.mix(out, a.s.scores[row*a.t.group*scoreStride+first:], scoreStride, values[(first-at)*a.dim:(end-at)*a.dim], a.dim)
}

// keys decodes those of a run of n positions, turned, so that those of one dimension lie side by side.
func (a attention) keys(from, n int) []float32 {
	k, s, size := a.t.d.kernels, a.s, a.t.s.Layout.PageSize
	s.keys = grow(s.keys, a.dim*keyStride)
	for at := 0; at < n; at += size {
		memory := a.read(from+at, min(size, n-at), false)
		if a.t.s.Layout.Type == gpu.F32 {
			k.turn(s.keys[at:], asFloats(memory), a.dim)
		} else {
			k.turnHalf(s.keys[at:], memory, a.dim)
		}
	}
	return s.keys
}

// values decodes those of a run of n positions.
func (a attention) values(from, n int) []float32 {
	s, size := a.s, a.t.s.Layout.PageSize
	s.values = grow(s.values, n*a.dim)
	for at := 0; at < n; at += size {
		memory := a.read(from+at, min(size, n-at), true)
		values := s.values[at*a.dim:]
		if a.t.s.Layout.Type == gpu.F32 {
			copy(values, asFloats(memory))
		} else {
			a.t.d.kernels.fromHalf(values[:len(memory)/2], memory)
		}
	}
	return s.values
}

// read returns keys or values as they lie in a page, of up to a page of positions. Runs and pages begin at multiples of each other.
func (a attention) read(from, n int, v bool) []byte {
	l := a.t.s.Layout
	table := a.t.tables[a.t.rows[a.span.first].Seq]
	row := a.dim * l.ElemBytes()
	memory := pageBytes(a.t.slab, l, table[from/l.PageSize])
	return memory[l.Offset(a.t.layer, v, a.kvHead)+from%l.PageSize*row:][:n*row]
}

// merge adds a block's partial result, of positions after all others, to the merged one.
func (a attention) merge(part partial) {
	k := a.t.d.kernels
	for i, sum := range part.sum {
		if sum == 0 { // nothing visible; what is not a number is not 0
			continue
		}
		merged, mixed := a.merged.mixed[i*a.dim:(i+1)*a.dim], part.mixed[i*a.dim:(i+1)*a.dim]
		if a.merged.sum[i] == 0 {
			copy(merged, mixed)
			a.merged.highest[i], a.merged.sum[i] = part.highest[i], sum
			continue
		}
		highest := max(a.merged.highest[i], part.highest[i])
		before, now := exp(a.merged.highest[i]-highest), exp(part.highest[i]-highest)
		k.scale(merged, before)
		a.s.weight[0] = now
		k.mix(merged, a.s.weight[:], 1, mixed, a.dim)
		a.merged.highest[i] = highest
		a.merged.sum[i] = float32(a.merged.sum[i]*before) + float32(sum*now)
	}
}

// finish writes the merged results to the output.
func (a attention) finish() {
	for i, sum := range a.merged.sum {
		row, head := i/a.t.group, a.kvHead*a.t.group+i%a.t.group
		out := a.t.out[(a.span.first+row)*a.t.cols+head*a.dim:][:a.dim]
		copy(out, a.merged.mixed[i*a.dim:(i+1)*a.dim])
		a.t.d.kernels.scale(out, 1/sum)
	}
}
