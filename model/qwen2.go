package model

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/gpu"
)

// loadQwen2 loads the architecture of Qwen 1.5, 2 and 2.5 (Yang et al. 2024). It computes what llama does; the projections to q, k and v must have biases and no others
// may, and rotary positions turn the pairs (i, i+half).
func loadQwen2(l *loader) (Config, network) {
	c := l.config()
	qCols, kvCols := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	m := &llama{embed: l.matrix("token_embd.weight", c.Vocab, c.Embed)}
	for i := 0; i < c.Layers && l.err == nil; i++ {
		blk := fmt.Sprintf("blk.%d.", i)
		m.layers = append(m.layers, llamaLayer{
			attnNorm: l.vector(blk+"attn_norm.weight", c.Embed),
			q:        l.biased(blk+"attn_q", qCols, c.Embed),
			k:        l.biased(blk+"attn_k", kvCols, c.Embed),
			v:        l.biased(blk+"attn_v", kvCols, c.Embed),
			o:        l.unbiased(blk+"attn_output", c.Embed, qCols),
			ffnNorm:  l.vector(blk+"ffn_norm.weight", c.Embed),
			gate:     l.unbiased(blk+"ffn_gate", c.FeedForward, c.Embed),
			up:       l.unbiased(blk+"ffn_up", c.FeedForward, c.Embed),
			down:     l.unbiased(blk+"ffn_down", c.Embed, c.FeedForward),
		})
	}
	m.finish(l, &c, gpu.RopeNeox)
	return c, m
}
