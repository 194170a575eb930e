package host

import (
	"fmt"
	"testing"

	"github.com/kvasir-engine/kvasir/gpu"
)

func BenchmarkMatMul(b *testing.B) {
	const cols, outs = 1024, 1024
	for _, typ := range allTypes() {
		for _, rows := range []int{1, 2, 8, 64} {
			b.Run(fmt.Sprintf("%v/rows=%d", typ, rows), func(b *testing.B) {
				d, err := New(0)
				if err != nil {
					b.Fatal(err)
				}
				defer d.Close()
				s := &source{1}
				x, out := newMatrix(b, d, rows, cols, s.floats(rows*cols)), newMatrix(b, d, rows, outs, nil)
				w := load(b, d, typ, outs, cols, s.encoded(typ, outs*cols))
				b.ReportAllocs()
				for b.Loop() {
					d.MatMul(out, x, w, nil)
				}
				b.ReportMetric(2e-9*float64(rows*cols*outs*b.N)/b.Elapsed().Seconds(), "GFLOP/s")
			})
		}
	}
}

func BenchmarkAttention(b *testing.B) {
	const kvHeads, heads, dim, positions = 2, 8, 64, 1024
	for _, kv := range []gpu.Type{gpu.F32, gpu.F16} {
		for _, n := range []int{1, 64} {
			b.Run(fmt.Sprintf("%v/rows=%d", kv, n), func(b *testing.B) {
				d, err := New(0)
				if err != nil {
					b.Fatal(err)
				}
				defer d.Close()
				s := &source{1}
				c := newCache(b, d, gpu.KVLayout{Layers: 1, KVHeads: kvHeads, HeadDim: dim, PageSize: 32, Type: kv}, positions)
				tables := gpu.Tables{c.table}
				var rows []gpu.Row
				store := func(from, n int) { // fills the cache
					rows = rows[:0]
					for i := range n {
						rows = append(rows, gpu.Row{Pos: int32(from + i)})
					}
					q := newMatrix(b, d, n, heads*dim, s.floats(n*heads*dim))
					k := newMatrix(b, d, n, kvHeads*dim, s.floats(n*kvHeads*dim))
					v := newMatrix(b, d, n, kvHeads*dim, s.floats(n*kvHeads*dim))
					d.RopeStore(q, k, v, gpu.Rope{Freqs: []float64{1}, Scale: 1}, c.slab, 0, rows, tables)
				}
				store(0, positions-n)
				store(positions-n, n)
				q, out := newMatrix(b, d, n, heads*dim, s.floats(n*heads*dim)), newMatrix(b, d, n, heads*dim, nil)
				b.ReportAllocs()
				for b.Loop() {
					d.Attention(out, q, c.slab, 0, rows, tables, 0.1)
				}
			})
		}
	}
}
