package model

import (
	"fmt"
	"os"
	"testing"

	"github.com/kvasir-engine/kvasir/gpu"
)

// BenchmarkFile reads a prompt of 512 tokens and writes single tokens after it, with the model file that KVASIR_BENCH_MODEL names, on 1 and 2 threads.
func BenchmarkFile(b *testing.B) {
	path := os.Getenv("KVASIR_BENCH_MODEL")
	if path == "" {
		b.Skip("KVASIR_BENCH_MODEL names no model file")
	}
	const prompt = 512
	for threads := 1; threads <= 2; threads++ {
		m := openModel(b, path, threads, Options{})
		s := newSequence(b, m, 32, gpu.F16, prompt+128)
		b.Run(fmt.Sprintf("prompt/threads=%d", threads), func(b *testing.B) {
			for b.Loop() {
				benchmarkBatch(b, m, s, 0, prompt)
			}
			b.ReportMetric(prompt*float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
		})
		b.Run(fmt.Sprintf("decode/threads=%d", threads), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				benchmarkBatch(b, m, s, prompt+i%128, 1)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
			b.ReportMetric(1e-9*float64(m.WeightBytes()*int64(b.N))/b.Elapsed().Seconds(), "GB/s")
		})
	}
}
