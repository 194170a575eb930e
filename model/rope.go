package model

import (
	"encoding/binary"
	"math"

	"github.com/kvasir-engine/kvasir/gpu"
)

// attentionScale is 1/sqrt(dim).
func attentionScale(dim int) float32 { return float32(1 / math.Sqrt(float64(dim))) }

// rope reads how positions turn queries and keys of c.HeadDim dimensions.
//
// Pair i of n dimensions turns by base^(-2i/n) radians a position, divided by rope_freqs.weight[i] where the file has it (Llama 3.1). On top of it, rope.scaling stretches
// the context by a factor: linear divides every speed by it (Chen et al. 2023); YaRN (Peng et al. 2023) divides the slow ones only, leaves those that turn often within the
// original context, ramps between, and scales the result.
func (l *loader) rope(style gpu.RopeStyle, c Config) gpu.Rope {
	dims := l.countOr("rope.dimension_count", c.HeadDim, maxHeadDim)
	base := l.numberOr("rope.freq_base", 10000)
	if l.err != nil { // the sizes may be anything
		return gpu.Rope{}
	}
	if dims%2 != 0 || dims > c.HeadDim || !(base > 0) {
		l.fail("%s is %d and %s %v; they must be an even number up to %d and a positive one", l.key("rope.dimension_count"), dims, l.key("rope.freq_base"), base, c.HeadDim)
		return gpu.Rope{}
	}
	r := gpu.Rope{Style: style, Freqs: make([]float64, dims/2), Scale: float32(l.numberOr("rope.scaling.attn_factor", 1))}
	factors := l.ropeFactors(len(r.Freqs))
	for i := range r.Freqs {
		r.Freqs[i] = math.Pow(base, -2*float64(i)/float64(dims))
		if factors != nil {
			r.Freqs[i] /= factors[i]
		}
	}

	kind, ok := l.file.String(l.key("rope.scaling.type"))
	if !ok {
		kind = "linear"
	}
	factor := l.numberOr("rope.scaling.factor", l.numberOr("rope.scale_linear", 1)) // the latter in old files
	if factor == 0 {
		factor = 1 // "not set" in some files
	}
	switch {
	case !(factor > 0):
		l.fail("%s is %v; it must be positive", l.key("rope.scaling.factor"), factor)
	case kind == "none":
	case kind == "linear":
		for i := range r.Freqs {
			r.Freqs[i] /= factor
		}
	case kind == "yarn":
		l.yarn(&r, base, factor, c)
	default:
		l.fail("%s is %q; known are none, linear and yarn", l.key("rope.scaling.type"), kind)
	}
	return r
}

// yarn stretches the speeds of r by factor. A pair that turns beta_fast times or more within the original context keeps its speed, one that turns beta_slow times or less
// is slowed by the whole factor.
func (l *loader) yarn(r *gpu.Rope, base, factor float64, c Config) {
	original := float64(l.countOr("rope.scaling.original_context_length", c.ContextLength, maxContext))
	pairs := len(r.Freqs)
	pairThatTurns := func(times float64) float64 { // as a fraction of the index
		return float64(pairs) * math.Log(original/(times*2*math.Pi)) / math.Log(base)
	}
	low := max(0, math.Floor(pairThatTurns(l.numberOr("rope.scaling.yarn_beta_fast", 32))))
	high := min(float64(2*pairs-1), math.Ceil(pairThatTurns(l.numberOr("rope.scaling.yarn_beta_slow", 1))))
	for i, f := range r.Freqs {
		slowed := min(1, max(0, (float64(i)-low)/max(0.001, high-low)))
		r.Freqs[i] = f/factor*slowed + f*(1-slowed)
	}
	r.Scale *= float32(1 + 0.1*math.Log(factor))
}

// ropeFactors reads rope_freqs.weight; nil if the file has none.
func (l *loader) ropeFactors(pairs int) []float64 {
	t, ok := l.file.Tensor("rope_freqs.weight")
	if !ok {
		return nil
	}
	l.used[t.Name] = true
	if t.Type != gpu.F32 || len(t.Dims) != 1 || t.Dims[0] != pairs {
		l.fail("tensor %s has type %v and shape %v; it must be F32 of [%d]", t.Name, t.Type, t.Dims, pairs)
		return nil
	}
	factors := make([]float64, pairs)
	for i := range factors {
		factors[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(t.Data[4*i:])))
		if !(factors[i] > 0) {
			l.fail("tensor %s: factor %d is %v; it must be positive", t.Name, i, factors[i])
		}
	}
	return factors
}
