package host

import (
	"fmt"
	"testing"
)

// BenchmarkProduct multiplies 64 rows of weights on one thread, without what encodes and divides.
func BenchmarkProduct(b *testing.B) {
	k := kernelSets()[0]
	for _, typ := range integerTypes() {
		for _, c := range []struct{ cols, rows int }{{1024, 1}, {1024, 4}, {1024, 64}, {4096, 64}} {
			b.Run(fmt.Sprintf("%v/cols=%d/rows=%d", typ, c.cols, c.rows), func(b *testing.B) {
				const outs = 64
				s := &source{1}
				w := s.encoded(typ, outs*c.cols)
				x := make([]record, c.cols/recordElems*c.rows)
				k.quantise(x, 1, s.floats(c.cols*c.rows))
				acc := make([][stripRows]float32, c.rows)
				rowBytes := len(w) / outs
				part := min(len(x), chunkRecords/c.rows*c.rows)
				for b.Loop() {
					for i := 0; i < outs; i += stripRows {
						for from := 0; from < len(x); from += part {
							k.products[typ](acc, w[i*rowBytes:], rowBytes, stripRows, x[from:from+part])
						}
					}
				}
				b.ReportMetric(2e-9*float64(c.rows*c.cols*outs)*float64(b.N)/b.Elapsed().Seconds(), "GOP/s")
				b.ReportMetric(1e-9*float64(len(w))*float64(b.N)/b.Elapsed().Seconds(), "GB/s")
			})
		}
	}
}
