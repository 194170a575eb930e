package model

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/gpu"
)

// qwen2 is the architecture of Qwen 1.5, 2 and 2.5 (Yang et al. 2024): as llama, but the projections to q, k and v have biases, and rotary positions turn the
// pairs (i, i+half).
type qwen2 struct {
	config     Config
	embed      gpu.Weight // [Vocab, Embed]
	layers     []qwen2Layer
	outputNorm gpu.Weight
	output     gpu.Weight // [Vocab, Embed]; may be embed
}

type qwen2Layer struct {
	attnNorm       gpu.Weight
	q, k, v        gpu.Weight
	qBias, kBias   gpu.Weight
	vBias          gpu.Weight
	o              gpu.Weight
	ffnNorm        gpu.Weight
	gate, up, down gpu.Weight
}

func loadQwen2(l *loader) (Config, network) {
	c := l.config()
	qCols, kvCols := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	m := &qwen2{embed: l.matrix("token_embd.weight", c.Vocab, c.Embed)}
	for i := 0; i < c.Layers && l.err == nil; i++ {
		blk := fmt.Sprintf("blk.%d.", i)
		m.layers = append(m.layers, qwen2Layer{
			attnNorm: l.vector(blk+"attn_norm.weight", c.Embed),
			q:        l.matrix(blk+"attn_q.weight", qCols, c.Embed),
			qBias:    l.vector(blk+"attn_q.bias", qCols),
			k:        l.matrix(blk+"attn_k.weight", kvCols, c.Embed),
			kBias:    l.vector(blk+"attn_k.bias", kvCols),
			v:        l.matrix(blk+"attn_v.weight", kvCols, c.Embed),
			vBias:    l.vector(blk+"attn_v.bias", kvCols),
			o:        l.matrix(blk+"attn_output.weight", c.Embed, qCols),
			ffnNorm:  l.vector(blk+"ffn_norm.weight", c.Embed),
			gate:     l.matrix(blk+"ffn_gate.weight", c.FeedForward, c.Embed),
			up:       l.matrix(blk+"ffn_up.weight", c.FeedForward, c.Embed),
			down:     l.matrix(blk+"ffn_down.weight", c.Embed, c.FeedForward),
		})
	}
	m.outputNorm = l.vector("output_norm.weight", c.Embed)
	m.output = l.output(c, m.embed)
	c.Rope = l.rope(gpu.RopeNeox, c) // after the tensors, whose shapes prove c
	m.config = c
	return c, m
}

func (m *qwen2) forward(d gpu.Device, a *activations, b *Batch, s *gpu.Slab) {
	c := &m.config
	rows := b.Rows
	d.Embed(a.x, m.embed, b.Tokens)
	for i := range m.layers {
		w := &m.layers[i]

		d.RMSNorm(a.h, a.x, w.attnNorm, c.Eps)
		d.MatMul(a.q, a.h, w.q, &w.qBias)
		d.MatMul(a.k, a.h, w.k, &w.kBias)
		d.MatMul(a.v, a.h, w.v, &w.vBias)
		d.RopeStore(a.q, a.k, a.v, c.Rope, s, i, b.Rows, b.Tables)
		if i == len(m.layers)-1 {
			rows = a.keepLogits(d, b)
		}
		d.Attention(a.o, a.q, s, i, rows, b.Tables, c.AttnScale)
		d.MatMul(a.h, a.o, w.o, nil)
		d.Add(a.x, a.h)

		d.RMSNorm(a.h, a.x, w.ffnNorm, c.Eps)
		d.MatMul(a.gate, a.h, w.gate, nil)
		d.MatMul(a.up, a.h, w.up, nil)
		d.SwiGLU(a.gate, a.up)
		d.MatMul(a.h, a.gate, w.down, nil)
		d.Add(a.x, a.h)
	}
	d.RMSNorm(a.h, a.x, m.outputNorm, c.Eps)
	d.MatMul(a.logits, a.h, m.output, nil)
}
