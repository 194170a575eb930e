package tokenizer

import (
	"os"
	"strings"
	"testing"

	"github.com/kvasir-engine/kvasir/model/gguf"
)

// Benchmarks use a vocabulary of the size that people use, where it is there.
func largeVocabulary(b *testing.B) *gguf.File {
	f, err := gguf.Open(vocabularies + "ggml-vocab-llama-bpe.gguf")
	if os.IsNotExist(err) {
		b.Skip("the vocabulary is not there")
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return f
}

func BenchmarkNew(b *testing.B) {
	f := largeVocabulary(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	tokenizer, err := New(largeVocabulary(b))
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{
		"prose": strings.Repeat("The ledger is the only place where a page changes hands; nobody reads what it does not own. Es wäre schön, 2026 mal anders.\n", 800),
		"word":  strings.Repeat("abcdefghijklmnopqrstuvwxyz", 4000),
		"blank": strings.Repeat(" ", 100_000),
		"angle": strings.Repeat("<|", 50_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tokenizer.Encode(text, true, true)
			}
		})
	}
}
