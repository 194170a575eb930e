package model

import (
	"fmt"
	"testing"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

func benchmarkBatch(b *testing.B, m *Model, s *sequence, from, n int) {
	batch := &Batch{Tables: gpu.Tables{s.table}, Logits: []int32{int32(n - 1)}}
	for i := range n {
		batch.Tokens = append(batch.Tokens, int32((from+i)*7%m.config.Vocab))
		batch.Rows = append(batch.Rows, gpu.Row{Pos: int32(from + i)})
	}
	if _, err := m.Forward(batch, s.slab); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkPrompt reads 500 tokens with the built-in model.
func BenchmarkPrompt(b *testing.B) {
	m := openModel(b, builtinPath, 0, Options{})
	s := newSequence(b, m, 32, gpu.F16, 512)
	for b.Loop() {
		benchmarkBatch(b, m, s, 0, 500)
	}
	b.ReportMetric(500*float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
}

// BenchmarkDecode writes one token of each of several sequences, at position 255, with the built-in model.
func BenchmarkDecode(b *testing.B) {
	for _, sequences := range []int{1, 8, 32} {
		b.Run(fmt.Sprint(sequences), func(b *testing.B) {
			m := openModel(b, builtinPath, 0, Options{})
			slab := newSequence(b, m, 32, gpu.F16, 256*sequences).slab
			batch := &Batch{}
			for i := range sequences {
				batch.Tokens = append(batch.Tokens, int32(i))
				batch.Rows = append(batch.Rows, gpu.Row{Seq: int32(i), Pos: 255})
				batch.Logits = append(batch.Logits, int32(i))
				table := make([]page.Index, 8)
				for j := range table {
					table[j] = page.Index(i*len(table) + j)
				}
				batch.Tables = append(batch.Tables, table)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Forward(batch, slab); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(sequences*b.N)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}
