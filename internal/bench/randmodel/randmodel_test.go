package randmodel

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/kvasir-engine/kvasir"
)

var small = Shape{Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 32, FeedForward: 64, Context: 128, Vocab: 300}

func TestAModelRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "random.gguf")
	if err := os.WriteFile(path, small.GGUF(1), 0o600); err != nil {
		t.Fatal(err)
	}
	eng, err := kvasir.Open(t.Context(), kvasir.Config{Model: path, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	if m := eng.Model(); m.VocabSize != 300 || m.ContextLength != 128 {
		t.Errorf("%+v", m)
	}
	tokens := 0
	for tok, err := range eng.Generate(t.Context(), kvasir.Request{Tokens: []int32{1, 2, 299}, MaxTokens: 20, IgnoreEOS: true}) {
		if err != nil { // ErrNoLogits, if the weights were too large
			t.Fatal(err)
		}
		if tok.ID >= 0 {
			tokens++
		}
	}
	if tokens != 20 {
		t.Errorf("an answer of %d tokens, want 20", tokens)
	}
}

func TestTheSeedDecides(t *testing.T) {
	if !bytes.Equal(small.GGUF(1), small.GGUF(1)) || bytes.Equal(small.GGUF(1), small.GGUF(2)) {
		t.Error("the file is not a function of the seed")
	}
}

func TestHalf(t *testing.T) {
	for x, want := range map[float64]uint16{1: 0x3c00, 0.5: 0x3800, 1.5: 0x3e00, 0.0001: 0x068d, 1.0 / (1 << 14): 0x0400, 1.0 / (1 << 20): 0x0010} {
		if got := halfOf(x); got != want {
			t.Errorf("%v: %#04x, want %#04x", x, got, want)
		}
	}
}
