package host

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// attentionRows is how many neighbouring rows of a sequence are worked on together: keys and values are decoded once for all of them.
const attentionRows = 8

// attentionTask is one attention operation. A block is one KV head with the query heads that share it, for one span of rows.
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
	t := &d.attention
	*t = attentionTask{d: d, out: floats(out), q: floats(q), cols: q.Cols, group: q.Cols / (l.KVHeads * l.HeadDim),
		s: s, slab: bytesOf(s.Data), layer: layer, rows: rows, tables: tables, scale: scale, spans: appendSpans(t.spans[:0], rows)}
	cost := 0
	for _, r := range rows {
		cost += (int(r.Pos) + 1) * q.Cols * 2
	}
	d.run(t, len(t.spans)*l.KVHeads, cost)
}

// appendSpans cuts rows into spans.
func appendSpans(spans []span, rows []gpu.Row) []span {
	for i, r := range rows {
		if n := len(spans); n > 0 && i > 0 && spans[n-1].count < attentionRows && rows[i-1].Seq == r.Seq && rows[i-1].Pos < r.Pos {
			spans[n-1].count++
			continue
		}
		spans = append(spans, span{i, 1})
	}
	return spans
}

// do works in two passes over the pages: first all scores and their softmax, then the sum of the values. Both go by position; a page border changes neither the
// operations nor their order.
func (t *attentionTask) do(worker, block int) {
	l := t.s.Layout
	sp, head := t.spans[block/l.KVHeads], block%l.KVHeads
	rows := t.rows[sp.first : sp.first+sp.count]
	table := t.tables[rows[0].Seq]
	positions := int(rows[len(rows)-1].Pos) + 1 // that the last row sees
	scratch := &t.d.scratch[worker]
	scratch.scores = grow(scratch.scores, len(rows)*t.group*positions)
	scores := func(row, h int) []float32 { // of one row and query head, over all positions it sees
		i := (row*t.group + h) * positions
		return scratch.scores[i : i+int(rows[row].Pos)+1]
	}

	for from := 0; from < positions; from += l.PageSize {
		keys := t.read(scratch, table[from/l.PageSize], false, head, min(l.PageSize, positions-from))
		for row := range rows {
			for h := range t.group {
				if sc := scores(row, h); from < len(sc) {
					sc = sc[from:min(len(sc), from+l.PageSize)]
					t.d.kernels.dots(sc, 1, t.query(t.q, sp.first+row, head, h), keys[:len(sc)*l.HeadDim])
				}
			}
		}
	}
	for row := range rows {
		for h := range t.group {
			sc := scores(row, h)
			for i := range sc {
				sc[i] *= t.scale
			}
			sum := t.d.kernels.softmax(sc)
			for i := range sc {
				sc[i] /= sum
			}
			clear(t.query(t.out, sp.first+row, head, h))
		}
	}
	for from := 0; from < positions; from += l.PageSize {
		values := t.read(scratch, table[from/l.PageSize], true, head, min(l.PageSize, positions-from))
		for row := range rows {
			for h := range t.group {
				if p := scores(row, h); from < len(p) {
					p = p[from:min(len(p), from+l.PageSize)]
					t.d.kernels.mix(t.query(t.out, sp.first+row, head, h), p, values[:len(p)*l.HeadDim])
				}
			}
		}
	}
}

// query returns the part of a row of q or out that belongs to query head h of those that share a KV head.
func (t *attentionTask) query(m []float32, row, kvHead, h int) []float32 {
	dim := t.s.Layout.HeadDim
	i := row*t.cols + (kvHead*t.group+h)*dim
	return m[i : i+dim]
}

// read returns the keys or values of the first slots of a page as float32.
func (t *attentionTask) read(s *scratch, p page.Index, v bool, head, slots int) []float32 {
	l := t.s.Layout
	data := pageBytes(t.slab, l, p)[l.Offset(t.layer, v, head):][:slots*l.HeadDim*l.ElemBytes()]
	if l.Type == gpu.F32 {
		return asFloats(data)
	}
	s.kv = grow(s.kv, slots*l.HeadDim)
	t.d.kernels.fromHalf(s.kv, data)
	return s.kv
}
