package host

import (
	"fmt"
	"math"
	"slices"
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
		layout: gpu.KVLayout{Layers: 2, KVHeads: rapid.IntRange(1, 3).Draw(t, "kvHeads"), HeadDim: rapid.SampledFrom([]int{2, 6, 8, 14, 16, 24, 40, 64, 72, 128}).Draw(t, "dim"),
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
func (c *scene) run(t tester, kernels *kernels, threads, pageSize, batch int) []float32 {
	t.Helper()
	d := newDevice(t, kernels, threads)
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
	forEachSet(t, testAttentionThroughPagesIsTheFormula)
}

func testAttentionThroughPagesIsTheFormula(t *testing.T, k *kernels) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawScene(t)
		tolerance := 1e-4
		if c.layout.Type == gpu.F16 {
			tolerance = 3e-2 // keys of a magnitude of 10 lose 2^-11 of it, times as large a query
		}
		mustBeClose(t, "attention", c.run(t, k, 2, 16, c.tokens), c.twin(), tolerance)
	})
}

func TestAttentionDoesNotDependOnBatchesPagesOrThreads(t *testing.T) {
	forEachSet(t, testAttentionDoesNotDependOnBatchesPagesOrThreads)
}

// Softmax is merged over blocks of positions: the results are the same where these are divided among threads, and the formula's where there are several.
func TestAttentionOverManyBlocks(t *testing.T) { forEachSet(t, testAttentionOverManyBlocks) }

func testAttentionOverManyBlocks(t *testing.T, k *kernels) {
	for _, tokens := range []int{attentionBlock - 1, attentionBlock, attentionBlock + 1, 2*attentionBlock + 37} {
		c := &scene{layout: gpu.KVLayout{Layers: 2, KVHeads: 1, HeadDim: 8, PageSize: 16, Type: gpu.F32}, heads: 2, tokens: tokens, rope: gpu.Rope{Freqs: []float64{0.01}, Scale: 1}}
		s := &source{uint64(tokens)}
		c.q, c.k, c.v = s.floats(tokens*16), s.floats(tokens*8), s.floats(tokens*8)
		want := c.run(t, k, 1, 16, tokens)
		mustBeClose(t, "attention", want, c.twin(), 1e-4)
		for _, v := range [][3]int{{3, 32, 1}, {4, 16, 100}, {4, 128, tokens}, {1, 64, attentionBlock}} {
			mustEqualBits(t, fmt.Sprintf("%d tokens, %d threads, pages of %d, batches of %d", tokens, v[0], v[1], v[2]), c.run(t, k, v[0], v[1], v[2]), want)
		}
	}
}

// What an abandoned page holds behind the last position, infinities and what is no number included, is never seen.
func TestAttentionSeesNoPositionBehindARow(t *testing.T) {
	forEachSet(t, func(t *testing.T, k *kernels) {
		for _, typ := range []gpu.Type{gpu.F16, gpu.F32} {
			d := newDevice(t, k, 2)
			c := newCache(t, d, gpu.KVLayout{Layers: 1, KVHeads: 1, HeadDim: 16, PageSize: 32, Type: typ}, 600)
			s := &source{1}
			var want []float32
			for _, stale := range []byte{0, 0xff} {
				data := bytesOf(c.slab.Data)
				for i := range data {
					data[i] = stale
				}
				const rows = 300
				var all []float32
				for from := 0; from < 2*rows; from += rows {
					var at []gpu.Row
					for i := range rows {
						at = append(at, gpu.Row{Pos: int32(from + i)})
					}
					s.state = uint64(from)
					q, keys, v := newMatrix(t, d, rows, 48, s.floats(rows*48)), newMatrix(t, d, rows, 16, s.floats(rows*16)), newMatrix(t, d, rows, 16, s.floats(rows*16))
					d.RopeStore(q, keys, v, gpu.Rope{Freqs: []float64{1}, Scale: 1}, c.slab, 0, at, gpu.Tables{c.table})
					out := newMatrix(t, d, rows, 48, nil)
					d.Attention(out, q, c.slab, 0, at, gpu.Tables{c.table}, 0.5)
					all = append(all, elementsOf(out)...)
				}
				if want == nil {
					want = all
				}
				mustEqualBits(t, "attention among stale bytes", all, want)
			}
		}
	})
}

func testAttentionDoesNotDependOnBatchesPagesOrThreads(t *testing.T, k *kernels) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawScene(t)
		want := c.run(t, k, 1, 16, c.tokens)
		for _, v := range [][3]int{{2, 32, 1}, {3, 16, 5}, {1, 128, 11}, {3, 64, c.tokens}} {
			mustEqualBits(t, fmt.Sprintf("%d threads, pages of %d, batches of %d", v[0], v[1], v[2]), c.run(t, k, v[0], v[1], v[2]), want)
		}
	})
}

// A batch holds the later part of each of several sequences, as decoding and chunked prompts make it.
func TestSequencesOfABatchSeeTheirOwnPagesOnly(t *testing.T) {
	forEachSet(t, testSequencesOfABatchSeeTheirOwnPagesOnly)
}

