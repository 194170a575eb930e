package model

import (
	"crypto/sha256"
	"fmt"
	"hash"

	"github.com/kvasir-engine/kvasir/model/gguf"
)

// digest is SHA-256 over, in this order:
//
//   - the line "kvasir model 1"
//   - a line of the configuration that the computation uses: architecture, layers, heads, KV heads, head dimension, widths, vocabulary, epsilon, attention scale,
//     rotary style, magnitude and every frequency (to float32: processors differ in the last bit of a power), floats in hexadecimal
//   - for each tensor in file order, a line of its name (quoted), type number and dimensions, and then its bytes: all if they are at most 64 KiB, else 16 samples of
//     4 KiB, spread evenly from the first to the last
//
// Hashing gigabytes at each start would cost more than it tells: the samples find a file that was trained, merged or quantised otherwise, and a wrong or cut copy nearly
// always, but not a few changed bytes. Names, descriptions and the tokeniser are not part of it.
func digest(c Config, tensors []gguf.Tensor) [32]byte {
	h := sha256.New()
	fmt.Fprintf(h, "kvasir model 1\n%s %d %d %d %d %d %d %d %x %x %d %x", c.Arch, c.Layers, c.Heads, c.KVHeads, c.HeadDim, c.Embed, c.FeedForward, c.Vocab,
		c.Eps, c.AttnScale, c.Rope.Style, c.Rope.Scale)
	for _, f := range c.Rope.Freqs {
		fmt.Fprintf(h, " %x", float32(f))
	}
	for _, t := range tensors {
		fmt.Fprintf(h, "\n%q %d %v\n", t.Name, uint32(t.Type), t.Dims)
		sample(h, t.Data)
	}
	return [32]byte(h.Sum(nil))
}

func sample(h hash.Hash, data []byte) {
	const samples, size = 16, 4 << 10
	if len(data) <= samples*size {
		h.Write(data)
		return
	}
	for i := range samples {
		at := (len(data) - size) / (samples - 1) * i
		if i == samples-1 {
			at = len(data) - size
		}
		h.Write(data[at : at+size])
	}
}
