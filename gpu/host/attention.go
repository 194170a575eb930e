package host

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// attentionQueries is about how many query heads, of neighbouring rows of a sequence, are worked on together: keys and values are decoded once for all of them.
const attentionQueries = 24

// attentionTask is one attention operation. A block is some of the query heads that share a KV head, for one span of rows.
type attentionTask struct {
	d      *Device
	out, q []float32
	cols   int // of out and q
	group  int // query heads that share a KV head
	heads  int // of these in a block
	s      *gpu.Slab
	slab   []byte
	layer  int
	rows   []gpu.Row
	tables gpu.Tables
	scale  float32
	spans  []span // kept from one call to the next
}

// span is rows [first, first+count) of a batch, all of one sequence, at ascending positions.
type span struct{ first, count int }

func (d *Device) Attention(out, q gpu.Matrix, s *gpu.Slab, layer int, rows []gpu.Row, tables gpu.Tables, scale float32) {
	mustMatch("attention", out, q)
	l := s.Layout
	if q.Rows != len(rows) || q.Cols%(l.KVHeads*l.HeadDim) != 0 || layer < 0 || layer >= l.Layers {
		panic(fmt.Sprintf("host: attention of %dx%d for %d rows over layer %d of %v", q.Rows, q.Cols, len(rows), layer, l))
	}
	group := q.Cols / (l.KVHeads * l.HeadDim)
	t := &d.attention
	*t = attentionTask{d: d, out: floats(out), q: floats(q), cols: q.Cols, group: group, heads: group,
		s: s, slab: bytesOf(s.Data), layer: layer, rows: rows, tables: tables, scale: scale, spans: appendSpans(t.spans[:0], rows, attentionQueries/group)}
	// Few rows are shared among the threads by head, although each then decodes the keys and values for itself.
	if blocks := len(t.spans) * l.KVHeads; blocks > 0 && blocks < d.pool.workers() {
		parts := min(group, (d.pool.workers()+blocks-1)/blocks)
		t.heads = (group + parts - 1) / parts
	}
	cost := 0
	for _, r := range rows {
		cost += (int(r.Pos) + 1) * q.Cols * 2
	}
	d.run(t, len(t.spans)*l.KVHeads*t.parts(), cost)
}

// parts is in how many blocks the query heads of a KV head are divided.
func (t *attentionTask) parts() int { return (t.group + t.heads - 1) / t.heads }

// appendSpans cuts rows into spans of at most this many rows, and at least one.
func appendSpans(spans []span, rows []gpu.Row, most int) []span {
	for i, r := range rows {
		if n := len(spans); n > 0 && i > 0 && spans[n-1].count < most && rows[i-1].Seq == r.Seq && rows[i-1].Pos < r.Pos {
			spans[n-1].count++
			continue
		}
		spans = append(spans, span{i, 1})
	}
	return spans
}

// do works in two passes over the pages: first all scores and their softmax, then the sum of the values. Both go by position; a page border changes neither the
// operations nor their order. Queries, scores and results are gathered into matrices with a row for each row of the span and head of the block.
func (t *attentionTask) do(worker, block int) {
	l, k := t.s.Layout, t.d.kernels
	dim, part := l.HeadDim, block%t.parts()
	block /= t.parts()
	sp, kvHead := t.spans[block/l.KVHeads], block%l.KVHeads
	heads := min(t.heads, t.group-part*t.heads)
	firstHead := kvHead*t.group + part*t.heads
	rows := t.rows[sp.first : sp.first+sp.count]
	table := t.tables[rows[0].Seq]
	positions := int(rows[len(rows)-1].Pos) + 1 // that the last row sees
	common := int(rows[0].Pos) + 1              // that all rows see

	queries := len(rows) * heads
	s := &t.d.scratch[worker]
	s.queries, s.mixed = grow(s.queries, queries*dim), grow(s.mixed, queries*dim)
	s.scores = grow(s.scores, queries*positions)
	for i := range rows {
		copy(s.queries[i*heads*dim:(i+1)*heads*dim], t.q[(sp.first+i)*t.cols+firstHead*dim:])
	}
	// Keys and values in half precision are read as they lie in the page where the kernels can.
	dotsOf, mixHalf := k.dotsOf[gpu.F16], k.mixHalf
	if l.Type != gpu.F16 || dim%8 != 0 {
		dotsOf, mixHalf = nil, nil
	}

	for from := 0; from < positions; from += l.PageSize {
		keys := t.read(table[from/l.PageSize], false, kvHead, min(l.PageSize, positions-from))
		scores := s.scores[from:] // some rows get scores of positions that they do not see, which nobody looks at
		if dotsOf != nil {
			dotsOf(scores, positions, keys, s.queries, dim)
		} else {
			k.dots(scores, positions, t.decode(s, keys), s.queries, dim)
		}
	}
	for i := range queries {
		k.softmax(s.scores[i*positions:i*positions+int(rows[i/heads].Pos)+1], t.scale)
	}
	clear(s.mixed)
	for from := 0; from < positions; from += l.PageSize {
		slots := min(l.PageSize, positions-from)
		data := t.read(table[from/l.PageSize], true, kvHead, slots)
		var values []float32
		if mixHalf == nil {
			values = t.decode(s, data)
		}
		// mix adds positions [first, end) to the queries from a row on.
		mix := func(row, rows, first, end int) {
			if first >= end {
				return
			}
			out, p := s.mixed[row*heads*dim:(row+rows)*heads*dim], s.scores[row*heads*positions+first:]
			if mixHalf != nil {
				mixHalf(out, p, positions, data[(first-from)*dim*2:(end-from)*dim*2], dim)
			} else {
				k.mix(out, p, positions, values[(first-from)*dim:(end-from)*dim], dim)
			}
		}
		mix(0, len(rows), from, min(from+slots, common))
		for i, r := range rows {
			mix(i, 1, max(from, common), min(from+slots, int(r.Pos)+1))
		}
	}
	for i := range rows {
		copy(t.out[(sp.first+i)*t.cols+firstHead*dim:], s.mixed[i*heads*dim:(i+1)*heads*dim])
	}
}

// read returns the keys or values of the first slots of a page.
func (t *attentionTask) read(p page.Index, v bool, head, slots int) []byte {
	l := t.s.Layout
	return pageBytes(t.slab, l, p)[l.Offset(t.layer, v, head):][:slots*l.HeadDim*l.ElemBytes()]
}

// decode returns keys or values as float32.
func (t *attentionTask) decode(s *scratch, data []byte) []float32 {
	if t.s.Layout.Type == gpu.F32 {
		return asFloats(data)
	}
	s.kv = grow(s.kv, len(data)/2)
	t.d.kernels.fromHalf(s.kv, data)
	return s.kv
}
