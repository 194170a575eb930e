// Package model turns a model file into logits: it loads the weights onto a device and runs batches of tokens through them.
//
// An architecture is one file (llama.go, qwen2.go) that names its tensors and lists the device operations of a pass; what they share lies in load.go, rope.go
// and here. Sub-packages read the file, tokenise, sample and render chat templates.
package model

import (
	"errors"
	"fmt"

	"github.com/kvasir-engine/kvasir/gpu"
)

// Options of Load. The zero value is usable.
type Options struct {
	// MaxRows is the most rows of a batch. 0: 512.
	MaxRows int
	// MaxLogits is the most rows of a batch that logits are asked for. 0: MaxRows.
	MaxLogits int
	// Progress is called while the file is read, with the bytes of weights done and their total. nil: nobody.
	Progress func(done, total int64)
}

// Config is what a model file says about its model.
type Config struct {
	Arch          string // "llama", "qwen2"
	Name          string // the file's own name for the model; may be empty
	Layers        int
	Heads         int // query heads
	KVHeads       int // key and value heads; divides Heads
	HeadDim       int // dimensions of a head
	Embed         int // width of the residual stream
	FeedForward   int // width inside the feed-forward part
	Vocab         int
	ContextLength int     // tokens the model was trained for
	Eps           float32 // of the RMS norms
	AttnScale     float32 // multiplies the scores of attention; 1/sqrt(HeadDim) for most
	Rope          gpu.Rope
}

// Batch is the tokens of one pass: Tokens[i] stands at Rows[i].
type Batch struct {
	Tokens []int32
	Rows   []gpu.Row
	Tables gpu.Tables
	Logits []int32 // indexes into Rows, of the rows whose logits are asked for
}

// Model is a loaded model. One goroutine at a time may call Forward.
type Model struct {
	dev     gpu.Device
	config  Config
	net     network
	act     activations
	weights []gpu.Weight
	bytes   int64
	digest  [32]byte

	maxRows, maxLogits int
}

// network is the weights of an architecture and the list of operations that is its pass: it writes keys and values of b to s and logits to a.logits.
type network interface {
	forward(d gpu.Device, a *activations, b *Batch, s *gpu.Slab)
}

// activations are the matrices of a pass. They have a row for each of the batch, until keepLogits.
type activations struct {
	x        gpu.Matrix // residual stream
	h        gpu.Matrix // input or output of a part, as wide as x
	q, o     gpu.Matrix // queries and what attention gives, all heads
	k, v     gpu.Matrix
	gate, up gpu.Matrix
	logits   gpu.Matrix // of the rows asked for

	kept []gpu.Row // places of the rows that keepLogits kept
}

// resize makes the matrices of all rows this high.
func (a *activations) resize(rows int) {
	for _, m := range []*gpu.Matrix{&a.x, &a.h, &a.q, &a.o, &a.k, &a.v, &a.gate, &a.up} {
		m.Rows = rows
	}
}

// keepLogits drops all rows but those whose logits are asked for, and returns their places. It is for the last layer, once that has stored its keys and values:
// nothing else of the other rows is ever used. x and q are kept.
func (a *activations) keepLogits(d gpu.Device, b *Batch) []gpu.Row {
	a.h.Rows, a.o.Rows = len(b.Logits), len(b.Logits)
	d.Gather(a.h, a.x, b.Logits)
	d.Gather(a.o, a.q, b.Logits)
	a.x, a.h = a.h, a.x
	a.q, a.o = a.o, a.q
	a.resize(len(b.Logits))
	a.kept = a.kept[:0]
	for _, i := range b.Logits {
		a.kept = append(a.kept, b.Rows[i])
	}
	return a.kept
}

// Config describes the model.
func (m *Model) Config() Config { return m.config }

// Layout is the layout of this model's KV pages.
func (m *Model) Layout(pageSize int, kv gpu.Type) gpu.KVLayout {
	return m.config.Layout(pageSize, kv)
}

// Digest names the weights and what is computed with them; nodes that differ in it must not exchange pages. See digest.go for what it covers.
func (m *Model) Digest() [32]byte { return m.digest }

// WeightBytes is the size of all weights.
func (m *Model) WeightBytes() int64 { return m.bytes }

