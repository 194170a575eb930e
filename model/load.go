package model

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/model/gguf"
)

// architecture reads the keys and tensors of its kind through l, which keeps the first error.
type architecture struct {
	name string
	load func(l *loader) (Config, network)
}

func architectures() []architecture {
	return []architecture{{"llama", loadLlama}, {"qwen2", loadQwen2}}
}

// Load makes a model of an open file on dev. The weights may stay in the file's memory: f must stay open until the model is closed.
//
// Errors name the file and the key or tensor at fault, and what would be right.
func Load(f *gguf.File, dev gpu.Device, o Options) (*Model, error) {
	m, err := load(f, dev, o)
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w", f.Name(), err)
	}
	return m, nil
}

func load(f *gguf.File, dev gpu.Device, o Options) (*Model, error) {
	if o.MaxRows == 0 {
		o.MaxRows = 512
	}
	if o.MaxLogits == 0 {
		o.MaxLogits = o.MaxRows
	}
	if o.MaxRows < 0 || o.MaxLogits < 0 {
		return nil, fmt.Errorf("a batch cannot have %d rows and %d with logits", o.MaxRows, o.MaxLogits)
	}
	arch, err := findArchitecture(f.Arch())
	if err != nil {
		return nil, err
	}
	l := &loader{file: f, dev: dev, arch: arch.name, used: map[string]bool{}}
	config, net := arch.load(l)
	l.rejectUnused()
	m := &Model{dev: dev, config: config, net: net, weights: l.weights, maxRows: o.MaxRows, maxLogits: o.MaxLogits}
	if l.err == nil {
		m.act, l.err = newActivations(dev, config, o.MaxRows, o.MaxLogits)
	}
	if l.err != nil {
		return nil, errors.Join(l.err, m.Close())
	}
	for _, t := range f.Tensors() {
		m.bytes += int64(len(t.Data))
	}
	m.digest = digest(config, f.Tensors())
	touch(f.Tensors(), m.bytes, o.Progress)
	return m, nil
}

func findArchitecture(name string) (architecture, error) {
	var known []string
	for _, a := range architectures() {
		if a.name == name {
			return a, nil
		}
		known = append(known, a.name)
	}
	if name == "" {
		return architecture{}, errors.New("general.architecture is missing; is this file a model?")
	}
	return architecture{}, fmt.Errorf("architecture %q is not supported; known are %s", name, strings.Join(known, ", "))
}

// touch reads a byte of every page of the tensors, so that the wait for a disk comes now, where it can be shown.
func touch(tensors []gguf.Tensor, total int64, progress func(done, total int64)) {
	const pageBytes, chunk = 4096, 16 << 20
	var done int64
	var sum byte
	for _, t := range tensors {
		for part := range slices.Chunk(t.Data, chunk) {
			for i := 0; i < len(part); i += pageBytes {
				sum += part[i]
			}
			done += int64(len(part))
			if progress != nil {
				progress(done, total)
			}
		}
	}
	runtime.KeepAlive(sum)
}

// loader reads keys and tensors of a file. After the first error its methods return zero values.
type loader struct {
	file    *gguf.File
	dev     gpu.Device
	arch    string
	used    map[string]bool // tensors that were asked for
	weights []gpu.Weight
	err     error
}

func (l *loader) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf(format, args...)
	}
}

// key is the full name of one of the architecture's keys.
func (l *loader) key(name string) string { return l.arch + "." + name }

// count reads a key that must be a whole number from 1 to most, the same for all layers.
func (l *loader) count(name string, most int) int {
	key := l.key(name)
	if !l.file.Has(key) {
		l.fail("key %s is missing; it must be a whole number", key)
		return 1
	}
	switch n, ok := l.file.Uint(key); {
	case !ok:
		l.fail("key %s must be one whole number from 1 to %d", key, most)
		return 1 // so that whoever divides by it can go on to the error
	case n < 1 || n > uint64(most):
		l.fail("key %s is %d; it must be one whole number from 1 to %d", key, n, most)
		return 1
	default:
		return int(n)
	}
}

// countOr is count for a key that may be missing.
func (l *loader) countOr(name string, otherwise, most int) int {
	if !l.file.Has(l.key(name)) {
		return otherwise
	}
	return l.count(name, most)
}

// number reads a key that must be a number.
func (l *loader) number(name string) float64 {
	x, ok := l.file.Float(l.key(name))
	if !ok {
		l.fail("key %s is missing or no number", l.key(name))
	}
	return x
}

// numberOr is number for a key that may be missing.
func (l *loader) numberOr(name string, otherwise float64) float64 {
	if !l.file.Has(l.key(name)) {
		return otherwise
	}
	return l.number(name)
}

// matrix loads a tensor of rows rows of cols elements.
func (l *loader) matrix(name string, rows, cols int) gpu.Weight {
	t, ok := l.file.Tensor(name)
	if !ok {
		l.fail("tensor %s is missing; it must have shape %v", name, []int{cols, rows})
		return gpu.Weight{}
	}
	return l.load(t, rows, cols, []int{cols, rows})
}

