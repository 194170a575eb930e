package host

import (
	"fmt"
	"math"
	"slices"

	"github.com/kvasir-engine/kvasir/gpu"
)

// rotateNorm turns the pairs (0,1), (2,3), ... of x by angles given as cosine and sine.
func rotateNorm(x, cos, sin []float32) {
	sin = sin[:len(cos)]
	x = x[:2*len(cos)]
	for i, c := range cos {
		a, b := x[2*i], x[2*i+1]
		x[2*i] = float32(a*c) - float32(b*sin[i])
		x[2*i+1] = float32(a*sin[i]) + float32(b*c)
	}
}

// rotateNeox turns the pairs (i, i+len(cos)) of x.
func rotateNeox(x, cos, sin []float32) {
	sin = sin[:len(cos)]
	low, high := x[:len(cos)], x[len(cos):2*len(cos)]
	for i, c := range cos {
		a, b := low[i], high[i]
		low[i] = float32(a*c) - float32(b*sin[i])
		high[i] = float32(a*sin[i]) + float32(b*c)
	}
}

// angles holds the cosines and sines of a batch: they are the same in all of its layers, and cost more than the rotation.
type angles struct {
	rope      gpu.Rope // whose Freqs is a copy
	positions []int32
	cos, sin  []float32 // [row][pair], times rope.Scale
}

// fill makes a hold the angles of these rows, if it does not yet.
func (a *angles) fill(r gpu.Rope, rows []gpu.Row) {
	same := a.rope.Scale == r.Scale && len(a.positions) == len(rows) && slices.Equal(a.rope.Freqs, r.Freqs)
	for i := 0; same && i < len(rows); i++ {
		same = a.positions[i] == rows[i].Pos
	}
	if same {
		return
	}
	freqs := append(a.rope.Freqs[:0], r.Freqs...)
	a.rope = gpu.Rope{Freqs: freqs, Scale: r.Scale}
	a.positions = a.positions[:0]
	a.cos, a.sin = grow(a.cos, len(rows)*len(freqs))[:0], grow(a.sin, len(rows)*len(freqs))[:0]
	for _, row := range rows {
		a.positions = append(a.positions, row.Pos)
		for _, f := range freqs {
			sin, cos := math.Sincos(float64(row.Pos) * f)
			a.cos = append(a.cos, float32(cos*float64(r.Scale)))
			a.sin = append(a.sin, float32(sin*float64(r.Scale)))
		}
	}
}

// ropeTask is one RopeStore. Block i is rows [i*ropeRows, (i+1)*ropeRows).
type ropeTask struct {
	d       *Device
	rotate  func(x, cos, sin []float32)
	angles  angles // kept from one call to the next
	q, k, v []float32
	qCols   int
	s       *gpu.Slab
	slab    []byte
	layer   int
	rows    []gpu.Row
	tables  gpu.Tables
}

const ropeRows = 16

func (d *Device) RopeStore(q, k, v gpu.Matrix, r gpu.Rope, s *gpu.Slab, layer int, rows []gpu.Row, tables gpu.Tables) {
	l := s.Layout
	kvCols := l.KVHeads * l.HeadDim
	if q.Rows != len(rows) || k.Rows != len(rows) || v.Rows != len(rows) || k.Cols != kvCols || v.Cols != kvCols || q.Cols%l.HeadDim != 0 ||
		2*len(r.Freqs) > l.HeadDim || layer < 0 || layer >= l.Layers {
		panic(fmt.Sprintf("host: rotate q %dx%d, k %dx%d, v %dx%d of %d rows and %d frequencies into layer %d of %v",
			q.Rows, q.Cols, k.Rows, k.Cols, v.Rows, v.Cols, len(rows), len(r.Freqs), layer, l))
	}
	t := &d.rope
	*t = ropeTask{d: d, rotate: d.kernels.rotateNorm, angles: t.angles, q: floats(q), k: floats(k), v: floats(v), qCols: q.Cols,
		s: s, slab: bytesOf(s.Data), layer: layer, rows: rows, tables: tables}
	if r.Style == gpu.RopeNeox {
		t.rotate = d.kernels.rotateNeox
	}
	t.angles.fill(r, rows)
	d.run(t, (len(rows)+ropeRows-1)/ropeRows, len(rows)*(q.Cols+2*kvCols)*2)
}

func (t *ropeTask) do(_, block int) {
	l := t.s.Layout
	pairs := len(t.angles.rope.Freqs)
	for row := block * ropeRows; row < min((block+1)*ropeRows, len(t.rows)); row++ {
		cos, sin := t.angles.cos[row*pairs:(row+1)*pairs], t.angles.sin[row*pairs:(row+1)*pairs]
		q := t.q[row*t.qCols : (row+1)*t.qCols]
		for ; len(q) > 0; q = q[l.HeadDim:] {
			t.rotate(q[:l.HeadDim], cos, sin)
		}
		at := t.rows[row]
		page := pageBytes(t.slab, l, t.tables[at.Seq][int(at.Pos)/l.PageSize])
		slot := int(at.Pos) % l.PageSize * l.HeadDim * l.ElemBytes()
		for head := range l.KVHeads {
			i := (row*l.KVHeads + head) * l.HeadDim
			k, v := t.k[i:i+l.HeadDim], t.v[i:i+l.HeadDim]
			t.rotate(k, cos, sin)
			t.store(page[l.Offset(t.layer, false, head)+slot:], k)
			t.store(page[l.Offset(t.layer, true, head)+slot:], v)
		}
	}
}

// store writes x to dst in the slab's type.
func (t *ropeTask) store(dst []byte, x []float32) {
	if t.s.Layout.Type == gpu.F32 {
		copy(asFloats(dst), x)
		return
	}
	t.d.kernels.toHalf(dst, x)
}
