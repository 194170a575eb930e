package host

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// cache is a slab with the page table of one sequence.
type cache struct {
	slab  *gpu.Slab
	table []page.Index
}

// newCache makes room for a number of tokens, in pages that lie in the slab in reverse order with a foreign page between.
func newCache(t tester, d *Device, l gpu.KVLayout, tokens int) *cache {
	t.Helper()
	pages := (tokens + l.PageSize - 1) / l.PageSize
	slab, err := d.NewSlab(l, 2*pages)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		slab.Data.Free()
		slab.Headers.Free()
	})
	c := &cache{slab: slab}
	for i := range pages {
		c.table = append(c.table, page.Index(2*(pages-i)-1))
	}
	return c
}

// scene is a sequence whose tokens have drawn queries, keys and values.
type scene struct {
	layout  gpu.KVLayout
	rope    gpu.Rope
	heads   int
	tokens  int
	q, k, v []float32
}

func drawScene(t *rapid.T) *scene {
	c := &scene{
		layout: gpu.KVLayout{Layers: 2, KVHeads: rapid.IntRange(1, 3).Draw(t, "kvHeads"), HeadDim: 2 * rapid.IntRange(1, 10).Draw(t, "halfDim"),
			PageSize: 16, Type: rapid.SampledFrom([]gpu.Type{gpu.F32, gpu.F16}).Draw(t, "kv")},
		tokens: rapid.IntRange(1, 70).Draw(t, "tokens"),
	}
	c.heads = c.layout.KVHeads * rapid.IntRange(1, 3).Draw(t, "group")
	c.rope = gpu.Rope{Style: rapid.SampledFrom([]gpu.RopeStyle{gpu.RopeNorm, gpu.RopeNeox}).Draw(t, "style"), Scale: 1.1}
	for i := range rapid.IntRange(1, c.layout.HeadDim/2).Draw(t, "pairs") {
		c.rope.Freqs = append(c.rope.Freqs, math.Pow(100, -float64(i)/4))
	}
	s := newSource(t)
	n := c.tokens * c.layout.HeadDim
	c.q, c.k, c.v = s.floats(n*c.heads), s.floats(n*c.layout.KVHeads), s.floats(n*c.layout.KVHeads)
	return c
}

// run stores and attends in layer 1, in batches of the given size, and returns the output of all tokens.
func (c *scene) run(t tester, threads, pageSize, batch int) []float32 {
	t.Helper()
	d := newDevice(t, threads)
	l := c.layout
	l.PageSize = pageSize
	kv := newCache(t, d, l, c.tokens)
	var all []float32
	for from := 0; from < c.tokens; from += batch {
		n := min(batch, c.tokens-from)
		part := func(x []float32, heads int) gpu.Matrix {
			cols := heads * l.HeadDim
			return newMatrix(t, d, n, cols, x[from*cols:(from+n)*cols])
		}
		var rows []gpu.Row
		for i := range n {
			rows = append(rows, gpu.Row{Seq: 1, Pos: int32(from + i)})
		}
		q, out := part(c.q, c.heads), newMatrix(t, d, n, c.heads*l.HeadDim, nil)
		tables := gpu.Tables{nil, kv.table}
		d.RopeStore(q, part(c.k, l.KVHeads), part(c.v, l.KVHeads), c.rope, kv.slab, 1, rows, tables)
		d.Attention(out, q, kv.slab, 1, rows, tables, 0.3)
		all = append(all, elementsOf(out)...)
	}
	for p := 0; p < kv.slab.Pages; p += 2 {
		for _, b := range pageBytes(bytesOf(kv.slab.Data), l, page.Index(p)) {
			if b != 0 {
				t.Fatalf("page %d, which is in no table, was written", p)
			}
		}
	}
	return all
}

// twinRotate turns a head by complex multiplication.
func twinRotate(x []float64, r gpu.Rope, pos int) {
	n := len(r.Freqs)
	for i, f := range r.Freqs {
		a, b := 2*i, 2*i+1
		if r.Style == gpu.RopeNeox {
			a, b = i, i+n
		}
		sin, cos := math.Sincos(float64(pos) * f)
		z := complex(x[a], x[b]) * complex(cos, sin) * complex(float64(r.Scale), 0)
		x[a], x[b] = real(z), imag(z)
	}
}