// Forward runs a batch and returns the logits of the rows asked for, [len(b.Logits), Vocab], in device memory that is valid until the next Forward. Keys and values of all
// rows are written to their slots in s; a row sees the slots at its own and all lower positions, which earlier calls or this one have written.
//
// A batch that cannot be run (a token out of the vocabulary, too many rows, a page outside of the slab) is an error, and nothing was written.
func (m *Model) Forward(b *Batch, s *gpu.Slab) (gpu.Matrix, error) {
	if err := m.check(b, s); err != nil {
		return gpu.Matrix{}, fmt.Errorf("model: batch: %w", err)
	}
	a := &m.act
	a.resize(len(b.Rows))
	a.logits.Rows = len(b.Logits)
	if len(b.Rows) > 0 {
		m.net.forward(m.dev, a, b, s)
	}
	return a.logits, nil
}

func (m *Model) check(b *Batch, s *gpu.Slab) error {
	switch l := s.Layout; {
	case l != m.Layout(l.PageSize, l.Type):
		return fmt.Errorf("the slab has %v, the model %v", l, m.Layout(l.PageSize, l.Type))
	case len(b.Tokens) != len(b.Rows):
		return fmt.Errorf("%d tokens for %d rows", len(b.Tokens), len(b.Rows))
	case len(b.Rows) > m.maxRows:
		return fmt.Errorf("%d rows, at most %d", len(b.Rows), m.maxRows)
	case len(b.Logits) > m.maxLogits:
		return fmt.Errorf("logits of %d rows, at most %d", len(b.Logits), m.maxLogits)
	}
	for i, t := range b.Tokens {
		if t < 0 || int(t) >= m.config.Vocab {
			return fmt.Errorf("token %d of row %d is not in the vocabulary of %d", t, i, m.config.Vocab)
		}
	}
	for i, r := range b.Rows {
		if r.Seq < 0 || int(r.Seq) >= len(b.Tables) || r.Pos < 0 || int(r.Pos)/s.Layout.PageSize >= len(b.Tables[r.Seq]) {
			return fmt.Errorf("row %d: no page for position %d of sequence %d", i, r.Pos, r.Seq)
		}
		if i > 0 && b.Rows[i-1].Seq == r.Seq && b.Rows[i-1].Pos+1 != r.Pos {
			return fmt.Errorf("row %d: position %d of sequence %d follows %d", i, r.Pos, r.Seq, b.Rows[i-1].Pos)
		}
	}
	for seq, table := range b.Tables {
		for _, p := range table {
			if int(p) >= s.Pages {
				return fmt.Errorf("page %d of sequence %d is outside of the slab of %d", p, seq, s.Pages)
			}
		}
	}
	for _, r := range b.Logits {
		if r < 0 || int(r) >= len(b.Rows) {
			return fmt.Errorf("logits of row %d of %d", r, len(b.Rows))
		}
	}
	return nil
}

// Close gives the model's device memory back. The file it was loaded from may be closed afterwards, not before.
func (m *Model) Close() error {
	var errs []error
	for _, w := range m.weights {
		errs = append(errs, w.Data.Free())
	}
	errs = append(errs, m.act.free())
	m.weights, m.net = nil, nil
	return errors.Join(errs...)
}

// newActivations makes matrices for the largest batch.
func newActivations(d gpu.Device, c Config, rows, logits int) (a activations, err error) {
	rows = max(rows, logits) // logits of a row may be asked for more than once
	qCols, kvCols := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	for _, x := range []struct {
		m          *gpu.Matrix
		rows, cols int
	}{
		{&a.x, rows, c.Embed}, {&a.h, rows, c.Embed},
		{&a.q, rows, qCols}, {&a.o, rows, qCols}, {&a.k, rows, kvCols}, {&a.v, rows, kvCols},
		{&a.gate, rows, c.FeedForward}, {&a.up, rows, c.FeedForward},
		{&a.logits, logits, c.Vocab},
	} {
		if *x.m, err = d.NewMatrix(x.rows, x.cols); err != nil {
			return a, errors.Join(err, a.free())
		}
	}
	return a, nil
}

func (a *activations) free() error {
	var errs []error
	for _, m := range []*gpu.Matrix{&a.x, &a.h, &a.q, &a.o, &a.k, &a.v, &a.gate, &a.up, &a.logits} {
		if m.Data != nil {
			errs = append(errs, m.Data.Free())
		}
	}
	*a = activations{}
	return errors.Join(errs...)
}

// linear is a matrix product with an optional bias.
type linear struct {
	weight gpu.Weight
	bias   *gpu.Weight
}

// apply sets out = x * transpose(weight) + bias.
func (l *linear) apply(d gpu.Device, out, x gpu.Matrix) { d.MatMul(out, x, l.weight, l.bias) }
