// Package randmodel makes models of random weights: of any shape, and of no sense.
package randmodel

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/model/gguf/gguftest"
)

// Shape is the shape of a llama. Sizes of rows are multiples of 32.
type Shape struct {
	Layers      int
	Heads       int // query heads
	KVHeads     int
	HeadDim     int
	FeedForward int
	Context     int
	Vocab       int // at least 256
}

// Llama1B is one layer of Llama 3.2 1B, over a small vocabulary: what is measured with it is the layer.
func Llama1B(context int) Shape {
	return Shape{Layers: 1, Heads: 32, KVHeads: 8, HeadDim: 64, FeedForward: 8192, Context: context, Vocab: 512}
}

// GGUF is a model file of this shape, with matrices of type Q8_0. The same seed gives the same file.
func (s Shape) GGUF(seed uint64) []byte {
	w := &writer{random: rand.New(rand.NewPCG(seed, 0))}
	embed := s.Heads * s.HeadDim
	for _, k := range []struct {
		name string
		n    int
	}{
		{"block_count", s.Layers}, {"context_length", s.Context}, {"embedding_length", embed}, {"feed_forward_length", s.FeedForward}, {"attention.head_count", s.Heads},
		{"attention.head_count_kv", s.KVHeads}, {"attention.key_length", s.HeadDim}, {"attention.value_length", s.HeadDim},
	} {
		w.file.Key("llama."+k.name, uint32(k.n))
	}
	w.file.Key("general.architecture", "llama").Key("llama.attention.layer_norm_rms_epsilon", float32(1e-5)).
		Key("tokenizer.ggml.model", "gpt2").Key("tokenizer.ggml.pre", "gpt-2").
		Key("tokenizer.ggml.tokens", vocabulary(s.Vocab)).Key("tokenizer.ggml.merges", []string{})

	w.matrix("token_embd.weight", embed, s.Vocab)
	for i := range s.Layers {
		layer := "blk." + strconv.Itoa(i) + "."
		w.ones(layer+"attn_norm.weight", embed)
		w.matrix(layer+"attn_q.weight", embed, embed)
		w.matrix(layer+"attn_k.weight", embed, s.KVHeads*s.HeadDim)
		w.matrix(layer+"attn_v.weight", embed, s.KVHeads*s.HeadDim)
		w.matrix(layer+"attn_output.weight", embed, embed)
		w.ones(layer+"ffn_norm.weight", embed)
		w.matrix(layer+"ffn_gate.weight", embed, s.FeedForward)
		w.matrix(layer+"ffn_up.weight", embed, s.FeedForward)
		w.matrix(layer+"ffn_down.weight", s.FeedForward, embed)
	}
	w.ones("output_norm.weight", embed)
	return w.file.Bytes()
}

type writer struct {
	file   gguftest.File
	random *rand.Rand
}

// matrix adds random weights between -1 and 1 over the root of a row's length, so that what is multiplied keeps its size.
func (w *writer) matrix(name string, cols, rows int) {
	const elems, bytes = 32, 34 // of a block of Q8_0: a scale in F16, then 8-bit integers
	data := make([]byte, rows*cols/elems*bytes)
	scale := halfOf(1 / (127 * math.Sqrt(float64(cols))))
	for at := 0; at < len(data); at += bytes {
		binary.LittleEndian.PutUint16(data[at:], scale)
		for i := 2; i < bytes; i += 8 {
			binary.LittleEndian.PutUint64(data[at+i:], w.random.Uint64())
		}
	}
	w.file.Tensor(name, gpu.Q8_0, data, uint64(cols), uint64(rows))
}

func (w *writer) ones(name string, n int) {
	var data []byte
	for range n {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(1))
	}
	w.file.Tensor(name, gpu.F32, data, uint64(n))
}

// halfOf is a small positive number as F16, cut off: 5 bits of exponent (biased by 15) and 10 of mantissa; below 2^-14 in steps of 2^-24.
func halfOf(x float64) uint16 {
	fraction, exponent := math.Frexp(x) // x = fraction * 2^exponent, fraction from 0.5
	if exponent < -13 {
		return uint16(math.Ldexp(x, 24))
	}
	return uint16(exponent-1+15)<<10 | uint16((2*fraction-1)*1024)
}

// vocabulary has the 256 bytes in GPT-2's spelling (printable Latin-1 as itself, the others from U+0100 on), and then names without use.
func vocabulary(n int) []string {
	var tokens []string
	other := rune(0x100)
	for b := range rune(256) {
		if '!' <= b && b <= '~' || 0xa1 <= b && b <= 0xac || 0xae <= b {
			tokens = append(tokens, string(b))
			continue
		}
		tokens = append(tokens, string(other))
		other++
	}
	for len(tokens) < n {
		tokens = append(tokens, "unused"+strconv.Itoa(len(tokens)))
	}
	return tokens
}
