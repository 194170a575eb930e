package model

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/gpu"
)

// llama is the architecture of Llama (Touvron et al. 2023), Mistral and many others: RMS norms before each part, rotary positions on pairs (0,1), (2,3), ...,
// grouped-query attention, gated feed-forward. Projections may have biases.
type llama struct {
	config     Config
	embed      gpu.Weight // [Vocab, Embed]
	layers     []llamaLayer
	outputNorm gpu.Weight
	output     gpu.Weight // [Vocab, Embed]; may be embed
}

type llamaLayer struct {
	attnNorm       gpu.Weight
	q, k, v, o     linear
	ffnNorm        gpu.Weight
	gate, up, down linear
}

func loadLlama(l *loader) (Config, network) {
	c := l.config()
	if scale := l.numberOr("attention.scale", 0); scale != 0 {
		c.AttnScale = float32(scale)
	}
	qCols, kvCols := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	m := &llama{embed: l.matrix("token_embd.weight", c.Vocab, c.Embed)}
	for i := 0; i < c.Layers && l.err == nil; i++ {
		blk := fmt.Sprintf("blk.%d.", i)
		m.layers = append(m.layers, llamaLayer{
			attnNorm: l.vector(blk+"attn_norm.weight", c.Embed),
			q:        l.linear(blk+"attn_q", qCols, c.Embed),
			k:        l.linear(blk+"attn_k", kvCols, c.Embed),
			v:        l.linear(blk+"attn_v", kvCols, c.Embed),
			o:        l.linear(blk+"attn_output", c.Embed, qCols),
			ffnNorm:  l.vector(blk+"ffn_norm.weight", c.Embed),
			gate:     l.linear(blk+"ffn_gate", c.FeedForward, c.Embed),
			up:       l.linear(blk+"ffn_up", c.FeedForward, c.Embed),
			down:     l.linear(blk+"ffn_down", c.Embed, c.FeedForward),
		})
	}
	m.finish(l, &c, gpu.RopeNorm)
	return c, m
}

// finish loads what comes behind the layers.
func (m *llama) finish(l *loader, c *Config, style gpu.RopeStyle) {
	m.outputNorm = l.vector("output_norm.weight", c.Embed)
	m.output = l.output(*c, m.embed)
	c.Rope = l.rope(style, *c) // after the tensors, whose shapes prove c
	m.config = *c
}

func (m *llama) forward(d gpu.Device, a *activations, b *Batch, s *gpu.Slab) {
	c := &m.config
	rows := b.Rows
	d.Embed(a.x, m.embed, b.Tokens)
	for i := range m.layers {
		w := &m.layers[i]

		d.RMSNorm(a.h, a.x, w.attnNorm, c.Eps)
		w.q.apply(d, a.q, a.h)
		w.k.apply(d, a.k, a.h)
		w.v.apply(d, a.v, a.h)
		d.RopeStore(a.q, a.k, a.v, c.Rope, s, i, b.Rows, b.Tables)
		if i == len(m.layers)-1 {
			rows = a.keepLogits(d, b)
		}
		d.Attention(a.o, a.q, s, i, rows, b.Tables, c.AttnScale)
		w.o.apply(d, a.h, a.o)
		d.Add(a.x, a.h)

		d.RMSNorm(a.h, a.x, w.ffnNorm, c.Eps)
		w.gate.apply(d, a.gate, a.h)
		w.up.apply(d, a.up, a.h)
		d.SwiGLU(a.gate, a.up)
		w.down.apply(d, a.h, a.gate)
		d.Add(a.x, a.h)
	}
	d.RMSNorm(a.h, a.x, m.outputNorm, c.Eps)
	d.MatMul(a.logits, a.h, m.output, nil)
}