func testSequencesOfABatchSeeTheirOwnPagesOnly(t *testing.T, k *kernels) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDevice(t, k, 2)
		l := gpu.KVLayout{Layers: 1, KVHeads: 2, HeadDim: 4, PageSize: 16, Type: gpu.F16}
		const cols = 8
		rope := gpu.Rope{Freqs: []float64{1}, Scale: 1}
		s := newSource(t)
		count := rapid.IntRange(1, 5).Draw(t, "sequences")
		shared := newCache(t, d, l, 16*3*count).slab
		var early, late []gpu.Row
		var tables gpu.Tables
		tokens := map[gpu.Row][3][]float32{} // q, k and v
		for seq := range count {
			tables = append(tables, []page.Index{page.Index(3*seq + 2), page.Index(3 * seq), page.Index(3*seq + 1)})
			n := rapid.IntRange(1, 40).Draw(t, "length")
			split := rapid.IntRange(max(0, n-10), n-1).Draw(t, "split")
			for pos := range n {
				r := gpu.Row{Seq: int32(seq), Pos: int32(pos)}
				tokens[r] = [3][]float32{s.floats(cols), s.floats(cols), s.floats(cols)}
				if pos < split {
					early = append(early, r)
				} else {
					late = append(late, r)
				}
			}
		}
		run := func(slab *gpu.Slab, rows []gpu.Row) []float32 {
			part := func(which int) gpu.Matrix {
				var x []float32
				for _, r := range rows {
					x = append(x, tokens[r][which]...)
				}
				return newMatrix(t, d, len(rows), cols, x)
			}
			q, out := part(0), newMatrix(t, d, len(rows), cols, nil)
			d.RopeStore(q, part(1), part(2), rope, slab, 0, rows, tables)
			d.Attention(out, q, slab, 0, rows, tables, 1)
			return elementsOf(out)
		}
		of := func(rows []gpu.Row, seq int) (some []gpu.Row) {
			for _, r := range rows {
				if int(r.Seq) == seq {
					some = append(some, r)
				}
			}
			return some
		}
		run(shared, early)
		together := run(shared, late)
		for seq := range count {
			own := newCache(t, d, l, 16*3*count).slab
			run(own, of(early, seq))
			alone := run(own, of(late, seq))
			mustEqualBits(t, "sequence alone", together[:len(alone)], alone)
			together = together[len(alone):]
		}
	})
}

func TestSpansKeepSequencesApart(t *testing.T) {
	var nine []gpu.Row
	for i := range 9 {
		nine = append(nine, gpu.Row{Pos: int32(i)})
	}
	for _, c := range []struct {
		name string
		rows []gpu.Row
		want []span
	}{
		{"no rows", nil, nil},
		{"a prompt", nine, []span{{first: 0, count: 8}, {first: 8, count: 1}}},
		{"sequences that happen to ascend", []gpu.Row{{Seq: 0, Pos: 4}, {Seq: 1, Pos: 5}, {Seq: 1, Pos: 6}, {Seq: 2, Pos: 7}}, []span{{first: 0, count: 1}, {first: 1, count: 2}, {first: 3, count: 1}}},
	} {
		if got := appendSpans(nil, c.rows, 8); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Angles are kept from one call to the next, but only for the same rotation at the same positions.
func TestAnglesAreThoseOfTheCall(t *testing.T) { forEachSet(t, testAnglesAreThoseOfTheCall) }

func testAnglesAreThoseOfTheCall(t *testing.T, k *kernels) {
	l := gpu.KVLayout{Layers: 1, KVHeads: 1, HeadDim: 4, PageSize: 16, Type: gpu.F32}
	x := (&source{1}).floats(2 * 4)
	run := func(d *Device, r gpu.Rope, rows []gpu.Row) []float32 {
		q := newMatrix(t, d, 2, 4, x)
		c := newCache(t, d, l, 16)
		d.RopeStore(q, newMatrix(t, d, 2, 4, x), newMatrix(t, d, 2, 4, x), r, c.slab, 0, rows, gpu.Tables{c.table})
		return elementsOf(q)
	}
	used := newDevice(t, k, 1)
	near, far := []gpu.Row{{Pos: 0}, {Pos: 1}}, []gpu.Row{{Pos: 0}, {Seq: 0, Pos: 9}}
	for _, c := range []struct {
		rope gpu.Rope
		rows []gpu.Row
	}{
		{gpu.Rope{Freqs: []float64{1, 0.1}, Scale: 1}, near},
		{gpu.Rope{Freqs: []float64{1, 0.1}, Scale: 1}, near},
		{gpu.Rope{Freqs: []float64{1, 0.1}, Scale: 1}, far},
		{gpu.Rope{Freqs: []float64{1, 0.1}, Scale: 2}, far},
		{gpu.Rope{Freqs: []float64{1, 0.2}, Scale: 2}, far},
		{gpu.Rope{Freqs: []float64{1}, Scale: 2}, far},
		{gpu.Rope{Freqs: []float64{1, 0.2}, Scale: 2, Style: gpu.RopeNeox}, far},
	} {
		mustEqualBits(t, fmt.Sprintf("%+v at %v", c.rope, c.rows), run(used, c.rope, c.rows), run(newDevice(t, k, 1), c.rope, c.rows))
	}
}