// vector loads a tensor of n elements.
func (l *loader) vector(name string, n int) gpu.Weight {
	t, ok := l.file.Tensor(name)
	if !ok {
		l.fail("tensor %s is missing; it must have shape %v", name, []int{n})
		return gpu.Weight{}
	}
	return l.load(t, 1, n, []int{n})
}

// linear loads prefix.weight, of shape [in, out], and prefix.bias if there is one.
func (l *loader) linear(prefix string, out, in int) linear {
	if _, ok := l.file.Tensor(prefix + ".bias"); ok {
		return l.biased(prefix, out, in)
	}
	return l.unbiased(prefix, out, in)
}

// biased loads prefix.weight and prefix.bias, which must be there.
func (l *loader) biased(prefix string, out, in int) linear {
	p := l.unbiased(prefix, out, in)
	bias := l.vector(prefix+".bias", out)
	p.bias = &bias
	return p
}

// unbiased loads prefix.weight; a bias is left to be refused.
func (l *loader) unbiased(prefix string, out, in int) linear {
	return linear{weight: l.matrix(prefix+".weight", out, in)}
}

func (l *loader) load(t gguf.Tensor, rows, cols int, shape []int) gpu.Weight {
	l.used[t.Name] = true
	if l.err != nil {
		return gpu.Weight{}
	}
	if !slices.Equal(t.Dims, shape) {
		l.fail("tensor %s has shape %v; it must be %v", t.Name, t.Dims, shape)
		return gpu.Weight{}
	}
	w, err := l.dev.Load(t.Name, t.Type, rows, cols, t.Data)
	if err != nil {
		l.fail("%w", err)
		return gpu.Weight{}
	}
	l.weights = append(l.weights, w)
	return w
}

// rejectUnused fails if the file has a tensor that nobody asked for: a model that computes something else, which would run and answer wrongly.
func (l *loader) rejectUnused() {
	for _, t := range l.file.Tensors() {
		if l.used[t.Name] || strings.HasSuffix(t.Name, ".attn_rot_embd.weight") || strings.HasSuffix(t.Name, "rotary_emb.inv_freq") { // old copies of what rope.freq_base says
			continue
		}
		l.fail("tensor %s is not known in architecture %s; the file holds another kind of model", t.Name, l.arch)
	}
}

// Bounds of a model's sizes, several times those of the largest models there are: memory is asked for in proportion to products of these, and no such product
// overflows an int.
const (
	maxLayers      = 1 << 10
	maxHeads       = 1 << 12
	maxHeadDim     = 1 << 12
	maxEmbed       = 1 << 17
	maxFeedForward = 1 << 19
	maxVocab       = 1 << 21
	maxContext     = 1<<31 - 1 // positions are int32
)

// config reads the keys that all architectures share. Vocab comes from the embedding table.
func (l *loader) config() Config {
	c := Config{
		Arch:          l.arch,
		Layers:        l.count("block_count", maxLayers),
		Heads:         l.count("attention.head_count", maxHeads),
		Embed:         l.count("embedding_length", maxEmbed),
		FeedForward:   l.count("feed_forward_length", maxFeedForward),
		ContextLength: l.count("context_length", maxContext),
		Eps:           float32(l.number("attention.layer_norm_rms_epsilon")),
	}
	c.Name, _ = l.file.String("general.name")
	c.KVHeads = l.countOr("attention.head_count_kv", c.Heads, maxHeads)
	c.HeadDim = l.countOr("attention.key_length", max(1, c.Embed/c.Heads), maxHeadDim)
	if c.HeadDim > maxHeadDim {
		l.fail("%s is %d and %s %d: heads of %d dimensions; at most %d are possible", l.key("embedding_length"), c.Embed, l.key("attention.head_count"), c.Heads,
			c.HeadDim, maxHeadDim)
	}
	if v := l.countOr("attention.value_length", c.HeadDim, maxHeadDim); v != c.HeadDim {
		l.fail("keys of %d and values of %d dimensions: they must be equal", c.HeadDim, v)
	}
	if c.Heads%c.KVHeads != 0 {
		l.fail("%s is %d; it must divide %s, which is %d", l.key("attention.head_count_kv"), c.KVHeads, l.key("attention.head_count"), c.Heads)
	}
	if n := l.countOr("expert_count", 0, math.MaxInt32); n > 0 {
		l.fail("a model of %d experts is not supported; use a dense one", n)
	}
	c.AttnScale = attentionScale(c.HeadDim)
	if t, ok := l.file.Tensor("token_embd.weight"); ok && len(t.Dims) == 2 {
		c.Vocab = t.Dims[1]
		if c.Vocab > maxVocab {
			l.fail("tensor token_embd.weight has rows for %d tokens; at most %d are possible", c.Vocab, maxVocab)
		}
	} else {
		l.fail("tensor token_embd.weight is missing or no matrix; it must have shape [%d, size of the vocabulary]", c.Embed)
	}
	return c
}

// output loads the matrix that makes logits: the file's own, or the embedding table, to which it is tied then.
func (l *loader) output(c Config, embed gpu.Weight) gpu.Weight {
	if _, ok := l.file.Tensor("output.weight"); ok {
		return l.matrix("output.weight", c.Vocab, c.Embed)
	}
	return embed
}