// twin is the formula in float64, without a cache.
func (c *scene) twin() []float64 {
	dim, group := c.layout.HeadDim, c.heads/c.layout.KVHeads
	head := func(x []float32, heads, pos, h int, turn bool) []float64 {
		i := (pos*heads + h) * dim
		y := widen(x[i : i+dim])
		if turn {
			twinRotate(y, c.rope, pos)
		}
		return y
	}
	var all []float64
	for pos := range c.tokens {
		for h := range c.heads {
			q := head(c.q, c.heads, pos, h, true)
			out, total := make([]float64, dim), 0.0
			for at := range pos + 1 {
				k, v := head(c.k, c.layout.KVHeads, at, h/group, true), head(c.v, c.layout.KVHeads, at, h/group, false)
				score := 0.0
				for i := range dim {
					score += q[i] * k[i]
				}
				weight := math.Exp(score * 0.3)
				total += weight
				for i := range dim {
					out[i] += weight * v[i]
				}
			}
			for i := range out {
				out[i] /= total
			}
			all = append(all, out...)
		}
	}
	return all
}

func TestAttentionThroughPagesIsTheFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawScene(t)
		tolerance := 1e-4
		if c.layout.Type == gpu.F16 {
			tolerance = 3e-2 // keys of a magnitude of 10 lose 2^-11 of it, times as large a query
		}
		mustBeClose(t, "attention", c.run(t, 2, 16, c.tokens), c.twin(), tolerance)
	})
}

func TestAttentionDoesNotDependOnBatchesPagesOrThreads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawScene(t)
		want := c.run(t, 1, 16, c.tokens)
		for _, v := range [][3]int{{2, 32, 1}, {3, 16, 5}, {1, 128, 11}, {3, 64, c.tokens}} {
			mustEqualBits(t, fmt.Sprintf("%d threads, pages of %d, batches of %d", v[0], v[1], v[2]), c.run(t, v[0], v[1], v[2]), want)
		}
	})
}

func TestSequencesOfABatchSeeTheirOwnPagesOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDevice(t, 2)
		l := gpu.KVLayout{Layers: 1, KVHeads: 2, HeadDim: 4, PageSize: 16, Type: gpu.F16}
		const cols = 8
		s := newSource(t)
		lengths := rapid.SliceOfN(rapid.IntRange(1, 40), 1, 4).Draw(t, "lengths")
		slab := newCache(t, d, l, 16*3*len(lengths)).slab
		var rows []gpu.Row
		var tables gpu.Tables
		for seq, n := range lengths {
			tables = append(tables, []page.Index{page.Index(3*seq + 2), page.Index(3 * seq), page.Index(3*seq + 1)})
			for i := range n {
				rows = append(rows, gpu.Row{Seq: int32(seq), Pos: int32(i)})
			}
		}
		q, k, v := s.floats(len(rows)*cols), s.floats(len(rows)*cols), s.floats(len(rows)*cols)
		rope := gpu.Rope{Freqs: []float64{1}, Scale: 1}
		run := func(slab *gpu.Slab, first, n int) []float32 {
			part := func(x []float32) gpu.Matrix { return newMatrix(t, d, n, cols, x[first*cols:(first+n)*cols]) }
			q, out := part(q), newMatrix(t, d, n, cols, nil)
			d.RopeStore(q, part(k), part(v), rope, slab, 0, rows[first:first+n], tables)
			d.Attention(out, q, slab, 0, rows[first:first+n], tables, 1)
			return elementsOf(out)
		}
		together := run(slab, 0, len(rows))
		first := 0
		for _, n := range lengths {
			alone := run(newCache(t, d, l, 16*3*len(lengths)).slab, first, n)
			mustEqualBits(t, "sequence alone", alone, together[first*cols:(first+n)*cols])
			first += n
		}
	})
}
